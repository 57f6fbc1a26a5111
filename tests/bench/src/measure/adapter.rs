//! Measures a real adapter on a full page of offers: as a component in its sandbox, and with the
//! same code linked into a native program. Both call the same upstream in another process over a
//! persistent connection.

mod api;

use crate::native::AdapterPair;
use crate::paired_rounds::PairedRounds;
use crate::peer::{HOTELS, OFFERS_PER_HOTEL, Peer, hotel_id};
use crate::plugin::context;
use crate::report::{Measured, measured};
use crate::sample::{Samples, ms, ratio};
use crate::setup::runtime;
use anyhow::{Context, Result, ensure};
use host_domain::hotel::supplier_api::HotelPriceRequest;
use host_domain::hotel::{Occupancy, Stay};
use host_domain::money::Currency;
use host_domain::time::Date;
use host_runtime::NoSink;
use nuitee_hotels::NuiteeHotels;
use serde_json::json;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stopover_sdk::DetailedHotelPricing;
use stopover_sdk::{detailed_hotel_pricing, hotel_pricing, types};

const ROUNDS: PairedRounds = PairedRounds {
    round: 20,
    rounds: 75,
};
const DELAY_MS: u32 = 20;
const DELAYED: usize = 500;

pub(super) fn measure() -> Result<Vec<Measured>> {
    let runtime = Rc::new(runtime()?);
    let upstream = runtime.block_on(Peer::Supplier.start(""))?;
    let load = |delay_ms| {
        let url = format!("{}/{delay_ms}", upstream.base);
        let settings = json!({ "data_url": url, "book_url": url });
        AdapterPair::new(
            &runtime,
            &upstream,
            "nuitee-hotels",
            settings,
            Arc::new(NoSink),
        )
    };
    let quick = load(0)?;
    let cpu = ROUNDS.processor_time(|| call_component(&quick), || call_native(&quick))?;
    let (slow, slow_native) = times(&load(DELAY_MS)?)?;
    let api = runtime.block_on(api::processor_time(&upstream))?;
    let percentile = |percent| (slow.percentile(percent), slow_native.percentile(percent));
    let ((p50, p50_native), (p99, p99_native)) = (percentile(50), percentile(99));
    let api_native = api - cpu.one + cpu.other;
    Ok(vec![
        measured("adapter.cpu", cpu.ratio),
        measured("adapter.cpu_component", cpu.one),
        measured("adapter.cpu_native", cpu.other),
        measured("adapter.cpu_api", api),
        measured("adapter.cpu_api_ratio", api / api_native),
        measured("adapter.p50", ratio(p50, p50_native)),
        measured("adapter.p99", ratio(p99, p99_native)),
        measured("adapter.p50_component", ms(p50)),
        measured("adapter.p50_native", ms(p50_native)),
    ])
}

fn call_component(adapters: &AdapterPair) -> Result<Duration> {
    let (context, request) = (context(), request()?);
    let begin = Instant::now();
    let call = adapters.component.price_hotels(&context, request);
    let answer = adapters.runtime.block_on(call)?;
    let time = begin.elapsed();
    expect_offers(answer.hotels.iter().map(|hotel| hotel.offers.len()))?;
    Ok(time)
}

fn call_native(adapters: &AdapterPair) -> Result<Duration> {
    let request = native_request();
    let begin = Instant::now();
    let answer = adapters.native.run(|| NuiteeHotels::price(request));
    let time = begin.elapsed();
    let answer = answer
        .ok()
        .context("the native adapter returned an error")?;
    expect_offers(answer.hotels.iter().map(|hotel| hotel.offers.len()))?;
    Ok(time)
}

/// Checks the numbers of offers of all hotels.
fn expect_offers(counts: impl Iterator<Item = usize>) -> Result<()> {
    let offers: usize = counts.sum();
    ensure!(
        offers == HOTELS * OFFERS_PER_HOTEL,
        "{offers} offers were returned"
    );
    Ok(())
}

/// Returns the response times of both. Requests alternate, so that a disturbance affects both.
fn times(adapters: &AdapterPair) -> Result<(Samples, Samples)> {
    let (mut component, mut native) = (Samples::default(), Samples::default());
    for number in 0..DELAYED + 10 {
        let pair = (call_component(adapters)?, call_native(adapters)?);
        if number >= 10 {
            component.push(pair.0);
            native.push(pair.1);
        }
    }
    Ok((component, native))
}

fn request() -> Result<HotelPriceRequest> {
    let date = |text: &str| text.parse::<Date>().ok().context("the text is not a date");
    Ok(HotelPriceRequest {
        supplier_hotel_ids: (0..HOTELS).map(hotel_id).collect(),
        stay: Stay {
            check_in: date("2027-06-01")?,
            check_out: date("2027-06-03")?,
            occupancies: vec![Occupancy {
                adults: 2,
                children: Vec::new(),
            }],
            guest_nationality: "DE".to_owned(),
            guest_residence: None,
            currency: Currency::parse("EUR")?,
        },
        max_offers_per_hotel: u16::try_from(OFFERS_PER_HOTEL)?,
        include_package_rates: false,
    })
}

/// The same request in the types of the native adapter.
fn native_request() -> detailed_hotel_pricing::DetailedPriceRequest {
    let request = hotel_pricing::PriceRequest {
        supplier_hotel_ids: (0..HOTELS).map(hotel_id).collect(),
        stay: types::hotel::Stay {
            check_in: "2027-06-01".to_owned(),
            check_out: "2027-06-03".to_owned(),
            occupancies: vec![types::hotel::Occupancy {
                adults: 2,
                children: Vec::new(),
            }],
            guest_nationality: "DE".to_owned(),
            guest_residence: None,
            currency: "EUR".to_owned(),
        },
        max_offers_per_hotel: u16::try_from(OFFERS_PER_HOTEL).unwrap_or(u16::MAX),
    };
    detailed_hotel_pricing::DetailedPriceRequest {
        request,
        include_package_rates: false,
    }
}
