//! Tests of every flight call with a guest whose results consist only of zeros. An empty result is
//! accepted where it is valid, and rejected elsewhere.

use crate::support::guest::{Guest, every_function, exports};
use crate::support::{Bench, assert_errors, context, find_request, total};
use host_domain::flight::passenger::{PassengerContact, Travellers};
use host_domain::flight::supplier_api::{
    BookingReference, BuyRequest, Filters, FlightBookRequest, FlightCancelRequest,
    FlightPrebookRequest, FlightPriceRequest, Sort,
};
use host_domain::supplier::{Capability, ChangeError, ReadError};
use host_runtime::Supplier;

const INTERFACES: [&str; 5] = [
    "flight-pricing",
    "flight-booking",
    "flight-cancellation",
    "flight-services",
    "flight-reference",
];

/// Loads a guest in which all flight functions have the same body.
async fn load(bench: &Bench, body: &str) -> Supplier {
    let guest = Guest {
        extra_world: exports(&INTERFACES),
        extra_functions: every_function(&INTERFACES, body),
        ..Guest::default()
    };
    bench.load(&guest, &[]).await
}

/// Loads a guest whose results consist only of zeros.
async fn load_zeros(bench: &Bench) -> Supplier {
    load(bench, "(i32.const 7096)").await
}

fn contact() -> PassengerContact {
    PassengerContact {
        email: "a@example.com".to_owned(),
        phone: "+4930123456".to_owned(),
    }
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
    let supplier = load_zeros(&bench).await;
    for operation in [
        Capability::FlightPricing,
        Capability::FlightBooking,
        Capability::FlightCancellation,
        Capability::FlightServices,
        Capability::FlightReference,
    ] {
        assert!(supplier.supports(operation), "{operation:?}");
    }
    assert_eq!(finds(&supplier).await, [Ok((0, false)), Ok((0, false))]);
}

/// Calls every function that returns a list. Returns its length and whether it is truncated.
async fn finds(supplier: &Supplier) -> [Result<(usize, bool), ReadError>; 2] {
    let context = context();
    let fares = supplier.price_flights(&context, fares()).await;
    let airports = supplier.find_airports(&context, "zag".to_owned(), 20).await;
    [
        fares.map(|found| (found.offers.len(), found.truncated)),
        airports.map(|found| (found.airports.len(), found.truncated)),
    ]
}

/// Calls every function that reads a booking or an airline.
async fn reads(supplier: &Supplier) -> [Result<(), ReadError>; 4] {
    let context = context();
    let booking = || BookingReference {
        supplier_reference: "order".to_owned(),
        client_reference: "fbk_1".to_owned(),
    };
    let found = supplier.find_flight_booking(&context, find_request(), None);
    let quoted = supplier.quote_flight_cancellation(&context, booking());
    let listed = supplier.list_flight_services(&context, booking());
    let read = supplier.read_airline(&context, "BA".to_owned());
    [
        found.await.map(drop),
        quoted.await.map(drop),
        listed.await.map(drop),
        read.await.map(drop),
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
        supplier
            .cancel_flight(&context, cancel, total().currency)
            .await
            .map(drop),
        supplier
            .buy_flight_services(&context, buy, total().currency)
            .await
            .map(drop),
    ]
}

/// A component with an interface of version 1.1 has the capability, with or without the interface of
/// version 1.0, whose functions trap here.
#[tokio::test]
async fn both_versions_are_called_and_the_newer_one_first() {
    let old = ["flight-pricing", "flight-booking"];
    let new = ["detailed-flight-pricing", "detailed-flight-booking"];
    let zeros = every_function(&new, "(i32.const 7096)");
    let both = every_function(&old, "unreachable") + &zeros;
    for (interfaces, functions) in [
        (new.to_vec(), zeros),
        ([old, new].concat(), both),
        (old.to_vec(), every_function(&old, "(i32.const 7096)")),
    ] {
        let bench = Bench::new();
        let guest = Guest {
            extra_world: exports(&interfaces),
            extra_functions: functions,
            ..Guest::default()
        };
        let supplier = bench.load(&guest, &[]).await;
        for capability in [Capability::FlightPricing, Capability::FlightBooking] {
            assert!(supplier.supports(capability), "{interfaces:?}");
        }
        let priced = supplier.price_flights(&context(), fares()).await;
        assert_eq!(priced.unwrap().offers.len(), 0, "{interfaces:?}");
        let [found, ..] = reads(&supplier).await;
        assert_errors(&[found], "InvalidResponse(\"currency: ");
        let [prebooked, booked, ..] = changes(&supplier).await;
        let error = "Unknown(FailureReason { message: \"the response cannot be used: currency: ";
        assert_errors(&[prebooked, booked], error);
    }
}

#[tokio::test]
async fn zero_responses_to_reads_are_invalid() {
    let bench = Bench::new();
    let supplier = load_zeros(&bench).await;
    let fields = ["currency", "quoted.currency", "currency", "iata-code"];
    for (response, field) in reads(&supplier).await.into_iter().zip(fields) {
        assert_errors(&[response], &format!("InvalidResponse(\"{field}: "));
    }
}

#[tokio::test]
async fn zero_responses_to_changes_have_unknown_outcome() {
    let bench = Bench::new();
    let supplier = load_zeros(&bench).await;
    let error = "Unknown(FailureReason { message: \"the response cannot be used: currency: ";
    assert_errors(&changes(&supplier).await, error);
}

#[tokio::test]
async fn a_trap_in_any_function_is_an_error_of_that_call() {
    let bench = Bench::new();
    // The plugin is reloaded in between, because the circuit breaker would block a plugin that only
    // traps.
    let load = async || load(&bench, "unreachable").await;
    assert_errors(&reads(&load().await).await, "AdapterFailed(");
    assert_errors(&changes(&load().await).await, "NotSent(");
    assert_errors(&finds(&load().await).await, "AdapterFailed(");
}
