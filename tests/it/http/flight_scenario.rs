//! Tests of each sandbox route: while an airline issues the ticket, when it changes or refuses the
//! fare, and when it changes a ticket.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::{Database, FlightBookingBuilder, Server, ServerOptions, Subscriber, on_both_databases};

const SUPPLIERS: [&str; 2] = ["SUPPLIER_A", "SUPPLIER_B"];

async fn repeated_book_while_ticketing_returns_202(database: Database) {
    let server = Server::start_with(ServerOptions::on(database).without_reconciliation()).await;
    let client = server.client();
    for supplier in SUPPLIERS {
        let way = FlightBookingBuilder::on("LHR-STN").at(supplier);
        let booking = way.prebooked(&server).await;
        let payment = way.payment(&client).await;
        for _ in 0..3 {
            let begun = client.book_flight(&booking, &payment).await;
            assert_eq!(begun.outcome(), (202, "COMPLETE_IN_PROGRESS"), "{supplier}");
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
            let way = FlightBookingBuilder::on(route).at(supplier);
            let (booking, reply) = way.book(&server).await;
            reply.expect(status);
            booked.insert(booking);
        }
    }
    let events = subscriber
        .wait_for_events("flight.booking.confirmed", booked.len())
        .await;
    let about = events.iter().map(|one| {
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
    for booking in listed.list() {
        assert_eq!(booking["status"], "FAILED");
        assert_eq!(booking["failure"]["code"], "prebook_failed");
        assert!(booking["total_amount"].is_null());
        let id = booking["id"].as_str().unwrap();
        assert!(server.ledger().await.kinds_of(id).is_empty());
        for payment in [json!({}), client.card_payment("tok_visa").await] {
            let late = client.book_flight(id, &payment).await;
            late.expect_state_conflict("FAILED");
        }
    }
}

/// On this route the airline changes a flight's schedule right after booking.
async fn booking_lists_airline_initiated_changes(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for supplier in SUPPLIERS {
        let way = FlightBookingBuilder::on("LHR-DXB").at(supplier);
        let booking = client
            .flight_booking(&way.book_confirmed(&server).await)
            .await;
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
    repeated_book_while_ticketing_returns_202,
    each_ticket_is_reported_by_one_event,
    prebook_of_changed_or_unavailable_fare_is_refused,
    booking_lists_airline_initiated_changes,
}
