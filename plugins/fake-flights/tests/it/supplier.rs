//! The two suppliers: the calls of their adapters, and the form of their responses.

use fake_flights::{Jetbridge, Skylane};
use serde_json::{Value, json};
use stopover_sdk::detailed_flight_booking::DetailedBookingLookup;
use stopover_sdk::detailed_flight_pricing::DetailedPriceResponse;
use stopover_sdk::flight_booking::{
    BookRequest, BookingLookup, FindRequest, PrebookRequest, PrebookResponse,
};
use stopover_sdk::flight_cancellation::{CancelRequest, Quote, QuoteRequest};
use stopover_sdk::flight_pricing::{PriceRequest, PriceResponse};
use stopover_sdk::flight_reference::{Airline, AirportResponse};
use stopover_sdk::testing;
use stopover_sdk::types::flight::SupplierBooking;
use stopover_sdk::{
    ChangeError, DetailedFlightBooking, DetailedFlightPricing, FlightBooking, FlightCancellation,
    FlightPricing, FlightReference, FlightServices, ReadError,
};

use crate::ask::{
    BOOKING_ID, book_request, cancel_request, find_request, gateway, list_request, prebook_request,
    price_request, purchase_request, quote_request,
};

/// A supplier with the calls of its adapter. Its fixtures are responses that it returned.
#[derive(Clone, Copy)]
pub(crate) struct Supplier {
    /// The name, which is also the folder of the fixtures.
    pub(crate) name: &'static str,
    pub(crate) price: fn(PriceRequest) -> Result<PriceResponse, ReadError>,
    pub(crate) prebook: fn(PrebookRequest) -> Result<PrebookResponse, ChangeError>,
    pub(crate) book: fn(BookRequest) -> Result<SupplierBooking, ChangeError>,
    pub(crate) find: fn(FindRequest) -> Result<BookingLookup, ReadError>,
    pub(crate) quote: fn(QuoteRequest) -> Result<Quote, ReadError>,
    pub(crate) cancel: fn(CancelRequest) -> Result<SupplierBooking, ChangeError>,
    pub(crate) find_airports: fn(String, u16) -> Result<AirportResponse, ReadError>,
    pub(crate) read_airline: fn(String) -> Result<Airline, ReadError>,
    /// Returns a list of the bookings in these responses.
    pub(crate) list: fn(&[Value]) -> String,
    /// Returns an error in the supplier's form.
    pub(crate) error: fn(&str) -> String,
    pub(crate) changes: &'static [&'static str],
    pub(crate) reads: &'static [&'static str],
    /// Every documented error: its code, status and reason, and the outcome of each change in the
    /// order of `changes`. `R` means refused, `?` unknown.
    pub(crate) errors: &'static [(&'static str, u16, &'static str, &'static str)],
    pub(crate) not_found: &'static str,
    /// Code with which a quote is unavailable instead of an error.
    pub(crate) no_quote: &'static str,
    /// Change, fixture of its response, and the pointer and value that make it a response about
    /// something else.
    pub(crate) elsewhere: &'static [(&'static str, &'static str, &'static str, &'static str)],
}

pub(crate) const SUPPLIERS: [Supplier; 2] = [SKYLANE, JETBRIDGE];

impl Supplier {
    pub(crate) fn fixture(&self, name: &str) -> Value {
        let path = format!("{}/{name}.json", self.name);
        serde_json::from_str(&testing::read_fixture(env!("CARGO_MANIFEST_DIR"), &path)).unwrap()
    }

    /// Returns a fixture with values replaced, by JSON pointer.
    pub(crate) fn edited(&self, name: &str, edits: &[(&str, Value)]) -> String {
        testing::with_values(self.fixture(name), edits).to_string()
    }

    /// Returns the offer of the fixture `prebook`. Jetbridge's response does not name it.
    pub(crate) fn offer(&self) -> String {
        let id = &self.fixture("prebook")["data"]["id"];
        id.as_str().unwrap_or("fare/1").to_owned()
    }

    /// Makes the change with this name.
    pub(crate) fn change(&self, name: &str) -> Result<(), ChangeError> {
        match name {
            "prebook" => (self.prebook)(prebook_request(&self.offer())).map(drop),
            "book" => (self.book)(book_request()).map(drop),
            "cancel" => (self.cancel)(cancel_request()).map(drop),
            "buy" => Skylane::purchase_services(purchase_request()).map(drop),
            _ => panic!("there is no change {name}"),
        }
    }

    /// Makes the read with this name.
    pub(crate) fn read(&self, name: &str) -> Result<(), ReadError> {
        match name {
            "price" => (self.price)(price_request()).map(drop),
            "find" => (self.find)(find_request(None)).map(drop),
            "find by id" => (self.find)(find_request(Some(BOOKING_ID))).map(drop),
            "quote" => (self.quote)(quote_request()).map(drop),
            "list" => Skylane::list_services(list_request()).map(drop),
            "airports" => (self.find_airports)("london".to_owned(), 2).map(drop),
            "airline" => (self.read_airline)("TK".to_owned()).map(drop),
            _ => panic!("there is no read {name}"),
        }
    }

    /// Reads back the booking of the fixture after some values were replaced.
    pub(crate) fn found(&self, edits: &[(&str, Value)]) -> SupplierBooking {
        let gateway = gateway().respond_with(200, self.edited("booking", edits));
        match gateway.run(|| (self.find)(find_request(Some(BOOKING_ID)))) {
            Ok(BookingLookup::Found(booking)) => booking,
            other => panic!("{edits:?}: {other:?}"),
        }
    }
}

/// Returns the records of version 1.0, which both suppliers have.
fn without_details(response: DetailedPriceResponse) -> PriceResponse {
    let offers = response.offers.into_iter();
    PriceResponse {
        offers: offers.map(|detailed| detailed.offer).collect(),
        applied: response.applied,
        truncated: response.truncated,
    }
}

pub(crate) const SKYLANE: Supplier = Supplier {
    name: "skylane",
    price: |request| Skylane::price(request).map(without_details),
    prebook: |request| Skylane::prebook(request).map(|detailed| detailed.prebook),
    book: |request| Skylane::book(request).map(|detailed| detailed.booking),
    find: |request| {
        Ok(match Skylane::find(request)? {
            DetailedBookingLookup::Found(detailed) => BookingLookup::Found(detailed.booking),
            DetailedBookingLookup::NotFound => BookingLookup::NotFound,
        })
    },
    quote: Skylane::quote_cancellation,
    cancel: Skylane::cancel,
    find_airports: Skylane::find_airports,
    read_airline: Skylane::read_airline,
    list: |orders| {
        let orders: Vec<_> = orders.iter().map(|order| &order["data"]).collect();
        json!({ "data": orders }).to_string()
    },
    error: |code| {
        let detail = "Ann Example is not welcome.";
        json!({"errors": [{"code": code, "title": detail, "detail": detail}]}).to_string()
    },
    changes: &["prebook", "book", "cancel", "buy"],
    reads: &["price", "find", "quote", "list", "airports", "airline"],
    errors: &[
        ("unauthorized", 401, "Account", "RRRR"),
        ("invalid_request", 400, "Invalid", "RRRR"),
        ("not_found", 404, "other not-found", "??RR"),
        ("offer_unknown", 404, "Expired", "RR??"),
        ("offer_expired", 410, "Expired", "RR??"),
        ("offer_gone", 422, "Unavailable", "RR??"),
        ("documents_required", 422, "Invalid", "?R??"),
        ("amount_mismatch", 422, "other amount-mismatch", "?R?R"),
        ("offer_already_booked", 422, "Duplicate", "?R??"),
        ("duplicate_client_ref", 409, "Duplicate", "????"),
        ("airline_refused", 422, "other airline-refused", "?R??"),
        ("not_cancellable", 409, "NotCancellable", "??R?"),
        ("already_cancelled", 409, "NotCancellable", "????"),
        ("quote_unavailable", 422, "other quote-unavailable", "????"),
        ("order_state", 409, "other order-state", "???R"),
        ("bags_refused", 422, "other bags-refused", "???R"),
        ("bag_unknown", 422, "Unavailable", "???R"),
    ],
    not_found: "not_found",
    no_quote: "quote_unavailable",
    elsewhere: &[
        ("prebook", "prebook", "/data/id", "off-other"),
        ("prebook", "prebook", "/data/total/currency", "USD"),
        ("book", "booking", "/data/client_ref", "bkg_other"),
        ("cancel", "booking", "/data/client_ref", "bkg_other"),
        ("buy", "booking", "/data/client_ref", "bkg_other"),
        ("book", "booking", "/data/base/currency", "USD"),
        ("buy", "booking", "/data/bags/0/price/currency", "USD"),
        ("buy", "booking", "/data/bags/0/client_ref", "bkg_other"),
        ("buy", "booking", "/data/bags/0/id", "FLT-100001-bag-0"),
        ("book", "booking", "/data/state", "boarding"),
    ],
};

pub(crate) const JETBRIDGE: Supplier = Supplier {
    name: "jetbridge",
    price: Jetbridge::price,
    prebook: Jetbridge::prebook,
    book: Jetbridge::book,
    find: Jetbridge::find,
    quote: Jetbridge::quote_cancellation,
    cancel: Jetbridge::cancel,
    find_airports: Jetbridge::find_airports,
    read_airline: Jetbridge::read_airline,
    list: |bookings| {
        let bookings: Vec<_> = bookings.iter().map(|booking| &booking["result"]).collect();
        json!({"ok": true, "result": {"bookings": bookings}}).to_string()
    },
    error: |number| {
        let number: u32 = number.parse().unwrap();
        json!({"ok": false, "fault": {"no": number, "text": "Ann Example is not welcome."}})
            .to_string()
    },
    changes: &["prebook", "book", "cancel"],
    reads: &["price", "find", "quote", "airports", "airline"],
    errors: &[
        ("40100", 401, "Account", "RRR"),
        ("40000", 400, "Invalid", "RRR"),
        ("40400", 404, "other not-found", "??R"),
        ("40410", 404, "Expired", "R??"),
        ("40420", 404, "Expired", "?R?"),
        ("41000", 410, "Expired", "RR?"),
        ("42200", 409, "Unavailable", "RR?"),
        ("43000", 422, "Invalid", "R??"),
        ("45014", 402, "PaymentRequired", "?R?"),
        ("45001", 422, "other airline-refused", "?R?"),
        ("45036", 409, "Duplicate", "???"),
        ("46001", 409, "NotCancellable", "??R"),
        ("46004", 409, "NotCancellable", "???"),
        ("46006", 409, "other status", "???"),
        ("49001", 422, "other quote-unavailable", "???"),
    ],
    not_found: "40400",
    no_quote: "49001",
    elsewhere: &[
        ("prebook", "prebook", "/result/price/ccy", "USD"),
        ("book", "booking", "/result/clientRef", "bkg_other"),
        ("cancel", "booking", "/result/clientRef", "bkg_other"),
        ("book", "booking", "/result/price/ccy", "USD"),
        ("book", "booking", "/result/fare/ccy", "USD"),
        ("book", "booking", "/result/status", "BOARDING"),
    ],
};
