//! Tests of completing a hotel booking for every supplier behaviour. Each runs on both databases
//! and checks the sandbox's ledger.

use serde_json::{Value, json};
use tests::{
    AdminClient, Client, Database, HotelBookingBuilder, Server, ServerOptions, eventually,
    on_both_databases,
};

/// Reconciliation and capture retries after one second, so that the tests wait only briefly.
const SOON: &str = "[reconcile]\nschedule_s = [1, 1, 2, 3]\n[payments]\ncapture_retry_s = [1]\n";

async fn server(database: Database) -> Server {
    Server::start_with(ServerOptions::on(database).config(SOON)).await
}

/// A hotel's code, the expected response to `book`, the final status of the booking, and the ledger
/// entries at the supplier and the processor.
struct Case {
    hotel: &'static str,
    answer: (u16, &'static str),
    end: &'static str,
    ledger: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        hotel: "OK",
        answer: (200, "CONFIRMED"),
        end: "CONFIRMED",
        ledger: &["authorization", "booking", "capture"],
    },
    Case {
        hotel: "MANY",
        answer: (200, "CONFIRMED"),
        end: "CONFIRMED",
        ledger: &["authorization", "booking", "capture"],
    },
    Case {
        hotel: "PRICE_DOWN",
        answer: (200, "CONFIRMED"),
        end: "CONFIRMED",
        ledger: &["authorization", "booking", "capture"],
    },
    Case {
        hotel: "BOOK_REFUSED",
        answer: (422, "supplier_rejected"),
        end: "FAILED",
        ledger: &["authorization", "void"],
    },
    Case {
        hotel: "BOOK_PENDING",
        answer: (202, "COMPLETE_IN_PROGRESS"),
        end: "CONFIRMED",
        ledger: &["authorization", "booking", "capture"],
    },
    Case {
        hotel: "BOOK_PENDING_REFUSED",
        answer: (202, "COMPLETE_IN_PROGRESS"),
        end: "FAILED",
        ledger: &["authorization", "void"],
    },
    Case {
        hotel: "BOOK_LOST_ANSWER",
        answer: (500, "result_unknown"),
        end: "CONFIRMED",
        ledger: &["authorization", "booking", "capture"],
    },
    Case {
        hotel: "BOOK_LOST_REQUEST",
        answer: (500, "result_unknown"),
        end: "FAILED",
        ledger: &["authorization", "void"],
    },
    Case {
        hotel: "BOOK_GARBAGE",
        answer: (500, "result_unknown"),
        end: "CONFIRMED",
        ledger: &["authorization", "booking", "capture"],
    },
    Case {
        hotel: "BOOK_500",
        answer: (500, "result_unknown"),
        end: "CONFIRMED",
        ledger: &["authorization", "booking", "capture"],
    },
];

async fn booking_at_each_scenario_hotel_ends_as_specified(database: Database) {
    let server = server(database).await;
    let client = server.client();
    for case in CASES {
        let (booking, reply) = HotelBookingBuilder::at(case.hotel).book(&client).await;
        let (status, word) = case.answer;
        assert_eq!(reply.status, status, "{}: {:#}", case.hotel, reply.body);
        if status < 300 {
            assert_eq!(reply.data()["status"], word, "{}", case.hotel);
        } else {
            reply.expect_problem(status, word);
        }
        let ended = client.wait_for_hotel_booking(&booking, case.end).await;
        if case.end == "FAILED" {
            assert_eq!(ended["failure"]["code"], "book_failed", "{}", case.hotel);
        }
        let what = format!("{} to leave {:?} in the ledger", case.hotel, case.ledger);
        eventually(&what, async || {
            (server.ledger().await.kinds_of(&booking) == case.ledger).then_some(())
        })
        .await;
    }
}

async fn confirmed_booking_contains_all_fields(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let (id, reply) = HotelBookingBuilder::at("OK").rooms(2).book(&client).await;
    let _confirmed = reply.expect(200);
    let captured = "the payment to be captured";
    let booking = eventually(captured, async || {
        Some(client.hotel_booking(&id).await)
            .filter(|booking| booking["payments"][0]["status"] == "CAPTURED")
    })
    .await;
    assert_eq!(
        (
            booking["total"]["amount"].as_f64(),
            booking["total"]["currency"].as_str()
        ),
        (Some(520.0), Some("EUR"))
    );
    assert_eq!(booking["rooms"].as_array().unwrap().len(), 2);
    for (position, room) in booking["rooms"].as_array().unwrap().iter().enumerate() {
        assert_eq!(room["position"], position);
        assert_eq!(room["board"], "BED_AND_BREAKFAST");
        assert_eq!(room["guests"][0]["is_lead"], true);
    }
    assert_eq!(booking["payments"][0]["cards"][0]["brand"], "VISA");
    assert!(booking["confirmed_at"].as_str().unwrap().ends_with('Z'));
    for absent in ["canceled_at", "due_at_property", "loyalty"] {
        assert!(booking[absent].is_null(), "{absent} is {}", booking[absent]);
    }
    let listed = client.get("/v1/hotel/bookings").await.expect(200);
    assert!(
        listed.data()[0]["payments"][0].get("cards").is_none(),
        "only a single booking lists its cards"
    );
    assert_eq!(
        listed.body["meta"],
        json!({"limit": 25, "offset": 0, "has_more": false})
    );
}

async fn repeated_book_returns_confirmed_and_changes_nothing(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let (booking, reply) = HotelBookingBuilder::at("OK").book(&client).await;
    let _confirmed = reply.expect(200);
    let instrument = HotelBookingBuilder::at("OK").instrument(&client).await;
    let path = format!("/v1/hotel/bookings/{booking}/book");
    for _ in 0..3 {
        let again = client
            .post(&path, &json!({"payment_instrument_id": instrument}))
            .await
            .expect(200);
        assert_eq!(again.data()["status"], "CONFIRMED");
    }
    let ledger = server.ledger().await;
    assert_eq!(
        (
            ledger.count(&booking, "booking"),
            ledger.count(&booking, "authorization")
        ),
        (1, 1)
    );
}

async fn sixty_four_concurrent_book_calls_make_one_booking_and_one_charge(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let booking = HotelBookingBuilder::at("OK").prebooked(&client).await;
    let body =
        json!({"payment_instrument_id": HotelBookingBuilder::at("OK").instrument(&client).await});
    let path = format!("/v1/hotel/bookings/{booking}/book");
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..64 {
        let (client, path, body) = (client.clone(), path.clone(), body.clone());
        calls.spawn(async move { client.post(&path, &body).await });
    }
    while let Some(reply) = calls.join_next().await {
        assert_eq!(reply.unwrap().expect(200).data()["status"], "CONFIRMED");
    }
    let ledger = server.ledger().await;
    assert_eq!(
        (
            ledger.count(&booking, "booking"),
            ledger.count(&booking, "authorization")
        ),
        (1, 1)
    );
}

async fn book_with_unknown_outcome_stays_unknown_and_is_not_resent(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let (booking, reply) = HotelBookingBuilder::at("BOOK_NEVER_KNOWN")
        .book(&client)
        .await;
    assert_eq!(
        reply.expect_problem(500, "result_unknown").body["retryable"],
        false
    );
    let body =
        json!({"payment_instrument_id": HotelBookingBuilder::at("OK").instrument(&client).await});
    let again = client
        .post(&format!("/v1/hotel/bookings/{booking}/book"), &body)
        .await;
    again.expect_problem(500, "result_unknown");
    assert_eq!(
        client.hotel_booking(&booking).await["status"],
        "COMPLETE_IN_PROGRESS"
    );
    assert_eq!(server.ledger().await.count(&booking, "authorization"), 1);
}

async fn expired_offer_expires_its_booking(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let booking = HotelBookingBuilder::at("EXPIRES_SOON")
        .prebooked(&client)
        .await;
    let expired = client.wait_for_hotel_booking(&booking, "EXPIRED").await;
    assert_eq!(expired["payments"], json!([]));
    let body =
        json!({"payment_instrument_id": HotelBookingBuilder::at("OK").instrument(&client).await});
    let late = client
        .post(&format!("/v1/hotel/bookings/{booking}/book"), &body)
        .await;
    assert_eq!(
        late.expect_problem(409, "booking_state_conflict").body["booking_status"],
        "EXPIRED"
    );
}

async fn booking_list_is_newest_first_and_filtered_exactly(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.insert(0, HotelBookingBuilder::at("OK").prebooked(&client).await);
    }
    let listed = async |query: &str| {
        let reply = client
            .get(&format!("/v1/hotel/bookings{query}"))
            .await
            .expect(200);
        let ids = reply
            .data()
            .as_array()
            .unwrap()
            .iter()
            .map(|booking| booking["id"].as_str().unwrap().to_owned());
        (
            ids.collect::<Vec<_>>(),
            reply.body["meta"]["has_more"].as_bool().unwrap(),
        )
    };
    assert_eq!(listed("").await, (ids.clone(), false));
    assert_eq!(listed("?limit=2").await, (ids[..2].to_vec(), true));
    assert_eq!(
        listed("?limit=2&offset=1").await,
        (ids[1..].to_vec(), false)
    );
    assert_eq!(listed("?status=CONFIRMED").await, (vec![], false));
    assert_eq!(listed("?reference_id=none").await, (vec![], false));
}

/// Sends every call about a booking as `client`. Returns the refusals without their request ids.
async fn refused_calls(client: &Client, booking: &str) -> Vec<Value> {
    let at = |rest: &str| format!("/v1/hotel/bookings/{booking}{rest}");
    let card = json!({"payment_instrument_id": client.store_card("tok_visa").await});
    let replies = [
        client.get(&at("")).await,
        client.get(&at("/weather")).await,
        client.get(&at("/cancellation-quote")).await,
        client.post(&at("/book"), &card).await,
        client.post(&at("/book"), &json!({})).await,
        client.post(&at("/cancel"), &json!({})).await,
    ];
    let same = replies.map(|reply| {
        let mut body = reply.expect_problem(404, "booking_not_found").body;
        body.as_object_mut().unwrap().remove("request_id");
        body
    });
    same.to_vec()
}

async fn booking_is_hidden_from_other_users_and_organizations(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let ready = HotelBookingBuilder::at("OK").prebooked(&client).await;
    let booked = HotelBookingBuilder::at("OK").book_confirmed(&client).await;
    let unknown = refused_calls(&client, "bkg_00000000000000000000000000000000").await;
    for stranger in [client.user("stranger"), server.client_for("acme").await] {
        for booking in [&ready, &booked] {
            assert_eq!(refused_calls(&stranger, booking).await, unknown);
        }
        let listed = stranger.get("/v1/hotel/bookings").await.expect(200);
        assert_eq!(*listed.data(), json!([]));
    }
    for (booking, status) in [(&ready, "READY_FOR_COMPLETE"), (&booked, "CONFIRMED")] {
        assert_eq!(client.hotel_booking(booking).await["status"], status);
    }
}

/// Checks that an operator can resolve an unknown outcome and that the payment follows.
async fn operator_resolves_a_booking_with_unknown_outcome(database: Database) {
    let server = server(database).await;
    let client = server.client();
    let operator = AdminClient::of(&server);
    for (settlement, end, money) in [
        (
            json!({"outcome": "done", "supplier_reference": "LDG-1"}),
            "CONFIRMED",
            "capture",
        ),
        (json!({"outcome": "not_done"}), "FAILED", "void"),
    ] {
        let (booking, reply) = HotelBookingBuilder::at("BOOK_NEVER_KNOWN")
            .book(&client)
            .await;
        reply.expect_problem(500, "result_unknown");
        assert!(operator.has_unresolved_call(&booking, "book").await);
        let settled = operator
            .resolve_when_idle(&booking, &settlement)
            .await
            .expect(200);
        assert_eq!(settled.data()["status"], end);
        eventually("the payment to follow", async || {
            (server.ledger().await.count(&booking, money) == 1).then_some(())
        })
        .await;
        assert_eq!(client.hotel_booking(&booking).await["status"], end);
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
        let (booking, reply) = HotelBookingBuilder::at("BOOK_LOST_ANSWER")
            .book(&client)
            .await;
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
    let begun = operator.retry_parked_jobs(&json!({"subject": one})).await;
    assert_eq!(begun.len(), 1, "{begun:?}");
    client.wait_for_hotel_booking(one, "CONFIRMED").await;
    for other in others {
        assert!(operator.parked_job(other).await.is_some());
    }
    assert_eq!(
        operator.retry_parked_jobs(&json!({})).await.len(),
        others.len()
    );
    for other in others {
        client.wait_for_hotel_booking(other, "CONFIRMED").await;
        assert_eq!(operator.parked_job(other).await, None);
    }
}

on_both_databases! {
    booking_at_each_scenario_hotel_ends_as_specified,
    sixty_four_concurrent_book_calls_make_one_booking_and_one_charge,
    confirmed_booking_contains_all_fields,
    repeated_book_returns_confirmed_and_changes_nothing,
    book_with_unknown_outcome_stays_unknown_and_is_not_resent,
    expired_offer_expires_its_booking,
    booking_list_is_newest_first_and_filtered_exactly,
    booking_is_hidden_from_other_users_and_organizations,
    operator_resolves_a_booking_with_unknown_outcome,
    operator_retries_parked_jobs,
}
