//! Tests of a booking that its supplier makes after the gateway has proof that it does not exist.

use serde_json::json;
use tests::{
    AdminClient, CALLER, Database, Fault, FaultProxy, HotelBookingBuilder, PlannedFault, Server,
    ServerOptions, eventually, on_both_databases, supplier_at,
};

const SUPPLIER: &str = "LATE";

/// Three lookups within seconds, so that the booking is made before one of them.
const SCHEDULES: &str =
    "[reconcile]\nschedule_s = [1, 1, 2, 3]\nabsence_recheck_s = [3, 6, 12, 3600]\n";

/// Returns the configuration of a hotel supplier behind the proxy.
fn late_supplier(url: &str) -> String {
    let headers = [("x-lodge-key", "lodge-sandbox-hotels"), (CALLER, SUPPLIER)];
    let supplier = supplier_at(url, SUPPLIER, "hotel", "fake-hotels.wasm", &headers);
    format!("{supplier}limits = {{ call_ms_max = 2000 }}\nweight = 0\n")
}

async fn booking_that_appears_after_its_failure_is_listed_for_the_operator(database: Database) {
    let proxy = FaultProxy::start().await;
    proxy.plan(
        SUPPLIER,
        vec![PlannedFault {
            route: "POST /lodge/v1/bookings",
            fault: Fault::ErrorBeforeEffect,
            refusal: (500, String::new()),
        }],
    );
    let config = format!("{SCHEDULES}{}", late_supplier(&proxy.url));
    let options = ServerOptions::on(database).config(&config);
    let server = Server::start_with_own_sandbox(options.clone()).await;
    proxy.forward_to(&server.sandbox_url);
    let hotel = HotelBookingBuilder::at("OK").sold_by(SUPPLIER);
    let (booking, reply) = hotel.book(&server.client()).await;
    reply.expect_problem(500, "result_unknown");
    server
        .client()
        .wait_for_hotel_booking(&booking, "FAILED")
        .await;
    server
        .wait_for_ledger(&booking, &["authorization", "void"])
        .await;
    assert!(proxy.deliver_dropped(SUPPLIER).await, "the supplier books");
    // The schedule is stored with the booking, so another process continues it.
    let server = server.restart(options).await;
    let (client, operator) = (server.client(), AdminClient::of(&server));
    let found = eventually("the orphan to be listed", async || {
        operator.unresolved_calls(&booking, "book").await.pop()
    })
    .await;
    assert_eq!(found["target"], SUPPLIER);
    assert_eq!(found["client_reference"], booking.as_str());
    let reference = found["supplier_reference"].as_str().unwrap();
    let evidence = found["evidence"].as_str().unwrap();
    let is_shown = |text: &str| assert!(evidence.contains(text), "{evidence}");
    ["confirmed", reference, "read at 20"]
        .into_iter()
        .for_each(is_shown);
    let labels = [("supplier", SUPPLIER)];
    let counted = server.metric("stopover_orphaned_bookings_total", &labels);
    assert_eq!(counted.await, 1);
    let log = std::fs::read_to_string(server.data_dir().join("server.log")).unwrap();
    let is_logged = log.contains("a failed booking was found at its supplier");
    assert!(is_logged, "{log}");
    // The client was told that the booking failed, and nothing is charged for it.
    let failed = client.hotel_booking(&booking).await;
    assert_eq!(failed["status"], "FAILED");
    assert_eq!(failed["failure"]["code"], "book_failed");
    assert_eq!(failed["payments"][0]["status"], "VOIDED");
    let events = server.outbox(&booking).await;
    assert_eq!(events, ["hotel.booking.created", "hotel.booking.failed"]);
    let ledger = ["authorization", "void", "booking"];
    assert_eq!(server.ledger().await.kinds_of(&booking), ledger);
    // The operator cancels it at the supplier and settles it here.
    let not_done = json!({"outcome": "not_done"});
    let resolved = operator.resolve(&booking, &not_done).await.expect(200);
    let expected = json!({"id": booking, "status": "FAILED"});
    assert_eq!(*resolved.data(), expected);
    assert!(!operator.has_unresolved_call(&booking, "book").await);
    let again = operator.resolve(&booking, &not_done).await;
    again.expect_state_conflict("FAILED");
}

on_both_databases! { booking_that_appears_after_its_failure_is_listed_for_the_operator }
