//! The steps of a booking: their requests to suppliers and processors, and their execution.

pub mod execute;
pub mod flight;
pub mod hotel;
pub mod payment;
pub mod prepare;
pub mod total_deviation;
