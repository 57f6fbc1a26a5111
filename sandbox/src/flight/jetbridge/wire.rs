//! Jetbridge's objects on the wire.

use jiff::civil::DateTime;
use serde::Serialize;

use crate::{
    clock::DAY_MS,
    flight::{
        checkout::Prebook,
        fare::{Brand, Fare, FareSelection, tax},
        itinerary::{Itinerary, Segment},
        logo_url,
        order::{Change, Order, OrderState, changes},
        problem::FlightError,
        reference_data::Airline,
        scenario::Scenario,
    },
    money::Currency,
    state::SandboxState,
};

/// Time in which a passenger may respond to a change.
const ANSWER_MS: i64 = 3 * DAY_MS;

#[derive(Serialize)]
pub(super) struct Money {
    units: i64,
    scale: u8,
    ccy: Currency,
}

pub(super) fn money(currency: Currency, units: i64) -> Money {
    Money {
        units,
        scale: currency.decimals(),
        ccy: currency,
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FareWire {
    fare_key: String,
    valid_until: i64,
    family: &'static str,
    price: Money,
    refundable: bool,
    conditions: Conditions,
    needs_document: bool,
    bags: Bags,
    journeys: Vec<Journey>,
}

#[derive(Serialize)]
struct Bags {
    checked: bool,
    cabin: bool,
}

#[derive(Serialize)]
struct Conditions {
    refund: Condition,
    change: Condition,
}

#[derive(Serialize)]
struct Condition {
    allowed: bool,
    fee: Option<Money>,
}

fn conditions(brand: Brand, currency: Currency) -> Conditions {
    let refund_fee = brand.refund_fee(currency);
    Conditions {
        refund: Condition {
            allowed: refund_fee.is_some(),
            fee: refund_fee.map(|fee| money(currency, fee)),
        },
        change: Condition {
            allowed: brand.changeable(),
            fee: brand.changeable().then(|| money(currency, 0)),
        },
    }
}

pub(super) fn fare_wire(app: &SandboxState, choice: &FareSelection, fare: &Fare) -> FareWire {
    let brand = fare.brand;
    FareWire {
        fare_key: choice.id(),
        valid_until: choice.expires_at,
        family: brand.name(),
        price: money(choice.currency, choice.offered_total(fare)),
        refundable: brand.refund_fee(choice.currency).is_some(),
        conditions: conditions(brand, choice.currency),
        needs_document: choice.scenario() == Scenario::DocumentsRequired,
        bags: Bags {
            checked: brand.checked_bags() > 0,
            cabin: brand.carry_on_bags() > 0,
        },
        journeys: journeys(app, fare),
    }
}

#[derive(Serialize)]
struct Journey {
    org: &'static str,
    dst: &'static str,
    family: &'static str,
    minutes: i64,
    legs: Vec<LegWire>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LegWire {
    org: &'static str,
    dst: &'static str,
    org_tz: &'static str,
    dst_tz: &'static str,
    dep: String,
    arr: String,
    minutes: i64,
    mkt: Carrier,
    no: u32,
    opr: Option<Carrier>,
    cabin: &'static str,
    cabin_name: &'static str,
    checked: u8,
    cabin_bags: u8,
}

#[derive(Serialize)]
struct Carrier {
    code: &'static str,
    name: &'static str,
    logo: Option<String>,
}

fn journeys(app: &SandboxState, fare: &Fare) -> Vec<Journey> {
    (fare.itineraries.iter())
        .filter_map(|itinerary| journey(app, fare, itinerary))
        .collect()
}

fn journey(app: &SandboxState, fare: &Fare, itinerary: &Itinerary) -> Option<Journey> {
    Some(Journey {
        org: itinerary.segments.first()?.from.iata,
        dst: itinerary.segments.last()?.to.iata,
        family: fare.brand.name(),
        minutes: itinerary.minutes(),
        legs: (itinerary.segments.iter())
            .map(|segment| leg_wire(app, segment))
            .collect(),
    })
}

fn leg_wire(app: &SandboxState, segment: &Segment) -> LegWire {
    let carrier = |airline: &'static Airline| Carrier {
        code: airline.iata,
        name: airline.name,
        logo: logo_url(app, airline),
    };
    let operated = segment.operator.iata != segment.carrier.iata;
    LegWire {
        org: segment.from.iata,
        dst: segment.to.iata,
        org_tz: segment.from.zone_name,
        dst_tz: segment.to.zone_name,
        dep: local(segment.departs()),
        arr: local(segment.arrives()),
        minutes: segment.minutes(),
        mkt: carrier(segment.carrier),
        no: segment.flight_no,
        opr: operated.then(|| carrier(segment.operator)),
        cabin: cabin(segment.brand),
        cabin_name: segment.brand.name(),
        checked: segment.brand.checked_bags(),
        cabin_bags: segment.brand.carry_on_bags(),
    }
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PrebookWire {
    prebook_id: String,
    valid_until: i64,
    price: Money,
    fare: Money,
    tax: Money,
    conditions: Conditions,
    needs_document: bool,
    journeys: Vec<Journey>,
    checkout: Checkout,
}

#[derive(Serialize)]
struct Checkout {
    url: String,
    token: String,
}

pub(super) fn prebook_wire(
    app: &SandboxState,
    prebook: Prebook,
) -> Result<PrebookWire, FlightError> {
    let fare = prebook.choice.fare()?;
    let currency = prebook.choice.currency;
    Ok(PrebookWire {
        valid_until: prebook.expires_at,
        price: money(currency, prebook.total),
        fare: money(currency, prebook.total - tax(prebook.total)),
        tax: money(currency, tax(prebook.total)),
        conditions: conditions(fare.brand, currency),
        needs_document: prebook.choice.scenario() == Scenario::DocumentsRequired,
        journeys: journeys(app, &fare),
        checkout: Checkout {
            url: format!("{}/jetbridge/checkout/{}", app.base_url(), prebook.token),
            token: prebook.token,
        },
        prebook_id: prebook.id,
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BookingWire {
    booking_id: String,
    client_ref: String,
    status: &'static str,
    failure: Option<Failure>,
    /// Record locator; empty if there is none.
    pnr: String,
    price: Money,
    fare: Money,
    tax: Money,
    journeys: Vec<Journey>,
    checkout: &'static str,
    changes: Vec<ChangeWire>,
    cancellation: Option<CancellationWire>,
    created_at: i64,
    ticketed_at: Option<i64>,
}

#[derive(Serialize)]
struct Failure {
    no: u32,
    text: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChangeWire {
    change_id: String,
    at: i64,
    r#type: &'static str,
    must_answer: bool,
    old: Vec<LegWire>,
    new: Vec<LegWire>,
    answer_by: i64,
    accepted_at: Option<i64>,
}

#[derive(Serialize)]
struct CancellationWire {
    r#ref: String,
    fee: Money,
    refund: Money,
    at: i64,
}

pub(super) fn booking_wire(app: &SandboxState, order: &Order) -> Result<BookingWire, FlightError> {
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
    Ok(BookingWire {
        booking_id: order.id.clone(),
        client_ref: order.client_ref.clone(),
        status,
        failure: (order.state == OrderState::Failed).then_some(Failure {
            no: 45_001,
            text: "refused by the airline",
        }),
        pnr: order.locator.clone().unwrap_or_default(),
        price: money(currency, total),
        fare: money(currency, total - tax(total)),
        tax: money(currency, tax(total)),
        journeys: journeys(app, &fare),
        checkout,
        changes: (changes(order)?.iter())
            .map(|change| change_wire(app, change))
            .collect(),
        cancellation: order.cancellation.as_ref().map(|done| CancellationWire {
            r#ref: done.reference.clone(),
            fee: money(currency, done.fee),
            refund: money(currency, done.refund),
            at: done.at,
        }),
        created_at: order.created_at,
        ticketed_at: order.ticketed_at,
    })
}

fn change_wire(app: &SandboxState, change: &Change) -> ChangeWire {
    ChangeWire {
        change_id: change.id.clone(),
        at: change.detected_at,
        r#type: "SCHEDULE",
        must_answer: true,
        old: vec![leg_wire(app, &change.removed)],
        new: vec![leg_wire(app, &change.added)],
        answer_by: change.detected_at + ANSWER_MS,
        accepted_at: None,
    }
}
