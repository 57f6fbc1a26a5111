//! Details, reviews, places, weather and prices.

use nuitee_hotels::NuiteeHotels;
use stopover_sdk::hotel_places::{Place, PlaceQuery};
use stopover_sdk::http::{Error, Response};
use stopover_sdk::testing::Outcome::{Failed, InvalidResponse, NotFound, Rejected};
use stopover_sdk::testing::{MockGateway, outcome};
use stopover_sdk::types::Location;
use stopover_sdk::{HotelContent, HotelPlaces, HotelPriceCalendar, HotelWeather, ReadError};

use crate::ask;

#[test]
fn hotel_details_are_plain_text_without_invented_data() {
    let details = ask::details(&ask::fixtures(&["hotel.json"])).unwrap();
    assert_eq!(details.name, "Harbour & Sons");
    let ratings = (
        details.star_rating,
        details.guest_rating,
        details.review_count,
    );
    assert_eq!(ratings, (Some(4.0), Some(8.1), Some(120)));
    for (text, expected) in [
        (&details.description, "By the sea\nQuiet rooms."),
        (&details.country, "HR"),
        (&details.postal_code, "22000"),
        (&details.email, "front@harbour.example"),
        (&details.check_in_from, "14:00"),
        (&details.check_out_until, "11:00"),
        (&details.images[1].caption, "Pool"),
        (&details.rooms[0].description, "Bright"),
    ] {
        assert_eq!(text.as_deref(), Some(expected));
    }
    let missing = [&details.region, &details.time_zone, &details.phone];
    assert_eq!(missing, [&None, &None, &None]);
    assert_eq!(details.amenities, ["Pool", "Bar"]);
    let urls = details.images.iter().chain(&details.rooms[0].images);
    let urls: Vec<_> = urls.map(|image| image.url.as_str()).collect();
    let expected =
        ["1.jpg", "2hd.jpg", "rhd.jpg"].map(|name| format!("https://img.example/{name}"));
    assert_eq!(urls, expected);
    let policies = details.policies.iter();
    let policies: Vec<_> = policies
        .map(|policy| (policy.name.as_str(), policy.text.as_str()))
        .collect();
    let internet = ("Internet", "Free of charge.");
    let important = ("Important information", "Bring an identity card.");
    assert_eq!(policies, [internet, important]);
    assert_eq!(details.rooms[1].max_occupancy, None);
    assert_eq!(details.rooms[1].description, None);
}

#[test]
fn missing_hotel_is_not_found() {
    for (status, body, expected) in [
        (204, "", NotFound),
        (404, r#"{"error": {"code": 4004}}"#, NotFound),
        (200, "", InvalidResponse),
        (200, r#"{"data": null}"#, InvalidResponse),
        (200, r#"{"data": ""}"#, InvalidResponse),
        (200, r#"{"data": {}}"#, InvalidResponse),
        (200, r#"{"data": {"id": "lpown1"}}"#, InvalidResponse),
        (404, "{}", InvalidResponse),
        (404, "<html>", InvalidResponse),
    ] {
        let details = ask::details(&MockGateway::with_responses(&[(status, body)]));
        assert_eq!(outcome(&details), expected, "{status} {body}: {details:?}");
    }
}

#[test]
fn odd_review_is_left_out_alone() {
    let read = |body: &str| {
        let gateway = MockGateway::new().respond_with(200, body);
        gateway.run(|| NuiteeHotels::read_reviews("lpown1".to_owned(), 9))
    };
    let good = r#"{"headline": "Calm", "date": "2027-01-02"}"#;
    for odd in ["5", r#"{"date": 5}"#, r#"{"date": "a", "date": "b"}"#] {
        let reviews = read(&format!(r#"{{"data": [{odd}, {good}], "total": 2}}"#)).unwrap();
        assert_eq!((reviews.count, reviews.items.len()), (2, 1), "{odd}");
        assert_eq!(reviews.items[0].title.as_deref(), Some("Calm"), "{odd}");
        let alone = read(&format!(r#"{{"data": [{odd}]}}"#));
        assert_eq!(outcome(&alone), InvalidResponse, "{odd}: {alone:?}");
    }
    for odd in [
        r#""date": null"#,
        r#""pros": "a", "pros": "b""#,
        r#""cons": []"#,
    ] {
        let body = format!(r#"{{"data": [{{{odd}, "headline": "Loud"}}, {good}]}}"#);
        assert_eq!(read(&body).unwrap().items.len(), 2, "{odd}");
    }
}

#[test]
fn reviews_are_newest_first_without_names() {
    let gateway = ask::fixtures(&["reviews.json"]);
    let reviews = gateway.run(|| NuiteeHotels::read_reviews("lpown1".to_owned(), 2));
    let reviews = reviews.unwrap();
    assert_eq!((reviews.count, reviews.average), (41, None));
    assert!(!format!("{reviews:?}").contains("Canary"));
    let [newest, second] = reviews.items.as_slice() else {
        panic!("{reviews:?}");
    };
    assert_eq!(newest.title.as_deref(), Some("Great"));
    assert_eq!(newest.traveller_type.as_deref(), Some("solo traveller"));
    assert_eq!(second.traveller_type.as_deref(), Some("couples"));
    assert_eq!(second.rating, Some(6.5));
    assert_eq!(
        (second.pros.as_deref(), &second.cons),
        (Some("View"), &None)
    );
    let sent = ["GET api.liteapi.travel/v3.0/data/reviews?hotelId=lpown1&limit=2"];
    assert_eq!(ask::sent(&gateway), sent);
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
    let gateway = ask::fixtures(&["places.json", "place.json"]);
    let found = places(&gateway, None, 1).unwrap();
    let [place] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(place.supplier_place_id, "pl/1");
    assert_eq!(place.address, "Port Example, Croatia");
    assert_eq!(place.country.as_deref(), Some("HR"));
    assert_eq!(place.city.as_deref(), Some("Port Example"));
    assert_eq!(place.types, ["locality", "political"]);
    assert_eq!(place.alternatives[0].name, "Port Example Marina");
    let radius = place.suggested_radius.unwrap();
    assert!((4_000.0..5_000.0).contains(&radius), "{radius}");
    let sent = [
        "GET api.liteapi.travel/v3.0/data/places?textQuery=Port%20Example&language=en",
        "GET api.liteapi.travel/v3.0/data/places/pl%2F1?language=en",
    ];
    assert_eq!(ask::sent(&gateway), sent);
}

#[test]
fn places_of_other_countries_and_with_failed_details_are_left_out() {
    let gateway = ask::fixtures(&["places.json", "place.json", "place.json"]);
    assert_eq!(places(&gateway, Some("FR"), 5).unwrap().len(), 0);

    let gateway = ask::fixtures(&["places.json"])
        .fail_with(Error::ConnectionLost("x".into()))
        .respond_with(200, ask::fixture("place.json"));
    let found = places(&gateway, Some("HR"), 5).unwrap();
    assert_eq!(found[0].supplier_place_id, "pl2");

    let gateway = ask::fixtures(&["places.json"]).respond_with(500, "");
    let found = places(&gateway.respond_with(500, ""), None, 5);
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
    let at = Location {
        latitude: 43.735,
        longitude: 15.889,
    };
    let forecast = |gateway: &MockGateway| {
        let (start, end) = ("2027-06-01".to_owned(), "2027-06-03".to_owned());
        gateway.run(|| NuiteeHotels::forecast(at, start, end))
    };
    let gateway = ask::fixtures(&["weather.json"]);
    let days = forecast(&gateway).unwrap();
    // The array beside `data` contains other days.
    let [detailed, daily] = days.as_slice() else {
        panic!("{days:?}");
    };
    assert_eq!([&detailed.date, &daily.date], ["2027-06-01", "2027-06-02"]);
    assert_eq!(
        detailed.summary.as_deref(),
        Some("Clear, then clouds: warm")
    );
    assert_eq!(detailed.conditions[0].description, "clear sky");
    assert_eq!(detailed.temperature_min, Some(17.5));
    assert_eq!(detailed.humidity_percent, Some(55.0));
    assert_eq!(detailed.precipitation_probability, Some(0.1));
    assert_eq!(daily.afternoon_humidity_percent, Some(61.2));
    assert_eq!(daily.maximum_wind_speed_mps, Some(7.2));
    assert_eq!(daily.precipitation_total_mm, Some(0.4));
    assert_eq!(daily.humidity_percent, None);
    let url = &gateway.requests()[0].url;
    let query =
        "latitude=43.735&longitude=15.889&startDate=2027-06-01&endDate=2027-06-03&units=metric";
    assert!(url.ends_with(query), "{url}");

    let none = forecast(&MockGateway::new().respond_with(204, ""));
    assert_eq!(none, Ok(vec![]));
}

#[test]
fn calendar_prices_are_us_cents_of_requested_hotels_and_days() {
    let read = |gateway: &MockGateway| {
        let ids = ["lpown1", "lpown2", "lpown3"].map(str::to_owned).to_vec();
        let (start, end) = ("2027-06-01".to_owned(), "2027-06-08".to_owned());
        gateway.run(|| NuiteeHotels::read_prices(ids, start, end))
    };
    let gateway = ask::fixtures(&["prices.json"]);
    let hotels = read(&gateway).unwrap();
    let ids = hotels.iter().map(|hotel| hotel.supplier_hotel_id.as_str());
    assert!(ids.eq(["lpown1", "lpown2"]));
    let prices = hotels[0].prices.iter();
    let prices: Vec<_> = prices
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
