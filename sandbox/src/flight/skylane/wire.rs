//! Skylane's objects on the wire.

use jiff::civil::{Date, DateTime};
use serde::Serialize;

use crate::{
    clock::{DAY_MS, instant},
    flight::{
        bags::BAG_WEIGHT_KG,
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
    value: String,
    currency: Currency,
}

pub(super) fn money(currency: Currency, minor: i64) -> Money {
    Money {
        value: currency.format(minor),
        currency,
    }
}

#[derive(Serialize)]
pub(super) struct OfferWire {
    id: String,
    expires_at: String,
    brand: &'static str,
    total: Money,
    base: Money,
    tax: Money,
    conditions: Conditions,
    passports_required: bool,
    slices: Vec<Slice>,
}

#[derive(Serialize)]
struct Conditions {
    refund: Condition,
    change: Condition,
}

#[derive(Serialize)]
struct Condition {
    allowed: bool,
    penalty: Option<Money>,
}

fn conditions(brand: Brand, currency: Currency) -> Conditions {
    let refund_fee = brand.refund_fee(currency);
    Conditions {
        refund: Condition {
            allowed: refund_fee.is_some(),
            penalty: refund_fee.map(|fee| money(currency, fee)),
        },
        change: Condition {
            allowed: brand.changeable(),
            penalty: brand.changeable().then(|| money(currency, 0)),
        },
    }
}

pub(super) fn offer_wire(
    app: &SandboxState,
    choice: &FareSelection,
    fare: &Fare,
    total: i64,
) -> OfferWire {
    let currency = choice.currency;
    OfferWire {
        id: choice.id(),
        expires_at: instant(choice.expires_at),
        brand: fare.brand.name(),
        total: money(currency, total),
        base: money(currency, total - tax(total)),
        tax: money(currency, tax(total)),
        conditions: conditions(fare.brand, currency),
        passports_required: choice.scenario() == Scenario::DocumentsRequired,
        slices: slices(app, choice, fare),
    }
}

#[derive(Serialize)]
struct Slice {
    id: String,
    from: &'static str,
    to: &'static str,
    duration: String,
    brand: &'static str,
    segments: Vec<SegmentWire>,
}

#[derive(Serialize)]
struct SegmentWire {
    id: String,
    from: &'static str,
    to: &'static str,
    from_zone: &'static str,
    to_zone: &'static str,
    departs: DateTime,
    arrives: DateTime,
    duration: String,
    carrier: Carrier,
    flight_no: String,
    operator: Option<Carrier>,
    travellers: Vec<SeatWire>,
}

#[derive(Serialize)]
struct Carrier {
    code: &'static str,
    name: &'static str,
    logo: Option<String>,
}

#[derive(Serialize)]
struct SeatWire {
    index: usize,
    cabin: &'static str,
    cabin_name: &'static str,
    checked: u8,
    carry_on: u8,
}

fn slices(app: &SandboxState, choice: &FareSelection, fare: &Fare) -> Vec<Slice> {
    (fare.itineraries.iter().enumerate())
        .filter_map(|(number, itinerary)| slice(app, choice, fare, number, itinerary))
        .collect()
}

fn slice(
    app: &SandboxState,
    choice: &FareSelection,
    fare: &Fare,
    number: usize,
    itinerary: &Itinerary,
) -> Option<Slice> {
    let passengers = choice.passengers.len();
    Some(Slice {
        id: format!("slice-{number}"),
        from: itinerary.segments.first()?.from.iata,
        to: itinerary.segments.last()?.to.iata,
        duration: iso_duration(itinerary.minutes()),
        brand: fare.brand.name(),
        segments: (itinerary.segments.iter())
            .map(|segment| segment_wire(app, segment, number, passengers))
            .collect(),
    })
}

fn segment_wire(
    app: &SandboxState,
    segment: &Segment,
    slice: usize,
    passengers: usize,
) -> SegmentWire {
    let carrier = |airline: &'static Airline| Carrier {
        code: airline.iata,
        name: airline.name,
        logo: logo_url(app, airline),
    };
    let operated = segment.operator.iata != segment.carrier.iata;
    SegmentWire {
        id: format!("slice-{slice}-segment-{}", segment.number),
        from: segment.from.iata,
        to: segment.to.iata,
        from_zone: segment.from.zone_name,
        to_zone: segment.to.zone_name,
        departs: segment.departs(),
        arrives: segment.arrives(),
        duration: iso_duration(segment.minutes()),
        carrier: carrier(segment.carrier),
        flight_no: segment.flight_no.to_string(),
        operator: operated.then(|| carrier(segment.operator)),
        travellers: (0..passengers)
            .map(|index| SeatWire {
                index,
                cabin: cabin(segment.brand),
                cabin_name: segment.brand.name(),
                checked: segment.brand.checked_bags(),
                carry_on: segment.brand.carry_on_bags(),
            })
            .collect(),
    }
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

#[derive(Serialize)]
pub(super) struct OrderWire {
    id: String,
    client_ref: String,
    state: OrderState,
    failure: Option<Failure>,
    locator: Option<String>,
    total: Money,
    base: Money,
    tax: Money,
    bags_total: Money,
    slices: Vec<Slice>,
    bags: Vec<BagWire>,
    changes: Vec<ChangeWire>,
    cancellation: Option<CancellationWire>,
    created_at: String,
    ticketed_at: Option<String>,
}

#[derive(Serialize)]
struct Failure {
    code: &'static str,
    detail: &'static str,
}

#[derive(Serialize)]
struct BagWire {
    id: String,
    client_ref: String,
    traveller: usize,
    segments: Vec<String>,
    weight_kg: u32,
    quantity: u8,
    price: Money,
}

#[derive(Serialize)]
struct ChangeWire {
    id: String,
    detected_at: String,
    kind: &'static str,
    needs_answer: bool,
    removed: Vec<SegmentWire>,
    added: Vec<SegmentWire>,
    answer_by: String,
    accepted_at: Option<String>,
}

#[derive(Serialize)]
struct CancellationWire {
    r#ref: String,
    fee: Money,
    refund: Money,
    at: String,
}

/// Returns the ids of all segments, because a bag covers all of them.
pub(super) fn segment_ids(fare: &Fare) -> Vec<String> {
    (fare.itineraries.iter().enumerate())
        .flat_map(|(slice, itinerary)| {
            (itinerary.segments.iter())
                .map(move |segment| format!("slice-{slice}-segment-{}", segment.number))
        })
        .collect()
}

pub(super) fn order_wire(app: &SandboxState, order: &Order) -> Result<OrderWire, FlightError> {
    let fare = order.choice.fare()?;
    let currency = order.choice.currency;
    let fare_total = order.fare_total;
    Ok(OrderWire {
        id: order.id.clone(),
        client_ref: order.client_ref.clone(),
        state: order.state,
        failure: (order.state == OrderState::Failed).then_some(Failure {
            code: "airline_refused",
            detail: "The airline does not accept this order",
        }),
        locator: order.locator.clone(),
        total: money(currency, order.total()),
        base: money(currency, fare_total - tax(fare_total)),
        tax: money(currency, tax(fare_total)),
        bags_total: money(currency, order.bags_total()),
        slices: slices(app, &order.choice, &fare),
        bags: (order.bags.iter())
            .map(|bag| BagWire {
                id: bag.id.clone(),
                client_ref: bag.client_ref.clone(),
                traveller: bag.traveller,
                segments: segment_ids(&fare),
                weight_kg: BAG_WEIGHT_KG,
                quantity: bag.quantity,
                price: money(currency, bag.price),
            })
            .collect(),
        changes: (changes(order)?.iter())
            .map(|change| change_wire(app, change, order.choice.passengers.len()))
            .collect(),
        cancellation: order.cancellation.as_ref().map(|done| CancellationWire {
            r#ref: done.reference.clone(),
            fee: money(currency, done.fee),
            refund: money(currency, done.refund),
            at: instant(done.at),
        }),
        created_at: instant(order.created_at),
        ticketed_at: order.ticketed_at.map(instant),
    })
}

fn change_wire(app: &SandboxState, change: &Change, passengers: usize) -> ChangeWire {
    ChangeWire {
        id: change.id.clone(),
        detected_at: instant(change.detected_at),
        kind: "schedule_change",
        needs_answer: true,
        removed: vec![segment_wire(app, &change.removed, 0, passengers)],
        added: vec![segment_wire(app, &change.added, 0, passengers)],
        answer_by: instant(change.detected_at + ANSWER_MS),
        accepted_at: None,
    }
}

/// A travel document in a request. Only its presence matters.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    #[serde(rename = "kind")]
    _kind: DocumentKind,
    #[serde(rename = "number")]
    _number: String,
    #[serde(rename = "country")]
    _country: String,
    #[serde(rename = "expires")]
    _expires: Date,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum DocumentKind {
    Passport,
    IdentityCard,
}
