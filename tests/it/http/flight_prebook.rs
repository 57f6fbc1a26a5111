//! Tests of flight prebook: one unfinished booking per offer, and only for the passengers that were
//! priced.

use serde_json::{Value, json};
use tests::{
    Client, Database, FlightBookingBuilder, Server, complete_payment, days_ahead, merged,
    on_both_databases, passenger, prebook_flight_request, trip,
};

const SUPPLIERS: [&str; 2] = ["SUPPLIER_A", "SUPPLIER_B"];

/// A repeated request returns the booking in its current state.
async fn replay_of_prebook_returns_current_booking(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let way = FlightBookingBuilder::on("LHR-JFK");
    let request = way.request(&way.offer(&client).await);
    let first = client.prebook_flight("order", &request).await.expect(201);
    let id = first.data()["id"].as_str().unwrap();
    let payment = way.payment(&client).await;
    client.book_flight(id, &payment).await.expect(200);
    let again = client.prebook_flight("order", &request).await;
    assert_eq!(again.outcome(), (200, "CONFIRMED"));
    assert_eq!(again.data()["id"], id);
    assert_eq!(server.ledger().await.count(id, "booking"), 1);
}

/// `SUPPLIER_A` allows one unfinished booking per offer. A refused prebook does not consume its
/// key.
async fn offer_with_unfinished_booking_returns_409_offer_in_use(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for (route, finish) in [("LHR-JFK", 200), ("LHR-LGW", 422)] {
        let way = FlightBookingBuilder::on(route);
        let request = way.request(&way.offer(&client).await);
        let prebook = async |client: &Client, key: &str| {
            let key = format!("{route}-{key}");
            client.prebook_flight(&key, &request).await
        };
        let first = prebook(&client, "first").await.expect(201);
        let id = first.data()["id"].as_str().unwrap();
        for user in ["org", "somebody-else"] {
            let held = prebook(&client.user(user), "second").await;
            let held = held.expect_problem(409, "offer_in_use");
            assert_eq!(held.body["retryable"], false);
        }
        let again = prebook(&client, "first").await.expect(200);
        assert_eq!(again.data()["id"], id);
        let payment = way.payment(&client).await;
        client.book_flight(id, &payment).await.expect(finish);
        let second = prebook(&client, "second").await.expect(201);
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
        client.prebook_flight(key, &request).await.expect(201);
    }
}

/// The supplier and the booking both show the price reduced by a tenth.
async fn loyalty_number_lowers_the_total(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for supplier in SUPPLIERS {
        let loyal = |number: &str| json!({"loyalty_accounts": [{"airline_iata_code": "BA", "membership_number": number}]});
        for (number, total, fare, tax) in [
            ("ZZ-10", 378.0, 302.4, 75.6),
            ("10023456", 420.0, 336.0, 84.0),
        ] {
            let way = FlightBookingBuilder::on("LHR-JFK").at(supplier);
            let way = way.passengers(vec![passenger(loyal(number))]);
            let booking = way.book_confirmed(&server).await;
            let booked = client.flight_booking(&booking).await;
            let amounts = ["total_amount", "fare_amount", "fare_tax_amount"]
                .map(|member| booked[member]["amount"].as_f64().unwrap());
            assert_eq!(amounts, [total, fare, tax], "{supplier} {number}");
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
    let unborn = days_ahead(1);
    let account = json!({"airline_iata_code": "BA", "membership_number": "1"});
    let twice = json!({"loyalty_accounts": [account, account]});
    let with = |more: Value| vec![passenger(more)];
    vec![
        (vec![], "/passengers"),
        (vec![ada(), ada()], "/passengers"),
        (vec![young("CHILD", &child)], "/passengers"),
        (vec![ada(), young("INFANT", &infant)], "/passengers"),
        (vec![young("ADULT", &child)], "/passengers/0/date_of_birth"),
        (vec![young("ADULT", &unborn)], "/passengers/0/date_of_birth"),
        (with(json!({"gender": "Q"})), "/passengers/0/gender"),
        (
            with(json!({"nationality": "ZZ"})),
            "/passengers/0/nationality",
        ),
        (with(json!({"title": "LORD"})), "/passengers/0/title"),
        (with(json!({"first_name": ""})), "/passengers/0/first_name"),
        (with(json!({"seat": "1A"})), "/passengers/0/seat"),
        (with(twice), "/passengers/0/loyalty_accounts/1"),
    ]
}

async fn prebook_with_other_passengers_than_priced_returns_400(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let way = FlightBookingBuilder::on("LHR-JFK");
    let offer = way.offer(&client).await;
    for (passengers, pointer) in wrong_passengers() {
        let request = prebook_flight_request(&offer, &passengers);
        let wrong = client.prebook_flight("wrong", &request).await;
        wrong.expect_violation(pointer);
    }
    let contact = |email: &str, phone: &str| json!({"contact": {"email": email, "phone": phone}});
    for change in [
        contact("nonsense", "+442079460000"),
        contact("ada@example.org", "12"),
        json!({"seats": []}),
        json!({"reference_id": ""}),
    ] {
        let request = merged(way.request(&offer), change);
        let wrong = client.prebook_flight("wrong", &request).await;
        wrong.expect_problem(400, "validation_failed");
    }
    // The failed requests did not consume the key.
    let right = client.prebook_flight("wrong", &way.request(&offer)).await;
    assert_eq!(right.outcome(), (201, "READY_FOR_COMPLETE"));
}

async fn prebook_requires_documents_if_the_fare_does(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let holder = |expires_on: &str| {
        let document = json!({"type": "PASSPORT", "number": "X1234567", "issuing_country": "GB", "expires_on": expires_on});
        passenger(json!({"document": document}))
    };
    for supplier in SUPPLIERS {
        let way = FlightBookingBuilder::on("LHR-ORD").at(supplier);
        let offer = way.offer(&client).await;
        let prebook = async |passenger: Value| {
            let request = prebook_flight_request(&offer, &[passenger]);
            client.prebook_flight(supplier, &request).await
        };
        let bare = prebook(passenger(json!({}))).await;
        bare.expect_violation("/passengers/0/document");
        let expired = prebook(holder(&days_ahead(-1))).await;
        expired.expect_violation("/passengers/0/document/expires_on");
        let bound = prebook(holder("2040-05-31")).await;
        assert_eq!(bound.outcome(), (201, "READY_FOR_COMPLETE"));
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
        let search = trip("LHR-JFK", priced);
        let offers = client.post("/v1/flight/offers", &search).await.expect(200);
        let offer = offers.data()[1]["offer_reference"].as_str().unwrap();
        let request = prebook_flight_request(offer, &family);
        let bound = client.prebook_flight(supplier, &request).await.expect(201);
        assert_eq!(bound.data()["total_amount"]["amount"], 1197, "{supplier}");
        let passengers = bound.data()["passengers"].as_array().unwrap().iter();
        let names: Vec<&Value> = passengers
            .map(|passenger| &passenger["first_name"])
            .collect();
        // They are in the order of the request.
        assert_eq!(
            names,
            ["Ralph", "Annabella", "Ada", "William"],
            "{supplier}"
        );
        if let Some(token) = bound.body["meta"]["checkout"]["token"].as_str() {
            complete_payment(&server.sandbox_url, token).await;
        }
        let way = FlightBookingBuilder::on("LHR-JFK").at(supplier);
        let payment = way.payment(&client).await;
        let id = bound.data()["id"].as_str().unwrap();
        let booked = client.book_flight(id, &payment).await;
        assert_eq!(booked.outcome(), (200, "CONFIRMED"), "{supplier}");
        assert_eq!(server.ledger().await.sum(id, "booking"), 1197.0);
    }
}

on_both_databases! {
    family_is_booked_in_any_passenger_order,
    replay_of_prebook_returns_current_booking,
    offer_with_unfinished_booking_returns_409_offer_in_use,
    loyalty_number_lowers_the_total,
    prebook_with_other_passengers_than_priced_returns_400,
    prebook_requires_documents_if_the_fare_does,
}
