//! Validation of hotel requests. No supplier is loaded, so a request without violations fails at
//! the supplier call.

use super::*;

/// Returns a body with some members replaced, or removed if the new value is null.
fn changed(body: &Value, changes: Value) -> Vec<u8> {
    let mut body = body.clone();
    for (name, value) in changes.as_object().unwrap() {
        let members = body.as_object_mut().unwrap();
        if value.is_null() {
            members.remove(name);
        } else {
            members.insert(name.clone(), value.clone());
        }
    }
    body.to_string().into_bytes()
}

fn offers() -> Value {
    json!({
        "supplier": "SANDBOX_HOTELS",
        "supplier_hotel_ids": ["OK"],
        "check_in": "2026-12-01",
        "check_out": "2026-12-03",
        "occupancy": [{"adults": 2, "children": [7]}],
        "guest_nationality": "GB",
        "currency": "EUR",
    })
}

fn search() -> Value {
    json!({
        "location": {"latitude": 51.7, "longitude": -0.3, "radius": 5000},
        "check_in": "2026-12-01",
        "check_out": "2026-12-03",
        "occupancy": [{"adults": 2}],
        "guest_nationality": "GB",
        "currency": "JPY",
    })
}

fn calendar() -> Value {
    json!({"hotel_ids": ["htl_1"], "from": "2026-12-01", "to": "2027-12-01"})
}

fn prebook() -> Value {
    json!({
        "offer_reference": "abc",
        "contact": {"first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com", "phone": "+44 (0)20 7946-0958"},
        "rooms": [{"guests": [{"first_name": "Ada", "last_name": "Lovelace", "type": "ADULT", "is_lead": true}]}],
    })
}

pub(super) async fn expect(path: &str, body: &Value, cases: &[(Value, &[&str])]) {
    let server = Server::start().await;
    for (changes, violations) in cases {
        let reply = server.post(path, changed(body, changes.clone())).await;
        assert_eq!(reply.violations(), *violations, "{changes} {}", reply.body);
        let expected = if violations.is_empty() { "422" } else { "400" };
        assert_eq!(reply.status.as_str(), expected, "{changes} {}", reply.body);
    }
}

#[tokio::test]
async fn invalid_offer_requests_are_rejected() {
    let ten: Vec<String> = (0..10).map(|number| format!("H{number}")).collect();
    let eleven: Vec<String> = (0..11).map(|number| format!("H{number}")).collect();
    expect(
        "/v1/hotel/offers",
        &offers(),
        &[
            (json!({}), &[]),
            (
                json!({"supplier_hotel_ids": ten, "max_offers_per_hotel": 25}),
                &[],
            ),
            (
                json!({"supplier_hotel_ids": ten, "max_offers_per_hotel": 26}),
                &["body /max_offers_per_hotel too_large"],
            ),
            (
                json!({"max_offers_per_hotel": 251}),
                &["body /max_offers_per_hotel too_large"],
            ),
            (
                json!({"max_offers_per_hotel": 0}),
                &["body /max_offers_per_hotel too_small"],
            ),
            (
                json!({"supplier_hotel_ids": eleven}),
                &[
                    "body /max_offers_per_hotel too_large",
                    "body /supplier_hotel_ids too_many",
                ],
            ),
            (
                json!({"supplier_hotel_ids": ["OK", "OK"]}),
                &["body /supplier_hotel_ids/1 duplicate"],
            ),
            (json!({"supplier": null}), &["body /supplier required"]),
            (json!({"supplier": "sandbox"}), &["body /supplier pattern"]),
            (
                json!({"hotel_ids": ["htl_1"]}),
                &["body /supplier_hotel_ids exclusive"],
            ),
            (
                json!({"supplier_hotel_ids": null}),
                &["body /hotel_ids required"],
            ),
            (
                json!({"supplier_hotel_ids": null, "hotel_ids": ["bkg_1"]}),
                &["body /hotel_ids/0 pattern"],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn occupancy_limits_are_enforced() {
    expect(
        "/v1/hotel/offers",
        &offers(),
        &[
            (json!({"occupancy": []}), &["body /occupancy too_few"]),
            (
                json!({"occupancy": vec![json!({"adults": 1}); 10]}),
                &["body /occupancy too_many"],
            ),
            (
                json!({"occupancy": [{"adults": 9, "children": [18, -1]}]}),
                &[
                    "body /occupancy/0/adults too_large",
                    "body /occupancy/0/children/0 too_large",
                    "body /occupancy/0/children/1 too_small",
                ],
            ),
            (
                json!({"occupancy": [{"adults": 1, "child": []}]}),
                &["body /occupancy/0/child unknown_field"],
            ),
            (
                json!({"guest_nationality": "UK", "currency": "EUX"}),
                &[
                    "body /currency not_allowed",
                    "body /guest_nationality not_allowed",
                ],
            ),
            (
                json!({"guest_nationality": null, "currency": null}),
                &[
                    "body /currency required",
                    "body /guest_nationality required",
                ],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn past_or_too_long_stays_are_rejected() {
    // At 10:00 UTC on 2026-11-21 it is still the previous day in some time zones.
    expect(
        "/v1/hotel/offers",
        &offers(),
        &[
            (
                json!({"check_in": "2026-11-20", "check_out": "2026-11-21"}),
                &[],
            ),
            (
                json!({"check_in": "2026-11-19", "check_out": "2026-11-21"}),
                &["body /check_in in_the_past"],
            ),
            (
                json!({"check_in": "2028-10-21", "check_out": "2028-10-22"}),
                &[],
            ),
            (
                json!({"check_in": "2028-10-22", "check_out": "2028-10-23"}),
                &["body /check_in too_far_ahead"],
            ),
            (
                json!({"check_out": "2026-12-01"}),
                &["body /check_out not_after_check_in"],
            ),
            (
                json!({"check_out": "2026-11-30"}),
                &["body /check_out not_after_check_in"],
            ),
            (json!({"check_out": "2027-01-30"}), &[]),
            (
                json!({"check_out": "2027-01-31"}),
                &["body /check_out too_long"],
            ),
            (
                json!({"check_in": "2026-02-30"}),
                &["body /check_in format"],
            ),
            (
                json!({"check_in": "9999-12-31", "check_out": "0001-01-01"}),
                &[
                    "body /check_in too_far_ahead",
                    "body /check_out not_after_check_in",
                ],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn search_requires_one_area_and_valid_filters() {
    let location =
        |radius: u32| json!({"location": {"latitude": 90.0, "longitude": -180, "radius": radius}});
    expect("/v1/hotel/search", &search(), &[
        (json!({}), &[]),
        (location(100_000), &[]),
        (location(100_001), &["body /location/radius too_large"]),
        (location(0), &["body /location/radius too_small"]),
        (json!({"location": {"latitude": 90.1, "longitude": 181, "radius": 1}}), &["body /location/latitude too_large", "body /location/longitude too_large"]),
        (json!({"place_id": "plc_1"}), &["body /location exclusive"]),
        (json!({"location": null}), &["body /place_id required"]),
        (json!({"filters": {"max_total": 1000}}), &[]),
        (json!({"filters": {"max_total": 10.5}}), &["body /filters/max_total not_allowed"]),
        (json!({"filters": {"max_total": 0}}), &["body /filters/max_total too_small"]),
        (json!({"filters": {"max_total": -1}}), &["body /filters/max_total too_small"]),
        (json!({"filters": {"min_star_rating": 5.1, "min_guest_rating": -1, "board": ["LUNCH"]}}), &[
            "body /filters/board/0 not_allowed", "body /filters/min_guest_rating too_small", "body /filters/min_star_rating too_large",
        ]),
        (json!({"limit": 0, "sort": "price"}), &["body /limit too_small", "body /sort not_allowed"]),
        (json!({"limit": 101}), &["body /limit too_large"]),
    ]).await;
}

#[tokio::test]
async fn calendar_longer_than_a_year_is_rejected() {
    let many: Vec<String> = (0..51).map(|number| format!("htl_{number}")).collect();
    expect(
        "/v1/hotel/price-calendar",
        &calendar(),
        &[
            (json!({}), &[]),
            (json!({"to": "2026-12-01"}), &[]),
            (json!({"to": "2026-11-30"}), &["body /to before_from"]),
            (json!({"to": "2027-12-02"}), &["body /to too_long"]),
            (json!({"hotel_ids": many}), &["body /hotel_ids too_many"]),
            (
                json!({"hotel_ids": ["htl_1", "htl_1"]}),
                &["body /hotel_ids/1 duplicate"],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn rooms_without_one_adult_lead_or_names_are_rejected() {
    let guests = |guests: Value| json!({"rooms": [{"guests": guests}]});
    let guest = |kind: &str, lead: bool| json!({"first_name": "A", "last_name": "B", "type": kind, "is_lead": lead});
    expect("/v1/hotel/prebook", &prebook(), &[
        (json!({}), &[]),
        (guests(json!([guest("ADULT", false)])), &["body /rooms/0/guests one_adult_lead_required"]),
        (guests(json!([guest("CHILD", true), guest("ADULT", false)])), &["body /rooms/0/guests one_adult_lead_required"]),
        (guests(json!([guest("ADULT", true), guest("ADULT", true)])), &["body /rooms/0/guests one_adult_lead_required"]),
        (guests(json!([{"first_name": " ", "last_name": "B", "is_lead": true, "age": 30}])), &[
            "body /rooms/0/guests/0/age not_allowed", "body /rooms/0/guests/0/age too_large", "body /rooms/0/guests/0/first_name pattern",
        ]),
        (json!({"rooms": []}), &["body /rooms too_few"]),
        (json!({"offer_reference": "", "reference_id": ""}), &["body /offer_reference too_short", "body /reference_id too_short"]),
        (json!({"contact": {"first_name": "A", "last_name": "B", "email": "ada@", "phone": "call me"}}), &["body /contact/email pattern", "body /contact/phone pattern"]),
        (json!({"contact": {"first_name": "A"}}), &["body /contact/email required", "body /contact/last_name required", "body /contact/phone required"]),
    ]).await;
}

#[tokio::test]
async fn undecodable_offer_reference_returns_offer_invalid() {
    let server = Server::start().await;
    let mut request = prebook();
    for reference in ["AQJr", "a.b.c", "no reference!", "é"] {
        request["offer_reference"] = json!(reference);
        let reply = server.post("/v1/hotel/prebook", request.to_string()).await;
        assert_eq!(reply.code(), "offer_invalid", "{reference}");
    }
}

#[tokio::test]
async fn unknown_ids_return_the_not_found_code_of_their_resource() {
    let server = Server::start().await;
    for (path, code) in [
        ("/v1/hotel/places/plc_1", "place_not_found"),
        ("/v1/hotel/hotels/htl_1", "hotel_not_found"),
        ("/v1/hotel/bookings/bkg_1", "booking_not_found"),
        ("/v1/hotel/bookings/bkg_1/weather", "booking_not_found"),
        (
            "/v1/hotel/bookings/bkg_1/cancellation-quote",
            "booking_not_found",
        ),
        (
            "/v1/payment-instruments/inst_1",
            "payment_instrument_not_found",
        ),
        ("/v1/hotel/places/bkg_1", "validation_failed"),
        ("/v1/hotel/hotels/OK", "validation_failed"),
        ("/v1/hotel/bookings/htl_1", "validation_failed"),
        ("/v1/payment-instruments/1", "validation_failed"),
    ] {
        assert_eq!(server.get(path).await.code(), code, "{path}");
    }
    for (path, body) in [
        ("/v1/hotel/bookings/bkg_1/book", "{}"),
        ("/v1/hotel/bookings/bkg_1/cancel", "{}"),
    ] {
        assert_eq!(
            server.post(path, body).await.code(),
            "booking_not_found",
            "{path}"
        );
    }
}

#[tokio::test]
async fn hotel_booking_list_validates_page() {
    let server = Server::start().await;
    let reply = server.get("/v1/hotel/bookings").await;
    assert_eq!(
        reply.body,
        json!({"data": [], "meta": {"limit": 25, "offset": 0, "has_more": false}})
    );
    for (query, violation) in [
        ("limit=0", "query /limit too_small"),
        ("limit=101", "query /limit too_large"),
        ("offset=100001", "query /offset too_large"),
        ("status=DONE", "query /status not_allowed"),
        ("reference_id=", "query /reference_id too_short"),
        ("page=1", "query /page unknown_field"),
    ] {
        assert_eq!(
            server
                .get(&format!("/v1/hotel/bookings?{query}"))
                .await
                .violations(),
            [violation]
        );
    }
}

#[tokio::test]
async fn token_containing_card_number_is_rejected() {
    let server = Server::start().await;
    for token in ["4242424242424242", "tok_4242424242424242"] {
        let reply = server
            .post(
                "/v1/payment-instruments",
                json!({"type": "CARD", "token": token}).to_string(),
            )
            .await;
        assert_eq!(reply.violations(), ["body /token card_number"]);
        assert!(!reply.body.to_string().contains("4242"));
    }
}
