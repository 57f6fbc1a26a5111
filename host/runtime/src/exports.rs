//! Exports of a component: its capabilities and the indexes of their functions. They are resolved
//! once at load and checked against the WIT; calls use the indexes.

mod flight;

use crate::bindings::exports::stopover::payment::processor as payment;
use crate::bindings::exports::stopover::supplier as wit;
use crate::bindings::stopover::supplier::types::{ChangeError, ReadError};
use crate::call_state::GuestState;
use host_domain::supplier::Capability;
use std::marker::PhantomData;
use wasmtime::Store;
use wasmtime::component::{
    Component, ComponentExportIndex, ComponentNamedList, Instance, InstancePre, Lift, Lower,
    TypedFunc,
};

/// An exported function whose types have been checked.
pub(crate) struct TypedExport<Arguments, Response> {
    index: ComponentExportIndex,
    types: PhantomData<fn(Arguments) -> Response>,
}

impl<Arguments, Response> Clone for TypedExport<Arguments, Response> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Arguments, Response> Copy for TypedExport<Arguments, Response> {}

impl<Arguments, Response> TypedExport<Arguments, Response>
where
    Arguments: ComponentNamedList + Lower,
    Response: ComponentNamedList + Lift,
{
    /// Returns the function in an instance of the component in which it was resolved.
    pub(crate) fn bind(
        &self,
        store: &mut Store<GuestState>,
        instance: &Instance,
    ) -> Option<TypedFunc<Arguments, Response>> {
        let function = instance.get_func(&mut *store, self.index)?;
        // SAFETY: the types were checked against this very component when the function was
        // resolved, and types belong to the component, not to the instance.
        #[expect(
            unsafe_code,
            reason = "checking the types again would cost as much as a small call"
        )]
        Some(unsafe { TypedFunc::new_unchecked(function) })
    }
}

/// An export that does not match the WIT.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{interface} has no usable function {function}: {reason}")]
pub struct ExportError {
    /// Name of the interface.
    pub interface: &'static str,
    /// Name of the function.
    pub function: String,
    /// Reason why the function cannot be used.
    pub reason: String,
}

struct ExportResolver<'a> {
    component: &'a Component,
    instance: &'a Instance,
    store: &'a mut Store<GuestState>,
    capabilities: Vec<Capability>,
}

impl<'a> ExportResolver<'a> {
    /// Resolves the exports of a capability with `read`. Returns `None` if the component does not
    /// export the capability.
    fn resolve<T>(
        &mut self,
        capability: Capability,
        read: impl FnOnce(&mut ExportedInterface<'_, 'a>) -> Result<T, ExportError>,
    ) -> Result<Option<T>, ExportError> {
        let name = interface_name(capability);
        let Some(index) = self.component.get_export_index(None, name) else {
            return Ok(None);
        };
        self.capabilities.push(capability);
        let mut interface = ExportedInterface {
            resolver: self,
            name,
            index,
        };
        read(&mut interface).map(Some)
    }
}

/// An interface that a component exports.
struct ExportedInterface<'r, 'a> {
    resolver: &'r mut ExportResolver<'a>,
    name: &'static str,
    index: ComponentExportIndex,
}

impl ExportedInterface<'_, '_> {
    /// Resolves a function and checks its types.
    fn function<Arguments, Response>(
        &mut self,
        name: &str,
    ) -> Result<TypedExport<Arguments, Response>, ExportError>
    where
        Arguments: ComponentNamedList + Lower,
        Response: ComponentNamedList + Lift,
    {
        let unusable = |reason: String| ExportError {
            interface: self.name,
            function: name.to_owned(),
            reason,
        };
        let resolver = &mut *self.resolver;
        let index = resolver
            .component
            .get_export_index(Some(&self.index), name)
            .ok_or_else(|| unusable("it is missing".to_owned()))?;
        resolver
            .instance
            .get_typed_func::<Arguments, Response>(&mut *resolver.store, &index)
            .map_err(|error| unusable(format!("{error:#}")))?;
        Ok(TypedExport {
            index,
            types: PhantomData,
        })
    }
}

const PLUGIN: &str = "stopover:supplier/plugin@1.0.0";

const fn interface_name(operation: Capability) -> &'static str {
    match operation {
        Capability::HotelPlaces => "stopover:supplier/hotel-places@1.0.0",
        Capability::HotelSearch => "stopover:supplier/hotel-search@1.0.0",
        Capability::HotelPricing => "stopover:supplier/hotel-pricing@1.0.0",
        Capability::HotelBooking => "stopover:supplier/hotel-booking@1.0.0",
        Capability::HotelCancellation => "stopover:supplier/hotel-cancellation@1.0.0",
        Capability::HotelContent => "stopover:supplier/hotel-content@1.0.0",
        Capability::HotelWeather => "stopover:supplier/hotel-weather@1.0.0",
        Capability::HotelPriceCalendar => "stopover:supplier/hotel-price-calendar@1.0.0",
        Capability::FlightPricing => "stopover:supplier/flight-pricing@1.0.0",
        Capability::FlightBooking => "stopover:supplier/flight-booking@1.0.0",
        Capability::FlightCancellation => "stopover:supplier/flight-cancellation@1.0.0",
        Capability::FlightServices => "stopover:supplier/flight-services@1.0.0",
        Capability::FlightReference => "stopover:supplier/flight-reference@1.0.0",
        Capability::SupplierEvents => "stopover:supplier/supplier-events@1.0.0",
        Capability::PaymentProcessor => "stopover:payment/processor@1.0.0",
    }
}

type ReadFn<Request, Response> = TypedExport<(Request,), (Result<Response, ReadError>,)>;
type ChangeFn<Request, Response> = TypedExport<(Request,), (Result<Response, ChangeError>,)>;
type PaymentFn<Request, Response> =
    TypedExport<(Request,), (Result<Response, payment::PaymentError>,)>;

pub(crate) struct HotelBookingExports {
    pub(crate) prebook:
        ChangeFn<wit::hotel_booking::PrebookRequest, wit::hotel_booking::PrebookResponse>,
    pub(crate) book: ChangeFn<wit::hotel_booking::BookRequest, wit::hotel_booking::SupplierBooking>,
    pub(crate) find: ReadFn<wit::hotel_booking::FindRequest, wit::hotel_booking::BookingLookup>,
}

pub(crate) struct HotelCancellationExports {
    pub(crate) quote: ReadFn<wit::hotel_cancellation::QuoteRequest, wit::hotel_cancellation::Quote>,
    pub(crate) cancel:
        ChangeFn<wit::hotel_cancellation::CancelRequest, wit::hotel_cancellation::SupplierBooking>,
}

pub(crate) struct HotelContentExports {
    pub(crate) details: ReadFn<String, wit::hotel_content::HotelDetails>,
    pub(crate) reviews:
        TypedExport<(String, u16), (Result<wit::hotel_content::Reviews, ReadError>,)>,
}

pub(crate) type ForecastFn = TypedExport<
    (wit::hotel_weather::Location, String, String),
    (Result<Vec<wit::hotel_weather::WeatherDay>, ReadError>,),
>;
pub(crate) type PriceCalendarFn = TypedExport<
    (Vec<String>, String, String),
    (Result<Vec<wit::hotel_price_calendar::HotelPrices>, ReadError>,),
>;

pub(crate) struct ProcessorExports {
    pub(crate) create_intent: PaymentFn<payment::IntentRequest, payment::Intent>,
    pub(crate) authorize: PaymentFn<payment::AuthorizeRequest, payment::ProcessorPayment>,
    pub(crate) capture: PaymentFn<payment::CaptureRequest, payment::ProcessorPayment>,
    pub(crate) void: PaymentFn<payment::VoidRequest, payment::ProcessorPayment>,
    pub(crate) refund: PaymentFn<payment::RefundRequest, payment::ProcessorRefund>,
    pub(crate) find: ReadFn<payment::FindRequest, payment::PaymentLookup>,
    pub(crate) find_refund:
        TypedExport<(String, String), (Result<payment::RefundLookup, ReadError>,)>,
    pub(crate) describe_instrument: ReadFn<String, payment::Instrument>,
}

pub(crate) type VerifyEventsFn = TypedExport<
    (wit::supplier_events::WebhookRequest,),
    (Result<Vec<wit::supplier_events::Event>, wit::supplier_events::VerifyError>,),
>;

/// All exports of one component.
pub(crate) struct Exports {
    pub(crate) capabilities: Vec<Capability>,
    pub(crate) describe: TypedExport<(), (wit::plugin::Description,)>,
    pub(crate) places: Option<ReadFn<wit::hotel_places::PlaceQuery, Vec<wit::hotel_places::Place>>>,
    pub(crate) search:
        Option<ReadFn<wit::hotel_search::SearchRequest, wit::hotel_search::SearchResponse>>,
    pub(crate) price:
        Option<ReadFn<wit::hotel_pricing::PriceRequest, wit::hotel_pricing::PriceResponse>>,
    pub(crate) booking: Option<HotelBookingExports>,
    pub(crate) cancellation: Option<HotelCancellationExports>,
    pub(crate) content: Option<HotelContentExports>,
    pub(crate) forecast: Option<ForecastFn>,
    pub(crate) prices: Option<PriceCalendarFn>,
    pub(crate) flight: flight::FlightExports,
    pub(crate) events: Option<VerifyEventsFn>,
    pub(crate) processor: Option<ProcessorExports>,
}

impl Exports {
    /// Resolves the exports of a component. The instance is needed to check types.
    pub(crate) fn resolve(
        pre: &InstancePre<GuestState>,
        instance: &Instance,
        store: &mut Store<GuestState>,
    ) -> Result<Self, ExportError> {
        let component = pre.component();
        let mut resolver = ExportResolver {
            component,
            instance,
            store,
            capabilities: Vec::new(),
        };
        let missing = || ExportError {
            interface: PLUGIN,
            function: "describe".to_owned(),
            reason: "the interface is not exported".to_owned(),
        };
        let index = component.get_export_index(None, PLUGIN);
        let mut plugin = ExportedInterface {
            resolver: &mut resolver,
            name: PLUGIN,
            index: index.ok_or_else(missing)?,
        };
        let mut exports = Self {
            capabilities: Vec::new(),
            describe: plugin.function("describe")?,
            places: resolver.resolve(Capability::HotelPlaces, |interface| {
                interface.function("find-places")
            })?,
            search: resolver.resolve(Capability::HotelSearch, |interface| {
                interface.function("search")
            })?,
            price: resolver.resolve(Capability::HotelPricing, |interface| {
                interface.function("price")
            })?,
            booking: resolver.resolve(Capability::HotelBooking, |interface| {
                Ok(HotelBookingExports {
                    prebook: interface.function("prebook")?,
                    book: interface.function("book")?,
                    find: interface.function("find")?,
                })
            })?,
            cancellation: resolver.resolve(Capability::HotelCancellation, |interface| {
                Ok(HotelCancellationExports {
                    quote: interface.function("quote-cancellation")?,
                    cancel: interface.function("cancel")?,
                })
            })?,
            content: resolver.resolve(Capability::HotelContent, |interface| {
                Ok(HotelContentExports {
                    details: interface.function("read-details")?,
                    reviews: interface.function("read-reviews")?,
                })
            })?,
            forecast: resolver.resolve(Capability::HotelWeather, |interface| {
                interface.function("forecast")
            })?,
            prices: resolver.resolve(Capability::HotelPriceCalendar, |interface| {
                interface.function("read-prices")
            })?,
            flight: flight::FlightExports::resolve(&mut resolver)?,
            events: resolver.resolve(Capability::SupplierEvents, |interface| {
                interface.function("verify")
            })?,
            processor: resolver.resolve(Capability::PaymentProcessor, ProcessorExports::resolve)?,
        };
        exports.capabilities = resolver.capabilities;
        exports.capabilities.sort_unstable();
        Ok(exports)
    }
}

impl ProcessorExports {
    fn resolve(interface: &mut ExportedInterface<'_, '_>) -> Result<Self, ExportError> {
        Ok(Self {
            create_intent: interface.function("create-intent")?,
            authorize: interface.function("authorize")?,
            capture: interface.function("capture")?,
            void: interface.function("void")?,
            refund: interface.function("refund")?,
            find: interface.function("find")?,
            find_refund: interface.function("find-refund")?,
            describe_instrument: interface.function("describe-instrument")?,
        })
    }
}
