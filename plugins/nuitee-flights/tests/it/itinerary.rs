//! Assignment of flights to the requested journeys.

use serde_json::{Value, json};
use stopover_sdk::dropped::DropReason;
use stopover_sdk::testing::Outcome::InvalidResponse;
use stopover_sdk::testing::outcome;
use stopover_sdk::types::flight::Direction;

use crate::ask;

/// Returns a return trip from JFK to CDG by way of FRA, whose flights have these marks.
fn return_by_way_of_frankfurt(marks: [Value; 4]) -> String {
    let flights = [
        ("JFK", "FRA", "2027-06-01T16:10:00", "2027-06-02T05:55:00"),
        ("FRA", "CDG", "2027-06-02T08:30:00", "2027-06-02T09:50:00"),
        ("CDG", "FRA", "2027-06-10T08:25:00", "2027-06-10T09:55:00"),
        ("FRA", "JFK", "2027-06-10T11:25:00", "2027-06-10T14:10:00"),
    ];
    ask::changed("rates.json", |document| {
        document["data"].as_array_mut().unwrap().truncate(1);
        let itinerary = &mut document["data"][0]["journeys"][0];
        let segments = flights.iter().zip(marks).enumerate();
        let segments = segments.map(|(at, (flight, mark))| {
            let mut segment = itinerary["segments"][0].clone();
            segment["segmentKey"] = json!(format!("s{at}"));
            segment["originCode"] = json!(flight.0);
            segment["destinationCode"] = json!(flight.1);
            segment["departureTime"] = json!(flight.2);
            segment["arrivalTime"] = json!(flight.3);
            match mark.as_str() {
                Some("removed") => drop(segment.as_object_mut().unwrap().remove("direction")),
                _ => segment["direction"] = mark,
            }
            segment
        });
        itinerary["segments"] = segments.collect();
        let offers = itinerary["offers"].as_array_mut().unwrap();
        offers.truncate(1);
        offers[0]["segmentFares"] = json!([]);
        offers[0]["fare"]["family"] = json!("Economy");
    })
}

/// Returns the ends of each journey and the number of its flights, of the only offer if there is one.
fn itinerary(document: &str) -> Option<Vec<(String, String, usize, Direction)>> {
    let gateway = ask::responding(&[(200, document)]);
    let mut request = ask::price_request();
    request.journeys = vec![
        ask::requested_journey("JFK", "CDG", "2027-06-01"),
        ask::requested_journey("CDG", "JFK", "2027-06-10"),
    ];
    let found = ask::price_with(&gateway, request);
    let Ok(found) = found else {
        assert_eq!(outcome(&found), InvalidResponse, "{document}");
        assert_eq!(gateway.dropped_items(), [(DropReason::InvalidValue, 1)]);
        let (_, message) = &gateway.logs()[0];
        let reason = "its flights do not match the requested journeys";
        assert!(message.contains(reason), "{message}");
        assert!(message.contains("/data/0/journeys/0/offers/0"), "{message}");
        return None;
    };
    assert_eq!(gateway.dropped_items(), [], "{document}");
    let journeys = found.offers[0].journeys.iter();
    let parts = journeys.map(|journey| {
        let ends = (journey.origin.clone(), journey.destination.clone());
        (ends.0, ends.1, journey.segments.len(), journey.direction)
    });
    Some(parts.collect())
}

/// A mark that is missing or unknown ends no journey, and one that contradicts the request sells none.
#[test]
fn odd_direction_never_gives_another_itinerary() {
    let usual = ["OUTBOUND", "OUTBOUND", "INBOUND", "INBOUND"];
    let expected = [
        ("JFK".to_owned(), "CDG".to_owned(), 2, Direction::Outbound),
        ("CDG".to_owned(), "JFK".to_owned(), 2, Direction::Inbound),
    ];
    let with = |at: usize, mark: &Value| {
        let mut marks = usual.map(|mark| json!(mark));
        marks[at] = mark.clone();
        itinerary(&return_by_way_of_frankfurt(marks))
    };
    for at in 0..4 {
        for mark in [
            json!("removed"),
            json!(null),
            json!(""),
            json!("x"),
            json!("inbound"),
            json!(7),
            json!([]),
        ] {
            let found = with(at, &mark);
            assert_eq!(found.as_deref(), Some(&expected[..]), "{at} {mark}");
        }
    }
    // The first flight to Frankfurt would be a journey of its own.
    assert_eq!(with(0, &json!("INBOUND")), None);
    assert_eq!(with(1, &json!("INBOUND")), None);
    for at in [2, 3] {
        let found = with(at, &json!("OUTBOUND"));
        assert_eq!(found.as_deref(), Some(&expected[..]), "{at}");
    }
}

#[test]
fn flights_of_an_offer_depart_and_arrive_as_requested() {
    let (out, back) = ("2027-06-01", "2027-06-10");
    for (journeys, is_sold) in [
        ([("LHR", "JFK", out), ("JFK", "LHR", back)], true),
        // Codes of cities are answered by airports, and an airport may be answered by another one.
        ([("LON", "NYC", out), ("NYC", "LON", back)], true),
        ([("LHR", "EWR", out), ("EWR", "LHR", back)], true),
        // The first flight arrives there, and the last one of the journey does not.
        ([("LHR", "KEF", out), ("JFK", "LHR", back)], false),
        // Another flight departs on the day, and the first one of the journey does not.
        ([("LHR", "JFK", back), ("JFK", "LHR", back)], false),
        // Nuitee may offer another day than the requested one.
        ([("LHR", "JFK", "2027-06-02"), ("JFK", "LHR", back)], true),
        ([("LON", "NYC", "2027-05-31"), ("NYC", "LON", back)], true),
    ] {
        let requested = journeys
            .iter()
            .map(|(origin, destination, date)| ask::requested_journey(origin, destination, date));
        let mut request = ask::price_request();
        request.journeys = requested.collect();
        let found = ask::price_with(&ask::fixtures(&["rates.json"]), request);
        let offers = found.map_or_else(|_| Vec::new(), |found| found.offers);
        let mut families = offers.iter().map(|offer| offer.fare_family.as_deref());
        let has_flex = families.any(|family| family == Some("Flex"));
        assert_eq!(has_flex, is_sold, "{journeys:?}");
    }
}
