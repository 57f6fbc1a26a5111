//! Tests of a flight booking's fields and its visibility.

use super::resource_assertions::{check_instant, check_local, check_names};
use serde_json::{Value, json};
use tests::{
    Database, FlightBookingBuilder, Server, merged, money, on_both_databases, passenger,
    prebook_flight_request,
};

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
        // Only Skylane states the numbers of its tickets.
        let of_ticket = match supplier {
            "SUPPLIER_A" => &["airline_pnr", "documents"][..],
            _ => &["airline_pnr"],
        };
        check_names("answered", answered.data(), &ALWAYS, of_ticket);
        let ticket = client.flight_booking(&id).await;
        check_names("confirmed", &ticket, &ALWAYS, of_ticket);
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
        client.cancel_flight(&id).await.expect(202);
        let canceled = client.wait_for_flight_booking(&id, "CANCELED").await;
        let more = [of_ticket, &["cancellation"]].concat();
        check_names("canceled", &canceled, &ALWAYS, &more);
        check_instant(&canceled["canceled_at"]);
        let way = FlightBookingBuilder::on("LHR-LGW").at(supplier);
        let (failed, _) = way.book(&server).await;
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
        ("total_amount", 840.0),
        ("fare_amount", 672.0),
        ("fare_tax_amount", 168.0),
        ("services_amount", 0.0),
    ] {
        assert_eq!(booking[member], money(amount, "EUR"), "{member}");
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
    let penalty = money(50.0, "EUR");
    let refund = json!({"allowed": true, "penalty": penalty});
    let policy = json!({"refundable": true, "penalty": penalty});
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
    let ends = [&journey["origin"], &journey["destination"]];
    assert_eq!(ends, ["LHR", "JFK"]);
    assert_eq!(journey["stops"], 0);
    assert_eq!(journey["fare_brand"], "Economy Flex");
    let segment = &journey["segments"][0];
    let mut of_segment = vec![
        "marketing_flight",
        "marketing_carrier",
        "marketing_carrier_logo_url",
        "operating_carrier",
        "operating_carrier_logo_url",
        "passengers",
    ];
    if booking["supplier"] == "SUPPLIER_A" {
        of_segment.extend(["origin_terminal", "destination_terminal"]);
    }
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

/// The supplier states tickets, terminals and bags for sale by version 1.1 of its interface. The bags
/// are offered with the fare and are not stored.
async fn details_of_a_ticket_are_shown_and_kept(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let way = FlightBookingBuilder::on("LHR-JFK").passengers(two_adults());
    let offer = way.offer(&client).await;
    let request = prebook_flight_request(&offer, &two_adults());
    let prebook = client.prebook_flight("details", &request).await.expect(201);
    let ready = prebook.data();
    let passengers = ready["passengers"].as_array().unwrap();
    let passengers: Vec<&Value> = passengers.iter().map(|one| &one["id"]).collect();
    let segment = &ready["journeys"][0]["segments"][0];
    assert_eq!(segment["destination_terminal"], "5");
    let bags = prebook.body["meta"]["available_services"]
        .as_array()
        .unwrap();
    assert_eq!(bags.len(), 2);
    let bag = json!({
        "type": "BAGGAGE",
        "passenger_ids": [passengers[1]],
        "segment_ids": [segment["id"]],
        "baggage": {"type": "CHECKED", "max_weight_kg": 23, "pieces": 1},
        "unit_amount": money(60.0, "EUR"),
        "max_quantity": 1,
    });
    assert_eq!(bags[1], bag);
    let replayed = client.prebook_flight("details", &request).await.expect(200);
    let meta = &replayed.body["meta"];
    assert!(meta.get("available_services").is_none(), "{meta}");

    let id = ready["id"].as_str().unwrap();
    let payment = way.payment(&client).await;
    client.book_flight(id, &payment).await.expect(200);
    let ticket = client.flight_booking(id).await;
    let documents = ticket["documents"].as_array().unwrap();
    let kinds = documents.iter().map(|document| &document["type"]);
    assert!(kinds.eq(["ELECTRONIC_TICKET"; 2].iter()), "{documents:?}");
    assert_eq!(documents[0]["number"].as_str().unwrap().len(), 13);
    assert_eq!(documents[1]["passenger_ids"], json!([passengers[1]]));
    // Skylane states a cancellation by version 1.0, without details.
    client.cancel_flight(id).await.expect(202);
    let canceled = client.wait_for_flight_booking(id, "CANCELED").await;
    for kept in ["documents", "journeys"] {
        assert_eq!(canceled[kept], ticket[kept], "{kept}");
    }
}

async fn flight_booking_returns_the_callers_reference(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let client = server.client();
    let way = FlightBookingBuilder::on("LHR-JFK");
    let request = way.request(&way.offer(&client).await);
    let request = merged(request, json!({"reference_id": "trip-4711"}));
    let bound = client.prebook_flight("named", &request).await.expect(201);
    let read = client
        .flight_booking(bound.data()["id"].as_str().unwrap())
        .await;
    assert_eq!(read["reference_id"], "trip-4711");
    assert_eq!(
        *bound.data(),
        read,
        "the response equals the booking as read"
    );
}

on_both_databases! {
    details_of_a_ticket_are_shown_and_kept,
    flight_booking_contains_all_fields_in_every_status,
    flight_booking_returns_the_callers_reference,
}
