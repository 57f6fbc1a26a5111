//! Tests of concurrent calls about one booking: one of them makes the change, the others get its
//! outcome. Each test checks the sandbox's ledger.

use tests::{
    BookingBuilder, Client, Database, FlightBookingBuilder, Reply, Server, concurrently,
    on_both_databases,
};
use tokio::task::JoinSet;

/// Number of concurrent callers per booking.
const CROWD: usize = 64;
/// Number of bookings, each with its own race.
const ROUNDS: usize = 12;

/// The cancellation either comes before the ticket and changes nothing, or comes after it and
/// cancels it.
async fn concurrent_book_and_cancel_run_in_either_order(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let builder = BookingBuilder::new("SUPPLIER_A", "LHR-JFK");
    let mut races = Vec::new();
    for _ in 0..ROUNDS {
        let booking = builder.prebooked(&server).await;
        races.push((booking, builder.payment(&client).await));
    }
    let mut running = JoinSet::new();
    for (booking, payment) in races {
        running.spawn(async move {
            let (booked, canceled) = tokio::join!(booking.book(&payment), booking.cancel());
            (booking, booked, canceled)
        });
    }
    for (booking, booked, canceled) in running.join_all().await {
        let booked = booked.expect(200);
        assert_eq!(booked.data()["id"], *booking.id);
        let end = match canceled.outcome() {
            (202, "CANCEL_IN_PROGRESS") | (200, "CANCELED") => "CANCELED",
            (409, "booking_state_conflict") => {
                let status = canceled.body["booking_status"].as_str().unwrap();
                let early = ["READY_FOR_COMPLETE", "COMPLETE_IN_PROGRESS"];
                assert!(early.contains(&status), "{status}");
                "CONFIRMED"
            }
            _ => panic!("{canceled:#?}"),
        };
        booking.wait_for(end).await;
        let canceled = usize::from(end == "CANCELED");
        let kinds = [
            "booking",
            "authorization",
            "capture",
            "cancellation",
            "refund",
        ];
        let counts = [1, 1, 1, canceled, canceled];
        server.wait_for_entries(&booking.id, kinds, counts).await;
    }
}

/// Either the first of the two operations blocks the other, or the second one takes the result of
/// the first into account.
async fn concurrent_bag_purchase_and_cancel_run_in_either_order(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let builder = BookingBuilder::new("SUPPLIER_A", "LHR-JFK");
    let mut races = Vec::new();
    for _ in 0..ROUNDS {
        let booking = builder.book_captured(&server).await;
        let wanted = client.bag_request(&booking.id, "tok_visa").await;
        races.push((booking, wanted));
    }
    let mut running = JoinSet::new();
    for (booking, wanted) in races {
        let client = client.clone();
        running.spawn(async move {
            let (bought, canceled) = tokio::join!(
                client.purchase_bags(&booking.id, &booking.id, &wanted),
                booking.cancel()
            );
            (booking, bought, canceled)
        });
    }
    for (booking, bought, canceled) in running.join_all().await {
        let has_bags = has_bags(&bought);
        let is_kept = match canceled.outcome() {
            (202, "CANCEL_IN_PROGRESS") | (200, "CANCELED") => false,
            _ => {
                canceled.expect_state_conflict("CONFIRMED");
                true
            }
        };
        assert!(
            has_bags || !is_kept,
            "both the purchase and the cancellation were refused"
        );
        let end = if is_kept { "CONFIRMED" } else { "CANCELED" };
        let ended = booking.wait_for(end).await;
        let bags = usize::from(has_bags);
        let kinds = ["bags", "capture", "cancellation", "refund"];
        let given = usize::from(!is_kept);
        let counts = [bags, 1 + bags, given, given];
        server.wait_for_entries(&booking.id, kinds, counts).await;
        let price = if has_bags { 480.0 } else { 420.0 };
        assert_eq!(ended["total_amount"]["amount"], price);
        let ledger = server.ledger().await;
        assert_eq!(ledger.sum(&booking.id, "capture"), price);
        assert!(ledger.sum(&booking.id, "refund") <= price);
    }
}

/// Returns whether a purchase that races a cancellation has succeeded.
fn has_bags(bought: &Reply) -> bool {
    match bought.outcome() {
        (200, "CONFIRMED" | "CANCEL_IN_PROGRESS" | "CANCELED") => true,
        (409, "booking_state_conflict") => {
            let status = bought.body["booking_status"].as_str().unwrap();
            let gone = ["CANCEL_IN_PROGRESS", "CANCELED"];
            assert!(gone.contains(&status), "{status}");
            false
        }
        // The airline released the ticket before the gateway recorded its response.
        (422, "supplier_rejected") => false,
        _ => panic!("{bought:#?}"),
    }
}

/// Purchases a bag concurrently. The callers share `keys` idempotency keys: one for all, or one
/// each.
async fn crowd_at_bags(client: &Client, booking: &str, keys: usize) -> Vec<Reply> {
    let wanted = client.bag_request(booking, "tok_visa").await;
    let calls = (0..CROWD).map(|at| {
        let (client, wanted) = (client.clone(), wanted.clone());
        let (booking, key) = (booking.to_owned(), format!("{booking}-{}", at % keys));
        async move { client.purchase_bags(&booking, &key, &wanted).await }
    });
    concurrently(calls).await
}

/// With keys of their own, the other callers arrive while the bag is being purchased or when the
/// ticket already has it.
async fn concurrent_bag_purchases_buy_one_bag(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for (keys, buyers) in [(1, CROWD), (CROWD, 1)] {
        let way = FlightBookingBuilder::on("LHR-JFK");
        let booking = way.book_confirmed(&server).await;
        let replies = crowd_at_bags(&client, &booking, keys).await;
        let (bought, refused): (Vec<Reply>, Vec<Reply>) =
            replies.into_iter().partition(|reply| reply.status == 200);
        assert_eq!(bought.len(), buyers);
        for reply in bought {
            assert_eq!(reply.outcome(), (200, "CONFIRMED"));
        }
        for reply in refused {
            match reply.status {
                409 => reply.expect_state_conflict("CONFIRMED"),
                _ => reply.expect_violation("/services/0/id"),
            };
        }
        let kinds = ["bags", "authorization", "capture", "void"];
        server.wait_for_entries(&booking, kinds, [1, 2, 2, 0]).await;
        assert_eq!(server.ledger().await.sum(&booking, "capture"), 480.0);
        let ticket = client.flight_booking(&booking).await;
        let services = ticket["services"].as_array().unwrap();
        assert_eq!(services.len(), 1, "{services:#?}");
        assert_eq!(services[0]["status"], "CONFIRMED");
    }
}

/// At the moment an offer expires, the booking is either made or expired. Only a made booking is
/// charged.
async fn book_at_offer_expiry_either_confirms_or_expires(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let builder = BookingBuilder::new("SANDBOX_HOTELS", "EXPIRES_SOON");
    let payment = builder.payment(&server.client()).await;
    let mut running = JoinSet::new();
    for at in 0..12 {
        let booking = builder.prebooked(&server).await;
        // The calls begin before, at and after the expiry.
        running.spawn(booking.book_before_expiry(payment.clone(), 120 - 20 * at));
    }
    for (booking, reply) in running.join_all().await {
        let (end, effects) = match reply.outcome() {
            (200, "CONFIRMED") => ("CONFIRMED", &["authorization", "booking", "capture"][..]),
            // The call was in time for the gateway but too late for the supplier.
            (422, "supplier_rejected") => ("FAILED", &["authorization", "void"][..]),
            _ => {
                reply.expect_state_conflict("EXPIRED");
                ("EXPIRED", &[][..])
            }
        };
        booking.wait_for(end).await;
        server.wait_for_ledger(&booking.id, effects).await;
    }
}

on_both_databases! {
    concurrent_book_and_cancel_run_in_either_order,
    concurrent_bag_purchase_and_cancel_run_in_either_order,
    concurrent_bag_purchases_buy_one_bag,
    book_at_offer_expiry_either_confirms_or_expires,
}
