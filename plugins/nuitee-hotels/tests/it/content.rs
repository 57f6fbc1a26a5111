//! Details, reviews, places, weather and prices.

use nuitee_hotels::NuiteeHotels;
use stopover_sdk::hotel_places::{Place, PlaceQuery};
use stopover_sdk::http::{Error, Response};
use stopover_sdk::testing::Outcome::{Failed, NotFound, Rejected};
use stopover_sdk::testing::{MockGateway, outcome};
use stopover_sdk::types::Location;
use stopover_sdk::{HotelContent, HotelPlaces, HotelPriceCalendar, HotelWeather, ReadError};

use crate::ask;

#[test]
fn hotel_details_are_plain_text_without_invented_data() {
    let gateway = ask::responding_with("hotel.json");
    let details = gateway
        .run(|| NuiteeHotels::read_details("lpown1".to_owned()))
        .unwrap();
    assert_eq!(details.name, "Harbour & Sons");
    assert_eq!(
        details.description.as_deref(),
        Some("By the sea\nQuiet rooms.")
    );
    assert_eq!(details.star_rating, Some(4.0));
    assert_eq!(details.guest_rating, Some(8.1));
    assert_eq!(details.review_count, Some(120));
    assert_eq!(details.country.as_deref(), Some("HR"));
    assert_eq!(details.postal_code.as_deref(), Some("22000"));
    assert_eq!(details.region, None);
    assert_eq!(details.time_zone, None);
    assert_eq!(details.phone, None);
    assert_eq!(details.email.as_deref(), Some("front@harbour.example"));
    assert_eq!(details.check_in_from.as_deref(), Some("14:00"));
    assert_eq!(details.check_out_until.as_deref(), Some("11:00"));
    assert_eq!(details.amenities, ["Pool", "Bar"]);
    let urls: Vec<_> = details
        .images
        .iter()
        .map(|image| image.url.as_str())
        .collect();
    assert_eq!(
        urls,
        ["https://img.example/1.jpg", "https://img.example/2hd.jpg"]
    );
    assert_eq!(details.images[1].caption.as_deref(), Some("Pool"));
    let policies: Vec<_> = details
        .policies
        .iter()
        .map(|policy| (policy.name.as_str(), policy.text.as_str()))
        .collect();
    assert_eq!(
        policies,
        [
            ("Internet", "Free of charge."),
            ("Important information", "Bring an identity card."),
        ]
    );
    assert_eq!(details.rooms[0].description.as_deref(), Some("Bright"));
    assert_eq!(
        details.rooms[0].images[0].url,
        "https://img.example/rhd.jpg"
    );
    assert_eq!(details.rooms[1].max_occupancy, None);
    assert_eq!(details.rooms[1].description, None);
}

#[test]
fn missing_hotel_is_not_found() {
    for (status, body) in [
        (204, ""),
        (200, r#"{"data": null}"#),
        (200, r#"{"data": {}}"#),
        (404, "{}"),
    ] {
        let gateway = MockGateway::new().respond_with(status, body);
        let details = gateway.run(|| NuiteeHotels::read_details("lpx".to_owned()));
        assert_eq!(outcome(&details), NotFound, "{status} {body}: {details:?}");
    }
}

#[test]
fn reviews_are_newest_first_without_names() {
    let gateway = ask::responding_with("reviews.json");
    let reviews = gateway
        .run(|| NuiteeHotels::read_reviews("lpown1".to_owned(), 2))
        .unwrap();
    assert_eq!((reviews.count, reviews.average), (41, None));
    assert_eq!(reviews.items.len(), 2);
    assert_eq!(reviews.items[0].title.as_deref(), Some("Great"));
    assert_eq!(
        reviews.items[0].traveller_type.as_deref(),
        Some("solo traveller")
    );
    assert_eq!(reviews.items[1].traveller_type.as_deref(), Some("couples"));
    assert_eq!(reviews.items[1].rating, Some(6.5));
    assert_eq!(reviews.items[1].cons.as_deref(), None);
    assert_eq!(reviews.items[1].pros.as_deref(), Some("View"));
    assert!(!format!("{reviews:?}").contains("Canary"));
    let url = &gateway.requests()[0].url;
    assert!(
        url.ends_with("/data/reviews?hotelId=lpown1&limit=2"),
        "{url}"
    );
}

fn places(
    gateway: &MockGateway,
    country: Option<&str>,
    limit: u16,
) -> Result<Vec<Place>, ReadError> {
    let query = PlaceQuery {
        text: "Port Example".to_owned(),
        country: country.map(str::to_owned),
        language: Some("en".to_owned()),
        limit,
    };
    gateway.run(|| NuiteeHotels::find_places(query))
}

#[test]
fn place_has_details_and_alternatives() {
    let gateway = ask::responding_with("places.json").respond_with(200, ask::fixture("place.json"));
    let found = places(&gateway, None, 1).unwrap();
    assert_eq!(found.len(), 1);
    let place = &found[0];
    assert_eq!(place.supplier_place_id, "pl/1");
    assert_eq!(place.address, "Port Example, Croatia");
    assert_eq!(place.country.as_deref(), Some("HR"));
    assert_eq!(place.city.as_deref(), Some("Port Example"));
    assert_eq!(place.types, ["locality", "political"]);
    assert_eq!(place.alternatives[0].name, "Port Example Marina");
    let radius = place.suggested_radius.unwrap();
    assert!((4_000.0..5_000.0).contains(&radius), "{radius}");
    let requests = gateway.requests();
    assert_eq!(
        requests[0].url,
        "https://api.liteapi.travel/v3.0/data/places?textQuery=Port%20Example&language=en"
    );
    assert_eq!(
        requests[1].url,
        "https://api.liteapi.travel/v3.0/data/places/pl%2F1?language=en"
    );
}

#[test]
fn places_of_other_countries_and_with_failed_details_are_left_out() {
    let gateway = ask::responding_with("places.json")
        .respond_with(200, ask::fixture("place.json"))
        .respond_with(200, ask::fixture("place.json"));
    assert_eq!(places(&gateway, Some("FR"), 5).unwrap().len(), 0);

    let gateway = ask::responding_with("places.json")
        .fail_with(Error::ConnectionLost("x".into()))
        .respond_with(200, ask::fixture("place.json"));
    let found = places(&gateway, Some("HR"), 5).unwrap();
    assert_eq!(found[0].supplier_place_id, "pl2");

    let gateway = ask::responding_with("places.json")
        .respond_with(500, "")
        .respond_with(500, "");
    let found = places(&gateway, None, 5);
    assert_eq!(outcome(&found), Failed, "{found:?}");
}

#[test]
fn error_wrapped_in_value_is_error_with_any_status() {
    let wrapped = r#"{"value": {"error": {"code": 4002, "message": "required request field is missing or wrong input"}}}"#;
    for status in [200, 400] {
        let found = places(&MockGateway::new().respond_with(status, wrapped), None, 5);
        assert_eq!(outcome(&found), Rejected("invalid"), "{status}: {found:?}");
    }
}

#[test]
fn both_forms_of_weather_are_read_for_requested_days() {
    let gateway = ask::responding_with("weather.json");
    let at = Location {
        latitude: 43.735,
        longitude: 15.889,
    };
    let days = gateway
        .run(|| NuiteeHotels::forecast(at, "2027-06-01".to_owned(), "2027-06-03".to_owned()))
        .unwrap();
    let dates: Vec<_> = days.iter().map(|day| day.date.as_str()).collect();
    assert_eq!(
        dates,
        ["2027-06-01", "2027-06-02"],
        "the array beside `data` contains other days"
    );
    assert_eq!(days[0].summary.as_deref(), Some("Clear, then clouds: warm"));
    assert_eq!(days[0].conditions[0].description, "clear sky");
    assert_eq!(days[0].temperature_min, Some(17.5));
    assert_eq!(days[0].humidity_percent, Some(55.0));
    assert_eq!(days[0].precipitation_probability, Some(0.1));
    assert_eq!(days[1].afternoon_humidity_percent, Some(61.2));
    assert_eq!(days[1].maximum_wind_speed_mps, Some(7.2));
    assert_eq!(days[1].precipitation_total_mm, Some(0.4));
    assert_eq!(days[1].humidity_percent, None);
    let url = &gateway.requests()[0].url;
    let query =
        "latitude=43.735&longitude=15.889&startDate=2027-06-01&endDate=2027-06-03&units=metric";
    assert!(url.ends_with(query), "{url}");

    let gateway = MockGateway::new().respond_with(204, "");
    let none = gateway
        .run(|| NuiteeHotels::forecast(at, "2027-06-01".to_owned(), "2027-06-03".to_owned()));
    assert_eq!(none, Ok(vec![]));
}

#[test]
fn calendar_prices_are_us_cents_of_requested_hotels_and_days() {
    let read = |gateway: &MockGateway| {
        let ids = vec![
            "lpown1".to_owned(),
            "lpown2".to_owned(),
            "lpown3".to_owned(),
        ];
        gateway.run(|| {
            NuiteeHotels::read_prices(ids, "2027-06-01".to_owned(), "2027-06-08".to_owned())
        })
    };
    let gateway = ask::responding_with("prices.json");
    let hotels = read(&gateway).unwrap();
    let ids: Vec<_> = hotels
        .iter()
        .map(|hotel| hotel.supplier_hotel_id.as_str())
        .collect();
    assert_eq!(ids, ["lpown1", "lpown2"]);
    let prices: Vec<_> = hotels[0]
        .prices
        .iter()
        .map(|day| (day.date.as_str(), day.average_nightly))
        .collect();
    assert_eq!(prices, [("2027-06-01", 10700), ("2027-06-02", 13150)]);
    let url = &gateway.requests()[0].url;
    let query = "hotelIds=lpown1%2Clpown2%2Clpown3&fromDate=2027-06-01&toDate=2027-06-08";
    assert!(url.ends_with(query), "{url}");

    let limited = Response::new(429, r#"{"error": {"code": 4290, "message": "rate limit"}}"#);
    let limited = MockGateway::new().respond(limited.with_header("Retry-After", "17"));
    assert_eq!(read(&limited), Err(ReadError::RateLimited(Some(17))));
}
