//! `stopover trigger`: makes an event happen in test mode, as a client of the API would. The
//! scenarios of the sandbox decide what follows.

mod recipe;

use crate::cli::api_client::{ApiClient, ApiOptions, items};
use crate::cli::trigger::recipe::{Recipe, recipe};
use crate::cli::{CliError, event_type, print_line};
use crate::system_clock::SystemClock;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use host_domain::event::EventType;
use host_domain::owner::Mode;
use host_domain::time::Clock;
use recipe::{AfterFlight, AfterHotel, WatchKind};
use serde_json::{Value, json};

const HOTELS: &str = "SANDBOX_HOTELS";
const FLIGHTS: &str = "SUPPLIER_A";
const WATCHES: &str = "/v1/watcher/travel/hotel/watches";
const TRIP_WATCHES: &str = "/v1/watcher/travel/hotel/trip-watches";
/// Number of webhooks that an organization can have of a product.
const WEBHOOKS_MAX: u32 = 100;
/// Days from today to the stay or the flight.
const DAYS_AHEAD: i64 = 30;

/// Options of `stopover trigger`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(super) struct TriggerOptions {
    /// Type of the event
    #[arg(value_name = "EVENT", value_parser = event_type, required_unless_present = "list")]
    event: Option<EventType>,
    /// Print all types
    #[arg(long, conflicts_with = "event")]
    list: bool,
    #[command(flatten)]
    api: ApiOptions,
}

pub(super) async fn run(options: TriggerOptions) -> Result<(), CliError> {
    let Some(event) = options.event else {
        return list();
    };
    let api = options.api;
    if api.mode() == Some(Mode::Live) {
        bail!("the key is a live key, and events are made in test mode only");
    }
    let trigger = Trigger {
        api: ApiClient::new(&api)?,
    };
    let subject = trigger.run(recipe(event)).await?;
    print_line(&format!("{}  {subject}", event.as_str()))
}

fn list() -> Result<(), CliError> {
    for event in EventType::ALL {
        print_line(event.as_str())?;
    }
    Ok(())
}

struct Trigger {
    api: ApiClient,
}

/// Returns a text of a response by JSON pointer.
fn text<'a>(data: &'a Value, pointer: &str) -> Result<&'a str, CliError> {
    let text = data.pointer(pointer).and_then(Value::as_str);
    text.ok_or_else(|| anyhow!("the gateway's response has no {pointer}"))
}

fn day(days: i64) -> String {
    let at = SystemClock.now().plus_s((DAYS_AHEAD + days) * 86_400);
    at.date_utc().to_string()
}

fn contact() -> Value {
    json!({
        "first_name": "Ada", "last_name": "Lovelace",
        "email": "ada@example.org", "phone": "+442079460000",
    })
}

fn guests() -> Value {
    let guest = json!({
        "first_name": "Ada", "last_name": "Lovelace", "type": "ADULT", "is_lead": true,
    });
    json!({ "guests": [guest] })
}

impl Trigger {
    /// Does what makes the event, and returns the id of what it is about.
    async fn run(&self, recipe: Recipe) -> Result<String, CliError> {
        match recipe {
            Recipe::Ping => self.ping().await,
            Recipe::Hotel {
                hotel,
                card,
                rooms,
                then,
            } => {
                let booking = self.prebook_hotel(hotel, rooms).await?;
                self.complete_hotel(&booking, card, then).await?;
                Ok(booking)
            }
            Recipe::Flight { from, to, then } => {
                let booking = self.prebook_flight(from, to).await?;
                self.complete_flight(&booking, then).await?;
                Ok(booking)
            }
            Recipe::Watch(kind) => self.watch(kind).await,
        }
    }

    /// Sends a test event to an active webhook. Without one, makes the event for `stopover listen`
    /// only.
    async fn ping(&self) -> Result<String, CliError> {
        for product in ["hotel", "flight"] {
            let path = format!("/v1/{product}/webhook-subscriptions");
            let listed = self
                .api
                .get(&format!("{path}?limit={WEBHOOKS_MAX}"))
                .await?;
            let mut webhooks = items(Some(&listed))?.iter();
            let is_active = |webhook: &&Value| text(webhook, "/status").ok() == Some("ACTIVE");
            if let Some(webhook) = webhooks.find(is_active) {
                let id = text(webhook, "/id")?;
                let sent = self.api.post(&format!("{path}/{id}/test"), None).await?;
                return Ok(text(&sent, "/event/id")?.to_owned());
            }
        }
        let made = self.api.post("/v1/cli/ping", None).await?;
        Ok(text(&made, "/id")?.to_owned())
    }

    async fn price_hotel(&self, hotel: &str, rooms: usize) -> Result<Value, CliError> {
        let room = json!({ "adults": 1, "children": [] });
        let request = json!({
            "supplier": HOTELS,
            "supplier_hotel_ids": [hotel],
            "check_in": day(0),
            "check_out": day(2),
            "occupancy": vec![room; rooms],
            "guest_nationality": "GB",
            "currency": "EUR",
        });
        self.api.post("/v1/hotel/offers", Some(&request)).await
    }

    /// Prebooks the refundable offer of a hotel and returns the booking's id.
    async fn prebook_hotel(&self, hotel: &str, rooms: usize) -> Result<String, CliError> {
        let offers = self.price_hotel(hotel, rooms).await?;
        let request = json!({
            "offer_reference": text(&offers, "/0/offers/1/offer_reference")?,
            "contact": contact(),
            "rooms": vec![guests(); rooms],
        });
        let booking = self.api.post("/v1/hotel/prebook", Some(&request)).await?;
        Ok(text(&booking, "/id")?.to_owned())
    }

    async fn complete_hotel(
        &self,
        booking: &str,
        card: &str,
        then: AfterHotel,
    ) -> Result<(), CliError> {
        let path = format!("/v1/hotel/bookings/{booking}");
        if then == AfterHotel::Prebook {
            return Ok(());
        }
        self.book(&path, card).await?;
        match then {
            AfterHotel::Prebook | AfterHotel::Book => {}
            AfterHotel::Cancel => self.cancel(&path, &json!({})).await?,
            AfterHotel::CancelRoom => {
                let booked = self.api.get(&path).await?;
                let room = text(&booked, "/rooms/0/id")?;
                self.cancel(&path, &json!({ "room_ids": [room] })).await?;
            }
        }
        Ok(())
    }

    async fn prebook_flight(&self, from: &str, to: &str) -> Result<String, CliError> {
        let search = json!({
            "supplier": FLIGHTS,
            "journeys": [{ "origin": from, "destination": to, "date": day(0) }],
            "passengers": { "adults": 1 },
            "currency": "EUR",
        });
        let offers = self.api.post("/v1/flight/offers", Some(&search)).await?;
        let request = json!({
            "offer_reference": text(&offers, "/0/offer_reference")?,
            "contact": { "email": "ada@example.org", "phone": "+442079460000" },
            "passengers": [{
                "type": "ADULT", "first_name": "Ada", "last_name": "Lovelace",
                "date_of_birth": "1990-12-10", "gender": "F", "nationality": "GB",
            }],
        });
        let booking = self.api.post("/v1/flight/prebook", Some(&request)).await?;
        Ok(text(&booking, "/id")?.to_owned())
    }

    async fn complete_flight(&self, booking: &str, then: AfterFlight) -> Result<(), CliError> {
        let path = format!("/v1/flight/bookings/{booking}");
        if then == AfterFlight::Prebook {
            return Ok(());
        }
        self.book(&path, "tok_visa").await?;
        match then {
            AfterFlight::Prebook | AfterFlight::Book => {}
            AfterFlight::Cancel => self.cancel(&path, &json!({})).await?,
            AfterFlight::BuyBag => {
                let path = format!("{path}/services");
                let bags = self.api.get(&path).await?;
                let request = json!({
                    "services": [{ "id": text(&bags, "/0/id")?, "quantity": 1 }],
                    "payment_instrument_id": self.store_card("tok_visa").await?,
                });
                self.api.post(&path, Some(&request)).await?;
            }
        }
        Ok(())
    }

    /// Pays and books. A refusal of the supplier or of the card is the event itself.
    async fn book(&self, booking: &str, card: &str) -> Result<(), CliError> {
        let payment = json!({ "payment_instrument_id": self.store_card(card).await? });
        let path = format!("{booking}/book");
        self.api.post_unless_refused(&path, &payment).await
    }

    async fn cancel(&self, booking: &str, request: &Value) -> Result<(), CliError> {
        let path = format!("{booking}/cancel");
        self.api.post_unless_refused(&path, request).await
    }

    async fn store_card(&self, token: &str) -> Result<String, CliError> {
        let card = json!({ "type": "CARD", "token": token });
        let stored = self
            .api
            .post("/v1/payment-instruments", Some(&card))
            .await?;
        Ok(text(&stored, "/id")?.to_owned())
    }

    /// Makes a watch whose price is met already, and lets it buy if the event says so.
    async fn watch(&self, kind: WatchKind) -> Result<String, CliError> {
        let offers = self.price_hotel("MANY", 1).await?;
        let mut request = json!({
            "check_in": day(0),
            "check_out": day(2),
            "occupancy": [{ "adults": 1, "children": [] }],
            "guest_nationality": "GB",
            "currency": "EUR",
            "trigger": { "type": "below_total", "amount": 100_000.0 },
        });
        let members = request
            .as_object_mut()
            .context("the request is no object")?;
        let path = match kind {
            WatchKind::Trip => {
                let query = json!({ "query": "Testville" });
                let places = self.api.post("/v1/hotel/places", Some(&query)).await?;
                members.insert("place_id".to_owned(), text(&places, "/0/id")?.into());
                TRIP_WATCHES
            }
            WatchKind::Hotel | WatchKind::Buying { .. } => {
                members.insert("hotel_id".to_owned(), text(&offers, "/0/hotel_id")?.into());
                WATCHES
            }
        };
        if let WatchKind::Buying { card } = kind {
            let purchase = json!({
                "contact": contact(),
                "rooms": [guests()],
                "payment_instrument_id": self.store_card(card).await?,
            });
            members.insert("auto_book".to_owned(), purchase);
        }
        let watch = self.api.post(path, Some(&request)).await?;
        let id = text(&watch, "/id")?;
        if matches!(kind, WatchKind::Buying { .. }) {
            let path = format!("{WATCHES}/{id}/confirm-purchase");
            self.api.post(&path, Some(&json!({}))).await?;
        }
        Ok(id.to_owned())
    }
}
