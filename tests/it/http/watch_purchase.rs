//! Tests of purchases by armed watches and of their mandates. Each test checks the sandbox's
//! ledger.

use super::resource_assertions::check_names;
use serde_json::{Value, json};
use tests::{
    Client, Database, Server, ServerOptions, auto_book, eventually, money, on_both_databases,
    set_price,
};

on_both_databases! {
    armed_watch_purchases_once_and_reports_only_the_purchase,
    watch_purchase_at_each_scenario_hotel_ends_as_specified,
    armed_watch_keeps_waiting_after_failed_prebook,
    watch_with_unknown_booking_outcome_stays_purchasing,
    watch_with_revoked_mandate_or_deleted_card_purchases_nothing,
    unconfirmed_watch_triggers_but_does_not_purchase,
}

const OFTEN: &str = "[watches]\ninterval_s = 1";

async fn start(database: Database) -> Server {
    Server::start_with(
        ServerOptions::on(database)
            .config(OFTEN)
            .with_short_retries(),
    )
    .await
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
    let watch_id = &watch["id"];
    let bought = client.wait_for_watch_status(watch_id, "purchased").await;
    let id = bought["booking_id"].as_str().unwrap();
    let booking = client.hotel_booking(id).await;
    assert_eq!(booking["status"], "CONFIRMED");
    assert_eq!(booking["total"], money(180.0, "EUR"));
    assert_eq!(booking["reference_id"], *watch_id);
    assert_eq!(booking["contact"]["first_name"], "Ada");
    assert_eq!(client.mandate_of(&watch).await["status"], "CONSUMED");
    let event_type = "travel.hotel.watch.purchased";
    let data = &client.only_watch_event(event_type).await;
    let members = ["watch", "user_id", "booking", "mandate_id"];
    check_names("data", data, &members, &[]);
    assert_eq!(data["user_id"], "ada");
    assert_eq!(data["mandate_id"], watch["mandate_id"]);
    assert_eq!(data["watch"]["status"], "purchased");
    assert_eq!(data["booking"]["id"], booking["id"]);
    assert_eq!(data["booking"]["total_amount"], money(180.0, "EUR"));
    let ledger = eventually("the capture to be made", async || {
        Some(server.ledger().await).filter(|ledger| ledger.count(id, "capture") == 1)
    })
    .await;
    assert!((ledger.sum(id, "capture") - 180.0).abs() < 0.001);
    for kind in ["booking", "authorization"] {
        assert_eq!(ledger.count(id, kind), 1, "{kind}");
    }
    assert_eq!(client.bookings_of_watch(&watch).await.len(), 1);
    // A purchased watch can no longer be deleted.
    let deleted = client.delete_watch(watch_id).await;
    deleted.expect_problem(409, "watch_state_conflict");
}

async fn watch_purchase_at_each_scenario_hotel_ends_as_specified(database: Database) {
    let server = start(database).await;
    let paid = &["authorization", "booking", "capture"][..];
    let bought = ("purchased", None, paid);
    let failed = "purchase_failed";
    let unpaid = (failed, Some("payment_failed"), &[][..]);
    let voided = &["authorization", "void"][..];
    let rejected = (failed, Some("supplier_rejected"), voided);
    for (hotel, card, (status, reason, effects)) in [
        ("BOOK_LOST_ANSWER", "tok_visa", bought),
        ("BOOK_PENDING", "tok_visa", bought),
        ("MANY", "tok_timeout", bought),
        ("PRICE_DOWN", "tok_visa", bought),
        ("QUOTE_PREVIEW", "tok_declined", unpaid),
        ("RESTRICTED", "tok_requires_action", unpaid),
        ("BOOK_REFUSED", "tok_visa", rejected),
        ("BOOK_PENDING_REFUSED", "tok_visa", rejected),
        ("BOOK_LOST_REQUEST", "tok_visa", rejected),
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
        let mut events = client.watch_events().await;
        events.retain(|event| event["data"]["user_id"] == hotel);
        assert_eq!(events.len(), 1, "{hotel}: {events:#?}");
        let event_type = format!("travel.hotel.watch.{status}");
        assert_eq!(events[0]["type"], event_type, "{hotel}");
        assert_eq!(events[0]["data"]["reason"], json!(reason), "{hotel}");
        let begun = client.bookings_of_watch(&watch).await;
        let statuses: Vec<_> = begun.iter().map(|booking| &booking["status"]).collect();
        let expected = match reason {
            None => "CONFIRMED",
            // Nobody can pay for it with another card.
            Some("payment_failed") => "EXPIRED",
            Some(_) => "FAILED",
        };
        assert_eq!(statuses, [expected], "{hotel}");
        let mandate = client.mandate_of(&watch).await;
        assert_eq!(mandate["status"], "CONSUMED", "{hotel}");
    }
}

/// Checks that the bookings that a watch started have no entry in the ledger.
async fn check_no_effects(server: &Server, client: &Client, watch: &Value) {
    let ledger = server.ledger().await;
    for booking in client.bookings_of_watch(watch).await {
        let id = booking["id"].as_str().unwrap();
        assert_eq!(ledger.of(id).count(), 0, "{watch:#}");
    }
}

async fn armed_watch_keeps_waiting_after_failed_prebook(database: Database) {
    let server = start(database).await;
    for hotel in ["SOLD_OUT", "PRICE_UP"] {
        let client = server.client().user(hotel);
        let watch = armed(&server, &client, hotel, "tok_visa").await;
        set_price(&server.sandbox_url, hotel, 95.0).await;
        let labels = [("operation", "hotel_booking")];
        let prebooks = || server.metric("stopover_supplier_calls_total", &labels);
        let earlier = prebooks().await;
        // The watch attempts the purchase repeatedly.
        eventually("two purchases to be attempted", async || {
            (prebooks().await >= earlier + 2).then_some(())
        })
        .await;
        // After the price has risen again, the watch makes no further attempts.
        set_price(&server.sandbox_url, hotel, 500.0).await;
        let what = "the watch to be active again";
        let waiting = client.wait_for_watch(what, &watch["id"], |watch| {
            watch["status"] == "active" && watch["last_total"] == money(1000.0, "EUR")
        });
        assert_eq!(waiting.await["booking_id"], Value::Null, "{hotel}");
        let mandate = client.mandate_of(&watch).await;
        assert_eq!(mandate["status"], "ACTIVE", "{hotel}");
        let left = client.bookings_of_watch(&watch).await;
        assert_eq!(left, Vec::<Value>::new(), "{hotel}");
    }
    assert_eq!(server.ledger().await.of("").count(), 0);
    assert_eq!(server.client().watch_events().await, Vec::<Value>::new());
}

async fn watch_with_unknown_booking_outcome_stays_purchasing(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let watch = armed(&server, &client, "BOOK_NEVER_KNOWN", "tok_visa").await;
    set_price(&server.sandbox_url, "BOOK_NEVER_KNOWN", 90.0).await;
    let begun = eventually("the booking's outcome to be unknown", async || {
        let mut begun = client.bookings_of_watch(&watch).await.into_iter();
        begun.find(|booking| booking["status"] == "COMPLETE_IN_PROGRESS")
    })
    .await;
    let id = begun["id"].as_str().unwrap();
    let payment = client.card_payment("tok_visa").await;
    let booked = client.book_hotel(id, &payment).await;
    booked.expect_problem(500, "result_unknown");
    let still = client.read_watch(&watch["id"]).await;
    assert_eq!(still["status"], "purchasing");
    assert_eq!(still["booking_id"], begun["id"]);
    let deleted = client.delete_watch(&watch["id"]).await;
    deleted.expect_problem(409, "watch_state_conflict");
    assert_eq!(client.watch_events().await, Vec::<Value>::new());
    assert_eq!(server.ledger().await.count(id, "authorization"), 1);
}

async fn watch_with_revoked_mandate_or_deleted_card_purchases_nothing(database: Database) {
    let server = start(database).await;
    for (organization, reason) in [
        ("acme", "mandate_revoked"),
        ("globex", "payment_instrument_invalid"),
    ] {
        let client = server.client_for(organization).await;
        let watch = armed(&server, &client, "OK", "tok_visa").await;
        if reason == "mandate_revoked" {
            let mandate = watch["mandate_id"].as_str().unwrap();
            let path = format!("/v1/mandate/{mandate}/revoke");
            let revoked = client.post(&path, &json!({})).await.expect(200);
            assert_eq!(revoked.data()["status"], "REVOKED");
        } else {
            let instrument = &watch["auto_book"]["payment_instrument_id"];
            let instrument = instrument.as_str().unwrap();
            let path = format!("/v1/payment-instruments/{instrument}");
            client.delete(&path).await.expect(204);
        }
        set_price(&server.sandbox_url, "OK", 90.0).await;
        let id = &watch["id"];
        client.wait_for_watch_status(id, "purchase_failed").await;
        let event_type = "travel.hotel.watch.purchase_failed";
        let data = client.only_watch_event(event_type).await;
        check_names("data", &data, &["watch", "user_id", "reason"], &[]);
        assert_eq!(data["reason"], reason);
        assert_eq!(data["watch"]["status"], "purchase_failed");
        check_no_effects(&server, &client, &watch).await;
    }
}

async fn unconfirmed_watch_triggers_but_does_not_purchase(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let instrument = client.store_card("tok_visa").await;
    let more = json!({"auto_book": auto_book(&instrument)});
    let watch = client.watch_hotel("OK", 200.0, more).await;
    let id = &watch["id"];
    client.wait_for_watch_status(id, "triggered").await;
    let triggered = "travel.hotel.watch.triggered";
    client.only_watch_event(triggered).await;
    assert_eq!(client.bookings_of_watch(&watch).await, Vec::<Value>::new());
    // Confirming now purchases at the current price.
    client.confirm_purchase(id).await;
    client.wait_for_watch_status(id, "purchased").await;
    let events = client.watch_events().await;
    assert_eq!(events.len(), 2);
    assert_eq!(events[1]["type"], "travel.hotel.watch.purchased");
}
