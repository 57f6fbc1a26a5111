//! Sample data of the demo: bookings that end in every way, webhooks and watches, made over the API
//! as a client would, and the searches of the day before in the request log and the statistics.

use crate::demo::ORGANIZATION;
use crate::demo::day::DayOfTraffic;
use crate::demo::traveller::traveller;
use anyhow::{Context, ensure};
use axum::Router;
use axum::body::{Body, to_bytes};
use host_application::api_key::service::{CreatedApiKey, NewApiKey};
use host_application::application::Application;
use host_application::context::ApiKeyScope;
use host_domain::audit::Actor;
use host_domain::id::KeyId;
use host_domain::owner::{Mode, Tenant};
use host_storage::UnitOfWork;
use http::header::CONTENT_TYPE;
use http::{HeaderName, Method, Request, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tower::ServiceExt;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("x-idempotency-key");
const USER_ID: HeaderName = HeaderName::from_static("x-user-id");

/// Maximum size of a response that is read.
const RESPONSE_BYTES_MAX: usize = 1 << 20;

/// Name of the key with which the data is made. Where it exists, there is sample data.
const KEY_NAME: &str = "sample data";

const WATCHES: &str = "/v1/watcher/travel/hotel/watches";

/// A receiver of webhooks at which nobody listens.
const SILENT_RECEIVER: &str = "http://127.0.0.1:9/hooks";

/// Action that follows a booking.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Kept,
    Cancelled,
    /// The offer is prebooked and nobody pays.
    Abandoned,
}

/// Number of times that all stays and trips are booked.
const ROUNDS: usize = 3;

/// The hotel whose bookings never get a known outcome.
const NEVER_KNOWN: &str = "BOOK_NEVER_KNOWN";

/// Hotels of the sandbox, each with the card that pays and what follows. The name of a hotel is the
/// scenario that it plays.
const STAYS: &[(&str, &str, Ending)] = &[
    ("OK", "tok_visa", Ending::Kept),
    ("MANY", "tok_visa", Ending::Kept),
    ("QUOTE_PREVIEW", "tok_visa", Ending::Cancelled),
    ("OK", "tok_declined", Ending::Kept),
    ("BOOK_PENDING", "tok_visa", Ending::Kept),
    ("BOOK_REFUSED", "tok_visa", Ending::Kept),
    ("OK", "tok_visa", Ending::Cancelled),
    ("MANY", "tok_visa", Ending::Abandoned),
    ("BOOK_LOST_ANSWER", "tok_visa", Ending::Kept),
    ("CANCEL_REFUSED", "tok_visa", Ending::Cancelled),
    ("OK", "tok_visa", Ending::Kept),
];

/// Routes of the sandbox's airlines, with what follows.
const TRIPS: &[(&str, &str, Ending)] = &[
    ("LHR", "JFK", Ending::Kept),
    ("LHR", "DXB", Ending::Kept),
    ("LHR", "JFK", Ending::Cancelled),
    ("LHR", "JFK", Ending::Abandoned),
];

/// Makes the sample data, once for each database.
pub(crate) struct SampleData {
    application: Arc<Application>,
    api: Router,
    sandbox_url: String,
    is_begun: AtomicBool,
}

impl SampleData {
    pub(crate) fn new(application: &Arc<Application>, api: Router, sandbox_url: String) -> Self {
        Self {
            application: Arc::clone(application),
            api,
            sandbox_url,
            is_begun: AtomicBool::new(false),
        }
    }

    /// Begins to make the data in a task of the application, unless the database has it.
    pub(crate) fn begin(self: &Arc<Self>) {
        if self.is_begun.swap(true, Ordering::Relaxed) {
            return;
        }
        let sample = Arc::clone(self);
        self.application.tasks.spawn("sample data", async move {
            match sample.fill().await {
                Ok(()) => tracing::info!("the sample data is complete"),
                Err(error) => tracing::error!(
                    error = format!("{error:#}"),
                    "the sample data is not complete; delete the data folder to begin anew"
                ),
            }
        });
    }

    async fn fill(&self) -> anyhow::Result<()> {
        let keys = &self.application.api_key_service;
        let existing = keys.list(Some(ORGANIZATION)).await?;
        if existing.iter().any(|key| key.name == KEY_NAME) {
            return Ok(());
        }
        let created = self.create_key().await?;
        let made = match self.store_past_day(&created.id).await {
            Ok(()) => self.use_api(created.key).await,
            Err(error) => Err(error),
        };
        // Programs have no use for the key, and nobody has seen it.
        keys.revoke(&Actor::system(), &created.id).await?;
        made
    }

    /// Stores the calls of the 24 hours before now with their statistics, all or none, unless the
    /// configuration turns the recording off.
    async fn store_past_day(&self, key: &KeyId) -> anyhow::Result<()> {
        let application = &self.application;
        if !application.recorder.is_on() {
            return Ok(());
        }
        let now = application.clock.now();
        let day = DayOfTraffic {
            tenant: &tenant(),
            key,
            sandbox_url: &self.sandbox_url,
            ids: application.ids.as_ref(),
        };
        let mut write = UnitOfWork::new(now);
        day.before(now).insert_in(&mut write);
        application.store.commit(write).await?;
        Ok(())
    }

    async fn use_api(&self, key: SecretString) -> anyhow::Result<()> {
        let now = self.application.clock.now();
        let client = SampleClient {
            api: self.api.clone(),
            key,
            day: |days| now.plus_s(days * 86_400).date_utc().to_string(),
        };
        let receiver = format!("{}/control/webhooks", self.sandbox_url);
        client.subscribe(&receiver).await?;
        client.subscribe(SILENT_RECEIVER).await?;
        let stays = std::iter::repeat_n(STAYS, ROUNDS).flatten();
        for (number, (hotel, card, ending)) in stays.enumerate() {
            client.book_hotel(number, hotel, card, *ending).await?;
        }
        let trips = std::iter::repeat_n(TRIPS, ROUNDS).flatten();
        for (number, (origin, destination, ending)) in trips.enumerate() {
            let route = (*origin, *destination);
            client.book_flight(number, route, *ending).await?;
        }
        let last = STAYS.len() * ROUNDS;
        let card = "tok_visa";
        client
            .book_hotel(last, NEVER_KNOWN, card, Ending::Kept)
            .await?;
        for hotel in ["OK", "MANY", "QUOTE_PREVIEW"] {
            client.watch(hotel).await?;
        }
        client.make_mistakes().await
    }

    async fn create_key(&self) -> anyhow::Result<CreatedApiKey> {
        let new = NewApiKey {
            tenant: tenant(),
            name: KEY_NAME.to_owned(),
            scopes: ApiKeyScope::DEFAULT.to_vec(),
            expires_at: None,
        };
        let keys = &self.application.api_key_service;
        Ok(keys.create(&Actor::system(), new).await?)
    }
}

/// A client of the API in this process.
struct SampleClient<Day> {
    api: Router,
    key: SecretString,
    /// Returns the date so many days from today.
    day: Day,
}

/// A response: status and the member `data` of its body.
struct Answer {
    status: StatusCode,
    data: Value,
}

impl Answer {
    /// Returns a text in the data, by JSON pointer.
    fn text(&self, pointer: &str) -> anyhow::Result<&str> {
        let text = self.data.pointer(pointer).and_then(Value::as_str);
        text.with_context(|| format!("the API answered {} without {pointer}", self.status))
    }
}

impl<Day: Fn(i64) -> String> SampleClient<Day> {
    async fn send(
        &self,
        method: Method,
        path: &str,
        body: &Value,
        more: &[(&HeaderName, &str)],
    ) -> anyhow::Result<Answer> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(API_KEY, self.key.expose_secret())
            .header(CONTENT_TYPE, "application/json");
        for (name, value) in more {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_string()))?;
        let response = self.api.clone().oneshot(request).await?;
        let status = response.status();
        let body = to_bytes(response.into_body(), RESPONSE_BYTES_MAX).await?;
        let mut body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let data = body.get_mut("data").map_or(Value::Null, Value::take);
        Ok(Answer { status, data })
    }

    async fn post(&self, path: &str, body: &Value, user: &str) -> anyhow::Result<Answer> {
        self.send(Method::POST, path, body, &[(&USER_ID, user)])
            .await
    }

    /// Prebooks an offer and returns the booking's path, or `None` if it is refused.
    async fn prebook(
        &self,
        (product, key): (&str, &str),
        body: &Value,
        user: &str,
    ) -> anyhow::Result<Option<String>> {
        let path = format!("/v1/{product}/prebook");
        let headers = [(&IDEMPOTENCY_KEY, key), (&USER_ID, user)];
        let booked = self.send(Method::POST, &path, body, &headers).await?;
        if booked.status != StatusCode::CREATED {
            return Ok(None);
        }
        let id = booked.text("/id")?;
        Ok(Some(format!("/v1/{product}/bookings/{id}")))
    }

    /// Pays and books, then cancels if the sample says so. The outcome is the sample's content, so
    /// any status is right.
    async fn complete(
        &self,
        booking: &str,
        card: &str,
        ending: Ending,
        user: &str,
    ) -> anyhow::Result<()> {
        if ending == Ending::Abandoned {
            return Ok(());
        }
        let card = json!({ "type": "CARD", "token": card });
        let stored = self.post("/v1/payment-instruments", &card, user).await?;
        let payment = json!({ "payment_instrument_id": stored.text("/id")? });
        self.post(&format!("{booking}/book"), &payment, user)
            .await?;
        if ending == Ending::Cancelled {
            self.post(&format!("{booking}/cancel"), &json!({}), user)
                .await?;
        }
        self.send(Method::GET, booking, &Value::Null, &[(&USER_ID, user)])
            .await?;
        Ok(())
    }

    async fn price_hotel(&self, hotel: &str, days: i64, user: &str) -> anyhow::Result<Answer> {
        let request = json!({
            "supplier": "SANDBOX_HOTELS",
            "supplier_hotel_ids": [hotel],
            "check_in": (self.day)(days),
            "check_out": (self.day)(days + 3),
            "occupancy": [{ "adults": 1, "children": [] }],
            "guest_nationality": "GB",
            "currency": "EUR",
        });
        self.post("/v1/hotel/offers", &request, user).await
    }

    async fn book_hotel(
        &self,
        number: usize,
        hotel: &str,
        card: &str,
        ending: Ending,
    ) -> anyhow::Result<()> {
        let (first, last, _) = traveller(number);
        let user = first.to_lowercase();
        let days = 20 + i64::try_from(number)?;
        let offers = self.price_hotel(hotel, days, &user).await?;
        let contact = contact(first, last);
        let guest = json!({
            "first_name": first, "last_name": last, "type": "ADULT", "is_lead": true,
        });
        let request = json!({
            "offer_reference": offers.text("/0/offers/0/offer_reference")?,
            "contact": contact,
            "rooms": [{ "guests": [guest] }],
        });
        let key = format!("sample-hotel-{number}");
        let booking = self.prebook(("hotel", &key), &request, &user).await?;
        match booking {
            Some(booking) => self.complete(&booking, card, ending, &user).await,
            None => Ok(()),
        }
    }

    async fn book_flight(
        &self,
        number: usize,
        (origin, destination): (&str, &str),
        ending: Ending,
    ) -> anyhow::Result<()> {
        let (first, last, gender) = traveller(number + 1);
        let user = first.to_lowercase();
        let days = 25 + i64::try_from(number)?;
        let search = json!({
            "supplier": "SUPPLIER_A",
            "journeys": [{ "origin": origin, "destination": destination, "date": (self.day)(days) }],
            "passengers": { "adults": 1 },
            "currency": "EUR",
        });
        let offers = self.post("/v1/flight/offers", &search, &user).await?;
        let contact = json!({
            "email": format!("{user}@example.com"), "phone": "+442079460000",
        });
        let request = json!({
            "offer_reference": offers.text("/0/offer_reference")?,
            "contact": contact,
            "passengers": [{
                "type": "ADULT", "first_name": first, "last_name": last,
                "date_of_birth": "1990-12-10", "gender": gender, "nationality": "GB",
            }],
        });
        let key = format!("sample-flight-{number}");
        let booking = self.prebook(("flight", &key), &request, &user).await?;
        match booking {
            Some(booking) => self.complete(&booking, "tok_visa", ending, &user).await,
            None => Ok(()),
        }
    }

    async fn subscribe(&self, url: &str) -> anyhow::Result<()> {
        let request = json!({ "url": url, "event_types": ["*"] });
        let path = "/v1/hotel/webhook-subscriptions";
        let created = self.send(Method::POST, path, &request, &[]).await?;
        let status = created.status;
        ensure!(
            status.is_success(),
            "the webhook {url} was refused with {status}"
        );
        Ok(())
    }

    async fn watch(&self, hotel: &str) -> anyhow::Result<()> {
        let (first, _, _) = traveller(0);
        let user = first.to_lowercase();
        let offers = self.price_hotel(hotel, 40, &user).await?;
        let request = json!({
            "hotel_id": offers.text("/0/hotel_id")?,
            "check_in": (self.day)(40),
            "check_out": (self.day)(43),
            "guest_nationality": "GB",
            "currency": "EUR",
            "trigger": { "type": "below_total", "amount": 90.0 },
        });
        self.post(WATCHES, &request, &user).await?;
        Ok(())
    }

    /// Makes calls that fail as those of a client under development do.
    async fn make_mistakes(&self) -> anyhow::Result<()> {
        let unknown = "/v1/hotel/bookings/bkg_00000000000000000000000000000000";
        self.send(Method::GET, unknown, &Value::Null, &[]).await?;
        self.post("/v1/hotel/offers", &json!({ "currency": "EURO" }), "ada")
            .await?;
        self.price_hotel("NO_OFFERS", 20, "ada").await?;
        Ok(())
    }
}

fn tenant() -> Tenant {
    Tenant {
        organization: ORGANIZATION.to_owned(),
        mode: Mode::Test,
    }
}

fn contact(first: &str, last: &str) -> Value {
    json!({
        "first_name": first,
        "last_name": last,
        "email": format!("{}@example.com", first.to_lowercase()),
        "phone": "+442079460000",
    })
}
