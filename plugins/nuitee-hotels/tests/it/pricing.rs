//! Offers.

use nuitee_hotels::NuiteeHotels;
use serde_json::json;
use stopover_sdk::hotel_pricing::{Offer, PriceResponse};
use stopover_sdk::testing::Outcome::InvalidResponse;
use stopover_sdk::testing::{MockGateway, outcome};
use stopover_sdk::types::{Board, Money};
use stopover_sdk::{HotelPricing, ReadError, time};

use crate::ask;

fn price(gateway: &MockGateway) -> Result<PriceResponse, ReadError> {
    gateway.run(|| NuiteeHotels::price(ask::price_request()))
}

fn priced() -> (Vec<Offer>, MockGateway) {
    let gateway = ask::responding_with("rates.json");
    let mut response = price(&gateway).unwrap();
    assert_eq!(response.hotels.len(), 1);
    (response.hotels.remove(0).offers, gateway)
}

#[test]
fn pricing_sends_documented_request() {
    let (_, gateway) = priced();
    let requests = gateway.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(
        requests[0].url,
        "https://api.liteapi.travel/v3.0/hotels/rates"
    );
    assert_eq!(requests[0].timeout_ms, Some(12_000));
    assert!(
        requests[0]
            .headers
            .iter()
            .all(|header| header.name == "content-type")
    );
    assert_eq!(
        requests[0].body_json(),
        json!({
            "hotelIds": ["lpown2", "lpown1"],
            "checkin": "2027-06-01",
            "checkout": "2027-06-03",
            "currency": "EUR",
            "guestNationality": "FR",
            "occupancies": [{"adults": 2, "children": []}, {"adults": 1, "children": [7]}],
            "maxRatesPerHotel": 25,
            "includeHotelData": true,
            "timeout": 8,
        })
    );
}

#[test]
fn only_requested_hotels_with_offers_are_returned() {
    let gateway = ask::responding_with("rates.json");
    let response = price(&gateway).unwrap();
    let hotel = &response.hotels[0].hotel;
    assert_eq!(response.hotels.len(), 1);
    assert_eq!(hotel.supplier_hotel_id, "lpown1");
    assert_eq!(hotel.name, "Harbour & Sons");
    assert_eq!(hotel.address, "1 Quay, Port Example");
    assert_eq!(hotel.location.unwrap().latitude, 43.735);
    assert_eq!(response.currency, "EUR");
}

#[test]
fn rooms_are_in_requested_order() {
    let (offers, _) = priced();
    let rooms = &offers[0].rooms;
    let rooms: Vec<_> = rooms.iter().map(|room| (&*room.name, room.total)).collect();
    assert_eq!(
        rooms,
        [("Double Sea View", 25010), ("Twin Sea View", 21040)]
    );
    for room in &offers[0].rooms {
        assert_eq!(room.board, Board::BedAndBreakfast);
        assert_eq!(room.board_name, "Bed and Breakfast");
    }
}

#[test]
fn totals_are_read_from_list_or_object() {
    let (offers, _) = priced();
    assert_eq!(offers[0].supplier_offer, "OFFER-SEA");
    assert_eq!(offers[0].total, 46050);
    assert_eq!(offers[1].supplier_offer, "OFFER-GARDEN");
    assert_eq!(offers[1].total, 35001);
    assert_eq!(offers[1].rooms[1].total, 17001);
}

#[test]
fn unusable_offers_are_left_out_and_logged() {
    let (offers, gateway) = priced();
    assert_eq!(offers.len(), 2);
    let logged = gateway.logs();
    assert_eq!(logged.len(), 1);
    assert!(
        logged[0].1.starts_with("3 offers left out"),
        "{}",
        logged[0].1
    );
}

#[test]
fn only_fees_not_included_are_due_at_property() {
    let (offers, _) = priced();
    assert_eq!(offers[0].rooms[0].due_at_property, None);
    let due = Money::new(1350, "EUR");
    assert_eq!(offers[0].rooms[1].due_at_property, Some(due));
}

#[test]
fn offer_policy_merges_policies_of_all_rooms() {
    let (offers, _) = priced();
    let policy = &offers[0].policy;
    let at = |text| time::parse_timestamp(text).unwrap();
    let steps: Vec<_> = policy
        .penalties
        .iter()
        .map(|penalty| (penalty.start, penalty.amount))
        .collect();
    assert_eq!(
        steps,
        [
            (at("2027-05-20 10:00:00"), 5000),
            (at("2027-05-25 10:00:00"), 30010),
            (at("2027-05-27 10:00:00"), 46050),
        ]
    );
    assert!(policy.refundable);
    assert_eq!(policy.free_until, Some(at("2027-05-20 10:00:00") - 1));
    assert!(
        !offers[1].policy.refundable,
        "one of its rooms is not refundable"
    );
    assert!(offers[1].rooms[1].policy.refundable);
}

#[test]
fn each_promotion_is_listed_once_with_its_rooms() {
    let (offers, _) = priced();
    let promotions: Vec<_> = offers[0]
        .promotions
        .iter()
        .map(|promotion| {
            let text = promotion.description.as_deref();
            (
                promotion.name.as_str(),
                text,
                promotion.amount,
                promotion.room_positions.as_slice(),
            )
        })
        .collect();
    assert_eq!(
        promotions,
        [
            ("Stay longer", None, Some(1250), [0, 1].as_slice()),
            ("Early bird", Some("15 %"), None, [0].as_slice()),
        ]
    );
}

#[test]
fn unknown_board_keeps_its_name() {
    let (offers, _) = priced();
    assert_eq!(offers[1].rooms[0].board, Board::RoomOnly);
    assert_eq!(offers[1].rooms[0].board_name, "Room only");
    assert_eq!(offers[1].rooms[1].board, Board::Other);
    assert_eq!(offers[1].rooms[1].board_name, "Kosher board");
}

#[test]
fn offers_have_no_expiry() {
    let (offers, _) = priced();
    assert!(offers.iter().all(|offer| offer.expires_at.is_none()));
}

#[test]
fn offers_beyond_limit_are_truncated() {
    let gateway = ask::responding_with("rates.json");
    let mut request = ask::price_request();
    request.max_offers_per_hotel = 1;
    let response = gateway.run(|| NuiteeHotels::price(request)).unwrap();
    let ids: Vec<_> = response.hotels[0]
        .offers
        .iter()
        .map(|offer| &offer.supplier_offer)
        .collect();
    assert_eq!(ids, ["OFFER-SEA"]);
}

#[test]
fn prices_in_another_currency_are_unreadable() {
    let other = ask::fixture("rates.json").replace(
        r#""total": [{"amount": 250.1, "currency": "EUR"}]"#,
        r#""total": [{"amount": 250.1, "currency": "USD"}]"#,
    );
    let response = price(&MockGateway::new().respond_with(200, other));
    assert_eq!(outcome(&response), InvalidResponse, "{response:?}");
}

#[test]
fn member_rates_are_requested_and_marked_with_membership() {
    let gateway = ask::responding_with("rates.json")
        .settings(r#"{"loyalty_program": "HH", "loyalty_membership": "M-1"}"#);
    let response = price(&gateway).unwrap();
    let body = gateway.request_json(0);
    assert_eq!(body["loyaltyProgram"], "HH");
    assert_eq!(
        body["loyaltyProgramDetails"],
        json!([{"programId": "HH", "membershipId": "M-1"}])
    );
    let offers = &response.hotels[0].offers;
    assert_eq!(offers[0].loyalty, None);
    assert_eq!(offers[2].supplier_offer, "OFFER-MEMBERS");
    let loyalty = offers[2].loyalty.as_ref().unwrap();
    assert_eq!(loyalty.program, "HH");
    assert_eq!(loyalty.membership_number.as_deref(), Some("M-1"));
}

#[test]
fn no_availability_returns_no_hotels_in_every_form() {
    let forms = [
        (204, ""),
        (
            200,
            r#"{"error": {"code": 2001, "message": "no availability found"}}"#,
        ),
        (
            404,
            r#"{"error": {"code": 2001, "message": "no availability found"}}"#,
        ),
        (200, r#"{"data": [], "sandbox": true}"#),
        (200, r#"{"data": null}"#),
    ];
    for (status, body) in forms {
        let response = price(&MockGateway::new().respond_with(status, body)).unwrap();
        assert!(response.hotels.is_empty(), "{status} {body}");
    }
}

#[test]
fn malformed_response_is_unreadable() {
    for body in [
        "<html>",
        "{\"data\": [",
        "{\"data\": 5}",
        "[]",
        "{\"data\": [{}]}",
    ] {
        let response = price(&MockGateway::new().respond_with(200, body));
        assert_eq!(outcome(&response), InvalidResponse, "{body}: {response:?}");
    }
}

#[test]
fn offer_with_fees_in_two_currencies_is_left_out() {
    let with_fee = |currency: &str, both: bool| {
        let fee = r#""description": "Beach fee", "amount": 10, "currency": "EUR""#;
        let mut document = ask::fixture("rates.json").replace(fee, &fee.replace("EUR", currency));
        if both {
            let tax = r#""description": "City tax", "amount": 3.5, "currency": "EUR""#;
            document = document.replace(tax, &tax.replace("EUR", currency));
        }
        price(&MockGateway::new().respond_with(200, document))
            .unwrap()
            .hotels
            .remove(0)
            .offers
    };
    assert_eq!(with_fee("HRK", false)[0].supplier_offer, "OFFER-GARDEN");
    let offers = with_fee("JPY", true);
    let due = Money::new(14, "JPY");
    assert_eq!(offers[0].rooms[1].due_at_property, Some(due));
}
