//! Tests of purchases by armed watches and of their mandates. Each test checks the sandbox's
//! ledger.

use super::shape::check_names;
use serde_json::{Value, json};
use tests::{
    Client, Database, Server, ServerOptions, WATCHES, auto_book, eventually, money,
    on_both_databases, set_price, watch_request,
};

on_both_databases! {
    armed_watch_purchases_once_and_reports_only_the_purchase,
    watch_purchase_at_each_scenario_hotel_ends_as_specified,
    armed_watch_keeps_waiting_after_failed_prebook,
    watch_with_unknown_booking_outcome_stays_purchasing,
    watch_with_revoked_mandate_purchases_nothing,
    watch_with_deleted_instrument_purchases_nothing,
    unconfirmed_watch_triggers_but_does_not_purchase,
}

const OFTEN: &str = "[watches]\ninterval_s = 1";

async fn start(database: Database) -> Server {
    Server::start_with(ServerOptions::on(database).config(OFTEN).hurried()).await
}

/// Returns an armed watch of a hotel whose price is above the trigger.
async fn armed(server: &Server, client: &Client, hotel: &str, card: &str) -> Value {
    set_price(&server.sandbox_url, hotel, 500.0).await;
    client.armed_watch(hotel, 200.0, card).await
}

async fn armed_watch_purchases_once_and_reports_only_the_purchase(database: Database) {
    let server = start(database).await;
    let client = server.client().user("ada");
    let watch = armed(&server, &client, "OK", "tok_visa").await;
    assert_eq!(client.mandate_of(&watch).await["status"], "ACTIVE");
    set_price(&server.sandbox_url, "OK", 90.0).await;
    let bought = client
        .wait_for_watch_status(&watch["id"], "purchased")
        .await;
    let booking = client
        .hotel_booking(bought["booking_id"].as_str().unwrap())
        .await;
    assert_eq!(booking["status"], "CONFIRMED");
    assert_eq!(booking["total"], money(180.0, "EUR"));
    assert_eq!(booking["reference_id"], watch["id"]);
    assert_eq!(booking["contact"]["first_name"], "Ada");
    assert_eq!(client.mandate_of(&watch).await["status"], "CONSUMED");
    let events = client.watch_events().await;
    assert_eq!(events.len(), 1, "{events:#?}");
    let data = &events[0]["data"];
    assert_eq!(events[0]["type"], "travel.hotel.watch.purchased");
    let members = ["watch", "user_id", "booking", "mandate_id"];
    check_names("data", data, &members, &[]);
    assert_eq!(data["user_id"], "ada");
    assert_eq!(data["mandate_id"], watch["mandate_id"]);
    assert_eq!(data["watch"]["status"], "purchased");
    assert_eq!(data["booking"]["id"], booking["id"]);
    assert_eq!(data["booking"]["total_amount"], money(180.0, "EUR"));
    let ledger = server.ledger().await;
    let id = booking["id"].as_str().unwrap();
    let captured = eventually("the capture to be made", async || {
        let ledger = server.ledger().await;
        (ledger.count(id, "capture") == 1).then(|| ledger.sum(id, "capture"))
    });
    assert!((captured.await - 180.0).abs() < 0.001);
    for kind in ["booking", "authorization"] {
        assert_eq!(ledger.count(id, kind), 1, "{kind}");
    }
    assert_eq!(client.bookings_of_watch(&watch).await.len(), 1);
    // A purchased watch can no longer be deleted.
    let path = format!("{WATCHES}/{}", watch["id"].as_str().unwrap());
    let deleted = client.delete(&path).await;
    deleted.expect_problem(409, "watch_state_conflict");
}

#[expect(clippy::too_many_lines, reason = "most lines are a table of cases")]
async fn watch_purchase_at_each_scenario_hotel_ends_as_specified(database: Database) {
    let server = start(database).await;
    for (hotel, card, status, reason, effects) in [
        (
            "BOOK_LOST_ANSWER",
            "tok_visa",
            "purchased",
            None,
            &["authorization", "booking", "capture"][..],
        ),
        (
            "BOOK_PENDING",
            "tok_visa",
            "purchased",
            None,
            &["authorization", "booking", "capture"],
        ),
        (
            "MANY",
            "tok_timeout",
            "purchased",
            None,
            &["authorization", "booking", "capture"],
        ),
        (
            "PRICE_DOWN",
            "tok_visa",
            "purchased",
            None,
            &["authorization", "booking", "capture"],
        ),
        (
            "QUOTE_PREVIEW",
            "tok_declined",
            "purchase_failed",
            Some("payment_failed"),
            &[],
        ),
        (
            "RESTRICTED",
            "tok_requires_action",
            "purchase_failed",
            Some("payment_failed"),
            &[],
        ),
        (
            "BOOK_REFUSED",
            "tok_visa",
            "purchase_failed",
            Some("supplier_rejected"),
            &["authorization", "void"],
        ),
        (
            "BOOK_PENDING_REFUSED",
            "tok_visa",
            "purchase_failed",
            Some("supplier_rejected"),
            &["authorization", "void"],
        ),
        (
            "BOOK_LOST_REQUEST",
            "tok_visa",
            "purchase_failed",
            Some("supplier_rejected"),
            &["authorization", "void"],
        ),
    ] {
        let client = server.client().user(hotel);
        let watch = armed(&server, &client, hotel, card).await;
        set_price(&server.sandbox_url, hotel, 90.0).await;
        let ended = client.wait_for_watch_status(&watch["id"], status).await;
        let id = ended["booking_id"].as_str().unwrap();
        eventually(&format!("{hotel}: {effects:?}"), async || {
            let ledger = server.ledger().await;
            let all = ["authorization", "booking", "capture", "void", "refund"];
            let fits = all.iter().all(|kind| {
                let count = usize::from(effects.contains(kind));
                // A pending booking that is refused later has a booking entry in the ledger
                // although it no longer exists.
                let gone = *kind == "booking" && hotel == "BOOK_PENDING_REFUSED";
                ledger.count(id, kind) == count || gone
            });
            fits.then_some(())
        })
        .await;
        let told = client.watch_events().await;
        let told: Vec<_> = told
            .iter()
            .filter(|event| event["data"]["user_id"] == hotel)
            .collect();
        assert_eq!(told.len(), 1, "{hotel}: {told:#?}");
        assert_eq!(
            told[0]["type"],
            format!("travel.hotel.watch.{status}"),
            "{hotel}"
        );
        assert_eq!(told[0]["data"]["reason"], json!(reason).clone(), "{hotel}");
        assert_eq!(
            client.mandate_of(&watch).await["status"],
            "CONSUMED",
            "{hotel}"
        );
    }
}

async fn armed_watch_keeps_waiting_after_failed_prebook(database: Database) {
    let server = start(database).await;
    for hotel in ["SOLD_OUT", "PRICE_UP"] {
        let client = server.client().user(hotel);
        let watch = armed(&server, &client, hotel, "tok_visa").await;
        set_price(&server.sandbox_url, hotel, 95.0).await;
        // The watch attempts the purchase repeatedly.
        eventually("two bookings to fail", async || {
            let begun = client.bookings_of_watch(&watch).await;
            let failed = begun.iter().filter(|booking| booking["status"] == "FAILED");
            (failed.count() >= 2).then_some(())
        })
        .await;
        // After the price has risen again, the watch makes no further attempts.
        set_price(&server.sandbox_url, hotel, 500.0).await;
        let what = "the watch to be active again";
        let waiting = client.wait_for_watch(what, &watch["id"], |watch| {
            watch["status"] == "active" && watch["last_total"] == money(1000.0, "EUR")
        });
        assert_eq!(waiting.await["booking_id"], Value::Null, "{hotel}");
        assert_eq!(
            client.mandate_of(&watch).await["status"],
            "ACTIVE",
            "{hotel}"
        );
        let ledger = server.ledger().await;
        for booking in client.bookings_of_watch(&watch).await {
            assert_eq!(
                ledger.of(booking["id"].as_str().unwrap()).count(),
                0,
                "{hotel}"
            );
        }
    }
    assert_eq!(server.client().watch_events().await, Vec::<Value>::new());
}

async fn watch_with_unknown_booking_outcome_stays_purchasing(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let watch = armed(&server, &client, "BOOK_NEVER_KNOWN", "tok_visa").await;
    set_price(&server.sandbox_url, "BOOK_NEVER_KNOWN", 90.0).await;
    let begun = eventually("the booking's outcome to be unknown", async || {
        let begun = client.bookings_of_watch(&watch).await;
        begun
            .into_iter()
            .find(|booking| booking["status"] == "COMPLETE_IN_PROGRESS")
    })
    .await;
    let id = begun["id"].as_str().unwrap();
    let path = format!("/v1/hotel/bookings/{id}/book");
    let instrument = client.store_card("tok_visa").await;
    let asked = client
        .post(&path, &json!({"payment_instrument_id": instrument}))
        .await;
    asked.expect_problem(500, "result_unknown");
    let still = client.read_watch(&watch["id"]).await;
    assert_eq!(
        (&still["status"], &still["booking_id"]),
        (&json!("purchasing"), &begun["id"])
    );
    let path = format!("{WATCHES}/{}", watch["id"].as_str().unwrap());
    client
        .delete(&path)
        .await
        .expect_problem(409, "watch_state_conflict");
    assert_eq!(client.watch_events().await, Vec::<Value>::new());
    assert_eq!(server.ledger().await.count(id, "authorization"), 1);
}

async fn fails_for(server: &Server, client: &Client, watch: &Value, reason: &str) {
    set_price(&server.sandbox_url, "OK", 90.0).await;
    client
        .wait_for_watch_status(&watch["id"], "purchase_failed")
        .await;
    let events = client.watch_events().await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["type"], "travel.hotel.watch.purchase_failed");
    let data = &events[0]["data"];
    assert_eq!(data["reason"], reason);
    assert_eq!(data["watch"]["status"], "purchase_failed");
    check_names("data", data, &["watch", "user_id", "reason"], &[]);
    for booking in client.bookings_of_watch(watch).await {
        let ledger = server.ledger().await;
        assert_eq!(ledger.of(booking["id"].as_str().unwrap()).count(), 0);
    }
}

async fn watch_with_revoked_mandate_purchases_nothing(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let watch = armed(&server, &client, "OK", "tok_visa").await;
    let path = format!(
        "/v1/mandate/{}/revoke",
        watch["mandate_id"].as_str().unwrap()
    );
    let revoked = client.post(&path, &json!({})).await.expect(200);
    assert_eq!(revoked.data()["status"], "REVOKED");
    fails_for(&server, &client, &watch, "mandate_revoked").await;
}

async fn watch_with_deleted_instrument_purchases_nothing(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let watch = armed(&server, &client, "OK", "tok_visa").await;
    let instrument = watch["auto_book"]["payment_instrument_id"]
        .as_str()
        .unwrap();
    let path = format!("/v1/payment-instruments/{instrument}");
    drop(client.delete(&path).await.expect(204));
    fails_for(&server, &client, &watch, "payment_instrument_invalid").await;
}

async fn unconfirmed_watch_triggers_but_does_not_purchase(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let instrument = client.store_card("tok_visa").await;
    let mut request = watch_request(&client.hotel_id("OK").await, 200.0);
    request["auto_book"] = auto_book(&instrument);
    let watch = client
        .post(WATCHES, &request)
        .await
        .expect(201)
        .data()
        .clone();
    client
        .wait_for_watch_status(&watch["id"], "triggered")
        .await;
    let events = client.watch_events().await;
    assert_eq!(events[0]["type"], "travel.hotel.watch.triggered");
    assert_eq!(client.bookings_of_watch(&watch).await, Vec::<Value>::new());
    // Confirming now purchases at the current price.
    let watch = client.confirm_purchase(&watch["id"]).await;
    client
        .wait_for_watch_status(&watch["id"], "purchased")
        .await;
    let events = client.watch_events().await;
    assert_eq!(events.len(), 2);
    assert_eq!(events[1]["type"], "travel.hotel.watch.purchased");
}
