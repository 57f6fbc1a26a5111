//! Tests of flight cancellations, cancellation quotes and refunds.

use serde_json::{Value, json};
use tests::{Client, Database, FlightBookingBuilder, Reply, Server, eventually, on_both_databases};

const SUPPLIERS: [&str; 2] = ["SUPPLIER_A", "SUPPLIER_B"];
/// Failure code of a refused cancellation.
const REFUSED: &str = "cancel_refused";

fn euros(amount: u32) -> Value {
    json!({"amount": amount, "currency": "EUR"})
}

/// Books and waits for the capture. After it, a cancellation's refund appears in the ledger.
async fn paid(server: &Server, way: FlightBookingBuilder) -> String {
    let booking = way.book_confirmed(server).await;
    eventually("the payment to be captured", async || {
        let now = server.client().flight_booking(&booking).await;
        (now["payments"][0]["status"] == "CAPTURED").then_some(())
    })
    .await;
    booking
}

/// A fare on a route with the fee and refund of its cancellation. Both are `None` if the airline
/// refuses to cancel.
struct Given {
    route: &'static str,
    fare: &'static str,
    fee_and_refund: Option<(u32, u32)>,
    payment: &'static str,
}

const GIVEN: &[Given] = &[
    Given {
        route: "LHR-JFK",
        fare: "Economy Basic",
        fee_and_refund: Some((320, 0)),
        payment: "CAPTURED",
    },
    Given {
        route: "LHR-JFK",
        fare: "Economy Flex",
        fee_and_refund: Some((50, 370)),
        payment: "PARTIALLY_REFUNDED",
    },
    Given {
        route: "LHR-JFK",
        fare: "Business",
        fee_and_refund: Some((0, 1480)),
        payment: "REFUNDED",
    },
    Given {
        route: "AMS-DXB",
        fare: "Economy Flex",
        fee_and_refund: Some((50, 370)),
        payment: "PARTIALLY_REFUNDED",
    },
    Given {
        route: "AMS-LHR",
        fare: "Business",
        fee_and_refund: Some((0, 1480)),
        payment: "REFUNDED",
    },
    Given {
        route: "DXB-AMS",
        fare: "Economy Flex",
        fee_and_refund: None,
        payment: "CAPTURED",
    },
];

async fn cancellation_of_each_fare_ends_as_specified(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for supplier in SUPPLIERS {
        for given in GIVEN {
            let what = format!("{} of {} at {supplier}", given.fare, given.route);
            let way = FlightBookingBuilder::on(given.route)
                .at(supplier)
                .fare(given.fare);
            let booking = paid(&server, way).await;
            let begun = client.cancel_flight(&booking).await.expect(202);
            assert_eq!(begun.data()["status"], "CANCEL_IN_PROGRESS", "{what}");
            assert_eq!(begun.header("x-supplier"), Some(supplier), "{what}");
            match given.fee_and_refund {
                Some(amounts) => {
                    let canceled = client.wait_for_flight_booking(&booking, "CANCELED").await;
                    check_canceled(&what, &canceled, supplier, amounts);
                    check_money(&server, &what, &booking, supplier, given).await;
                    let again = client.cancel_flight(&booking).await.expect(200);
                    assert_eq!(again.data()["status"], "CANCELED", "{what}");
                    let ledger = server.ledger().await;
                    assert_eq!(ledger.count(&booking, "cancellation"), 1, "{what}");
                }
                None => check_refused(&server, &what, &booking).await,
            }
        }
    }
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
    assert!(
        booking["canceled_at"].as_str().unwrap().ends_with('Z'),
        "{what}"
    );
    assert!(booking["confirmed_at"].is_string(), "{what}");
    assert!(booking.get("failure").is_none(), "{what}: {booking:#}");
}

async fn check_money(server: &Server, what: &str, booking: &str, supplier: &str, given: &Given) {
    let Some((_, refund)) = given.fee_and_refund else {
        return;
    };
    eventually(
        &format!("{what}: the payment to be {}", given.payment),
        async || {
            let now = server.client().flight_booking(booking).await;
            (now["payments"][0]["status"] == given.payment).then_some(())
        },
    )
    .await;
    let ledger = server.ledger().await;
    let refunds = usize::from(supplier == "SUPPLIER_A" && refund > 0);
    assert_eq!(ledger.count(booking, "refund"), refunds, "{what}");
    let by_supplier = ledger.sum(booking, "cancellation");
    assert_eq!(by_supplier, f64::from(refund), "{what}");
    if refunds == 1 {
        assert_eq!(ledger.sum(booking, "refund"), f64::from(refund), "{what}");
    }
}

/// Checks that a refused cancellation leaves the ticket confirmed. A further request starts a new
/// attempt, which ends in the same way.
async fn check_refused(server: &Server, what: &str, booking: &str) {
    let client = server.client();
    for _ in 0..2 {
        let kept = eventually(what, async || {
            let now = client.flight_booking(booking).await;
            Some(now).filter(|now| now["status"] == "CONFIRMED")
        })
        .await;
        assert_eq!(kept["failure"]["code"], REFUSED, "{what}");
        assert!(kept["failure"]["description"].is_string(), "{what}");
        assert!(kept.get("cancellation").is_none(), "{what}");
        assert!(kept["canceled_at"].is_null(), "{what}");
        let again = client.cancel_flight(booking).await.expect(202);
        assert!(again.data().get("failure").is_none(), "{what}");
    }
    let ledger = server.ledger().await;
    assert_eq!(ledger.count(booking, "cancellation"), 0, "{what}");
    assert_eq!(ledger.count(booking, "refund"), 0, "{what}");
}

async fn only_confirmed_flight_can_be_canceled_and_only_whole(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let ready = FlightBookingBuilder::on("LHR-JFK").prebooked(&server).await;
    let early = client.cancel_flight(&ready).await;
    let early = early.expect_problem(409, "booking_state_conflict");
    assert_eq!(early.body["booking_status"], "READY_FOR_COMPLETE");
    let (failed, _refused) = FlightBookingBuilder::on("LHR-LGW").book(&server).await;
    let late = client.cancel_flight(&failed).await;
    let late = late.expect_problem(409, "booking_state_conflict");
    assert_eq!(late.body["booking_status"], "FAILED");
    let ticket = FlightBookingBuilder::on("LHR-JFK")
        .book_confirmed(&server)
        .await;
    let path = format!("/v1/flight/bookings/{ticket}/cancel");
    for body in [json!({"room_ids": []}), json!({"force": true}), json!([])] {
        let wrong = client.post(&path, &body).await;
        wrong.expect_problem(400, "validation_failed");
    }
    assert_eq!(client.flight_booking(&ticket).await["status"], "CONFIRMED");
    assert_eq!(server.ledger().await.count(&ticket, "cancellation"), 0);
}

async fn quote(client: &Client, booking: &str) -> Reply {
    client
        .get(&format!("/v1/flight/bookings/{booking}/cancellation-quote"))
        .await
}

async fn cancellation_quote_names_its_source(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for supplier in SUPPLIERS {
        for (route, source) in [("LHR-JFK", "SUPPLIER_QUOTE"), ("AMS-LHR", "FARE_ESTIMATE")] {
            for (fare, fee, refund) in [
                ("Economy Basic", 320, 0),
                ("Economy Flex", 50, 370),
                ("Business", 0, 1480),
            ] {
                let what = format!("{fare} of {route} at {supplier}");
                let way = FlightBookingBuilder::on(route).at(supplier).fare(fare);
                let booking = way.book_confirmed(&server).await;
                let quoted = quote(&client, &booking).await.expect(200);
                assert_eq!(quoted.body["meta"]["supplier"], supplier, "{what}");
                let quoted = quoted.data();
                assert_eq!(quoted["source"], source, "{what}");
                assert!(quoted["checked_at"].as_str().unwrap().ends_with('Z'));
                let holds = quoted["expires_at"].is_string();
                assert_eq!(holds, source == "SUPPLIER_QUOTE", "{what}: {quoted:#}");
                assert_eq!(quoted["fee"], euros(fee), "{what}");
                assert_eq!(quoted["refund"], euros(refund), "{what}");
                assert_eq!(quoted["unavailable_reason"], json!(null), "{what}");
                let payments = client.flight_booking(&booking).await["payments"].clone();
                let to = match refund {
                    0 => json!([]),
                    _ => json!([{"payment_id": payments[0]["id"], "amount": euros(refund)}]),
                };
                assert_eq!(quoted["refund_to"], to, "{what}");
                let ledger = server.ledger().await;
                assert_eq!(ledger.count(&booking, "cancellation"), 0, "{what}");
                assert_eq!(ledger.count(&booking, "refund"), 0, "{what}");
            }
        }
    }
}

async fn quote_of_unconfirmed_or_unknown_booking_is_refused(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let ready = FlightBookingBuilder::on("LHR-JFK").prebooked(&server).await;
    let early = quote(&client, &ready).await;
    let early = early.expect_problem(409, "booking_state_conflict");
    assert_eq!(early.body["booking_status"], "READY_FOR_COMPLETE");
    let unknown = "bkg_00000000000000000000000000000000";
    let nobodys = quote(&client, unknown).await;
    nobodys.expect_problem(404, "booking_not_found");
    let nonsense = quote(&client, "nonsense").await;
    nonsense.expect_problem(400, "validation_failed");
}

on_both_databases! {
    cancellation_of_each_fare_ends_as_specified,
    only_confirmed_flight_can_be_canceled_and_only_whole,
    cancellation_quote_names_its_source,
    quote_of_unconfirmed_or_unknown_booking_is_refused,
}
