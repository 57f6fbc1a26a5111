//! JSON resources of flight offers, bookings, airports and airlines.

pub(crate) mod booking;
pub(crate) mod change;
pub(crate) mod itinerary;
pub(crate) mod offer;
pub(crate) mod payment;
pub(crate) mod reference;
pub(crate) mod refund;
pub(crate) mod service;
pub(crate) mod ticket;

#[cfg(test)]
mod tests;
