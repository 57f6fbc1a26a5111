//! Search, pricing and ordering at Skylane.

use axum::{Json, response::IntoResponse};
use bytes::Bytes;
use http::StatusCode;
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    flight::{
        fare::{Fare, FareSelection, LOYAL, Search, fares},
        order::{self, PlaceOrder},
        problem::FlightError,
        scenario::Scenario,
        skylane::{
            Payment, answer,
            refusal::SkylaneResult,
            wire::{Document, cabin, offer_wire, priced_offer_wire},
        },
        tables::{Order, OrderState},
        trip::{Leg, PassengerType, Trip},
    },
    money::Currency,
    request::{self, Call},
    state::SandboxRecords,
};

const LIMIT: usize = 50;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchRequest {
    slices: Vec<Leg>,
    travellers: Vec<SearchedTraveller>,
    cabin: Option<String>,
    max_connections: Option<usize>,
    currency: Option<Currency>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct SearchedTraveller {
    r#type: PassengerType,
    age: Option<u8>,
}

pub(super) async fn search_offers(call: Call, body: Bytes) -> SkylaneResult {
    let request: SearchRequest = request::body(&body)?;
    let trip = Trip {
        legs: request.slices,
        passengers: (request.travellers.iter())
            .map(|traveller| traveller.r#type)
            .collect(),
        currency: request.currency.unwrap_or(Currency::GBP),
    };
    trip.check()?;
    let fits = |fare: &Fare| {
        let few = (request.max_connections).is_none_or(|max| {
            fare.itineraries
                .iter()
                .all(|itinerary| itinerary.stops() <= max)
        });
        let there = (request.cabin.as_deref()).is_none_or(|wanted| wanted == cabin(fare.brand));
        few && there
    };
    let found: Vec<Fare> = fares(&trip.legs).into_iter().filter(fits).collect();
    let search = call
        .transact(|records| Search::new(records.now(), trip))
        .await?;
    let mut priced: Vec<(i64, FareSelection, &Fare)> = (found.iter())
        .map(|fare| {
            let choice = search.choice(fare);
            (choice.offered_total(fare), choice, fare)
        })
        .collect();
    priced.sort_by_key(|(total, choice, _)| (*total, choice.number));
    let limit = request.limit.unwrap_or(LIMIT);
    let offers: Vec<Value> = (priced.iter().take(limit))
        .map(|(total, choice, fare)| offer_wire(&call.app, choice, fare, *total))
        .collect();
    let answer = json!({ "data": {
        "offers": offers,
        "matches": priced.len(),
        "more": priced.len() > limit,
    } });
    Ok((StatusCode::CREATED, Json(answer)).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceRequest {
    travellers: Vec<PricedTraveller>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PricedTraveller {
    r#type: PassengerType,
    #[serde(default)]
    loyalty: Vec<Loyalty>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct Loyalty {
    airline: String,
    number: String,
}

fn loyal<'a>(accounts: impl IntoIterator<Item = &'a Loyalty>) -> bool {
    accounts.into_iter().any(|account| account.number == LOYAL)
}

pub(super) async fn price_offer(call: Call, body: Bytes) -> SkylaneResult<Json<Value>> {
    let request: PriceRequest = request::body(&body)?;
    let choice = FareSelection::from_id(&call.id)?;
    choice.check_passengers(
        "travellers",
        request.travellers.iter().map(|one| one.r#type),
    )?;
    let now = call.transact(|records| records.now()).await?;
    choice.check(now)?;
    let fare = choice.fare()?;
    let loyal = loyal(request.travellers.iter().flat_map(|one| &one.loyalty));
    let total = choice.current_total(&fare, loyal);
    Ok(Json(
        json!({ "data": priced_offer_wire(&call.app, &choice, &fare, total) }),
    ))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct OrderRequest {
    offer_id: String,
    client_ref: String,
    pay: Payment,
    contact: Contact,
    travellers: Vec<Traveller>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct Contact {
    email: String,
    phone: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct Traveller {
    r#type: PassengerType,
    title: Option<String>,
    given: String,
    family: String,
    born: Date,
    gender: Gender,
    nationality: Option<String>,
    document: Option<Document>,
    #[serde(default)]
    loyalty: Vec<Loyalty>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Gender {
    M,
    F,
    X,
}

pub(super) async fn place_order(call: Call, body: Bytes) -> SkylaneResult {
    let request: OrderRequest = request::body(&body)?;
    request::check_reference("client_ref", &request.client_ref)?;
    let order = call
        .transact(|records| place(records, call.account, &request))
        .await??;
    answer(&call.app, order, StatusCode::CREATED)
}

/// Places an order. Returns no order if the response is lost.
fn place(
    records: &mut SandboxRecords,
    account: &str,
    request: &OrderRequest,
) -> Result<Option<Order>, FlightError> {
    if let Some(first) = order::by_client_ref(records, account, &request.client_ref) {
        return match first.scenario() {
            // A "duplicate" response would reveal that the order exists.
            Scenario::BookNeverKnown => Ok(None),
            _ => Err(FlightError::DuplicateReference),
        };
    }
    let choice = FareSelection::from_id(&request.offer_id)?;
    choice.check_passengers(
        "travellers",
        request.travellers.iter().map(|one| one.r#type),
    )?;
    choice.check(records.now())?;
    let standing = (records.flight.by_offer.get(&request.offer_id))
        .and_then(|id| records.flight.orders.get(id))
        .is_some_and(|order| order.state != OrderState::Failed);
    if standing {
        return Err(FlightError::OfferAlreadyBooked);
    }
    let documented = request.travellers.iter().all(|one| one.document.is_some());
    if choice.scenario() == Scenario::DocumentsRequired && !documented {
        return Err(FlightError::DocumentsRequired);
    }
    let loyal = loyal(request.travellers.iter().flat_map(|one| &one.loyalty));
    let total = choice.current_total(&choice.fare()?, loyal);
    if request.pay.minor(choice.currency) != Some(total) {
        return Err(FlightError::AmountMismatch);
    }
    let order_request = PlaceOrder {
        account,
        client_ref: &request.client_ref,
        offer: request.offer_id.clone(),
        choice,
        total,
    };
    order::place(records, order_request).map(Order::unless_lost)
}
