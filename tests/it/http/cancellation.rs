//! Tests of cancellations of hotel bookings, of quotes and refunds, and of bookings that cannot be
//! canceled.

use super::resource_assertions::{check_instant, check_names};
use futures::future::join_all;
use serde_json::{Value, json};
use tests::{
    Booking, BookingBuilder, Database, HotelBookingBuilder, Reply, Server, eventually,
    on_both_databases,
};

/// Returns a booking whose payment is captured.
async fn captured(server: &Server, way: HotelBookingBuilder) -> Booking {
    BookingBuilder::Hotel(way).book_captured(server).await
}

async fn cancellation_at_each_scenario_hotel_ends_as_specified(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    for (hotel, end, cancellation) in [
        ("OK", "CANCELED", "SUCCEEDED"),
        ("CANCEL_REFUSED", "CONFIRMED", "REFUSED"),
        ("CANCEL_PENDING", "CANCELED", "SUCCEEDED"),
        ("CANCEL_LOST_ANSWER", "CANCELED", "SUCCEEDED"),
    ] {
        let booking = captured(&server, HotelBookingBuilder::at(hotel)).await;
        let begun = booking.cancel().await;
        assert!(
            matches!(begun.status, 200 | 202),
            "{hotel}: {:#}",
            begun.body
        );
        let is_over =
            |now: &Value| now["status"] == end && now["cancellations"][0]["status"] == cancellation;
        let ended = booking.wait_until(end, is_over).await;
        if end == "CANCELED" {
            server.wait_for_entries(&booking.id, ["refund"], [1]).await;
            let refund = server.ledger().await.sum(&booking.id, "refund");
            assert_eq!(refund, 260.0, "{hotel}: free until two days before");
            let again = booking.cancel().await;
            assert_eq!(again.outcome(), (200, "CANCELED"), "{hotel}");
            let ledger = server.ledger().await;
            assert_eq!(ledger.count(&booking.id, "cancellation"), 1, "{hotel}");
        } else {
            assert_eq!(ended["failure"]["code"], "cancel_refused");
            assert_eq!(server.ledger().await.count(&booking.id, "refund"), 0);
        }
    }
}

async fn single_rooms_are_canceled_if_the_supplier_supports_it(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let booking = captured(&server, HotelBookingBuilder::at("OK").rooms(2)).await;
    let rooms = booking.read().await["rooms"].clone();
    let cancel = async |room: usize| {
        let request = json!({"room_ids": [rooms[room]["id"]]});
        booking.cancel_with(&request).await.expect(202)
    };
    cancel(0).await;
    let partly = booking.wait_for("PARTIALLY_CANCELED").await;
    let total = &partly["total"]["amount"];
    assert_eq!(*total, 520.0, "the total keeps the amount that was booked");
    assert!(!partly["rooms"][0]["canceled_at"].is_null());
    assert!(partly["rooms"][1]["canceled_at"].is_null());
    let room_ids = &partly["cancellations"][0]["room_ids"];
    assert_eq!(*room_ids, json!([rooms[0]["id"]]));
    booking.wait_for_payment("PARTIALLY_REFUNDED").await;
    let rest = booking.quote().await.expect(200);
    let refund = &rest.data()["refund"]["amount"];
    assert_eq!(*refund, 260.0, "the quote covers only the remaining room");
    cancel(1).await;
    booking.wait_for("CANCELED").await;
    server.wait_for_entries(&booking.id, ["refund"], [2]).await;
    assert_eq!(server.ledger().await.sum(&booking.id, "refund"), 520.0);
}

async fn concurrent_room_cancellations_accept_only_rooms_that_are_canceled(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let booking = captured(&server, HotelBookingBuilder::at("OK").rooms(4)).await;
    let rooms = booking.read().await["rooms"].clone();
    let selections = [0, 1, 2].map(|room| json!({"room_ids": [rooms[room]["id"]]}));
    let selections = [&selections[..], &[json!({})]].concat();
    let replies = join_all(
        selections
            .iter()
            .map(|selection| booking.cancel_with(selection)),
    )
    .await;
    let promised = |reply: &Reply| matches!(reply.status, 200 | 202);
    let all = promised(replies.last().unwrap());
    for (room, reply) in replies.iter().enumerate() {
        if !promised(reply) {
            reply.clone().expect_state_conflict("CANCEL_IN_PROGRESS");
        } else if room < 3 || all {
            let is_canceled = |now: &Value| !now["rooms"][room]["canceled_at"].is_null();
            booking.wait_until("without the room", is_canceled).await;
        }
    }
    assert!(replies.iter().any(promised));
}

async fn canceling_single_rooms_is_refused_if_the_supplier_lacks_support(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let booking = captured(&server, HotelBookingBuilder::at("MANY").rooms(2)).await;
    let room = booking.read().await["rooms"][0]["id"].clone();
    let unknown = "room_00000000000000000000000000000000";
    for (request, status, code) in [
        (
            json!({"room_ids": [room]}),
            422,
            "supplier_operation_unsupported",
        ),
        (json!({"room_ids": [unknown]}), 400, "validation_failed"),
        (json!({"rooms": []}), 400, "validation_failed"),
        // A client that means single rooms, but names none, does not lose the whole booking.
        (json!({"room_ids": null}), 400, "validation_failed"),
    ] {
        let refused = booking.cancel_with(&request).await;
        refused.expect_problem(status, code);
    }
}

async fn canceling_non_refundable_booking_refunds_nothing(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let booking = captured(&server, HotelBookingBuilder::at("OK").non_refundable()).await;
    let estimate = booking.quote().await.expect(200);
    assert_eq!(estimate.data()["refund"]["amount"], 0.0);
    booking.cancel().await;
    let canceled = booking.wait_for("CANCELED").await;
    assert_eq!(canceled["cancellations"][0]["fee"]["amount"], 200.0);
    assert_eq!(server.ledger().await.count(&booking.id, "refund"), 0);
}

async fn cancellation_quote_names_its_source(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let at = async |hotel: &str| captured(&server, HotelBookingBuilder::at(hotel)).await;
    let ok = at("OK").await;
    let estimate = ok.quote().await.expect(200);
    let estimate = estimate.data();
    assert_eq!(estimate["source"], "POLICY_ESTIMATE");
    assert_eq!(estimate["available"], true);
    assert_eq!(estimate["fee"]["amount"], 0.0);
    assert_eq!(estimate["refund"]["amount"], 260.0);
    let members = [
        "available",
        "source",
        "checked_at",
        "fee",
        "refund",
        "free_until",
        "restrictions",
    ];
    check_names("quote", estimate, &members, &[]);
    check_instant(&estimate["checked_at"]);
    let policy = &ok.read().await["cancellation_policy"];
    assert_eq!(estimate["free_until"], policy["deadline"]);
    assert_eq!(estimate["restrictions"], json!([]));

    let quoted = at("QUOTE_PREVIEW").await.quote().await.expect(200);
    assert_eq!(quoted.data()["source"], "SUPPLIER_QUOTE");
    assert_eq!(quoted.data()["fee"]["amount"], 25.0);

    let nothing = at("QUOTE_UNREADABLE").await.quote().await.expect(200);
    assert_eq!(nothing.data()["available"], false);
    assert!(nothing.data()["fee"].is_null());

    let failing = at("QUOTE_FAILS").await.quote().await;
    failing.expect_problem(502, "supplier_error");
    let restricted = at("RESTRICTED").await.quote().await;
    restricted.expect_problem(422, "cancellation_restricted");
}

/// Adds an active restriction to the terms that are stored with a booking.
async fn restrict(server: &Server, booking: &Booking) {
    let restriction = json!({
        "code": "NO_CANCELLATION", "description": "Closed season.", "active_from": null, "active_until": null,
    });
    let edit = format!(
        "UPDATE hotel_booking SET document = \
         replace(document, '\"restrictions\":[]', '\"restrictions\":[{restriction}]') WHERE id = '{}'",
        booking.id
    );
    server.try_edit(&edit).await.unwrap();
    let policy = &booking.read().await["cancellation_policy"];
    assert_eq!(policy["restrictions"][0]["code"], "NO_CANCELLATION");
}

async fn stored_restriction_forbids_the_quote_whatever_the_supplier_responds(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    // The fresh terms of most of them have no restriction, and one supplier does not respond.
    for hotel in ["OK", "QUOTE_PREVIEW", "QUOTE_UNREADABLE", "QUOTE_FAILS"] {
        let booking = captured(&server, HotelBookingBuilder::at(hotel)).await;
        restrict(&server, &booking).await;
        for _ in 0..2 {
            let refused = booking.quote().await;
            refused.expect_problem(422, "cancellation_restricted");
        }
    }
    // The restriction is stored while the supplier is asked, which takes two seconds.
    let booking = captured(&server, HotelBookingBuilder::at("SLOW_2000")).await;
    let (refused, ()) = tokio::join!(booking.quote(), async {
        for _ in 0..10 {
            booking.read().await;
        }
        restrict(&server, &booking).await;
    });
    refused.expect_problem(422, "cancellation_restricted");
}

async fn only_confirmed_booking_can_be_canceled_or_quoted(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let refused = [
        BookingBuilder::new("SANDBOX_HOTELS", "BOOK_REFUSED"),
        BookingBuilder::new("SUPPLIER_A", "LHR-LGW"),
    ];
    for (builder, refused) in BookingBuilder::of_each_kind().iter().zip(refused) {
        let ready = builder.prebooked(&server).await;
        let (failed, _) = refused.book(&server).await;
        for (booking, status) in [(ready, "READY_FOR_COMPLETE"), (failed, "FAILED")] {
            booking.cancel().await.expect_state_conflict(status);
            booking.quote().await.expect_state_conflict(status);
        }
        let unknown = "bkg_00000000000000000000000000000000";
        let unknown = builder.booking(&client, unknown).quote().await;
        unknown.expect_problem(404, "booking_not_found");
        let nonsense = builder.booking(&client, "nonsense").quote().await;
        nonsense.expect_problem(400, "validation_failed");
    }
}

async fn quote_of_concurrently_changed_booking_returns_409(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let slow = BookingBuilder::new("SANDBOX_HOTELS", "SLOW_2000");
    let what = "a quote to be running while its booking changes";
    let quoted = eventually(what, async || {
        let booking = slow.book_confirmed(&server).await;
        let (quoted, canceled) = tokio::join!(booking.quote(), async {
            // Reading the booking from the supplier takes two seconds. After ten reads the quote is
            // waiting for it.
            for _ in 0..10 {
                booking.read().await;
            }
            booking.cancel().await
        });
        canceled.expect(202);
        // Ten reads may also finish before the quote starts. The attempt is then repeated.
        let is_late = quoted.body["code"] == "booking_state_conflict";
        (!is_late).then_some(quoted)
    })
    .await;
    quoted.expect_problem(409, "booking_changed");
}

on_both_databases! {
    cancellation_at_each_scenario_hotel_ends_as_specified,
    single_rooms_are_canceled_if_the_supplier_supports_it,
    concurrent_room_cancellations_accept_only_rooms_that_are_canceled,
    canceling_single_rooms_is_refused_if_the_supplier_lacks_support,
    canceling_non_refundable_booking_refunds_nothing,
    cancellation_quote_names_its_source,
    stored_restriction_forbids_the_quote_whatever_the_supplier_responds,
    only_confirmed_booking_can_be_canceled_or_quoted,
    quote_of_concurrently_changed_booking_returns_409,
}
