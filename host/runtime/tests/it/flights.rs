//! Every flight call, into a guest that answers each with nothing but zeros:
//! empty where empty makes sense, else not to be used.

use crate::support::guest::Guest;
use crate::support::{Bench, context};
use host_domain::flight::passenger::{Contact, Travellers};
use host_domain::flight::supply::{
    BookRequest, BookingReference, BuyRequest, CancelRequest, Filters, FindRequest, PrebookRequest,
    PriceRequest, Sort,
};
use host_domain::money::{Currency, Money};
use host_domain::supplier::{ChangeError, Operation, ReadError};
use host_domain::time::Timestamp;
use host_runtime::Supplier;
use std::fmt::Write as _;

const WORLD: &str = "
    export stopover:supplier/flight-pricing@1.0.0;
    export stopover:supplier/flight-booking@1.0.0;
    export stopover:supplier/flight-cancellation@1.0.0;
    export stopover:supplier/flight-services@1.0.0;
    export stopover:supplier/flight-reference@1.0.0;";

/// Each function and its parameters, flattened as the canonical ABI says.
const FUNCTIONS: [(&str, &str); 10] = [
    ("flight-pricing@1.0.0#price", "i32"),
    (
        "flight-booking@1.0.0#prebook",
        "i32 i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32 i32 i32",
    ),
    (
        "flight-booking@1.0.0#book",
        "i32 i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32 i32",
    ),
    (
        "flight-booking@1.0.0#find",
        "i32 i32 i32 i32 i32 i32 i32 i32 i64",
    ),
    (
        "flight-cancellation@1.0.0#quote-cancellation",
        "i32 i32 i32 i32",
    ),
    (
        "flight-cancellation@1.0.0#cancel",
        "i32 i32 i32 i32 i32 i32",
    ),
    ("flight-services@1.0.0#list-services", "i32 i32 i32 i32"),
    (
        "flight-services@1.0.0#buy-services",
        "i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i32",
    ),
    ("flight-reference@1.0.0#find-airports", "i32 i32 i32"),
    ("flight-reference@1.0.0#read-airline", "i32 i32"),
];

fn zeros() -> Guest {
    let functions = FUNCTIONS.iter().fold(String::new(), |mut text, (name, parameters)| {
        let _ = writeln!(
            text,
            r#"(func (export "stopover:supplier/{name}") (param {parameters}) (result i32) (i32.const 7096))"#
        );
        text
    });
    Guest {
        extra_world: WORLD,
        extra_functions: functions,
        ..Guest::default()
    }
}

fn total() -> Money {
    Money::new(100, Currency::USD)
}

fn contact() -> Contact {
    Contact {
        email: "a@example.com".to_owned(),
        phone: "+4930123456".to_owned(),
    }
}

fn unreadable<T>(answer: Result<T, ReadError>) -> String {
    match answer {
        Err(ReadError::Unreadable(why)) => why,
        Err(other) => format!("{other:?}"),
        Ok(_) => "an answer".to_owned(),
    }
}

fn unknown<T>(answer: Result<T, ChangeError>) -> String {
    match answer {
        Err(ChangeError::Unknown(why)) => why,
        Err(other) => format!("{other:?}"),
        Ok(_) => "an answer".to_owned(),
    }
}

async fn supplier(bench: &Bench) -> Supplier {
    bench.load(&zeros(), &[]).await
}

#[tokio::test]
async fn empty_answers_are_answers_where_empty_makes_sense() {
    let bench = Bench::new();
    let supplier = supplier(&bench).await;
    for operation in [
        Operation::FlightPricing,
        Operation::FlightBooking,
        Operation::FlightCancellation,
        Operation::FlightServices,
        Operation::FlightReference,
    ] {
        assert!(supplier.supports(operation), "{operation:?}");
    }
    let request = PriceRequest {
        legs: Vec::new(),
        travellers: Travellers {
            adults: 1,
            children: vec![5],
            infants: 0,
        },
        currency: None,
        filters: Filters::default(),
        sort: Sort::TotalAmount,
        descending: false,
        limit: 250,
    };
    let fares = supplier.price_flights(&context(), request).await.unwrap();
    assert!(fares.offers.is_empty() && !fares.truncated);
    let airports = supplier
        .find_airports(&context(), "zag".to_owned(), 20)
        .await
        .unwrap();
    assert!(airports.airports.is_empty());
}

#[tokio::test]
async fn reads_of_zeros_are_unreadable() {
    let bench = Bench::new();
    let supplier = supplier(&bench).await;
    let context = context();
    let booking = || BookingReference {
        supplier_reference: "order".to_owned(),
        client_reference: "fbk_1".to_owned(),
    };
    let find = FindRequest {
        client_reference: "fbk_1".to_owned(),
        supplier_reference: None,
        supplier_prebook: None,
        since: Timestamp(0),
    };
    let airline = "BA".to_owned();
    for (why, field) in [
        (
            unreadable(supplier.find_flight_booking(&context, find).await),
            "currency",
        ),
        (
            unreadable(
                supplier
                    .quote_flight_cancellation(&context, booking())
                    .await,
            ),
            "quoted.currency",
        ),
        (
            unreadable(supplier.list_flight_services(&context, booking()).await),
            "currency",
        ),
        (
            unreadable(supplier.read_airline(&context, airline).await),
            "iata-code",
        ),
    ] {
        assert!(why.starts_with(&format!("{field}: ")), "{why}");
    }
}

#[tokio::test]
async fn changes_answered_with_zeros_may_have_happened() {
    let bench = Bench::new();
    let supplier = supplier(&bench).await;
    let context = context();
    let prebook = PrebookRequest {
        client_reference: "fbk_1-prebook-1".to_owned(),
        supplier_offer: "offer".to_owned(),
        total: total(),
        contact: contact(),
        passengers: Vec::new(),
        use_payment_sdk: false,
    };
    let book = BookRequest {
        client_reference: "fbk_1".to_owned(),
        supplier_prebook: "prebook".to_owned(),
        total: total(),
        contact: contact(),
        passengers: Vec::new(),
    };
    let cancel = CancelRequest {
        client_reference: "fbk_1-cancel-1".to_owned(),
        booking_client_reference: "fbk_1".to_owned(),
        supplier_reference: "order".to_owned(),
    };
    let buy = BuyRequest {
        client_reference: "fbk_1-bags-1".to_owned(),
        booking_client_reference: "fbk_1".to_owned(),
        supplier_reference: "order".to_owned(),
        total: total(),
        services: Vec::new(),
    };
    for why in [
        unknown(supplier.prebook_flight(&context, prebook).await),
        unknown(supplier.book_flight(&context, book).await),
        unknown(supplier.cancel_flight(&context, cancel).await),
        unknown(supplier.buy_flight_services(&context, buy).await),
    ] {
        assert!(why.contains("cannot be used: currency: "), "{why}");
    }
}
