//! Responses with an odd value: it costs only the part that it belongs to.

use nuitee_hotels::NuiteeHotels;
use serde_json::{Value, json};
use stopover_sdk::dropped::DropReason;
use stopover_sdk::hotel_booking::{BookingLookup, FindRequest};
use stopover_sdk::hotel_places::PlaceQuery;
use stopover_sdk::testing::Outcome::{InvalidResponse, Unknown};
use stopover_sdk::testing::{MockGateway, outcome, with_values};
use stopover_sdk::types::{BookingStatus, Location};
use stopover_sdk::{HotelContent, HotelPlaces, HotelPriceCalendar, HotelWeather};

use crate::ask;

fn document(fixture: &str) -> Value {
    serde_json::from_str(&ask::fixture(fixture)).unwrap()
}

/// Creates a mock gateway with a fixture in which one value is replaced.
fn odd(fixture: &str, pointer: &str, value: &Value) -> MockGateway {
    let document = with_values(document(fixture), &[(pointer, value.clone())]);
    MockGateway::new().respond_with(200, document.to_string())
}

fn dropped(gateway: &MockGateway) -> u32 {
    let counts = gateway.dropped_items();
    counts.iter().map(|(_, count)| count).sum()
}

#[test]
fn confirmed_booking_is_confirmed_whatever_its_optional_parts_are() {
    let parts = [
        "/price",
        "/currency",
        "/addonsTotalAmount",
        "/voucherTotalAmount",
        "/amountRefunded",
        "/remarks",
        "/hotelRemarks/0",
        "/mandatoryFees",
        "/bookedRooms/0/cancellationPolicies",
        "/bookedRooms/0/cancellationPolicies/cancelPolicyInfos/0/cancelTime",
        "/bookedRooms/0/cancellationPolicies/cancelPolicyInfos/0/amount",
        "/bookedRooms/1/rate",
        "/bookedRooms/1/rate/retailRate",
        "/bookedRooms/1/rate/retailRate/total",
        "/bookedRooms/1/rate/retailRate/total/amount",
        "/bookedRooms/1/rate/cancellationPolicies",
        "/bookedRooms/1",
        "/cancellationPolicies",
        "/lastFreeCancellationDate",
    ];
    for part in parts {
        for value in [json!(true), json!([[7]])] {
            let pointer = format!("/data{part}");
            let gateway = odd("booking.json", &pointer, &value);
            let booked = ask::book(&gateway).unwrap();
            assert_eq!(booked.status, BookingStatus::Confirmed, "{part} {value}");
            assert_eq!(booked.supplier_reference, "BK-OWN-1", "{part}");
            assert_eq!((booked.total, &*booked.currency), (46050, "EUR"), "{part}");
            let positions = booked.rooms.iter().map(|room| room.position);
            assert!(positions.eq([0, 1]), "{part} {value}");
            assert!(dropped(&gateway) > 0, "{part} {value}");
            let gateway = odd("booking.json", &pointer, &value);
            let found = ask::find(&gateway, Some("BK-OWN-1")).unwrap();
            let BookingLookup::Found(found) = found else {
                panic!("{part}: {found:?}");
            };
            assert_eq!(found.total, 46050, "{part} {value}");
            assert!(dropped(&gateway) > 0, "{part} {value}");
        }
    }
}

#[test]
fn price_that_is_neither_in_booking_nor_in_rooms_is_the_prebooked_one() {
    let edits = [
        ("/data/price", json!(null)),
        ("/data/bookedRooms/0/rate", json!(5)),
        ("/data/bookedRooms/1", json!(null)),
    ];
    let document = with_values(document("booking.json"), &edits).to_string();
    let gateway = || MockGateway::new().respond_with(200, &document);
    let booked = ask::book(&gateway()).unwrap();
    assert_eq!((booked.total, booked.rooms.len()), (46050, 2));
    let listed = json!({"data": [serde_json::from_str::<Value>(&document).unwrap()["data"]]});
    for (bound, is_found) in [
        (
            Some(r#"{"prebook_id":"PB-OWN-1","total":[46050,"EUR"]}"#),
            true,
        ),
        // References that were stored by earlier versions have no price.
        (Some(r#"{"prebook_id":"PB-OWN-1"}"#), false),
        (None, false),
    ] {
        for id in [Some("BK-OWN-1"), None] {
            let request = FindRequest {
                client_reference: "bkg_own_1".to_owned(),
                supplier_reference: id.map(str::to_owned),
                supplier_prebook: bound.map(str::to_owned),
            };
            let listed = MockGateway::new().respond_with(200, listed.to_string());
            let gateway = if id.is_some() { gateway() } else { listed };
            let found = ask::find_of(&gateway, request);
            match found {
                Ok(BookingLookup::Found(state)) => {
                    assert!(is_found && state.total == 46050, "{bound:?}");
                }
                found => {
                    assert!(!is_found, "{bound:?} {id:?}: {found:?}");
                    assert_eq!(outcome(&found), InvalidResponse);
                }
            }
        }
    }
}

/// The gateway rejects a booking with an amount above 10^15 minor units.
#[test]
fn price_that_the_gateway_does_not_take_is_the_agreed_one() {
    let price = ("/data/price", json!(10_000_000_000_000_u64));
    let room = |room: u8, amount: u64| {
        let pointer = format!("/data/bookedRooms/{room}/rate/retailRate/total/amount");
        (pointer, json!(amount))
    };
    // Each of these two amounts is in range, and their sum is not.
    let rooms = [room(0, 9_000_000_000_000), room(1, 9_000_000_000_000)];
    let rooms = rooms
        .each_ref()
        .map(|(pointer, amount)| (pointer.as_str(), amount.clone()));
    for edits in [vec![price.clone()], [vec![price], rooms.to_vec()].concat()] {
        let document = with_values(document("booking.json"), &edits);
        let gateway = MockGateway::new().respond_with(200, document.to_string());
        let booked = ask::book(&gateway).unwrap();
        assert_eq!(booked.status, BookingStatus::Confirmed, "{edits:?}");
        assert_eq!(
            (booked.total, &*booked.currency),
            (46050, "EUR"),
            "{edits:?}"
        );
        assert!(dropped(&gateway) > 0, "{edits:?}");
    }
    // Absurd amounts of rooms do not cost a price that is in range.
    let document = with_values(document("booking.json"), &rooms);
    assert_eq!(ask::found(&document.to_string()).total, 46050);
}

#[test]
fn repeated_field_counts_only_if_it_has_one_value() {
    let booking = ask::fixture("booking.json");
    for (field, other) in [
        (r#""status": "CONFIRMED""#, r#""status": "CANCELLED""#),
        (r#""bookingId": "BK-OWN-1""#, r#""bookingId": "BK-OWN-2""#),
        (
            r#""clientReference": "bkg_own_1""#,
            r#""clientReference": "bkg_own_2""#,
        ),
    ] {
        for (first, second, is_confirmed) in [
            (field, field, true),
            (field, other, false),
            (other, field, false),
        ] {
            let body = booking.replacen(field, &format!("{first}, {second}"), 1);
            let book = ask::book(&MockGateway::new().respond_with(200, &body));
            assert_eq!(book.is_ok(), is_confirmed, "{first} {second}");
            assert!(is_confirmed || outcome(&book) == Unknown, "{first}");
        }
    }
    let cancellation = ask::fixture("cancel.json");
    let id = r#""bookingId": "BK-OWN-1""#;
    for other in [r#""bookingId": "BK-OWN-2""#, r#""bookingId": null"#] {
        let body = cancellation.replacen(id, other, 1);
        let responses = [(200, body.as_str()), (500, "")];
        let cancel = ask::cancel(&MockGateway::with_responses(&responses));
        assert_eq!(outcome(&cancel), Unknown, "{other}");
    }
}

/// Returns a fixture in which a member is followed by another one of the same name.
fn repeated(fixture: &str, member: &str, other: &str) -> String {
    let document = ask::fixture(fixture);
    assert!(document.contains(member), "{member}");
    document.replacen(member, &format!("{member}, {other}"), 1)
}

#[test]
fn repeated_optional_field_of_a_prebook_costs_at_most_its_value() {
    for (member, other) in [
        (r#""secretKey": "pi_own_secret""#, r#""secretKey": "other""#),
        (r#""transactionId": "tr_ct_own""#, r#""transactionId": 7"#),
        (r#""name": "Twin Sea View""#, r#""name": "Twin""#),
        (r#""commission": 8.2"#, r#""commission": "x""#),
        (r#""guestLevel": 0"#, r#""guestLevel": null"#),
        (
            r#""guestLevel": 0"#,
            r#""hotels": 1, "hotels": [], "total": 1, "total": {}"#,
        ),
    ] {
        let body = repeated("prebook.json", member, other);
        let prebook = ask::prebook(&MockGateway::with_responses(&[(200, &body), (204, "")]));
        assert_eq!(prebook.unwrap().total, 46050, "{other}");
    }
}

/// Which value counts must not depend on their order.
#[test]
fn repeated_essential_field_of_a_prebook_makes_it_unknown() {
    for (member, other) in [
        (r#""prebookId": "PB-OWN-1""#, r#""prebookId": "PB-OWN-2""#),
        (r#""hotelId": "lpown1""#, r#""hotelId": "lpown2""#),
        (r#""price": 460.5"#, r#""price": 999.5"#),
        (r#""boardChanged": false"#, r#""boardChanged": true"#),
        (
            r#""cancellationChanged": false"#,
            r#""cancellationChanged": true"#,
        ),
        (
            r#""paymentTypes": ["NUITEE_PAY"]"#,
            r#""paymentTypes": ["PROPERTY_PAY"]"#,
        ),
        (r#""isPackageRate": false"#, r#""isPackageRate": true"#),
        (r#""guestLevel": 0"#, r#""data": {"boardChanged": true}"#),
    ] {
        for (first, second) in [(member, other), (other, member)] {
            let document = ask::fixture("prebook.json");
            let body = document.replacen(member, &format!("{first}, {second}"), 1);
            assert_ne!(body, document, "{member}");
            let prebook = ask::prebook(&MockGateway::with_responses(&[(200, &body), (204, "")]));
            assert_eq!(outcome(&prebook), Unknown, "{first}, {second}");
        }
    }
    let refusal = r#""error": {"code": 4010}"#;
    for other in [
        r#""error": {"code": 5000}"#,
        r#""error": "x""#,
        r#""error": {"code": 4010, "code": 5000}"#,
        r#""error": {"code": 5000, "code": 4010}"#,
    ] {
        for body in [
            format!("{{{refusal}, {other}}}"),
            format!("{{{other}, {refusal}}}"),
        ] {
            let prebook = ask::prebook(&MockGateway::with_responses(&[(400, &body), (204, "")]));
            assert_eq!(outcome(&prebook), Unknown, "{body}");
        }
    }
}

#[test]
fn repeated_field_of_rates_costs_at_most_its_offer() {
    let offers = |gateway: &MockGateway| {
        let hotels = ask::price(gateway).unwrap().hotels;
        hotels.iter().map(|hotel| hotel.offers.len()).sum::<usize>()
    };
    let all = offers(&ask::fixtures(&["rates.json"]));
    for (member, other, lost) in [
        (r#""rateId": "R-2""#, r#""boardName": "x""#, 0),
        (r#""offerId": "OFFER-SEA""#, r#""offerId": "OFFER-SEA""#, 1),
        (
            r#""rateId": "R-2""#,
            r#""retailRate": {"total": [{"amount": 1, "currency": "EUR"}]}"#,
            1,
        ),
        (r#""rateType": "standard""#, r#""rateType": "standard""#, 1),
        (
            r#""rateId": "R-2""#,
            r#""paymentTypes": ["PROPERTY_PAY"], "paymentTypes": ["NUITEE_PAY"]"#,
            1,
        ),
        (r#""hotels": ["#, r#"{"id": "a", "id": "b"}"#, 0),
    ] {
        let document = ask::fixture("rates.json");
        let separator = if member.ends_with('[') {
            other.to_owned() + ","
        } else {
            String::from(", ") + other
        };
        let body = document.replacen(member, &format!("{member}{separator}"), 1);
        let gateway = MockGateway::new().respond_with(200, body);
        assert_eq!(offers(&gateway), all - lost, "{other}");
    }
}

#[test]
fn booking_is_found_beside_odd_ones() {
    let mut document = document("bookings.json");
    let list = document["data"].as_array_mut().unwrap();
    let odd = json!({"bookingId": {}, "clientReference": 7, "price": []});
    list.splice(0..0, [Value::Null, json!(5), odd]);
    let body = document.to_string();
    let found = ask::find(&MockGateway::new().respond_with(200, &body), None).unwrap();
    let BookingLookup::Found(state) = found else {
        panic!("{found:?}");
    };
    assert_eq!(state.supplier_reference, "BK-OWN-1");
}

/// Absence is proof, so an item that may be the booking must not be overlooked.
#[test]
fn list_with_odd_item_does_not_prove_absence() {
    let other = json!({"bookingId": "BK-2", "clientReference": "BKG_OWN_1"});
    for item in [json!(null), json!(5), json!({"bookingId": "BK-OWN-1"})] {
        let body = json!({"data": [other, item]}).to_string();
        let found = ask::find(&MockGateway::new().respond_with(200, body), None);
        assert_eq!(outcome(&found), InvalidResponse, "{item}: {found:?}");
    }
    let body = json!({"data": [other]}).to_string();
    let found = ask::find(&MockGateway::new().respond_with(200, body), None);
    assert_eq!(found, Ok(BookingLookup::NotFound));
}

#[test]
fn odd_part_of_hotel_content_is_left_out_alone() {
    let parts = [
        "/checkinCheckoutTimes",
        "/hotelImages",
        "/hotelImages/1",
        "/hotelImages/1/url",
        "/location",
        "/location/latitude",
        "/hotelFacilities/0",
        "/rooms/0",
        "/rooms/0/photos",
        "/rooms/0/photos/0",
        "/policies",
        "/policies/0",
    ];
    for part in parts {
        // The fixture has an image without a URL.
        let gateway = odd("hotel.json", &format!("/data{part}"), &json!("?"));
        let details = ask::details(&gateway).unwrap();
        assert_eq!(details.name, "Harbour & Sons", "{part}");
        assert_eq!(details.city.as_deref(), Some("Port Example"), "{part}");
    }
    let gateway = odd("hotel.json", "/data/hotelImages/1", &json!(5));
    ask::details(&gateway).unwrap();
    let expected = [(DropReason::Unreadable, 1), (DropReason::MissingValue, 1)];
    assert_eq!(gateway.dropped_items(), expected);
}

#[test]
fn odd_day_of_weather_is_left_out_alone() {
    let forecast = |gateway: &MockGateway| {
        let at = Location {
            latitude: 43.735,
            longitude: 15.889,
        };
        let (start, end) = ("2027-06-01".to_owned(), "2027-06-03".to_owned());
        gateway.run(|| NuiteeHotels::forecast(at, start, end))
    };
    for (part, days) in [
        ("/0/dailyWeather", 1),
        ("/0/dailyWeather/date", 1),
        ("/0/dailyWeather/humidity", 2),
        ("/0/dailyWeather/wind/max", 2),
        ("/0/dailyWeather/temperature", 2),
        ("/0", 1),
        ("/2/detailedWeatherData", 2),
        ("/2/detailedWeatherData/daily/0", 2),
        ("/2/detailedWeatherData/daily/0/weather", 2),
        ("/2/detailedWeatherData/daily/0/weather/0", 2),
    ] {
        let pointer = format!("/data/0/weatherData{part}");
        let gateway = odd("weather.json", &pointer, &json!(7));
        assert_eq!(forecast(&gateway).unwrap().len(), days, "{part}");
        assert_eq!(dropped(&gateway), 1, "{part}");
    }
    let weather = |data: Value| json!([{"weatherData": data}]);
    for data in [
        json!([{}]),
        json!([null]),
        json!(""),
        weather(json!(null)),
        weather(json!("")),
        weather(json!([5])),
        weather(json!([{}])),
        weather(json!([{"detailedWeatherData": null, "dailyWeather": null}])),
        weather(json!([{"detailedWeatherData": {}}])),
        weather(json!([{"detailedWeatherData": ""}])),
        weather(json!([{"detailedWeatherData": {"daily": null}}])),
        weather(json!([{"detailedWeatherData": {"daily": ""}}])),
        weather(json!([{"detailedWeatherData": {"daily": [null]}}])),
        weather(json!([{"dailyWeather": {}}])),
    ] {
        let body = json!({"data": data}).to_string();
        let days = forecast(&MockGateway::new().respond_with(200, body));
        assert_eq!(outcome(&days), InvalidResponse, "{data}: {days:?}");
    }
    // Each of these lists is empty, which says that there is no forecast.
    for data in [
        json!([]),
        weather(json!([])),
        weather(json!([{"detailedWeatherData": {"daily": []}}])),
    ] {
        let gateway = MockGateway::new().respond_with(200, json!({"data": data}).to_string());
        assert_eq!(forecast(&gateway), Ok(vec![]), "{data}");
        assert_eq!(dropped(&gateway), 0, "{data}");
    }
}

#[test]
fn odd_day_of_price_calendar_is_left_out_alone() {
    let read = |gateway: &MockGateway| {
        let ids = vec!["lpown1".to_owned()];
        let (start, end) = ("2027-06-01".to_owned(), "2027-06-08".to_owned());
        gateway.run(|| NuiteeHotels::read_prices(ids, start, end))
    };
    for (pointer, days) in [
        ("/data/0", 2),
        ("/data/2/prices/0", 1),
        ("/data/2/prices/0/day", 1),
        ("/data/2/prices/0/avgPriceUsd", 1),
    ] {
        let gateway = odd("prices.json", pointer, &json!("?"));
        let hotels = read(&gateway).unwrap();
        assert_eq!(hotels[0].prices.len(), days, "{pointer}");
        assert_eq!(dropped(&gateway), 1, "{pointer}");
    }
    for data in [
        json!([null]),
        json!(""),
        json!([{"hotelId": "lpown1"}]),
        json!([{"hotelId": "lpown1", "prices": null}]),
        json!([{"hotelId": "lpown1", "prices": ""}]),
        json!([{"hotelId": "lpown1", "prices": 7}]),
    ] {
        let body = json!({"data": data}).to_string();
        let prices = read(&MockGateway::new().respond_with(200, body));
        assert_eq!(outcome(&prices), InvalidResponse, "{data}: {prices:?}");
    }
    let body = r#"{"data": [{"hotelId": "lpown1", "prices": []}]}"#;
    let prices = read(&MockGateway::new().respond_with(200, body)).unwrap();
    assert_eq!((prices.len(), prices[0].prices.len()), (1, 0));
}

#[test]
fn odd_part_of_place_is_left_out_alone() {
    let find = |suggestions: &Value, details: &Value| {
        let responses = [suggestions, details].map(|body| (200, body.to_string()));
        let gateway = MockGateway::new().respond_with_each(responses);
        let query = PlaceQuery {
            text: "Port Example".to_owned(),
            country: None,
            language: None,
            limit: 1,
        };
        gateway.run(|| NuiteeHotels::find_places(query))
    };
    let (places, place) = (document("places.json"), document("place.json"));
    for pointer in [
        "/data/1",
        "/data/1/placeId",
        "/data/0/types",
        "/data/0/types/0",
    ] {
        let suggestions = with_values(places.clone(), &[(pointer, json!(true))]);
        let found = find(&suggestions, &place).unwrap();
        assert_eq!(found[0].supplier_place_id, "pl/1", "{pointer}");
    }
    for pointer in [
        "/data/viewport",
        "/data/viewport/high",
        "/data/addressComponents",
        "/data/addressComponents/0",
        "/data/addressComponents/0/types",
    ] {
        let details = with_values(place.clone(), &[(pointer, json!(true))]);
        let found = find(&places, &details).unwrap();
        assert_eq!(found[0].name, "Port Example", "{pointer}");
    }
    let nowhere = with_values(place, &[("/data/location", json!(null))]);
    let found = find(&places, &nowhere);
    assert_eq!(outcome(&found), InvalidResponse, "{found:?}");
}

#[test]
fn response_about_another_object_is_an_error() {
    let other = |fixture: &str, own: &str, other: &str| {
        MockGateway::new().respond_with(200, ask::fixture(fixture).replace(own, other))
    };
    let found = ask::find(
        &other("booking.json", "BK-OWN-1", "BK-OTHER"),
        Some("BK-OWN-1"),
    );
    assert_eq!(outcome(&found), InvalidResponse, "{found:?}");
    for own in ["BK-OWN-1", "bkg_own_1"] {
        let quote = ask::quote(&other("booking.json", own, "other"));
        assert_eq!(outcome(&quote), InvalidResponse, "{own}: {quote:?}");
    }
    let details = ask::details(&other("hotel.json", "lpown1", "lpother"));
    assert_eq!(outcome(&details), InvalidResponse, "{details:?}");
    let price = ask::price(&other("rates.json", "lpown1", "lpother"));
    assert_eq!(outcome(&price), InvalidResponse, "{price:?}");
    let gateway = other("prices.json", "lpown", "lpother");
    let days = ("2027-06-01".to_owned(), "2027-06-08".to_owned());
    let ids = vec!["lpown1".to_owned()];
    let prices = gateway.run(|| NuiteeHotels::read_prices(ids, days.0, days.1));
    assert_eq!(outcome(&prices), InvalidResponse, "{prices:?}");
}

#[test]
fn object_instead_of_list_and_list_instead_of_object_are_errors() {
    for body in [r#"{"data": {}}"#, r#"{"data": ""}"#, "[[]]", "[[], 1]"] {
        let gateway = || MockGateway::new().respond_with(200, body);
        let reviews = gateway().run(|| NuiteeHotels::read_reviews("lpown1".to_owned(), 9));
        assert_eq!(outcome(&reviews), InvalidResponse, "{body}: {reviews:?}");
        let found = ask::find(&gateway(), None);
        assert_eq!(outcome(&found), InvalidResponse, "{body}: {found:?}");
        let price = ask::price(&gateway());
        assert_eq!(outcome(&price), InvalidResponse, "{body}: {price:?}");
    }
}
