//! Requests as the gateway makes them, and the documents used as responses.

use duffel_flights::DuffelFlights;
use serde_json::{Value, json};
use stopover_sdk::flight_booking::{
    BookRequest, BookingLookup, FindRequest, FlightContact, PrebookRequest,
};
use stopover_sdk::flight_cancellation::{CancelRequest, QuoteRequest};
use stopover_sdk::flight_pricing::{
    Filters, PassengerCounts, PriceRequest, RequestedJourney, Sort,
};
use stopover_sdk::flight_services::{ListRequest, PurchaseRequest, ServiceOrderItem};
use stopover_sdk::http::Request;
use stopover_sdk::testing::{self, MockGateway};
use stopover_sdk::types::flight::{
    Document, DocumentType, Gender, LoyaltyAccount, Passenger, PassengerType, SupplierBooking,
    Title,
};
use stopover_sdk::{FlightBooking, ReadError};

pub(crate) fn fixture(name: &str) -> String {
    testing::read_fixture(env!("CARGO_MANIFEST_DIR"), name)
}

/// Returns a fixture with values of its `data` replaced, by JSON pointer.
pub(crate) fn changed(name: &str, values: &[(&str, Value)]) -> String {
    let mut document: Value = serde_json::from_str(&fixture(name)).unwrap();
    document["data"] = testing::with_values(document["data"].take(), values);
    document.to_string()
}

/// Returns the order after its cancellation, without the cancellation's amounts.
pub(crate) fn canceled_order() -> String {
    changed(
        "order.json",
        &[
            ("/cancelled_at", json!("2027-05-02T10:00:05Z")),
            ("/available_actions", json!(["update"])),
        ],
    )
}

pub(crate) fn confirmed() -> String {
    changed(
        "quote.json",
        &[("/confirmed_at", json!("2027-05-02T10:00:05Z"))],
    )
}

/// Returns a list response with these orders.
pub(crate) fn orders(orders: &[&str], after: Option<&str>) -> String {
    let data = |order: &&str| serde_json::from_str::<Value>(order).unwrap()["data"].take();
    let orders: Vec<Value> = orders.iter().map(data).collect();
    json!({ "data": orders, "meta": { "after": after, "limit": 50 } }).to_string()
}

/// Returns an error response of Duffel.
pub(crate) fn error(kind: &str, code: &str) -> String {
    json!({
        "errors": [{ "type": kind, "code": code, "title": "A title", "message": "canary@guest.example",
            "documentation_url": "https://docs.example", "source": "Own Air" }],
        "meta": { "status": 400, "request_id": "req-own" },
    })
    .to_string()
}

/// Returns a search for a round trip of an adult, a child aged 8 and an infant.
pub(crate) fn price_request() -> PriceRequest {
    let requested_journey = |origin: &str, destination: &str, date: &str| RequestedJourney {
        origin: origin.to_owned(),
        destination: destination.to_owned(),
        date: date.to_owned(),
    };
    PriceRequest {
        journeys: vec![
            requested_journey("OLD", "NEW", "2027-06-01"),
            requested_journey("NEW", "OLD", "2027-06-08"),
        ],
        passengers: PassengerCounts {
            adults: 1,
            children: vec![8],
            infants: 1,
        },
        currency: None,
        filters: Filters::default(),
        sort: Sort::TotalAmount,
        descending: false,
        limit: 50,
    }
}

pub(crate) fn passenger(kind: PassengerType, name: &str, born: &str) -> Passenger {
    Passenger {
        passenger_type: kind,
        title: None,
        first_name: name.to_owned(),
        last_name: "Guest".to_owned(),
        date_of_birth: born.to_owned(),
        gender: Gender::Female,
        nationality: Some("FR".to_owned()),
        document: Some(Document {
            document_type: DocumentType::Passport,
            number: format!("P-{name}"),
            issuing_country: "FR".to_owned(),
            expires_on: "2030-01-01".to_owned(),
        }),
        loyalty_accounts: vec![],
    }
}

pub(crate) fn passengers() -> Vec<Passenger> {
    let mut ana = passenger(PassengerType::Adult, "Ana", "1990-01-01");
    ana.title = Some(Title::Dr);
    let mut ed = passenger(PassengerType::Infant, "Ed", "2026-09-01");
    ed.gender = Gender::Male;
    ed.title = Some(Title::Mx);
    vec![ana, passenger(PassengerType::Child, "Di", "2019-01-01"), ed]
}

pub(crate) fn loyal_passengers() -> Vec<Passenger> {
    let mut passengers = passengers();
    passengers[0].loyalty_accounts = vec![LoyaltyAccount {
        airline_iata_code: "OW".to_owned(),
        membership_number: "OW-10".to_owned(),
    }];
    passengers
}

fn contact() -> FlightContact {
    FlightContact {
        email: "ana@guest.example".to_owned(),
        phone: "+33100000000".to_owned(),
    }
}

pub(crate) fn prebook_request() -> PrebookRequest {
    PrebookRequest {
        client_reference: "bkg_own_1-p1".to_owned(),
        supplier_offer: "off_flex".to_owned(),
        currency: "EUR".to_owned(),
        total: 36_040,
        contact: contact(),
        passengers: passengers(),
        use_payment_sdk: false,
    }
}

pub(crate) const PREBOOK: &str = r#"{"offer":"off_flex","passengers":["pas_adult","pas_child","pas_infant"],"documents":["passport"]}"#;

pub(crate) fn book_request() -> BookRequest {
    BookRequest {
        client_reference: "bkg_own_1".to_owned(),
        supplier_prebook: PREBOOK.to_owned(),
        currency: "EUR".to_owned(),
        total: 36_040,
        contact: contact(),
        passengers: passengers(),
    }
}

pub(crate) fn find_request(supplier_reference: Option<&str>, prebook: Option<&str>) -> FindRequest {
    FindRequest {
        client_reference: "bkg_own_1".to_owned(),
        supplier_reference: supplier_reference.map(str::to_owned),
        supplier_prebook: prebook.map(str::to_owned),
        since: 0,
    }
}

/// Reads the order of the fixtures back.
pub(crate) fn found(gateway: &MockGateway) -> Result<Option<SupplierBooking>, ReadError> {
    let request = find_request(Some("ord_own"), None);
    match gateway.run(|| DuffelFlights::find(request))? {
        BookingLookup::Found(state) => Ok(Some(state)),
        BookingLookup::NotFound => Ok(None),
    }
}

pub(crate) fn quote_request() -> QuoteRequest {
    QuoteRequest {
        supplier_reference: "ord_own".to_owned(),
        client_reference: "bkg_own_1".to_owned(),
    }
}

pub(crate) fn cancel_request() -> CancelRequest {
    CancelRequest {
        client_reference: "bkg_own_1-c1".to_owned(),
        booking_client_reference: "bkg_own_1".to_owned(),
        supplier_reference: "ord_own".to_owned(),
    }
}

pub(crate) fn list_request() -> ListRequest {
    ListRequest {
        supplier_reference: "ord_own".to_owned(),
        client_reference: "bkg_own_1".to_owned(),
    }
}

pub(crate) fn purchase_request() -> PurchaseRequest {
    PurchaseRequest {
        client_reference: "bkg_own_1-s1".to_owned(),
        booking_client_reference: "bkg_own_1".to_owned(),
        supplier_reference: "ord_own".to_owned(),
        currency: "EUR".to_owned(),
        total: 5_498,
        services: vec![ServiceOrderItem {
            supplier_service_id: "aso_23".to_owned(),
            quantity: 2,
            unit_amount: 2_749,
        }],
    }
}

/// Returns the JSON body of a request, without its envelope.
pub(crate) fn data(request: &Request) -> Value {
    request.body_json()["data"].take()
}
