//! Requests as the gateway makes them, and mock gateways with responses.

use nuitee_flights::NuiteeFlights;
use serde_json::{Value, json};
use stopover_sdk::detailed_flight_booking::DetailedBookingLookup;
use stopover_sdk::flight_booking::{
    BookRequest, BookingLookup, FindRequest, FlightContact, PrebookRequest, PrebookResponse,
};
use stopover_sdk::flight_cancellation::{CancelRequest, Quote, QuoteRequest};
use stopover_sdk::flight_pricing::{
    Filters, PassengerCounts, PriceRequest, PriceResponse, RequestedJourney, Sort,
};
use stopover_sdk::flight_reference::{Airline, AirportResponse};
use stopover_sdk::testing::{self, MockGateway};
use stopover_sdk::types::flight::{
    Document, DocumentType, Gender, LoyaltyAccount, Passenger, PassengerType, SupplierBooking,
};
use stopover_sdk::{
    ChangeError, DetailedFlightBooking, DetailedFlightPricing, FlightCancellation, FlightReference,
    ReadError, time,
};

/// Id of the booking in `fixtures/`.
pub(crate) const BOOKING_ID: &str = "019d0000-bbbb-7000-8000-0000000000bb";

pub(crate) fn fixture(name: &str) -> String {
    testing::read_fixture(env!("CARGO_MANIFEST_DIR"), name)
}

/// Returns a fixture after applying `change`.
pub(crate) fn changed(name: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut document: Value = serde_json::from_str(&fixture(name)).unwrap();
    change(&mut document);
    document.to_string()
}

/// Creates a mock gateway whose clock shows the day of the fixtures.
pub(crate) fn gateway() -> MockGateway {
    responding(&[])
}

/// Creates such a gateway with these responses, each a status and a body.
pub(crate) fn responding(responses: &[(u16, &str)]) -> MockGateway {
    let now_ms = time::parse_timestamp("2027-05-01T10:00:00Z").unwrap();
    MockGateway::with_responses(responses).now_ms(now_ms)
}

/// Creates a mock gateway whose responses are these fixtures.
pub(crate) fn fixtures(names: &[&str]) -> MockGateway {
    let respond = |gateway: MockGateway, name: &&str| gateway.respond_with(200, fixture(name));
    names.iter().fold(gateway(), respond)
}

/// Returns method and path of every request.
pub(crate) fn sent(gateway: &MockGateway) -> Vec<String> {
    gateway.request_lines("https://api.liteapi.travel/v3.0")
}

/// Returns an error response.
pub(crate) fn error(code: u32) -> String {
    json!({"error": {"code": code, "message": "m"}}).to_string()
}

/// Returns a search for a round trip from London to New York of two adults, one of them 12 years
/// old, a child and an infant.
pub(crate) fn price_request() -> PriceRequest {
    PriceRequest {
        journeys: vec![
            requested_journey("LHR", "JFK", "2027-06-01"),
            requested_journey("JFK", "LHR", "2027-06-10"),
        ],
        passengers: PassengerCounts {
            adults: 1,
            children: vec![12, 7],
            infants: 1,
        },
        currency: Some("EUR".to_owned()),
        filters: Filters::default(),
        sort: Sort::TotalAmount,
        descending: false,
        limit: 50,
    }
}

pub(crate) fn price(gateway: &MockGateway) -> Result<PriceResponse, ReadError> {
    price_with(gateway, price_request())
}

/// Returns the response to a search, without details.
pub(crate) fn price_with(
    gateway: &MockGateway,
    request: PriceRequest,
) -> Result<PriceResponse, ReadError> {
    let response = gateway.run(|| NuiteeFlights::price(request))?;
    let offers = response.offers.into_iter();
    Ok(PriceResponse {
        offers: offers.map(|detailed| detailed.offer).collect(),
        applied: response.applied,
        truncated: response.truncated,
    })
}

pub(crate) fn requested_journey(origin: &str, destination: &str, date: &str) -> RequestedJourney {
    RequestedJourney {
        origin: origin.to_owned(),
        destination: destination.to_owned(),
        date: date.to_owned(),
    }
}

/// Returns the adapter's reference of the flexible offer.
pub(crate) fn supplier_offer() -> String {
    let offers = price(&fixtures(&["rates.json"])).unwrap().offers;
    assert_eq!(offers[1].fare_family.as_deref(), Some("Flex"));
    offers[1].supplier_offer.clone()
}

pub(crate) fn prebook_request() -> PrebookRequest {
    PrebookRequest {
        client_reference: "bkg_own_1-p1".to_owned(),
        supplier_offer: supplier_offer(),
        currency: "EUR".to_owned(),
        total: 121_040,
        contact: contact(),
        passengers: passengers(),
        use_payment_sdk: false,
    }
}

pub(crate) fn prebook(gateway: &MockGateway) -> Result<PrebookResponse, ChangeError> {
    prebook_with(gateway, prebook_request())
}

/// Returns the response to a prebook, without details.
pub(crate) fn prebook_with(
    gateway: &MockGateway,
    request: PrebookRequest,
) -> Result<PrebookResponse, ChangeError> {
    let detailed = gateway.run(|| NuiteeFlights::prebook(request))?;
    Ok(detailed.prebook)
}

/// Returns the adapter's reference of a prebook.
pub(crate) fn supplier_prebook() -> String {
    let bound = prebook(&fixtures(&["verify.json", "prebook.json"]));
    bound.unwrap().supplier_prebook
}

pub(crate) fn book_request() -> BookRequest {
    BookRequest {
        client_reference: "bkg_own_1".to_owned(),
        supplier_prebook: supplier_prebook(),
        currency: "EUR".to_owned(),
        total: 119_040,
        contact: contact(),
        passengers: passengers(),
    }
}

pub(crate) fn book(gateway: &MockGateway) -> Result<SupplierBooking, ChangeError> {
    book_with(gateway, book_request())
}

/// Returns the booking that was made, without details.
pub(crate) fn book_with(
    gateway: &MockGateway,
    request: BookRequest,
) -> Result<SupplierBooking, ChangeError> {
    let detailed = gateway.run(|| NuiteeFlights::book(request))?;
    Ok(detailed.booking)
}

pub(crate) fn find_request(supplier_reference: Option<&str>) -> FindRequest {
    FindRequest {
        client_reference: "bkg_own_1".to_owned(),
        supplier_reference: supplier_reference.map(str::to_owned),
        supplier_prebook: None,
        since: 0,
    }
}

pub(crate) fn find(gateway: &MockGateway, id: Option<&str>) -> Result<BookingLookup, ReadError> {
    find_with(gateway, find_request(id))
}

/// Returns the booking that was looked up, without details.
pub(crate) fn find_with(
    gateway: &MockGateway,
    request: FindRequest,
) -> Result<BookingLookup, ReadError> {
    Ok(match gateway.run(|| NuiteeFlights::find(request))? {
        DetailedBookingLookup::Found(detailed) => BookingLookup::Found(detailed.booking),
        DetailedBookingLookup::NotFound => BookingLookup::NotFound,
    })
}

pub(crate) fn quote(gateway: &MockGateway) -> Result<Quote, ReadError> {
    let request = QuoteRequest {
        supplier_reference: BOOKING_ID.to_owned(),
        client_reference: "bkg_own_1".to_owned(),
    };
    gateway.run(|| NuiteeFlights::quote_cancellation(request))
}

pub(crate) fn cancel(gateway: &MockGateway) -> Result<SupplierBooking, ChangeError> {
    let request = CancelRequest {
        client_reference: "bkg_own_1-c1".to_owned(),
        booking_client_reference: "bkg_own_1".to_owned(),
        supplier_reference: BOOKING_ID.to_owned(),
    };
    gateway.run(|| NuiteeFlights::cancel(request))
}

pub(crate) fn airports(gateway: &MockGateway, limit: u16) -> Result<AirportResponse, ReadError> {
    gateway.run(|| NuiteeFlights::find_airports("Lond on".to_owned(), limit))
}

pub(crate) fn airline(gateway: &MockGateway, code: &str) -> Result<Airline, ReadError> {
    gateway.run(|| NuiteeFlights::read_airline(code.to_owned()))
}

fn contact() -> FlightContact {
    FlightContact {
        email: "ana@guest.example".to_owned(),
        phone: "+33670000000".to_owned(),
    }
}

/// Returns the passengers. The child who is 12 on the day of departure travels as an adult.
fn passengers() -> Vec<Passenger> {
    let passenger = |name: &str, passenger_type, birthday: &str| Passenger {
        passenger_type,
        title: None,
        first_name: name.to_owned(),
        last_name: "Own".to_owned(),
        date_of_birth: birthday.to_owned(),
        gender: Gender::Female,
        nationality: Some("FR".to_owned()),
        document: None,
        loyalty_accounts: Vec::new(),
    };
    let mut ana = passenger("Ana", PassengerType::Adult, "1990-01-15");
    ana.document = Some(Document {
        document_type: DocumentType::Passport,
        number: "X0000001".to_owned(),
        issuing_country: "FR".to_owned(),
        expires_on: "2031-01-01".to_owned(),
    });
    ana.loyalty_accounts.push(LoyaltyAccount {
        airline_iata_code: "XO".to_owned(),
        membership_number: "XO123".to_owned(),
    });
    vec![
        ana,
        passenger("Bea", PassengerType::Child, "2015-06-01"),
        passenger("Cleo", PassengerType::Child, "2020-02-29"),
        passenger("Dot", PassengerType::Infant, "2026-08-01"),
    ]
}
