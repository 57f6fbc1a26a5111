//! Places, searches, content, weather and published prices.

use fake_hotels::FakeHotels;
use serde_json::{Value, json};
use stopover_sdk::hotel_places::PlaceQuery;
use stopover_sdk::hotel_price_calendar::HotelPrices;
use stopover_sdk::hotel_search::{
    AppliedFilters, Area, Filters, SearchRequest, SearchResponse, Sort,
};
use stopover_sdk::testing::Outcome::{Failed, InvalidResponse, NotFound};
use stopover_sdk::testing::{MockGateway, outcome};
use stopover_sdk::types::{Board, Location};
use stopover_sdk::{
    HotelContent, HotelPlaces, HotelPriceCalendar, HotelSearch, HotelWeather, ReadError,
};

use crate::lodge::{asked, edited, error, fixture, gateway, stay};

const CENTER: Location = Location {
    latitude: 51.755,
    longitude: -0.336,
};

fn search_request(filters: Filters) -> SearchRequest {
    SearchRequest {
        area: Area {
            center: CENTER,
            radius_m: 6_000,
            supplier_place_id: Some("lp-testville".to_owned()),
        },
        stay: stay(1),
        filters,
        sort: Sort::Distance,
        limit: 20,
    }
}

/// Creates a mock gateway that returns a fixture after some values were replaced.
fn returning(name: &str, edits: &[(&str, Value)]) -> MockGateway {
    gateway().respond_with(200, edited(name, edits))
}

fn search(gateway: &MockGateway, request: SearchRequest) -> SearchResponse {
    gateway.run(|| FakeHotels::search(request)).unwrap()
}

fn place_query() -> PlaceQuery {
    PlaceQuery {
        text: "Test & ville".to_owned(),
        country: Some("GB".to_owned()),
        language: Some("en".to_owned()),
        limit: 5,
    }
}

#[test]
fn places_are_found_by_name() {
    let gateway = returning("places", &[]);
    let places = gateway.run(|| FakeHotels::find_places(place_query()));
    let places = places.unwrap();
    let expected = "GET /lodge/v1/places?q=Test%20%26%20ville&country=GB&limit=5";
    assert_eq!(asked(&gateway), [expected]);
    let [place] = places.as_slice() else {
        panic!("{places:?}");
    };
    assert_eq!(place.supplier_place_id, "lp-testville");
    assert_eq!(place.name, "Testville");
    assert_eq!(place.address, "Testville, Hertfordshire, United Kingdom");
    assert_eq!(place.location, CENTER);
    assert_eq!(place.suggested_radius, Some(6_000.0));
    assert_eq!(place.country.as_deref(), Some("GB"));
    assert_eq!(place.city.as_deref(), Some("Testville"));
    assert_eq!(place.types, ["locality", "political"]);
    assert_eq!(place.alternatives[0].name, "Testville Abbey");
}

#[test]
fn places_beyond_limit_are_truncated() {
    let place = fixture("places")["places"][0].clone();
    let gateway = returning("places", &[("/places", json!([place, place, place]))]);
    let query = PlaceQuery {
        country: None,
        limit: 2,
        ..place_query()
    };
    let places = gateway.run(|| FakeHotels::find_places(query)).unwrap();
    assert_eq!(places.len(), 2);
    let expected = "GET /lodge/v1/places?q=Test%20%26%20ville&limit=2";
    assert_eq!(asked(&gateway), [expected]);
}

#[test]
fn search_sends_area_and_stay() {
    let gateway = returning("search", &[]);
    let response = search(&gateway, search_request(Filters::default()));
    assert_eq!(asked(&gateway), ["POST /lodge/v1/search"]);
    assert_eq!(
        gateway.request_json(0),
        json!({
            "center": {"lat": 51.755, "lng": -0.336}, "radius_m": 6000, "filters": {},
            "sort": "distance", "limit": 20, "arrive": "2027-03-01", "depart": "2027-03-03",
            "rooms": [{"adults": 2, "child_ages": [7, 0]}], "nationality": "GB", "currency": "EUR",
        })
    );
    assert_eq!(response.currency, "EUR");
    assert!(response.truncated);
    let [hotel] = response.hotels.as_slice() else {
        panic!("{response:?}");
    };
    assert_eq!(hotel.supplier_hotel_id, "MANY");
    assert_eq!(hotel.lowest_total, Some(52_000));
    assert_eq!(hotel.star_rating, Some(5.0));
    assert_eq!(hotel.guest_rating, Some(9.2));
    let image = "https://lodge.example/lodge/photos/MANY/1.svg";
    assert_eq!(hotel.main_image.as_deref(), Some(image));
}

#[test]
fn supported_filters_are_sent_and_reported_as_applied() {
    type SetFilter = fn(&mut Filters);
    let cases: [(SetFilter, Value, AppliedFilters); 8] = [
        (|_| {}, json!({}), AppliedFilters::empty()),
        (
            |filters| filters.min_star_rating = Some(4.0),
            json!({"min_stars": 4.0}),
            AppliedFilters::MIN_STAR_RATING,
        ),
        (
            |filters| filters.min_guest_rating = Some(8.5),
            json!({"min_rating": 8.5}),
            AppliedFilters::MIN_GUEST_RATING,
        ),
        (
            |filters| filters.refundable = Some(true),
            json!({"refundable": true}),
            AppliedFilters::REFUNDABLE,
        ),
        // Lodge cannot filter for non-refundable rates.
        (
            |filters| filters.refundable = Some(false),
            json!({}),
            AppliedFilters::empty(),
        ),
        (
            |filters| filters.boards = vec![Board::RoomOnly, Board::BedAndBreakfast],
            json!({"boards": ["RO", "BB"]}),
            AppliedFilters::BOARDS,
        ),
        (
            |filters| filters.boards = vec![Board::HalfBoard, Board::BedAndBreakfast],
            json!({"boards": ["BB"]}),
            AppliedFilters::BOARDS,
        ),
        (
            |filters| filters.max_total = Some(50_005),
            json!({"max_total": "500.05"}),
            AppliedFilters::MAX_TOTAL,
        ),
    ];
    for (set, expected, applied) in cases {
        let mut filters = Filters::default();
        set(&mut filters);
        let gateway = returning("search", &[]);
        let response = search(&gateway, search_request(filters));
        assert_eq!(gateway.request_json(0)["filters"], expected);
        let applied = applied | AppliedFilters::SORT;
        assert_eq!(response.applied, applied, "{expected}");
    }
}

#[test]
fn unsupported_board_finds_nothing_without_request() {
    let gateway = gateway();
    let filters = Filters {
        boards: vec![Board::AllInclusive],
        ..Filters::default()
    };
    let response = search(&gateway, search_request(filters));
    assert!(response.hotels.is_empty() && !response.truncated);
    assert!(response.applied.contains(AppliedFilters::BOARDS));
    assert!(gateway.requests().is_empty());
}

#[test]
fn every_sort_order_is_converted() {
    for (sort, expected) in [
        (Sort::Distance, "distance"),
        (Sort::Total, "price"),
        (Sort::GuestRating, "rating"),
        (Sort::StarRating, "stars"),
    ] {
        let gateway = returning("search", &[]);
        let request = SearchRequest {
            sort,
            ..search_request(Filters::default())
        };
        search(&gateway, request);
        assert_eq!(gateway.request_json(0)["sort"], expected);
    }
}

#[test]
fn hotel_without_price_has_no_lowest_total() {
    let edits = [
        ("/hotels/0/price_from", Value::Null),
        ("/more", json!(false)),
    ];
    let request = search_request(Filters::default());
    let response = search(&returning("search", &edits), request);
    assert_eq!(response.hotels[0].lowest_total, None);
    assert!(!response.truncated);
}

#[test]
fn hotel_details_are_plain_text() {
    let gateway = returning("details", &[]);
    let details = gateway.run(|| FakeHotels::read_details("O/K".to_owned()));
    let details = details.unwrap();
    assert_eq!(asked(&gateway), ["GET /lodge/v1/hotels/O%2FK"]);
    assert_eq!(details.name, "The Market Square Hotel");
    let description = "The Market Square Hotel stands in the middle of Testville.\n\
                       Quiet rooms, good coffee & a garden.";
    assert_eq!(details.description.as_deref(), Some(description));
    assert_eq!(details.star_rating, Some(4.0));
    assert_eq!(details.review_count, Some(5));
    assert_eq!(details.address_line.as_deref(), Some("1 Market Square"));
    assert_eq!(details.postal_code.as_deref(), Some("TV1 2AB"));
    assert_eq!(details.country.as_deref(), Some("GB"));
    assert_eq!(details.time_zone.as_deref(), Some("Europe/London"));
    assert_eq!(details.check_in_from.as_deref(), Some("14:00"));
    assert_eq!(details.images.len(), 3);
    assert_eq!(details.images[0].width, Some(1_200));
    assert_eq!(details.policies[0].name, "Pets");
    let family = &details.rooms[2];
    assert_eq!(family.name, "Family room");
    assert_eq!(family.max_occupancy, Some(4));
}

#[test]
fn missing_hotel_details_are_none() {
    let edits = [
        ("/description", json!("<p></p>")),
        ("/stars", Value::Null),
        ("/postal/region", json!("")),
        ("/phone", Value::Null),
        ("/images/0/caption", json!("")),
    ];
    let gateway = returning("details", &edits);
    let details = gateway.run(|| FakeHotels::read_details("OK".to_owned()));
    let details = details.unwrap();
    assert_eq!(details.description, None);
    assert_eq!(details.star_rating, None);
    assert_eq!(details.region, None);
    assert_eq!(details.phone, None);
    assert_eq!(details.images[0].caption, None);
}

#[test]
fn reviews_have_no_author_names() {
    let gateway = returning("reviews", &[]);
    let reviews = gateway.run(|| FakeHotels::read_reviews("MANY".to_owned(), 1));
    let reviews = reviews.unwrap();
    let request = "GET /lodge/v1/hotels/MANY/reviews?limit=1";
    assert_eq!(asked(&gateway), [request]);
    assert_eq!((reviews.average, reviews.count), (Some(9.2), 30));
    let [review] = reviews.items.as_slice() else {
        panic!("{reviews:?}");
    };
    assert_eq!(review.title.as_deref(), Some("Lovely stay"));
    assert_eq!(review.rating, Some(9.0));
    assert_eq!(review.stayed_on.as_deref(), Some("2026-11-04"));
    let author = fixture("reviews")["reviews"][0]["author"].clone();
    assert!(!format!("{reviews:?}").contains(author.as_str().unwrap()));
}

#[test]
fn failed_or_unknown_content_returns_specific_error() {
    let down = gateway().respond_with(500, error("SUPPLIER_FAILURE"));
    let reviews = down.run(|| FakeHotels::read_reviews("CONTENT_DOWN".to_owned(), 5));
    assert_eq!(outcome(&reviews), Failed, "{reviews:?}");
    let unknown = gateway().respond_with(404, error("NOT_FOUND"));
    let details = unknown.run(|| FakeHotels::read_details("NOPE".to_owned()));
    assert_eq!(outcome(&details), NotFound, "{details:?}");
}

#[test]
fn weather_days_are_fully_converted() {
    let gateway = returning("weather", &[]);
    let (start, end) = ("2026-11-20".to_owned(), "2026-11-30".to_owned());
    let days = gateway.run(|| FakeHotels::forecast(CENTER, start, end));
    let days = days.unwrap();
    let expected = "GET /lodge/v1/weather?lat=51.755&lng=-0.336&from=2026-11-20&to=2026-11-30";
    assert_eq!(asked(&gateway), [expected]);
    assert_eq!(days.len(), 10);
    let (first, last) = (&days[0], &days[9]);
    assert_eq!(first.date, "2026-11-21");
    assert_eq!(first.temperature_min, Some(2.7));
    assert_eq!(first.temperature_max, Some(11.2));
    assert_eq!(first.summary.as_deref(), Some("Grey but dry"));
    assert_eq!(first.conditions[0].description, "overcast clouds");
    assert_eq!(first.conditions[0].icon.as_deref(), Some("04d"));
    assert_eq!(first.humidity_percent, Some(66.0));
    assert_eq!(first.wind_speed_mps, Some(3.5));
    assert_eq!(first.precipitation_probability, Some(0.1));
    assert_eq!(last.humidity_percent, None);
    assert_eq!(last.wind_speed_mps, None);
    assert_eq!(last.precipitation_probability, None);
    assert_eq!(last.afternoon_humidity_percent, Some(79.0));
    assert_eq!(last.maximum_wind_speed_mps, Some(7.2));
    assert_eq!(last.precipitation_total_mm, Some(3.4));
}

#[test]
fn weather_in_other_units_is_unreadable() {
    let gateway = returning("weather", &[("/units", json!("imperial"))]);
    let days = gateway.run(|| FakeHotels::forecast(CENTER, String::new(), String::new()));
    assert_eq!(outcome(&days), InvalidResponse, "{days:?}");
}

fn prices(gateway: &MockGateway, ids: &[&str]) -> Result<Vec<HotelPrices>, ReadError> {
    let ids = ids.iter().map(|id| (*id).to_owned()).collect();
    let (start, end) = ("2027-01-01".to_owned(), "2027-01-02".to_owned());
    gateway.run(|| FakeHotels::read_prices(ids, start, end))
}

#[test]
fn published_prices_are_us_cents_in_requested_order() {
    let gateway = returning("calendar", &[]);
    let response = prices(&gateway, &["OK", "NOPE", "MANY", "A,B"]).unwrap();
    let expected = "GET /lodge/v1/calendar?hotels=OK%2CNOPE%2CMANY&from=2027-01-01&to=2027-01-02";
    assert_eq!(asked(&gateway), [expected]);
    let ids = response.iter().map(|hotel| &hotel.supplier_hotel_id);
    assert!(ids.eq(["OK", "MANY"]), "{response:?}");
    assert_eq!(response[0].prices[0].date, "2027-01-01");
    assert_eq!(response[0].prices[0].average_nightly, 10_000);
}

#[test]
fn published_prices_in_another_currency_are_unreadable() {
    let gateway = returning("calendar", &[("/currency", json!("EUR"))]);
    let response = prices(&gateway, &["OK"]);
    assert_eq!(outcome(&response), InvalidResponse, "{response:?}");
}

#[test]
fn calendar_rate_limit_is_reported() {
    let gateway = gateway().respond_with(429, error("TOO_MANY_REQUESTS"));
    assert_eq!(prices(&gateway, &["OK"]), Err(ReadError::RateLimited(None)));
}

#[test]
fn calendar_without_hotels_returns_nothing_without_request() {
    let gateway = gateway();
    assert_eq!(prices(&gateway, &["", "A,B"]), Ok(Vec::new()));
    assert!(gateway.requests().is_empty());
}

#[test]
fn odd_place_or_hotel_costs_that_item_and_is_counted() {
    let mut places = fixture("places");
    places["places"]
        .as_array_mut()
        .unwrap()
        .insert(0, json!({"id": 7}));
    let gateway = gateway().respond_with(200, places.to_string());
    let found = gateway
        .run(|| FakeHotels::find_places(place_query()))
        .unwrap();
    assert_eq!((found.len(), gateway.dropped_items().len()), (1, 1));

    let mut hotels = fixture("search");
    hotels["hotels"].as_array_mut().unwrap().push(json!(null));
    let gateway = self::gateway().respond_with(200, hotels.to_string());
    let found = gateway.run(|| FakeHotels::search(search_request(Filters::default())));
    assert_eq!(found.unwrap().hotels.len(), 1);
    assert_eq!(gateway.dropped_items().len(), 1);
}
