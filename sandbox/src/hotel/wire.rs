//! Objects that several of Lodge's responses share.

use serde_json::{Value, json};

use crate::{
    clock::instant,
    hotel::{
        catalog::{self, Hotel},
        quote::{Occupancy, Quote},
        scenario::Scenario,
    },
    money::PER_MAJOR,
};

/// City tax of the feature-rich hotel for a room and night, paid at the hotel.
const CITY_TAX: i64 = 4 * PER_MAJOR;
/// Included tax of the feature-rich hotel for a room and night.
const INCLUDED_TAX: i64 = 5 * PER_MAJOR;
/// Worth of an extra of the feature-rich hotel.
const EXTRA: i64 = 12 * PER_MAJOR;
/// Discount of the feature-rich hotel's promotion for a room and night.
const PROMOTION: i64 = 10 * PER_MAJOR;
const PROMOTION_ROOMS: usize = 2;

pub(super) fn hotel_wire(hotel: &Hotel) -> Value {
    json!({
        "id": hotel.id,
        "name": hotel.name,
        "address": hotel.address(),
        "lat": hotel.at.lat,
        "lng": hotel.at.lng,
        "zone": catalog::ZONE,
    })
}

/// Returns the terms of a part of the quote that is worth `amount`.
pub(super) fn terms(quote: &Quote, scenario: Scenario, amount: i64) -> Value {
    let charge = quote.charge(amount);
    let amount = quote.stay.currency.format(charge.amount);
    let free_until = quote.free_until().map(instant);
    let restrictions = match scenario {
        Scenario::Restricted => json!([{
            "code": "NO_CANCELLATION",
            "text": "The hotel accepts no cancellation of this booking.",
            "from": instant(quote.quoted_at),
            "until": null,
        }]),
        _ => json!([]),
    };
    let percent = (scenario == Scenario::Rich).then_some(100);
    json!({
        "refundable": free_until.is_some(),
        "free_until": free_until,
        "charges": [{ "from": instant(charge.from), "amount": amount, "percent": percent }],
        "restrictions": restrictions,
    })
}

/// Returns the rooms of a quote in the order of the request.
pub(super) fn rooms(quote: &Quote, scenario: Scenario) -> Vec<Value> {
    let currency = quote.stay.currency;
    let due_at_hotel = (scenario == Scenario::Rich).then(|| {
        let amount = currency.format(currency.minor(CITY_TAX) * quote.stay.nights());
        json!({ "amount": amount, "currency": currency })
    });
    let room = |party: &Occupancy| {
        json!({
            "name": room_name(party),
            "board": quote.plan,
            "board_text": quote.plan.text(),
            "total": currency.format(quote.room_total()),
            "due_at_hotel": due_at_hotel,
            "terms": terms(quote, scenario, quote.room_total()),
            "about": (scenario == Scenario::Rich).then(|| about_room(quote, party)),
        })
    };
    quote.stay.parties.iter().map(room).collect()
}

/// Returns what the feature-rich hotel says about a room.
fn about_room(quote: &Quote, party: &Occupancy) -> Value {
    let currency = quote.stay.currency;
    let price = |amount: i64| json!({ "amount": currency.format(amount), "currency": currency });
    let a_stay = |amount: i64| price(currency.minor(amount) * quote.stay.nights());
    json!({
        "sleeps": usize::from(party.adults) + party.child_ages.len() + 1,
        "note": "The spa is closed on Mondays.",
        "extras": [
            { "name": "Welcome drink", "worth": price(currency.minor(EXTRA)) },
            { "name": "Late check-out if available", "worth": null },
        ],
        "taxes": [
            { "name": "Value added tax", "price": a_stay(INCLUDED_TAX), "paid": "in_total" },
            { "name": "City tax", "price": a_stay(CITY_TAX), "paid": "on_arrival" },
        ],
    })
}

pub(super) fn room_name(party: &Occupancy) -> &'static str {
    match usize::from(party.adults) + party.child_ages.len() {
        0 | 1 => "Single room",
        2 => "Double room",
        3 => "Triple room",
        _ => "Family room",
    }
}

pub(super) fn promotions(quote: &Quote, scenario: Scenario) -> Value {
    if scenario != Scenario::Rich {
        return json!([]);
    }
    let rooms: Vec<usize> = (0..quote.stay.parties.len().min(PROMOTION_ROOMS)).collect();
    let currency = quote.stay.currency;
    let a_room = currency.minor(PROMOTION) * quote.stay.nights();
    let off = rooms.iter().map(|_| a_room).sum();
    json!([{
        "name": "Two rooms together",
        "text": "The first two rooms are cheaper when they are booked together.",
        "off": currency.format(off),
        "rooms": rooms,
    }])
}

/// Returns one point for each major unit.
pub(super) fn rewards(quote: &Quote, scenario: Scenario) -> Option<Value> {
    (scenario == Scenario::Rich).then(|| {
        json!({
            "program": "Testville Rewards",
            "member_no": "TVR00420815",
            "points": quote.total() / quote.stay.currency.scale(),
        })
    })
}
