//! Tests of flight offers.

use super::resource_assertions::check_names;
use serde_json::{Value, json};
use tests::{Client, Database, Reply, Server, days_ahead, merged, money, on_both_databases, trip};

/// A function that returns the value by which fares are sorted.
type Key = fn(&Value) -> String;

async fn fares(client: &Client, request: &Value) -> Reply {
    client.post("/v1/flight/offers", request).await.expect(200)
}

async fn flight_offer_contains_all_fields(database: Database) {
    let server = Server::start(database).await;
    let there = days_ahead(30);
    let back = days_ahead(37);
    let journeys = json!([
        {"origin": "LHR", "destination": "JFK", "date": there},
        {"origin": "JFK", "destination": "LHR", "date": back},
    ]);
    let family = json!({"adults": 2, "children": [7], "infants": 1});
    let more = json!({"journeys": journeys, "passengers": family});
    let reply = fares(&server.client(), &trip("LHR-JFK", more)).await;
    assert_eq!(reply.body["meta"]["supplier"], "SUPPLIER_A");
    assert_eq!(reply.header("x-supplier"), Some("SUPPLIER_A"));
    let families = reply.list().iter().map(|fare| &fare["fare_family"]);
    let families: Vec<&Value> = families.collect();
    assert_eq!(families, ["Economy Basic", "Economy Flex", "Business"]);
    let flex = &reply.data()[1];
    let members = [
        "documents_required",
        "expires_at",
        "fare_conditions",
        "fare_family",
        "included_baggage",
        "journeys",
        "offer_reference",
        "refundable",
        "total_amount",
        "total_duration_minutes",
    ];
    check_names("fare", flex, &members, &[]);
    // A child pays three quarters and an infant a tenth of an adult's 840.
    assert_eq!(flex["total_amount"], money(2394.0, "EUR"));
    assert_eq!(flex["refundable"], true);
    assert_eq!(flex["documents_required"], false);
    let bags = json!({"checked": true, "carry_on": true});
    assert_eq!(flex["included_baggage"], bags);
    let refund = json!({"allowed": true, "penalty": money(50.0, "EUR")});
    assert_eq!(flex["fare_conditions"]["refund"], refund);
    let journeys = flex["journeys"].as_array().unwrap();
    let minutes = journeys.iter().map(|journey| &journey["duration_minutes"]);
    let minutes: u64 = minutes.map(|minutes| minutes.as_u64().unwrap()).sum();
    assert_eq!(flex["total_duration_minutes"], minutes);
    check_journeys(journeys, &there, &back);
}

fn check_journeys(journeys: &[Value], there: &str, back: &str) {
    let common = [
        "arrival_time",
        "departure_time",
        "destination",
        "duration_minutes",
        "origin",
    ];
    let directions = [&journeys[0]["direction"], &journeys[1]["direction"]];
    assert_eq!(directions, ["OUTBOUND", "INBOUND"]);
    let of_journey = ["direction", "segments", "stops"];
    check_names("journey", &journeys[0], &common, &of_journey);
    assert_eq!(journeys[0]["departure_time"], format!("{there}T10:00:00"));
    assert_eq!(journeys[0]["stops"], 0);
    let segment = &journeys[1]["segments"][0];
    let of_segment = [
        "cabin_class",
        "marketing_carrier",
        "marketing_carrier_code",
        "marketing_carrier_logo_url",
        "marketing_flight",
        "operating_carrier",
        "operating_carrier_logo_url",
        "origin_terminal",
        "destination_terminal",
        "passengers",
    ];
    check_names("segment", segment, &common, &of_segment);
    // The sandbox numbers the terminals of an airport by its code.
    assert_eq!(segment["origin_terminal"], "5");
    let passengers = segment["passengers"].as_array().unwrap();
    assert_eq!(passengers.len(), 4);
    let first = json!({
        "position": 0, "cabin_class": "ECONOMY", "cabin_name": "Economy Flex", "checked_bags": 1,
        "carry_on_bags": 1,
    });
    assert_eq!(passengers[0], first);
    assert_eq!(segment["cabin_class"], "ECONOMY");
    let ends = [&segment["origin"], &segment["destination"]];
    assert_eq!(ends, ["JFK", "LHR"]);
    assert_eq!(segment["departure_time"], format!("{back}T10:00:00"));
}

async fn flight_offers_are_limited_and_marked_as_truncated(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    for supplier in ["SUPPLIER_A", "SUPPLIER_B"] {
        let whole = json!({"supplier": supplier, "unsupported_filters": []});
        let truncated = merged(whole.clone(), json!({"truncated": true}));
        // A limit equal to the number of fares truncates nothing.
        for (route, more, count, meta) in [
            ("LHR-SYD", json!({}), 50, &truncated),
            ("LHR-SYD", json!({"limit": 250}), 250, &truncated),
            ("LHR-SYD", json!({"limit": 1}), 1, &truncated),
            ("LHR-JFK", json!({"limit": 3}), 3, &whole),
            ("PVD-RAI", json!({}), 0, &whole),
        ] {
            let more = merged(json!({"supplier": supplier}), more);
            let reply = fares(&client, &trip(route, more)).await;
            assert_eq!(reply.list().len(), count, "{route} at {supplier}");
            assert_eq!(reply.body["meta"], *meta, "{route}");
        }
    }
}

/// Returns text that identifies each fare, sorted, so that the order of the response does not
/// matter.
fn marks(reply: &Reply) -> Vec<String> {
    let mark = |fare: &Value| {
        let flight = &fare["journeys"][0]["segments"][0]["marketing_flight"];
        let (family, total) = (&fare["fare_family"], &fare["total_amount"]["amount"]);
        format!("{flight} {family} {total}")
    };
    let mut marks: Vec<String> = reply.list().iter().map(mark).collect();
    marks.sort();
    marks
}

/// `SUPPLIER_A` applies only the cabin and the number of stops itself, `SUPPLIER_B` applies all
/// filters. Both return the same fares.
async fn filter_applied_by_gateway_or_supplier_gives_same_fares(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    for filters in [
        json!({"cabin_class": "BUSINESS"}),
        json!({"max_stops": 1}),
        json!({"airlines": ["QF", "BA"]}),
        json!({"excluded_airlines": ["QF", "SQ", "EK"]}),
        json!({"departure_after": "19:00"}),
        json!({"departure_before": "08:00"}),
        json!({"arrival_before": "12:00"}),
        json!({"refundable": false}),
        json!({"checked_bag": true}),
        json!({"max_total": 500}),
        json!({"max_stops": 0, "airlines": ["QF"], "checked_bag": true, "max_total": 1600.5}),
    ] {
        let names = filters.as_object().unwrap().keys();
        let unsupported =
            names.filter(|name| !["cabin_class", "max_stops"].contains(&name.as_str()));
        let unsupported: Value = unsupported.cloned().collect();
        let ask = async |supplier: &str| {
            let request = json!({"supplier": supplier, "limit": 250, "filters": filters});
            fares(&client, &trip("LHR-SYD", request)).await
        };
        let (one, other) = (ask("SUPPLIER_A").await, ask("SUPPLIER_B").await);
        let count = one.list().len();
        assert!(count > 0 && count < 250, "{filters}: {count}");
        assert_eq!(marks(&one), marks(&other), "{filters}");
        assert_eq!(one.body["meta"]["unsupported_filters"], unsupported);
        assert_eq!(other.body["meta"]["unsupported_filters"], json!([]));
        for reply in [&one, &other] {
            assert!(reply.body["meta"].get("truncated").is_none(), "{filters}");
        }
    }
}

async fn sort_by_gateway_or_supplier_gives_same_order(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let by_total = |fare: &Value| fare["total_amount"]["amount"].to_string();
    let by_duration = |fare: &Value| fare["total_duration_minutes"].to_string();
    let by_departure = |fare: &Value| fare["journeys"][0]["departure_time"].to_string();
    let keys: [(&str, Key); 3] = [
        ("total_amount", by_total),
        ("duration", by_duration),
        ("departure_time", by_departure),
    ];
    for (sort, key) in keys {
        for order in ["asc", "desc"] {
            let ask = async |supplier: &str| {
                let request =
                    json!({"supplier": supplier, "limit": 20, "sort": sort, "order": order});
                fares(&client, &trip("LHR-SYD", request)).await
            };
            let (one, other) = (ask("SUPPLIER_A").await, ask("SUPPLIER_B").await);
            let keys = |reply: &Reply| reply.list().iter().map(key).collect::<Vec<_>>();
            assert_eq!(keys(&one), keys(&other), "{sort} {order}");
            assert_eq!(keys(&one).len(), 20);
            let usual = sort == "total_amount" && order == "asc";
            let unsupported = if usual { json!([]) } else { json!(["sort"]) };
            assert_eq!(one.body["meta"]["unsupported_filters"], unsupported);
            assert_eq!(other.body["meta"]["unsupported_filters"], json!([]));
        }
    }
}

async fn flight_offer_states_whether_documents_are_required(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    for supplier in ["SUPPLIER_A", "SUPPLIER_B"] {
        for (route, needed) in [("LHR-ORD", true), ("LHR-JFK", false)] {
            let reply = fares(&client, &trip(route, json!({"supplier": supplier}))).await;
            assert_eq!(reply.body["meta"]["supplier"], supplier);
            for fare in reply.list() {
                assert_eq!(fare["documents_required"], needed, "{supplier} {route}");
            }
        }
    }
}

async fn flight_offers_are_priced_in_requested_currency(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let yen = json!({"currency": "JPY", "filters": {"max_total": 420}});
    let reply = fares(&client, &trip("LHR-JFK", yen)).await;
    let totals = reply.list().iter().map(|fare| fare["total_amount"].clone());
    let expected = [money(320.0, "JPY"), money(420.0, "JPY")];
    assert_eq!(totals.collect::<Vec<_>>(), expected);
}

on_both_databases! {
    flight_offer_contains_all_fields,
    flight_offers_are_limited_and_marked_as_truncated,
    filter_applied_by_gateway_or_supplier_gives_same_fares,
    sort_by_gateway_or_supplier_gives_same_order,
    flight_offer_states_whether_documents_are_required,
    flight_offers_are_priced_in_requested_currency,
}
