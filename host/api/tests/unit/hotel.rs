//! Validation of hotel requests. No supplier is loaded, so a request without violations fails at
//! the supplier call.

use super::*;
use host_application::offers::terms::HotelOfferTerms;
use host_application::offers::token;
use host_domain::hotel;
use host_domain::id::HotelId;
use host_domain::money::{Currency, Money};
use host_domain::supplier::SupplierId;

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

#[tokio::test]
async fn invalid_offer_requests_are_rejected() {
    let many = |count| {
        json!(
            (0..count)
                .map(|number| format!("H{number}"))
                .collect::<Vec<_>>()
        )
    };
    let table = r#"
        {} =>
        {"supplier_hotel_ids": TEN, "max_offers_per_hotel": 25} =>
        {"supplier_hotel_ids": TEN, "max_offers_per_hotel": 26} => /max_offers_per_hotel too_large
        {"max_offers_per_hotel": 251} => /max_offers_per_hotel too_large
        {"max_offers_per_hotel": 0} => /max_offers_per_hotel too_small
        {"supplier_hotel_ids": ELEVEN} => /supplier_hotel_ids too_many
        {"supplier_hotel_ids": ["OK", "OK"]} => /supplier_hotel_ids/1 duplicate
        {"supplier": null} => /supplier required
        {"supplier": "sandbox"} => /supplier pattern
        {"hotel_ids": ["htl_1"]} => /supplier_hotel_ids exclusive
        {"supplier_hotel_ids": null} => /hotel_ids required
        {"supplier_hotel_ids": null, "hotel_ids": ["bkg_1"]} => /hotel_ids/0 pattern
        {"supplier_hotel_ids": ["OK", "OK"], "supplier": null, "max_offers_per_hotel": 126, "check_in": "soon"} => \
            /check_in format, /max_offers_per_hotel too_large, /supplier required, /supplier_hotel_ids/1 duplicate
        {"supplier_hotel_ids": [1, 2, "OK", "OK"], "check_in": "2026-11-19", "check_out": null} => \
            /check_in in_the_past, /check_out required, \
            /supplier_hotel_ids/0 type, /supplier_hotel_ids/1 type, /supplier_hotel_ids/3 duplicate
    "#;
    let table = table
        .replace("TEN", &many(10).to_string())
        .replace("ELEVEN", &many(11).to_string());
    expect("/v1/hotel/offers", &offers(), &table).await;
}

#[tokio::test]
async fn occupancy_limits_are_enforced() {
    let table = r#"
        {"occupancy": []} => /occupancy too_few
        {"occupancy": TEN} => /occupancy too_many
        {"occupancy": [{"adults": 9, "children": [18, -1]}]} => \
            /occupancy/0/adults too_large, /occupancy/0/children/0 too_large, /occupancy/0/children/1 too_small
        {"occupancy": [{"adults": 1, "child": []}]} => /occupancy/0/child unknown_field
        {"guest_nationality": "UK", "currency": "EUX"} => /currency not_allowed, /guest_nationality not_allowed
        {"guest_nationality": null, "currency": null} => /currency required, /guest_nationality required
    "#;
    let ten = json!(vec![json!({"adults": 1}); 10]).to_string();
    expect("/v1/hotel/offers", &offers(), &table.replace("TEN", &ten)).await;
}

#[tokio::test]
async fn past_or_too_long_stays_are_rejected() {
    // At 10:00 UTC on 2026-11-21 it is still the previous day in some time zones.
    let table = r#"
        {"check_in": "2026-11-20", "check_out": "2026-11-21"} =>
        {"check_in": "2026-11-19", "check_out": "2026-11-21"} => /check_in in_the_past
        {"check_in": "2028-10-21", "check_out": "2028-10-22"} =>
        {"check_in": "2028-10-22", "check_out": "2028-10-23"} => /check_in too_far_ahead
        {"check_out": "2026-12-01"} => /check_out not_after_check_in
        {"check_out": "2026-11-30"} => /check_out not_after_check_in
        {"check_out": "2027-01-30"} =>
        {"check_out": "2027-01-31"} => /check_out too_long
        {"check_in": "2026-02-30"} => /check_in format
        {"check_in": "9999-12-31", "check_out": "0001-01-01"} => /check_in too_far_ahead, /check_out not_after_check_in
    "#;
    expect("/v1/hotel/offers", &offers(), table).await;
}

#[tokio::test]
async fn search_requires_one_area_and_valid_filters() {
    let table = r#"
        {} =>
        {"location": {"latitude": 90.0, "longitude": -180, "radius": 100000}} =>
        {"location": {"latitude": 90.0, "longitude": -180, "radius": 100001}} => /location/radius too_large
        {"location": {"latitude": 90.0, "longitude": -180, "radius": 0}} => /location/radius too_small
        {"location": {"latitude": 90.1, "longitude": 181, "radius": 1}} => \
            /location/latitude too_large, /location/longitude too_large
        {"place_id": "plc_1"} => /location exclusive
        {"location": null} => /place_id required
        {"filters": {"max_total": 1000}} =>
        {"filters": {"max_total": 10.5}} => /filters/max_total not_allowed
        {"filters": {"max_total": 0}} => /filters/max_total too_small
        {"filters": {"max_total": -1}} => /filters/max_total too_small
        {"filters": {"min_star_rating": 5.1, "min_guest_rating": -1, "board": ["LUNCH"]}} => \
            /filters/board/0 not_allowed, /filters/min_guest_rating too_small, /filters/min_star_rating too_large
        {"limit": 0, "sort": "price"} => /limit too_small, /sort not_allowed
        {"limit": 101} => /limit too_large
    "#;
    expect("/v1/hotel/search", &search(), table).await;
}

#[tokio::test]
async fn calendar_longer_than_a_year_is_rejected() {
    let many = json!(
        (0..51)
            .map(|number| format!("htl_{number}"))
            .collect::<Vec<_>>()
    );
    let table = r#"
        {} =>
        {"to": "2026-12-01"} =>
        {"to": "2026-11-30"} => /to before_from
        {"to": "2027-12-02"} => /to too_long
        {"hotel_ids": MANY} => /hotel_ids too_many
        {"hotel_ids": ["htl_1", "htl_1"]} => /hotel_ids/1 duplicate
    "#;
    expect(
        "/v1/hotel/price-calendar",
        &calendar(),
        &table.replace("MANY", &many.to_string()),
    )
    .await;
}

#[tokio::test]
async fn rooms_without_one_adult_lead_or_names_are_rejected() {
    let guest = |kind: &str, lead: bool| {
        json!({"first_name": "A", "last_name": "B", "type": kind, "is_lead": lead}).to_string()
    };
    let table = r#"
        {} =>
        {"rooms": [{"guests": [@adult]}]} => /rooms/0/guests one_adult_lead_required
        {"rooms": [{"guests": [@child, @adult]}]} => /rooms/0/guests one_adult_lead_required
        {"rooms": [{"guests": [@lead, @lead]}]} => /rooms/0/guests one_adult_lead_required
        {"rooms": [{"guests": [{"first_name": " ", "last_name": "B", "is_lead": true, "age": 30}]}]} => \
            /rooms/0/guests/0/age not_allowed, /rooms/0/guests/0/age too_large, /rooms/0/guests/0/first_name pattern
        {"rooms": []} => /rooms too_few
        {"contact": [], "rooms": [{"guests": [{"type": 1, "age": 30}, @adult]}, {"guests": [{"is_lead": true}, @lead]}]} => \
            /contact type, /rooms/0/guests/0/age too_large, /rooms/0/guests/0/first_name required, \
            /rooms/0/guests/0/last_name required, /rooms/0/guests/0/type type, \
            /rooms/1/guests one_adult_lead_required, \
            /rooms/1/guests/0/first_name required, /rooms/1/guests/0/last_name required
        {"offer_reference": "", "reference_id": ""} => /offer_reference too_short, /reference_id too_short
        {"contact": {"first_name": "A", "last_name": "B", "email": "ada@", "phone": "call me"}} => \
            /contact/email pattern, /contact/phone pattern
        {"contact": {"first_name": "A"}} => /contact/email required, /contact/last_name required, /contact/phone required
    "#;
    let guests = [
        ("@adult", guest("ADULT", false)),
        ("@child", guest("CHILD", true)),
        ("@lead", guest("ADULT", true)),
    ];
    let table = guests
        .iter()
        .fold(table.to_owned(), |table, (name, guest)| {
            table.replace(name, guest)
        });
    expect("/v1/hotel/prebook", &prebook(), &table).await;
}

/// Returns an offer of a room for two adults, and of one for an adult and a child of seven.
fn offered(server: &Server) -> HotelOfferTerms {
    let euros = Currency::parse("EUR").unwrap();
    let room = |adults, children| hotel::Occupancy { adults, children };
    HotelOfferTerms {
        supplier: SupplierId::parse("SANDBOX_HOTELS").unwrap(),
        hotel_id: HotelId::from_bits(1),
        hotel: hotel::HotelSummary {
            supplier_hotel_id: "OK".to_owned(),
            name: "Harbour".to_owned(),
            address: String::new(),
            location: None,
            time_zone: None,
        },
        supplier_offer: "offer-1".to_owned(),
        promotions: Vec::new(),
        loyalty: None,
        stay: hotel::Stay {
            check_in: "2026-12-01".parse().unwrap(),
            check_out: "2026-12-03".parse().unwrap(),
            occupancies: vec![room(2, Vec::new()), room(1, vec![7])],
            guest_nationality: "GB".to_owned(),
            guest_residence: None,
            currency: euros,
        },
        total: Money::new(42_000, euros),
        rooms: Vec::new(),
        expires_at: server.app.clock.now().plus_s(60),
        include_package_rates: false,
    }
}

/// A rule about the offer is told together with all others, and only about valid values.
#[tokio::test]
async fn guests_must_match_the_offer_and_are_told_with_all_other_violations() {
    let server = Server::start().await;
    let reference = token::encode(&server.app.sealer, &acme(), &offered(&server)).unwrap();
    let table = r#"
        {"rooms": [PAIR, FAMILY]} =>
        {"rooms": [PAIR, PAIR]} => body /rooms/1/guests other_than_offered
        {"rooms": [FAMILY, PAIR]} => body /rooms/0/guests other_than_offered, body /rooms/1/guests other_than_offered
        {"rooms": [PAIR]} => body /rooms other_than_offered
        {"rooms": []} => body /rooms too_few
        {"rooms": [PAIR, {"guests": []}]} => body /rooms/1/guests one_adult_lead_required, body /rooms/1/guests too_few
        {"rooms": [PAIR, true]} => body /rooms/1 type
        {"rooms": [PAIR, {"guests": [LEAD, {"first_name": "A", "last_name": "B", "type": 7}]}]} => body /rooms/1/guests/1/type type
        {"reference_id": "", "rooms": [PAIR, PAIR]} => body /reference_id too_short, body /rooms/1/guests other_than_offered
        {"contact": null, "rooms": [PAIR]} => body /contact required, body /rooms other_than_offered
    "#;
    let lead = r#"{"first_name": "A", "last_name": "B", "is_lead": true}"#;
    let table = table
        .replace(
            "PAIR",
            r#"{"guests": [LEAD, {"first_name": "C", "last_name": "D"}]}"#,
        )
        .replace("FAMILY", r#"{"guests": [LEAD]}"#)
        .replace("LEAD", lead);
    for (change, violations) in cases(&table) {
        let mut request = changed(&prebook(), &serde_json::from_str(&change).unwrap());
        request["offer_reference"] = json!(reference);
        let reply = server.post("/v1/hotel/prebook", request.to_string()).await;
        assert_eq!(reply.violations(), violations, "{change}: {}", reply.body);
        let code = match violations.is_empty() {
            // No supplier is loaded.
            true => "supplier_operation_unsupported",
            false => "validation_failed",
        };
        assert_eq!(reply.code(), code, "{change}");
    }
}

#[tokio::test]
async fn undecodable_offer_reference_returns_offer_invalid() {
    let server = Server::start().await;
    for (path, mut request) in [
        ("/v1/hotel/prebook", prebook()),
        ("/v1/flight/prebook", flight_booking::prebook()),
    ] {
        for reference in ["AQJr", "a.b.c", "no reference!", "é"] {
            request["offer_reference"] = json!(reference);
            let reply = server.post(path, request.to_string()).await;
            assert_eq!(reply.code(), "offer_invalid", "{reference}");
        }
    }
}

#[tokio::test]
async fn unknown_ids_return_the_not_found_code_of_their_resource() {
    let server = Server::start().await;
    let table = "
        hotel/places/plc_1 => place_not_found
        hotel/hotels/htl_1 => hotel_not_found
        hotel/bookings/bkg_1 => booking_not_found
        hotel/bookings/bkg_1/weather => booking_not_found
        hotel/bookings/bkg_1/cancellation-quote => booking_not_found
        payment-instruments/inst_1 => payment_instrument_not_found
        hotel/places/bkg_1 => validation_failed
        hotel/hotels/OK => validation_failed
        hotel/bookings/htl_1 => validation_failed
        payment-instruments/1 => validation_failed
    ";
    for (path, code) in cases(table) {
        let reply = server.get(&format!("/v1/{path}")).await;
        assert_eq!([reply.code()], *code, "{path}");
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
    let table = "
        limit=0 => query /limit too_small
        limit=101 => query /limit too_large
        offset=100001 => query /offset too_large
        status=DONE => query /status not_allowed
        reference_id= => query /reference_id too_short
        page=1 => query /page unknown_field
    ";
    for (query, violations) in cases(table) {
        let reply = server.get(&format!("/v1/hotel/bookings?{query}")).await;
        assert_eq!(reply.violations(), violations);
    }
}

#[tokio::test]
async fn token_containing_card_number_is_rejected() {
    let server = Server::start().await;
    for token in ["4242424242424242", "tok_4242424242424242"] {
        let card = json!({"type": "CARD", "token": token}).to_string();
        let reply = server.post("/v1/payment-instruments", card).await;
        assert_eq!(reply.violations(), ["body /token card_number"]);
        assert!(!reply.body.to_string().contains("4242"));
    }
}
