//! Tests of flight prebook: one booking per key, one unfinished booking per offer, and only for the
//! passengers that were priced.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::{
    Database, FlightBookingBuilder, Server, complete_payment, days_ahead, on_both_databases,
    passenger, prebook_flight_request, trip,
};

const SUPPLIERS: [&str; 2] = ["SUPPLIER_A", "SUPPLIER_B"];

async fn concurrent_prebooks_with_one_key_make_one_booking(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for supplier in SUPPLIERS {
        let way = FlightBookingBuilder::on("LHR-JFK").at(supplier);
        let request = way.request(&way.offer(&client).await);
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..64 {
            let (client, request) = (client.clone(), request.clone());
            calls.spawn(async move { client.prebook_flight(supplier, &request).await });
        }
        let (mut ids, mut fresh) = (BTreeSet::new(), 0);
        while let Some(reply) = calls.join_next().await {
            let reply = reply.unwrap();
            assert!(matches!(reply.status, 200 | 201), "{:#}", reply.body);
            assert_eq!(reply.data()["status"], "READY_FOR_COMPLETE");
            fresh += usize::from(reply.status == 201);
            ids.insert(reply.data()["id"].as_str().unwrap().to_owned());
        }
        assert_eq!((ids.len(), fresh), (1, 1), "{supplier}");
    }
    let listed = client.get("/v1/flight/bookings").await.expect(200);
    assert_eq!(listed.body["meta"]["pagination"]["total"], 2);
}

async fn idempotency_key_is_bound_to_one_request_and_one_user(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let way = FlightBookingBuilder::on("LHR-JFK").at("SUPPLIER_B");
    let request = way.request(&way.offer(&client).await);
    let first = client.prebook_flight("order", &request).await.expect(201);
    let spaced = serde_json::to_string_pretty(&request).unwrap().into_bytes();
    let with_key = client.header("x-idempotency-key", "order");
    let same = with_key.post_bytes("/v1/flight/prebook", spaced).await;
    assert_eq!(
        same.expect(200).data(),
        first.data(),
        "white space in the body does not matter"
    );
    for (pointer, value) in [
        ("/reference_id", json!("trip-9")),
        ("/use_payment_sdk", json!(true)),
        ("/contact/phone", json!("+442079460001")),
    ] {
        let mut other = request.clone();
        let (parent, member) = pointer.rsplit_once('/').unwrap();
        other.pointer_mut(parent).unwrap()[member] = value;
        let reused = client.prebook_flight("order", &other).await;
        reused.expect_problem(422, "idempotency_key_reused");
    }
    let another = client
        .user("somebody-else")
        .prebook_flight("order", &request)
        .await;
    assert_ne!(another.expect(201).data()["id"], first.data()["id"]);
    let unkeyed = client.post("/v1/flight/prebook", &request).await;
    let unkeyed = unkeyed.expect_problem(400, "validation_failed");
    assert_eq!(unkeyed.body["errors"][0]["in"], "header");
}

/// A repeated request returns the booking in its current state.
async fn replay_of_prebook_returns_current_booking(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let way = FlightBookingBuilder::on("LHR-JFK");
    let request = way.request(&way.offer(&client).await);
    let first = client.prebook_flight("order", &request).await.expect(201);
    let id = first.data()["id"].as_str().unwrap();
    let payment = way.payment(&client).await;
    let _booked = client.book_flight(id, &payment).await.expect(200);
    let again = client.prebook_flight("order", &request).await.expect(200);
    assert_eq!(again.data()["id"], id);
    assert_eq!(again.data()["status"], "CONFIRMED");
    let ledger = server.ledger().await;
    assert_eq!(ledger.count(id, "booking"), 1);
}

/// `SUPPLIER_A` allows one unfinished booking per offer. A refused prebook does not consume its
/// key.
async fn offer_with_unfinished_booking_returns_409_offer_in_use(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for (route, finish) in [("LHR-JFK", 200), ("LHR-LGW", 422)] {
        let way = FlightBookingBuilder::on(route);
        let request = way.request(&way.offer(&client).await);
        let key = |name: &str| format!("{route}-{name}");
        let first = client
            .prebook_flight(&key("first"), &request)
            .await
            .expect(201);
        let id = first.data()["id"].as_str().unwrap();
        for user in ["org", "somebody-else"] {
            let held = client
                .user(user)
                .prebook_flight(&key("second"), &request)
                .await;
            let held = held.expect_problem(409, "offer_in_use");
            assert_eq!(held.body["retryable"], false);
        }
        let again = client
            .prebook_flight(&key("first"), &request)
            .await
            .expect(200);
        assert_eq!(again.data()["id"], id);
        let payment = way.payment(&client).await;
        let finished = client.book_flight(id, &payment).await;
        assert_eq!(finished.status, finish, "{route}: {:#}", finished.body);
        let second = client
            .prebook_flight(&key("second"), &request)
            .await
            .expect(201);
        assert_ne!(second.data()["id"], id);
    }
    // A failed prebook does not lock the offer.
    let way = FlightBookingBuilder::on("JFK-EWR");
    let request = way.request(&way.offer(&client).await);
    for key in ["dearer", "dearer still"] {
        let dearer = client.prebook_flight(key, &request).await;
        dearer.expect_problem(409, "offer_price_changed");
    }
    // The other supplier accepts any number of bookings per offer.
    let way = FlightBookingBuilder::on("LHR-JFK").at("SUPPLIER_B");
    let request = way.request(&way.offer(&client).await);
    for key in ["one", "two"] {
        let _bound = client.prebook_flight(key, &request).await.expect(201);
    }
}

async fn prebook_of_foreign_or_forged_offer_returns_422(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let stranger = server.client_for("acme").await;
    let way = FlightBookingBuilder::on("LHR-JFK");
    let offer = way.offer(&client).await;
    let mut bent = offer.clone();
    let at = bent.len() / 2;
    let sign = if bent.as_bytes()[at] == b'a' {
        "b"
    } else {
        "a"
    };
    bent.replace_range(at..=at, sign);
    for (client, offer) in [
        (&stranger, offer.as_str()),
        (&client, bent.as_str()),
        (&client, "nonsense"),
    ] {
        let refused = client.prebook_flight("not-mine", &way.request(offer)).await;
        refused.expect_problem(422, "offer_invalid");
    }
}

/// The supplier and the booking both show the price reduced by a tenth.
async fn loyalty_number_lowers_the_total(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for supplier in SUPPLIERS {
        let loyal = |number: &str| json!({"loyalty_accounts": [{"airline_iata_code": "BA", "membership_number": number}]});
        for (number, total) in [("ZZ-10", 378.0), ("10023456", 420.0)] {
            let way = FlightBookingBuilder::on("LHR-JFK").at(supplier);
            let way = way.passengers(vec![passenger(loyal(number))]);
            let booking = way.book_confirmed(&server).await;
            let booked = client.flight_booking(&booking).await;
            let euros = |amount: f64| {
                let (fare, tax) = (amount * 0.8, amount * 0.2);
                [amount, fare, tax]
            };
            let amounts = ["total_amount", "fare_amount", "fare_tax_amount"]
                .map(|member| booked[member]["amount"].as_f64().unwrap());
            assert_eq!(
                amounts.map(|amount| (amount * 100.0).round()),
                euros(total).map(|amount| (amount * 100.0).round()),
                "{supplier} {number}"
            );
            let ledger = server.ledger().await;
            assert_eq!(ledger.sum(&booking, "booking"), total);
            if supplier == "SUPPLIER_A" {
                assert_eq!(ledger.sum(&booking, "authorization"), total);
            }
        }
    }
}

/// Returns passengers that do not fit a fare for one adult, each with the pointer of the first
/// violation.
fn wrong_passengers() -> Vec<(Vec<Value>, &'static str)> {
    let ada = || passenger(json!({}));
    let young = |kind: &str, born: &str| passenger(json!({"type": kind, "date_of_birth": born}));
    let (child, infant) = (days_ahead(-7 * 365), days_ahead(-200));
    let account = json!({"airline_iata_code": "BA", "membership_number": "1"});
    vec![
        (vec![], "/passengers"),
        (vec![ada(), ada()], "/passengers"),
        (vec![young("CHILD", &child)], "/passengers"),
        (vec![ada(), young("INFANT", &infant)], "/passengers"),
        (vec![young("ADULT", &child)], "/passengers/0/date_of_birth"),
        (
            vec![young("ADULT", &days_ahead(1))],
            "/passengers/0/date_of_birth",
        ),
        (
            vec![passenger(json!({"gender": "Q"}))],
            "/passengers/0/gender",
        ),
        (
            vec![passenger(json!({"nationality": "ZZ"}))],
            "/passengers/0/nationality",
        ),
        (
            vec![passenger(json!({"title": "LORD"}))],
            "/passengers/0/title",
        ),
        (
            vec![passenger(json!({"first_name": ""}))],
            "/passengers/0/first_name",
        ),
        (vec![passenger(json!({"seat": "1A"}))], "/passengers/0/seat"),
        (
            vec![passenger(
                json!({"loyalty_accounts": [account.clone(), account]}),
            )],
            "/passengers/0/loyalty_accounts/1",
        ),
    ]
}

async fn prebook_with_other_passengers_than_priced_returns_400(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let way = FlightBookingBuilder::on("LHR-JFK");
    let offer = way.offer(&client).await;
    for (passengers, pointer) in wrong_passengers() {
        let mut request = way.request(&offer);
        request["passengers"] = json!(passengers);
        let wrong = client.prebook_flight("wrong", &request).await;
        let wrong = wrong.expect_problem(400, "validation_failed");
        assert_eq!(
            wrong.body["errors"][0]["pointer"], pointer,
            "{:#}",
            wrong.body
        );
    }
    for (member, value) in [
        (
            "contact",
            json!({"email": "nonsense", "phone": "+442079460000"}),
        ),
        (
            "contact",
            json!({"email": "ada@example.org", "phone": "12"}),
        ),
        ("seats", json!([])),
        ("reference_id", json!("")),
    ] {
        let mut request = way.request(&offer);
        request[member] = value;
        let wrong = client.prebook_flight("wrong", &request).await;
        wrong.expect_problem(400, "validation_failed");
    }
    // The failed requests did not consume the key.
    let right = client.prebook_flight("wrong", &way.request(&offer)).await;
    assert_eq!(right.expect(201).data()["status"], "READY_FOR_COMPLETE");
}

async fn prebook_requires_documents_if_the_fare_does(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let document = |expires_on: &str| json!({"type": "PASSPORT", "number": "X1234567", "issuing_country": "GB", "expires_on": expires_on});
    for supplier in SUPPLIERS {
        let way = FlightBookingBuilder::on("LHR-ORD").at(supplier);
        let offer = way.offer(&client).await;
        let request = |passenger: Value| {
            let mut request = way.request(&offer);
            request["passengers"] = json!([passenger]);
            request
        };
        for (passenger, pointer) in [
            (passenger(json!({})), "/passengers/0/document"),
            (
                passenger(json!({"document": document(&days_ahead(-1))})),
                "/passengers/0/document/expires_on",
            ),
        ] {
            let wrong = client.prebook_flight(supplier, &request(passenger)).await;
            let wrong = wrong.expect_problem(400, "validation_failed");
            assert_eq!(wrong.body["errors"][0]["pointer"], pointer);
        }
        let whole = passenger(json!({"document": document("2040-05-31")}));
        let bound = client.prebook_flight(supplier, &request(whole)).await;
        assert_eq!(bound.expect(201).data()["status"], "READY_FOR_COMPLETE");
    }
}

/// Passengers may be listed in any order. The total is the sum of their individual prices.
async fn family_is_booked_in_any_passenger_order(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let born = |kind: &str, name: &str, days: i64| {
        passenger(json!({"type": kind, "first_name": name, "date_of_birth": days_ahead(-days)}))
    };
    let family = [
        born("INFANT", "Ralph", 300),
        born("CHILD", "Annabella", 7 * 366),
        born("ADULT", "Ada", 30 * 366),
        born("ADULT", "William", 31 * 366),
    ];
    for supplier in SUPPLIERS {
        let priced = json!({"supplier": supplier, "passengers": {"adults": 2, "children": [7], "infants": 1}});
        let offers = client
            .post("/v1/flight/offers", &trip("LHR-JFK", priced))
            .await;
        let offers = offers.expect(200);
        let offer = offers.data()[1]["offer_reference"].as_str().unwrap();
        let request = prebook_flight_request(offer, &family);
        let bound = client.prebook_flight(supplier, &request).await.expect(201);
        assert_eq!(bound.data()["total_amount"]["amount"], 1197, "{supplier}");
        let passengers = bound.data()["passengers"].as_array().unwrap().iter();
        let names: Vec<&str> = passengers
            .map(|passenger| passenger["first_name"].as_str().unwrap())
            .collect();
        assert_eq!(
            names,
            ["Ralph", "Annabella", "Ada", "William"],
            "{supplier}: in the order of the request"
        );
        if let Some(token) = bound.body["meta"]["checkout"]["token"].as_str() {
            complete_payment(&server.sandbox_url, token).await;
        }
        let payment = FlightBookingBuilder::on("LHR-JFK")
            .at(supplier)
            .payment(&client)
            .await;
        let id = bound.data()["id"].as_str().unwrap();
        let booked = client.book_flight(id, &payment).await.expect(200);
        assert_eq!(booked.data()["status"], "CONFIRMED", "{supplier}");
        assert_eq!(server.ledger().await.sum(id, "booking"), 1197.0);
    }
}

on_both_databases! {
    family_is_booked_in_any_passenger_order,
    concurrent_prebooks_with_one_key_make_one_booking,
    idempotency_key_is_bound_to_one_request_and_one_user,
    replay_of_prebook_returns_current_booking,
    offer_with_unfinished_booking_returns_409_offer_in_use,
    prebook_of_foreign_or_forged_offer_returns_422,
    loyalty_number_lowers_the_total,
    prebook_with_other_passengers_than_priced_returns_400,
    prebook_requires_documents_if_the_fare_does,
}
