//! Validation of flight query requests. No supplier is loaded, so a request without violations
//! fails at the supplier call.

use super::hotel::expect;
use super::*;
use host_domain::flight::supplier_api::Airline;
use host_domain::id::AirlineId;
use host_domain::supplier::SupplierId;

const OFFERS: &str = "/v1/flight/offers";

fn offers() -> Value {
    json!({
        "journeys": [
            {"origin": "LHR", "destination": "JFK", "date": "2026-12-01"},
            {"origin": "JFK", "destination": "LHR", "date": "2026-12-09"},
        ],
        "passengers": {"adults": 2, "children": [7], "infants": 1},
    })
}

#[tokio::test]
async fn invalid_journeys_are_rejected() {
    let leg = |origin: &str, destination: &str, date: &str| json!({"origin": origin, "destination": destination, "date": date});
    let on = |date: &str| json!({"journeys": [leg("LHR", "JFK", date)]});
    let many = |legs: usize| json!({"journeys": vec![leg("LHR", "JFK", "2026-12-01"); legs]});
    // At 10:00 UTC on 2026-11-21 it is still the previous day in some time zones.
    expect(
        OFFERS,
        &offers(),
        &[
            (json!({}), &[]),
            (many(6), &[]),
            (many(0), &["body /journeys too_few"]),
            (many(7), &["body /journeys too_many"]),
            (on("2026-11-20"), &[]),
            (on("2026-11-19"), &["body /journeys/0/date in_the_past"]),
            (on("2027-11-21"), &[]),
            (on("2027-11-22"), &["body /journeys/0/date too_far_ahead"]),
            (on("2026-02-30"), &["body /journeys/0/date format"]),
            (
                json!({"journeys": [leg("LHR", "JFK", "2026-12-02"), leg("EWR", "LGW", "2026-12-01")]}),
                &["body /journeys/1/date before_previous"],
            ),
            (
                json!({"journeys": [leg("LHR", "LHR", "2026-12-01")]}),
                &["body /journeys/0/destination same_as_origin"],
            ),
            (
                json!({"journeys": [leg("lhr", "LOND", "2026-12-01")]}),
                &[
                    "body /journeys/0/destination pattern",
                    "body /journeys/0/origin pattern",
                ],
            ),
            (
                json!({"journeys": [{"from": "LHR", "destination": "JFK", "date": "2026-12-01"}]}),
                &[
                    "body /journeys/0/from unknown_field",
                    "body /journeys/0/origin required",
                ],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn traveller_limits_are_enforced() {
    let who = |adults: u32, children: Value, infants: u32| json!({"passengers": {"adults": adults, "children": children, "infants": infants}});
    expect(
        OFFERS,
        &offers(),
        &[
            (json!({"passengers": {"adults": 1}}), &[]),
            (who(9, json!([]), 9), &[]),
            (who(1, json!([2, 17, 9, 9, 9, 9, 9, 9]), 1), &[]),
            (who(0, json!([]), 0), &["body /passengers/adults too_small"]),
            (who(8, json!([5, 6]), 0), &["body /passengers too_many"]),
            (
                who(1, json!([]), 2),
                &["body /passengers/infants too_large"],
            ),
            (
                who(10, json!([1, 18]), 0),
                &[
                    "body /passengers too_many",
                    "body /passengers/adults too_large",
                    "body /passengers/children/0 too_small",
                    "body /passengers/children/1 too_large",
                ],
            ),
            (json!({"passengers": null}), &["body /passengers required"]),
        ],
    )
    .await;
}

#[tokio::test]
async fn invalid_or_contradictory_filters_are_rejected() {
    let filters = |filters: Value| json!({"filters": filters, "currency": "JPY"});
    let times = |after: &str, before: &str| {
        filters(json!({"departure_after": after, "departure_before": before}))
    };
    expect(
        OFFERS,
        &offers(),
        &[
            (
                filters(json!({
                    "cabin_class": "PREMIUM_ECONOMY", "max_stops": 0, "airlines": ["BA", "U2"], "excluded_airlines": ["AA"],
                    "arrival_before": "23:59", "refundable": false, "checked_bag": true, "max_total": 90000,
                })),
                &[],
            ),
            (json!({"sort": 7, "order": []}), &["body /order type", "body /sort type"]),
            (times("08:00", "08:00"), &[]),
            (times("08:01", "08:00"), &["body /filters/departure_before contradiction"]),
            (
                times("24:00", "8:00"),
                &[
                    "body /filters/departure_after pattern",
                    "body /filters/departure_before pattern",
                ],
            ),
            (
                filters(json!({"airlines": ["BA", "IB", "BA"], "excluded_airlines": ["AA", "IB"]})),
                &[
                    "body /filters/airlines/2 duplicate",
                    "body /filters/excluded_airlines/1 contradiction",
                ],
            ),
            (
                filters(json!({"airlines": ["ba"], "cabin_class": "economy", "max_stops": -1})),
                &[
                    "body /filters/airlines/0 pattern",
                    "body /filters/cabin_class not_allowed",
                    "body /filters/max_stops too_small",
                ],
            ),
            (filters(json!({"max_total": 0})), &["body /filters/max_total too_small"]),
            (filters(json!({"max_total": 10.5})), &["body /filters/max_total not_allowed"]),
            (json!({"filters": {"max_total": 10}}), &["body /currency required"]),
            (filters(json!({"cabin": "ECONOMY"})), &["body /filters/cabin unknown_field"]),
        ],
    )
    .await;
}

#[tokio::test]
async fn invalid_sort_order_and_limit_are_rejected() {
    expect(
        OFFERS,
        &offers(),
        &[
            (
                json!({"sort": "duration", "order": "desc", "limit": 250}),
                &[],
            ),
            (
                json!({"sort": "price", "order": "down", "limit": 251}),
                &[
                    "body /limit too_large",
                    "body /order not_allowed",
                    "body /sort not_allowed",
                ],
            ),
            (
                json!({"limit": 0, "currency": "EUX"}),
                &["body /currency not_allowed", "body /limit too_small"],
            ),
            (json!({"supplier": "NOBODY"}), &[]),
            (json!({"supplier": "nobody"}), &["body /supplier pattern"]),
        ],
    )
    .await;
}

#[tokio::test]
async fn invalid_airport_and_airline_requests_are_rejected() {
    let server = Server::start().await;
    let long = "a".repeat(101);
    for (path, violations) in [
        ("airports?q=Lo&limit=100".to_owned(), vec![]),
        ("airports?q=%C3%A9%C3%A9".to_owned(), vec![]),
        ("airports".to_owned(), vec!["query /q required"]),
        ("airports?q=L".to_owned(), vec!["query /q too_short"]),
        ("airports?q=%20%20".to_owned(), vec!["query /q pattern"]),
        (format!("airports?q={long}"), vec!["query /q too_long"]),
        (
            "airports?q=Lo&limit=0".to_owned(),
            vec!["query /limit too_small"],
        ),
        (
            "airports?q=Lo&limit=101".to_owned(),
            vec!["query /limit too_large"],
        ),
        (
            "airports?q=Lo&supplier=A".to_owned(),
            vec!["query /supplier unknown_field"],
        ),
        ("airlines/iatas/ba".to_owned(), vec![]),
        ("airlines/iatas/%20%09u2%20".to_owned(), vec![]),
        (
            "airlines/iatas/b".to_owned(),
            vec!["path /iataCode pattern"],
        ),
        (
            "airlines/iatas/b%20a".to_owned(),
            vec!["path /iataCode pattern"],
        ),
        (
            "airlines/iatas/BAW".to_owned(),
            vec!["path /iataCode pattern"],
        ),
        (
            "airlines/iatas/%C3%A9".to_owned(),
            vec!["path /iataCode pattern"],
        ),
    ] {
        let reply = server.get(&format!("/v1/flight/{path}")).await;
        assert_eq!(reply.violations(), violations, "{path}");
        let code = if violations.is_empty() {
            "supplier_operation_unsupported"
        } else {
            "validation_failed"
        };
        assert_eq!(reply.code(), code, "{path}");
    }
}

#[tokio::test]
async fn stored_airline_is_returned_without_supplier() {
    let server = Server::start().await;
    let airline = Airline {
        supplier_airline_id: "arl_of_the_supplier".to_owned(),
        iata_code: "U2".to_owned(),
        icao_code: None,
        name: "easyJet".to_owned(),
        country: Some("ZZ".to_owned()),
        alliance: None,
        logo_url: None,
        is_active: false,
    };
    let supplier = SupplierId::parse("SUPPLIER_A").unwrap();
    let (id, long_ago) = (AirlineId::from_bits(7), Timestamp(0));
    let saved =
        server
            .app
            .store
            .save_airline(Mode::Test, &supplier, id.clone(), &airline, long_ago);
    assert_eq!(saved.await.unwrap(), id);
    let reply = server.get("/v1/flight/airlines/iatas/u2").await;
    let expected = json!({"data": {
        "id": id.as_str(), "iata_code": "U2", "icao_code": null, "name": "easyJet", "country": null,
        "alliance": null, "logo_url": null, "is_active": false,
    }});
    assert_eq!(reply.body, expected);
    assert_eq!(reply.header("x-supplier"), "");
    let unknown = server.get("/v1/flight/airlines/iatas/U9").await;
    assert_eq!(unknown.code(), "supplier_operation_unsupported");
}
