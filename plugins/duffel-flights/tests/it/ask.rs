//! Requests as the gateway makes them, and the documents used as responses.

use duffel_flights::DuffelFlights;
use serde_json::{Value, json};
use stopover_sdk::detailed_flight_booking::{
    DetailedBooking, DetailedBookingLookup, DetailedPrebookResponse,
};
use stopover_sdk::detailed_flight_pricing::DetailedPriceResponse;
use stopover_sdk::flight_booking::{
    BookRequest, BookingLookup, FindRequest, FlightContact, PrebookRequest, PrebookResponse,
};
use stopover_sdk::flight_cancellation::{CancelRequest, Quote, QuoteRequest};
use stopover_sdk::flight_pricing::{
    Filters, PassengerCounts, PriceRequest, PriceResponse, RequestedJourney, Sort,
};
use stopover_sdk::flight_reference::{Airline, AirportResponse};
use stopover_sdk::flight_services::{
    AvailableServices, ListRequest, PurchaseRequest, ServiceOrderItem,
};
use stopover_sdk::testing::{self, MockGateway};
use stopover_sdk::types::flight::{
    Document, DocumentType, Gender, LoyaltyAccount, Passenger, PassengerType, SupplierBooking,
    Title,
};
use stopover_sdk::{
    ChangeError, DetailedFlightBooking, DetailedFlightPricing, FlightCancellation, FlightReference,
    FlightServices, ReadError,
};

pub(crate) fn fixture(name: &str) -> String {
    testing::read_fixture(env!("CARGO_MANIFEST_DIR"), name)
}

/// Returns a fixture with values of its `data` replaced, by JSON pointer.
pub(crate) fn changed(name: &str, values: &[(&str, Value)]) -> String {
    let mut document: Value = serde_json::from_str(&fixture(name)).unwrap();
    document["data"] = testing::with_values(document["data"].take(), values);
    document.to_string()
}

/// Creates a mock gateway whose responses are these fixtures.
pub(crate) fn fixtures(names: &[&str]) -> MockGateway {
    let respond = |gateway: MockGateway, name: &&str| gateway.respond_with(200, fixture(name));
    names.iter().fold(MockGateway::new(), respond)
}

/// Returns the order after its cancellation, without the cancellation's amounts.
pub(crate) fn canceled_order() -> String {
    let canceled_at = ("/cancelled_at", json!("2027-05-02T10:00:05Z"));
    let actions = ("/available_actions", json!(["update"]));
    changed("order.json", &[canceled_at, actions])
}

/// Returns the confirmation of the quote, with a value replaced.
pub(crate) fn confirmed_with(pointer: &str, value: &str) -> String {
    let confirmed_at = ("/confirmed_at", json!("2027-05-02T10:00:05Z"));
    changed("quote.json", &[confirmed_at, (pointer, json!(value))])
}

pub(crate) fn confirmed() -> String {
    confirmed_with("/id", "ore_own")
}

/// Returns a list response with the data of these responses.
pub(crate) fn list(items: &[&str], after: Option<&str>) -> String {
    let data = |item: &&str| serde_json::from_str::<Value>(item).unwrap()["data"].take();
    let items: Vec<Value> = items.iter().map(data).collect();
    json!({ "data": items, "meta": { "after": after, "limit": 50 } }).to_string()
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
    let journeys = [("OLD", "NEW", "2027-06-01"), ("NEW", "OLD", "2027-06-08")];
    let journeys = journeys.map(|(origin, destination, date)| RequestedJourney {
        origin: origin.to_owned(),
        destination: destination.to_owned(),
        date: date.to_owned(),
    });
    PriceRequest {
        journeys: journeys.to_vec(),
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

fn passengers() -> Vec<Passenger> {
    let mut ana = passenger(PassengerType::Adult, "Ana", "1990-01-01");
    ana.title = Some(Title::Dr);
    let mut ed = passenger(PassengerType::Infant, "Ed", "2026-09-01");
    ed.gender = Gender::Male;
    ed.title = Some(Title::Mx);
    vec![ana, passenger(PassengerType::Child, "Di", "2019-01-01"), ed]
}

fn contact() -> FlightContact {
    FlightContact {
        email: "ana@guest.example".to_owned(),
        phone: "+33100000000".to_owned(),
    }
}

pub(crate) fn price(gateway: &MockGateway) -> Result<PriceResponse, ReadError> {
    price_of(gateway, price_request())
}

/// Returns the response without its details.
pub(crate) fn price_of(
    gateway: &MockGateway,
    request: PriceRequest,
) -> Result<PriceResponse, ReadError> {
    let response = detailed_price(gateway, request)?;
    let offers = response.offers.into_iter().map(|one| one.offer);
    Ok(PriceResponse {
        offers: offers.collect(),
        applied: response.applied,
        truncated: response.truncated,
    })
}

pub(crate) fn detailed_price(
    gateway: &MockGateway,
    request: PriceRequest,
) -> Result<DetailedPriceResponse, ReadError> {
    gateway.run(|| DuffelFlights::price(request))
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

/// Returns a prebook that sets a passenger's loyalty programmes.
pub(crate) fn loyal_prebook_request() -> PrebookRequest {
    let mut request = prebook_request();
    request.passengers[0].loyalty_accounts = vec![LoyaltyAccount {
        airline_iata_code: "OW".to_owned(),
        membership_number: "OW-10".to_owned(),
    }];
    request
}

pub(crate) fn prebook(gateway: &MockGateway) -> Result<PrebookResponse, ChangeError> {
    prebook_of(gateway, prebook_request())
}

/// Returns the prebook without its details.
pub(crate) fn prebook_of(
    gateway: &MockGateway,
    request: PrebookRequest,
) -> Result<PrebookResponse, ChangeError> {
    let response = gateway.run(|| DuffelFlights::prebook(request))?;
    Ok(response.prebook)
}

pub(crate) fn detailed_prebook(
    gateway: &MockGateway,
) -> Result<DetailedPrebookResponse, ChangeError> {
    gateway.run(|| DuffelFlights::prebook(prebook_request()))
}

pub(crate) fn loyal_prebook(gateway: &MockGateway) -> Result<PrebookResponse, ChangeError> {
    prebook_of(gateway, loyal_prebook_request())
}

pub(crate) const PREBOOK: &str = r#"{"offer":"off_flex","passengers":["pas_adult","pas_child","pas_infant"],"documents":["passport"],"total":[36040,"EUR"]}"#;

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

pub(crate) fn book(gateway: &MockGateway) -> Result<SupplierBooking, ChangeError> {
    book_of(gateway, book_request())
}

/// Returns the booking without its details.
pub(crate) fn book_of(
    gateway: &MockGateway,
    request: BookRequest,
) -> Result<SupplierBooking, ChangeError> {
    let response = gateway.run(|| DuffelFlights::book(request))?;
    Ok(response.booking)
}

pub(crate) fn detailed_book(gateway: &MockGateway) -> Result<DetailedBooking, ChangeError> {
    gateway.run(|| DuffelFlights::book(book_request()))
}

pub(crate) fn find_request(supplier_reference: Option<&str>, prebook: Option<&str>) -> FindRequest {
    FindRequest {
        client_reference: "bkg_own_1".to_owned(),
        supplier_reference: supplier_reference.map(str::to_owned),
        supplier_prebook: prebook.map(str::to_owned),
        since: 0,
    }
}

/// Reads back a booking whose order has no known id.
pub(crate) fn find_by_offer(gateway: &MockGateway) -> Result<BookingLookup, ReadError> {
    find_of(gateway, find_request(None, Some(PREBOOK)))
}

/// Returns the lookup without its details.
pub(crate) fn find_of(
    gateway: &MockGateway,
    request: FindRequest,
) -> Result<BookingLookup, ReadError> {
    let found = gateway.run(|| DuffelFlights::find(request))?;
    Ok(match found {
        DetailedBookingLookup::Found(state) => BookingLookup::Found(state.booking),
        DetailedBookingLookup::NotFound => BookingLookup::NotFound,
    })
}

/// Reads the order of the fixtures back.
pub(crate) fn found(gateway: &MockGateway) -> Result<Option<SupplierBooking>, ReadError> {
    Ok(detailed(gateway)?.map(|state| state.booking))
}

/// Reads the order of the fixtures back, with its details.
pub(crate) fn detailed(gateway: &MockGateway) -> Result<Option<DetailedBooking>, ReadError> {
    let request = find_request(Some("ord_own"), None);
    match gateway.run(|| DuffelFlights::find(request))? {
        DetailedBookingLookup::Found(state) => Ok(Some(state)),
        DetailedBookingLookup::NotFound => Ok(None),
    }
}

pub(crate) fn airports(gateway: &MockGateway) -> Result<AirportResponse, ReadError> {
    gateway.run(|| DuffelFlights::find_airports("old town".to_owned(), 10))
}

pub(crate) fn airline(gateway: &MockGateway, code: &str) -> Result<Airline, ReadError> {
    gateway.run(|| DuffelFlights::read_airline(code.to_owned()))
}

pub(crate) fn quote(gateway: &MockGateway) -> Result<Quote, ReadError> {
    let request = QuoteRequest {
        supplier_reference: "ord_own".to_owned(),
        client_reference: "bkg_own_1".to_owned(),
    };
    gateway.run(|| DuffelFlights::quote_cancellation(request))
}

pub(crate) fn cancel(gateway: &MockGateway) -> Result<SupplierBooking, ChangeError> {
    let request = CancelRequest {
        client_reference: "bkg_own_1-c1".to_owned(),
        booking_client_reference: "bkg_own_1".to_owned(),
        supplier_reference: "ord_own".to_owned(),
    };
    gateway.run(|| DuffelFlights::cancel(request))
}

pub(crate) fn list_services(gateway: &MockGateway) -> Result<AvailableServices, ReadError> {
    let request = ListRequest {
        supplier_reference: "ord_own".to_owned(),
        client_reference: "bkg_own_1".to_owned(),
    };
    gateway.run(|| DuffelFlights::list_services(request))
}

pub(crate) fn buy_bags(gateway: &MockGateway) -> Result<SupplierBooking, ChangeError> {
    let request = PurchaseRequest {
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
    };
    gateway.run(|| DuffelFlights::purchase_services(request))
}

/// Returns method and path of every request.
pub(crate) fn sent(gateway: &MockGateway) -> Vec<String> {
    gateway.request_lines("https://api.duffel.com")
}
