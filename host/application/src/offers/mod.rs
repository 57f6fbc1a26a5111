pub mod flight;
pub mod flight_filter;
pub mod hotel;
pub mod service;
pub mod terms;
pub mod token;
