//! Scripted responses of Lodge, and the requests that it receives.

use serde_json::{Value, json};
use stopover_sdk::hotel_booking::{BookRequest, FindRequest, PrebookRequest};
use stopover_sdk::hotel_cancellation::{CancelRequest, QuoteRequest, RoomReference};
use stopover_sdk::hotel_pricing::PriceRequest;
use stopover_sdk::testing::{self, MockGateway};
use stopover_sdk::types::Contact;
use stopover_sdk::types::hotel::{Guest, GuestType, Occupancy, RoomGuests, Stay};

/// Every documented code with its status and reason, and the outcome of a prebook, a booking and a
/// cancellation. The reason `Other` has the text of the code in lower case, with hyphens. `R` means
/// refused, `?` unknown.
pub(crate) const CODES: [(&str, u16, &str, &str); 19] = [
    ("UNAUTHORIZED", 401, "Account", "RRR"),
    ("INVALID_REQUEST", 400, "Invalid", "RRR"),
    ("NOT_FOUND", 404, "Other", "??R"),
    ("RATE_UNKNOWN", 404, "Expired", "R??"),
    ("PREBOOK_UNKNOWN", 404, "Expired", "?R?"),
    ("RATE_EXPIRED", 410, "Expired", "R??"),
    ("PREBOOK_EXPIRED", 410, "Expired", "?R?"),
    ("SOLD_OUT", 409, "Unavailable", "R??"),
    ("PREBOOK_USED", 409, "Duplicate", "?R?"),
    ("DUPLICATE_CLIENT_REF", 409, "Other", "???"),
    ("PRICE_MISMATCH", 409, "Other", "?R?"),
    ("INVALID_GUESTS", 422, "Invalid", "?R?"),
    ("BOOKING_REFUSED", 422, "Other", "?R?"),
    ("NOT_CANCELLABLE", 409, "NotCancellable", "??R"),
    ("ALREADY_CANCELLED", 409, "NotCancellable", "???"),
    ("ROOMS_NOT_SEPARABLE", 422, "NotCancellable", "??R"),
    ("PREVIEW_NOT_OFFERED", 404, "Other", "???"),
    ("TOO_MANY_REQUESTS", 429, "Other", "???"),
    ("SUPPLIER_FAILURE", 500, "Other", "???"),
];

pub(crate) const BOOKING_REF: &str = "bkg_OK_0";
pub(crate) const BOOKING_ID: &str = "LDG-100058";

/// Creates a mock gateway whose settings have Lodge's address.
pub(crate) fn gateway() -> MockGateway {
    MockGateway::new().settings(r#"{"base_url": "http://lodge.example:4010/"}"#)
}

/// Returns a response that Lodge returned.
pub(crate) fn fixture(name: &str) -> Value {
    let name = format!("{name}.json");
    serde_json::from_str(&testing::read_fixture(env!("CARGO_MANIFEST_DIR"), &name)).unwrap()
}

/// Returns a fixture with values replaced, by JSON pointer.
pub(crate) fn edited(name: &str, edits: &[(&str, Value)]) -> String {
    testing::with_values(fixture(name), edits).to_string()
}

/// Returns an error in Lodge's form.
pub(crate) fn error(code: &str) -> String {
    json!({"error": {"code": code, "message": "Ann Example is not welcome."}}).to_string()
}

/// Returns method and path of every request, without Lodge's address.
pub(crate) fn asked(gateway: &MockGateway) -> Vec<String> {
    gateway.request_lines("http://lodge.example:4010")
}

pub(crate) fn stay(rooms: usize) -> Stay {
    let occupancy = |room: usize| Occupancy {
        adults: 2,
        children: if room == 0 { vec![7, 0] } else { Vec::new() },
    };
    Stay {
        check_in: "2027-03-01".to_owned(),
        check_out: "2027-03-03".to_owned(),
        occupancies: (0..rooms).map(occupancy).collect(),
        guest_nationality: "GB".to_owned(),
        guest_residence: None,
        currency: "EUR".to_owned(),
    }
}

pub(crate) fn price_request(ids: &[&str], rooms: usize) -> PriceRequest {
    PriceRequest {
        supplier_hotel_ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        stay: stay(rooms),
        max_offers_per_hotel: 5,
    }
}

fn contact() -> Contact {
    Contact {
        first_name: "Ann".to_owned(),
        last_name: "Example".to_owned(),
        email: "ann@example.com".to_owned(),
        phone: "+441727555010".to_owned(),
    }
}

fn guests() -> Vec<RoomGuests> {
    let guest = |first_name: &str, age: Option<u8>, is_lead| Guest {
        first_name: first_name.to_owned(),
        last_name: "Example".to_owned(),
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
            guests: vec![guest("Ann", None, true), guest("Bob", Some(7), false)],
        },
        RoomGuests {
            guests: vec![guest("Cy", None, true)],
        },
    ]
}

pub(crate) fn prebook_request() -> PrebookRequest {
    PrebookRequest {
        client_reference: BOOKING_REF.to_owned(),
        supplier_hotel_id: "OK".to_owned(),
        supplier_offer: "rate-ok-ro".to_owned(),
        stay: stay(2),
        total: 40_000,
        contact: contact(),
        rooms: guests(),
        use_payment_sdk: false,
    }
}

pub(crate) fn book_request() -> BookRequest {
    BookRequest {
        client_reference: BOOKING_REF.to_owned(),
        supplier_prebook: "LPB-100057".to_owned(),
        supplier_hotel_id: "OK".to_owned(),
        stay: stay(2),
        currency: "EUR".to_owned(),
        total: 40_000,
        contact: contact(),
        rooms: guests(),
    }
}

pub(crate) fn find_request(supplier_reference: Option<&str>) -> FindRequest {
    FindRequest {
        client_reference: BOOKING_REF.to_owned(),
        supplier_reference: supplier_reference.map(str::to_owned),
        supplier_prebook: Some("LPB-100057".to_owned()),
    }
}

pub(crate) fn quote_request() -> QuoteRequest {
    QuoteRequest {
        supplier_reference: BOOKING_ID.to_owned(),
        client_reference: BOOKING_REF.to_owned(),
    }
}

pub(crate) fn cancel_request(positions: &[u8]) -> CancelRequest {
    let room = |position: &u8| RoomReference {
        position: *position,
        supplier_room_reference: Some(format!("{BOOKING_ID}-{}", position + 1)),
    };
    CancelRequest {
        client_reference: format!("{BOOKING_REF}-cancel-1"),
        booking_client_reference: BOOKING_REF.to_owned(),
        supplier_reference: BOOKING_ID.to_owned(),
        rooms: positions.iter().map(room).collect(),
    }
}
