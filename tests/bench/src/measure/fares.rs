//! Measures a real flight adapter on a whole search that it reads page by page: as a component in
//! its sandbox, with the same code linked into a native program, and the memory that the component
//! uses.

use crate::native;
use crate::peer::{FARES, Peer, Running};
use crate::plugin::{context, load_watched};
use crate::report::Row;
use crate::turns::Turns;
use anyhow::{Context, Result, ensure};
use duffel_flights::DuffelFlights;
use host_domain::flight::passenger::Travellers;
use host_domain::flight::supplier_api::{Filters, FlightPriceRequest, RequestedJourney, Sort};
use host_domain::money::Currency;
use host_domain::time::Date;
use host_runtime::{CallRecord, CallSink, ExchangeRecord, Supplier};
use serde_json::json;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use stopover_sdk::testing::MockGateway;
use stopover_sdk::{FlightPricing, flight_pricing};

const TURNS: Turns = Turns {
    round: 4,
    rounds: 75,
};
const MIB: u32 = 1 << 20;
const ROUTE: (&str, &str) = ("JFK", "AUS");
const DAY: &str = "2027-06-01";

pub(super) fn measure() -> Result<Vec<Row>> {
    let runtime = Rc::new(
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?,
    );
    let upstream = runtime.block_on(Peer::Supplier.start(""))?;
    let sides = Sides::new(&runtime, &upstream)?;
    let cpu = TURNS.processor_time(|| sides.ask_component(), || sides.ask_native())?;
    let memory = u32::try_from(sides.memory.0.load(Ordering::Relaxed))?;
    ensure!(memory > 0, "no call record contains its memory use");
    let row =
        |name: &str, what: &str, value, unit| Row::new(format!("fares.{name}"), what, value, unit);
    Ok(vec![
        row(
            "cpu",
            "250 fares, 1.5 MB: processor time of the component against native",
            cpu.ratio,
            "×",
        )
        .at_most(1.6),
        row(
            "cpu_component",
            "the same: component, a request",
            cpu.one,
            "ms",
        ),
        row("cpu_native", "the same: native, a request", cpu.other, "ms"),
        row(
            "memory",
            "the same: memory of the instance at most",
            f64::from(memory) / f64::from(MIB),
            "MiB",
        )
        .at_most(48.0),
    ])
}

/// The highest memory use of any call.
#[derive(Default)]
struct Memory(AtomicUsize);

impl CallSink for Memory {
    fn call(&self, record: &CallRecord<'_>) {
        self.0.fetch_max(record.memory_bytes, Ordering::Relaxed);
    }

    fn exchange(&self, _: &ExchangeRecord<'_>) {}
}

/// The same adapter as a component and as native code.
struct Sides {
    runtime: Rc<tokio::runtime::Runtime>,
    component: Supplier,
    native: MockGateway,
    memory: Arc<Memory>,
}

impl Sides {
    fn new(runtime: &Rc<tokio::runtime::Runtime>, upstream: &Running) -> Result<Self> {
        let settings = json!({ "base_url": format!("{}/0", upstream.base) });
        let memory = Arc::new(Memory::default());
        let sink = Arc::<Memory>::clone(&memory);
        let loading = load_watched("duffel-flights", settings.clone(), &upstream.base, sink);
        Ok(Self {
            runtime: Rc::clone(runtime),
            component: runtime.block_on(loading)?,
            native: native::gateway(runtime, &settings)?,
            memory,
        })
    }

    fn ask_component(&self) -> Result<()> {
        let (context, request) = (context(), request()?);
        let asking = self.component.price_flights(&context, request);
        let answer = self.runtime.block_on(asking)?;
        ensure!(
            answer.offers.len() == FARES && !answer.truncated,
            "the component returned {} fares",
            answer.offers.len()
        );
        Ok(())
    }

    fn ask_native(&self) -> Result<()> {
        let answer = self.native.run(|| DuffelFlights::price(native_request()));
        let answer = answer
            .ok()
            .context("the native adapter returned an error")?;
        ensure!(
            answer.offers.len() == FARES && !answer.truncated,
            "the native adapter returned {} fares",
            answer.offers.len()
        );
        Ok(())
    }
}

fn request() -> Result<FlightPriceRequest> {
    Ok(FlightPriceRequest {
        journeys: vec![RequestedJourney {
            origin: ROUTE.0.to_owned(),
            destination: ROUTE.1.to_owned(),
            date: DAY.parse::<Date>().ok().context("the text is not a date")?,
        }],
        travellers: Travellers {
            adults: 1,
            children: Vec::new(),
            infants: 0,
        },
        currency: Some(Currency::parse("EUR")?),
        filters: Filters::default(),
        sort: Sort::TotalAmount,
        descending: false,
        limit: u16::try_from(FARES)?,
    })
}

/// The same request in the types of the native adapter.
fn native_request() -> flight_pricing::PriceRequest {
    flight_pricing::PriceRequest {
        journeys: vec![flight_pricing::RequestedJourney {
            origin: ROUTE.0.to_owned(),
            destination: ROUTE.1.to_owned(),
            date: DAY.to_owned(),
        }],
        passengers: flight_pricing::PassengerCounts {
            adults: 1,
            children: Vec::new(),
            infants: 0,
        },
        currency: Some("EUR".to_owned()),
        filters: flight_pricing::Filters {
            cabin: None,
            max_stops: None,
            airlines: Vec::new(),
            excluded_airlines: Vec::new(),
            departure_after: None,
            departure_before: None,
            arrival_before: None,
            refundable: None,
            checked_bag: None,
            max_total: None,
        },
        sort: flight_pricing::Sort::TotalAmount,
        descending: false,
        limit: u16::try_from(FARES).unwrap_or(u16::MAX),
    }
}
