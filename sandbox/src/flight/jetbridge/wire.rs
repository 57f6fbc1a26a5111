//! Jetbridge's objects on the wire.

use jiff::civil::DateTime;
use serde_json::{Value, json};

use crate::{
    clock::DAY_MS,
    flight::{
        brand::Brand,
        carrier,
        fare::{Fare, FareSelection, tax},
        itinerary::{Itinerary, Segment},
        order::{Change, changes},
        problem::FlightError,
        scenario::Scenario,
        tables::{Order, OrderState, Prebook},
    },
    money::Currency,
    state::SandboxState,
};

/// Time in which a passenger may respond to a change.
const ANSWER_MS: i64 = 3 * DAY_MS;

pub(super) fn money(currency: Currency, units: i64) -> Value {
    json!({ "units": units, "scale": currency.decimals(), "ccy": currency })
}

fn conditions(brand: Brand, currency: Currency) -> Value {
    let condition = |fee: Option<i64>| {
        let allowed = fee.is_some();
        json!({ "allowed": allowed, "fee": fee.map(|fee| money(currency, fee)) })
    };
    json!({
        "refund": condition(brand.refund_fee(currency)),
        "change": condition(brand.change_fee()),
    })
}

pub(super) fn fare_wire(app: &SandboxState, choice: &FareSelection, fare: &Fare) -> Value {
    let brand = fare.brand;
    json!({
        "fareKey": choice.id(),
        "validUntil": choice.expires_at,
        "family": brand.name(),
        "price": money(choice.currency, choice.offered_total(fare)),
        "refundable": brand.refund_fee(choice.currency).is_some(),
        "conditions": conditions(brand, choice.currency),
        "needsDocument": choice.scenario() == Scenario::DocumentsRequired,
        "bags": {
            "checked": brand.checked_bags() > 0,
            "cabin": brand.carry_on_bags() > 0,
        },
        "journeys": journeys(app, fare),
    })
}

fn journeys(app: &SandboxState, fare: &Fare) -> Vec<Value> {
    (fare.itineraries.iter())
        .filter_map(|itinerary| journey(app, fare, itinerary))
        .collect()
}

fn journey(app: &SandboxState, fare: &Fare, itinerary: &Itinerary) -> Option<Value> {
    let legs: Vec<Value> = (itinerary.segments.iter())
        .map(|segment| leg_wire(app, segment))
        .collect();
    Some(json!({
        "org": itinerary.segments.first()?.from.iata,
        "dst": itinerary.segments.last()?.to.iata,
        "family": fare.brand.name(),
        "minutes": itinerary.minutes(),
        "legs": legs,
    }))
}

fn leg_wire(app: &SandboxState, segment: &Segment) -> Value {
    json!({
        "org": segment.from.iata,
        "dst": segment.to.iata,
        "orgTz": segment.from.zone_name,
        "dstTz": segment.to.zone_name,
        "dep": local(segment.departs()),
        "arr": local(segment.arrives()),
        "minutes": segment.minutes(),
        "mkt": carrier(app, segment.carrier),
        "no": segment.flight_no,
        "opr": segment.partner().map(|partner| carrier(app, partner)),
        "cabin": cabin(segment.brand),
        "cabinName": segment.brand.name(),
        "checked": segment.brand.checked_bags(),
        "cabinBags": segment.brand.carry_on_bags(),
    })
}

fn local(time: DateTime) -> String {
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

pub(super) fn cabin(brand: Brand) -> &'static str {
    match brand {
        Brand::Basic | Brand::Flex => "Y",
        Brand::Business => "C",
    }
}

pub(super) fn prebook_wire(app: &SandboxState, prebook: &Prebook) -> Result<Value, FlightError> {
    let fare = prebook.choice.fare()?;
    let currency = prebook.choice.currency;
    Ok(json!({
        "prebookId": prebook.id,
        "validUntil": prebook.expires_at,
        "price": money(currency, prebook.total),
        "fare": money(currency, prebook.total - tax(prebook.total)),
        "tax": money(currency, tax(prebook.total)),
        "conditions": conditions(fare.brand, currency),
        "needsDocument": prebook.choice.scenario() == Scenario::DocumentsRequired,
        "journeys": journeys(app, &fare),
        "checkout": {
            "url": format!("{}/jetbridge/checkout/{}", app.base_url(), prebook.token),
            "token": prebook.token,
        },
    }))
}

pub(super) fn booking_wire(app: &SandboxState, order: &Order) -> Result<Value, FlightError> {
    let fare = order.choice.fare()?;
    let currency = order.choice.currency;
    let total = order.fare_total;
    let (status, checkout) = match order.state {
        OrderState::Pending => ("PROCESSING", "PAID"),
        OrderState::Ticketed => ("TICKETED", "PAID"),
        OrderState::Failed => ("FAILED", "RETURNED"),
        OrderState::Cancelling => ("CANCEL_REQUESTED", "PAID"),
        OrderState::Cancelled => ("CANCELLED", "RETURNED"),
    };
    let failure = json!({ "no": 45_001, "text": "refused by the airline" });
    let changes: Vec<Value> = (changes(order)?.iter())
        .map(|change| change_wire(app, change))
        .collect();
    let cancellation = order.cancellation.as_ref().map(|done| {
        json!({
            "ref": done.reference,
            "fee": money(currency, done.fee),
            "refund": money(currency, done.refund),
            "at": done.at,
        })
    });
    Ok(json!({
        "bookingId": order.id,
        "clientRef": order.client_ref,
        "status": status,
        "failure": (order.state == OrderState::Failed).then_some(failure),
        // Record locator; empty if there is none.
        "pnr": order.locator.as_deref().unwrap_or_default(),
        "price": money(currency, total),
        "fare": money(currency, total - tax(total)),
        "tax": money(currency, tax(total)),
        "journeys": journeys(app, &fare),
        "checkout": checkout,
        "changes": changes,
        "cancellation": cancellation,
        "createdAt": order.created_at,
        "ticketedAt": order.ticketed_at,
    }))
}

fn change_wire(app: &SandboxState, change: &Change) -> Value {
    json!({
        "changeId": change.id,
        "at": change.detected_at,
        "type": "SCHEDULE",
        "mustAnswer": true,
        "old": [leg_wire(app, &change.removed)],
        "new": [leg_wire(app, &change.added)],
        "answerBy": change.detected_at + ANSWER_MS,
        "acceptedAt": null,
    })
}
