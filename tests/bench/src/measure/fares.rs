//! Measures a real flight adapter on a whole search that it reads page by page: as a component in
//! its sandbox, with the same code linked into a native program, and the memory that the component
//! uses.

use crate::native::AdapterPair;
use crate::paired_rounds::PairedRounds;
use crate::peer::{FARES, Peer};
use crate::plugin::context;
use crate::report::{Measured, measured};
use crate::setup::runtime;
use anyhow::{Context, Result, ensure};
use duffel_flights::DuffelFlights;
use host_domain::flight::passenger::Travellers;
use host_domain::flight::supplier_api::{Filters, FlightPriceRequest, RequestedJourney, Sort};
use host_domain::money::Currency;
use host_domain::supplier::{Capability, SupplierId};
use host_domain::time::Date;
use host_runtime::{CallRecord, CallSink, ExchangeRecord};
use serde_json::json;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use stopover_sdk::{DetailedFlightPricing, flight_pricing};

const ROUNDS: PairedRounds = PairedRounds {
    round: 4,
    rounds: 75,
};
const MIB: u32 = 1 << 20;
const ROUTE: (&str, &str) = ("JFK", "AUS");
const DAY: &str = "2027-06-01";

pub(super) fn measure() -> Result<Vec<Measured>> {
    let runtime = Rc::new(runtime()?);
    let upstream = runtime.block_on(Peer::Supplier.start(""))?;
    let settings = json!({ "base_url": format!("{}/0", upstream.base) });
    let memory = Arc::new(Memory::default());
    let sink = Arc::<Memory>::clone(&memory);
    let adapters = AdapterPair::new(&runtime, &upstream, "duffel-flights", settings, sink)?;
    let cpu = ROUNDS.processor_time(|| call_component(&adapters), || call_native(&adapters))?;
    let memory = u32::try_from(memory.0.load(Ordering::Relaxed))?;
    ensure!(memory > 0, "no call record contains its memory use");
    Ok(vec![
        measured("fares.cpu", cpu.ratio),
        measured("fares.cpu_component", cpu.one),
        measured("fares.cpu_native", cpu.other),
        measured("fares.memory", f64::from(memory) / f64::from(MIB)),
    ])
}

/// The highest memory use of any call.
#[derive(Default)]
struct Memory(AtomicUsize);

impl CallSink for Memory {
    fn record_call(&self, record: &CallRecord<'_>) {
        self.0.fetch_max(record.memory_bytes, Ordering::Relaxed);
    }

    fn record_exchange(&self, _: &ExchangeRecord<'_>) {}

    fn record_dropped_items(&self, _: &SupplierId, _: Capability, _: &str, _: u64) {}
}

fn call_component(adapters: &AdapterPair) -> Result<()> {
    let (context, request) = (context(), request()?);
    let call = adapters.component.price_flights(&context, request);
    let answer = adapters.runtime.block_on(call)?;
    expect_fares(answer.offers.len(), answer.truncated)
}

fn call_native(adapters: &AdapterPair) -> Result<()> {
    let answer = adapters
        .native
        .run(|| DuffelFlights::price(native_request()));
    let answer = answer
        .ok()
        .context("the native adapter returned an error")?;
    expect_fares(answer.offers.len(), answer.truncated)
}

fn expect_fares(count: usize, is_truncated: bool) -> Result<()> {
    ensure!(
        count == FARES && !is_truncated,
        "{count} fares were returned"
    );
    Ok(())
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
        filters: flight_pricing::Filters::default(),
        sort: flight_pricing::Sort::TotalAmount,
        descending: false,
        limit: u16::try_from(FARES).unwrap_or(u16::MAX),
    }
}
