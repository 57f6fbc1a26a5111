//! Tests of bags for an existing ticket: listing the available ones and purchasing them with a
//! separate payment.

use serde_json::{Value, json};
use tests::{Client, Database, FlightBookingBuilder, Server, merged, on_both_databases, passenger};

fn euros(amount: u32) -> Value {
    json!({"amount": amount, "currency": "EUR"})
}

async fn for_sale(client: &Client, booking: &str) -> Vec<Value> {
    let reply = client.bags_for_sale(booking).await.expect(200);
    reply.list().to_vec()
}

/// Returns a request that purchases one of each of these bags.
async fn purchase(client: &Client, bags: &[Value], card: &str) -> Value {
    let services = bags
        .iter()
        .map(|bag| json!({"id": bag["id"], "quantity": 1}));
    json!({
        "services": services.collect::<Vec<_>>(),
        "payment_instrument_id": client.store_card(card).await,
    })
}

fn two_adults() -> Vec<Value> {
    vec![
        passenger(json!({})),
        passenger(json!({"first_name": "Byron", "gender": "M"})),
    ]
}

async fn bag_purchase_is_made_once_per_key_with_its_own_payment(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let way = FlightBookingBuilder::on("LHR-JFK").passengers(two_adults());
    let booking = way.book_confirmed(&server).await;
    let before = client.flight_booking(&booking).await;
    let bags = for_sale(&client, &booking).await;
    let segments = json!([before["journeys"][0]["segments"][0]["id"]]);
    assert_eq!(bags.len(), 2);
    for (bag, passenger) in bags.iter().zip(before["passengers"].as_array().unwrap()) {
        let shape = json!({
            "id": bag["id"], "type": "BAGGAGE", "passenger_id": passenger["id"], "segment_ids": segments,
            "baggage": {"type": "CHECKED", "max_weight_kg": 23}, "unit_amount": euros(60), "max_quantity": 1,
        });
        assert_eq!(*bag, shape);
        assert!(bag["id"].as_str().unwrap().starts_with("svc_"));
    }
    let wanted = purchase(&client, &bags, "tok_mastercard").await;
    let stranger = client.user("stranger");
    let foreign = stranger.purchase_bags(&booking, "bags-1", &wanted).await;
    foreign.expect_problem(404, "booking_not_found");
    // The stranger's request did not consume the owner's key.
    let bought = client.purchase_bags(&booking, "bags-1", &wanted).await;
    assert_eq!(bought.outcome(), (200, "CONFIRMED"));
    assert_eq!(bought.body["meta"]["supplier"], "SUPPLIER_A");
    let bought = bought.data();
    assert_eq!(bought["total_amount"], euros(960));
    assert_eq!(bought["services_amount"], euros(120));
    // The fare amounts cover the ticket alone.
    for member in ["fare_amount", "fare_tax_amount"] {
        assert_eq!(bought[member], before[member], "{member}");
    }
    let payment = &bought["payments"][1];
    assert_eq!(payment["amount"], euros(120));
    assert_eq!(payment["collected_by"], "SERVICE");
    assert_eq!(payment["payment_method"]["card"]["brand"], "MASTERCARD");
    let services = bought["services"].as_array().unwrap();
    assert_eq!(services.len(), 2);
    for (service, bag) in services.iter().zip(&bags) {
        let shape = json!({
            "id": service["id"], "status": "CONFIRMED", "passenger_id": bag["passenger_id"], "segment_ids": segments,
            "quantity": 1, "unit_amount": euros(60), "total_amount": euros(60), "payment_id": payment["id"],
            "type": "BAGGAGE", "baggage": {"type": "CHECKED", "max_weight_kg": 23},
        });
        assert_eq!(*service, shape);
    }
    // A ticket with bags offers no further bags.
    assert!(for_sale(&client, &booking).await.is_empty());
    check_once(&server, &booking, &wanted).await;
}

/// Checks that a repeated call purchases nothing, that another request under the key is refused,
/// and that each payment is captured once.
async fn check_once(server: &Server, booking: &str, wanted: &Value) {
    let client = server.client();
    let again = client.purchase_bags(booking, "bags-1", wanted).await;
    let again = again.expect(200);
    assert_eq!(again.data()["services"].as_array().unwrap().len(), 2);
    let fewer = json!({"services": [wanted["services"][0]]});
    for change in [fewer, client.card_payment("tok_visa").await] {
        let other = merged(wanted.clone(), change);
        let reused = client.purchase_bags(booking, "bags-1", &other).await;
        reused.expect_problem(422, "idempotency_key_reused");
    }
    let gone = client.purchase_bags(booking, "bags-2", wanted).await;
    gone.expect_violation("/services/0/id");
    let paid = client.wait_for_flight_booking_where(booking, "paid", |now| {
        let payments = &now["payments"];
        payments[0]["status"] == "CAPTURED" && payments[1]["status"] == "CAPTURED"
    });
    paid.await;
    let ledger = server.ledger().await;
    for (kind, count, sum) in [
        ("authorization", 2, 960.0),
        ("capture", 2, 960.0),
        ("booking", 1, 840.0),
        ("bags", 1, 120.0),
        ("void", 0, 0.0),
    ] {
        assert_eq!(ledger.count(booking, kind), count, "{kind}");
        assert_eq!(ledger.sum(booking, kind), sum, "{kind}");
    }
}

/// Nothing is purchased. A new attempt needs a new key.
async fn refused_bag_purchase_buys_and_charges_nothing(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for (route, card, code, payment) in [
        ("LHR-JFK", "tok_declined", "payment_failed", "FAILED"),
        (
            "LHR-JFK",
            "tok_insufficient_funds",
            "payment_failed",
            "FAILED",
        ),
        ("LHR-JFK", "tok_requires_action", "payment_failed", "FAILED"),
        ("BTS-MRU", "tok_visa", "supplier_rejected", "VOIDED"),
    ] {
        let what = format!("{card} on {route}");
        let way = FlightBookingBuilder::on(route);
        let booking = way.book_confirmed(&server).await;
        let bags = for_sale(&client, &booking).await;
        let wanted = purchase(&client, &bags, card).await;
        for _ in 0..2 {
            let refused = client.purchase_bags(&booking, &what, &wanted).await;
            let refused = refused.expect_problem(422, code);
            let refused_by = match payment {
                "VOIDED" => "SUPPLIER_A",
                _ => "SANDBOX_PAYMENTS",
            };
            assert_eq!(refused.header("x-supplier"), Some(refused_by), "{what}");
        }
        let after = client.wait_for_flight_booking_where(&booking, payment, |now| {
            let payments = &now["payments"];
            payments[0]["status"] == "CAPTURED" && payments[1]["status"] == payment
        });
        let after = after.await;
        assert_eq!(after["status"], "CONFIRMED", "{what}");
        assert_eq!(after["total_amount"], euros(420), "{what}");
        assert_eq!(after["services_amount"], euros(0), "{what}");
        for service in after["services"].as_array().unwrap() {
            assert_eq!(service["status"], "FAILED", "{what}");
        }
        let ledger = server.ledger().await;
        let voids = usize::from(payment == "VOIDED");
        let kinds = ["booking", "authorization", "capture", "void", "bags"];
        let counts = ledger.counts(&booking, kinds);
        assert_eq!(counts, [1, 1 + voids, 1, voids, 0], "{what}");
        if payment == "FAILED" {
            let good = purchase(&client, &bags, "tok_visa").await;
            let key = format!("{what} again");
            let bought = client.purchase_bags(&booking, &key, &good).await;
            let bought = bought.expect(200);
            assert_eq!(bought.data()["services_amount"], euros(60), "{what}");
            assert_eq!(server.ledger().await.count(&booking, "bags"), 1, "{what}");
        }
    }
}

async fn invalid_bag_purchase_is_refused_and_not_charged(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let way = FlightBookingBuilder::on("LHR-JFK");
    let ticket = way.book_confirmed(&server).await;
    let bare = FlightBookingBuilder::on("BTS-ABV");
    let bare = bare.book_confirmed(&server).await;
    let bags = for_sale(&client, &ticket).await;
    assert!(for_sale(&client, &bare).await.is_empty());
    let wanted = purchase(&client, &bags, "tok_visa").await;
    let one = &wanted["services"][0];
    let many = |quantity: Value| json!([merged(one.clone(), json!({"quantity": quantity}))]);
    for (booking, services, pointer) in [
        (&bare, json!([one]), "/services/0/id"),
        (&ticket, many(json!(2)), "/services/0/quantity"),
        (&ticket, many(json!(0)), "/services/0/quantity"),
        (&ticket, many(json!(1.5)), "/services/0/quantity"),
        (&ticket, json!([one, one]), "/services/1/id"),
        (&ticket, json!([]), "/services"),
    ] {
        let wrong = merged(wanted.clone(), json!({"services": services}));
        let refused = client.purchase_bags(booking, "wrong", &wrong).await;
        refused.expect_violation(pointer);
    }
    let path = format!("/v1/flight/bookings/{ticket}/services");
    let unkeyed = client.post(&path, &wanted).await;
    let unkeyed = unkeyed.expect_problem(400, "validation_failed");
    assert_eq!(unkeyed.body["errors"][0]["in"], "header");
    let long = "k".repeat(257);
    let refused = client.purchase_bags(&ticket, &long, &wanted).await;
    refused.expect_problem(400, "validation_failed");
    let unpaid = json!({"payment_instrument_id": "inst_00000000000000000000000000000000"});
    let unpaid = merged(wanted.clone(), unpaid);
    let unpaid = client.purchase_bags(&ticket, "wrong", &unpaid).await;
    unpaid.expect_problem(422, "payment_instrument_invalid");
    // Only the tickets are authorized.
    for booking in [&ticket, &bare] {
        let ledger = server.ledger().await;
        let counts = ledger.counts(booking, ["authorization", "bags"]);
        assert_eq!(counts, [1, 0]);
    }
    // The refused requests did not consume a key.
    let longest = client.purchase_bags(&ticket, &long[..256], &wanted).await;
    assert_eq!(longest.expect(200).data()["services_amount"], euros(60));
}

async fn bag_purchase_at_supplier_without_bags_returns_422(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let way = FlightBookingBuilder::on("LHR-JFK").at("SUPPLIER_B");
    let booking = way.book_confirmed(&server).await;
    assert!(for_sale(&client, &booking).await.is_empty());
    let bag = json!({"id": "svc_00000000000000000000000000000000"});
    let wanted = purchase(&client, &[bag], "tok_visa").await;
    for _ in 0..2 {
        let refused = client.purchase_bags(&booking, "bags", &wanted).await;
        refused.expect_problem(422, "supplier_operation_unsupported");
    }
    assert_eq!(server.ledger().await.kinds_of(&booking), ["booking"]);
}

/// The ticket is cancelled with its bags. Their price is not refunded and is part of the fee.
async fn canceled_ticket_does_not_refund_its_bags(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let way = FlightBookingBuilder::on("LHR-JFK").fare("Business");
    let booking = way.book_confirmed(&server).await;
    let bags = for_sale(&client, &booking).await;
    let wanted = purchase(&client, &bags, "tok_visa").await;
    let bought = client.purchase_bags(&booking, "bags", &wanted).await;
    bought.expect(200);
    server.wait_for_entries(&booking, ["capture"], [2]).await;
    client.cancel_flight(&booking).await.expect(202);
    let canceled = client.wait_for_flight_booking(&booking, "CANCELED").await;
    // The total keeps the amount that was booked.
    assert_eq!(canceled["total_amount"], euros(1540));
    assert_eq!(canceled["services"][0]["status"], "CANCELED");
    let cancellation = &canceled["cancellation"];
    assert_eq!(cancellation["fee"], euros(60));
    assert_eq!(cancellation["refund_amount"], euros(1480));
    let to = json!([{"payment_id": canceled["payments"][0]["id"]}]);
    assert_eq!(cancellation["refund_to"], to);
    server.wait_for_entries(&booking, ["refund"], [1]).await;
    assert_eq!(server.ledger().await.sum(&booking, "refund"), 1480.0);
}

on_both_databases! {
    bag_purchase_is_made_once_per_key_with_its_own_payment,
    refused_bag_purchase_buys_and_charges_nothing,
    invalid_bag_purchase_is_refused_and_not_charged,
    bag_purchase_at_supplier_without_bags_returns_422,
    canceled_ticket_does_not_refund_its_bags,
}
