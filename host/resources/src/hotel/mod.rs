//! JSON resources of hotels.

pub mod booking;
pub mod cancellation;
pub mod content;
pub mod offer;
pub mod policy;
pub mod price_calendar;
pub mod room;
pub mod room_details;
pub mod search;
pub mod weather;
