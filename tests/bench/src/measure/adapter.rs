//! Measures a real adapter on a full page of offers: as a component in its sandbox, and with the
//! same code linked into a native program. Both call the same upstream in another process over a
//! persistent connection.

mod api;

use crate::native;
use crate::peer::{HOTELS, OFFERS_PER_HOTEL, Peer, Running, hotel_id};
use crate::plugin::{context, load};
use crate::report::Row;
use crate::sample::{Samples, ms, ratio};
use crate::turns::{Compared, Turns};
use anyhow::{Context, Result, ensure};
use host_domain::hotel::supplier_api::HotelPriceRequest;
use host_domain::hotel::{Occupancy, Stay};
use host_domain::money::Currency;
use host_domain::time::Date;
use host_runtime::Supplier;
use nuitee_hotels::NuiteeHotels;
use serde_json::json;
use std::rc::Rc;
use std::time::{Duration, Instant};
use stopover_sdk::HotelPricing;
use stopover_sdk::testing::MockGateway;
use stopover_sdk::{hotel_pricing, types};

const TURNS: Turns = Turns {
    round: 20,
    rounds: 75,
};
const DELAY_MS: u32 = 20;
const DELAYED: usize = 500;

pub(super) fn measure() -> Result<Vec<Row>> {
    let runtime = Rc::new(
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?,
    );
    let upstream = runtime.block_on(Peer::Supplier.start(""))?;
    let cpu = Sides::new(&runtime, &upstream, 0)?.processor_time()?;
    let (slow, slow_native) = Sides::new(&runtime, &upstream, DELAY_MS)?.times()?;
    let api = runtime.block_on(api::processor_time(&upstream))?;
    let percentile = |percent| (slow.percentile(percent), slow_native.percentile(percent));
    let ((p50, p50_native), (p99, p99_native)) = (percentile(50), percentile(99));
    let row = |name: &str, what: &str, value, unit| {
        Row::new(format!("adapter.{name}"), what, value, unit)
    };
    Ok(vec![
        row(
            "cpu",
            "hotel offers, 10 × 25: processor time of the component against native",
            cpu.ratio,
            "×",
        )
        .at_most(1.5),
        row(
            "cpu_component",
            "the same: component, a request",
            cpu.one,
            "ms",
        ),
        row("cpu_native", "the same: native, a request", cpu.other, "ms"),
        row(
            "cpu_api",
            "the same over the HTTP API: the whole gateway, a request",
            api,
            "ms",
        ),
        row(
            "cpu_api_ratio",
            "the same over the HTTP API, against the gateway with the native adapter (computed)",
            api / (api - cpu.one + cpu.other),
            "×",
        )
        .at_most(1.5),
        row(
            "p50",
            "hotel offers, upstream of 20 ms: median against native",
            ratio(p50, p50_native),
            "×",
        )
        .at_most(1.05),
        row(
            "p99",
            "the same: 99th percentile against native",
            ratio(p99, p99_native),
            "×",
        )
        .at_most(1.10),
        row(
            "p50_component",
            "the same: median of the component",
            ms(p50),
            "ms",
        ),
        row(
            "p50_native",
            "the same: median native",
            ms(p50_native),
            "ms",
        ),
    ])
}

/// The same adapter as a component and as native code.
struct Sides {
    runtime: Rc<tokio::runtime::Runtime>,
    component: Supplier,
    native: MockGateway,
}

impl Sides {
    fn new(
        runtime: &Rc<tokio::runtime::Runtime>,
        upstream: &Running,
        delay_ms: u32,
    ) -> Result<Self> {
        let settings = settings(upstream, delay_ms);
        Ok(Self {
            runtime: Rc::clone(runtime),
            component: runtime.block_on(load("nuitee-hotels", settings.clone(), &upstream.base))?,
            native: native::gateway(runtime, &settings)?,
        })
    }

    fn ask_component(&self) -> Result<Duration> {
        let (context, request) = (context(), request()?);
        let begin = Instant::now();
        let answer = self
            .runtime
            .block_on(self.component.price_hotels(&context, request))?;
        let time = begin.elapsed();
        let offers: usize = answer.hotels.iter().map(|hotel| hotel.offers.len()).sum();
        ensure!(
            offers == HOTELS * OFFERS_PER_HOTEL,
            "the component returned {offers} offers"
        );
        Ok(time)
    }

    fn ask_native(&self) -> Result<Duration> {
        let request = native_request();
        let begin = Instant::now();
        let answer = self.native.run(|| NuiteeHotels::price(request));
        let time = begin.elapsed();
        let answer = answer
            .ok()
            .context("the native adapter returned an error")?;
        let offers: usize = answer.hotels.iter().map(|hotel| hotel.offers.len()).sum();
        ensure!(
            offers == HOTELS * OFFERS_PER_HOTEL,
            "the native adapter returned {offers} offers"
        );
        Ok(time)
    }

    /// Returns the processor time of a request in milliseconds, for the component and the native
    /// adapter.
    fn processor_time(&self) -> Result<Compared> {
        TURNS.processor_time(|| self.ask_component(), || self.ask_native())
    }

    /// Returns the response times of both. Requests alternate, so that a disturbance affects both.
    fn times(&self) -> Result<(Samples, Samples)> {
        let (mut component, mut native) = (Samples::default(), Samples::default());
        for number in 0..DELAYED + 10 {
            let pair = (self.ask_component()?, self.ask_native()?);
            if number >= 10 {
                component.push(pair.0);
                native.push(pair.1);
            }
        }
        Ok((component, native))
    }
}

fn settings(upstream: &Running, delay_ms: u32) -> serde_json::Value {
    let url = format!("{}/{delay_ms}", upstream.base);
    json!({ "data_url": url, "book_url": url })
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
    })
}

/// The same request in the types of the native adapter.
fn native_request() -> hotel_pricing::PriceRequest {
    hotel_pricing::PriceRequest {
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
    }
}
