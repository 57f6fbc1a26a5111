//! Flights: requests to suppliers, their responses, and the booking.

pub mod booking;
pub mod details;
pub mod itinerary;
pub mod list;
pub mod passenger;
pub mod quote;
pub mod service;
pub mod supplier_api;

pub use booking::{
    FlightBookedState, FlightBooking, FlightBookingDetails, FlightEvent, FlightStep,
};
pub use details::{
    AttachableService, BagAllowance, FlightOfferDetails, LocatorSystem, PaymentTerms,
    RecordLocator, Seat, SeatPosition, SegmentDetails, SegmentPassengerDetails, ServiceDetails,
    TechnicalStop, TicketDetails, TicketDocument, TicketDocumentType, TicketPaymentStatus,
};
pub use itinerary::{
    AirlineChange, Cabin, ChangeType, Direction, FareCondition, FareConditions, Journey, Segment,
    SegmentPassenger,
};
pub use passenger::{
    Document, DocumentType, Gender, LoyaltyAccount, Passenger, PassengerType, Title,
};
pub use service::{Baggage, BaggageType, ServiceType};
