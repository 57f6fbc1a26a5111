//! Tests of the example's mapping, run natively with scripted responses.

use minimal_plugin::TinyHotels;
use stopover_sdk::HotelPricing;
use stopover_sdk::hotel_pricing::PriceRequest;
use stopover_sdk::testing::MockGateway;
use stopover_sdk::types::ReadError;
use stopover_sdk::types::hotel::{Occupancy, Stay};

fn request() -> PriceRequest {
    PriceRequest {
        supplier_hotel_ids: vec!["inn 1".to_owned()],
        stay: Stay {
            check_in: "2027-03-01".to_owned(),
            check_out: "2027-03-03".to_owned(),
            occupancies: vec![Occupancy {
                adults: 2,
                children: vec![],
            }],
            guest_nationality: "FR".to_owned(),
            guest_residence: None,
            currency: "EUR".to_owned(),
        },
        max_offers_per_hotel: 1,
    }
}

#[test]
fn rates_are_mapped_to_offers_up_to_limit() {
    let gateway = MockGateway::new().respond_with(
        200,
        r#"{"hotel_name": "Tiny Inn", "currency": "EUR", "rooms": [
            {"id": "r1", "name": "Attic", "price": 80.50},
            {"id": "r2", "name": "Cellar", "price": 60}]}"#,
    );
    let response = gateway.run(|| TinyHotels::price(request())).unwrap();
    assert_eq!(response.hotels.len(), 1);
    assert_eq!(response.hotels[0].hotel.name, "Tiny Inn");
    let offers: Vec<_> = response.hotels[0]
        .offers
        .iter()
        .map(|offer| (offer.supplier_offer.as_str(), offer.total))
        .collect();
    assert_eq!(offers, [("r1", 8050)]);
    assert_eq!(
        gateway.requests()[0].url,
        "https://api.tiny-hotels.example/rates\
         ?hotel=inn%201&from=2027-03-01&to=2027-03-03&adults=2&currency=EUR"
    );
}

#[test]
fn response_in_another_currency_is_an_error() {
    let gateway = MockGateway::new().respond_with(
        200,
        r#"{"hotel_name": "Tiny Inn", "currency": "USD", "rooms": []}"#,
    );
    let response = gateway.run(|| TinyHotels::price(request()));
    assert!(
        matches!(response, Err(ReadError::InvalidResponse(_))),
        "{response:?}"
    );
}

#[test]
fn odd_room_costs_that_room_and_is_counted() {
    let rooms = [
        r#"{"id": "r1", "name": "Attic", "price": {}}"#,
        r#"{"id": "r2", "name": "Loft", "price": 80.505}"#,
        "null",
        r#"{"id": "r3", "name": "Cellar", "price": 60}"#,
    ];
    let price = |rooms: &str| {
        let body =
            format!(r#"{{"hotel_name": "Tiny Inn", "currency": "EUR", "rooms": [{rooms}]}}"#);
        let gateway = MockGateway::new().respond_with(200, body);
        let response = gateway.run(|| TinyHotels::price(request()));
        let dropped = gateway.dropped_items();
        (
            response,
            dropped.iter().map(|(_, count)| count).sum::<u32>(),
        )
    };
    let (response, dropped) = price(&rooms.join(","));
    let offers = &response.unwrap().hotels[0].offers;
    let offers: Vec<_> = offers.iter().map(|offer| &*offer.supplier_offer).collect();
    assert_eq!((offers, dropped), (vec!["r3"], 3));
    // Otherwise the hotel would look sold out.
    let (response, _) = price(rooms[0]);
    assert!(matches!(response, Err(ReadError::InvalidResponse(_))));
}
