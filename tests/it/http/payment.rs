//! Tests of card payments: authorization, capture and void.

use serde_json::json;
use tests::{
    Client, Database, HotelBookingBuilder, Server, ServerOptions, complete_payment, eventually,
    on_both_databases, prebook_request,
};

const SOON: &str = "[reconcile]\nschedule_s = [1, 1, 2, 3]\n[payments]\ncapture_retry_s = [1]\n";

async fn server(database: Database) -> Server {
    Server::start_with(ServerOptions::on(database).config(SOON)).await
}

async fn payment_status(client: &Client, booking: &str) -> String {
    let booking = client.hotel_booking(booking).await;
    booking["payments"].as_array().unwrap().last().unwrap()["status"]
        .as_str()
        .unwrap()
        .to_owned()
}

async fn booking_can_be_paid_with_another_card_after_a_decline(database: Database) {
    let server = server(database).await;
    let client = server.client();
    for token in ["tok_declined", "tok_insufficient_funds"] {
        let (booking, reply) = HotelBookingBuilder::at("OK")
            .card(token)
            .book(&client)
            .await;
        reply.expect_problem(422, "payment_failed");
        assert_eq!(
            client.hotel_booking(&booking).await["status"],
            "READY_FOR_COMPLETE"
        );
        assert_eq!(payment_status(&client, &booking).await, "FAILED");
        let good = HotelBookingBuilder::at("OK").instrument(&client).await;
        let again = client
            .post(
                &format!("/v1/hotel/bookings/{booking}/book"),
                &json!({"payment_instrument_id": good}),
            )
            .await;
        assert_eq!(again.expect(200).data()["status"], "CONFIRMED");
        assert_eq!(server.ledger().await.count(&booking, "authorization"), 1);
    }
}

async fn card_that_requires_action_is_not_charged(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let (booking, reply) = HotelBookingBuilder::at("OK")
        .card("tok_requires_action")
        .book(&client)
        .await;
    let problem = reply.expect_problem(422, "payment_failed");
    assert_eq!(problem.body["payment_status"], "REQUIRES_ACTION");
    assert_eq!(
        client.hotel_booking(&booking).await["status"],
        "READY_FOR_COMPLETE"
    );
}

async fn authorization_with_lost_response_is_reconciled(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let (booking, reply) = HotelBookingBuilder::at("OK")
        .card("tok_timeout")
        .book(&client)
        .await;
    assert_eq!(reply.expect(200).data()["status"], "CONFIRMED");
    assert_eq!(server.ledger().await.count(&booking, "authorization"), 1);
}

async fn failed_capture_is_retried_until_it_succeeds(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let booking = HotelBookingBuilder::at("OK")
        .card("tok_capture_fails")
        .book_confirmed(&client)
        .await;
    let status = "the payment to be captured";
    eventually(status, async || {
        (payment_status(&client, &booking).await == "CAPTURED").then_some(())
    })
    .await;
    assert_eq!(client.hotel_booking(&booking).await["status"], "CONFIRMED");
    assert_eq!(server.ledger().await.count(&booking, "capture"), 1);
}

async fn booking_completes_only_after_browser_payment(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let offer = HotelBookingBuilder::at("OK").offer(&client).await;
    let mut request = prebook_request(&offer, 1);
    request["use_payment_sdk"] = json!(true);
    let with_key = client.header("x-idempotency-key", "sdk-1");
    let fresh = with_key
        .post("/v1/hotel/prebook", &request)
        .await
        .expect(201);
    let token = fresh.body["meta"]["payment_sdk"]["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let booking = fresh.data()["id"].as_str().unwrap().to_owned();
    let again = with_key
        .post("/v1/hotel/prebook", &request)
        .await
        .expect(200);
    assert!(
        again.body["meta"].get("payment_sdk").is_none(),
        "the token is shown once"
    );

    let path = format!("/v1/hotel/bookings/{booking}/book");
    let early = client
        .post(&path, &json!({}))
        .await
        .expect_problem(422, "payment_failed");
    assert_eq!(early.body["payment_status"], "REQUIRES_ACTION");
    let card = HotelBookingBuilder::at("OK").instrument(&client).await;
    client
        .post(&path, &json!({"payment_instrument_id": card}))
        .await
        .expect_problem(400, "validation_failed");

    complete_payment(&server.sandbox_url, &token).await;
    assert_eq!(
        client.post(&path, &json!({})).await.expect(200).data()["status"],
        "CONFIRMED"
    );
    let ledger = server.ledger().await;
    assert_eq!(
        (
            ledger.count(&booking, "authorization"),
            ledger.count(&booking, "booking")
        ),
        (1, 1)
    );
}

async fn browser_payment_of_expired_booking_is_voided(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let offer = HotelBookingBuilder::at("EXPIRES_SOON").offer(&client).await;
    let mut request = prebook_request(&offer, 1);
    request["use_payment_sdk"] = json!(true);
    let fresh = client
        .header("x-idempotency-key", "sdk-2")
        .post("/v1/hotel/prebook", &request)
        .await
        .expect(201);
    let booking = fresh.data()["id"].as_str().unwrap().to_owned();
    complete_payment(
        &server.sandbox_url,
        fresh.body["meta"]["payment_sdk"]["token"].as_str().unwrap(),
    )
    .await;
    let _expired = client.wait_for_hotel_booking(&booking, "EXPIRED").await;
    eventually("the authorization to be voided", async || {
        (server.ledger().await.count(&booking, "void") == 1).then_some(())
    })
    .await;
}

async fn book_without_instrument_or_browser_payment_is_refused(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let booking = HotelBookingBuilder::at("OK").prebooked(&client).await;
    let path = format!("/v1/hotel/bookings/{booking}/book");
    client
        .post(&path, &json!({}))
        .await
        .expect_problem(400, "validation_failed");
    let unknown = json!({"payment_instrument_id": "inst_00000000000000000000000000000000"});
    client
        .post(&path, &unknown)
        .await
        .expect_problem(422, "payment_instrument_invalid");
}

on_both_databases! {
    authorization_with_lost_response_is_reconciled,
    booking_can_be_paid_with_another_card_after_a_decline,
    card_that_requires_action_is_not_charged,
    failed_capture_is_retried_until_it_succeeds,
    booking_completes_only_after_browser_payment,
    browser_payment_of_expired_booking_is_voided,
    book_without_instrument_or_browser_payment_is_refused,
}
