//! Search and offers.

use serde_json::{Value, json};
use tests::{
    HotelBookingBuilder, Database, Server, days_ahead, offers_request, on_both_databases, prebook_request,
    set_price,
};

async fn an_offer_is_whole(database: Database) {
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

async fn a_currency_without_decimals_has_none(database: Database) {
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

async fn a_hotel_without_offers_is_a_row(database: Database) {
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

async fn hotels_are_asked_for_by_the_id_that_they_were_given(database: Database) {
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

/// Every way to ask for offers wrongly, with the places that must be named.
async fn every_mistake_is_named_at_once(database: Database) {
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

async fn every_limit_is_named_where_it_is_broken(database: Database) {
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

async fn a_supplier_that_does_not_exist_or_cannot_is_said_to_be_so(database: Database) {
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

/// Whatever an adapter does at pricing, the caller gets the contract's answer
/// and everybody else is served.
async fn a_plugin_that_misbehaves_is_contained(database: Database) {
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

async fn an_offer_reference_is_bound_to_whom_it_was_given(database: Database) {
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

async fn an_offer_that_has_run_out_is_refused(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let offer = HotelBookingBuilder::at("EXPIRES_SOON").offer(&client).await;
    let expired = tests::eventually("the offer to run out", async || {
        let reply = client
            .header("x-idempotency-key", &uuid::Uuid::now_v7().to_string())
            .post("/v1/hotel/prebook", &prebook_request(&offer, 1))
            .await;
        (reply.status == 422).then_some(reply)
    })
    .await;
    expired.expect_problem(422, "offer_expired");
}

async fn a_lower_price_is_passed_on(database: Database) {
    let server = Server::start(database).await;
    let reply = HotelBookingBuilder::at("PRICE_DOWN")
        .prebook(&server.client())
        .await
        .expect(201);
    assert_eq!(reply.data()["total"]["amount"], 234.0);
}

async fn guests_must_fit_the_offer(database: Database) {
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

async fn amounts_are_exact_from_the_offer_to_the_charge(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    for (nightly, total) in [(33.33, "66.66"), (0.1, "0.2"), (1_234_567.89, "2469135.78")] {
        set_price(&server.sandbox_url, "OK", nightly).await;
        let booking = HotelBookingBuilder::at("OK").non_refundable().book_confirmed(&client).await;
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

async fn a_price_that_moved_since_the_offer_is_told(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let offer = HotelBookingBuilder::at("OK").non_refundable().offer(&client).await;
    set_price(&server.sandbox_url, "OK", 110.05).await;
    let problem = client
        .header("x-idempotency-key", "moved")
        .post("/v1/hotel/prebook", &prebook_request(&offer, 1))
        .await
        .expect_problem(409, "offer_price_changed");
    assert_eq!(problem.body["offered"]["amount"].as_f64(), Some(200.0));
    assert_eq!(problem.body["current"]["amount"].as_f64(), Some(220.1));
}

async fn a_day_that_is_over_at_the_hotel_is_not_priced_once_its_time_zone_is_known(
    database: Database,
) {
    let server = Server::start(database).await;
    let client = server.client();
    let mut request = offers_request("OK");
    let reply = client.post("/v1/hotel/offers", &request).await.expect(200);
    let id = reply.data()[0]["hotel_id"].as_str().unwrap().to_owned();
    client
        .get(&format!("/v1/hotel/hotels/{id}"))
        .await
        .expect(200);
    // Wherever it is yesterday still, it is not in Testville.
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
    an_offer_is_whole,
    a_currency_without_decimals_has_none,
    a_hotel_without_offers_is_a_row,
    hotels_are_asked_for_by_the_id_that_they_were_given,
    every_mistake_is_named_at_once,
    every_limit_is_named_where_it_is_broken,
    a_supplier_that_does_not_exist_or_cannot_is_said_to_be_so,
    a_plugin_that_misbehaves_is_contained,
    an_offer_reference_is_bound_to_whom_it_was_given,
    an_offer_that_has_run_out_is_refused,
    a_lower_price_is_passed_on,
    guests_must_fit_the_offer,
    amounts_are_exact_from_the_offer_to_the_charge,
    a_price_that_moved_since_the_offer_is_told,
    a_day_that_is_over_at_the_hotel_is_not_priced_once_its_time_zone_is_known,
}
