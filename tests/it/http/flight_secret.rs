//! Tests of personal data: documents and membership numbers are never returned or stored in clear,
//! and the log contains no personal data.

use serde_json::{Value, json};
use tests::{Database, FlightBookingBuilder, Server, on_both_databases, passenger};

const DOCUMENT: &str = "CANARY77DOCUMENT";
const MEMBERSHIP: &str = "CANARY88MEMBER";
const FAMILY: &str = "Zebedeecanary";

fn named() -> Value {
    let document = json!({"type": "PASSPORT", "number": DOCUMENT, "issuing_country": "GB", "expires_on": "2040-05-31"});
    let account = json!({"airline_iata_code": "BA", "membership_number": MEMBERSHIP});
    passenger(json!({
        "first_name": "Quincycanary", "last_name": FAMILY, "date_of_birth": "1987-03-14",
        "document": document, "loyalty_accounts": [account],
    }))
}

/// Returns all responses about bookings in various states as text.
async fn answers(server: &Server) -> String {
    let client = server.client();
    let mut said = String::new();
    for supplier in ["SUPPLIER_A", "SUPPLIER_B"] {
        for route in ["LHR-ORD", "LHR-LGW", "LHR-STN", "JFK-EWR", "STN-LHR"] {
            let way = FlightBookingBuilder::on(route)
                .at(supplier)
                .passengers(vec![named()]);
            let mut request = way.request(&way.offer(&client).await);
            request["contact"] = json!({"email": "canary@example.org", "phone": "+442079461234"});
            let key = format!("{supplier}-{route}");
            let bound = client.prebook_flight(&key, &request).await;
            said += &bound.body.to_string();
            let again = client.prebook_flight(&key, &request).await;
            said += &again.body.to_string();
            // Error responses do not repeat the invalid values.
            request["passengers"][0]["document"]["number"] = json!(format!("{DOCUMENT}!"));
            let wrong = client.prebook_flight(&key, &request).await;
            said += &wrong.expect(400).body.to_string();
            if let Some(id) = bound.data()["id"].as_str() {
                let token = bound.body["meta"]["checkout"]["token"].as_str();
                if let Some(token) = token {
                    tests::complete_payment(&server.sandbox_url, token).await;
                }
                let payment = way.payment(&client).await;
                said += &client.book_flight(id, &payment).await.body.to_string();
                said += &client.flight_booking(id).await.to_string();
            }
        }
    }
    let listed = client.get("/v1/flight/bookings").await.expect(200);
    said + &listed.body.to_string()
}

async fn passenger_secrets_are_never_returned_stored_or_logged_in_clear(database: Database) {
    let server = Server::start_with_fast_retries(database).await;
    let said = answers(&server).await;
    let stored = server.dump_database().await;
    let logged = std::fs::read_to_string(server.data_dir().join("server.log")).unwrap();
    // The searched texts contain data at all, so that the following checks are meaningful.
    assert!(said.contains(FAMILY));
    assert!(stored.contains(FAMILY));
    assert!(logged.contains("SUPPLIER_A"));
    for secret in [DOCUMENT, MEMBERSHIP] {
        assert!(!said.contains(secret), "{secret} is in a response");
        assert!(!stored.contains(secret), "{secret} is stored");
    }
    assert!(
        !said.contains("1987-03-14"),
        "a date of birth is in a response"
    );
    for personal in [
        DOCUMENT,
        MEMBERSHIP,
        FAMILY,
        "Quincycanary",
        "canary@example.org",
        "2079461234",
        "1987-03-14",
        "tok_visa",
        server.key.as_str(),
    ] {
        assert!(!logged.contains(personal), "{personal} is logged");
    }
}

on_both_databases! {
    passenger_secrets_are_never_returned_stored_or_logged_in_clear,
}
