//! Tests of completing a booking of either kind for every supplier behaviour. Each runs on both
//! databases and checks the sandbox's ledger.

use serde_json::{Value, json};
use tests::{
    AdminClient, Booking, BookingBuilder, Client, Database, FlightBookingBuilder,
    HotelBookingBuilder, Server, concurrently, eventually, on_both_databases, passenger,
};

/// Final status of a booking. If the gateway collects the payment, also the ledger entries and the
/// payment's final status.
#[derive(Debug, Clone, Copy)]
struct Ending {
    status: &'static str,
    ledger: &'static [&'static str],
    payment: &'static str,
}

const CONFIRMED: Ending = Ending {
    status: "CONFIRMED",
    ledger: &["authorization", "booking", "capture"],
    payment: "CAPTURED",
};

const FAILED: Ending = Ending {
    status: "FAILED",
    ledger: &["authorization", "void"],
    payment: "VOIDED",
};

/// The supplier has made the booking, but never tells.
const NEVER_KNOWN: Ending = Ending {
    status: "COMPLETE_IN_PROGRESS",
    ledger: &["authorization", "booking"],
    payment: "AUTHORIZED",
};

const AT_ONCE: (u16, &str) = (200, "CONFIRMED");
const PENDING: (u16, &str) = (202, "COMPLETE_IN_PROGRESS");
const REFUSED: (u16, &str) = (422, "supplier_rejected");
const UNKNOWN: (u16, &str) = (500, "result_unknown");

/// A hotel's code or a route, the response to `book`, and the ending.
type Scenario = (&'static str, (u16, &'static str), Ending);

const HOTELS: [Scenario; 11] = [
    ("OK", AT_ONCE, CONFIRMED),
    ("MANY", AT_ONCE, CONFIRMED),
    ("PRICE_DOWN", AT_ONCE, CONFIRMED),
    ("BOOK_REFUSED", REFUSED, FAILED),
    ("BOOK_PENDING", PENDING, CONFIRMED),
    ("BOOK_PENDING_REFUSED", PENDING, FAILED),
    ("BOOK_LOST_ANSWER", UNKNOWN, CONFIRMED),
    ("BOOK_LOST_REQUEST", UNKNOWN, FAILED),
    ("BOOK_GARBAGE", UNKNOWN, CONFIRMED),
    ("BOOK_500", UNKNOWN, CONFIRMED),
    ("BOOK_NEVER_KNOWN", UNKNOWN, NEVER_KNOWN),
];

const ROUTES: [Scenario; 9] = [
    ("LHR-JFK", AT_ONCE, CONFIRMED),
    ("LHR-DXB", AT_ONCE, CONFIRMED),
    ("LHR-SYD", AT_ONCE, CONFIRMED),
    ("LHR-ORD", AT_ONCE, CONFIRMED),
    ("LHR-LGW", REFUSED, FAILED),
    ("LHR-STN", PENDING, CONFIRMED),
    ("LHR-LTN", PENDING, FAILED),
    ("STN-LHR", UNKNOWN, CONFIRMED),
    ("LTN-STN", UNKNOWN, NEVER_KNOWN),
];

/// Returns a flight booking whose passenger has a passport, which some routes require.
fn with_document(route: &str, supplier: &str) -> BookingBuilder {
    let document = json!({"type": "PASSPORT", "number": "X1234567", "issuing_country": "GB", "expires_on": "2040-05-31"});
    let way = FlightBookingBuilder::on(route).at(supplier);
    BookingBuilder::Flight(way.passengers(vec![passenger(json!({"document": document}))]))
}

async fn booking_in_each_scenario_ends_as_specified(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let hotels = HOTELS.map(|row| ("SANDBOX_HOTELS", row));
    let routes = ["SUPPLIER_A", "SUPPLIER_B"].map(|supplier| ROUTES.map(|row| (supplier, row)));
    let mut begun = Vec::new();
    for (supplier, (scenario, response, ending)) in [&hotels[..], routes.as_flattened()].concat() {
        let builder = match supplier {
            "SANDBOX_HOTELS" => BookingBuilder::new(supplier, scenario),
            _ => with_document(scenario, supplier),
        };
        let (booking, reply) = builder.book(&server).await;
        let what = format!("{scenario} at {supplier}");
        assert_eq!(reply.outcome(), response, "{what}: {:#}", reply.body);
        if reply.status < 300 {
            assert_eq!(reply.header("x-supplier"), Some(supplier), "{what}");
            assert_eq!(reply.body["meta"]["supplier"], supplier, "{what}");
        } else {
            let left_at = match response {
                REFUSED => "FAILED",
                _ => "COMPLETE_IN_PROGRESS",
            };
            assert_eq!(reply.body["booking_status"], left_at, "{what}");
            assert_eq!(reply.body["retryable"], false, "{what}");
        }
        begun.push((supplier, ending, booking, what));
    }
    for (supplier, ending, booking, what) in &begun {
        let ended = booking.wait_for(ending.status).await;
        check_end(what, supplier, &ended);
        let ledger = ledger_at(supplier, ending);
        server.wait_for_ledger(&booking.id, &ledger).await;
        check_payments(supplier, ending, booking).await;
        check_repeat(&server.client(), what, booking, ending.status).await;
    }
    // A second run of any effect would show in the ledger by now.
    let ledger = server.ledger().await;
    for (supplier, ending, booking, what) in &begun {
        let expected = ledger_at(supplier, ending);
        assert_eq!(ledger.kinds_of(&booking.id), expected, "{what}");
    }
}

/// Returns the ledger entries expected at `supplier`. `SUPPLIER_B` collects the payment itself, so
/// there the processor has no entries.
fn ledger_at(supplier: &str, ending: &Ending) -> Vec<&'static str> {
    let is_seen = |kind: &&str| supplier != "SUPPLIER_B" || *kind == "booking";
    ending.ledger.iter().copied().filter(is_seen).collect()
}

/// Checks which fields a booking has in its final status.
fn check_end(what: &str, supplier: &str, booking: &Value) {
    let is_confirmed = booking["status"] == "CONFIRMED";
    let has_failed = booking["status"] == "FAILED";
    let is_ticket = is_confirmed && supplier != "SANDBOX_HOTELS";
    for (member, is_there) in [
        ("airline_pnr", is_ticket),
        ("failure", has_failed),
        ("expires_at", false),
        ("cancellation", false),
    ] {
        let has = booking.get(member).is_some();
        assert_eq!(has, is_there, "{what}: {member} of {booking:#}");
    }
    assert_eq!(booking["confirmed_at"].is_string(), is_confirmed, "{what}");
    assert!(booking["canceled_at"].is_null(), "{what}");
    if is_ticket {
        assert!(booking["supplier_reference"].is_string(), "{what}");
    }
    if has_failed {
        assert_eq!(booking["failure"]["code"], "book_failed", "{what}");
        assert!(booking["failure"]["description"].is_string(), "{what}");
    }
}

/// Waits until the booking has the expected payments, each with its status and collector. A hotel
/// booking does not name the collector.
async fn check_payments(supplier: &str, ending: &Ending, booking: &Booking) {
    let expected = match (supplier, ending.status) {
        ("SANDBOX_HOTELS", _) => json!([[ending.payment, null]]),
        ("SUPPLIER_A", _) => json!([[ending.payment, "SERVICE"]]),
        (_, "CONFIRMED") => json!([["CAPTURED", "SUPPLIER"]]),
        _ => json!([]),
    };
    let has_them = |now: &Value| {
        let payments = now["payments"].as_array().unwrap().iter();
        let seen = payments.map(|payment| json!([payment["status"], payment["collected_by"]]));
        Value::from_iter(seen) == expected
    };
    let what = format!("paid with {expected}");
    booking.wait_until(&what, has_them).await;
}

/// Checks that repeating `book` returns the same outcome and changes nothing.
async fn check_repeat(client: &Client, what: &str, booking: &Booking, status: &str) {
    let before = booking.read().await;
    let payment = match before["payments"][0]["collected_by"].as_str() {
        Some("SUPPLIER") => json!({}),
        _ => client.card_payment("tok_mastercard").await,
    };
    let again = booking.book(&payment).await;
    match status {
        "CONFIRMED" => {
            // Only the read lists the cards that paid a hotel booking.
            let mut expected = before.clone();
            let payment = expected["payments"][0].as_object_mut().unwrap();
            payment.remove("cards");
            assert_eq!(*again.expect(200).data(), expected, "{what}");
        }
        "FAILED" => {
            let problem = again.expect_problem(422, "supplier_rejected");
            assert_eq!(problem.body["booking_status"], "FAILED", "{what}");
        }
        _ => drop(again.expect_problem(500, "result_unknown")),
    }
    let after = booking.read().await;
    assert_eq!(after["payments"], before["payments"], "{what}");
}

/// Four callers share each card. Exactly one card is charged.
async fn concurrent_book_calls_make_one_booking_and_one_charge(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for builder in BookingBuilder::at_each_supplier() {
        let booking = builder.prebooked(&server).await;
        let mut payments = Vec::new();
        for _ in 0..16 {
            payments.push(builder.payment(&client).await);
        }
        let calls = payments.iter().cycle().take(64).map(|payment| {
            let (booking, payment) = (booking.clone(), payment.clone());
            async move { booking.book(&payment).await }
        });
        for reply in concurrently(calls).await {
            assert_eq!(reply.outcome(), AT_ONCE);
        }
        let cards = usize::from(payments[0] != json!({}));
        let kinds = ["booking", "authorization", "capture", "void"];
        let counts = [1, cards, cards, 0];
        server.wait_for_entries(&booking.id, kinds, counts).await;
    }
}

async fn expired_offer_expires_its_booking(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let builder = BookingBuilder::new("SANDBOX_HOTELS", "EXPIRES_SOON");
    let booking = builder.prebooked(&server).await;
    let expired = booking.wait_for("EXPIRED").await;
    assert_eq!(expired["payments"], json!([]));
    let payment = builder.payment(&server.client()).await;
    let late = booking.book(&payment).await;
    late.expect_state_conflict("EXPIRED");
}

/// Sends every call about a booking as `client`. Returns the refusals without their request ids.
async fn refused_calls(client: &Client, booking: &Booking) -> Vec<Value> {
    let booking = booking.seen_by(client);
    let card = client.card_payment("tok_visa").await;
    let mut replies = vec![
        booking.get("").await,
        booking.get("/cancellation-quote").await,
        booking.book(&card).await,
        booking.book(&json!({})).await,
        booking.cancel().await,
    ];
    if booking.path.starts_with("/v1/hotel/") {
        replies.push(booking.get("/weather").await);
    } else {
        let mut bags = card.clone();
        bags["services"] = json!([{"id": "svc_00000000000000000000000000000000", "quantity": 1}]);
        replies.push(client.bags_for_sale(&booking.id).await);
        replies.push(client.purchase_bags(&booking.id, "bags", &bags).await);
    }
    let refusals = replies.into_iter().map(|reply| {
        let mut body = reply.expect_problem(404, "booking_not_found").body;
        body.as_object_mut().unwrap().remove("request_id");
        body
    });
    refusals.collect()
}

async fn foreign_booking_is_indistinguishable_from_missing_one(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let strangers = [client.user("stranger"), server.client_for("acme").await];
    for builder in BookingBuilder::of_each_kind() {
        let ready = builder.prebooked(&server).await;
        let booked = builder.book_confirmed(&server).await;
        let missing = builder.booking(&client, "bkg_00000000000000000000000000000000");
        let unknown = refused_calls(&client, &missing).await;
        for stranger in &strangers {
            for booking in [&ready, &booked] {
                assert_eq!(refused_calls(stranger, booking).await, unknown);
            }
            let (list, _) = missing.path.rsplit_once('/').unwrap();
            let listed = stranger.get(list).await.expect(200);
            assert_eq!(*listed.data(), json!([]));
        }
        assert_eq!(ready.read().await["status"], "READY_FOR_COMPLETE");
        assert_eq!(booked.read().await["status"], "CONFIRMED");
    }
    // A flight booking is not visible as a hotel booking.
    let flight = FlightBookingBuilder::on("LHR-JFK").prebooked(&server).await;
    let hotel = client.get(&format!("/v1/hotel/bookings/{flight}")).await;
    hotel.expect_problem(404, "booking_not_found");
}

/// Checks that an operator can resolve an unknown outcome and that the payment follows.
async fn operator_resolves_booking_with_unknown_outcome(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let (client, operator) = (server.client(), AdminClient::of(&server));
    let done = json!({"outcome": "done", "supplier_reference": "FLT-9"});
    let not_done = json!({"outcome": "not_done"});
    let hotel = BookingBuilder::new("SANDBOX_HOTELS", "BOOK_NEVER_KNOWN");
    let flight = BookingBuilder::new("SUPPLIER_A", "LTN-STN");
    for (builder, verdict, ending, repeat) in [
        (&hotel, &done, CONFIRMED, 200),
        (&hotel, &not_done, FAILED, 422),
        (&flight, &done, CONFIRMED, 200),
        (&flight, &not_done, FAILED, 422),
    ] {
        let (booking, reply) = builder.book(&server).await;
        reply.expect_problem(500, "result_unknown");
        let id = &booking.id;
        assert!(operator.has_unresolved_call(id, "book").await);
        let unnamed = json!({"outcome": "done"});
        let unnamed = operator.resolve_when_idle(id, &unnamed).await;
        unnamed.expect_problem(400, "validation_failed");
        let settled = operator.resolve_when_idle(id, verdict).await.expect(200);
        let Ending {
            status,
            ledger,
            payment,
        } = ending;
        assert_eq!(*settled.data(), json!({"id": id, "status": status}));
        let money = *ledger.last().unwrap();
        let ledger = ["authorization", "booking", money];
        server.wait_for_ledger(id, &ledger).await;
        let ended = booking.read().await;
        assert_eq!(ended["status"], status);
        assert_eq!(ended["payments"][0]["status"], payment);
        assert_eq!(ended.get("failure").is_some(), status == "FAILED");
        if status == "CONFIRMED" && booking.path.starts_with("/v1/flight/") {
            assert_eq!(ended["supplier_reference"], "FLT-9");
        }
        let card = client.card_payment("tok_visa").await;
        let again = booking.book(&card).await;
        assert_eq!(again.status, repeat, "{:#}", again.body);
        assert!(!operator.has_unresolved_call(id, "book").await);
        let late = operator.resolve(id, verdict).await;
        late.expect_state_conflict(status);
    }
}

/// Checks that parked work is resumed only when an operator retries it.
async fn operator_retries_parked_jobs(database: Database) {
    // The default reconciliation starts after five seconds, which leaves time to exhaust the job's
    // attempts.
    let server = Server::start(database).await;
    let (client, operator) = (server.client(), AdminClient::of(&server));
    let mut bookings = Vec::new();
    for _ in 0..3 {
        let way = HotelBookingBuilder::at("BOOK_LOST_ANSWER");
        let (booking, reply) = way.book(&client).await;
        reply.expect_problem(500, "result_unknown");
        server.exhaust_attempts(&booking).await;
        let parked = eventually("the job to be parked", || operator.parked_job(&booking)).await;
        assert_eq!(parked["kind"], "hotel_booking");
        bookings.push(booking);
    }
    let [one, others @ ..] = &bookings[..] else {
        unreachable!()
    };
    let strange = json!({"kind": "flight_booking", "subject": one});
    assert_eq!(operator.retry_parked_jobs(&strange).await, [json!(null); 0]);
    let this = json!({"subject": one});
    let retries = tokio::join!(
        operator.retry_parked_jobs(&this),
        operator.retry_parked_jobs(&this),
    );
    assert_eq!(retries.0.len() + retries.1.len(), 1, "{retries:?}");
    client.wait_for_hotel_booking(one, "CONFIRMED").await;
    for other in others {
        assert!(operator.parked_job(other).await.is_some());
    }
    let begun = operator.retry_parked_jobs(&json!({})).await;
    assert_eq!(begun.len(), others.len());
    for other in others {
        client.wait_for_hotel_booking(other, "CONFIRMED").await;
        assert_eq!(operator.parked_job(other).await, None);
    }
    let log = server.command("audit", &["list", "--json"]).await;
    let entries = log.lines().map(|line| serde_json::from_str(line).unwrap());
    let entries: Vec<Value> = entries.collect();
    for booking in &bookings {
        let is_retry = |entry: &&Value| {
            entry["action"] == "job.retried" && entry["target"]["id"] == booking.as_str()
        };
        let retries: Vec<&Value> = entries.iter().filter(is_retry).collect();
        assert_eq!(retries.len(), 1, "{log}");
        let tenant = (&retries[0]["organization"], &retries[0]["mode"]);
        assert_eq!(tenant, (&json!("demo"), &json!("test")), "{log}");
    }
}

on_both_databases! {
    booking_in_each_scenario_ends_as_specified,
    concurrent_book_calls_make_one_booking_and_one_charge,
    expired_offer_expires_its_booking,
    foreign_booking_is_indistinguishable_from_missing_one,
    operator_resolves_booking_with_unknown_outcome,
    operator_retries_parked_jobs,
}
