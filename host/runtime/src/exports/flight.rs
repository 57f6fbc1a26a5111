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

impl FlightExports {
    pub(super) fn resolve(resolver: &mut ExportResolver<'_>) -> Result<Self, ExportError> {
        Ok(Self {
            price: resolver.resolve(Capability::FlightPricing, |interface| {
                interface.function("price")
            })?,
            booking: resolver.resolve(Capability::FlightBooking, |interface| {
                Ok(FlightBookingExports {
                    prebook: interface.function("prebook")?,
                    book: interface.function("book")?,
                    find: interface.function("find")?,
                })
            })?,
            cancellation: resolver.resolve(Capability::FlightCancellation, |interface| {
                Ok(FlightCancellationExports {
                    quote: interface.function("quote-cancellation")?,
                    cancel: interface.function("cancel")?,
                })
            })?,
            services: resolver.resolve(Capability::FlightServices, |interface| {
                Ok(FlightServicesExports {
                    list: interface.function("list-services")?,
                    buy: interface.function("purchase-services")?,
                })
            })?,
            reference: resolver.resolve(Capability::FlightReference, |interface| {
                Ok(FlightReferenceExports {
                    airports: interface.function("find-airports")?,
                    airline: interface.function("read-airline")?,
                })
            })?,
        })
    }
}
