//! Tests of flight offers.

use serde_json::{Value, json};
use tests::{
    Client, Database, Reply, Server, days_ahead, on_both_databases, prebook_request, trip,
};

/// A function that returns the value by which fares are sorted.
type Key = fn(&Value) -> String;

async fn fares(client: &Client, request: &Value) -> Reply {
    client.post("/v1/flight/offers", request).await.expect(200)
}

fn names(object: &Value) -> Vec<&str> {
    let members = object.as_object().unwrap();
    members.keys().map(String::as_str).collect()
}

fn list(reply: &Reply) -> &Vec<Value> {
    reply.data().as_array().unwrap()
}

#[expect(
    clippy::too_many_lines,
    reason = "the test checks every field of one large resource"
)]
async fn flight_offer_contains_all_fields(database: Database) {
    let server = Server::start(database).await;
    let there = days_ahead(30);
    let back = days_ahead(37);
    let request = trip(
        "LHR-JFK",
        json!({
            "journeys": [
                {"origin": "LHR", "destination": "JFK", "date": there},
                {"origin": "JFK", "destination": "LHR", "date": back},
            ],
            "passengers": {"adults": 2, "children": [7], "infants": 1},
        }),
    );
    let reply = fares(&server.client(), &request).await;
    assert_eq!(reply.body["meta"]["supplier"], "SUPPLIER_A");
    assert_eq!(reply.header("x-supplier"), Some("SUPPLIER_A"));
    let families = list(&reply).iter().map(|fare| fare["fare_family"].as_str());
    let families: Vec<&str> = families.map(Option::unwrap).collect();
    assert_eq!(families, ["Economy Basic", "Economy Flex", "Business"]);
    let flex = &reply.data()[1];
    assert_eq!(
        names(flex),
        [
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
        ]
    );
    // A child pays three quarters and an infant a tenth of an adult's 840.
    assert_eq!(
        flex["total_amount"],
        json!({"amount": 2394, "currency": "EUR"})
    );
    assert_eq!(flex["refundable"], true);
    assert_eq!(flex["documents_required"], false);
    assert_eq!(
        flex["included_baggage"],
        json!({"checked": true, "carry_on": true})
    );
    let refund = &flex["fare_conditions"]["refund"];
    assert_eq!(
        *refund,
        json!({"allowed": true, "penalty": {"amount": 50, "currency": "EUR"}})
    );
    let journeys = flex["journeys"].as_array().unwrap();
    let minutes = journeys
        .iter()
        .map(|journey| journey["duration_minutes"].as_u64());
    let minutes: u64 = minutes.map(Option::unwrap).sum();
    assert_eq!(flex["total_duration_minutes"], minutes);
    assert_eq!(
        [&journeys[0]["direction"], &journeys[1]["direction"]],
        ["OUTBOUND", "INBOUND"]
    );
    assert_eq!(
        names(&journeys[0]),
        [
            "arrival_time",
            "departure_time",
            "destination",
            "direction",
            "duration_minutes",
            "origin",
            "segments",
            "stops",
        ]
    );
    assert_eq!(journeys[0]["departure_time"], format!("{there}T10:00:00"));
    assert_eq!(journeys[0]["stops"], 0);
    let segment = &journeys[1]["segments"][0];
    assert_eq!(
        names(segment),
        [
            "arrival_time",
            "cabin_class",
            "departure_time",
            "destination",
            "duration_minutes",
            "marketing_carrier",
            "marketing_carrier_code",
            "marketing_carrier_logo_url",
            "marketing_flight",
            "operating_carrier",
            "operating_carrier_logo_url",
            "origin",
        ]
    );
    assert_eq!(segment["cabin_class"], "ECONOMY");
    assert_eq!(
        [&segment["origin"], &segment["destination"]],
        ["JFK", "LHR"]
    );
    assert_eq!(segment["departure_time"], format!("{back}T10:00:00"));
}

async fn flight_offers_are_limited_and_marked_as_truncated(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    for supplier in ["SUPPLIER_A", "SUPPLIER_B"] {
        let many = |more: Value| {
            let mut request = trip("LHR-SYD", more);
            request["supplier"] = json!(supplier);
            request
        };
        for (request, count) in [
            (many(json!({})), 50),
            (many(json!({"limit": 250})), 250),
            (many(json!({"limit": 1})), 1),
        ] {
            let reply = fares(&client, &request).await;
            assert_eq!(list(&reply).len(), count, "{supplier}");
            assert_eq!(reply.body["meta"]["truncated"], true, "{supplier}");
            assert_eq!(reply.body["meta"]["unsupported_filters"], json!([]));
        }
        // A limit equal to the number of fares truncates nothing.
        let few = json!({"supplier": supplier, "limit": 3});
        let reply = fares(&client, &trip("LHR-JFK", few)).await;
        assert_eq!(list(&reply).len(), 3);
        assert_eq!(
            names(&reply.body["meta"]),
            ["supplier", "unsupported_filters"]
        );
        let none = json!({"supplier": supplier});
        let reply = fares(&client, &trip("PVD-RAI", none)).await;
        assert_eq!(list(&reply).len(), 0);
        assert_eq!(
            names(&reply.body["meta"]),
            ["supplier", "unsupported_filters"]
        );
    }
}

/// Returns text that identifies each fare, sorted, so that the order of the response does not
/// matter.
fn marks(reply: &Reply) -> Vec<String> {
    let mut marks: Vec<String> = list(reply)
        .iter()
        .map(|fare| {
            let flight = &fare["journeys"][0]["segments"][0]["marketing_flight"];
            format!(
                "{flight} {} {}",
                fare["fare_family"], fare["total_amount"]["amount"]
            )
        })
        .collect();
    marks.sort();
    marks
}

/// `SUPPLIER_A` applies only two of the filters itself, `SUPPLIER_B` applies all of them. Both
/// return the same fares.
async fn filter_applied_by_gateway_or_supplier_gives_same_fares(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    for (filters, unsupported) in [
        (json!({"cabin_class": "BUSINESS"}), json!([])),
        (json!({"max_stops": 1}), json!([])),
        (json!({"airlines": ["QF", "BA"]}), json!(["airlines"])),
        (
            json!({"excluded_airlines": ["QF", "SQ", "EK"]}),
            json!(["excluded_airlines"]),
        ),
        (
            json!({"departure_after": "19:00"}),
            json!(["departure_after"]),
        ),
        (
            json!({"departure_before": "08:00"}),
            json!(["departure_before"]),
        ),
        (
            json!({"arrival_before": "12:00"}),
            json!(["arrival_before"]),
        ),
        (json!({"refundable": false}), json!(["refundable"])),
        (json!({"checked_bag": true}), json!(["checked_bag"])),
        (json!({"max_total": 500}), json!(["max_total"])),
        (
            json!({"max_stops": 0, "airlines": ["QF"], "checked_bag": true, "max_total": 1600.5}),
            json!(["airlines", "checked_bag", "max_total"]),
        ),
    ] {
        let ask = async |supplier: &str| {
            let request = json!({"supplier": supplier, "limit": 250, "filters": filters});
            fares(&client, &trip("LHR-SYD", request)).await
        };
        let (one, other) = (ask("SUPPLIER_A").await, ask("SUPPLIER_B").await);
        let count = list(&one).len();
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
            let keys = |reply: &Reply| list(reply).iter().map(key).collect::<Vec<_>>();
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
            for fare in list(&reply) {
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
    let totals: Vec<&Value> = list(&reply)
        .iter()
        .map(|fare| &fare["total_amount"])
        .collect();
    assert_eq!(
        totals,
        [
            &json!({"amount": 320, "currency": "JPY"}),
            &json!({"amount": 420, "currency": "JPY"}),
        ]
    );
}

async fn flight_search_at_supplier_without_flights_returns_422(database: Database) {
    let server = Server::start(database).await;
    for supplier in ["NOBODY", "SANDBOX_HOTELS"] {
        let request = trip("LHR-JFK", json!({"supplier": supplier}));
        server
            .client()
            .post("/v1/flight/offers", &request)
            .await
            .expect_problem(422, "supplier_operation_unsupported");
    }
}

async fn hotel_prebook_of_flight_offer_returns_422(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let reply = fares(&client, &trip("LHR-JFK", json!({}))).await;
    let reference = reply.data()[0]["offer_reference"].as_str().unwrap();
    client
        .header("x-idempotency-key", "fare")
        .post("/v1/hotel/prebook", &prebook_request(reference, 1))
        .await
        .expect_problem(422, "offer_invalid");
}

on_both_databases! {
    flight_offer_contains_all_fields,
    flight_offers_are_limited_and_marked_as_truncated,
    filter_applied_by_gateway_or_supplier_gives_same_fares,
    sort_by_gateway_or_supplier_gives_same_order,
    flight_offer_states_whether_documents_are_required,
    flight_offers_are_priced_in_requested_currency,
    flight_search_at_supplier_without_flights_returns_422,
    hotel_prebook_of_flight_offer_returns_422,
}
