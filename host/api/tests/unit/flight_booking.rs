//! Validation of flight booking requests. No supplier is loaded, so a request without violations
//! fails at the supplier call.

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

pub(super) fn prebook() -> Value {
    json!({
        "offer_reference": "abc",
        "contact": {"email": "ada@example.com", "phone": "+44 20 7946-0958"},
        "passengers": [ada()],
    })
}

#[tokio::test]
async fn invalid_passengers_are_rejected() {
    let table = r#"
        {} =>
        {"passengers": []} => /passengers too_few
        {"passengers": MANY} => /passengers too_many
        {"passengers": [{"type": "ADULT"}]} => /passengers/0/date_of_birth required, /passengers/0/first_name required, \
            /passengers/0/gender required, /passengers/0/last_name required, /passengers/0/nationality required
    "#;
    let many = json!(vec![ada(); 19]).to_string();
    expect(PREBOOK, &prebook(), &table.replace("MANY", &many)).await;
    let table = r#"
        {"title": "SIR", "gender": "FEMALE", "nationality": "UK"} => /gender not_allowed, /nationality not_allowed, /title not_allowed
        {"first_name": "Zoë-Anne d’Arc Jr.", "last_name": "Nguyễn"} =>
        {"first_name": " ", "last_name": "B4"} => /first_name pattern, /last_name pattern
        {"first_name": "", "last_name": "<b>"} => /first_name pattern, /first_name too_short, /last_name pattern
        {"seat": "1A"} => /seat unknown_field
    "#;
    expect_at("/passengers/0", PREBOOK, &prebook(), table).await;
}

#[tokio::test]
async fn birth_date_impossible_for_passenger_type_is_rejected() {
    // Ages on 2026-11-21, for a flight within a year.
    let table = r#"
        {"type": "ADULT", "date_of_birth": "2026-11-21"} => /date_of_birth in_the_future
        {"type": "ADULT", "date_of_birth": "1896-11-21"} => /date_of_birth too_long_ago
        {"type": "ADULT", "date_of_birth": "2015-11-22"} => /date_of_birth other_than_type
        {"type": "ADULT", "date_of_birth": "2015-11-21"} =>
        {"type": "CHILD", "date_of_birth": "2008-11-21"} => /date_of_birth other_than_type
        {"type": "CHILD", "date_of_birth": "2008-11-22"} =>
        {"type": "CHILD", "date_of_birth": "2025-11-22"} => /date_of_birth other_than_type
        {"type": "INFANT", "date_of_birth": "2024-11-21"} => /date_of_birth other_than_type
        {"type": "INFANT", "date_of_birth": "2024-11-22"} =>
        {"type": "DOG", "date_of_birth": "2026-11-21", "first_name": null} => \
            /date_of_birth in_the_future, /first_name required, /type not_allowed
        {"type": "DOG", "date_of_birth": "2024-11-21"} => /type not_allowed
    "#;
    expect_at("/passengers/0", PREBOOK, &prebook(), table).await;
}

#[tokio::test]
async fn invalid_documents_and_memberships_are_rejected() {
    let table = r#"
        {"document": {"type": "PASSPORT", "number": "X1234567", "issuing_country": "GB", "expires_on": "2026-11-22"}} =>
        {"document": {"type": "PASSPORT", "number": "X1234567", "issuing_country": "GB", "expires_on": "2026-11-21"}} => \
            /document/expires_on in_the_past
        {"document": {"type": "VISA", "number": "X 1", "issuing_country": "ZZ", "expires_on": "soon"}} => \
            /document/expires_on format, /document/issuing_country not_allowed, /document/number pattern, /document/type not_allowed
        {"loyalty_accounts": [{"airline_iata_code": "ZZ", "membership_number": "ZZ-10"}, \
            {"airline_iata_code": "BA", "membership_number": "1"}]} =>
        {"loyalty_accounts": [{"airline_iata_code": "BA", "membership_number": "1"}, \
            {"airline_iata_code": "BA", "membership_number": "2"}]} => /loyalty_accounts/1 duplicate
        {"loyalty_accounts": [{"airline_iata_code": "ba", "membership_number": ""}]} => \
            /loyalty_accounts/0/airline_iata_code pattern, \
            /loyalty_accounts/0/membership_number pattern, /loyalty_accounts/0/membership_number too_short
    "#;
    expect_at("/passengers/0", PREBOOK, &prebook(), table).await;
}

#[tokio::test]
async fn invalid_contact_email_and_phone_are_rejected() {
    let table = r#"
        {"phone": "+442079460958"} =>
        {"phone": "+1 212.555-0100"} =>
        {"phone": "02079460958"} => /phone pattern
        {"phone": "+44 (0)20 7946 0958"} => /phone pattern
        {"phone": "+123456"} => /phone pattern
        {"phone": "+1234567890123456"} => /phone pattern
        {"email": "ada@", "phone": "+442079460958", "first_name": "Ada"} => /email pattern, /first_name unknown_field
    "#;
    expect_at("/contact", PREBOOK, &prebook(), table).await;
    let table = r#"{"contact": null, "offer_reference": "", "reference_id": ""} => \
        /contact required, /offer_reference too_short, /reference_id too_short"#;
    expect(PREBOOK, &prebook(), table).await;
}

/// Returns the reference of a fare for an adult, a child of seven and an infant.
fn offer_reference(server: &Server, documents_required: bool) -> String {
    let offer = FlightOfferTerms {
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
    token::encode(&server.app.sealer, &acme(), &offer).unwrap()
}

/// A rule about the fare is told together with all others, and only about valid values.
#[tokio::test]
async fn passengers_other_than_priced_are_told_with_all_other_violations() {
    let server = Server::start().await;
    let reference = offer_reference(&server, true);
    let table = r#"
        {"contact": {"email": "ada@", "phone": "+442079460958"}} => body /contact/email pattern,             body /passengers other_than_offered, body /passengers/0/document required
        {"reference_id": "", "passengers": []} => body /passengers too_few, body /reference_id too_short
        {"passengers": [true]} => body /passengers/0 type
        {"passengers": [{"type": "DOG"}]} => body /passengers/0/date_of_birth required,             body /passengers/0/document required, body /passengers/0/first_name required,             body /passengers/0/gender required, body /passengers/0/last_name required,             body /passengers/0/nationality required, body /passengers/0/type not_allowed
        {"passengers": MANY} => body /passengers too_many
    "#;
    let mut documented = ada();
    documented["document"] = json!({"type": "PASSPORT", "number": "X1234567", "issuing_country": "GB", "expires_on": "2030-01-01"});
    let many = json!(vec![documented; 19]).to_string();
    for (change, violations) in cases(&table.replace("MANY", &many)) {
        let mut request = changed(&prebook(), &serde_json::from_str(&change).unwrap());
        request["offer_reference"] = json!(reference);
        let reply = server.post(PREBOOK, request.to_string()).await;
        assert_eq!(reply.violations(), violations, "{change}: {}", reply.body);
    }
}

#[tokio::test]
async fn passengers_must_match_priced_travellers() {
    let server = Server::start().await;
    let child = changed(
        &ada(),
        &json!({"type": "CHILD", "date_of_birth": "2019-05-01"}),
    );
    let passport = json!({"type": "PASSPORT", "number": "X1234567", "issuing_country": "GB", "expires_on": "2030-01-01"});
    let infant = json!({"type": "INFANT", "date_of_birth": "2026-05-01", "document": passport});
    let infant = changed(&ada(), &infant);
    let table = "
        infant child adult =>
        adult child => body /passengers other_than_offered
        adult adult child => body /passengers other_than_offered
        adult child infant infant => body /passengers other_than_offered
        documents adult child infant => body /passengers/0/document required, body /passengers/1/document required
        documents infant child => body /passengers other_than_offered, body /passengers/1/document required
    ";
    for (offered, violations) in cases(table) {
        let people = offered.trim_start_matches("documents ");
        let passengers = people.split(' ').map(|kind| match kind {
            "child" => child.clone(),
            "infant" => infant.clone(),
            _ => ada(),
        });
        let mut request = prebook();
        request["offer_reference"] = json!(offer_reference(&server, people != offered));
        request["passengers"] = passengers.collect();
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
async fn invalid_service_purchase_requests_are_rejected() {
    let body = json!({
        "services": [{"id": "svc_1", "quantity": 1}],
        "payment_instrument_id": "inst_1",
    });
    let table = r#"
        {"services": []} => /services too_few
        {"services": [{"id": "bag_1", "quantity": 0}]} => /services/0/id pattern, /services/0/quantity too_small
        {"services": [{"id": "svc_1", "quantity": 1}, {"id": "svc_1", "quantity": 2}]} => /services/1/id duplicate
        {"payment_instrument_id": "visa"} => /payment_instrument_id pattern
    "#;
    let path = "/v1/flight/bookings/bkg_1/services";
    expect(path, &body, table).await;
    let server = Server::start().await;
    let reply = server.post(path, body.to_string()).await;
    assert_eq!(reply.problem(), (404, "booking_not_found"));
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
            let key = key.as_deref().map(|key| ("x-idempotency-key", key));
            let reply = server
                .post_with(path, key.as_slice(), body.to_string())
                .await;
            let expected = code.map(|code| format!("header /x-idempotency-key {code}"));
            assert_eq!(reply.violations(), expected.as_slice(), "{path}");
        }
    }
}

#[tokio::test]
async fn flight_cancel_rejects_unknown_fields_and_other_ids() {
    let server = Server::start().await;
    let cancel = "/v1/flight/bookings/bkg_1/cancel";
    for (body, violation) in [
        (r#"{"reason": "ill"}"#, "body /reason unknown_field"),
        (r#"{"room_ids": []}"#, "body /room_ids unknown_field"),
        ("[]", "body  type"),
    ] {
        assert_eq!(server.post(cancel, body).await.violations(), [violation]);
    }
    let reply = server.get("/v1/flight/bookings/ord_1").await;
    assert_eq!(reply.violations(), ["path /id pattern"]);
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
    let table = "
        limit=0 => query /limit too_small
        limit=101 => query /limit too_large
        offset=-1 => query /offset too_small
        status=PARTIALLY_CANCELED => query /status not_allowed
        supplier=supplier_a => query /supplier pattern
        supplier_reference= => query /supplier_reference too_short
        sort=departure => query /sort not_allowed
        order=DESC => query /order not_allowed
        created_from=yesterday => query /created_from format
        created_to=2026-02-30 => query /created_to format
        created_to=2026-01-01T00:00:00 => query /created_to format
        page=1 => query /page unknown_field
    ";
    for (query, violations) in cases(table) {
        let reply = server.get(&format!("{list}?{query}")).await;
        assert_eq!(reply.violations(), violations, "{query}");
    }
}
