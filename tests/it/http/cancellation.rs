//! Tests of hotel cancellations, cancellation quotes and refunds.

use super::shape::{check_instant, check_names};
use futures::future::join_all;
use serde_json::json;
use tests::{
    Client, Database, HotelBookingBuilder, Reply, Server, ServerOptions, eventually,
    on_both_databases,
};

const SOON: &str = "[reconcile]\nschedule_s = [1, 1, 2, 3]\n[payments]\ncapture_retry_s = [1]\n";

async fn server(database: Database) -> Server {
    Server::start_with(ServerOptions::on(database).config(SOON)).await
}

async fn cancel(client: &Client, booking: &str) -> Reply {
    client
        .post(&format!("/v1/hotel/bookings/{booking}/cancel"), &json!({}))
        .await
}

async fn quote(client: &Client, booking: &str) -> Reply {
    client
        .get(&format!("/v1/hotel/bookings/{booking}/cancellation-quote"))
        .await
}

/// Books and waits for the capture. After it, a cancellation's refund appears in the ledger, and
/// nothing changes the booking while it is quoted.
async fn captured(server: &Server, way: HotelBookingBuilder) -> String {
    let client = server.client();
    let booking = way.book_confirmed(&client).await;
    eventually("the capture to be made", async || {
        let payments = client.hotel_booking(&booking).await["payments"].clone();
        (payments[0]["status"] == "CAPTURED").then_some(())
    })
    .await;
    booking
}

async fn cancellation_at_each_scenario_hotel_ends_as_specified(database: Database) {
    let server = server(database).await;
    let client = server.client();
    for (hotel, end, cancellation) in [
        ("OK", "CANCELED", "SUCCEEDED"),
        ("CANCEL_REFUSED", "CONFIRMED", "REFUSED"),
        ("CANCEL_PENDING", "CANCELED", "SUCCEEDED"),
        ("CANCEL_LOST_ANSWER", "CANCELED", "SUCCEEDED"),
    ] {
        let booking = captured(&server, HotelBookingBuilder::at(hotel)).await;
        let begun = cancel(&client, &booking).await;
        assert!(
            matches!(begun.status, 200 | 202),
            "{hotel}: {:#}",
            begun.body
        );
        let what = format!("{hotel} to end {end}");
        let ended = eventually(&what, async || {
            Some(client.hotel_booking(&booking).await)
                .filter(|b| b["status"] == end && b["cancellations"][0]["status"] == cancellation)
        })
        .await;
        let ledger = async || server.ledger().await;
        if end == "CANCELED" {
            eventually("the refund to be made", async || {
                (ledger().await.count(&booking, "refund") == 1).then_some(())
            })
            .await;
            assert_eq!(
                ledger().await.sum(&booking, "refund"),
                260.0,
                "{hotel}: free until two days before"
            );
            assert_eq!(
                cancel(&client, &booking).await.expect(200).data()["status"],
                "CANCELED"
            );
            assert_eq!(ledger().await.count(&booking, "cancellation"), 1, "{hotel}");
        } else {
            assert_eq!(ended["failure"]["code"], "cancel_refused");
            assert_eq!(ledger().await.count(&booking, "refund"), 0);
        }
    }
}

async fn single_rooms_are_canceled_if_the_supplier_supports_it(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let booking = captured(&server, HotelBookingBuilder::at("OK").rooms(2)).await;
    let rooms = client.hotel_booking(&booking).await["rooms"].clone();
    let path = format!("/v1/hotel/bookings/{booking}/cancel");
    let first = client
        .post(&path, &json!({"room_ids": [rooms[0]["id"]]}))
        .await;
    assert_eq!(first.status, 202, "{:#}", first.body);
    let partly = client
        .wait_for_hotel_booking(&booking, "PARTIALLY_CANCELED")
        .await;
    assert_eq!(
        partly["total"]["amount"], 520.0,
        "the total keeps the amount that was booked"
    );
    assert!(!partly["rooms"][0]["canceled_at"].is_null());
    assert!(partly["rooms"][1]["canceled_at"].is_null());
    assert_eq!(
        partly["cancellations"][0]["room_ids"],
        json!([rooms[0]["id"]])
    );
    eventually("the first refund to be made", async || {
        let payments = client.hotel_booking(&booking).await["payments"].clone();
        (payments[0]["status"] == "PARTIALLY_REFUNDED").then_some(())
    })
    .await;
    let rest = quote(&client, &booking).await.expect(200);
    assert_eq!(
        rest.data()["refund"]["amount"],
        260.0,
        "the quote covers only the remaining room"
    );
    let _rest = client
        .post(&path, &json!({"room_ids": [rooms[1]["id"]]}))
        .await
        .expect(202);
    let _canceled = client.wait_for_hotel_booking(&booking, "CANCELED").await;
    eventually("both refunds to be made", async || {
        (server.ledger().await.sum(&booking, "refund") == 520.0).then_some(())
    })
    .await;
}

async fn concurrent_room_cancellations_accept_only_rooms_that_are_canceled(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let booking = captured(&server, HotelBookingBuilder::at("OK").rooms(4)).await;
    let rooms = client.hotel_booking(&booking).await["rooms"].clone();
    let path = format!("/v1/hotel/bookings/{booking}/cancel");
    let wishes = [0, 1, 2].map(|room| json!({"room_ids": [rooms[room]["id"]]}));
    let wishes = wishes.into_iter().chain([json!({})]);
    let replies = join_all(wishes.map(|wish| {
        let (client, path) = (client.clone(), path.clone());
        async move { client.post(&path, &wish).await }
    }));
    let replies = replies.await;
    let promised = |reply: &Reply| matches!(reply.status, 200 | 202);
    let all = promised(replies.last().unwrap());
    for (room, reply) in replies.iter().enumerate() {
        if !promised(reply) {
            let refused = reply.clone().expect_problem(409, "booking_state_conflict");
            assert_eq!(refused.body["booking_status"], "CANCEL_IN_PROGRESS");
        } else if room < 3 || all {
            eventually("an accepted room to be cancelled", async || {
                let now = client.hotel_booking(&booking).await;
                (!now["rooms"][room]["canceled_at"].is_null()).then_some(())
            })
            .await;
        }
    }
    assert!(replies.iter().any(promised));
}

async fn canceling_single_rooms_is_refused_if_the_supplier_lacks_support(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let booking = captured(&server, HotelBookingBuilder::at("MANY").rooms(2)).await;
    let rooms = client.hotel_booking(&booking).await["rooms"].clone();
    let path = format!("/v1/hotel/bookings/{booking}/cancel");
    let reply = client
        .post(&path, &json!({"room_ids": [rooms[0]["id"]]}))
        .await;
    reply.expect_problem(422, "supplier_operation_unsupported");
    let unknown = client
        .post(
            &path,
            &json!({"room_ids": ["room_00000000000000000000000000000000"]}),
        )
        .await;
    unknown.expect_problem(400, "validation_failed");
    let typo = client.post(&path, &json!({"rooms": []})).await;
    typo.expect_problem(400, "validation_failed");
}

async fn canceling_non_refundable_booking_refunds_nothing(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let booking = captured(&server, HotelBookingBuilder::at("OK").non_refundable()).await;
    let estimate = quote(&client, &booking).await.expect(200);
    assert_eq!(estimate.data()["refund"]["amount"], 0.0);
    let _begun = cancel(&client, &booking).await;
    let canceled = client.wait_for_hotel_booking(&booking, "CANCELED").await;
    assert_eq!(canceled["cancellations"][0]["fee"]["amount"], 200.0);
    assert_eq!(server.ledger().await.count(&booking, "refund"), 0);
}

async fn cancellation_quote_names_its_source(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let ok = captured(&server, HotelBookingBuilder::at("OK")).await;
    let estimate = quote(&client, &ok).await.expect(200);
    assert_eq!(estimate.data()["source"], "POLICY_ESTIMATE");
    assert_eq!(estimate.data()["available"], true);
    assert_eq!(estimate.data()["fee"]["amount"], 0.0);
    assert_eq!(estimate.data()["refund"]["amount"], 260.0);
    let members = [
        "available",
        "source",
        "checked_at",
        "fee",
        "refund",
        "free_until",
        "restrictions",
    ];
    check_names("quote", estimate.data(), &members, &[]);
    check_instant(&estimate.data()["checked_at"]);
    let policy = &client.hotel_booking(&ok).await["cancellation_policy"];
    assert_eq!(estimate.data()["free_until"], policy["deadline"]);
    assert_eq!(estimate.data()["restrictions"], json!([]));

    let preview = captured(&server, HotelBookingBuilder::at("QUOTE_PREVIEW")).await;
    let quoted = quote(&client, &preview).await.expect(200);
    assert_eq!(
        (
            quoted.data()["source"].as_str(),
            quoted.data()["fee"]["amount"].as_f64()
        ),
        (Some("SUPPLIER_QUOTE"), Some(25.0))
    );

    let unreadable = captured(&server, HotelBookingBuilder::at("QUOTE_UNREADABLE")).await;
    let nothing = quote(&client, &unreadable).await.expect(200);
    assert_eq!(nothing.data()["available"], false);
    assert!(nothing.data()["fee"].is_null());

    let failing = captured(&server, HotelBookingBuilder::at("QUOTE_FAILS")).await;
    quote(&client, &failing)
        .await
        .expect_problem(502, "supplier_error");

    let restricted = captured(&server, HotelBookingBuilder::at("RESTRICTED")).await;
    quote(&client, &restricted)
        .await
        .expect_problem(422, "cancellation_restricted");

    let ready = HotelBookingBuilder::at("OK").prebooked(&client).await;
    let early = quote(&client, &ready)
        .await
        .expect_problem(409, "booking_state_conflict");
    assert_eq!(early.body["booking_status"], "READY_FOR_COMPLETE");
    cancel(&client, &ready)
        .await
        .expect_problem(409, "booking_state_conflict");
}

async fn quote_of_concurrently_changed_booking_returns_409(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let quoted = tests::eventually(
        "a quote to be running while its booking changes",
        async || {
            let booking = HotelBookingBuilder::at("SLOW_2000")
                .book_confirmed(&client)
                .await;
            let (quoted, canceled) = tokio::join!(quote(&client, &booking), async {
                // Reading the booking from the supplier takes two seconds. After ten reads the quote is
                // waiting for it.
                for _ in 0..10 {
                    client.hotel_booking(&booking).await;
                }
                cancel(&client, &booking).await
            });
            canceled.expect(202);
            // Ten reads may also finish before the quote starts. The attempt is then repeated.
            let is_late = quoted.body["code"] == "booking_state_conflict";
            (!is_late).then_some(quoted)
        },
    )
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
    quote_of_concurrently_changed_booking_returns_409,
}
