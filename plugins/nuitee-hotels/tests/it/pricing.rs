//! Offers.

use serde_json::{Value, json};
use stopover_sdk::hotel_pricing::Offer;
use stopover_sdk::testing::Outcome::InvalidResponse;
use stopover_sdk::testing::{MockGateway, outcome, with_values};
use stopover_sdk::time;
use stopover_sdk::types::hotel::Promotion;
use stopover_sdk::types::{Board, Money};

use crate::ask;

/// Returns the offers of the only hotel of a response.
fn offers(gateway: &MockGateway) -> Vec<Offer> {
    let mut response = ask::price(gateway).unwrap();
    assert_eq!(response.hotels.len(), 1);
    response.hotels.remove(0).offers
}

fn priced() -> Vec<Offer> {
    offers(&ask::fixtures(&["rates.json"]))
}

#[test]
fn pricing_sends_documented_request() {
    let gateway = ask::fixtures(&["rates.json"]);
    offers(&gateway);
    let sent = ["POST api.liteapi.travel/v3.0/hotels/rates"];
    assert_eq!(ask::sent(&gateway), sent);
    let request = &gateway.requests()[0];
    assert_eq!(request.timeout_ms, Some(12_000));
    let mut headers = request.headers.iter();
    assert!(headers.all(|header| header.name == "content-type"));
    assert_eq!(
        request.body_json(),
        json!({
            "hotelIds": ["lpown2", "lpown1"],
            "checkin": "2027-06-01",
            "checkout": "2027-06-03",
            "currency": "EUR",
            "guestNationality": "FR",
            "occupancies": [{"adults": 2, "children": []}, {"adults": 1, "children": [7]}],
            "maxRatesPerHotel": 30,
            "includeHotelData": true,
            "timeout": 8,
        })
    );
}

/// Only a list says that a hotel has no offers.
#[test]
fn hotel_without_a_list_of_offers_is_unreadable() {
    let document: Value = serde_json::from_str(&ask::fixture("rates.json")).unwrap();
    let list = &document["data"][1]["roomTypes"];
    let repeated = format!(r#""roomTypes": {list}, "roomTypes": []"#);
    for member in [
        "\"name\": \"x\"",
        "\"roomTypes\": null",
        "\"roomTypes\": \"\"",
        "\"roomTypes\": 7",
        "\"roomTypes\": {}",
        repeated.as_str(),
    ] {
        let hotel = format!(r#"{{"hotelId": "lpown1", {member}}}"#);
        let body = format!(r#"{{"data": [{hotel}]}}"#);
        let response = ask::price(&MockGateway::with_responses(&[(200, &body)]));
        assert_eq!(
            outcome(&response),
            InvalidResponse,
            "{member}: {response:?}"
        );
        // It costs only itself beside another hotel.
        let other = document["data"][1].to_string().replace("lpown1", "lpown2");
        for data in [format!("[{hotel}, {other}]"), format!("[{other}, {hotel}]")] {
            let body = format!(r#"{{"data": {data}}}"#);
            let gateway = MockGateway::with_responses(&[(200, &body)]);
            let response = ask::price(&gateway).unwrap();
            assert_eq!(response.hotels.len(), 1, "{member}");
            assert_eq!(response.hotels[0].hotel.supplier_hotel_id, "lpown2");
            let counts = gateway.dropped_items();
            let count: u32 = counts.iter().map(|(_, count)| count).sum();
            // Three offers of the other hotel cannot be sold.
            assert_eq!(count, 4, "{member}");
        }
    }
    for data in [r#"[]"#, r#"[{"hotelId": "lpown1", "roomTypes": []}]"#] {
        let body = format!(r#"{{"data": {data}}}"#);
        let response = ask::price(&MockGateway::with_responses(&[(200, &body)]));
        assert_eq!(response.unwrap().hotels.len(), 0, "{data}");
    }
}

#[test]
fn only_requested_hotels_with_offers_are_returned() {
    let response = ask::price(&ask::fixtures(&["rates.json"])).unwrap();
    let hotel = &response.hotels[0].hotel;
    assert_eq!(response.hotels.len(), 1);
    assert_eq!(hotel.supplier_hotel_id, "lpown1");
    assert_eq!(hotel.name, "Harbour & Sons");
    assert_eq!(hotel.address, "1 Quay, Port Example");
    assert_eq!(hotel.location.unwrap().latitude, 43.735);
    assert_eq!(response.currency, "EUR");
}

#[test]
fn offers_have_totals_and_rooms_in_requested_order() {
    let [sea, garden] = &priced()[..] else {
        panic!("not two offers");
    };
    let rooms = sea.rooms.iter().map(|room| (&*room.name, room.total));
    assert!(rooms.eq([("Double Sea View", 25010), ("Twin Sea View", 21040)]));
    let breakfast = (Board::BedAndBreakfast, "Bed and Breakfast");
    let boards = sea.rooms.iter().chain(&garden.rooms);
    let boards = boards.map(|room| (room.board, &*room.board_name));
    let (room_only, other) = (
        (Board::RoomOnly, "Room only"),
        (Board::Other, "Kosher board"),
    );
    assert!(boards.eq([breakfast, breakfast, room_only, other]));
    // The total is a list in one offer and an object in the other.
    let totals = [sea, garden].map(|offer| (&*offer.supplier_offer, offer.total));
    assert_eq!(totals, [("OFFER-SEA", 46050), ("OFFER-GARDEN", 35001)]);
    assert_eq!(garden.rooms[1].total, 17001);
    // Nuitee states no expiry.
    assert_eq!((sea.expires_at, garden.expires_at), (None, None));
    // Only fees that are not included are due at the property.
    assert_eq!(sea.rooms[0].due_at_property, None);
    let due = Money::new(1350, "EUR");
    assert_eq!(sea.rooms[1].due_at_property, Some(due));
}

#[test]
fn unusable_offers_are_left_out_and_logged() {
    let gateway = ask::fixtures(&["rates.json"]);
    assert_eq!(offers(&gateway).len(), 2);
    let logged = gateway.logs();
    assert_eq!(logged.len(), 1);
    let message = &logged[0].1;
    let expected = "3 parts of the supplier's response left out: ";
    assert!(message.starts_with(expected), "{message}");
}

/// A value of another type costs the offer that it belongs to. The others are still offered.
#[test]
fn odd_value_costs_one_offer() {
    let fixture: Value = serde_json::from_str(&ask::fixture("rates.json")).unwrap();
    for (pointer, left) in [
        (
            "/data/1/roomTypes/0/rates/0/retailRate",
            vec!["OFFER-GARDEN"],
        ),
        ("/data/1/roomTypes/1/rates/0/name", vec!["OFFER-SEA"]),
        ("/data/1/roomTypes/1/offerId", vec!["OFFER-SEA"]),
        ("/data/1/roomTypes/0", vec!["OFFER-GARDEN"]),
        ("/data/0", vec!["OFFER-SEA", "OFFER-GARDEN"]),
        ("/hotels/0/name", vec!["OFFER-SEA", "OFFER-GARDEN"]),
    ] {
        for odd in [json!(7.5), json!(true)] {
            let body = with_values(fixture.clone(), &[(pointer, odd.clone())]);
            let gateway = MockGateway::new().respond_with(200, body.to_string());
            let offers = offers(&gateway);
            let offered: Vec<&str> = offers.iter().map(|offer| &*offer.supplier_offer).collect();
            assert_eq!(offered, left, "{pointer} {odd}");
            // Three offers of the fixture cannot be sold.
            let counts = gateway.dropped_items();
            let dropped: u32 = counts.iter().map(|(_, count)| count).sum();
            assert_eq!(dropped, 4, "{pointer} {odd}");
        }
    }
}

#[test]
fn offer_policy_merges_policies_of_all_rooms() {
    let offers = priced();
    let policy = &offers[0].policy;
    let at = |text| time::parse_timestamp(text).unwrap();
    let penalties = policy.penalties.iter();
    let steps: Vec<_> = penalties
        .map(|penalty| (penalty.start, penalty.amount))
        .collect();
    let expected = [
        (at("2027-05-20 10:00:00"), 5000),
        (at("2027-05-25 10:00:00"), 30010),
        (at("2027-05-27 10:00:00"), 46050),
    ];
    assert_eq!(steps, expected);
    assert!(policy.refundable);
    assert_eq!(policy.free_until, Some(at("2027-05-20 10:00:00") - 1));
    // One of its rooms is not refundable.
    assert!(!offers[1].policy.refundable && offers[1].rooms[1].policy.refundable);
}

#[test]
fn each_promotion_is_listed_once_with_its_rooms() {
    let offers = priced();
    let promotion = |name: &str, description: Option<&str>, amount, positions: &[u8]| Promotion {
        name: name.to_owned(),
        description: description.map(str::to_owned),
        amount,
        room_positions: positions.to_vec(),
    };
    let expected = [
        promotion("Stay longer", None, Some(1250), &[0, 1]),
        promotion("Early bird", Some("15 %"), None, &[0]),
    ];
    assert_eq!(offers[0].promotions, expected);
}

#[test]
fn offers_beyond_limit_are_truncated() {
    let mut request = ask::price_request();
    request.max_offers_per_hotel = 1;
    let response = ask::price_of(&ask::fixtures(&["rates.json"]), request);
    let [offer] = &response.unwrap().hotels[0].offers[..] else {
        panic!("not one offer");
    };
    assert_eq!(offer.supplier_offer, "OFFER-SEA");
}

#[test]
fn prices_in_another_currency_are_left_out_unless_all_are() {
    let rates = ask::fixture("rates.json");
    let total = r#""total": [{"amount": 250.1, "currency": "EUR"}]"#;
    let one = rates.replace(total, &total.replace("EUR", "USD"));
    let offers = offers(&MockGateway::new().respond_with(200, one));
    assert_eq!(offers.len(), 1, "{offers:?}");
    let all = rates.replace("EUR", "USD");
    let response = ask::price(&MockGateway::new().respond_with(200, all));
    assert_eq!(outcome(&response), InvalidResponse, "{response:?}");
}

#[test]
fn member_rates_are_requested_and_marked_with_membership() {
    let settings = r#"{"loyalty_program": "HH", "loyalty_membership": "M-1"}"#;
    let gateway = ask::fixtures(&["rates.json"]).settings(settings);
    let offers = offers(&gateway);
    let body = gateway.request_json(0);
    assert_eq!(body["loyaltyProgram"], "HH");
    let details = json!([{"programId": "HH", "membershipId": "M-1"}]);
    assert_eq!(body["loyaltyProgramDetails"], details);
    assert_eq!(offers[0].loyalty, None);
    assert_eq!(offers[2].supplier_offer, "OFFER-MEMBERS");
    let loyalty = offers[2].loyalty.as_ref().unwrap();
    assert_eq!(loyalty.program, "HH");
    assert_eq!(loyalty.membership_number.as_deref(), Some("M-1"));
}

#[test]
fn no_availability_returns_no_hotels_in_every_form() {
    let none = r#"{"error": {"code": 2001, "message": "no availability found"}}"#;
    let forms = [
        (204, ""),
        (200, none),
        (404, none),
        (200, r#"{"data": [], "sandbox": true}"#),
    ];
    for form in forms {
        let response = ask::price(&MockGateway::with_responses(&[form])).unwrap();
        assert!(response.hotels.is_empty(), "{form:?}");
    }
}

#[test]
fn malformed_response_is_unreadable() {
    let (open, number, empty) = ("{\"data\": [", "{\"data\": 5}", "{\"data\": [{}]}");
    for body in [
        "",
        "{}",
        "{\"data\": null}",
        "<html>",
        open,
        number,
        "[]",
        empty,
    ] {
        let response = ask::price(&MockGateway::new().respond_with(200, body));
        assert_eq!(outcome(&response), InvalidResponse, "{body}: {response:?}");
    }
}

#[test]
fn offer_with_fees_in_two_currencies_is_left_out() {
    let with = |fees: &[&str], currency: &str| {
        let replace =
            |document: String, fee: &&str| document.replace(fee, &fee.replace("EUR", currency));
        let document = fees.iter().fold(ask::fixture("rates.json"), replace);
        offers(&MockGateway::new().respond_with(200, document))
    };
    let beach = r#""description": "Beach fee", "amount": 10, "currency": "EUR""#;
    let city = r#""description": "City tax", "amount": 3.5, "currency": "EUR""#;
    assert_eq!(with(&[beach], "HRK")[0].supplier_offer, "OFFER-GARDEN");
    let due = Money::new(14, "JPY");
    let offers = with(&[beach, city], "JPY");
    assert_eq!(offers[0].rooms[1].due_at_property, Some(due));
}
