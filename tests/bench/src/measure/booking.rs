//! Measures bookings from prebook to confirmation with a card and every step durable, at a sandbox
//! in another process.

use crate::http_connection::HttpConnection;
use crate::report::{Measured, measured};
use crate::sample::{Samples, ms};
use crate::setup::{self, key, on_both};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tests::{Database, FlightBookingBuilder, HotelBookingBuilder, Server, prebook_request, trip};
use tokio::task::JoinSet;

const CONCURRENCY: usize = 64;
const WARM_UP: Duration = Duration::from_secs(2);
/// Duration of a measurement. It ends earlier if a fast machine has booked every fare.
const LENGTH: Duration = Duration::from_secs(10);
const FARES: usize = 6_000;

pub(super) fn measure() -> Result<Vec<Measured>> {
    let mut values = Vec::new();
    for product in ["hotel", "flight"] {
        values.extend(on_both(|database| on(product, database))?);
    }
    Ok(values)
}

async fn on(product: &'static str, database: Database) -> Result<Vec<Measured>> {
    let server = Arc::new(setup::gateway(database, "").await);
    let requests = Arc::new(match product {
        "hotel" => BookingRequests::hotel(&server).await,
        _ => BookingRequests::flight(&server).await?,
    });
    run(&server, &requests, WARM_UP).await?;
    let (times, rate) = run(&server, &requests, LENGTH).await?;
    let booked = server.ledger().await;
    let count = booked.count("bkg_", "booking");
    ensure!(
        count >= times.len(),
        "{} bookings were completed, but the ledger contains only {count}",
        times.len()
    );
    // The keys of hotels are older than those of flights and lack the product.
    let key = match product {
        "hotel" => format!("booking.{}", key(database)),
        _ => format!("booking.{product}_{}", key(database)),
    };
    Ok(vec![
        measured(&key, rate),
        measured(format!("{key}_p50"), ms(times.percentile(50))),
        measured(format!("{key}_p99"), ms(times.percentile(99))),
    ])
}

/// The requests that make and complete bookings.
struct BookingRequests {
    product: &'static str,
    /// Prebook requests, used in turn; each only once if an offer can be booked only once.
    prebooks: Vec<Value>,
    is_single_use: bool,
    used: AtomicUsize,
    complete: Value,
}

impl BookingRequests {
    async fn hotel(server: &Server) -> Self {
        let client = server.client();
        let builder = HotelBookingBuilder::at("OK");
        let prebook = prebook_request(&builder.offer(&client).await, 1);
        let instrument = builder.instrument(&client).await;
        Self::new("hotel", vec![prebook], false, &instrument)
    }

    async fn flight(server: &Server) -> Result<Self> {
        let client = server.client();
        let builder = FlightBookingBuilder::on("LHR-JFK");
        let more = json!({ "supplier": "SUPPLIER_A" });
        let search = setup::post(server, "/v1/flight/offers", &trip("LHR-JFK", more));
        let mut connection = HttpConnection::connect(&server.api).await?;
        let mut prebooks = Vec::new();
        while prebooks.len() < FARES {
            let answer = connection.exchange(&search).await?.json()?;
            let offers = answer.pointer("/data").and_then(Value::as_array);
            let references = offers
                .context("the response contains no list of fares")?
                .iter();
            let references = references.filter_map(|offer| offer["offer_reference"].as_str());
            let before = prebooks.len();
            prebooks.extend(references.map(|reference| builder.request(reference)));
            ensure!(prebooks.len() > before, "no fares: {answer}");
        }
        let instrument = client.store_card("tok_visa").await;
        Ok(Self::new("flight", prebooks, true, &instrument))
    }

    fn new(
        product: &'static str,
        prebooks: Vec<Value>,
        is_single_use: bool,
        instrument: &str,
    ) -> Self {
        Self {
            product,
            prebooks,
            is_single_use,
            used: AtomicUsize::new(0),
            complete: json!({ "payment_instrument_id": instrument }),
        }
    }

    /// Returns the next prebook request, or `None` if every fare is booked.
    fn next(&self) -> Option<&Value> {
        let index = self.used.fetch_add(1, Ordering::Relaxed);
        let index = match self.is_single_use {
            true => index,
            false => index % self.prebooks.len(),
        };
        self.prebooks.get(index)
    }
}

/// Returns the times of bookings and the number of bookings per second.
async fn run(
    server: &Arc<Server>,
    requests: &Arc<BookingRequests>,
    length: Duration,
) -> Result<(Samples, f64)> {
    let begin = Instant::now();
    let mut workers = JoinSet::new();
    for _ in 0..CONCURRENCY {
        let (server, requests) = (Arc::clone(server), Arc::clone(requests));
        workers.spawn(async move {
            let mut connection = HttpConnection::connect(&server.api).await?;
            let mut times = Samples::default();
            while begin.elapsed() < length
                && let Some(prebook) = requests.next()
            {
                let start = Instant::now();
                book(&server, &mut connection, &requests, prebook).await?;
                times.push(start.elapsed());
            }
            Ok::<_, anyhow::Error>(times)
        });
    }
    let mut times = Samples::default();
    while let Some(worker) = workers.join_next().await {
        times.extend(worker??);
    }
    let booked = f64::from(u32::try_from(times.len())?);
    Ok((times, booked / begin.elapsed().as_secs_f64()))
}

async fn book(
    server: &Server,
    connection: &mut HttpConnection,
    requests: &BookingRequests,
    prebook: &Value,
) -> Result<()> {
    let path = format!("/v1/{}/prebook", requests.product);
    let prebook = setup::post_once(server, &path, prebook);
    let answer = connection.exchange(&prebook).await?.expect(201)?.json()?;
    let id = answer.pointer("/data/id").and_then(Value::as_str);
    let id = id.context("the booking has no id")?;
    let path = format!("/v1/{}/bookings/{id}/book", requests.product);
    let complete = setup::post_once(server, &path, &requests.complete);
    let answer = connection.exchange(&complete).await?.expect(200)?.json()?;
    let status = answer.pointer("/data/status");
    ensure!(
        status == Some(&json!("CONFIRMED")),
        "not confirmed: {answer}"
    );
    Ok(())
}
