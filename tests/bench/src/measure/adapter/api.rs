//! Measures the same request through the whole gateway over HTTP.

use crate::load::Load;
use crate::peer::{HOTELS, OFFERS_PER_HOTEL, Running, hotel_id};
use crate::process::cpu_of;
use crate::sample::ms;
use crate::setup;
use anyhow::Result;
use serde_json::json;
use std::time::Duration;
use tests::{Database, Server, days_ahead};

const LENGTH: Duration = Duration::from_secs(6);

/// Returns the gateway's processor time for a request over HTTP, in milliseconds.
pub(super) async fn processor_time(upstream: &Running) -> Result<f64> {
    let url = json!(format!("{}/0", upstream.base));
    let supplier = format!(
        "[[suppliers]]\nid = \"MEASURED\"\nkind = \"hotel\"\nmodes = [\"test\"]\ncomponent = \"nuitee-hotels.wasm\"\n\
         settings = {{ data_url = {}, book_url = {} }}\nhosts = [\"{}\"]\n",
        url, url, upstream.base
    );
    let server = setup::gateway(Database::Sqlite, &supplier).await;
    let body = json!({
        "supplier": "MEASURED",
        "supplier_hotel_ids": (0..HOTELS).map(hotel_id).collect::<Vec<_>>(),
        "check_in": days_ahead(30),
        "check_out": days_ahead(32),
        "occupancy": [{"adults": 2, "children": []}],
        "guest_nationality": "DE",
        "currency": "EUR",
        "max_offers_per_hotel": OFFERS_PER_HOTEL,
    });
    let answer = server.client().post("/v1/hotel/offers", &body).await;
    let answer = answer.expect(200);
    let offers = answer
        .list()
        .iter()
        .filter_map(|row| row["offers"].as_array());
    super::expect_offers(offers.map(Vec::len))?;
    let ask = setup::post(&server, "/v1/hotel/offers", &body);
    let load = Load::new(&server.api, ask, 1);
    load.run(LENGTH / 4).await?.faultless()?;
    used(&server, &load).await
}

async fn used(server: &Server, load: &Load) -> Result<f64> {
    let before = cpu_of(server.process_id())?;
    let done = load.run(LENGTH).await?.faultless()?;
    let used = cpu_of(server.process_id())? - before;
    Ok(ms(used) / f64::from(u32::try_from(done.times.len())?))
}
