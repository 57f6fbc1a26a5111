//! Hotels: requests to suppliers, their responses, and the booking.

pub mod booking;
pub mod content;
pub mod list;
pub mod quote;
pub mod supplier_api;
pub mod types;

pub use booking::{HotelBookedState, HotelBooking, HotelBookingDetails, HotelEvent, HotelStep};
pub use types::{
    Board, CancellationPolicy, Contact, Guest, GuestType, HotelSummary, Location, Loyalty,
    Occupancy, PaymentPoint, Penalty, Promotion, RefundType, Restriction, RoomDetails, RoomPerk,
    RoomRate, RoomTax, Stay,
};
