//! Scripted responses of Jetbridge.

use fake_flights::Jetbridge;
use serde_json::{Value, json};
use stopover_sdk::testing;
use stopover_sdk::{FlightBooking, FlightCancellation, FlightPricing, FlightReference};

use crate::ask::{
    book_request, cancel_request, find_request, prebook_request, price_request, quote_request,
};
use crate::ending::Supplier;

/// Returns a response that Jetbridge returned.
pub(crate) fn fixture(name: &str) -> Value {
    let name = format!("jetbridge/{name}.json");
    serde_json::from_str(&testing::read_fixture(env!("CARGO_MANIFEST_DIR"), &name)).unwrap()
}

pub(crate) fn list(bookings: &[Value]) -> String {
    let bookings: Vec<_> = (bookings.iter())
        .map(|booking| booking.get("result").unwrap())
        .collect();
    json!({"ok": true, "result": {"bookings": bookings}}).to_string()
}

/// Returns an error in Jetbridge's form.
pub(crate) fn error(number: &str) -> String {
    let number: u32 = number.parse().unwrap();
    json!({"ok": false, "fault": {"no": number, "text": "Ann Example is not welcome."}}).to_string()
}

pub(crate) const SUPPLIER: Supplier = Supplier {
    name: "jetbridge",
    codes: &[
        ("40100", 401),
        ("40000", 400),
        ("40400", 404),
        ("40410", 404),
        ("40420", 404),
        ("41000", 410),
        ("42200", 409),
        ("43000", 422),
        ("45014", 402),
        ("45001", 422),
        ("45036", 409),
        ("46001", 409),
        ("46004", 409),
        ("46006", 409),
        ("49001", 422),
    ],
    error,
    changes: &[
        ("prebook", || {
            Jetbridge::prebook(prebook_request("fare/1")).map(|_| ())
        }),
        ("book", || Jetbridge::book(book_request()).map(|_| ())),
        ("cancel", || Jetbridge::cancel(cancel_request()).map(|_| ())),
    ],
    refused: &[
        ("prebook", "40100", "Account"),
        ("prebook", "40000", "Invalid"),
        ("prebook", "40410", "Expired"),
        ("prebook", "41000", "Expired"),
        ("prebook", "42200", "Unavailable"),
        ("prebook", "43000", "Invalid"),
        ("book", "40100", "Account"),
        ("book", "40000", "Invalid"),
        ("book", "40420", "Expired"),
        ("book", "41000", "Expired"),
        ("book", "42200", "Unavailable"),
        ("book", "45014", "PaymentRequired"),
        ("book", "45001", "Other(\"airline-refused\")"),
        ("cancel", "40100", "Account"),
        ("cancel", "40000", "Invalid"),
        ("cancel", "40400", "Other(\"not-found\")"),
        ("cancel", "46001", "NotCancellable"),
    ],
    reads: &[
        ("price", || Jetbridge::price(price_request()).map(|_| ())),
        ("find", || Jetbridge::find(find_request(None)).map(|_| ())),
        ("quote", || {
            Jetbridge::quote_cancellation(quote_request()).map(|_| ())
        }),
        ("airports", || {
            Jetbridge::find_airports("london".to_owned(), 2).map(|_| ())
        }),
        ("airline", || {
            Jetbridge::read_airline("TK".to_owned()).map(|_| ())
        }),
    ],
    no_quote: "49001",
    whole: &["prebook", "booking"],
    fixture,
    elsewhere: &[
        ("prebook", "prebook", "/result/price/ccy", "USD"),
        ("book", "booking", "/result/clientRef", "bkg_other"),
        ("cancel", "booking", "/result/clientRef", "bkg_other"),
        ("book", "booking", "/result/price/ccy", "USD"),
        ("book", "booking", "/result/fare/ccy", "USD"),
        ("book", "booking", "/result/status", "BOARDING"),
    ],
};
