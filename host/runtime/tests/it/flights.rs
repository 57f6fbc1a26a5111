//! Tests of every flight call with a guest whose results consist only of zeros. An empty result is
//! accepted where it is valid, and rejected elsewhere.

use crate::support::guest::{Guest, every_function};
use crate::support::{Bench, context};
use host_domain::flight::passenger::{PassengerContact, Travellers};
use host_domain::flight::supplier_api::{
    BookingReference, BuyRequest, Filters, FlightBookRequest, FlightCancelRequest,
    FlightPrebookRequest, FlightPriceRequest, Sort,
};
use host_domain::money::{Currency, Money};
use host_domain::supplier::{Capability, ChangeError, FindRequest, ReadError};
use host_domain::time::Timestamp;
use host_runtime::Supplier;

const WORLD: &str = "
    export stopover:supplier/flight-pricing@1.0.0;
    export stopover:supplier/flight-booking@1.0.0;
    export stopover:supplier/flight-cancellation@1.0.0;
    export stopover:supplier/flight-services@1.0.0;
    export stopover:supplier/flight-reference@1.0.0;";

const INTERFACES: [&str; 5] = [
    "flight-pricing",
    "flight-booking",
    "flight-cancellation",
    "flight-services",
    "flight-reference",
];

/// Builds a guest in which all flight functions have the same body.
fn guest(body: &str) -> Guest {
    Guest {
        extra_world: WORLD,
        extra_functions: every_function(&INTERFACES, body),
        ..Guest::default()
    }
}

fn total() -> Money {
    Money::new(100, Currency::USD)
}

fn contact() -> PassengerContact {
    PassengerContact {
        email: "a@example.com".to_owned(),
        phone: "+4930123456".to_owned(),
    }
}

fn unreadable<T>(response: Result<T, ReadError>) -> String {
    match response {
        Err(ReadError::InvalidResponse(reason)) => reason,
        Err(other) => format!("{other:?}"),
        Ok(_) => "a response".to_owned(),
    }
}

fn unknown<T>(response: Result<T, ChangeError>) -> String {
    match response {
        Err(ChangeError::Unknown(reason)) => reason,
        Err(other) => format!("{other:?}"),
        Ok(_) => "a response".to_owned(),
    }
}

async fn supplier(bench: &Bench) -> Supplier {
    bench.load(&guest("(i32.const 7096)"), &[]).await
}

fn fares() -> FlightPriceRequest {
    FlightPriceRequest {
        journeys: Vec::new(),
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
    }
}

#[tokio::test]
async fn empty_responses_are_accepted_where_valid() {
    let bench = Bench::new();
    let supplier = supplier(&bench).await;
    for operation in [
        Capability::FlightPricing,
        Capability::FlightBooking,
        Capability::FlightCancellation,
        Capability::FlightServices,
        Capability::FlightReference,
    ] {
        assert!(supplier.supports(operation), "{operation:?}");
    }
    let fares = supplier.price_flights(&context(), fares()).await.unwrap();
    assert!(fares.offers.is_empty() && !fares.truncated);
    let airports = supplier
        .find_airports(&context(), "zag".to_owned(), 20)
        .await
        .unwrap();
    assert!(airports.airports.is_empty());
}

/// Calls every function that reads a booking or an airline.
async fn reads(supplier: &Supplier) -> [Result<(), ReadError>; 4] {
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
    let found = supplier.find_flight_booking(&context, find).await;
    let quoted = supplier.quote_flight_cancellation(&context, booking());
    let quoted = quoted.await;
    let listed = supplier.list_flight_services(&context, booking()).await;
    let read = supplier.read_airline(&context, airline).await;
    [
        found.map(drop),
        quoted.map(drop),
        listed.map(drop),
        read.map(drop),
    ]
}

/// Calls every function that makes a change.
async fn changes(supplier: &Supplier) -> [Result<(), ChangeError>; 4] {
    let context = context();
    let prebook = FlightPrebookRequest {
        client_reference: "fbk_1-prebook-1".to_owned(),
        supplier_offer: "offer".to_owned(),
        total: total(),
        contact: contact(),
        passengers: Vec::new(),
        use_payment_sdk: false,
    };
    let book = FlightBookRequest {
        client_reference: "fbk_1".to_owned(),
        supplier_prebook: "prebook".to_owned(),
        total: total(),
        contact: contact(),
        passengers: Vec::new(),
    };
    let cancel = FlightCancelRequest {
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
    [
        supplier.prebook_flight(&context, prebook).await.map(drop),
        supplier.book_flight(&context, book).await.map(drop),
        supplier.cancel_flight(&context, cancel).await.map(drop),
        supplier.buy_flight_services(&context, buy).await.map(drop),
    ]
}

#[tokio::test]
async fn zero_responses_to_reads_are_invalid() {
    let bench = Bench::new();
    let supplier = supplier(&bench).await;
    let fields = ["currency", "quoted.currency", "currency", "iata-code"];
    for (response, field) in reads(&supplier).await.into_iter().zip(fields) {
        let reason = unreadable(response);
        assert!(reason.starts_with(&format!("{field}: ")), "{reason}");
    }
}

#[tokio::test]
async fn zero_responses_to_changes_have_unknown_outcome() {
    let bench = Bench::new();
    let supplier = supplier(&bench).await;
    for response in changes(&supplier).await {
        let reason = unknown(response);
        assert!(reason.contains("cannot be used: currency: "), "{reason}");
    }
}

#[tokio::test]
async fn a_trap_in_any_function_is_an_error_of_that_call() {
    let bench = Bench::new();
    // The plugin is reloaded in between, because the circuit breaker would block a plugin that only
    // traps.
    let load = async || bench.load(&guest("unreachable"), &[]).await;
    for response in reads(&load().await).await {
        assert!(
            matches!(response, Err(ReadError::Failed(_))),
            "{response:?}"
        );
    }
    for response in changes(&load().await).await {
        assert!(
            matches!(response, Err(ChangeError::NotSent(_))),
            "{response:?}"
        );
    }
    let supplier = load().await;
    let priced = supplier.price_flights(&context(), fares()).await;
    assert!(matches!(priced, Err(ReadError::Failed(_))), "{priced:?}");
    let airports = supplier
        .find_airports(&context(), "zag".to_owned(), 20)
        .await;
    assert!(matches!(airports, Err(ReadError::Failed(_))));
}
