//! Validation of flight query requests. No supplier is loaded, so a request without violations
//! fails at the supplier call.

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
    // At 10:00 UTC on 2026-11-21 it is still the previous day in some time zones.
    let table = r#"
        {} =>
        {"journeys": SIX} =>
        {"journeys": []} => /journeys too_few
        {"journeys": SEVEN} => /journeys too_many
        {"journeys": [{"origin": "LHR", "destination": "JFK", "date": "2026-11-20"}]} =>
        {"journeys": [{"origin": "LHR", "destination": "JFK", "date": "2026-11-19"}]} => /journeys/0/date in_the_past
        {"journeys": [{"origin": "LHR", "destination": "JFK", "date": "2027-11-21"}]} =>
        {"journeys": [{"origin": "LHR", "destination": "JFK", "date": "2027-11-22"}]} => /journeys/0/date too_far_ahead
        {"journeys": [{"origin": "LHR", "destination": "JFK", "date": "2026-02-30"}]} => /journeys/0/date format
        {"journeys": [{"origin": "LHR", "destination": "JFK", "date": "2026-12-02"}, \
            {"origin": "EWR", "destination": "LGW", "date": "2026-12-01"}]} => /journeys/1/date before_previous
        {"journeys": [{"origin": "LHR", "destination": "LHR", "date": "2026-12-01"}]} => \
            /journeys/0/destination same_as_origin
        {"journeys": [{"origin": "lhr", "destination": "LOND", "date": "2026-12-01"}]} => \
            /journeys/0/destination pattern, /journeys/0/origin pattern
        {"journeys": [{"origin": "LHR", "destination": "LHR", "date": "soon"}, \
            {"origin": 1, "destination": "LHR", "date": "2026-11-19"}]} => \
            /journeys/0/date format, /journeys/0/destination same_as_origin, \
            /journeys/1/date in_the_past, /journeys/1/origin type
        {"journeys": [{"from": "LHR", "destination": "JFK", "date": "2026-12-01"}]} => \
            /journeys/0/from unknown_field, /journeys/0/origin required
    "#;
    let leg = json!({"origin": "LHR", "destination": "JFK", "date": "2026-12-01"});
    let many = |legs: usize| json!(vec![&leg; legs]).to_string();
    let table = table.replace("SIX", &many(6)).replace("SEVEN", &many(7));
    expect(OFFERS, &offers(), &table).await;
}

#[tokio::test]
async fn traveller_limits_are_enforced() {
    let table = r#"
        {"passengers": {"adults": 1}} =>
        {"passengers": {"adults": 9, "children": [], "infants": 9}} =>
        {"passengers": {"adults": 1, "children": [2, 17, 9, 9, 9, 9, 9, 9], "infants": 1}} =>
        {"passengers": {"adults": 0, "children": [], "infants": 0}} => /passengers/adults too_small
        {"passengers": {"adults": 8, "children": [5, 6], "infants": 0}} => /passengers too_many
        {"passengers": {"adults": 1, "children": [], "infants": 2}} => /passengers/infants too_large
        {"passengers": {"adults": 10, "children": [1, 18], "infants": 0}} => /passengers too_many, \
            /passengers/adults too_large, /passengers/children/0 too_small, /passengers/children/1 too_large
        {"passengers": null} => /passengers required
    "#;
    expect(OFFERS, &offers(), table).await;
}

#[tokio::test]
async fn invalid_or_contradictory_filters_are_rejected() {
    let table = r#"
        {"filters": {"cabin_class": "PREMIUM_ECONOMY", "max_stops": 0, "airlines": ["BA", "U2"], "excluded_airlines": ["AA"], \
            "arrival_before": "23:59", "refundable": false, "checked_bag": true, "max_total": 90000}} =>
        {"sort": 7, "order": []} => /order type, /sort type
        {"filters": {"departure_after": "08:00", "departure_before": "08:00"}} =>
        {"filters": {"departure_after": "08:01", "departure_before": "08:00"}} => /filters/departure_before contradiction
        {"filters": {"departure_after": "24:00", "departure_before": "8:00"}} => \
            /filters/departure_after pattern, /filters/departure_before pattern
        {"filters": {"airlines": ["BA", "IB", "BA"], "excluded_airlines": ["AA", "IB"]}} => \
            /filters/airlines/2 duplicate, /filters/excluded_airlines/1 contradiction
        {"filters": {"airlines": ["ba"], "cabin_class": "economy", "max_stops": -1}} => \
            /filters/airlines/0 pattern, /filters/cabin_class not_allowed, /filters/max_stops too_small
        {"filters": {"max_total": 0}} => /filters/max_total too_small
        {"filters": {"max_total": 10.5}} => /filters/max_total not_allowed
        {"filters": {"max_total": 10}, "currency": null} => /currency required
        {"filters": {"cabin": "ECONOMY"}} => /filters/cabin unknown_field
        {"filters": {"airlines": [1, "BA"], "excluded_airlines": [2, "BA"], "max_total": 10}, "currency": 1, "journeys": null} => \
            /currency type, /filters/airlines/0 type, /filters/excluded_airlines/0 type, \
            /filters/excluded_airlines/1 contradiction, /journeys required
    "#;
    let offers = changed(&offers(), &json!({"currency": "JPY"}));
    expect(OFFERS, &offers, table).await;
}

#[tokio::test]
async fn invalid_sort_order_and_limit_are_rejected() {
    let table = r#"
        {"sort": "duration", "order": "desc", "limit": 250} =>
        {"sort": "price", "order": "down", "limit": 251} => /limit too_large, /order not_allowed, /sort not_allowed
        {"limit": 0, "currency": "EUX"} => /currency not_allowed, /limit too_small
        {"supplier": "NOBODY"} =>
        {"supplier": "nobody"} => /supplier pattern
    "#;
    expect(OFFERS, &offers(), table).await;
}

#[tokio::test]
async fn invalid_airport_and_airline_requests_are_rejected() {
    let server = Server::start().await;
    let table = "
        airports?q=Lo&limit=100 =>
        airports?q=%C3%A9%C3%A9 =>
        airports => query /q required
        airports?q=L => query /q too_short
        airports?q=%20%20 => query /q pattern
        airports?q=LONG => query /q too_long
        airports?q=Lo&limit=0 => query /limit too_small
        airports?q=Lo&limit=101 => query /limit too_large
        airports?q=Lo&supplier=A => query /supplier unknown_field
        airlines/iatas/ba =>
        airlines/iatas/%20%09u2%20 =>
        airlines/iatas/b => path /iataCode pattern
        airlines/iatas/b%20a => path /iataCode pattern
        airlines/iatas/BAW => path /iataCode pattern
        airlines/iatas/%C3%A9 => path /iataCode pattern
    ";
    for (path, violations) in cases(&table.replace("LONG", &"a".repeat(101))) {
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
    let store = &server.app.store;
    let saved = store.save_airline(Mode::Test, &supplier, id.clone(), &airline, long_ago);
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
