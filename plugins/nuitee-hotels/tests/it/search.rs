//! Search in an area.

use nuitee_hotels::NuiteeHotels;
use serde_json::{Value, json};
use stopover_sdk::HotelSearch;
use stopover_sdk::hotel_search::{
    AppliedFilters, Area, Filters, SearchRequest, SearchResponse, Sort,
};
use stopover_sdk::testing::Outcome::{Failed, InvalidResponse};
use stopover_sdk::testing::{MockGateway, outcome};
use stopover_sdk::types::{Board, Location};

use crate::ask;

/// Returns a search for one room.
fn request() -> SearchRequest {
    let mut stay = ask::stay();
    stay.occupancies.truncate(1);
    SearchRequest {
        area: Area {
            center: Location {
                latitude: 43.735,
                longitude: 15.889,
            },
            radius_m: 20_000,
            supplier_place_id: None,
        },
        stay,
        filters: Filters::default(),
        sort: Sort::Distance,
        limit: 20,
    }
}

/// Creates a mock gateway with the rates of the area, and the location of the hotel whose rates
/// have none.
fn gateway() -> MockGateway {
    ask::fixtures(&["area.json", "hotels.json"])
}

fn search(change: impl FnOnce(&mut SearchRequest)) -> (SearchResponse, MockGateway) {
    let gateway = gateway();
    let mut request = request();
    change(&mut request);
    let response = gateway.run(|| NuiteeHotels::search(request)).unwrap();
    (response, gateway)
}

fn ids(response: &SearchResponse) -> Vec<&str> {
    let hotels = response.hotels.iter();
    hotels
        .map(|hotel| hotel.supplier_hotel_id.as_str())
        .collect()
}

#[test]
fn hotels_have_lowest_total_and_are_sorted_by_distance() {
    let (response, gateway) = search(|_| ());
    assert_eq!(ids(&response), ["lpnear", "lpmid", "lpfar"]);
    let near = &response.hotels[0];
    assert_eq!((near.lowest_total, &near.main_image), (Some(9000), &None));
    assert_eq!(
        (near.star_rating, near.guest_rating),
        (Some(3.0), Some(9.2))
    );
    // The rating 0 is a missing one, and the last location is looked up.
    assert_eq!(response.hotels[1].guest_rating, None);
    assert_eq!(response.hotels[2].location.latitude, 43.9);
    assert!(!response.truncated);
    assert_eq!(response.applied, AppliedFilters::all());

    let body = gateway.request_json(0);
    assert_eq!(body["latitude"], 43.735);
    assert_eq!(body["radius"], 20_000);
    assert_eq!(body["maxRatesPerHotel"], 3);
    assert_eq!(body["placeId"], serde_json::Value::Null);
    let sent = "GET api.liteapi.travel/v3.0/data/hotels?hotelIds=lpfar%2Clpnowhere";
    assert_eq!(ask::sent(&gateway)[1], sent);
}

#[test]
fn lowest_total_is_that_of_the_cheapest_rate_that_is_no_package_rate() {
    let mut area: Value = serde_json::from_str(&ask::fixture("area.json")).unwrap();
    let near = area["data"][1]["roomTypes"].as_array_mut().unwrap();
    let mut package = near[0].clone();
    package["rateType"] = json!("package");
    for amount in ["/offerRetailRate", "/rates/0/retailRate/total/0"] {
        package.pointer_mut(amount).unwrap()["amount"] = json!(10);
    }
    near.insert(0, package);
    let gateway = MockGateway::new()
        .respond_with(200, area.to_string())
        .respond_with(200, ask::fixture("hotels.json"));
    let response = gateway.run(|| NuiteeHotels::search(request())).unwrap();
    assert_eq!(ids(&response), ["lpnear", "lpmid", "lpfar"]);
    assert_eq!(response.hotels[0].lowest_total, Some(9000));
}

#[test]
fn every_sort_order_and_limit_is_applied() {
    let cases = [
        (Sort::Total, ["lpfar", "lpnear"]),
        (Sort::GuestRating, ["lpnear", "lpfar"]),
        (Sort::StarRating, ["lpmid", "lpnear"]),
        (Sort::Distance, ["lpnear", "lpmid"]),
    ];
    for (sort, expected) in cases {
        let (response, _) = search(|request| {
            request.sort = sort;
            request.limit = 2;
        });
        assert_eq!(ids(&response), expected, "{sort:?}");
        assert!(response.truncated);
    }
}

#[test]
fn every_filter_is_applied() {
    type Case<'a> = (fn(&mut Filters), &'a [&'a str]);
    let cases: [Case<'_>; 6] = [
        (
            |filters| filters.min_star_rating = Some(4.0),
            &["lpmid", "lpfar"],
        ),
        (|filters| filters.min_guest_rating = Some(8.0), &["lpnear"]),
        (
            |filters| filters.refundable = Some(true),
            &["lpnear", "lpmid"],
        ),
        (
            |filters| filters.boards = vec![Board::BedAndBreakfast],
            &["lpnear", "lpmid"],
        ),
        (
            |filters| filters.max_total = Some(9000),
            &["lpnear", "lpfar"],
        ),
        (
            |filters| filters.boards = vec![Board::Other],
            &["lpnear", "lpmid", "lpfar"],
        ),
    ];
    for (change, expected) in cases {
        let mut filters = Filters::default();
        change(&mut filters);
        let is_other_board = filters.boards == [Board::Other];
        let (response, _) = search(|request| request.filters = filters.clone());
        assert_eq!(ids(&response), expected, "{filters:?}");
        let applies_boards = response.applied.contains(AppliedFilters::BOARDS);
        assert_eq!(applies_boards, !is_other_board, "{filters:?}");
    }
}

#[test]
fn supported_filters_are_sent_to_supplier() {
    let (_, gateway) = search(|request| {
        request.area.supplier_place_id = Some("pl/1".to_owned());
        request.filters.boards = vec![Board::RoomOnly, Board::BedAndBreakfast];
        request.filters.refundable = Some(true);
        request.filters.min_star_rating = Some(4.2);
    });
    let body = gateway.request_json(0);
    assert_eq!(body["placeId"], "pl/1");
    assert_eq!(body.get("latitude"), None);
    assert_eq!(body["boardType"], "RO,BB,BB1,BB2,BI");
    assert_eq!(body["refundableRatesOnly"], true);
    assert_eq!(body["starRating"], serde_json::json!([4.5, 5.0]));
}

#[test]
fn prices_in_another_currency_are_unreadable() {
    let other = ask::fixture("area.json").replace("\"EUR\"", "\"USD\"");
    let hotels = ask::fixture("hotels.json");
    let gateway = MockGateway::with_responses(&[(200, &other), (200, &hotels)]);
    let response = gateway.run(|| NuiteeHotels::search(request()));
    assert_eq!(outcome(&response), InvalidResponse, "{response:?}");
}

#[test]
fn hotels_with_location_are_found_if_others_cannot_be_located() {
    let area = ask::fixture("area.json");
    for located in [(500, ""), (200, "{}"), (200, r#"{"data": [5]}"#)] {
        let gateway = MockGateway::with_responses(&[(200, &area), located]);
        let response = gateway.run(|| NuiteeHotels::search(request())).unwrap();
        assert_eq!(ids(&response), ["lpnear", "lpmid"], "{located:?}");
    }
    let mut document: serde_json::Value = serde_json::from_str(&area).unwrap();
    for hotel in document["hotels"].as_array_mut().unwrap() {
        hotel["latitude"] = serde_json::Value::Null;
    }
    let area = document.to_string();
    let gateway = MockGateway::with_responses(&[(200, &area), (500, "")]);
    let response = gateway.run(|| NuiteeHotels::search(request()));
    assert_eq!(outcome(&response), Failed, "{response:?}");
}

#[test]
fn area_without_rates_returns_no_hotels() {
    let gateway = MockGateway::new().respond_with(204, "");
    let response = gateway.run(|| NuiteeHotels::search(request())).unwrap();
    assert!(response.hotels.is_empty() && !response.truncated);
}

#[test]
fn area_without_a_list_of_offers_is_unreadable() {
    let search = |hotel: Value| {
        let summary = json!({"id": "lp1", "name": "H", "latitude": 43.7, "longitude": 15.9});
        let body = json!({"data": [hotel], "hotels": [summary]}).to_string();
        let gateway = MockGateway::new().respond_with(200, body);
        gateway.run(|| NuiteeHotels::search(request()))
    };
    for hotel in [
        json!({"hotelId": "lp1"}),
        json!({"hotelId": "lp1", "roomTypes": null}),
        json!({"hotelId": "lp1", "roomTypes": ""}),
    ] {
        let response = search(hotel.clone());
        assert_eq!(outcome(&response), InvalidResponse, "{hotel}: {response:?}");
    }
    let response = search(json!({"hotelId": "lp1", "roomTypes": []}));
    assert!(response.unwrap().hotels.is_empty());
}

#[test]
fn search_counts_only_offers_that_pricing_returns() {
    // For two rooms there are three offers that pricing would leave out: one of 90 for one room,
    // one of 200 for members, and one of 150 whose rooms cost 200.
    let mut request = request();
    request.stay = ask::stay();
    let response = ask::fixtures(&["rates.json"]).run(|| NuiteeHotels::search(request));
    let response = response.unwrap();
    assert_eq!(ids(&response), ["lpown1"]);
    assert_eq!(response.hotels[0].lowest_total, Some(35001));
}
