//! What a response proves. An error status without an error of Duffel refuses nothing and finds
//! nothing missing, and a success counts only with the object of this request.

use serde_json::{Value, json};
use stopover_sdk::flight_booking::{BookingLookup, FindRequest};
use stopover_sdk::flight_pricing::{PassengerCounts, PriceRequest};
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::{
    Done, Failed, InvalidResponse, Misconfigured, NotFound, NotSent, RateLimited, Refused,
    Rejected, TimedOut, Unavailable, Unknown,
};
use stopover_sdk::testing::{MockGateway, Outcome, outcome};

use crate::ask;

const PATCHED: &str = r#"{"data": {"id": "pas_adult"}}"#;

/// Bodies of error responses that are not Duffel's errors, or contradict themselves.
fn unreadable_errors() -> Vec<String> {
    let not_found = ask::error("invalid_request_error", "not_found");
    let with = |member: &str, value: Value| {
        let mut document: Value = serde_json::from_str(&not_found).unwrap();
        document[member] = value;
        document.to_string()
    };
    let error = json!({ "type": "invalid_request_error", "code": "not_found" });
    let refused = json!({ "type": "authentication_error", "title": "No code" });
    let bodies = [
        "",
        "<html>not_found</html>",
        "{}",
        "[]",
        "null",
        "{\"errors\"",
    ];
    let mut bodies: Vec<String> = bodies.map(str::to_owned).to_vec();
    bodies.extend([
        with("errors", json!([])),
        with("errors", json!(null)),
        with("errors", error.clone()),
        with("errors", json!([{}])),
        with("errors", json!([refused])),
        with("errors", json!([error, 7])),
        with("data", json!({ "id": "ord_own" })),
        json!({ "code": "not_found", "message": "offer_expired" }).to_string(),
        ask::fixture("order.json"),
    ]);
    bodies
}

/// Every call, with the responses before the one that fails.
fn reads(failed: &Response) -> Vec<(&'static str, Outcome)> {
    let after = |fixtures: &[&str]| ask::fixtures(fixtures).respond(failed.clone());
    let canceled = MockGateway::new().respond_with(200, ask::canceled_order());
    let for_sale = after(&["order.json"]);
    let order_for_sale = after(&[]).respond_with(200, ask::fixture("services.json"));
    vec![
        ("search", outcome(&ask::price(&after(&[])))),
        (
            "page",
            outcome(&ask::price(&after(&["offer-request.json"]))),
        ),
        ("find", outcome(&ask::found(&after(&[])))),
        ("find by offer", outcome(&ask::find_by_offer(&after(&[])))),
        (
            "find canceled",
            outcome(&ask::found(&canceled.respond(failed.clone()))),
        ),
        ("quote", outcome(&ask::quote(&after(&[])))),
        (
            "quote, after order",
            outcome(&ask::quote(&after(&["order.json"]))),
        ),
        (
            "services, order",
            outcome(&ask::list_services(&order_for_sale)),
        ),
        ("services", outcome(&ask::list_services(&for_sale))),
        ("airports", outcome(&ask::airports(&after(&[])))),
        ("airline", outcome(&ask::airline(&after(&[]), "OW"))),
    ]
}

#[test]
fn error_status_without_error_of_duffel_refuses_nothing_and_proves_no_absence() {
    let statuses = [
        300, 302, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 413, 422, 429, 451, 500, 502,
        503, 504, 520,
    ];
    for status in statuses {
        let expected = match status {
            401 | 403 => Misconfigured,
            408 | 504 => TimedOut,
            429 => RateLimited,
            503 => Unavailable,
            500..=599 => Failed,
            _ => InvalidResponse,
        };
        // Before a change, the status alone shows a rate limit.
        let unsent = match status {
            429 => RateLimited,
            _ => NotSent,
        };
        for body in unreadable_errors() {
            let failed = Response::new(status, &body);
            for (name, outcome) in reads(&failed) {
                assert_eq!(outcome, expected, "{name}: {status} {body}");
            }
            let after = |fixtures: &[&str]| ask::fixtures(fixtures).respond(failed.clone());
            let patched = ask::fixtures(&["offer.json"]).respond_with(200, PATCHED);
            let reread = patched.respond(failed.clone());
            for (name, outcome, expected) in [
                ("prebook", outcome(&ask::prebook(&after(&[]))), unsent),
                (
                    "loyalty",
                    outcome(&ask::loyal_prebook(&after(&["offer.json"]))),
                    Unknown,
                ),
                (
                    "re-read offer",
                    outcome(&ask::loyal_prebook(&reread)),
                    Unknown,
                ),
                ("book", outcome(&ask::book(&after(&[]))), Unknown),
                ("cancel", outcome(&ask::cancel(&after(&[]))), unsent),
                (
                    "cancel, quote",
                    outcome(&ask::cancel(&after(&["order.json"]))),
                    Unknown,
                ),
                ("purchase", outcome(&ask::buy_bags(&after(&[]))), Unknown),
            ] {
                assert_eq!(outcome, expected, "{name}: {status} {body}");
            }
            let quoted = after(&["order.json", "quote.json"]);
            assert_eq!(outcome(&ask::cancel(&quoted)), Unknown, "{status} {body}");
        }
    }
}

#[test]
fn unreadable_success_is_an_error_for_every_read() {
    for body in [
        "",
        "<html>ok</html>",
        "{",
        "{}",
        "[]",
        "null",
        r#"{"data": null}"#,
        r#"{"data": ""}"#,
        r#"{"data": 5}"#,
        r#"{"data": {}}"#,
        r#"{"data": [7, null]}"#,
        r#"{"data": [], "errors": [{"code": "not_found"}]}"#,
    ] {
        for status in [200, 201, 202, 206] {
            for (name, outcome) in reads(&Response::new(status, body)) {
                assert_eq!(outcome, InvalidResponse, "{name}: {status} {body}");
            }
        }
    }
}

#[test]
fn only_not_found_error_of_duffel_proves_that_an_order_is_missing() {
    let missing = ask::error("invalid_request_error", "not_found");
    let found = ask::found(&MockGateway::with_responses(&[(404, &missing)]));
    assert_eq!(found, Ok(None));
    for (status, body) in [
        (404, "<html>not found</html>".to_owned()),
        (404, ask::error("invalid_request_error", "route_not_found")),
        (410, missing.clone()),
        (422, missing),
    ] {
        let result = ask::found(&MockGateway::with_responses(&[(status, &body)]));
        assert_ne!(outcome(&result), Done, "{status} {body}");
        assert_ne!(outcome(&result), NotFound, "{status} {body}");
    }
}

#[test]
fn two_errors_of_which_one_is_unlisted_prove_nothing() {
    let price = "payment_amount_does_not_match_order_amount";
    for (status, code) in [
        (404, "not_found"),
        (422, price),
        (429, "rate_limit_exceeded"),
    ] {
        let body = json!({ "errors": [{ "code": code }, { "code": "something_new" }] }).to_string();
        let gateway = || MockGateway::with_responses(&[(status, body.as_str())]);
        assert_eq!(outcome(&ask::book(&gateway())), Unknown, "{code}");
        let unsent = match status {
            429 => RateLimited,
            _ => NotSent,
        };
        assert_eq!(outcome(&ask::prebook(&gateway())), unsent, "{code}");
        assert_ne!(outcome(&ask::found(&gateway())), Done, "{code}");
    }
}

/// Bodies that are no order of this booking.
fn no_orders() -> Vec<String> {
    let with = |pointer: &str, value: Value| ask::changed("order.json", &[(pointer, value)]);
    let mut contradictory: Value = serde_json::from_str(&ask::fixture("order.json")).unwrap();
    contradictory["errors"] = json!([{ "code": "order_not_created" }]);
    vec![
        ask::fixture("offer.json"),
        ask::fixture("quote.json"),
        ask::fixture("offer-request.json"),
        ask::fixture("services.json"),
        with("/id", json!("off_flex")),
        with("/id", json!(null)),
        with("/id", json!(7)),
        with("/total_currency", json!("euros")),
        with("/cancelled_at", json!("yes")),
        with("/cancelled_at", json!(false)),
        with("/payment_status/awaiting_payment", json!("no")),
        with("/metadata/gateway_booking_id", json!("bkg_other")),
        with("/metadata/gateway_booking_id", json!(1)),
        r#"{"data": {"id": "ord_own"}}"#.to_owned(),
        contradictory.to_string(),
    ]
}

#[test]
fn response_that_is_no_order_of_the_booking_proves_nothing() {
    for body in no_orders() {
        for status in [200, 201] {
            let gateway = || MockGateway::with_responses(&[(status, body.as_str())]);
            assert_eq!(outcome(&ask::book(&gateway())), Unknown, "{body}");
            assert_eq!(outcome(&ask::buy_bags(&gateway())), Unknown, "{body}");
            assert_eq!(outcome(&ask::found(&gateway())), InvalidResponse, "{body}");
            assert_eq!(outcome(&ask::quote(&gateway())), InvalidResponse, "{body}");
            assert_eq!(outcome(&ask::cancel(&gateway())), NotSent, "{body}");
        }
    }
    // A new order is not cancelled, and not in another currency.
    let dollars = ask::changed("order.json", &[("/total_currency", json!("USD"))]);
    for body in [ask::canceled_order(), dollars] {
        let result = ask::book(&MockGateway::with_responses(&[(201, &body)]));
        assert_eq!(outcome(&result), Unknown, "{body}");
    }
}

#[test]
fn accepted_order_is_pending_only_if_the_response_does_not_contradict_it() {
    let other = ("/metadata/gateway_booking_id", json!("bkg_other"));
    let other = ask::changed("order.json", &[other]);
    let failed = ask::error("api_error", "internal_server_error");
    let (failed, other) = (failed.as_str(), other.as_str());
    for body in [
        "<html>accepted</html>",
        "[]",
        r#"{"data": 5}"#,
        failed,
        other,
    ] {
        let result = ask::book(&MockGateway::with_responses(&[(202, body)]));
        assert_eq!(outcome(&result), Unknown, "{body}");
    }
}

#[test]
fn unreadable_list_of_orders_does_not_prove_that_an_order_is_missing() {
    let own = ask::fixture("order.json");
    let with = |metadata, passengers| {
        let id = ("/id", json!("ord_listed"));
        let values = [("/metadata", metadata), ("/passengers", passengers), id];
        ask::changed("order.json", &values)
    };
    let other_ids = || json!([{ "id": "pas_x" }, { "id": "pas_y" }, { "id": "pas_z" }]);
    let stranger = with(json!({ "gateway_booking_id": "bkg_other" }), other_ids());
    let nameless = with(json!(null), other_ids());
    let without_passengers = with(json!(null), json!(null));
    let nobody = with(json!(null), json!([]));
    let odd = ask::changed("order.json", &[("/metadata", json!(5))]);
    let no_order = r#"{"data": {"id": "off_flex"}}"#.to_owned();
    let again = ask::changed("order.json", &[("/id", json!("ord_again"))]);
    let lookup = |items: &[&str], meta: Value| {
        let mut list: Value = serde_json::from_str(&ask::list(items, None)).unwrap();
        list["meta"] = meta;
        ask::find_by_offer(&MockGateway::new().respond_with(200, list.to_string()))
    };
    let none = || json!(null);
    assert_eq!(lookup(&[&stranger], none()), Ok(BookingLookup::NotFound));
    // Without metadata, the passengers of the offer show whose an order is.
    let ids = json!([{ "id": "pas_infant" }, { "id": "pas_child" }, { "id": "pas_adult" }]);
    let unlabelled = with(json!(null), ids);
    let Ok(BookingLookup::Found(found)) = lookup(&[&stranger, &unlabelled], none()) else {
        panic!("not found");
    };
    assert_eq!(found.supplier_reference, "ord_listed");
    let unreadable: [&[&str]; 8] = [
        &[&nameless],
        &[&without_passengers],
        &[&nobody],
        &[&odd],
        &[&stranger, &odd],
        &[&no_order],
        &[r#"{"data": null}"#],
        &[&own, &again],
    ];
    for items in unreadable {
        assert_eq!(
            outcome(&lookup(items, none())),
            InvalidResponse,
            "{items:?}"
        );
    }
    for meta in [json!(5), json!({ "after": 5 }), json!({ "after": ["x"] })] {
        assert_eq!(
            outcome(&lookup(&[&stranger], meta.clone())),
            InvalidResponse,
            "{meta}"
        );
        let found = lookup(&[&own], meta);
        assert!(matches!(found, Ok(BookingLookup::Found(_))), "{found:?}");
    }
    let found = lookup(&[&odd, &own], none());
    assert!(matches!(found, Ok(BookingLookup::Found(_))), "{found:?}");
    let request: FindRequest = ask::find_request(None, Some("off_flex"));
    let foreign = ask::find_of(&MockGateway::new(), request);
    assert_eq!(outcome(&foreign), Rejected("invalid"));
}

#[test]
fn loyalty_of_another_passenger_is_unknown() {
    for body in [
        r#"{"data": {"id": "pas_child"}}"#,
        r#"{"data": {"id": null}}"#,
    ] {
        let gateway = ask::fixtures(&["offer.json"]).respond_with(200, body);
        assert_eq!(outcome(&ask::loyal_prebook(&gateway)), Unknown, "{body}");
    }
}

#[test]
fn odd_part_of_a_changed_passenger_costs_nothing() {
    let body = r#"{"data": {"id": "pas_adult", "type": [], "age": {}}}"#;
    let gateway = ask::fixtures(&["offer.json"]).respond_with(200, body);
    let gateway = gateway.respond_with(200, ask::fixture("offer.json"));
    let prebook = ask::loyal_prebook(&gateway);
    assert!(prebook.is_ok(), "{prebook:?}");
}

/// After one passenger's programmes are set, nothing is "not sent" any more.
#[test]
fn failure_at_second_passenger_is_unknown() {
    let limited = ask::error("rate_limit_error", "rate_limit_exceeded");
    let patched = || ask::fixtures(&["offer.json"]).respond_with(200, PATCHED);
    for gateway in [
        patched().respond_with(429, limited),
        // No response is scripted, so the request is not sent.
        patched(),
    ] {
        let mut request = ask::loyal_prebook_request();
        request.passengers[1].loyalty_accounts = request.passengers[0].loyalty_accounts.clone();
        let result = ask::prebook_of(&gateway, request);
        assert_eq!(outcome(&result), Unknown);
    }
}

#[test]
fn unreadable_offer_is_not_sent_before_and_unknown_after_loyalty() {
    for (pointer, value) in [
        ("/total_amount", json!(null)),
        ("/total_currency", json!(null)),
        ("/total_currency", json!("euros")),
        ("/passengers/0/type", json!("")),
        ("/passengers/1/id", json!("pas_child")),
        ("/passengers", json!(null)),
        ("/passengers", json!([])),
        ("/expires_at", json!("soon")),
        ("/slices", json!([])),
        ("/slices/0/segments/0/departing_at", json!("noon")),
    ] {
        let offer = ask::changed("offer.json", &[(pointer, value.clone())]);
        // A child is known by its age, too.
        let expected = if pointer == "/passengers/0/type" {
            Done
        } else {
            NotSent
        };
        let result = ask::prebook(&MockGateway::new().respond_with(200, &offer));
        assert_eq!(outcome(&result), expected, "{pointer} {value}");
        let is_passenger = pointer.starts_with("/passengers");
        if !is_passenger {
            let gateway = ask::fixtures(&["offer.json"])
                .respond_with(200, PATCHED)
                .respond_with(200, &offer);
            let result = ask::loyal_prebook(&gateway);
            assert_eq!(outcome(&result), Unknown, "{pointer} {value}");
        }
    }
    // The adult's type cannot be read, so the party is not known to be another one.
    let offer = ask::changed("offer.json", &[("/passengers/1/type", json!(null))]);
    let result = ask::prebook(&MockGateway::new().respond_with(200, offer));
    assert_eq!(outcome(&result), NotSent);
    let offer = ask::changed("offer.json", &[("/passengers/1/age", json!(9))]);
    let result = ask::prebook(&MockGateway::new().respond_with(200, offer));
    assert_eq!(outcome(&result), Refused("invalid"));
}

#[test]
fn child_without_age_is_a_child_at_search_and_prebook() {
    for age in [json!(null), json!("8"), json!("eight"), json!({})] {
        let of_child = |name: &str| {
            let mut document: Value = serde_json::from_str(&ask::fixture(name)).unwrap();
            let passengers = document["data"]["passengers"].as_array_mut().unwrap();
            let mut passengers = passengers.iter_mut();
            let child = passengers.find(|one| one["age"] == 8).unwrap();
            child["type"] = json!("child");
            child["age"] = age.clone();
            document.to_string()
        };
        let gateway = MockGateway::new()
            .respond_with(201, of_child("offer-request.json"))
            .respond_with(200, ask::fixture("offers-2.json"));
        assert_eq!(ask::price(&gateway).unwrap().offers.len(), 1, "{age}");
        let gateway = MockGateway::new().respond_with(200, of_child("offer.json"));
        let bound = ask::prebook(&gateway).unwrap();
        assert_eq!(bound.supplier_prebook, ask::PREBOOK, "{age}");
        assert_eq!(bound.total, 36_040);

        let request = PriceRequest {
            passengers: PassengerCounts {
                adults: 2,
                children: vec![],
                infants: 1,
            },
            ..ask::price_request()
        };
        let gateway = MockGateway::new().respond_with(201, of_child("offer-request.json"));
        let result = ask::price_of(&gateway, request);
        assert_eq!(outcome(&result), InvalidResponse, "a child is no adult");
    }
}

#[test]
fn current_name_of_document_types_takes_precedence_in_both_orders() {
    let (current, older) = (
        "\"supported_passenger_identity_document_types\"",
        "\"allowed_passenger_identity_document_types\"",
    );
    let passport = "[\"passport\"]";
    let offer = ask::fixture("offer.json");
    let begin = offer.find(current).unwrap();
    let end = begin + offer[begin..].find(']').unwrap() + 1;
    let with = |fields: &str| [&offer[..begin], fields, &offer[end..]].concat();
    for (supported, allowed, accepted) in [
        (passport, "[]", true),
        (passport, "null", true),
        (passport, "[\"visa\"]", true),
        ("[]", passport, true),
        ("null", passport, true),
        ("[\"visa\"]", passport, false),
        ("[]", "[]", false),
        ("null", "null", false),
    ] {
        let fields = [
            format!("{current}: {supported}"),
            format!("{older}: {allowed}"),
        ];
        let [first, second] = &fields;
        for fields in [format!("{first}, {second}"), format!("{second}, {first}")] {
            let result = ask::prebook(&MockGateway::new().respond_with(200, with(&fields)));
            let is_any = [supported, allowed].iter().any(|types| types.len() > 4);
            let expected = match accepted {
                true => Done,
                // An offer that requires documents accepts some.
                false if !is_any => NotSent,
                false => Refused("invalid"),
            };
            assert_eq!(outcome(&result), expected, "{fields}");
        }
    }
}

#[test]
fn current_name_of_departure_takes_precedence_in_both_orders() {
    let departing = "\"departing_at\": \"2027-06-01T09:00:00\"";
    let order = ask::fixture("order.json");
    assert!(order.contains(departing));
    for (time, older) in [
        ("\"2027-06-01T09:00:00\"", "\"2020-01-01T00:00:00\""),
        ("\"2027-06-01T09:00:00\"", "null"),
        ("null", "\"2027-06-01T09:00:00\""),
        ("\"\"", "\"2027-06-01T09:00:00\""),
    ] {
        let fields = [
            format!("\"departing_at\": {time}"),
            format!("\"departure_datetime\": {older}"),
        ];
        let [first, second] = &fields;
        for fields in [format!("{first}, {second}"), format!("{second}, {first}")] {
            let order = order.replacen(departing, &fields, 1);
            let state = ask::found(&MockGateway::new().respond_with(200, order));
            let state = state.unwrap().unwrap();
            let departure = &state.journeys[0].segments[0].departure_time;
            assert_eq!(departure, "2027-06-01T09:00", "{fields}");
        }
    }
}
