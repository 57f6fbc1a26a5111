//! Hotels: requests to suppliers, their responses, and the booking.

pub mod booking;
pub mod content;
pub mod list;
pub mod quote;
pub mod step;
pub mod supplier_api;
pub mod types;

pub use booking::{Booking, Event, State, Status};
pub use types::{
    Board, CancellationPolicy, Contact, Guest, GuestType, HotelSummary, Location, Loyalty,
    Occupancy, Penalty, Promotion, Restriction, RoomRate, Stay,
};
