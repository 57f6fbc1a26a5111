//! Exports of a component: its capabilities and the indexes of their functions. They are resolved
//! once at load and checked against the WIT; calls use the indexes.

use crate::bindings::exports::stopover::payment::processor as payment;
use crate::bindings::exports::stopover::supplier::{
    flight_booking, flight_cancellation, flight_pricing, flight_reference, flight_services,
    hotel_booking, hotel_cancellation, hotel_content, hotel_places, hotel_price_calendar,
    hotel_pricing, hotel_search, hotel_weather, plugin, supplier_events as events,
};
use crate::bindings::stopover::supplier::flight_types;
use crate::bindings::stopover::supplier::types::{ChangeError, ReadError};
use crate::bindings::v1_1::exports::stopover::supplier::{
    detailed_flight_booking, detailed_flight_pricing, detailed_hotel_booking,
    detailed_hotel_pricing,
};
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

/// A function of a capability. `export` is `None` if the component does not export the capability.
pub(crate) struct CapabilityFunction<Arguments, Response> {
    pub(crate) capability: Capability,
    pub(crate) name: &'static str,
    pub(crate) export: Option<TypedExport<Arguments, Response>>,
}

impl<Arguments, Response> CapabilityFunction<Arguments, Response> {
    pub(crate) const fn is_exported(&self) -> bool {
        self.export.is_some()
    }
}

struct ExportResolver<'a> {
    component: &'a Component,
    instance: &'a Instance,
    store: &'a mut Store<GuestState>,
}

impl ExportResolver<'_> {
    /// Resolves a function of a capability's interface of version 1.0 and checks its types.
    fn resolve<Arguments, Response>(
        &mut self,
        capability: Capability,
        name: &'static str,
    ) -> Result<CapabilityFunction<Arguments, Response>, ExportError>
    where
        Arguments: ComponentNamedList + Lower,
        Response: ComponentNamedList + Lift,
    {
        self.resolve_in(interface_name(capability), capability, name)
    }

    /// Resolves a function of an interface of a capability and checks its types.
    fn resolve_in<Arguments, Response>(
        &mut self,
        interface: &'static str,
        capability: Capability,
        name: &'static str,
    ) -> Result<CapabilityFunction<Arguments, Response>, ExportError>
    where
        Arguments: ComponentNamedList + Lower,
        Response: ComponentNamedList + Lift,
    {
        let index = self.component.get_export_index(None, interface);
        Ok(CapabilityFunction {
            capability,
            name,
            export: index
                .map(|index| self.function(interface, &index, name))
                .transpose()?,
        })
    }

    fn function<Arguments, Response>(
        &mut self,
        interface: &'static str,
        interface_index: &ComponentExportIndex,
        name: &str,
    ) -> Result<TypedExport<Arguments, Response>, ExportError>
    where
        Arguments: ComponentNamedList + Lower,
        Response: ComponentNamedList + Lift,
    {
        let unusable = |reason: String| ExportError {
            interface,
            function: name.to_owned(),
            reason,
        };
        let index = self
            .component
            .get_export_index(Some(interface_index), name)
            .ok_or_else(|| unusable("it is missing".to_owned()))?;
        self.instance
            .get_typed_func::<Arguments, Response>(&mut *self.store, &index)
            .map_err(|error| unusable(format!("{error:#}")))?;
        Ok(TypedExport {
            index,
            types: PhantomData,
        })
    }
}

const PLUGIN: &str = "stopover:supplier/plugin@1.0.0";

const DETAILED_HOTEL_PRICING: &str = "stopover:supplier/detailed-hotel-pricing@1.1.0";
const DETAILED_HOTEL_BOOKING: &str = "stopover:supplier/detailed-hotel-booking@1.1.0";
const DETAILED_FLIGHT_PRICING: &str = "stopover:supplier/detailed-flight-pricing@1.1.0";
const DETAILED_FLIGHT_BOOKING: &str = "stopover:supplier/detailed-flight-booking@1.1.0";

/// Returns the interface that version 1.1 adds for a capability. The host calls it if a component
/// has both. Its name differs from that of version 1.0, because a component that exports only one
/// version of an interface is also found under the other one.
const fn detailed_interface_name(capability: Capability) -> Option<&'static str> {
    match capability {
        Capability::HotelPricing => Some(DETAILED_HOTEL_PRICING),
        Capability::HotelBooking => Some(DETAILED_HOTEL_BOOKING),
        Capability::FlightPricing => Some(DETAILED_FLIGHT_PRICING),
        Capability::FlightBooking => Some(DETAILED_FLIGHT_BOOKING),
        Capability::HotelPlaces
        | Capability::HotelSearch
        | Capability::HotelCancellation
        | Capability::HotelContent
        | Capability::HotelWeather
        | Capability::HotelPriceCalendar
        | Capability::FlightCancellation
        | Capability::FlightServices
        | Capability::FlightReference
        | Capability::SupplierEvents
        | Capability::PaymentProcessor => None,
    }
}

const fn interface_name(capability: Capability) -> &'static str {
    match capability {
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

type ReadFn<Arguments, Response> = CapabilityFunction<Arguments, (Result<Response, ReadError>,)>;
type ChangeFn<Request, Response> = CapabilityFunction<(Request,), (Result<Response, ChangeError>,)>;
type PaymentFn<Request, Response> =
    CapabilityFunction<(Request,), (Result<Response, payment::PaymentError>,)>;
type VerifyFn = CapabilityFunction<
    (events::WebhookRequest,),
    (Result<Vec<events::Event>, events::VerifyError>,),
>;

pub(crate) struct HotelExports {
    pub(crate) find_places: ReadFn<(hotel_places::PlaceQuery,), Vec<hotel_places::Place>>,
    pub(crate) search: ReadFn<(hotel_search::SearchRequest,), hotel_search::SearchResponse>,
    pub(crate) price: ReadFn<(hotel_pricing::PriceRequest,), hotel_pricing::PriceResponse>,
    pub(crate) detailed_price: ReadFn<
        (detailed_hotel_pricing::DetailedPriceRequest,),
        detailed_hotel_pricing::DetailedPriceResponse,
    >,
    pub(crate) prebook: ChangeFn<hotel_booking::PrebookRequest, hotel_booking::PrebookResponse>,
    pub(crate) detailed_prebook:
        ChangeFn<hotel_booking::PrebookRequest, detailed_hotel_booking::DetailedPrebookResponse>,
    pub(crate) book: ChangeFn<hotel_booking::BookRequest, hotel_booking::SupplierBooking>,
    pub(crate) detailed_book:
        ChangeFn<hotel_booking::BookRequest, detailed_hotel_booking::DetailedBooking>,
    pub(crate) find: ReadFn<(hotel_booking::FindRequest,), hotel_booking::BookingLookup>,
    pub(crate) detailed_find:
        ReadFn<(hotel_booking::FindRequest,), detailed_hotel_booking::DetailedBookingLookup>,
    pub(crate) quote: ReadFn<(hotel_cancellation::QuoteRequest,), hotel_cancellation::Quote>,
    pub(crate) cancel: ChangeFn<hotel_cancellation::CancelRequest, hotel_booking::SupplierBooking>,
    pub(crate) details: ReadFn<(String,), hotel_content::HotelDetails>,
    pub(crate) reviews: ReadFn<(String, u16), hotel_content::Reviews>,
    pub(crate) forecast:
        ReadFn<(hotel_weather::Location, String, String), Vec<hotel_weather::WeatherDay>>,
    pub(crate) prices:
        ReadFn<(Vec<String>, String, String), Vec<hotel_price_calendar::HotelPrices>>,
}

impl HotelExports {
    fn resolve(resolver: &mut ExportResolver<'_>) -> Result<Self, ExportError> {
        Ok(Self {
            find_places: resolver.resolve(Capability::HotelPlaces, "find-places")?,
            search: resolver.resolve(Capability::HotelSearch, "search")?,
            price: resolver.resolve(Capability::HotelPricing, "price")?,
            detailed_price: resolver.resolve_in(
                DETAILED_HOTEL_PRICING,
                Capability::HotelPricing,
                "price",
            )?,
            prebook: resolver.resolve(Capability::HotelBooking, "prebook")?,
            detailed_prebook: resolver.resolve_in(
                DETAILED_HOTEL_BOOKING,
                Capability::HotelBooking,
                "prebook",
            )?,
            book: resolver.resolve(Capability::HotelBooking, "book")?,
            detailed_book: resolver.resolve_in(
                DETAILED_HOTEL_BOOKING,
                Capability::HotelBooking,
                "book",
            )?,
            find: resolver.resolve(Capability::HotelBooking, "find")?,
            detailed_find: resolver.resolve_in(
                DETAILED_HOTEL_BOOKING,
                Capability::HotelBooking,
                "find",
            )?,
            quote: resolver.resolve(Capability::HotelCancellation, "quote-cancellation")?,
            cancel: resolver.resolve(Capability::HotelCancellation, "cancel")?,
            details: resolver.resolve(Capability::HotelContent, "read-details")?,
            reviews: resolver.resolve(Capability::HotelContent, "read-reviews")?,
            forecast: resolver.resolve(Capability::HotelWeather, "forecast")?,
            prices: resolver.resolve(Capability::HotelPriceCalendar, "read-prices")?,
        })
    }
}

pub(crate) struct FlightExports {
    pub(crate) price: ReadFn<(flight_pricing::PriceRequest,), flight_pricing::PriceResponse>,
    pub(crate) detailed_price:
        ReadFn<(flight_pricing::PriceRequest,), detailed_flight_pricing::DetailedPriceResponse>,
    pub(crate) prebook: ChangeFn<flight_booking::PrebookRequest, flight_booking::PrebookResponse>,
    pub(crate) detailed_prebook:
        ChangeFn<flight_booking::PrebookRequest, detailed_flight_booking::DetailedPrebookResponse>,
    pub(crate) book: ChangeFn<flight_booking::BookRequest, flight_types::SupplierBooking>,
    pub(crate) detailed_book:
        ChangeFn<flight_booking::BookRequest, detailed_flight_booking::DetailedBooking>,
    pub(crate) find: ReadFn<(flight_booking::FindRequest,), flight_booking::BookingLookup>,
    pub(crate) detailed_find:
        ReadFn<(flight_booking::FindRequest,), detailed_flight_booking::DetailedBookingLookup>,
    pub(crate) quote: ReadFn<(flight_cancellation::QuoteRequest,), flight_cancellation::Quote>,
    pub(crate) cancel: ChangeFn<flight_cancellation::CancelRequest, flight_types::SupplierBooking>,
    pub(crate) list_services:
        ReadFn<(flight_services::ListRequest,), flight_services::AvailableServices>,
    pub(crate) buy_services:
        ChangeFn<flight_services::PurchaseRequest, flight_types::SupplierBooking>,
    pub(crate) find_airports: ReadFn<(String, u16), flight_reference::AirportResponse>,
    pub(crate) read_airline: ReadFn<(String,), flight_reference::Airline>,
}

impl FlightExports {
    fn resolve(resolver: &mut ExportResolver<'_>) -> Result<Self, ExportError> {
        Ok(Self {
            price: resolver.resolve(Capability::FlightPricing, "price")?,
            detailed_price: resolver.resolve_in(
                DETAILED_FLIGHT_PRICING,
                Capability::FlightPricing,
                "price",
            )?,
            prebook: resolver.resolve(Capability::FlightBooking, "prebook")?,
            detailed_prebook: resolver.resolve_in(
                DETAILED_FLIGHT_BOOKING,
                Capability::FlightBooking,
                "prebook",
            )?,
            book: resolver.resolve(Capability::FlightBooking, "book")?,
            detailed_book: resolver.resolve_in(
                DETAILED_FLIGHT_BOOKING,
                Capability::FlightBooking,
                "book",
            )?,
            find: resolver.resolve(Capability::FlightBooking, "find")?,
            detailed_find: resolver.resolve_in(
                DETAILED_FLIGHT_BOOKING,
                Capability::FlightBooking,
                "find",
            )?,
            quote: resolver.resolve(Capability::FlightCancellation, "quote-cancellation")?,
            cancel: resolver.resolve(Capability::FlightCancellation, "cancel")?,
            list_services: resolver.resolve(Capability::FlightServices, "list-services")?,
            buy_services: resolver.resolve(Capability::FlightServices, "purchase-services")?,
            find_airports: resolver.resolve(Capability::FlightReference, "find-airports")?,
            read_airline: resolver.resolve(Capability::FlightReference, "read-airline")?,
        })
    }
}

pub(crate) struct ProcessorExports {
    pub(crate) create_intent: PaymentFn<payment::IntentRequest, payment::Intent>,
    pub(crate) authorize: PaymentFn<payment::AuthorizeRequest, payment::ProcessorPayment>,
    pub(crate) capture: PaymentFn<payment::CaptureRequest, payment::ProcessorPayment>,
    pub(crate) void: PaymentFn<payment::VoidRequest, payment::ProcessorPayment>,
    pub(crate) refund: PaymentFn<payment::RefundRequest, payment::ProcessorRefund>,
    pub(crate) find: ReadFn<(payment::FindRequest,), payment::PaymentLookup>,
    pub(crate) find_refund: ReadFn<(String, String), payment::RefundLookup>,
    pub(crate) describe_instrument: ReadFn<(String,), payment::Instrument>,
}

impl ProcessorExports {
    fn resolve(resolver: &mut ExportResolver<'_>) -> Result<Self, ExportError> {
        let capability = Capability::PaymentProcessor;
        Ok(Self {
            create_intent: resolver.resolve(capability, "create-intent")?,
            authorize: resolver.resolve(capability, "authorize")?,
            capture: resolver.resolve(capability, "capture")?,
            void: resolver.resolve(capability, "void")?,
            refund: resolver.resolve(capability, "refund")?,
            find: resolver.resolve(capability, "find")?,
            find_refund: resolver.resolve(capability, "find-refund")?,
            describe_instrument: resolver.resolve(capability, "describe-instrument")?,
        })
    }
}

pub(crate) struct Exports {
    pub(crate) capabilities: Vec<Capability>,
    pub(crate) describe: TypedExport<(), (plugin::Description,)>,
    pub(crate) hotel: HotelExports,
    pub(crate) flight: FlightExports,
    pub(crate) verify_events: VerifyFn,
    pub(crate) processor: ProcessorExports,
}

impl Exports {
    /// Resolves the exports of a component. The instance is needed to check types.
    pub(crate) fn resolve(
        pre: &InstancePre<GuestState>,
        instance: &Instance,
        store: &mut Store<GuestState>,
    ) -> Result<Self, ExportError> {
        let component = pre.component();
        let is_exported = |capability: &Capability| {
            let interfaces = [
                Some(interface_name(*capability)),
                detailed_interface_name(*capability),
            ];
            let mut interfaces = interfaces.into_iter().flatten();
            interfaces.any(|interface| component.get_export_index(None, interface).is_some())
        };
        let missing = || ExportError {
            interface: PLUGIN,
            function: "describe".to_owned(),
            reason: "the interface is not exported".to_owned(),
        };
        let plugin = component.get_export_index(None, PLUGIN);
        let plugin = plugin.ok_or_else(missing)?;
        let mut resolver = ExportResolver {
            component,
            instance,
            store,
        };
        Ok(Self {
            capabilities: Capability::ALL.into_iter().filter(is_exported).collect(),
            describe: resolver.function(PLUGIN, &plugin, "describe")?,
            hotel: HotelExports::resolve(&mut resolver)?,
            flight: FlightExports::resolve(&mut resolver)?,
            verify_events: resolver.resolve(Capability::SupplierEvents, "verify")?,
            processor: ProcessorExports::resolve(&mut resolver)?,
        })
    }
}
