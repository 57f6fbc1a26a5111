//! JSON resources of flight offers, bookings, airports and airlines.

pub mod airline_change;
pub mod booking;
pub mod cancellation;
pub mod itinerary;
pub mod offer;
pub mod payment;
pub mod reference;
pub mod service;
pub mod ticket;

#[cfg(test)]
mod tests;
