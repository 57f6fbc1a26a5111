//! What a component exports: which capabilities, and where their functions are.
//! Found once, at load, and checked against the WIT then; calls use the places.

mod flight;

use crate::bindings::exports::stopover::payment::processor as payment;
use crate::bindings::exports::stopover::supplier as wit;
use crate::bindings::stopover::supplier::types::{ChangeError, ReadError};
use crate::state::GuestState;
use host_domain::supplier::Operation;
use std::marker::PhantomData;
use wasmtime::Store;
use wasmtime::component::{
    Component, ComponentExportIndex, ComponentNamedList, Instance, InstancePre, Lift, Lower,
    TypedFunc,
};

/// An exported function whose types were checked.
pub(crate) struct Function<Arguments, Answer> {
    place: ComponentExportIndex,
    types: PhantomData<fn(Arguments) -> Answer>,
}

impl<Arguments, Answer> Clone for Function<Arguments, Answer> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Arguments, Answer> Copy for Function<Arguments, Answer> {}

impl<Arguments, Answer> Function<Arguments, Answer>
where
    Arguments: ComponentNamedList + Lower,
    Answer: ComponentNamedList + Lift,
{
    fn find(
        finder: &mut Finder<'_>,
        interface: &ComponentExportIndex,
        name: &str,
    ) -> Result<Self, ExportError> {
        let broken = |reason: String| ExportError {
            interface: finder.interface,
            function: name.to_owned(),
            reason,
        };
        let place = finder
            .component
            .get_export_index(Some(interface), name)
            .ok_or_else(|| broken("it is missing".to_owned()))?;
        let typed = finder
            .instance
            .get_typed_func::<Arguments, Answer>(&mut *finder.store, &place);
        typed.map_err(|error| broken(format!("{error:#}")))?;
        Ok(Self {
            place,
            types: PhantomData,
        })
    }

    /// The function in an instance of the component that it was found in.
    pub(crate) fn of(
        &self,
        store: &mut Store<GuestState>,
        instance: &Instance,
    ) -> Option<TypedFunc<Arguments, Answer>> {
        let function = instance.get_func(&mut *store, self.place)?;
        // SAFETY: the types were checked against this very component when the
        // function was found, and types belong to the component, not to the instance.
        #[expect(
            unsafe_code,
            reason = "checking the types again costs as much as a small call"
        )]
        Some(unsafe { TypedFunc::new_unchecked(function) })
    }
}

/// An export that is not what the WIT says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{interface} has no usable function {function}: {reason}")]
pub struct ExportError {
    /// Which interface.
    pub interface: &'static str,
    /// Which function of it.
    pub function: String,
    /// What is wrong.
    pub reason: String,
}

struct Finder<'a> {
    component: &'a Component,
    instance: &'a Instance,
    store: &'a mut Store<GuestState>,
    interface: &'static str,
    operations: Vec<Operation>,
}

impl Finder<'_> {
    fn interface(&mut self, operation: Operation) -> Option<ComponentExportIndex> {
        self.interface = interface_of(operation);
        let place = self.component.get_export_index(None, self.interface)?;
        self.operations.push(operation);
        Some(place)
    }
}

const PLUGIN: &str = "stopover:supplier/plugin@1.0.0";

const fn interface_of(operation: Operation) -> &'static str {
    match operation {
        Operation::HotelPlaces => "stopover:supplier/hotel-places@1.0.0",
        Operation::HotelSearch => "stopover:supplier/hotel-search@1.0.0",
        Operation::HotelPricing => "stopover:supplier/hotel-pricing@1.0.0",
        Operation::HotelBooking => "stopover:supplier/hotel-booking@1.0.0",
        Operation::HotelCancellation => "stopover:supplier/hotel-cancellation@1.0.0",
        Operation::HotelContent => "stopover:supplier/hotel-content@1.0.0",
        Operation::HotelWeather => "stopover:supplier/hotel-weather@1.0.0",
        Operation::HotelPriceCalendar => "stopover:supplier/hotel-price-calendar@1.0.0",
        Operation::FlightPricing => "stopover:supplier/flight-pricing@1.0.0",
        Operation::FlightBooking => "stopover:supplier/flight-booking@1.0.0",
        Operation::FlightCancellation => "stopover:supplier/flight-cancellation@1.0.0",
        Operation::FlightServices => "stopover:supplier/flight-services@1.0.0",
        Operation::FlightReference => "stopover:supplier/flight-reference@1.0.0",
        Operation::SupplierEvents => "stopover:supplier/supplier-events@1.0.0",
        Operation::PaymentProcessor => "stopover:payment/processor@1.0.0",
    }
}

type Read<Request, Answer> = Function<(Request,), (Result<Answer, ReadError>,)>;
type Change<Request, Answer> = Function<(Request,), (Result<Answer, ChangeError>,)>;
type Pay<Request, Answer> = Function<(Request,), (Result<Answer, payment::PaymentError>,)>;

pub(crate) struct HotelBooking {
    pub(crate) prebook: Change<wit::hotel_booking::PrebookRequest, wit::hotel_booking::Prebooked>,
    pub(crate) book: Change<wit::hotel_booking::BookRequest, wit::hotel_booking::HotelBookingState>,
    pub(crate) find: Read<wit::hotel_booking::FindRequest, wit::hotel_booking::FindAnswer>,
}

pub(crate) struct HotelCancellation {
    pub(crate) quote: Read<wit::hotel_cancellation::QuoteRequest, wit::hotel_cancellation::Quote>,
    pub(crate) cancel:
        Change<wit::hotel_cancellation::CancelRequest, wit::hotel_cancellation::HotelBookingState>,
}

pub(crate) struct HotelContent {
    pub(crate) details: Read<String, wit::hotel_content::Details>,
    pub(crate) reviews: Function<(String, u16), (Result<wit::hotel_content::Reviews, ReadError>,)>,
}

pub(crate) type Forecast = Function<
    (wit::hotel_weather::Location, String, String),
    (Result<Vec<wit::hotel_weather::Day>, ReadError>,),
>;
pub(crate) type Prices = Function<
    (Vec<String>, String, String),
    (Result<Vec<wit::hotel_price_calendar::HotelPrices>, ReadError>,),
>;

pub(crate) struct Processor {
    pub(crate) create_intent: Pay<payment::IntentRequest, payment::Intent>,
    pub(crate) authorize: Pay<payment::AuthorizeRequest, payment::PaymentState>,
    pub(crate) capture: Pay<payment::CaptureRequest, payment::PaymentState>,
    pub(crate) void: Pay<payment::VoidRequest, payment::PaymentState>,
    pub(crate) refund: Pay<payment::RefundRequest, payment::RefundState>,
    pub(crate) find: Read<payment::FindRequest, payment::FindAnswer>,
    pub(crate) find_refund:
        Function<(String, String), (Result<payment::FindRefundAnswer, ReadError>,)>,
    pub(crate) describe_instrument: Read<String, payment::Instrument>,
}

pub(crate) type Events = Function<
    (wit::supplier_events::Delivery,),
    (Result<Vec<wit::supplier_events::Event>, wit::supplier_events::VerifyError>,),
>;

/// Everything that one component exports.
pub(crate) struct Exports {
    pub(crate) operations: Vec<Operation>,
    pub(crate) describe: Function<(), (wit::plugin::Description,)>,
    pub(crate) places: Option<Read<wit::hotel_places::PlaceQuery, Vec<wit::hotel_places::Place>>>,
    pub(crate) search:
        Option<Read<wit::hotel_search::SearchRequest, wit::hotel_search::SearchAnswer>>,
    pub(crate) price:
        Option<Read<wit::hotel_pricing::PriceRequest, wit::hotel_pricing::PriceAnswer>>,
    pub(crate) booking: Option<HotelBooking>,
    pub(crate) cancellation: Option<HotelCancellation>,
    pub(crate) content: Option<HotelContent>,
    pub(crate) forecast: Option<Forecast>,
    pub(crate) prices: Option<Prices>,
    pub(crate) flight: flight::Flight,
    pub(crate) events: Option<Events>,
    pub(crate) processor: Option<Processor>,
}

impl Exports {
    /// Looks through a component, with one instance of it to check types on.
    pub(crate) fn find(
        pre: &InstancePre<GuestState>,
        instance: &Instance,
        store: &mut Store<GuestState>,
    ) -> Result<Self, ExportError> {
        let component = pre.component();
        let mut finder = Finder {
            component,
            instance,
            store,
            interface: PLUGIN,
            operations: Vec::new(),
        };
        let plugin = component.get_export_index(None, PLUGIN);
        let missing = || ExportError {
            interface: PLUGIN,
            function: "describe".to_owned(),
            reason: "the interface is not exported".to_owned(),
        };
        let describe = Function::find(&mut finder, &plugin.ok_or_else(missing)?, "describe")?;
        let mut exports = Self {
            operations: Vec::new(),
            describe,
            places: finder.one(Operation::HotelPlaces, "find-places")?,
            search: finder.one(Operation::HotelSearch, "search")?,
            price: finder.one(Operation::HotelPricing, "price")?,
            booking: finder.booking()?,
            cancellation: finder.cancellation()?,
            content: finder.content()?,
            forecast: finder.one(Operation::HotelWeather, "forecast")?,
            prices: finder.one(Operation::HotelPriceCalendar, "read-prices")?,
            flight: finder.flight()?,
            events: finder.one(Operation::SupplierEvents, "verify")?,
            processor: finder.processor()?,
        };
        exports.operations = finder.operations;
        exports.operations.sort_unstable();
        Ok(exports)
    }
}

impl Finder<'_> {
    fn one<A, R>(
        &mut self,
        operation: Operation,
        name: &str,
    ) -> Result<Option<Function<A, R>>, ExportError>
    where
        A: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift,
    {
        let Some(interface) = self.interface(operation) else {
            return Ok(None);
        };
        Function::find(self, &interface, name).map(Some)
    }

    fn booking(&mut self) -> Result<Option<HotelBooking>, ExportError> {
        let Some(interface) = self.interface(Operation::HotelBooking) else {
            return Ok(None);
        };
        Ok(Some(HotelBooking {
            prebook: Function::find(self, &interface, "prebook")?,
            book: Function::find(self, &interface, "book")?,
            find: Function::find(self, &interface, "find")?,
        }))
    }

    fn cancellation(&mut self) -> Result<Option<HotelCancellation>, ExportError> {
        let Some(interface) = self.interface(Operation::HotelCancellation) else {
            return Ok(None);
        };
        Ok(Some(HotelCancellation {
            quote: Function::find(self, &interface, "quote-cancellation")?,
            cancel: Function::find(self, &interface, "cancel")?,
        }))
    }

    fn content(&mut self) -> Result<Option<HotelContent>, ExportError> {
        let Some(interface) = self.interface(Operation::HotelContent) else {
            return Ok(None);
        };
        Ok(Some(HotelContent {
            details: Function::find(self, &interface, "read-details")?,
            reviews: Function::find(self, &interface, "read-reviews")?,
        }))
    }

    fn processor(&mut self) -> Result<Option<Processor>, ExportError> {
        let Some(interface) = self.interface(Operation::PaymentProcessor) else {
            return Ok(None);
        };
        Ok(Some(Processor {
            create_intent: Function::find(self, &interface, "create-intent")?,
            authorize: Function::find(self, &interface, "authorize")?,
            capture: Function::find(self, &interface, "capture")?,
            void: Function::find(self, &interface, "void")?,
            refund: Function::find(self, &interface, "refund")?,
            find: Function::find(self, &interface, "find")?,
            find_refund: Function::find(self, &interface, "find-refund")?,
            describe_instrument: Function::find(self, &interface, "describe-instrument")?,
        }))
    }
}
