pub mod flight;
pub mod hotel;
pub mod payment;
