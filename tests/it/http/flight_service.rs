//! Tests of bags for an existing ticket: listing the available ones and purchasing them with a
//! separate payment.

use serde_json::{Value, json};
use tests::{
    Client, Database, FlightBookingBuilder, Server, eventually, on_both_databases, passenger,
};

fn euros(amount: u32) -> Value {
    json!({"amount": amount, "currency": "EUR"})
}

async fn for_sale(client: &Client, booking: &str) -> Vec<Value> {
    let reply = client.bags_for_sale(booking).await.expect(200);
    reply.data().as_array().unwrap().clone()
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
    let bought = client
        .purchase_bags(&booking, "bags-1", &wanted)
        .await
        .expect(200);
    assert_eq!(bought.body["meta"]["supplier"], "SUPPLIER_A");
    let bought = bought.data();
    assert_eq!(bought["status"], "CONFIRMED");
    assert_eq!(bought["total_amount"], euros(960));
    assert_eq!(bought["services_amount"], euros(120));
    for member in ["fare_amount", "fare_tax_amount"] {
        assert_eq!(
            bought[member], before[member],
            "the fare amounts cover the ticket alone"
        );
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
    assert!(
        for_sale(&client, &booking).await.is_empty(),
        "a ticket with bags offers no further bags"
    );
    check_once(&server, &booking, &wanted).await;
}

/// Checks that a repeated call purchases nothing, that another request under the key is refused,
/// and that each payment is captured once.
async fn check_once(server: &Server, booking: &str, wanted: &Value) {
    let client = server.client();
    let again = client
        .purchase_bags(booking, "bags-1", wanted)
        .await
        .expect(200);
    assert_eq!(again.data()["services"].as_array().unwrap().len(), 2);
    let mut other = wanted.clone();
    other["services"].as_array_mut().unwrap().truncate(1);
    let reused = client.purchase_bags(booking, "bags-1", &other).await;
    reused.expect_problem(422, "idempotency_key_reused");
    let gone = client.purchase_bags(booking, "bags-2", wanted).await;
    let gone = gone.expect_problem(400, "validation_failed");
    assert_eq!(gone.body["errors"][0]["pointer"], "/services/0/id");
    eventually("both payments to be captured", async || {
        let payments = client.flight_booking(booking).await["payments"].clone();
        let of = |at: usize| payments[at]["status"] == "CAPTURED";
        (of(0) && of(1)).then_some(())
    })
    .await;
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

/// A purchase that the card or the airline refuses.
struct Refusal {
    route: &'static str,
    card: &'static str,
    code: &'static str,
    payment: &'static str,
    /// Ledger entries in addition to those of the ticket.
    effects: &'static [&'static str],
}

const DECLINED: Refusal = Refusal {
    route: "LHR-JFK",
    card: "tok_declined",
    code: "payment_failed",
    payment: "FAILED",
    effects: &[],
};

const REFUSALS: &[Refusal] = &[
    DECLINED,
    Refusal {
        card: "tok_insufficient_funds",
        ..DECLINED
    },
    Refusal {
        card: "tok_requires_action",
        ..DECLINED
    },
    Refusal {
        route: "BTS-MRU",
        card: "tok_visa",
        code: "supplier_rejected",
        payment: "VOIDED",
        effects: &["authorization", "void"],
    },
];

/// Nothing is purchased. A new attempt needs a new key.
async fn refused_bag_purchase_buys_and_charges_nothing(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for refusal in REFUSALS {
        let Refusal { route, card, .. } = refusal;
        let what = format!("{card} on {route}");
        let booking = FlightBookingBuilder::on(route)
            .book_confirmed(&server)
            .await;
        let bags = for_sale(&client, &booking).await;
        let wanted = purchase(&client, &bags, card).await;
        for _ in 0..2 {
            let refused = client.purchase_bags(&booking, &what, &wanted).await;
            refused.expect_problem(422, refusal.code);
        }
        let after = client
            .wait_for_flight_booking_where(&booking, "its payments to end", |now| {
                now["payments"][0]["status"] == "CAPTURED"
                    && ["FAILED", "VOIDED"]
                        .map(Value::from)
                        .contains(&now["payments"][1]["status"])
            })
            .await;
        assert_eq!(after["status"], "CONFIRMED", "{what}");
        assert_eq!(after["payments"][1]["status"], refusal.payment, "{what}");
        assert_eq!(after["total_amount"], euros(420), "{what}");
        assert_eq!(after["services_amount"], euros(0), "{what}");
        for service in after["services"].as_array().unwrap() {
            assert_eq!(service["status"], "FAILED", "{what}");
        }
        let ledger = server.ledger().await;
        let mut kinds = ledger.kinds_of(&booking);
        kinds.sort_unstable();
        let mut expected = [&["authorization", "booking", "capture"], refusal.effects].concat();
        expected.sort_unstable();
        assert_eq!(kinds, expected, "{what}");
        if *card != "tok_visa" {
            let good = purchase(&client, &bags, "tok_visa").await;
            let bought = client
                .purchase_bags(&booking, &format!("{what} again"), &good)
                .await
                .expect(200);
            assert_eq!(bought.data()["services_amount"], euros(60), "{what}");
            assert_eq!(server.ledger().await.count(&booking, "bags"), 1, "{what}");
        }
    }
}

async fn invalid_bag_purchase_is_refused_and_not_charged(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let ticket = FlightBookingBuilder::on("LHR-JFK")
        .book_confirmed(&server)
        .await;
    let bare = FlightBookingBuilder::on("BTS-ABV")
        .book_confirmed(&server)
        .await;
    let bags = for_sale(&client, &ticket).await;
    assert!(for_sale(&client, &bare).await.is_empty());
    let wanted = purchase(&client, &bags, "tok_visa").await;
    let many = |quantity: Value| {
        let mut many = wanted.clone();
        many["services"][0]["quantity"] = quantity;
        many
    };
    let one = wanted["services"][0].clone();
    let mut twice = wanted.clone();
    twice["services"] = json!([one, one]);
    let mut none = wanted.clone();
    none["services"] = json!([]);
    for (booking, wrong, pointer) in [
        (&bare, wanted.clone(), "/services/0/id"),
        (&ticket, many(json!(2)), "/services/0/quantity"),
        (&ticket, many(json!(0)), "/services/0/quantity"),
        (&ticket, many(json!(1.5)), "/services/0/quantity"),
        (&ticket, twice, "/services/1/id"),
        (&ticket, none, "/services"),
    ] {
        let refused = client.purchase_bags(booking, "wrong", &wrong).await;
        let refused = refused.expect_problem(400, "validation_failed");
        assert_eq!(
            refused.body["errors"][0]["pointer"], pointer,
            "{:#}",
            refused.body
        );
    }
    let path = format!("/v1/flight/bookings/{ticket}/services");
    let unkeyed = client.post(&path, &wanted).await;
    let unkeyed = unkeyed.expect_problem(400, "validation_failed");
    assert_eq!(unkeyed.body["errors"][0]["in"], "header");
    let long = client
        .purchase_bags(&ticket, &"k".repeat(257), &wanted)
        .await;
    long.expect_problem(400, "validation_failed");
    let mut unpaid = wanted.clone();
    unpaid["payment_instrument_id"] = json!("inst_00000000000000000000000000000000");
    let unpaid = client.purchase_bags(&ticket, "wrong", &unpaid).await;
    unpaid.expect_problem(422, "payment_instrument_invalid");
    for booking in [&ticket, &bare] {
        let ledger = server.ledger().await;
        assert_eq!(
            ledger.count(booking, "authorization"),
            1,
            "only the ticket is authorized"
        );
        assert_eq!(ledger.count(booking, "bags"), 0);
    }
    // The refused requests did not consume a key.
    let longest = client
        .purchase_bags(&ticket, &"k".repeat(256), &wanted)
        .await;
    assert_eq!(longest.expect(200).data()["services_amount"], euros(60));
}

async fn bag_purchase_at_supplier_without_bags_returns_422(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let booking = FlightBookingBuilder::on("LHR-JFK")
        .at("SUPPLIER_B")
        .book_confirmed(&server)
        .await;
    assert!(for_sale(&client, &booking).await.is_empty());
    let bag = json!({"id": "svc_00000000000000000000000000000000"});
    let wanted = purchase(&client, &[bag], "tok_visa").await;
    for _ in 0..2 {
        let refused = client.purchase_bags(&booking, "bags", &wanted).await;
        refused.expect_problem(422, "supplier_operation_unsupported");
    }
    assert_eq!(server.ledger().await.kinds_of(&booking), ["booking"]);
}

async fn bags_of_unfinished_or_unknown_booking_are_refused(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let bag = json!({"id": "svc_00000000000000000000000000000000"});
    let wanted = purchase(&client, &[bag], "tok_visa").await;
    for supplier in ["SUPPLIER_A", "SUPPLIER_B"] {
        let booking = FlightBookingBuilder::on("LHR-JFK")
            .at(supplier)
            .prebooked(&server)
            .await;
        let refused = client.bags_for_sale(&booking).await;
        let refused = refused.expect_problem(409, "booking_state_conflict");
        assert_eq!(refused.body["booking_status"], "READY_FOR_COMPLETE");
        let refused = client.purchase_bags(&booking, supplier, &wanted).await;
        refused.expect_problem(409, "booking_state_conflict");
    }
    let unknown = "bkg_00000000000000000000000000000000";
    let nobodys = client.bags_for_sale(unknown).await;
    nobodys.expect_problem(404, "booking_not_found");
    let nobodys = client.purchase_bags(unknown, "nobodys", &wanted).await;
    nobodys.expect_problem(404, "booking_not_found");
}

/// The ticket is canceled with its bags. Their price is not refunded and is part of the fee.
async fn canceled_ticket_does_not_refund_its_bags(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let booking = FlightBookingBuilder::on("LHR-JFK")
        .fare("Business")
        .book_confirmed(&server)
        .await;
    let bags = for_sale(&client, &booking).await;
    let wanted = purchase(&client, &bags, "tok_visa").await;
    let _bought = client
        .purchase_bags(&booking, "bags", &wanted)
        .await
        .expect(200);
    eventually("both payments to be captured", async || {
        (server.ledger().await.count(&booking, "capture") == 2).then_some(())
    })
    .await;
    let _begun = client.cancel_flight(&booking).await.expect(202);
    let canceled = client.wait_for_flight_booking(&booking, "CANCELED").await;
    assert_eq!(
        canceled["total_amount"],
        euros(1540),
        "the total keeps the amount that was booked"
    );
    assert_eq!(canceled["services"][0]["status"], "CANCELED");
    let cancellation = &canceled["cancellation"];
    assert_eq!(cancellation["fee"], euros(60));
    assert_eq!(cancellation["refund_amount"], euros(1480));
    let to = json!([{"payment_id": canceled["payments"][0]["id"]}]);
    assert_eq!(cancellation["refund_to"], to);
    eventually("the refund to be made", async || {
        (server.ledger().await.sum(&booking, "refund") == 1480.0).then_some(())
    })
    .await;
}

on_both_databases! {
    bag_purchase_is_made_once_per_key_with_its_own_payment,
    refused_bag_purchase_buys_and_charges_nothing,
    invalid_bag_purchase_is_refused_and_not_charged,
    bag_purchase_at_supplier_without_bags_returns_422,
    bags_of_unfinished_or_unknown_booking_are_refused,
    canceled_ticket_does_not_refund_its_bags,
}
