//! Tests of hotel offers.

use serde_json::{Value, json};
use tests::{
    Database, HotelBookingBuilder, Server, days_ahead, offers_request, on_both_databases,
    prebook_request, set_price,
};

async fn hotel_offer_contains_all_fields(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let mut request = offers_request("OK");
    request["occupancy"] =
        json!([{"adults": 2, "children": [3, 9]}, {"adults": 1, "children": []}]);
    let reply = client.post("/v1/hotel/offers", &request).await.expect(200);
    assert_eq!(reply.body["meta"]["supplier"], "SANDBOX_HOTELS");
    assert_eq!(reply.header("x-supplier"), Some("SANDBOX_HOTELS"));
    let hotel = &reply.data()[0];
    assert!(hotel["hotel_id"].as_str().unwrap().starts_with("htl_"));
    assert_eq!(hotel["supplier_hotel_id"], "OK");
    let offers = hotel["offers"].as_array().unwrap();
    assert_eq!(offers.len(), 2);
    let plain = offers
        .iter()
        .find(|offer| offer["refundable"] == false)
        .unwrap();
    assert_eq!(
        (
            plain["total"]["amount"].as_f64(),
            plain["total"]["currency"].as_str()
        ),
        (Some(400.0), Some("EUR"))
    );
    assert_eq!(plain["rooms"][0]["children"], json!([3, 9]));
    assert_eq!(plain["rooms"][1]["position"], 1);
    let flexible = offers
        .iter()
        .find(|offer| offer["refundable"] == true)
        .unwrap();
    assert_eq!(flexible["total"]["amount"], 520.0);
    assert!(!flexible["cancellation_policy"]["deadline"].is_null());
    assert_eq!(
        flexible["cancellation_policy"]["penalties"][0]["type"],
        "AMOUNT"
    );
}

async fn currency_without_decimals_has_whole_amounts(database: Database) {
    let server = Server::start(database).await;
    let mut request = offers_request("OK");
    request["currency"] = json!("JPY");
    let reply = server
        .client()
        .post("/v1/hotel/offers", &request)
        .await
        .expect(200);
    let totals: Vec<&Value> = reply.data()[0]["offers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|offer| &offer["total"]["amount"])
        .collect();
    assert!(
        totals.iter().any(|total| total.as_f64() == Some(200.0)),
        "{totals:?}"
    );
}

async fn hotel_without_offers_is_listed_with_no_offers(database: Database) {
    let server = Server::start(database).await;
    let mut request = offers_request("NO_OFFERS");
    request["supplier_hotel_ids"] = json!(["NO_OFFERS", "OK"]);
    let reply = server
        .client()
        .post("/v1/hotel/offers", &request)
        .await
        .expect(200);
    let rows: Vec<(&str, usize)> = reply
        .data()
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["supplier_hotel_id"].as_str().unwrap(),
                row["offers"].as_array().unwrap().len(),
            )
        })
        .collect();
    assert_eq!(rows, [("NO_OFFERS", 0), ("OK", 2)]);
}

async fn offers_accept_the_gateways_hotel_ids(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let seen = client
        .post("/v1/hotel/offers", &offers_request("OK"))
        .await
        .expect(200);
    let id = seen.data()[0]["hotel_id"].clone();
    let mut request = offers_request("OK");
    request
        .as_object_mut()
        .unwrap()
        .remove("supplier_hotel_ids");
    request.as_object_mut().unwrap().remove("supplier");
    request["hotel_ids"] = json!([id]);
    let again = client.post("/v1/hotel/offers", &request).await.expect(200);
    assert_eq!(again.data()[0]["hotel_id"], id);
    request["hotel_ids"] = json!(["htl_00000000000000000000000000000000"]);
    client
        .post("/v1/hotel/offers", &request)
        .await
        .expect_problem(404, "hotel_not_found");
}

/// All violations of a request are reported in one response, each with its pointer.
async fn offers_request_reports_all_violations_at_once(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let mut request = offers_request("OK");
    request["check_in"] = json!(days_ahead(-3));
    request["currency"] = json!("XXQ");
    request["guest_nationality"] = json!("ZZ");
    request["occupancy"] = json!([{"adults": 0, "children": [18]}]);
    request["typo"] = json!(1);
    let reply = client
        .post("/v1/hotel/offers", &request)
        .await
        .expect_problem(400, "validation_failed");
    let pointers: Vec<&str> = reply.body["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["pointer"].as_str().unwrap())
        .collect();
    for pointer in [
        "/currency",
        "/guest_nationality",
        "/occupancy/0/adults",
        "/occupancy/0/children/0",
        "/typo",
    ] {
        assert!(
            pointers.contains(&pointer),
            "{pointer} is not in {pointers:?}"
        );
    }
}

async fn offers_request_over_a_limit_names_the_field(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
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
        (
            json!({"occupancy": vec![json!({"adults": 1, "children": []}); 10]}),
            "/occupancy",
        ),
        (
            json!({"max_offers_per_hotel": 251}),
            "/max_offers_per_hotel",
        ),
        (
            json!({"hotel_ids": ["htl_00000000000000000000000000000000"]}),
            "/supplier_hotel_ids",
        ),
    ] {
        let mut request = offers_request("OK");
        request
            .as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        let reply = client
            .post("/v1/hotel/offers", &request)
            .await
            .expect_problem(400, "validation_failed");
        let named = reply.body["errors"]
            .as_array()
            .unwrap()
            .iter()
            .any(|error| error["pointer"].as_str().unwrap().starts_with(pointer));
        assert!(named, "{pointer} is not in {:#}", reply.body["errors"]);
    }
}

async fn unknown_or_incapable_supplier_returns_422(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let mut request = offers_request("OK");
    request["supplier"] = json!("NOBODY");
    client
        .post("/v1/hotel/offers", &request)
        .await
        .expect_problem(422, "supplier_operation_unsupported");
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
    let mut mini = offers_request("OK");
    mini["supplier"] = json!("SANDBOX_MINI");
    let priced = client.post("/v1/hotel/offers", &mini).await.expect(200);
    assert_eq!(priced.body["meta"]["supplier"], "SANDBOX_MINI");
}

/// If an adapter traps, exceeds its limits or never returns during pricing, the caller gets a
/// problem and other suppliers still work.
async fn misbehaving_plugin_fails_only_its_own_call(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    for hotel in ["TRAP", "HOARD", "FLOOD", "SPIN"] {
        let reply = client
            .post("/v1/hotel/offers", &offers_request(hotel))
            .await;
        assert_eq!(reply.body["supplier"], "SANDBOX_HOTELS", "{hotel}");
        reply.expect_problem(502, "supplier_error");
    }
    let mut others = offers_request("OK");
    others["supplier"] = json!("SANDBOX_MINI");
    let _served = client.post("/v1/hotel/offers", &others).await.expect(200);
}

async fn forged_or_foreign_offer_reference_returns_422(database: Database) {
    let server = Server::start(database).await;
    let client = server.client().header("x-idempotency-key", "sealed");
    let offer = HotelBookingBuilder::at("OK").offer(&server.client()).await;
    let mut changed = offer.clone().into_bytes();
    let middle = changed.len() / 2;
    changed[middle] = if changed[middle] == b'A' { b'B' } else { b'A' };
    for tampered in [
        String::from_utf8(changed).unwrap(),
        "nonsense".to_owned(),
        offer[..offer.len() - 4].to_owned(),
    ] {
        client
            .post("/v1/hotel/prebook", &prebook_request(&tampered, 1))
            .await
            .expect_problem(422, "offer_invalid");
    }
    let live = server.client_with("demo", &["--mode", "live"]).await;
    for other in [server.client_for("acme").await, live] {
        other
            .header("x-idempotency-key", "not-theirs")
            .post("/v1/hotel/prebook", &prebook_request(&offer, 1))
            .await
            .expect_problem(422, "offer_invalid");
    }
}

async fn prebook_of_expired_offer_returns_422(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let offer = HotelBookingBuilder::at("EXPIRES_SOON").offer(&client).await;
    let expired = tests::eventually("the offer to expire", async || {
        let reply = client
            .header("x-idempotency-key", &uuid::Uuid::now_v7().to_string())
            .post("/v1/hotel/prebook", &prebook_request(&offer, 1))
            .await;
        (reply.status == 422).then_some(reply)
    })
    .await;
    expired.expect_problem(422, "offer_expired");
}

async fn lower_price_at_prebook_is_passed_on(database: Database) {
    let server = Server::start(database).await;
    let reply = HotelBookingBuilder::at("PRICE_DOWN")
        .prebook(&server.client())
        .await
        .expect(201);
    assert_eq!(reply.data()["total"]["amount"], 234.0);
}

async fn prebook_with_guests_that_do_not_fit_the_offer_returns_400(database: Database) {
    let server = Server::start(database).await;
    let client = server.client().header("x-idempotency-key", "guests");
    let offer = HotelBookingBuilder::at("OK").offer(&server.client()).await;
    let good = prebook_request(&offer, 1);
    for (change, pointer) in [
        (json!([]), "/rooms"),
        (json!([good["rooms"][0], good["rooms"][0]]), "/rooms"),
        (
            json!([{"guests": [good["rooms"][0]["guests"][0]]}]),
            "/rooms/0/guests",
        ),
        (
            json!([{"guests": [good["rooms"][0]["guests"][1], good["rooms"][0]["guests"][1]]}]),
            "/rooms/0/guests",
        ),
        (
            json!([{"guests": [good["rooms"][0]["guests"][0], good["rooms"][0]["guests"][0]]}]),
            "/rooms/0/guests",
        ),
    ] {
        let mut request = good.clone();
        request["rooms"] = change;
        let reply = client
            .post("/v1/hotel/prebook", &request)
            .await
            .expect_problem(400, "validation_failed");
        let named = reply.body["errors"]
            .as_array()
            .unwrap()
            .iter()
            .any(|error| error["pointer"].as_str().unwrap().starts_with(pointer));
        assert!(named, "{pointer} is not in {:#}", reply.body["errors"]);
    }
}

async fn amounts_are_exact_from_offer_to_charge(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    for (nightly, total) in [(33.33, "66.66"), (0.1, "0.2"), (1_234_567.89, "2469135.78")] {
        set_price(&server.sandbox_url, "OK", nightly).await;
        let booking = HotelBookingBuilder::at("OK")
            .non_refundable()
            .book_confirmed(&client)
            .await;
        let shown = client.hotel_booking(&booking).await;
        assert_eq!(shown["total"]["amount"].to_string(), total);
        assert_eq!(shown["payments"][0]["amount"]["amount"].to_string(), total);
        let ledger = server.ledger().await;
        assert!(
            ledger.count(&booking, "authorization") == 1
                && ledger
                    .of(&booking)
                    .all(|effect| effect.amount.to_string() == total),
            "{ledger:?}"
        );
    }
}

async fn prebook_after_price_increase_returns_409(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let offer = HotelBookingBuilder::at("OK")
        .non_refundable()
        .offer(&client)
        .await;
    set_price(&server.sandbox_url, "OK", 110.05).await;
    let problem = client
        .header("x-idempotency-key", "moved")
        .post("/v1/hotel/prebook", &prebook_request(&offer, 1))
        .await
        .expect_problem(409, "offer_price_changed");
    assert_eq!(problem.body["offered"]["amount"].as_f64(), Some(200.0));
    assert_eq!(problem.body["current"]["amount"].as_f64(), Some(220.1));
}

async fn check_in_that_is_past_at_the_hotel_returns_400(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let mut request = offers_request("OK");
    let reply = client.post("/v1/hotel/offers", &request).await.expect(200);
    let id = reply.data()[0]["hotel_id"].as_str().unwrap().to_owned();
    client
        .get(&format!("/v1/hotel/hotels/{id}"))
        .await
        .expect(200);
    // The dates are valid in some time zone, but in Testville's the day is over.
    request["check_in"] = json!(days_ahead(-1));
    request["check_out"] = json!(days_ahead(1));
    let problem = client
        .post("/v1/hotel/offers", &request)
        .await
        .expect_problem(400, "validation_failed");
    assert_eq!(problem.body["errors"][0]["pointer"], "/check_in");
    request["check_in"] = json!(days_ahead(1));
    request["check_out"] = json!(days_ahead(2));
    client.post("/v1/hotel/offers", &request).await.expect(200);
}

on_both_databases! {
    hotel_offer_contains_all_fields,
    currency_without_decimals_has_whole_amounts,
    hotel_without_offers_is_listed_with_no_offers,
    offers_accept_the_gateways_hotel_ids,
    offers_request_reports_all_violations_at_once,
    offers_request_over_a_limit_names_the_field,
    unknown_or_incapable_supplier_returns_422,
    misbehaving_plugin_fails_only_its_own_call,
    forged_or_foreign_offer_reference_returns_422,
    prebook_of_expired_offer_returns_422,
    lower_price_at_prebook_is_passed_on,
    prebook_with_guests_that_do_not_fit_the_offer_returns_400,
    amounts_are_exact_from_offer_to_charge,
    prebook_after_price_increase_returns_409,
    check_in_that_is_past_at_the_hotel_returns_400,
}
