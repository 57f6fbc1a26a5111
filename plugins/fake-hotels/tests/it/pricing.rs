//! Conversion of rates to offers.

use fake_hotels::FakeHotels;
use serde_json::{Value, json};
use stopover_sdk::hotel_pricing::PriceResponse;
use stopover_sdk::log::Level;
use stopover_sdk::testing::Outcome::InvalidResponse;
use stopover_sdk::testing::outcome;
use stopover_sdk::types::hotel::Restriction;
use stopover_sdk::types::{Board, Money};
use stopover_sdk::{HotelPricing, ReadError};

use crate::lodge::{asked, edited, fixture, gateway, price_request};

/// Time of the quote: 2026-11-21T10:46:05.956Z.
const QUOTED_AT: i64 = 1_795_257_965_956;
/// End of free cancellation: 2027-02-27T14:00:00Z.
const FREE_UNTIL: i64 = 1_803_736_800_000;

/// Prices at Lodge, which returns the fixture after some values were replaced.
fn priced(ids: &[&str], edits: &[(&str, Value)]) -> Result<PriceResponse, ReadError> {
    let gateway = gateway().respond_with(200, edited("rates", edits));
    gateway.run(|| FakeHotels::price(price_request(ids, 3)))
}

#[test]
fn pricing_sends_stay_unchanged() {
    let gateway = gateway().respond_with(200, r#"{"currency": "EUR", "hotels": []}"#);
    let mut request = price_request(&["OK", "MANY"], 2);
    request.stay.guest_residence = Some("FR".to_owned());
    gateway.run(|| FakeHotels::price(request)).unwrap();
    assert_eq!(asked(&gateway), ["POST /lodge/v1/rates"]);
    assert_eq!(
        gateway.request_json(0),
        json!({
            "hotels": ["OK", "MANY"], "arrive": "2027-03-01", "depart": "2027-03-03",
            "rooms": [{"adults": 2, "child_ages": [7, 0]}, {"adults": 2, "child_ages": []}],
            "nationality": "GB", "residence": "FR", "currency": "EUR", "max_rates": 5,
        })
    );
    let headers = &gateway.requests()[0].headers;
    let names: Vec<_> = headers.iter().map(|header| header.name.as_str()).collect();
    assert_eq!(names, ["content-type"], "the gateway adds the key");
}

#[test]
fn rates_are_fully_converted() {
    let response = priced(&["MANY"], &[]).unwrap();
    assert_eq!(response.currency, "EUR");
    let [hotel] = response.hotels.as_slice() else {
        panic!("{response:?}");
    };
    assert_eq!(hotel.hotel.supplier_hotel_id, "MANY");
    assert_eq!(hotel.hotel.name, "Grand Hotel Testville");
    assert_eq!(hotel.hotel.time_zone.as_deref(), Some("Europe/London"));
    assert_eq!(hotel.hotel.location.unwrap().longitude, -0.338_36);
    let [room_only, breakfast] = hotel.offers.as_slice() else {
        panic!("{:?}", hotel.offers);
    };

    assert_eq!(room_only.supplier_offer, "rate-many-ro");
    assert_eq!(room_only.total, 60_000);
    assert_eq!(room_only.expires_at, Some(QUOTED_AT + 30 * 60_000));
    assert!(!room_only.policy.refundable);
    assert_eq!(room_only.policy.free_until, None);
    assert_eq!(room_only.policy.penalties[0].start, QUOTED_AT);
    assert_eq!(room_only.policy.penalties[0].amount, 60_000);

    assert_eq!(breakfast.total, 78_000);
    assert!(breakfast.policy.refundable);
    assert_eq!(breakfast.policy.free_until, Some(FREE_UNTIL));
    assert_eq!(breakfast.policy.penalties[0].start, FREE_UNTIL);
    assert_eq!(breakfast.policy.penalties[0].amount, 78_000);
    assert_eq!(breakfast.policy.penalties[0].currency, "EUR");
    let loyalty = breakfast.loyalty.as_ref().unwrap();
    assert_eq!(loyalty.program, "Testville Rewards");
    assert_eq!(loyalty.membership_number.as_deref(), Some("TVR00420815"));
    assert_eq!(loyalty.points_estimate, Some(780));
    let [promotion] = breakfast.promotions.as_slice() else {
        panic!("{:?}", breakfast.promotions);
    };
    assert_eq!(promotion.name, "Two rooms together");
    assert_eq!(promotion.amount, Some(4_000));
    assert_eq!(promotion.room_positions, [0, 1]);

    let names = breakfast.rooms.iter().map(|room| &room.name);
    let expected = ["Triple room", "Double room", "Double room"];
    assert!(names.eq(expected), "{:?}", breakfast.rooms);
    let room = &breakfast.rooms[0];
    assert_eq!(room.board, Board::BedAndBreakfast);
    assert_eq!(room.board_name, "Bed and breakfast");
    assert_eq!(room.total, 26_000);
    let city_tax = Money::new(800, "EUR");
    assert_eq!(room.due_at_property, Some(city_tax));
    assert_eq!(room.policy.penalties[0].amount, 26_000);
    assert_eq!(room_only.rooms[0].board, Board::RoomOnly);
}

#[test]
fn amount_must_have_decimals_of_currency() {
    for (currency, written, expected) in [
        ("EUR", "600.00", Some(60_000)),
        ("EUR", "600", Some(60_000)),
        ("JPY", "600", Some(600)),
        ("KWD", "600.125", Some(600_125)),
        ("EUR", "600.125", None),
        ("JPY", "600.50", None),
        ("EUR", "six hundred", None),
        ("EUR", "", None),
    ] {
        let rate = json!({
            "rate_id": "r", "total": written, "expires_at": "2026-11-21T11:16:05.956Z",
            "rooms": [], "promotions": [], "rewards": null,
            "terms": {"refundable": false, "free_until": null, "charges": [], "restrictions": []},
        });
        let edits = [
            ("/currency", json!(currency)),
            ("/hotels/0/rates", json!([rate])),
        ];
        let gateway = gateway().respond_with(200, edited("rates", &edits));
        let mut request = price_request(&["MANY"], 0);
        request.stay.currency = currency.to_owned();
        let response = gateway.run(|| FakeHotels::price(request));
        let total = match response {
            Err(ReadError::InvalidResponse(_)) => None,
            response => Some(response.unwrap().hotels[0].offers[0].total),
        };
        assert_eq!(total, expected, "{currency} {written}");
    }
}

#[test]
fn odd_rate_costs_that_rate_and_is_counted() {
    let from = "/hotels/0/rates/0/terms/charges/0/from";
    let whole = priced(&["MANY"], &[]).unwrap();
    for (pointer, value) in [
        ("/hotels/0/rates/0", json!(7)),
        ("/hotels/0/rates/0/rooms", json!([])),
        ("/hotels/0/rates/0/expires_at", json!("tomorrow")),
        ("/hotels/0/rates/0/terms", json!("Please ask.")),
        (from, json!("2026-13-01T00:00:00Z")),
        ("/hotels/0/rates/0/promotions/0/rooms", json!([-1])),
    ] {
        let edits = [(pointer, value)];
        let gateway = gateway().respond_with(200, edited("rates", &edits));
        let response = gateway.run(|| FakeHotels::price(price_request(&["MANY"], 3)));
        let offers = &response.unwrap().hotels[0].offers;
        assert_eq!(offers[..], whole.hotels[0].offers[1..], "{pointer}");
        let dropped = gateway.dropped_items();
        assert_eq!(dropped.iter().map(|(_, count)| count).sum::<u32>(), 1);
    }
}

#[test]
fn response_that_contradicts_request_is_unreadable() {
    for (pointer, value) in [
        ("/currency", json!("USD")),
        ("/hotels", json!(null)),
        ("/hotels/0/rates", json!(null)),
        ("/hotels/0/rates", json!([7])),
        ("/hotels/0/hotel/lat", json!(null)),
    ] {
        let response = priced(&["MANY"], &[(pointer, value)]);
        let case = format!("{pointer}: {response:?}");
        assert_eq!(outcome(&response), InvalidResponse, "{case}");
    }
}

#[test]
fn unknown_board_is_other() {
    let edits = [("/hotels/0/rates/0/rooms/0/board", json!("HB"))];
    let response = priced(&["MANY"], &edits).unwrap();
    assert_eq!(response.hotels[0].offers[0].rooms[0].board, Board::Other);
}

#[test]
fn only_requested_hotels_are_returned_in_requested_order() {
    let hotel = |id: &str| {
        json!({
            "hotel": {"id": id, "name": id, "address": "", "lat": 0, "lng": 0, "zone": "UTC"},
            "rates": [],
        })
    };
    let hotels = json!([hotel("B"), hotel("X"), hotel("A")]);
    let response = priced(&["A", "NONE", "B"], &[("/hotels", hotels)]).unwrap();
    let ids = (response.hotels.iter()).map(|found| &found.hotel.supplier_hotel_id);
    assert!(ids.eq(["A", "B"]), "{response:?}");
    assert!(response.hotels.iter().all(|found| found.offers.is_empty()));
}

#[test]
fn offers_beyond_limit_are_truncated() {
    let gateway = gateway().respond_with(200, fixture("rates").to_string());
    let mut request = price_request(&["MANY"], 3);
    request.max_offers_per_hotel = 1;
    let response = gateway.run(|| FakeHotels::price(request)).unwrap();
    assert_eq!(response.hotels[0].offers.len(), 1);
    assert_eq!(gateway.request_json(0)["max_rates"], 1);
}

#[test]
fn rate_with_too_long_id_is_left_out() {
    for (bytes, offers) in [(4_096, 2), (4_097, 1)] {
        let id = "r".repeat(bytes);
        let body = edited("rates", &[("/hotels/0/rates/0/rate_id", json!(id))]);
        let gateway = gateway().respond_with(200, body);
        let response = gateway.run(|| FakeHotels::price(price_request(&["MANY"], 3)));
        assert_eq!(response.unwrap().hotels[0].offers.len(), offers);
        let warned = (gateway.logs().iter()).any(|(level, _)| *level == Level::Warn);
        assert_eq!(warned, offers == 1);
    }
}

#[test]
fn injected_flood_takes_64_mib_in_gateway() {
    let response = gateway().run(|| FakeHotels::price(price_request(&["FLOOD"], 1)));
    let hotels = response.unwrap().hotels;
    let offers = hotels.iter().flat_map(|hotel| &hotel.offers);
    let restrictions: usize = offers.map(|offer| offer.policy.restrictions.len()).sum();
    assert!(restrictions * size_of::<Restriction>() >= 64 << 20);
}

#[test]
fn pricing_without_hotels_sends_no_request() {
    let gateway = gateway();
    let response = gateway.run(|| FakeHotels::price(price_request(&[], 1)));
    assert!(response.unwrap().hotels.is_empty());
    assert!(gateway.requests().is_empty());
}
