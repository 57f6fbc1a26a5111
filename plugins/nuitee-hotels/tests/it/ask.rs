//! Requests as the gateway makes them, and mock gateways with responses.

use stopover_sdk::hotel_booking::{BookRequest, FindRequest, PrebookRequest};
use stopover_sdk::hotel_cancellation::{CancelRequest, QuoteRequest};
use stopover_sdk::hotel_pricing::PriceRequest;
use stopover_sdk::testing::{self, MockGateway};
use stopover_sdk::types::Contact;
use stopover_sdk::types::hotel::{Guest, GuestType, Occupancy, RoomGuests, Stay};

pub(crate) fn fixture(name: &str) -> String {
    testing::read_fixture(env!("CARGO_MANIFEST_DIR"), name)
}

/// Creates a mock gateway whose first response is a fixture.
pub(crate) fn responding_with(name: &str) -> MockGateway {
    MockGateway::new().respond_with(200, fixture(name))
}

/// Returns a stay of two nights in two rooms, priced in euros.
pub(crate) fn stay() -> Stay {
    let room = |adults, children: &[u8]| Occupancy {
        adults,
        children: children.to_vec(),
    };
    Stay {
        check_in: "2027-06-01".to_owned(),
        check_out: "2027-06-03".to_owned(),
        occupancies: vec![room(2, &[]), room(1, &[7])],
        guest_nationality: "FR".to_owned(),
        guest_residence: None,
        currency: "EUR".to_owned(),
    }
}

pub(crate) fn price_request() -> PriceRequest {
    PriceRequest {
        supplier_hotel_ids: vec!["lpown2".to_owned(), "lpown1".to_owned()],
        stay: stay(),
        max_offers_per_hotel: 25,
    }
}

pub(crate) fn prebook_request() -> PrebookRequest {
    PrebookRequest {
        client_reference: "bkg_own_1-p1".to_owned(),
        supplier_hotel_id: "lpown1".to_owned(),
        supplier_offer: "OFFER-SEA".to_owned(),
        stay: stay(),
        total: 46050,
        contact: contact(),
        rooms: rooms(),
        use_payment_sdk: false,
    }
}

pub(crate) fn book_request() -> BookRequest {
    BookRequest {
        client_reference: "bkg_own_1".to_owned(),
        supplier_prebook: r#"{"prebook_id":"PB-OWN-1"}"#.to_owned(),
        supplier_hotel_id: "lpown1".to_owned(),
        stay: stay(),
        currency: "EUR".to_owned(),
        total: 46050,
        contact: contact(),
        rooms: rooms(),
    }
}

pub(crate) fn find_request(supplier_reference: Option<&str>) -> FindRequest {
    FindRequest {
        client_reference: "bkg_own_1".to_owned(),
        supplier_reference: supplier_reference.map(str::to_owned),
        supplier_prebook: None,
    }
}

pub(crate) fn quote_request() -> QuoteRequest {
    QuoteRequest {
        supplier_reference: "BK-OWN-1".to_owned(),
        client_reference: "bkg_own_1".to_owned(),
    }
}

pub(crate) fn cancel_request() -> CancelRequest {
    CancelRequest {
        client_reference: "bkg_own_1-c1".to_owned(),
        booking_client_reference: "bkg_own_1".to_owned(),
        supplier_reference: "BK-OWN-1".to_owned(),
        rooms: vec![],
    }
}

fn contact() -> Contact {
    Contact {
        first_name: "Ana".to_owned(),
        last_name: "Payer".to_owned(),
        email: "ana@guest.example".to_owned(),
        phone: "+33100000000".to_owned(),
    }
}

/// Returns the guests. The lead guest of the first room is not its first guest.
fn rooms() -> Vec<RoomGuests> {
    let guest = |name: &str, is_lead, age: Option<u8>| Guest {
        first_name: name.to_owned(),
        last_name: "Guest".to_owned(),
        guest_type: if age.is_some() {
            GuestType::Child
        } else {
            GuestType::Adult
        },
        is_lead,
        age,
    };
    vec![
        RoomGuests {
            guests: vec![guest("Bo", false, None), guest("Cy", true, None)],
        },
        RoomGuests {
            guests: vec![guest("Di", true, None), guest("Ed", false, Some(7))],
        },
    ]
}
