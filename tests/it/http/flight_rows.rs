//! Tests of each sandbox route at prebook, book and cancel, at both suppliers. Each test checks the
//! sandbox's ledger.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::{
    Client, Database, FlightBookingBuilder, Server, ServerOptions, Subscriber, eventually,
    on_both_databases, passenger,
};

const SUPPLIERS: [&str; 2] = ["SUPPLIER_A", "SUPPLIER_B"];

/// Returns the effects expected at `supplier`. `SUPPLIER_B` collects the payment itself, so there
/// the processor has no entries.
fn effects_at(supplier: &str, effects: &[&'static str]) -> Vec<&'static str> {
    let cards = ["authorization", "capture", "void", "refund"];
    let is_seen = |kind: &&&str| supplier == "SUPPLIER_A" || !cards.contains(*kind);
    effects.iter().filter(is_seen).copied().collect()
}

fn with_documents(route: &str) -> FlightBookingBuilder {
    let document = json!({"type": "PASSPORT", "number": "X1234567", "issuing_country": "GB", "expires_on": "2040-05-31"});
    FlightBookingBuilder::on(route).passengers(vec![passenger(json!({"document": document}))])
}

/// A route's response to `book`, the final status of the booking, and the ledger entries if the
/// gateway collects the payment.
struct Ending {
    route: &'static str,
    answer: (u16, &'static str),
    end: &'static str,
    effects: &'static [&'static str],
    /// Status of the payment if the gateway collects it.
    payment: &'static str,
}

const PAID: &[&str] = &["authorization", "booking", "capture"];
const TICKETED: Ending = Ending {
    route: "LHR-JFK",
    answer: (200, "CONFIRMED"),
    end: "CONFIRMED",
    effects: PAID,
    payment: "CAPTURED",
};

const ENDINGS: &[Ending] = &[
    TICKETED,
    Ending {
        route: "LHR-DXB",
        ..TICKETED
    },
    Ending {
        route: "LHR-SYD",
        ..TICKETED
    },
    Ending {
        route: "LHR-ORD",
        ..TICKETED
    },
    Ending {
        route: "LHR-LGW",
        answer: (422, "supplier_rejected"),
        end: "FAILED",
        effects: &["authorization", "void"],
        payment: "VOIDED",
    },
    Ending {
        route: "LHR-STN",
        answer: (202, "COMPLETE_IN_PROGRESS"),
        ..TICKETED
    },
    Ending {
        route: "LHR-LTN",
        answer: (202, "COMPLETE_IN_PROGRESS"),
        end: "FAILED",
        effects: &["authorization", "void"],
        payment: "VOIDED",
    },
    Ending {
        route: "STN-LHR",
        answer: (500, "result_unknown"),
        ..TICKETED
    },
    Ending {
        route: "LTN-STN",
        answer: (500, "result_unknown"),
        end: "COMPLETE_IN_PROGRESS",
        effects: &["authorization", "booking"],
        payment: "AUTHORIZED",
    },
];

async fn booking_on_each_scenario_route_ends_as_specified(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let mut begun = Vec::new();
    for supplier in SUPPLIERS {
        for ending in ENDINGS {
            let way = with_documents(ending.route).at(supplier);
            let (booking, reply) = way.book(&server).await;
            let what = format!("{} at {supplier}", ending.route);
            let (status, word) = ending.answer;
            assert_eq!(reply.status, status, "{what}: {:#}", reply.body);
            if status < 300 {
                assert_eq!(reply.data()["status"], word, "{what}");
                assert_eq!(reply.header("x-supplier"), Some(supplier), "{what}");
                assert_eq!(reply.body["meta"]["supplier"], supplier, "{what}");
            } else {
                let problem = reply.expect_problem(status, word);
                let left_at = if status == 422 {
                    "FAILED"
                } else {
                    "COMPLETE_IN_PROGRESS"
                };
                assert_eq!(problem.body["booking_status"], left_at, "{what}");
                assert_eq!(problem.body["retryable"], false, "{what}");
            }
            begun.push((supplier, ending, booking));
        }
    }
    for (supplier, ending, booking) in &begun {
        let ended = client.wait_for_flight_booking(booking, ending.end).await;
        let what = format!("{} at {supplier}", ending.route);
        check_end(&what, &ended, ending.end);
        let effects = effects_at(supplier, ending.effects);
        eventually(
            &format!("{what} to leave {effects:?} in the ledger"),
            async || (server.ledger().await.kinds_of(booking) == effects).then_some(()),
        )
        .await;
        check_payments(&client, &what, booking, supplier, ending).await;
        repeat(&client, &what, booking, ending.end).await;
    }
    // A second run of any effect would show in the ledger by now.
    let ledger = server.ledger().await;
    for (supplier, ending, booking) in &begun {
        let effects = effects_at(supplier, ending.effects);
        assert_eq!(ledger.kinds_of(booking), effects, "{}", ending.route);
    }
}

/// Checks which fields a booking has in its final status.
fn check_end(what: &str, booking: &Value, end: &str) {
    let confirmed = end == "CONFIRMED";
    for (member, is_there) in [
        ("airline_pnr", confirmed),
        ("failure", end == "FAILED"),
        ("expires_at", false),
        ("cancellation", false),
    ] {
        assert_eq!(
            booking.get(member).is_some(),
            is_there,
            "{what}: {member} of {booking:#}"
        );
    }
    assert_eq!(booking["confirmed_at"].is_string(), confirmed, "{what}");
    assert!(booking["canceled_at"].is_null(), "{what}");
    if confirmed {
        assert!(booking["supplier_reference"].is_string(), "{what}");
    }
    if end == "FAILED" {
        assert_eq!(booking["failure"]["code"], "book_failed", "{what}");
        assert!(booking["failure"]["description"].is_string(), "{what}");
    }
}

async fn check_payments(
    client: &Client,
    what: &str,
    booking: &str,
    supplier: &str,
    ending: &Ending,
) {
    let of = |booking: &Value| {
        let payments = booking["payments"].as_array().unwrap().iter();
        let of = payments.map(|payment| {
            let text = |member: &str| payment[member].as_str().unwrap().to_owned();
            (text("status"), text("collected_by"))
        });
        of.collect::<Vec<_>>()
    };
    let paid = |status: &str, by: &str| vec![(status.to_owned(), by.to_owned())];
    let expected = match (supplier, ending.end) {
        ("SUPPLIER_A", _) => paid(ending.payment, "SERVICE"),
        (_, "CONFIRMED") => paid("CAPTURED", "SUPPLIER"),
        _ => Vec::new(),
    };
    eventually(&format!("{what} to have {expected:?}"), async || {
        (of(&client.flight_booking(booking).await) == expected).then_some(())
    })
    .await;
}

/// Checks that repeating `book` returns the same outcome and changes nothing.
async fn repeat(client: &Client, what: &str, booking: &str, end: &str) {
    let before = client.flight_booking(booking).await;
    let payment = match before["payments"][0]["collected_by"].as_str() {
        Some("SERVICE") => {
            json!({"payment_instrument_id": client.store_card("tok_mastercard").await})
        }
        _ => json!({}),
    };
    let again = client.book_flight(booking, &payment).await;
    match end {
        "CONFIRMED" => assert_eq!(*again.expect(200).data(), before, "{what}"),
        "FAILED" => {
            let problem = again.expect_problem(422, "supplier_rejected");
            assert_eq!(problem.body["booking_status"], "FAILED", "{what}");
        }
        _ => drop(again.expect_problem(500, "result_unknown")),
    }
    let after = client.flight_booking(booking).await;
    assert_eq!(after["payments"], before["payments"], "{what}");
}

/// A reconciliation schedule that starts no reconciliation while a test runs.
const PATIENT: &str = "[reconcile]\nschedule_s = [3600]\n";

async fn repeated_book_while_ticketing_returns_202(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).config(PATIENT)).await;
    let client = server.client();
    for supplier in SUPPLIERS {
        let way = FlightBookingBuilder::on("LHR-STN").at(supplier);
        let booking = way.prebooked(&server).await;
        let payment = way.payment(&client).await;
        for _ in 0..3 {
            let begun = client.book_flight(&booking, &payment).await.expect(202);
            assert_eq!(begun.data()["status"], "COMPLETE_IN_PROGRESS", "{supplier}");
            assert_eq!(begun.data()["id"], booking, "{supplier}");
        }
        let ledger = server.ledger().await;
        let begun = usize::from(supplier == "SUPPLIER_A");
        assert_eq!(ledger.count(&booking, "authorization"), begun, "{supplier}");
        assert!(ledger.count(&booking, "booking") <= 1, "{supplier}");
    }
}

/// Checks that each ticket is reported once, whether the call waits for it or it is issued
/// afterwards.
async fn each_ticket_is_reported_by_one_event(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let subscriber = Subscriber::of("flight", &server.client()).await;
    let mut booked = BTreeSet::new();
    for (route, status) in [("LHR-JFK", 200), ("LHR-STN", 202)] {
        for supplier in SUPPLIERS {
            let (booking, reply) = FlightBookingBuilder::on(route)
                .at(supplier)
                .book(&server)
                .await;
            let _begun = reply.expect(status);
            booked.insert(booking);
        }
    }
    let told = subscriber
        .wait_for_events("flight.booking.confirmed", booked.len())
        .await;
    let about = told.iter().map(|one| {
        let booking = &one.body["data"]["booking"];
        assert_eq!(booking["status"], "CONFIRMED");
        assert!(booking["supplier_reference"].is_string(), "{booking:#}");
        booking["id"].as_str().unwrap().to_owned()
    });
    assert_eq!(about.collect::<BTreeSet<_>>(), booked);
    for booking in &booked {
        let mut laid_out = server.outbox(booking).await;
        laid_out.retain(|event_type| event_type == "flight.booking.confirmed");
        assert_eq!(laid_out.len(), 1, "{booking}");
    }
}

async fn prebook_of_changed_or_unavailable_fare_is_refused(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for supplier in SUPPLIERS {
        for (route, status, code) in [
            ("JFK-EWR", 409, "offer_price_changed"),
            ("LGW-LHR", 422, "offer_unavailable"),
        ] {
            let way = FlightBookingBuilder::on(route).at(supplier);
            let request = way.request(&way.offer(&client).await);
            let key = format!("{supplier}-{route}");
            for _ in 0..2 {
                let refused = client.prebook_flight(&key, &request).await;
                let refused = refused.expect_problem(status, code);
                assert_eq!(refused.body["supplier"], supplier);
                if route == "JFK-EWR" {
                    let euros = |amount: u32| json!({"amount": amount, "currency": "EUR"});
                    assert_eq!(refused.body["offered"], euros(420), "{supplier}");
                    assert_eq!(refused.body["current"], euros(430), "{supplier}");
                }
            }
        }
    }
    let listed = client.get("/v1/flight/bookings").await.expect(200);
    for booking in listed.data().as_array().unwrap() {
        assert_eq!(booking["status"], "FAILED");
        assert_eq!(booking["failure"]["code"], "prebook_failed");
        assert!(booking["total_amount"].is_null());
        let id = booking["id"].as_str().unwrap();
        assert!(server.ledger().await.kinds_of(id).is_empty());
        let card = json!({"payment_instrument_id": client.store_card("tok_visa").await});
        for payment in [json!({}), card] {
            let late = client.book_flight(id, &payment).await;
            late.expect_problem(409, "booking_state_conflict");
        }
    }
}

/// On this route the airline changes a flight's schedule right after booking.
async fn booking_lists_airline_initiated_changes(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for supplier in SUPPLIERS {
        let id = FlightBookingBuilder::on("LHR-DXB")
            .at(supplier)
            .book_confirmed(&server)
            .await;
        let booking = client.flight_booking(&id).await;
        let journey = &booking["journeys"][0];
        assert!(journey["stops"].as_u64().unwrap() > 0, "{supplier}");
        let day = |time: &Value| time.as_str().unwrap()[..10].to_owned();
        assert!(day(&journey["arrival_time"]) > day(&journey["departure_time"]));
        let changes = booking["airline_initiated_changes"].as_array().unwrap();
        assert_eq!(changes.len(), 1, "{supplier}: {changes:#?}");
        let change = &changes[0];
        assert_eq!(change["type"], "SCHEDULE_CHANGE");
        assert!(change["detected_at"].as_str().unwrap().ends_with('Z'));
        let (removed, added) = (&change["removed_segments"][0], &change["added_segments"][0]);
        assert_eq!(removed["marketing_flight"], added["marketing_flight"]);
        assert_ne!(removed["departure_time"], added["departure_time"]);
        for member in ["expires_at", "accepted_at"] {
            assert!(
                change.get(member).is_some(),
                "{supplier}: {member} of {change}"
            );
        }
    }
}

on_both_databases! {
    booking_on_each_scenario_route_ends_as_specified,
    repeated_book_while_ticketing_returns_202,
    each_ticket_is_reported_by_one_event,
    prebook_of_changed_or_unavailable_fare_is_refused,
    booking_lists_airline_initiated_changes,
}
