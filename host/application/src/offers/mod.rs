//! Offers of hotels and flights: pricing, filters, and the sealed tokens that stand for them.

pub mod flight;
pub mod flight_filter;
pub mod hotel;
pub mod service;
pub mod terms;
pub mod token;
