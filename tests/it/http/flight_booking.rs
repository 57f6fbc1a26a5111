//! Tests of a flight booking's fields and its visibility.

use super::shape::{check_instant, check_local, check_names};
use serde_json::{Value, json};
use tests::{Client, Database, FlightBookingBuilder, Server, on_both_databases, passenger};

const SUPPLIERS: [&str; 2] = ["SUPPLIER_A", "SUPPLIER_B"];

/// Fields that are present in every status, with or without a value.
const ALWAYS: [&str; 20] = [
    "id",
    "reference_id",
    "supplier",
    "status",
    "total_amount",
    "fare_amount",
    "fare_tax_amount",
    "services_amount",
    "services",
    "payments",
    "cancellation_policy",
    "fare_conditions",
    "passengers",
    "journeys",
    "supplier_reference",
    "confirmed_at",
    "canceled_at",
    "airline_initiated_changes",
    "created_at",
    "updated_at",
];

fn euros(amount: u32) -> Value {
    json!({"amount": amount, "currency": "EUR"})
}

fn two_adults() -> Vec<Value> {
    let account = json!({"airline_iata_code": "BA", "membership_number": "10023456"});
    vec![
        passenger(json!({"loyalty_accounts": [account]})),
        passenger(json!({"first_name": "Byron", "gender": "M", "title": "MR"})),
    ]
}

async fn flight_booking_contains_all_fields_in_every_status(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    for supplier in SUPPLIERS {
        let way = FlightBookingBuilder::on("LHR-JFK")
            .at(supplier)
            .passengers(two_adults());
        let id = way.prebooked(&server).await;
        let ready = client.flight_booking(&id).await;
        check_names("ready", &ready, &ALWAYS, &["expires_at"]);
        check_ready(&ready, &id, supplier);
        check_itinerary(&ready);
        let payment = way.payment(&client).await;
        let answered = client.book_flight(&id, &payment).await.expect(200);
        check_names("answered", answered.data(), &ALWAYS, &["airline_pnr"]);
        let ticket = client.flight_booking(&id).await;
        check_names("confirmed", &ticket, &ALWAYS, &["airline_pnr"]);
        for text in ["supplier_reference", "airline_pnr"] {
            assert!(ticket[text].is_string(), "{text}");
        }
        check_instant(&ticket["confirmed_at"]);
        // Passengers, journeys and other parts keep their ids.
        for part in ["passengers", "journeys", "fare_conditions", "created_at"] {
            assert_eq!(ticket[part], ready[part], "{supplier}: {part}");
        }
        let method = match supplier {
            "SUPPLIER_A" => &["payment_method"][..],
            _ => &[],
        };
        let of_payment = ["id", "status", "amount", "collected_by", "created_at"];
        check_names("payment", &ticket["payments"][0], &of_payment, method);
        let _begun = client.cancel_flight(&id).await.expect(202);
        let canceled = client.wait_for_flight_booking(&id, "CANCELED").await;
        let more = ["airline_pnr", "cancellation"];
        check_names("canceled", &canceled, &ALWAYS, &more);
        check_instant(&canceled["canceled_at"]);
        let (failed, _refused) = FlightBookingBuilder::on("LHR-LGW")
            .at(supplier)
            .book(&server)
            .await;
        let failed = client.flight_booking(&failed).await;
        check_names("failed", &failed, &ALWAYS, &["failure"]);
        check_names("failure", &failed["failure"], &["code", "description"], &[]);
    }
}

fn check_ready(booking: &Value, id: &str, supplier: &str) {
    assert_eq!(booking["id"], id);
    assert_eq!(booking["supplier"], supplier);
    assert_eq!(booking["status"], "READY_FOR_COMPLETE");
    for (member, amount) in [
        ("total_amount", 840),
        ("fare_amount", 672),
        ("fare_tax_amount", 168),
        ("services_amount", 0),
    ] {
        assert_eq!(booking[member], euros(amount), "{member}");
    }
    for empty in ["services", "payments", "airline_initiated_changes"] {
        assert_eq!(booking[empty], json!([]), "{empty}");
    }
    for null in [
        "reference_id",
        "supplier_reference",
        "confirmed_at",
        "canceled_at",
    ] {
        assert_eq!(booking[null], json!(null), "{null}");
    }
    for instant in ["created_at", "updated_at", "expires_at"] {
        check_instant(&booking[instant]);
    }
    assert!(booking["expires_at"].as_str() > booking["created_at"].as_str());
    let refund = json!({"allowed": true, "penalty": euros(50)});
    let policy = json!({"refundable": true, "penalty": euros(50)});
    assert_eq!(booking["cancellation_policy"], policy);
    assert_eq!(booking["fare_conditions"]["refund"], refund);
    assert_eq!(booking["fare_conditions"]["change"]["allowed"], true);
}

fn check_itinerary(booking: &Value) {
    let passengers = booking["passengers"].as_array().unwrap();
    for passenger in passengers {
        let members = ["id", "first_name", "last_name", "loyalty_accounts"];
        check_names("passenger", passenger, &members, &[]);
        assert!(passenger["id"].as_str().unwrap().starts_with("psg_"));
    }
    assert_eq!(passengers[0]["first_name"], "Ada");
    let masked = json!([{"airline_iata_code": "BA", "membership_number": "****3456"}]);
    assert_eq!(passengers[0]["loyalty_accounts"], masked);
    assert_eq!(passengers[1]["loyalty_accounts"], json!([]));
    let journey = &booking["journeys"][0];
    let common = [
        "id",
        "origin",
        "destination",
        "departure_time",
        "arrival_time",
        "duration_minutes",
    ];
    let of_journey = ["direction", "fare_brand", "stops", "segments"];
    check_names("journey", journey, &common, &of_journey);
    assert_eq!(journey["direction"], "OUTBOUND");
    assert_eq!(
        [&journey["origin"], &journey["destination"]],
        ["LHR", "JFK"]
    );
    assert_eq!(journey["stops"], 0);
    assert_eq!(journey["fare_brand"], "Economy Flex");
    let segment = &journey["segments"][0];
    let of_segment = [
        "marketing_flight",
        "marketing_carrier",
        "marketing_carrier_logo_url",
        "operating_carrier",
        "operating_carrier_logo_url",
        "passengers",
    ];
    check_names("segment", segment, &common, &of_segment);
    for part in [journey, segment] {
        check_local(&part["departure_time"]);
        check_local(&part["arrival_time"]);
        assert!(part["duration_minutes"].as_u64() > Some(0));
    }
    let seats = segment["passengers"].as_array().unwrap();
    for (seat, passenger) in seats.iter().zip(passengers) {
        let shape = json!({
            "passenger_id": passenger["id"], "cabin_class": "ECONOMY", "cabin_name": seat["cabin_name"],
            "checked_bags": 1, "carry_on_bags": 1,
        });
        assert_eq!(*seat, shape);
    }
    assert_eq!(seats.len(), 2);
}

async fn flight_booking_returns_the_callers_reference(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let way = FlightBookingBuilder::on("LHR-JFK");
    let mut request = way.request(&way.offer(&client).await);
    request["reference_id"] = json!("trip-4711");
    let bound = client.prebook_flight("named", &request).await;
    let bound = bound.expect(201);
    assert_eq!(bound.data()["reference_id"], "trip-4711");
    let id = bound.data()["id"].as_str().unwrap();
    let read = client.flight_booking(id).await;
    assert_eq!(read["reference_id"], "trip-4711");
    assert_eq!(
        read,
        *bound.data(),
        "the prebook response equals the booking as read"
    );
}

/// Sends every call about a booking as `client`. Returns the refusals without their request ids.
async fn refused_calls(client: &Client, booking: &str) -> Vec<Value> {
    let at = |rest: &str| format!("/v1/flight/bookings/{booking}{rest}");
    let card = json!({"payment_instrument_id": client.store_card("tok_visa").await});
    let bag = json!([{"id": "svc_00000000000000000000000000000000", "quantity": 1}]);
    let mut bags = card.clone();
    bags["services"] = bag;
    let replies = [
        client.get(&at("")).await,
        client.book_flight(booking, &card).await,
        client.book_flight(booking, &json!({})).await,
        client.cancel_flight(booking).await,
        client.get(&at("/cancellation-quote")).await,
        client.bags_for_sale(booking).await,
        client.purchase_bags(booking, "bags", &bags).await,
    ];
    let same = replies.map(|reply| {
        let mut body = reply.expect_problem(404, "booking_not_found").body;
        let members = body.as_object_mut().unwrap();
        members.remove("request_id");
        body
    });
    same.to_vec()
}

async fn foreign_flight_booking_is_indistinguishable_from_missing_one(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let ready = FlightBookingBuilder::on("LHR-JFK").prebooked(&server).await;
    let ticket = FlightBookingBuilder::on("LHR-JFK")
        .book_confirmed(&server)
        .await;
    let unknown = refused_calls(&client, "bkg_00000000000000000000000000000000").await;
    for stranger in [
        client.user("somebody-else"),
        server.client_for("acme").await,
    ] {
        for booking in [&ready, &ticket] {
            assert_eq!(refused_calls(&stranger, booking).await, unknown);
        }
        let listed = stranger.get("/v1/flight/bookings").await.expect(200);
        assert_eq!(*listed.data(), json!([]));
        assert_eq!(listed.body["meta"]["pagination"]["total"], 0);
    }
    // A flight booking is not visible as a hotel booking.
    let hotel = client.get(&format!("/v1/hotel/bookings/{ready}")).await;
    hotel.expect_problem(404, "booking_not_found");
    assert_eq!(
        client.flight_booking(&ready).await["status"],
        "READY_FOR_COMPLETE"
    );
    assert_eq!(client.flight_booking(&ticket).await["status"], "CONFIRMED");
}

on_both_databases! {
    flight_booking_contains_all_fields_in_every_status,
    flight_booking_returns_the_callers_reference,
    foreign_flight_booking_is_indistinguishable_from_missing_one,
}
