//! Flights: requests to suppliers, their responses, and the booking.

pub mod booking;
pub mod itinerary;
pub mod list;
pub mod passenger;
pub mod quote;
pub mod supplier_api;

pub use booking::{
    FlightBookedState, FlightBooking, FlightBookingDetails, FlightEvent, FlightStep,
};
pub use itinerary::{
    AirlineChange, Cabin, ChangeType, Direction, FareCondition, FareConditions, Journey, Segment,
    SegmentPassenger,
};
pub use passenger::{
    Document, DocumentType, Gender, LoyaltyAccount, Passenger, PassengerType, Title,
};
