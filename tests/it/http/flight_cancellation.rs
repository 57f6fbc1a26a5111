//! Tests of flight cancellations, cancellation quotes and refunds.

use serde_json::{Value, json};
use tests::{Booking, BookingBuilder, Database, FlightBookingBuilder, Server, on_both_databases};

const SUPPLIERS: [&str; 2] = ["SUPPLIER_A", "SUPPLIER_B"];

fn euros(amount: u32) -> Value {
    json!({"amount": amount, "currency": "EUR"})
}

fn on(route: &str, supplier: &str, fare: &str) -> BookingBuilder {
    BookingBuilder::Flight(FlightBookingBuilder::on(route).at(supplier).fare(fare))
}

/// A fare's terms: the fee and the refund of a cancellation.
const BASIC: (&str, u32, u32) = ("Economy Basic", 320, 0);
const FLEX: (&str, u32, u32) = ("Economy Flex", 50, 370);
const BUSINESS: (&str, u32, u32) = ("Business", 0, 1480);

async fn cancellation_of_each_fare_ends_as_specified(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    for supplier in SUPPLIERS {
        for (route, (fare, fee, refund), payment) in [
            ("LHR-JFK", BASIC, "CAPTURED"),
            ("LHR-JFK", FLEX, "PARTIALLY_REFUNDED"),
            ("LHR-JFK", BUSINESS, "REFUNDED"),
            ("AMS-DXB", FLEX, "PARTIALLY_REFUNDED"),
            ("AMS-LHR", BUSINESS, "REFUNDED"),
        ] {
            let what = format!("{fare} of {route} at {supplier}");
            let booking = on(route, supplier, fare).book_captured(&server).await;
            begin(&booking, supplier).await;
            let canceled = booking.wait_for("CANCELED").await;
            check_canceled(&what, &canceled, supplier, (fee, refund));
            booking.wait_for_payment(payment).await;
            let ledger = server.ledger().await;
            let refunds = usize::from(supplier == "SUPPLIER_A" && refund > 0);
            assert_eq!(ledger.count(&booking.id, "refund"), refunds, "{what}");
            let by_supplier = ledger.sum(&booking.id, "cancellation");
            assert_eq!(by_supplier, f64::from(refund), "{what}");
            if refunds == 1 {
                assert_eq!(
                    ledger.sum(&booking.id, "refund"),
                    f64::from(refund),
                    "{what}"
                );
            }
            let again = booking.cancel().await;
            assert_eq!(again.outcome(), (200, "CANCELED"), "{what}");
            let ledger = server.ledger().await;
            assert_eq!(ledger.count(&booking.id, "cancellation"), 1, "{what}");
        }
    }
}

async fn begin(booking: &Booking, supplier: &str) {
    let begun = booking.cancel().await;
    assert_eq!(begun.outcome(), (202, "CANCEL_IN_PROGRESS"), "{supplier}");
    assert_eq!(begun.header("x-supplier"), Some(supplier));
    assert!(begun.data().get("failure").is_none(), "{:#}", begun.body);
}

fn check_canceled(what: &str, booking: &Value, supplier: &str, (fee, refund): (u32, u32)) {
    let by = if supplier == "SUPPLIER_A" {
        "SERVICE"
    } else {
        "SUPPLIER"
    };
    let to = match refund {
        0 => json!([]),
        _ => json!([{"payment_id": booking["payments"][0]["id"]}]),
    };
    let cancellation = json!({
        "fee": euros(fee), "refunded_by": by, "refund_amount": euros(refund), "refund_to": to,
    });
    assert_eq!(booking["cancellation"], cancellation, "{what}");
    let canceled_at = booking["canceled_at"].as_str().unwrap();
    assert!(canceled_at.ends_with('Z'), "{what}");
    assert!(booking["confirmed_at"].is_string(), "{what}");
    assert!(booking.get("failure").is_none(), "{what}: {booking:#}");
}

/// A refused cancellation leaves the ticket confirmed. A further request starts a new attempt, which
/// ends in the same way.
async fn refused_cancellation_leaves_the_ticket_confirmed(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    for supplier in SUPPLIERS {
        let way = on("DXB-AMS", supplier, "Economy Flex");
        let booking = way.book_captured(&server).await;
        for _ in 0..3 {
            begin(&booking, supplier).await;
            let kept = booking.wait_for("CONFIRMED").await;
            assert_eq!(kept["failure"]["code"], "cancel_refused", "{supplier}");
            assert!(kept["failure"]["description"].is_string(), "{supplier}");
            assert!(kept.get("cancellation").is_none(), "{supplier}");
            assert!(kept["canceled_at"].is_null(), "{supplier}");
        }
        let kinds = ["cancellation", "refund"];
        let ledger = server.ledger().await;
        assert_eq!(ledger.counts(&booking.id, kinds), [0, 0], "{supplier}");
    }
}

async fn flight_can_only_be_canceled_as_a_whole(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let ticket = BookingBuilder::new("SUPPLIER_A", "LHR-JFK");
    let ticket = ticket.book_confirmed(&server).await;
    for body in [json!({"room_ids": []}), json!({"force": true}), json!([])] {
        let wrong = ticket.cancel_with(&body).await;
        wrong.expect_problem(400, "validation_failed");
    }
    assert_eq!(ticket.read().await["status"], "CONFIRMED");
    assert_eq!(server.ledger().await.count(&ticket.id, "cancellation"), 0);
}

async fn cancellation_quote_names_its_source(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    for supplier in SUPPLIERS {
        for (route, source) in [("LHR-JFK", "SUPPLIER_QUOTE"), ("AMS-LHR", "FARE_ESTIMATE")] {
            for (fare, fee, refund) in [BASIC, FLEX, BUSINESS] {
                let what = format!("{fare} of {route} at {supplier}");
                let booking = on(route, supplier, fare).book_confirmed(&server).await;
                let quoted = booking.quote().await.expect(200);
                assert_eq!(quoted.body["meta"]["supplier"], supplier, "{what}");
                let quoted = quoted.data();
                assert_eq!(quoted["source"], source, "{what}");
                assert!(quoted["checked_at"].as_str().unwrap().ends_with('Z'));
                let holds = quoted["expires_at"].is_string();
                assert_eq!(holds, source == "SUPPLIER_QUOTE", "{what}: {quoted:#}");
                assert_eq!(quoted["fee"], euros(fee), "{what}");
                assert_eq!(quoted["refund"], euros(refund), "{what}");
                assert_eq!(quoted["unavailable_reason"], json!(null), "{what}");
                let payments = booking.read().await["payments"].clone();
                let to = match refund {
                    0 => json!([]),
                    _ => json!([{"payment_id": payments[0]["id"], "amount": euros(refund)}]),
                };
                assert_eq!(quoted["refund_to"], to, "{what}");
                let ledger = server.ledger().await;
                let moved = ledger.counts(&booking.id, ["cancellation", "refund"]);
                assert_eq!(moved, [0, 0], "{what}");
            }
        }
    }
}

on_both_databases! {
    cancellation_of_each_fare_ends_as_specified,
    refused_cancellation_leaves_the_ticket_confirmed,
    flight_can_only_be_canceled_as_a_whole,
    cancellation_quote_names_its_source,
}
