//! Tests of paying a booking: with each sandbox card, in a browser, and in a supplier's checkout.

use serde_json::{Value, json};
use tests::{
    Booking, BookingBuilder, CALLER, Client, Database, Fault, FaultProxy, FlightBookingBuilder,
    PlannedFault, Reply, Server, ServerOptions, complete_payment, on_both_databases, supplier_at,
};

/// Ledger entries of a booking that the gateway has charged.
const PAID: [&str; 3] = ["authorization", "booking", "capture"];

/// Waits until the booking's payments have these statuses and returns the booking.
async fn wait_for_payments(booking: &Booking, statuses: &[&str]) -> Value {
    booking
        .wait_until(&format!("{statuses:?}"), |now| {
            let payments = now["payments"].as_array().unwrap().iter();
            payments.map(|payment| &payment["status"]).eq(statuses)
        })
        .await
}

async fn each_accepted_card_is_charged_once(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    for (builder, total) in BookingBuilder::of_each_kind().iter().zip([260.0, 420.0]) {
        for card in [
            "tok_visa",
            "tok_mastercard",
            "tok_timeout",
            "tok_capture_fails",
        ] {
            let booking = builder.clone().card(card).book_confirmed(&server).await;
            let paid = wait_for_payments(&booking, &["CAPTURED"]).await;
            assert_eq!(paid["status"], "CONFIRMED", "{card}");
            let ledger = server.ledger().await;
            assert_eq!(ledger.kinds_of(&booking.id), PAID, "{card}");
            for kind in PAID {
                assert_eq!(ledger.sum(&booking.id, kind), total, "{card}: {kind}");
            }
        }
    }
}

async fn booking_can_be_paid_with_another_card_after_a_decline(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for builder in BookingBuilder::of_each_kind() {
        for (card, status) in [
            ("tok_declined", "FAILED"),
            ("tok_insufficient_funds", "FAILED"),
            ("tok_requires_action", "REQUIRES_ACTION"),
        ] {
            let (booking, reply) = builder.clone().card(card).book(&server).await;
            let problem = reply.expect_problem(422, "payment_failed");
            assert_eq!(
                problem.body["booking_status"], "READY_FOR_COMPLETE",
                "{card}"
            );
            assert_eq!(problem.body["payment_status"], status, "{card}");
            // The processor declined, not the supplier of the booking.
            assert_eq!(problem.body["supplier"], "SANDBOX_PAYMENTS", "{card}");
            assert_eq!(problem.header("x-supplier"), Some("SANDBOX_PAYMENTS"));
            let ready = wait_for_payments(&booking, &["FAILED"]).await;
            assert_eq!(ready["status"], "READY_FOR_COMPLETE", "{card}");
            assert!(ready.get("failure").is_none(), "{ready:#}");
            let until = ready.get("expires_at").or(ready.get("offer_expires_at"));
            assert!(
                until.unwrap().is_string(),
                "the booking can still be completed"
            );
            assert!(server.ledger().await.kinds_of(&booking.id).is_empty());
            let again = booking.book(&builder.payment(&client).await).await;
            assert_eq!(again.outcome(), (200, "CONFIRMED"), "{card}");
            wait_for_payments(&booking, &["FAILED", "CAPTURED"]).await;
            assert_eq!(server.ledger().await.kinds_of(&booking.id), PAID, "{card}");
        }
    }
}

/// Prebooks in a browser and purchases bags while no server listens at the processor's URL. Nothing
/// is bound or bought, and the keys of the prebooks are free.
async fn payment_that_is_not_sent_names_the_processor(database: Database) {
    let options = ServerOptions::on(database);
    let server = Server::start_with_own_sandbox(options.clone()).await;
    let client = server.client();
    let ticket = FlightBookingBuilder::on("LHR-JFK");
    let ticket = ticket.book_confirmed(&server).await;
    let bags = client.bag_request(&ticket, "tok_visa").await;
    let mut prebooks = Vec::new();
    for builder in BookingBuilder::of_each_kind() {
        let builder = builder.in_browser();
        let request = builder.request(&client).await;
        prebooks.push((builder, request));
    }
    let [id, kind, component] = ["SANDBOX_PAYMENTS", "payment", "fake-payments.wasm"];
    let nowhere = supplier_at("http://127.0.0.1:9", id, kind, component, &[]);
    let server = server.restart(options.clone().config(&nowhere)).await;
    let client = server.client();
    let mut replies = vec![client.purchase_bags(&ticket, "key", &bags).await];
    for (builder, request) in &prebooks {
        replies.push(builder.prebook(&client, "key", request).await);
    }
    for reply in replies {
        let problem = reply.expect_problem(503, "supplier_unavailable");
        assert_eq!(problem.body["supplier"], id, "{:#}", problem.body);
        assert_eq!(problem.header("x-supplier"), Some(id));
    }
    let server = server.restart(options).await;
    for (builder, request) in &prebooks {
        let again = builder.prebook(&server.client(), "key", request).await;
        assert_eq!(again.outcome(), (201, "READY_FOR_COMPLETE"), "{builder:?}");
    }
}

async fn payment_of_refused_booking_is_voided(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let refused = (422, "supplier_rejected");
    let at = BookingBuilder::new;
    for (builder, response) in [
        (
            at("SANDBOX_HOTELS", "BOOK_REFUSED").card("tok_timeout"),
            refused,
        ),
        (at("SUPPLIER_A", "LHR-LGW").card("tok_timeout"), refused),
        (at("SUPPLIER_A", "LHR-LGW").in_browser(), refused),
        (
            at("SUPPLIER_A", "LHR-LTN").in_browser(),
            (202, "COMPLETE_IN_PROGRESS"),
        ),
    ] {
        let (booking, reply) = builder.book(&server).await;
        assert_eq!(reply.outcome(), response, "{builder:?}: {:#}", reply.body);
        let failed = wait_for_payments(&booking, &["VOIDED"]).await;
        assert_eq!(failed["status"], "FAILED", "{builder:?}");
        let ledger = server.ledger().await;
        assert_eq!(ledger.kinds_of(&booking.id), ["authorization", "void"]);
    }
}

async fn card_is_shown_in_single_read_but_not_in_list(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for (token, brand, last4, funding) in [
        ("tok_visa", "VISA", "4242", "CREDIT"),
        ("tok_mastercard", "MASTERCARD", "4444", "DEBIT"),
    ] {
        let way = FlightBookingBuilder::on("LHR-JFK").card(token);
        let booking = way.book_confirmed(&server).await;
        let read = client.flight_booking(&booking).await;
        let card = json!({"brand": brand, "last4": last4, "funding": funding, "wallet": null});
        let shown = &read["payments"][0]["payment_method"];
        assert_eq!(*shown, json!({"type": "CARD", "card": card}));
        let listed = client.get("/v1/flight/bookings?limit=1").await.expect(200);
        assert_eq!(listed.data()[0]["id"], booking);
        let payment = &listed.data()[0]["payments"][0];
        assert!(payment.get("payment_method").is_none(), "{payment}");
        assert_eq!(payment["amount"], json!({"amount": 420, "currency": "EUR"}));
    }
}

async fn foreign_deleted_or_unknown_instrument_is_refused(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let deleted = client.store_card("tok_visa").await;
    let path = format!("/v1/payment-instruments/{deleted}");
    client.delete(&path).await.expect(204);
    let foreign = client.user("somebody-else").store_card("tok_visa").await;
    for builder in BookingBuilder::of_each_kind() {
        let booking = builder.prebooked(&server).await;
        for payment in [json!({}), json!({"payment_instrument": "inst_1"})] {
            let refused = booking.book(&payment).await;
            refused.expect_problem(400, "validation_failed");
        }
        for instrument in [
            deleted.as_str(),
            &foreign,
            "inst_00000000000000000000000000000000",
        ] {
            let payment = json!({"payment_instrument_id": instrument});
            let refused = booking.book(&payment).await;
            refused.expect_problem(422, "payment_instrument_invalid");
        }
        let ready = booking.read().await;
        assert_eq!(ready["status"], "READY_FOR_COMPLETE");
        assert_eq!(ready["payments"], json!([]));
        assert!(server.ledger().await.kinds_of(&booking.id).is_empty());
    }
}

/// Prebooks under a key and repeats the call. Returns the booking and the payment token, which only
/// the first response contains.
async fn prebooked(client: &Client, builder: &BookingBuilder, meta: &str) -> (Booking, String) {
    let request = builder.request(client).await;
    let key = uuid::Uuid::now_v7().to_string();
    let fresh = builder.prebook(client, &key, &request).await.expect(201);
    let token = fresh.body["meta"][meta]["token"].as_str().unwrap();
    let other = if meta == "checkout" {
        "payment_sdk"
    } else {
        "checkout"
    };
    assert!(fresh.body["meta"].get(other).is_none(), "{:#}", fresh.body);
    if meta == "checkout" {
        let url = fresh.body["meta"]["checkout"]["url"].as_str().unwrap();
        assert!(url.starts_with("http"), "{url}");
    }
    let again = builder.prebook(client, &key, &request).await.expect(200);
    assert_eq!(again.data()["id"], fresh.data()["id"]);
    assert!(again.body["meta"].get(meta).is_none(), "{:#}", again.body);
    let booking = builder.booking(client, fresh.data()["id"].as_str().unwrap());
    let read = booking.read().await.to_string();
    assert!(!read.contains(token), "the token is returned once: {read}");
    (booking, token.to_owned())
}

/// Checks that before the payer has paid nothing is booked and no card is accepted instead. Returns
/// the refusal to book.
async fn check_unpaid(client: &Client, booking: &Booking) -> Reply {
    let early = booking.book(&json!({})).await;
    let early = early.expect_problem(422, "payment_failed");
    assert_eq!(early.body["booking_status"], "READY_FOR_COMPLETE");
    let wrong = booking.book(&client.card_payment("tok_visa").await).await;
    wrong.expect_problem(400, "validation_failed");
    let ready = booking.read().await;
    assert_eq!(ready["status"], "READY_FOR_COMPLETE");
    assert!(ready.get("failure").is_none(), "{ready:#}");
    early
}

async fn browser_payment_confirms_booking(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for builder in BookingBuilder::of_each_kind() {
        let builder = builder.in_browser();
        let (booking, token) = prebooked(&client, &builder, "payment_sdk").await;
        let early = check_unpaid(&client, &booking).await;
        assert_eq!(early.body["payment_status"], "REQUIRES_ACTION");
        assert!(server.ledger().await.kinds_of(&booking.id).is_empty());
        complete_payment(&server.sandbox_url, &token).await;
        let booked = booking.book(&json!({})).await;
        assert_eq!(booked.outcome(), (200, "CONFIRMED"));
        let paid = wait_for_payments(&booking, &["CAPTURED"]).await;
        if let Some(by) = paid["payments"][0].get("collected_by") {
            assert_eq!(by, "SERVICE");
        }
        assert_eq!(server.ledger().await.kinds_of(&booking.id), PAID);
    }
}

async fn browser_payment_of_expired_booking_is_voided(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let builder = BookingBuilder::new("SANDBOX_HOTELS", "EXPIRES_SOON").in_browser();
    let request = builder.request(&client).await;
    let fresh = builder.prebook(&client, "sdk", &request).await.expect(201);
    let token = fresh.body["meta"]["payment_sdk"]["token"].as_str().unwrap();
    complete_payment(&server.sandbox_url, token).await;
    let booking = builder.booking(&client, fresh.data()["id"].as_str().unwrap());
    booking.wait_for("EXPIRED").await;
    server.wait_for_entries(&booking.id, ["void"], [1]).await;
}

async fn supplier_checkout_collects_payment_itself(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let plain = BookingBuilder::new("SUPPLIER_B", "LHR-JFK");
    // At this supplier, `use_payment_sdk` has no effect.
    let sdk = plain.clone().in_browser();
    for (builder, user) in [(plain, "plain"), (sdk, "sdk")] {
        let client = server.client().user(user);
        let (booking, token) = prebooked(&client, &builder, "checkout").await;
        check_unpaid(&client, &booking).await;
        complete_payment(&server.sandbox_url, &token).await;
        let booked = booking.book(&json!({})).await.expect(200);
        let payments = booked.data()["payments"].as_array().unwrap();
        assert_eq!(payments.len(), 1, "{payments:#?}");
        let payment = &payments[0];
        assert_eq!(payment["collected_by"], "SUPPLIER");
        assert_eq!(payment["status"], "CAPTURED");
        assert_eq!(payment["amount"], booked.data()["total_amount"]);
        assert!(payment.get("payment_method").is_none(), "{payment}");
        let again = booking.book(&json!({})).await.expect(200);
        assert_eq!(again.data(), booked.data());
        assert_eq!(server.ledger().await.kinds_of(&booking.id), ["booking"]);
    }
}

/// The response to the first request is lost, and the resend is refused because the payer has not
/// paid. The first request may have booked, so a lookup has to confirm that nothing is booked.
async fn checkout_unpaid_at_a_resend_returns_to_the_payer_after_a_lookup(database: Database) {
    let name = "UNPAID";
    let proxy = FaultProxy::start().await;
    let is_lost = PlannedFault {
        route: "POST /jetbridge/v3/bookings",
        fault: Fault::ErrorBeforeEffect,
        refusal: (500, String::new()),
    };
    proxy.plan(name, vec![is_lost]);
    let server = start_with_checkout(database, &proxy, name).await;
    let builder = BookingBuilder::new(name, "LHR-JFK");
    let (booking, token) = prebooked(&server.client(), &builder, "checkout").await;
    let lost = booking.book(&json!({})).await;
    lost.expect_problem(500, "result_unknown");
    booking.wait_for("READY_FOR_COMPLETE").await;
    let labels = [("supplier", name), ("operation", "flight_booking")];
    let calls = server.metric("stopover_supplier_calls_total", &labels);
    let calls = calls.await;
    assert!(
        calls >= 5,
        "a prebook, and a lookup after each of two sendings: {calls}"
    );
    complete_payment(&server.sandbox_url, &token).await;
    let booked = booking.book(&json!({})).await;
    assert_eq!(booked.outcome(), (200, "CONFIRMED"));
    assert_eq!(server.ledger().await.kinds_of(&booking.id), ["booking"]);
}

/// The payer has paid, and the supplier cannot be reached: nobody needs another means of payment.
async fn booking_paid_at_a_supplier_that_is_away_can_be_sent_again(database: Database) {
    let name = "AWAY";
    let proxy = FaultProxy::start().await;
    let server = start_with_checkout(database, &proxy, name).await;
    let builder = BookingBuilder::new(name, "LHR-JFK");
    let (booking, token) = prebooked(&server.client(), &builder, "checkout").await;
    complete_payment(&server.sandbox_url, &token).await;
    // Nobody listens at this address.
    let options = checkout_options(database, "http://127.0.0.1:9", name);
    let server = server.restart(options).await;
    let away = booking.seen_by(&server.client()).book(&json!({})).await;
    let away = away.expect_problem(503, "supplier_unavailable");
    assert_eq!(away.body["retryable"], true);
    assert_eq!(away.body["booking_status"], "READY_FOR_COMPLETE");
    assert!(away.body.get("payment_status").is_none(), "{}", away.body);
}

/// Starts a server with a supplier that collects payments at its own checkout, behind a proxy.
async fn start_with_checkout(database: Database, proxy: &FaultProxy, name: &str) -> Server {
    let server = Server::start_with(checkout_options(database, &proxy.url, name)).await;
    proxy.forward_to(&server.sandbox_url);
    server
}

/// Returns options with a supplier at this URL that collects payments at its own checkout.
fn checkout_options(database: Database, url: &str, name: &str) -> ServerOptions {
    let component = "fake-flights-jetbridge.wasm";
    let headers = [
        ("x-jetbridge-token", "jetbridge-supplier-b"),
        (CALLER, name),
    ];
    let supplier = supplier_at(url, name, "flight", component, &headers);
    let config = format!("{supplier}limits = {{ call_ms_max = 2000 }}\nweight = 0\n");
    ServerOptions::on(database)
        .with_short_retries()
        .config(&config)
}

on_both_databases! {
    each_accepted_card_is_charged_once,
    booking_can_be_paid_with_another_card_after_a_decline,
    payment_that_is_not_sent_names_the_processor,
    payment_of_refused_booking_is_voided,
    card_is_shown_in_single_read_but_not_in_list,
    foreign_deleted_or_unknown_instrument_is_refused,
    browser_payment_confirms_booking,
    browser_payment_of_expired_booking_is_voided,
    supplier_checkout_collects_payment_itself,
    checkout_unpaid_at_a_resend_returns_to_the_payer_after_a_lookup,
    booking_paid_at_a_supplier_that_is_away_can_be_sent_again,
}
