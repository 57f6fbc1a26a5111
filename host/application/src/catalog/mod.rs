//! Read-only queries about places, hotels, airports and airlines.

pub mod flight_reference;
pub mod hotel_content;
pub mod hotel_mapping;
pub mod hotel_search;
pub mod local_date;
pub mod place;
pub mod price_calendar;
pub mod single_flight;
pub mod weather;
