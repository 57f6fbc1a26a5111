//! Requests that the gateway makes to either adapter, and requests that the suppliers receive.

use stopover_sdk::flight_booking::{BookRequest, FindRequest, FlightContact, PrebookRequest};
use stopover_sdk::flight_cancellation::{CancelRequest, QuoteRequest};
use stopover_sdk::flight_pricing::{
    Filters, PassengerCounts, PriceRequest, RequestedJourney, Sort,
};
use stopover_sdk::flight_services::{ListRequest, PurchaseRequest, ServiceOrderItem};
use stopover_sdk::testing::MockGateway;
use stopover_sdk::types::flight::{
    Document, DocumentType, Gender, LoyaltyAccount, Passenger, PassengerType, Title,
};

pub(crate) const BOOKING_REF: &str = "bkg_DXB";
pub(crate) const BOOKING_ID: &str = "FLT-100001";
pub(crate) const BAGS_REF: &str = "bkg_DXB-bags-1";

/// Creates a mock gateway whose settings have the sandbox's address.
pub(crate) fn gateway() -> MockGateway {
    MockGateway::new().settings(r#"{"base_url": "http://market.example:4010/"}"#)
}

/// Returns method and path of every request, without the sandbox's address.
pub(crate) fn asked(gateway: &MockGateway) -> Vec<String> {
    gateway.request_lines("http://market.example:4010")
}

fn requested_journey(origin: &str, destination: &str, date: &str) -> RequestedJourney {
    RequestedJourney {
        origin: origin.to_owned(),
        destination: destination.to_owned(),
        date: date.to_owned(),
    }
}

/// Returns a search for a round trip of two adults, which the fares in the fixtures match.
pub(crate) fn price_request() -> PriceRequest {
    PriceRequest {
        journeys: vec![
            requested_journey("LHR", "SYD", "2027-03-01"),
            requested_journey("SYD", "LHR", "2027-03-15"),
        ],
        passengers: PassengerCounts {
            adults: 2,
            children: Vec::new(),
            infants: 0,
        },
        currency: Some("EUR".to_owned()),
        filters: Filters::default(),
        sort: Sort::TotalAmount,
        descending: false,
        limit: 50,
    }
}

/// Returns an adult with all optional data, and a child and an infant without any.
fn passengers() -> Vec<Passenger> {
    let passenger = |passenger_type, first_name: &str, born: &str| Passenger {
        passenger_type,
        title: None,
        first_name: first_name.to_owned(),
        last_name: "Example".to_owned(),
        date_of_birth: born.to_owned(),
        gender: Gender::Unspecified,
        nationality: None,
        document: None,
        loyalty_accounts: Vec::new(),
    };
    let adult = Passenger {
        title: Some(Title::Dr),
        gender: Gender::Female,
        nationality: Some("GB".to_owned()),
        document: Some(Document {
            document_type: DocumentType::IdentityCard,
            number: "X123".to_owned(),
            issuing_country: "GB".to_owned(),
            expires_on: "2031-01-01".to_owned(),
        }),
        loyalty_accounts: vec![LoyaltyAccount {
            airline_iata_code: "TK".to_owned(),
            membership_number: "ZZ-10".to_owned(),
        }],
        ..passenger(PassengerType::Adult, "Ann", "1990-01-01")
    };
    vec![
        adult,
        Passenger {
            gender: Gender::Male,
            ..passenger(PassengerType::Child, "Bob", "2020-01-01")
        },
        passenger(PassengerType::Infant, "Cy", "2026-10-01"),
    ]
}

fn contact() -> FlightContact {
    FlightContact {
        email: "ann@example.com".to_owned(),
        phone: "+441727555010".to_owned(),
    }
}

pub(crate) fn prebook_request(supplier_offer: &str) -> PrebookRequest {
    PrebookRequest {
        client_reference: BOOKING_REF.to_owned(),
        supplier_offer: supplier_offer.to_owned(),
        currency: "EUR".to_owned(),
        total: 77_700,
        contact: contact(),
        passengers: passengers(),
        use_payment_sdk: false,
    }
}

pub(crate) fn book_request() -> BookRequest {
    BookRequest {
        client_reference: BOOKING_REF.to_owned(),
        supplier_prebook: "prebook/1".to_owned(),
        currency: "EUR".to_owned(),
        total: 69_930,
        contact: contact(),
        passengers: passengers(),
    }
}

pub(crate) fn find_request(supplier_reference: Option<&str>) -> FindRequest {
    FindRequest {
        client_reference: BOOKING_REF.to_owned(),
        supplier_reference: supplier_reference.map(str::to_owned),
        supplier_prebook: None,
        since: 0,
    }
}

pub(crate) fn quote_request() -> QuoteRequest {
    QuoteRequest {
        supplier_reference: BOOKING_ID.to_owned(),
        client_reference: BOOKING_REF.to_owned(),
    }
}

pub(crate) fn cancel_request() -> CancelRequest {
    CancelRequest {
        client_reference: "bkg_DXB-cancel-1".to_owned(),
        booking_client_reference: BOOKING_REF.to_owned(),
        supplier_reference: BOOKING_ID.to_owned(),
    }
}

pub(crate) fn list_request() -> ListRequest {
    ListRequest {
        supplier_reference: BOOKING_ID.to_owned(),
        client_reference: BOOKING_REF.to_owned(),
    }
}

pub(crate) fn purchase_request() -> PurchaseRequest {
    PurchaseRequest {
        client_reference: BAGS_REF.to_owned(),
        booking_client_reference: BOOKING_REF.to_owned(),
        supplier_reference: BOOKING_ID.to_owned(),
        currency: "EUR".to_owned(),
        total: 6_000,
        services: vec![ServiceOrderItem {
            supplier_service_id: "FLT-100001-bag-1".to_owned(),
            quantity: 1,
            unit_amount: 6_000,
        }],
    }
}
