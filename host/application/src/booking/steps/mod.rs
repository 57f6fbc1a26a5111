//! The steps of a booking: their requests to suppliers and processors.

pub mod flight;
pub mod hotel;
pub mod payment;
