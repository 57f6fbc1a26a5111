//! JSON resources of flight offers, bookings, airports and airlines.

pub mod airline_change;
pub mod booking;
pub mod cancellation;
pub mod details;
pub mod itinerary;
pub mod offer;
pub mod payment;
pub mod reference;
pub mod seat;
pub mod segment_details;
pub mod service;
pub mod ticket;

#[cfg(test)]
mod tests;
