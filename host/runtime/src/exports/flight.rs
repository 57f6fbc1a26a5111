//! The flight capabilities of a component.

use super::{Change, ExportError, Finder, Function, Read};
use crate::bindings::exports::stopover::supplier as wit;
use crate::bindings::stopover::supplier::flight_types::FlightBookingState;
use crate::bindings::stopover::supplier::types::ReadError;
use host_domain::supplier::Operation;

pub(crate) type Pricing =
    Option<Read<wit::flight_pricing::PriceRequest, wit::flight_pricing::PriceAnswer>>;

pub(crate) struct Booking {
    pub(crate) prebook: Change<wit::flight_booking::PrebookRequest, wit::flight_booking::Prebooked>,
    pub(crate) book: Change<wit::flight_booking::BookRequest, FlightBookingState>,
    pub(crate) find: Read<wit::flight_booking::FindRequest, wit::flight_booking::FindAnswer>,
}

pub(crate) struct Cancellation {
    pub(crate) quote: Read<wit::flight_cancellation::QuoteRequest, wit::flight_cancellation::Quote>,
    pub(crate) cancel: Change<wit::flight_cancellation::CancelRequest, FlightBookingState>,
}

pub(crate) struct Services {
    pub(crate) list: Read<wit::flight_services::ListRequest, wit::flight_services::Available>,
    pub(crate) buy: Change<wit::flight_services::BuyRequest, FlightBookingState>,
}

pub(crate) struct Reference {
    pub(crate) airports:
        Function<(String, u16), (Result<wit::flight_reference::AirportAnswer, ReadError>,)>,
    pub(crate) airline: Read<String, wit::flight_reference::Airline>,
}

/// What a component exports of flights.
pub(crate) struct Flight {
    pub(crate) price: Pricing,
    pub(crate) booking: Option<Booking>,
    pub(crate) cancellation: Option<Cancellation>,
    pub(crate) services: Option<Services>,
    pub(crate) reference: Option<Reference>,
}

impl Finder<'_> {
    pub(super) fn flight(&mut self) -> Result<Flight, ExportError> {
        Ok(Flight {
            price: self.one(Operation::FlightPricing, "price")?,
            booking: self.flight_booking()?,
            cancellation: self.flight_cancellation()?,
            services: self.flight_services()?,
            reference: self.flight_reference()?,
        })
    }

    fn flight_booking(&mut self) -> Result<Option<Booking>, ExportError> {
        let Some(interface) = self.interface(Operation::FlightBooking) else {
            return Ok(None);
        };
        Ok(Some(Booking {
            prebook: Function::find(self, &interface, "prebook")?,
            book: Function::find(self, &interface, "book")?,
            find: Function::find(self, &interface, "find")?,
        }))
    }

    fn flight_cancellation(&mut self) -> Result<Option<Cancellation>, ExportError> {
        let Some(interface) = self.interface(Operation::FlightCancellation) else {
            return Ok(None);
        };
        Ok(Some(Cancellation {
            quote: Function::find(self, &interface, "quote-cancellation")?,
            cancel: Function::find(self, &interface, "cancel")?,
        }))
    }

    fn flight_services(&mut self) -> Result<Option<Services>, ExportError> {
        let Some(interface) = self.interface(Operation::FlightServices) else {
            return Ok(None);
        };
        Ok(Some(Services {
            list: Function::find(self, &interface, "list-services")?,
            buy: Function::find(self, &interface, "buy-services")?,
        }))
    }

    fn flight_reference(&mut self) -> Result<Option<Reference>, ExportError> {
        let Some(interface) = self.interface(Operation::FlightReference) else {
            return Ok(None);
        };
        Ok(Some(Reference {
            airports: Function::find(self, &interface, "find-airports")?,
            airline: Function::find(self, &interface, "read-airline")?,
        }))
    }
}
