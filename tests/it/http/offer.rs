//! Tests of hotel offers, and of offers that cannot be priced or prebooked.

use serde_json::{Value, json};
use tests::{
    BookingBuilder, Database, FlightBookingBuilder, HotelBookingBuilder, Reply, Server, days_ahead,
    merged, offers_request, on_both_databases, prebook_request, set_price, trip,
};

async fn currency_without_decimals_has_whole_amounts(database: Database) {
    let server = Server::start(database).await;
    let yen = merged(offers_request("OK"), json!({"currency": "JPY"}));
    let reply = server.client().hotel_offers(&yen).await.expect(200);
    let mut offers = reply.data()[0]["offers"].as_array().unwrap().iter();
    let is_whole = |offer: &Value| offer["total"]["amount"].as_f64() == Some(200.0);
    assert!(offers.any(is_whole), "{:#}", reply.body);
}

async fn hotel_without_offers_is_listed_with_no_offers(database: Database) {
    let server = Server::start(database).await;
    let hotels = json!({"supplier_hotel_ids": ["NO_OFFERS", "OK"]});
    let request = merged(offers_request("OK"), hotels);
    let reply = server.client().hotel_offers(&request).await.expect(200);
    let rows = reply.list().iter().map(|row| {
        let hotel = row["supplier_hotel_id"].as_str().unwrap();
        (hotel, row["offers"].as_array().unwrap().len())
    });
    assert_eq!(rows.collect::<Vec<_>>(), [("NO_OFFERS", 0), ("OK", 2)]);
}

async fn offers_accept_the_gateways_hotel_ids(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let id = client.hotel_id("OK").await;
    let mut request = offers_request("OK");
    let members = request.as_object_mut().unwrap();
    members.retain(|name, _| !name.starts_with("supplier"));
    request["hotel_ids"] = json!([id]);
    let again = client.hotel_offers(&request).await.expect(200);
    assert_eq!(again.data()[0]["hotel_id"], id);
    request["hotel_ids"] = json!(["htl_00000000000000000000000000000000"]);
    let unknown = client.hotel_offers(&request).await;
    unknown.expect_problem(404, "hotel_not_found");
}

/// All violations of a request are reported in one response, each with its pointer.
async fn offers_request_reports_all_violations_at_once(database: Database) {
    let server = Server::start(database).await;
    let wrong = json!({
        "check_in": days_ahead(-3),
        "currency": "XXQ",
        "guest_nationality": "ZZ",
        "occupancy": [{"adults": 0, "children": [18]}],
        "typo": 1,
    });
    let request = merged(offers_request("OK"), wrong);
    let reply = server.client().hotel_offers(&request).await;
    let reply = reply.expect_problem(400, "validation_failed");
    for pointer in [
        "/currency",
        "/guest_nationality",
        "/occupancy/0/adults",
        "/occupancy/0/children/0",
        "/typo",
    ] {
        let pointers = reply.pointers();
        assert!(pointers.contains(&pointer), "{pointer} of {pointers:?}");
    }
}

/// Checks that a request is refused for a violation at or below `pointer`.
fn check_violation(reply: Reply, pointer: &str) {
    let reply = reply.expect_problem(400, "validation_failed");
    let pointers = reply.pointers();
    let is_named = pointers.iter().any(|at| at.starts_with(pointer));
    assert!(is_named, "{pointer} of {pointers:?}");
}

async fn offers_request_over_a_limit_names_the_field(database: Database) {
    let server = Server::start(database).await;
    let room = json!({"adults": 1, "children": []});
    let unknown = "htl_00000000000000000000000000000000";
    for (change, pointer) in [
        (json!({"check_out": days_ahead(30)}), "/check_out"),
        (json!({"check_out": days_ahead(95)}), "/check_out"),
        (
            json!({"check_in": days_ahead(701), "check_out": days_ahead(702)}),
            "/check_in",
        ),
        (json!({"check_in": days_ahead(-3)}), "/check_in"),
        (json!({"supplier_hotel_ids": []}), "/supplier_hotel_ids"),
        (
            json!({"supplier_hotel_ids": vec!["OK"; 11]}),
            "/supplier_hotel_ids",
        ),
        (json!({"supplier": null}), "/supplier"),
        (json!({"occupancy": vec![room; 10]}), "/occupancy"),
        (
            json!({"max_offers_per_hotel": 251}),
            "/max_offers_per_hotel",
        ),
        (json!({"hotel_ids": [unknown]}), "/supplier_hotel_ids"),
    ] {
        let request = merged(offers_request("OK"), change);
        let reply = server.client().hotel_offers(&request).await;
        check_violation(reply, pointer);
    }
}

async fn unknown_or_incapable_supplier_returns_422(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let nobody = json!({"supplier": "NOBODY"});
    let hotels = json!({"supplier": "SANDBOX_HOTELS"});
    for (path, request) in [
        (
            "/v1/hotel/offers",
            merged(offers_request("OK"), nobody.clone()),
        ),
        ("/v1/flight/offers", trip("LHR-JFK", nobody)),
        ("/v1/flight/offers", trip("LHR-JFK", hotels)),
    ] {
        let refused = client.post(path, &request).await;
        refused.expect_problem(422, "supplier_operation_unsupported");
    }
    let places = json!({"query": "Testville", "supplier": "SANDBOX_MINI"});
    let reply = client.post("/v1/hotel/places", &places).await;
    assert!(
        matches!(
            reply.body["code"].as_str(),
            Some("supplier_operation_unsupported" | "validation_failed")
        ),
        "{:#}",
        reply.body
    );
}

/// If an adapter traps, exceeds its limits or never returns during pricing, the caller gets a
/// problem and other suppliers still work.
async fn misbehaving_plugin_fails_only_its_own_call(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    for hotel in ["TRAP", "HOARD", "FLOOD", "SPIN"] {
        let reply = client.hotel_offers(&offers_request(hotel)).await;
        assert_eq!(reply.body["supplier"], "SANDBOX_HOTELS", "{hotel}");
        let reply = reply.expect_problem(502, "supplier_error");
        assert_eq!(reply.body["retryable"], false, "{hotel}");
    }
    let mini = merged(offers_request("OK"), json!({"supplier": "SANDBOX_MINI"}));
    let served = client.hotel_offers(&mini).await.expect(200);
    assert_eq!(served.body["meta"]["supplier"], "SANDBOX_MINI");
}

async fn forged_or_foreign_offer_reference_returns_422(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let strangers = [
        server.client_for("acme").await,
        server.client_with("demo", &["--mode", "live"]).await,
    ];
    for builder in BookingBuilder::of_each_kind() {
        let request = builder.request(&client).await;
        let offer = request["offer_reference"].as_str().unwrap();
        let mut changed = offer.to_owned();
        let middle = offer.len() / 2;
        let letter = if &offer[middle..=middle] == "A" {
            "B"
        } else {
            "A"
        };
        changed.replace_range(middle..=middle, letter);
        for forged in [changed.as_str(), "nonsense", &offer[..offer.len() - 4]] {
            let request = merged(request.clone(), json!({"offer_reference": forged}));
            let refused = builder.prebook(&client, "forged", &request).await;
            refused.expect_problem(422, "offer_invalid");
        }
        for stranger in &strangers {
            let refused = builder.prebook(stranger, "not-theirs", &request).await;
            refused.expect_problem(422, "offer_invalid");
        }
    }
    let fare = FlightBookingBuilder::on("LHR-JFK").offer(&client).await;
    let request = prebook_request(&fare, 1);
    let of_other_kind = client.prebook_hotel("fare", &request).await;
    of_other_kind.expect_problem(422, "offer_invalid");
}

/// The operator finds the supplier's reason in the log and among the booking's attempts.
async fn failed_prebook_is_logged_and_recorded_with_its_reason(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let offer = HotelBookingBuilder::at("SOLD_OUT").offer(&client).await;
    let request = prebook_request(&offer, 1);
    let refused = client.prebook_hotel("sold-out", &request).await;
    refused.expect_problem(422, "offer_unavailable");
    let reason = "the supplier refused: ";
    let log = std::fs::read_to_string(server.data_dir().join("server.log")).unwrap();
    let line = log.lines().find(|line| line.contains("the prebook failed"));
    let line = line.unwrap();
    assert!(
        line.contains(reason) && line.contains("SOLD_OUT)"),
        "{line}"
    );
    assert!(server.dump_database().await.contains(reason));
}

async fn prebook_of_expired_offer_returns_422(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let offer = HotelBookingBuilder::at("EXPIRES_SOON").offer(&client).await;
    let request = prebook_request(&offer, 1);
    let expired = tests::eventually("the offer to expire", async || {
        let key = uuid::Uuid::now_v7().to_string();
        let reply = client.prebook_hotel(&key, &request).await;
        (reply.status == 422).then_some(reply)
    })
    .await;
    expired.expect_problem(422, "offer_expired");
}

async fn prebook_with_guests_that_do_not_fit_the_offer_returns_400(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let offer = HotelBookingBuilder::at("OK").offer(&client).await;
    let good = prebook_request(&offer, 1);
    let room = &good["rooms"][0];
    let (lead, other) = (&room["guests"][0], &room["guests"][1]);
    for (rooms, pointer) in [
        (json!([]), "/rooms"),
        (json!([room, room]), "/rooms"),
        (json!([{"guests": [lead]}]), "/rooms/0/guests"),
        (json!([{"guests": [other, other]}]), "/rooms/0/guests"),
        (json!([{"guests": [lead, lead]}]), "/rooms/0/guests"),
    ] {
        let request = merged(good.clone(), json!({"rooms": rooms}));
        let reply = client.prebook_hotel("guests", &request).await;
        check_violation(reply, pointer);
    }
}

async fn amounts_are_exact_from_offer_to_charge(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    for (nightly, total) in [(33.33, "66.66"), (0.1, "0.2"), (1_234_567.89, "2469135.78")] {
        set_price(&server.sandbox_url, "OK", nightly).await;
        let way = HotelBookingBuilder::at("OK").non_refundable();
        let booking = way.book_confirmed(&client).await;
        let shown = client.hotel_booking(&booking).await;
        assert_eq!(shown["total"]["amount"].to_string(), total);
        assert_eq!(shown["payments"][0]["amount"]["amount"].to_string(), total);
        let ledger = server.ledger().await;
        assert_eq!(ledger.count(&booking, "authorization"), 1);
        for entry in ledger.of(&booking) {
            assert_eq!(entry.amount.to_string(), total, "{entry:?}");
        }
    }
}

async fn changed_price_is_passed_on_if_lower_and_refused_if_higher(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let lower = HotelBookingBuilder::at("PRICE_DOWN").prebook(&client).await;
    assert_eq!(lower.expect(201).data()["total"]["amount"], 234.0);
    let way = HotelBookingBuilder::at("OK").non_refundable();
    let request = way.request(&way.offer(&client).await);
    set_price(&server.sandbox_url, "OK", 110.05).await;
    let higher = client.prebook_hotel("moved", &request).await;
    let higher = higher.expect_problem(409, "offer_price_changed");
    assert_eq!(higher.body["offered"]["amount"].as_f64(), Some(200.0));
    assert_eq!(higher.body["current"]["amount"].as_f64(), Some(220.1));
}

async fn check_in_that_is_past_at_the_hotel_returns_400(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let id = client.hotel_id("OK").await;
    let hotel = client.get(&format!("/v1/hotel/hotels/{id}")).await;
    hotel.expect(200);
    let nights = |from: i64| {
        let nights = json!({"check_in": days_ahead(from), "check_out": days_ahead(from + 2)});
        merged(offers_request("OK"), nights)
    };
    // The date is valid in some time zone, but in Testville's the day is over.
    let past = client.hotel_offers(&nights(-1)).await;
    past.expect_violation("/check_in");
    client.hotel_offers(&nights(1)).await.expect(200);
}

on_both_databases! {
    currency_without_decimals_has_whole_amounts,
    hotel_without_offers_is_listed_with_no_offers,
    offers_accept_the_gateways_hotel_ids,
    offers_request_reports_all_violations_at_once,
    offers_request_over_a_limit_names_the_field,
    unknown_or_incapable_supplier_returns_422,
    misbehaving_plugin_fails_only_its_own_call,
    forged_or_foreign_offer_reference_returns_422,
    failed_prebook_is_logged_and_recorded_with_its_reason,
    prebook_of_expired_offer_returns_422,
    prebook_with_guests_that_do_not_fit_the_offer_returns_400,
    amounts_are_exact_from_offer_to_charge,
    changed_price_is_passed_on_if_lower_and_refused_if_higher,
    check_in_that_is_past_at_the_hotel_returns_400,
}
