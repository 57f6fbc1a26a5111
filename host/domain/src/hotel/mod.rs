//! Hotels: requests to suppliers, their responses, and the booking.

pub mod booking;
pub mod content;
pub mod offer;
pub mod quote;
pub mod step;
pub mod supply;

pub use booking::{Booking, Event, State, Status};
pub use offer::{
    Board, CancellationPolicy, Contact, Guest, GuestType, HotelSummary, Location, Loyalty,
    Occupancy, Penalty, Promotion, Restriction, RoomRate, Stay,
};
