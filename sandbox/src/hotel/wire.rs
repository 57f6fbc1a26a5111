//! Objects that several of Lodge's responses share.

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    clock::instant,
    hotel::{
        catalog::{self, Hotel},
        quote::{BoardPlan, Quote},
        scenario::Scenario,
    },
    money::PER_MAJOR,
};

/// City tax of the feature-rich hotel for a room and night, paid at the hotel.
const CITY_TAX: i64 = 4 * PER_MAJOR;
/// Discount of the feature-rich hotel's promotion for a room and night.
const PROMOTION: i64 = 10 * PER_MAJOR;
const PROMOTION_ROOMS: usize = 2;

#[derive(Serialize)]
pub(super) struct HotelWire {
    id: String,
    name: &'static str,
    address: String,
    lat: f64,
    lng: f64,
    zone: &'static str,
}

impl HotelWire {
    pub(super) fn new(hotel: &Hotel) -> Self {
        Self {
            id: hotel.id.clone(),
            name: hotel.name,
            address: hotel.address(),
            lat: hotel.at.lat,
            lng: hotel.at.lng,
            zone: catalog::ZONE,
        }
    }
}

#[derive(Serialize)]
pub(super) struct Terms {
    refundable: bool,
    free_until: Option<String>,
    charges: Vec<ChargeWire>,
    restrictions: Vec<Restriction>,
}

#[derive(Serialize)]
struct ChargeWire {
    from: String,
    amount: String,
}

#[derive(Serialize)]
struct Restriction {
    code: &'static str,
    text: &'static str,
    from: Option<String>,
    until: Option<String>,
}

impl Terms {
    /// Creates the terms of a part of the quote that is worth `amount`.
    pub(super) fn new(quote: &Quote, scenario: Scenario, amount: i64) -> Self {
        let charge = quote.charge(amount);
        let free_until = quote.free_until();
        let restrictions = match scenario {
            Scenario::Restricted => vec![Restriction {
                code: "NO_CANCELLATION",
                text: "The hotel accepts no cancellation of this booking.",
                from: Some(instant(quote.quoted_at)),
                until: None,
            }],
            _ => Vec::new(),
        };
        Self {
            refundable: free_until.is_some(),
            free_until: free_until.map(instant),
            charges: vec![ChargeWire {
                from: instant(charge.from),
                amount: quote.stay.currency.format(charge.amount),
            }],
            restrictions,
        }
    }
}

#[derive(Serialize)]
pub(super) struct RoomWire {
    name: &'static str,
    board: BoardPlan,
    board_text: &'static str,
    total: String,
    due_at_hotel: Option<Value>,
    terms: Terms,
}

/// Returns the rooms of a quote in the order of the request.
pub(super) fn rooms(quote: &Quote, scenario: Scenario) -> Vec<RoomWire> {
    let currency = quote.stay.currency;
    let due_at_hotel = (scenario == Scenario::Rich).then(|| {
        let amount = currency.format(currency.minor(CITY_TAX) * quote.stay.nights());
        json!({ "amount": amount, "currency": currency })
    });
    (quote.stay.parties.iter())
        .map(|party| RoomWire {
            name: room_name(usize::from(party.adults) + party.child_ages.len()),
            board: quote.plan,
            board_text: quote.plan.text(),
            total: currency.format(quote.room_total()),
            due_at_hotel: due_at_hotel.clone(),
            terms: Terms::new(quote, scenario, quote.room_total()),
        })
        .collect()
}

pub(super) fn room_name(sleeps: usize) -> &'static str {
    match sleeps {
        0 | 1 => "Single room",
        2 => "Double room",
        3 => "Triple room",
        _ => "Family room",
    }
}

#[derive(Serialize)]
pub(super) struct Promotion {
    name: &'static str,
    text: &'static str,
    off: String,
    rooms: Vec<usize>,
}

pub(super) fn promotions(quote: &Quote, scenario: Scenario) -> Vec<Promotion> {
    if scenario != Scenario::Rich {
        return Vec::new();
    }
    let rooms: Vec<usize> = (0..quote.stay.parties.len().min(PROMOTION_ROOMS)).collect();
    let currency = quote.stay.currency;
    let a_room = currency.minor(PROMOTION) * quote.stay.nights();
    let off = rooms.iter().map(|_| a_room).sum();
    vec![Promotion {
        name: "Two rooms together",
        text: "The first two rooms are cheaper when they are booked together.",
        off: currency.format(off),
        rooms,
    }]
}

#[derive(Serialize)]
pub(super) struct Loyalty {
    program: &'static str,
    member_no: &'static str,
    points: i64,
}

/// Returns one point for each major unit.
pub(super) fn rewards(quote: &Quote, scenario: Scenario) -> Option<Loyalty> {
    (scenario == Scenario::Rich).then(|| Loyalty {
        program: "Testville Rewards",
        member_no: "TVR00420815",
        points: quote.total() / quote.stay.currency.scale(),
    })
}
