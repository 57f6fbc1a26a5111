//! Skylane's objects on the wire.

use jiff::civil::Date;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    clock::{DAY_MS, instant},
    flight::{
        bags::{self, AvailableBag, BAG_WEIGHT_KG, BAGS_MAX},
        brand::Brand,
        carrier,
        fare::{Fare, FareSelection, tax},
        itinerary::{Itinerary, Segment},
        order::{Change, changes},
        problem::FlightError,
        reference_data::Airport,
        scenario::Scenario,
        tables::{Order, OrderState},
    },
    money::Currency,
    state::SandboxState,
};

/// Time in which a passenger may respond to a change.
const ANSWER_MS: i64 = 3 * DAY_MS;

/// Difference between the flight numbers of a partner and of the carrier that sells the flight.
const PARTNER_FLIGHT_NO: u32 = 5_000;

pub(super) fn money(currency: Currency, minor: i64) -> Value {
    json!({ "value": currency.format(minor), "currency": currency })
}

fn conditions(brand: Brand, currency: Currency) -> Value {
    let condition = |fee: Option<i64>| {
        let penalty = fee.map(|fee| money(currency, fee));
        json!({ "allowed": fee.is_some(), "penalty": penalty })
    };
    json!({
        "refund": condition(brand.refund_fee(currency)),
        "change": condition(brand.change_fee()),
    })
}

pub(super) fn offer_wire(
    app: &SandboxState,
    choice: &FareSelection,
    fare: &Fare,
    total: i64,
) -> Value {
    let currency = choice.currency;
    json!({
        "id": choice.id(),
        "expires_at": instant(choice.expires_at),
        "brand": fare.brand.name(),
        "total": money(currency, total),
        "base": money(currency, total - tax(total)),
        "tax": money(currency, tax(total)),
        "conditions": conditions(fare.brand, currency),
        "passports_required": choice.scenario() == Scenario::DocumentsRequired,
        "slices": slices(app, choice, fare),
    })
}

/// Returns an offer that was priced again, with the bags that the airline sells for it.
pub(super) fn priced_offer_wire(
    app: &SandboxState,
    choice: &FareSelection,
    fare: &Fare,
    total: i64,
) -> Value {
    let mut offer = offer_wire(app, choice, fare, total);
    if let Some(members) = offer.as_object_mut() {
        let bags = bags::offered(choice, "fare");
        let bags = available_bags(choice, fare, &bags);
        members.insert("bags".to_owned(), bags.into());
    }
    offer
}

pub(super) fn available_bags(
    choice: &FareSelection,
    fare: &Fare,
    bags: &[AvailableBag],
) -> Vec<Value> {
    let segments = segment_ids(fare);
    let bag = |bag: &AvailableBag| {
        json!({
            "id": bag.id,
            "traveller": bag.traveller,
            "segments": segments,
            "weight_kg": BAG_WEIGHT_KG,
            "price": money(choice.currency, bag.price),
            "max": BAGS_MAX,
        })
    };
    bags.iter().map(bag).collect()
}

fn slices(app: &SandboxState, choice: &FareSelection, fare: &Fare) -> Vec<Value> {
    let passengers = choice.passengers.len();
    (fare.itineraries.iter().enumerate())
        .filter_map(|(number, itinerary)| slice(app, fare, number, itinerary, passengers))
        .collect()
}

fn slice(
    app: &SandboxState,
    fare: &Fare,
    number: usize,
    itinerary: &Itinerary,
    passengers: usize,
) -> Option<Value> {
    let segments: Vec<Value> = (itinerary.segments.iter())
        .map(|segment| segment_wire(app, segment, number, passengers))
        .collect();
    Some(json!({
        "id": format!("slice-{number}"),
        "from": itinerary.segments.first()?.from.iata,
        "to": itinerary.segments.last()?.to.iata,
        "duration": iso_duration(itinerary.minutes()),
        "brand": fare.brand.name(),
        "segments": segments,
    }))
}

fn segment_id(slice: usize, segment: &Segment) -> String {
    format!("slice-{slice}-segment-{}", segment.number)
}

fn segment_wire(app: &SandboxState, segment: &Segment, slice: usize, passengers: usize) -> Value {
    let travellers: Vec<Value> = (0..passengers)
        .map(|index| {
            json!({
                "index": index,
                "cabin": cabin(segment.brand),
                "cabin_name": segment.brand.name(),
                "checked": segment.brand.checked_bags(),
                "carry_on": segment.brand.carry_on_bags(),
            })
        })
        .collect();
    json!({
        "id": segment_id(slice, segment),
        "from": segment.from.iata,
        "to": segment.to.iata,
        "from_zone": segment.from.zone_name,
        "to_zone": segment.to.zone_name,
        "from_terminal": terminal(segment.from),
        "to_terminal": terminal(segment.to),
        "departs": segment.departs(),
        "arrives": segment.arrives(),
        "duration": iso_duration(segment.minutes()),
        "carrier": carrier(app, segment.carrier),
        "flight_no": segment.flight_no.to_string(),
        "operator": segment.partner().map(|partner| carrier(app, partner)),
        "operator_flight_no": segment.partner().map(|_| (segment.flight_no + PARTNER_FLIGHT_NO).to_string()),
        "travellers": travellers,
    })
}

/// Returns one of five terminals of an airport.
fn terminal(airport: &Airport) -> String {
    let sum: u32 = airport.iata.bytes().map(u32::from).sum();
    (sum % 5 + 1).to_string()
}

/// Returns the electronic tickets of an order, one for each passenger.
fn tickets(order: &Order) -> Vec<Value> {
    if order.ticketed_at.is_none() {
        return Vec::new();
    }
    let number = order.id.trim_start_matches("FLT-");
    (0..order.choice.passengers.len())
        .map(|traveller| json!({ "number": format!("125{number:0>8}{traveller:02}"), "traveller": traveller }))
        .collect()
}

pub(super) fn cabin(brand: Brand) -> &'static str {
    match brand {
        Brand::Basic | Brand::Flex => "economy",
        Brand::Business => "business",
    }
}

fn iso_duration(minutes: i64) -> String {
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("PT{minutes}M"),
        (hours, 0) => format!("PT{hours}H"),
        (hours, minutes) => format!("PT{hours}H{minutes}M"),
    }
}

/// Returns the ids of all segments, because a bag covers all of them.
pub(super) fn segment_ids(fare: &Fare) -> Vec<String> {
    (fare.itineraries.iter().enumerate())
        .flat_map(|(slice, itinerary)| {
            let segments = itinerary.segments.iter();
            segments.map(move |segment| segment_id(slice, segment))
        })
        .collect()
}

pub(super) fn order_wire(app: &SandboxState, order: &Order) -> Result<Value, FlightError> {
    let fare = order.choice.fare()?;
    let currency = order.choice.currency;
    let fare_total = order.fare_total;
    let failure = json!({
        "code": "airline_refused",
        "detail": "The airline does not accept this order",
    });
    let bags: Vec<Value> = (order.bags.iter())
        .map(|bag| {
            json!({
                "id": bag.id,
                "client_ref": bag.client_ref,
                "traveller": bag.traveller,
                "segments": segment_ids(&fare),
                "weight_kg": BAG_WEIGHT_KG,
                "quantity": bag.quantity,
                "price": money(currency, bag.price),
            })
        })
        .collect();
    let changes: Vec<Value> = (changes(order)?.iter())
        .map(|change| change_wire(app, change, order.choice.passengers.len()))
        .collect();
    let cancellation = order.cancellation.as_ref().map(|done| {
        json!({
            "ref": done.reference,
            "fee": money(currency, done.fee),
            "refund": money(currency, done.refund),
            "at": instant(done.at),
        })
    });
    Ok(json!({
        "id": order.id,
        "client_ref": order.client_ref,
        "state": order.state,
        "failure": (order.state == OrderState::Failed).then_some(failure),
        "locator": order.locator,
        "tickets": tickets(order),
        "total": money(currency, order.total()),
        "base": money(currency, fare_total - tax(fare_total)),
        "tax": money(currency, tax(fare_total)),
        "bags_total": money(currency, order.bags_total()),
        "slices": slices(app, &order.choice, &fare),
        "bags": bags,
        "changes": changes,
        "cancellation": cancellation,
        "created_at": instant(order.created_at),
        "ticketed_at": order.ticketed_at.map(instant),
    }))
}

fn change_wire(app: &SandboxState, change: &Change, passengers: usize) -> Value {
    json!({
        "id": change.id,
        "detected_at": instant(change.detected_at),
        "kind": "schedule_change",
        "needs_answer": true,
        "removed": [segment_wire(app, &change.removed, 0, passengers)],
        "added": [segment_wire(app, &change.added, 0, passengers)],
        "answer_by": instant(change.detected_at + ANSWER_MS),
        "accepted_at": null,
    })
}

/// A travel document in a request. Only its presence matters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
pub(super) struct Document {
    kind: DocumentKind,
    number: String,
    country: String,
    expires: Date,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum DocumentKind {
    Passport,
    IdentityCard,
}
