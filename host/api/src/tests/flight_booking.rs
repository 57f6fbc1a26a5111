//! Validation of flight booking requests. No supplier is loaded, so a request without violations
//! fails at the supplier call.

use super::hotel::expect;
use super::*;
use host_application::offers::terms::FlightOfferTerms;
use host_application::offers::token;
use host_domain::flight::passenger::Travellers;
use host_domain::money::{Currency, Money};
use host_domain::supplier::SupplierId;

const PREBOOK: &str = "/v1/flight/prebook";

fn ada() -> Value {
    json!({
        "type": "ADULT", "title": "MS", "first_name": "Ada", "last_name": "Lovelace",
        "date_of_birth": "1990-12-10", "gender": "F", "nationality": "GB",
    })
}

/// Returns a passenger with some members replaced.
fn ada_with(members: Value) -> Value {
    let mut passenger = ada();
    for (name, value) in members.as_object().unwrap() {
        passenger[name] = value.clone();
    }
    passenger
}

fn prebook() -> Value {
    json!({
        "offer_reference": "abc",
        "contact": {"email": "ada@example.com", "phone": "+44 20 7946-0958"},
        "passengers": [ada()],
    })
}

/// Returns a request for one passenger, with some members replaced.
fn with(members: Value) -> Value {
    json!({ "passengers": [ada_with(members)] })
}

fn passport(expires_on: &str) -> Value {
    json!({"type": "PASSPORT", "number": "X1234567", "issuing_country": "GB", "expires_on": expires_on})
}

#[tokio::test]
async fn invalid_passengers_are_rejected() {
    expect(
        PREBOOK,
        &prebook(),
        &[
            (json!({}), &[]),
            (json!({"passengers": []}), &["body /passengers too_few"]),
            (
                json!({"passengers": vec![ada(); 19]}),
                &["body /passengers too_many"],
            ),
            (
                with(json!({"title": "SIR", "gender": "FEMALE", "nationality": "UK"})),
                &[
                    "body /passengers/0/gender not_allowed",
                    "body /passengers/0/nationality not_allowed",
                    "body /passengers/0/title not_allowed",
                ],
            ),
            (
                json!({"passengers": [{"type": "ADULT"}]}),
                &[
                    "body /passengers/0/date_of_birth required",
                    "body /passengers/0/first_name required",
                    "body /passengers/0/gender required",
                    "body /passengers/0/last_name required",
                    "body /passengers/0/nationality required",
                ],
            ),
            (
                with(json!({"first_name": "Zoë-Anne d’Arc Jr.", "last_name": "Nguyễn"})),
                &[],
            ),
            (
                with(json!({"first_name": " ", "last_name": "B4"})),
                &[
                    "body /passengers/0/first_name pattern",
                    "body /passengers/0/last_name pattern",
                ],
            ),
            (
                with(json!({"first_name": "", "last_name": "<b>"})),
                &[
                    "body /passengers/0/first_name pattern",
                    "body /passengers/0/first_name too_short",
                    "body /passengers/0/last_name pattern",
                ],
            ),
            (
                with(json!({"seat": "1A"})),
                &["body /passengers/0/seat unknown_field"],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn birth_date_impossible_for_passenger_type_is_rejected() {
    // Ages on 2026-11-21, for a flight within a year.
    let wrong = |code: &str| vec![format!("body /passengers/0/date_of_birth {code}")];
    let server = Server::start().await;
    for (kind, born, violations) in [
        ("ADULT", "2026-11-21", wrong("in_the_future")),
        ("ADULT", "1896-11-21", wrong("too_long_ago")),
        ("ADULT", "2015-11-22", wrong("other_than_type")),
        ("ADULT", "2015-11-21", vec![]),
        ("CHILD", "2008-11-21", wrong("other_than_type")),
        ("CHILD", "2008-11-22", vec![]),
        ("CHILD", "2025-11-22", wrong("other_than_type")),
        ("INFANT", "2024-11-21", wrong("other_than_type")),
        ("INFANT", "2024-11-22", vec![]),
    ] {
        let mut request = prebook();
        request["passengers"] = json!([ada_with(json!({"type": kind, "date_of_birth": born}))]);
        let reply = server.post(PREBOOK, request.to_string()).await;
        assert_eq!(reply.violations(), violations, "{kind} {born}");
    }
}

#[tokio::test]
async fn invalid_documents_and_memberships_are_rejected() {
    let accounts = |list: Value| with(json!({ "loyalty_accounts": list }));
    let account = |airline: &str, number: &str| json!({"airline_iata_code": airline, "membership_number": number});
    expect(PREBOOK, &prebook(), &[
        (with(json!({"document": passport("2026-11-22")})), &[]),
        (with(json!({"document": passport("2026-11-21")})), &["body /passengers/0/document/expires_on in_the_past"]),
        (with(json!({"document": {"type": "VISA", "number": "X 1", "issuing_country": "ZZ", "expires_on": "soon"}})), &[
            "body /passengers/0/document/expires_on format", "body /passengers/0/document/issuing_country not_allowed",
            "body /passengers/0/document/number pattern", "body /passengers/0/document/type not_allowed",
        ]),
        (accounts(json!([account("ZZ", "ZZ-10"), account("BA", "1")])), &[]),
        (accounts(json!([account("BA", "1"), account("BA", "2")])), &["body /passengers/0/loyalty_accounts/1 duplicate"]),
        (accounts(json!([account("ba", "")])), &[
            "body /passengers/0/loyalty_accounts/0/airline_iata_code pattern",
            "body /passengers/0/loyalty_accounts/0/membership_number pattern", "body /passengers/0/loyalty_accounts/0/membership_number too_short",
        ]),
    ]).await;
}

#[tokio::test]
async fn invalid_contact_email_and_phone_are_rejected() {
    let phone = |number: &str| json!({"contact": {"email": "ada@example.com", "phone": number}});
    let wrong: &[&str] = &["body /contact/phone pattern"];
    expect(PREBOOK, &prebook(), &[
        (phone("+442079460958"), &[]),
        (phone("+1 212.555-0100"), &[]),
        (phone("02079460958"), wrong),
        (phone("+44 (0)20 7946 0958"), wrong),
        (phone("+123456"), wrong),
        (phone("+1234567890123456"), wrong),
        (json!({"contact": {"email": "ada@", "phone": "+442079460958", "first_name": "Ada"}}), &[
            "body /contact/email pattern", "body /contact/first_name unknown_field",
        ]),
        (json!({"contact": null, "offer_reference": "", "reference_id": ""}), &[
            "body /contact required", "body /offer_reference too_short", "body /reference_id too_short",
        ]),
    ]).await;
}

#[tokio::test]
async fn passengers_must_match_priced_travellers() {
    let server = Server::start().await;
    let tenant = Tenant {
        organization: "acme".to_owned(),
        mode: Mode::Test,
    };
    let offer = |documents_required| FlightOfferTerms {
        supplier: SupplierId::parse("SUPPLIER_A").unwrap(),
        supplier_offer: "off-1".to_owned(),
        exclusive_key: None,
        total: Money::new(42_000, Currency::parse("GBP").unwrap()),
        travellers: Travellers {
            adults: 1,
            children: vec![7],
            infants: 1,
        },
        documents_required,
        expires_at: server.app.clock.now().plus_s(60),
    };
    let reference = |documents_required| {
        let offer = offer(documents_required);
        token::encode(&server.app.sealer, &tenant, &offer).unwrap()
    };
    let child = || ada_with(json!({"type": "CHILD", "date_of_birth": "2019-05-01"}));
    let infant = || {
        ada_with(
            json!({"type": "INFANT", "date_of_birth": "2026-05-01", "document": passport("2030-01-01")}),
        )
    };
    let other = "body /passengers other_than_offered";
    let without = |at: u8| format!("body /passengers/{at}/document required");
    for (documents_required, passengers, violations) in [
        (false, vec![infant(), child(), ada()], vec![]),
        (false, vec![ada(), child()], vec![other.to_owned()]),
        (false, vec![ada(), ada(), child()], vec![other.to_owned()]),
        (
            false,
            vec![ada(), child(), infant(), infant()],
            vec![other.to_owned()],
        ),
        (
            true,
            vec![ada(), child(), infant()],
            vec![without(0), without(1)],
        ),
        (
            true,
            vec![infant(), child()],
            vec![other.to_owned(), without(1)],
        ),
    ] {
        let mut request = prebook();
        request["offer_reference"] = json!(reference(documents_required));
        request["passengers"] = json!(passengers);
        let reply = server.post(PREBOOK, request.to_string()).await;
        assert_eq!(reply.violations(), violations, "{}", reply.body);
        let code = match violations.is_empty() {
            // No supplier is loaded.
            true => "supplier_operation_unsupported",
            false => "validation_failed",
        };
        assert_eq!(reply.code(), code);
    }
}

#[tokio::test]
async fn undecodable_offer_reference_returns_offer_invalid() {
    let server = Server::start().await;
    let mut request = prebook();
    for reference in ["AQJr", "a.b.c", "no reference!", "é"] {
        request["offer_reference"] = json!(reference);
        let reply = server.post(PREBOOK, request.to_string()).await;
        assert_eq!(reply.code(), "offer_invalid", "{reference}");
    }
}

#[tokio::test]
async fn invalid_service_purchase_requests_are_rejected() {
    let body = json!({
        "services": [{"id": "svc_1", "quantity": 1}],
        "payment_instrument_id": "inst_1",
    });
    let services = |list: Value| json!({ "services": list });
    let server = Server::start().await;
    for (changes, violations) in [
        (json!({}), vec![]),
        (services(json!([])), vec!["body /services too_few"]),
        (
            services(json!([{"id": "bag_1", "quantity": 0}])),
            vec![
                "body /services/0/id pattern",
                "body /services/0/quantity too_small",
            ],
        ),
        (
            services(json!([{"id": "svc_1", "quantity": 1}, {"id": "svc_1", "quantity": 2}])),
            vec!["body /services/1/id duplicate"],
        ),
        (
            json!({"payment_instrument_id": "visa"}),
            vec!["body /payment_instrument_id pattern"],
        ),
    ] {
        let mut request = body.clone();
        for (name, value) in changes.as_object().unwrap() {
            request[name] = value.clone();
        }
        let reply = server
            .post("/v1/flight/bookings/bkg_1/services", request.to_string())
            .await;
        assert_eq!(reply.violations(), violations, "{}", reply.body);
        let code = match violations.is_empty() {
            true => "booking_not_found",
            false => "validation_failed",
        };
        assert_eq!(reply.code(), code);
    }
}

#[tokio::test]
async fn purchase_and_prebook_require_valid_idempotency_key() {
    let server = Server::start().await;
    let bags =
        json!({"services": [{"id": "svc_1", "quantity": 1}], "payment_instrument_id": "inst_1"});
    for (path, body, longest) in [
        (PREBOOK, prebook(), 200),
        ("/v1/flight/bookings/bkg_1/services", bags, 256),
    ] {
        for (key, code) in [
            (None, Some("required")),
            (Some("k".repeat(longest)), None),
            (Some("k".repeat(longest + 1)), Some("pattern")),
        ] {
            let mut headers = vec![
                ("x-api-key", server.key.as_str()),
                ("content-type", "application/json"),
            ];
            headers.extend(key.as_deref().map(|key| ("x-idempotency-key", key)));
            let reply = server
                .send(Method::POST, path, &headers, body.to_string().into_bytes())
                .await;
            let expected: Vec<String> = code
                .map(|code| format!("header /x-idempotency-key {code}"))
                .into_iter()
                .collect();
            assert_eq!(reply.violations(), expected, "{path}");
        }
    }
}

#[tokio::test]
async fn flight_cancel_rejects_unknown_fields_and_unknown_bookings_return_404() {
    let server = Server::start().await;
    let cancel = "/v1/flight/bookings/bkg_1/cancel";
    for (body, violations) in [
        (json!({"reason": "ill"}), ["body /reason unknown_field"]),
        (json!({"room_ids": []}), ["body /room_ids unknown_field"]),
        (json!([]), ["body  type"]),
    ] {
        assert_eq!(
            server.post(cancel, body.to_string()).await.violations(),
            violations
        );
    }
    for path in ["book", "cancel"] {
        let path = format!("/v1/flight/bookings/bkg_1/{path}");
        assert_eq!(
            server.post(&path, "{}").await.code(),
            "booking_not_found",
            "{path}"
        );
    }
    for path in ["", "/cancellation-quote", "/services"] {
        let path = format!("/v1/flight/bookings/bkg_1{path}");
        assert_eq!(
            server.get(&path).await.code(),
            "booking_not_found",
            "{path}"
        );
    }
    assert_eq!(
        server.get("/v1/flight/bookings/ord_1").await.violations(),
        ["path /id pattern"]
    );
}

#[tokio::test]
async fn flight_booking_list_validates_filters_and_page() {
    let server = Server::start().await;
    let list = "/v1/flight/bookings";
    let empty = json!({"limit": 20, "offset": 0, "has_more": false, "total": 0});
    let reply = server.get(list).await;
    assert_eq!(
        reply.body,
        json!({"data": [], "meta": {"pagination": empty}})
    );
    for query in [
        "limit=100&offset=2000000&order=asc&sort=total_amount&status=CANCEL_IN_PROGRESS&supplier=ANY_1",
        "created_from=2026-01-01&created_to=9999-12-31&supplier_reference=ord_1",
        "created_from=2026-01-01T00:00:00Z&created_to=2026-01-01T00:00:00.999%2B01:00",
    ] {
        let reply = server.get(&format!("{list}?{query}")).await;
        assert_eq!(reply.status, 200, "{query} {}", reply.body);
    }
    for (query, violation) in [
        ("limit=0", "query /limit too_small"),
        ("limit=101", "query /limit too_large"),
        ("offset=-1", "query /offset too_small"),
        ("status=PARTIALLY_CANCELED", "query /status not_allowed"),
        ("supplier=supplier_a", "query /supplier pattern"),
        ("supplier_reference=", "query /supplier_reference too_short"),
        ("sort=departure", "query /sort not_allowed"),
        ("order=DESC", "query /order not_allowed"),
        ("created_from=yesterday", "query /created_from format"),
        ("created_to=2026-02-30", "query /created_to format"),
        ("created_to=2026-01-01T00:00:00", "query /created_to format"),
        ("page=1", "query /page unknown_field"),
    ] {
        let reply = server.get(&format!("{list}?{query}")).await;
        assert_eq!(reply.violations(), [violation], "{query}");
    }
}
