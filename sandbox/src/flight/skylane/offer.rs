//! Search, pricing and ordering at Skylane.

use axum::{
    Json,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::StatusCode;
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    connection,
    flight::{
        fare::{Fare, FareSelection, LOYAL, Leg, PassengerType, Search, Trip, fares},
        order::{self, Order, OrderState, PlaceOrder, ResponseVisibility},
        problem::FlightError,
        scenario::Scenario,
        skylane::{
            Payment, answer,
            refusal::SkylaneError,
            wire::{Document, OfferWire, cabin, offer_wire},
        },
    },
    money::Currency,
    request::{self, Account},
    state::{SandboxRecords, SandboxState},
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
struct SearchedTraveller {
    r#type: PassengerType,
    #[serde(default, rename = "age")]
    _age: Option<u8>,
}

pub(super) async fn search_offers(
    State(app): State<SandboxState>,
    _account: Account,
    body: Bytes,
) -> Result<Response, SkylaneError> {
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
    let search = app.transact(|world| Search::new(world, trip)).await?;
    let mut priced: Vec<(i64, FareSelection, &Fare)> = (found.iter())
        .map(|fare| {
            let choice = search.choice(fare);
            (choice.offered_total(fare), choice, fare)
        })
        .collect();
    priced.sort_by_key(|(total, choice, _)| (*total, choice.number));
    let limit = request.limit.unwrap_or(LIMIT);
    let offers: Vec<OfferWire> = (priced.iter().take(limit))
        .map(|(total, choice, fare)| offer_wire(&app, choice, fare, *total))
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
struct Loyalty {
    #[serde(rename = "airline")]
    _airline: String,
    number: String,
}

fn loyal<'a>(accounts: impl IntoIterator<Item = &'a Loyalty>) -> bool {
    accounts.into_iter().any(|account| account.number == LOYAL)
}

fn check_types(
    choice: &FareSelection,
    types: impl IntoIterator<Item = PassengerType>,
) -> Result<(), FlightError> {
    (types.into_iter().eq(choice.passengers.iter().copied()))
        .then_some(())
        .ok_or_else(|| FlightError::Invalid("travellers are not those of the search".to_owned()))
}

pub(super) async fn price_offer(
    State(app): State<SandboxState>,
    _account: Account,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Json<Value>, SkylaneError> {
    let request: PriceRequest = request::body(&body)?;
    let choice = FareSelection::from_id(&id)?;
    check_types(&choice, request.travellers.iter().map(|one| one.r#type))?;
    let now = app.transact(|world| world.now()).await?;
    choice.check(now)?;
    let fare = choice.fare()?;
    let loyal = loyal(request.travellers.iter().flat_map(|one| &one.loyalty));
    let total = choice.current_total(&fare, loyal);
    Ok(Json(
        json!({ "data": offer_wire(&app, &choice, &fare, total) }),
    ))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderRequest {
    offer_id: String,
    client_ref: String,
    pay: Payment,
    #[serde(rename = "contact")]
    _contact: Contact,
    travellers: Vec<Traveller>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contact {
    #[serde(rename = "email")]
    _email: String,
    #[serde(rename = "phone")]
    _phone: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Traveller {
    r#type: PassengerType,
    #[serde(default, rename = "title")]
    _title: Option<String>,
    #[serde(rename = "given")]
    _given: String,
    #[serde(rename = "family")]
    _family: String,
    #[serde(rename = "born")]
    _born: Date,
    #[serde(rename = "gender")]
    _gender: Gender,
    #[serde(default, rename = "nationality")]
    _nationality: Option<String>,
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

pub(super) async fn place_order(
    State(app): State<SandboxState>,
    account: Account,
    body: Bytes,
) -> Result<Response, SkylaneError> {
    let request: OrderRequest = request::body(&body)?;
    request::check_reference("client_ref", &request.client_ref)?;
    let (order, learns) = app
        .transact(|world| place(world, account, &request))
        .await??;
    match order {
        Some(order) => answer(&app, &order, learns, StatusCode::CREATED),
        None => Ok(connection::drop_connection()),
    }
}

/// Places an order and returns it with the response that the caller gets. Returns no order if the
/// response about an earlier one is lost.
fn place(
    world: &mut SandboxRecords,
    account: Account,
    request: &OrderRequest,
) -> Result<(Option<Order>, ResponseVisibility), FlightError> {
    if let Some(first) = order::by_client_ref(world, account, &request.client_ref) {
        return match first.scenario() {
            // A "duplicate" response would reveal that the order exists.
            Scenario::BookNeverKnown => Ok((None, ResponseVisibility::Lost)),
            _ => Err(FlightError::DuplicateReference),
        };
    }
    let choice = FareSelection::from_id(&request.offer_id)?;
    check_types(&choice, request.travellers.iter().map(|one| one.r#type))?;
    choice.check(world.now())?;
    let standing = (world.flight.by_offer.get(&request.offer_id))
        .and_then(|id| world.flight.orders.get(id))
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
    let wanted = PlaceOrder {
        account,
        client_ref: &request.client_ref,
        offer: request.offer_id.clone(),
        choice,
        total,
    };
    order::place(world, wanted).map(|(order, learns)| (Some(order), learns))
}
