//! Exported flight capabilities of a component.

use super::{ChangeFn, ExportError, ExportResolver, ReadFn, TypedExport};
use crate::bindings::exports::stopover::supplier as wit;
use crate::bindings::stopover::supplier::flight_types::SupplierBooking;
use crate::bindings::stopover::supplier::types::ReadError;
use host_domain::supplier::Capability;

pub(crate) type PricingFn =
    Option<ReadFn<wit::flight_pricing::PriceRequest, wit::flight_pricing::PriceResponse>>;

pub(crate) struct FlightBookingExports {
    pub(crate) prebook:
        ChangeFn<wit::flight_booking::PrebookRequest, wit::flight_booking::PrebookResponse>,
    pub(crate) book: ChangeFn<wit::flight_booking::BookRequest, SupplierBooking>,
    pub(crate) find: ReadFn<wit::flight_booking::FindRequest, wit::flight_booking::BookingLookup>,
}

pub(crate) struct FlightCancellationExports {
    pub(crate) quote:
        ReadFn<wit::flight_cancellation::QuoteRequest, wit::flight_cancellation::Quote>,
    pub(crate) cancel: ChangeFn<wit::flight_cancellation::CancelRequest, SupplierBooking>,
}

pub(crate) struct FlightServicesExports {
    pub(crate) list:
        ReadFn<wit::flight_services::ListRequest, wit::flight_services::AvailableServices>,
    pub(crate) buy: ChangeFn<wit::flight_services::PurchaseRequest, SupplierBooking>,
}

pub(crate) struct FlightReferenceExports {
    pub(crate) airports:
        TypedExport<(String, u16), (Result<wit::flight_reference::AirportResponse, ReadError>,)>,
    pub(crate) airline: ReadFn<String, wit::flight_reference::Airline>,
}

/// The flight exports of a component.
pub(crate) struct FlightExports {
    pub(crate) price: PricingFn,
    pub(crate) booking: Option<FlightBookingExports>,
    pub(crate) cancellation: Option<FlightCancellationExports>,
    pub(crate) services: Option<FlightServicesExports>,
    pub(crate) reference: Option<FlightReferenceExports>,
}

impl ExportResolver<'_> {
    pub(super) fn flight(&mut self) -> Result<FlightExports, ExportError> {
        Ok(FlightExports {
            price: self.resolve_optional(Capability::FlightPricing, "price")?,
            booking: self.flight_booking()?,
            cancellation: self.flight_cancellation()?,
            services: self.flight_services()?,
            reference: self.flight_reference()?,
        })
    }

    fn flight_booking(&mut self) -> Result<Option<FlightBookingExports>, ExportError> {
        let Some(interface) = self.interface(Capability::FlightBooking) else {
            return Ok(None);
        };
        Ok(Some(FlightBookingExports {
            prebook: TypedExport::resolve(self, &interface, "prebook")?,
            book: TypedExport::resolve(self, &interface, "book")?,
            find: TypedExport::resolve(self, &interface, "find")?,
        }))
    }

    fn flight_cancellation(&mut self) -> Result<Option<FlightCancellationExports>, ExportError> {
        let Some(interface) = self.interface(Capability::FlightCancellation) else {
            return Ok(None);
        };
        Ok(Some(FlightCancellationExports {
            quote: TypedExport::resolve(self, &interface, "quote-cancellation")?,
            cancel: TypedExport::resolve(self, &interface, "cancel")?,
        }))
    }

    fn flight_services(&mut self) -> Result<Option<FlightServicesExports>, ExportError> {
        let Some(interface) = self.interface(Capability::FlightServices) else {
            return Ok(None);
        };
        Ok(Some(FlightServicesExports {
            list: TypedExport::resolve(self, &interface, "list-services")?,
            buy: TypedExport::resolve(self, &interface, "purchase-services")?,
        }))
    }

    fn flight_reference(&mut self) -> Result<Option<FlightReferenceExports>, ExportError> {
        let Some(interface) = self.interface(Capability::FlightReference) else {
            return Ok(None);
        };
        Ok(Some(FlightReferenceExports {
            airports: TypedExport::resolve(self, &interface, "find-airports")?,
            airline: TypedExport::resolve(self, &interface, "read-airline")?,
        }))
    }
}
