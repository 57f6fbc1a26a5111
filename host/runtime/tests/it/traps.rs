//! Tests of a plugin that traps in every function of hotels and payments; `flights.rs` and
//! `events.rs` cover the other functions. A trap fails only its call, and a change without a sent
//! request was not made.

use crate::support::guest::{Guest, every_function, exports};
use crate::support::{Bench, assert_errors, context, find_request, review_count, stay, total};
use host_domain::hotel::supplier_api::{
    HotelBookRequest, HotelCancelRequest, HotelFindExpectation, HotelPrebookRequest,
    HotelPriceRequest, PlaceQuery, SearchFilters, SearchRequest, SearchSort,
};
use host_domain::hotel::{Contact, Location};
use host_domain::money::Currency;
use host_domain::payment::PaymentError;
use host_domain::supplier::{ChangeError, ReadError};
use host_runtime::{
    AuthorizeRequest, CaptureRequest, IntentRequest, RefundRequest, Supplier, VoidRequest,
};

/// Interfaces that only this guest exports. The functions that every guest exports are made to trap
/// individually.
const INTERFACES: [&str; 7] = [
    "hotel-places",
    "hotel-search",
    "hotel-pricing",
    "hotel-booking",
    "hotel-weather",
    "hotel-price-calendar",
    "processor",
];

const TRAP: &str = "unreachable";

const POINT: Location = Location {
    latitude: 41.9,
    longitude: 12.5,
};

/// Reloads the plugin for a few calls, because the circuit breaker would block a plugin that only
/// traps.
async fn load(bench: &Bench) -> Supplier {
    let guest = Guest {
        on_read: TRAP.to_owned(),
        on_change: TRAP.to_owned(),
        sends_on_read: false,
        sends_on_change: false,
        extra_world: exports(&INTERFACES),
        extra_functions: every_function(&INTERFACES, TRAP),
        ..Guest::default()
    };
    bench.load(&guest, &[]).await
}

fn contact() -> Contact {
    Contact {
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
        email: "a@example.com".to_owned(),
        phone: "+4930123456".to_owned(),
    }
}

fn text() -> String {
    "x".to_owned()
}

/// Calls every function that reads.
async fn reads(bench: &Bench) -> [Result<(), ReadError>; 12] {
    let places = PlaceQuery {
        text: text(),
        country: None,
        limit: 1,
    };
    let search = SearchRequest {
        center: POINT,
        radius_m: 1000,
        supplier_place_id: None,
        stay: stay(),
        filters: SearchFilters::default(),
        sort: SearchSort::Distance,
        limit: 1,
    };
    let price = HotelPriceRequest {
        supplier_hotel_ids: vec![text()],
        stay: stay(),
        max_offers_per_hotel: 1,
        include_package_rates: false,
    };
    let (start, end) = (stay().check_in, stay().check_out);
    let [first, second, third] = [load(bench).await, load(bench).await, load(bench).await];
    let context = context();
    let prices = first.read_hotel_price_calendar(&context, vec![text()], start, end);
    let weather = second.forecast_weather(&context, POINT, start, end);
    let found =
        second.find_hotel_booking(&context, find_request(), HotelFindExpectation::default());
    let quote = third.quote_hotel_cancellation(&context, text(), text(), (total(), 1));
    [
        first.find_places(&context, places).await.map(drop),
        first.search_hotels(&context, search).await.map(drop),
        first.price_hotels(&context, price).await.map(drop),
        prices.await.map(drop),
        second.read_hotel_details(&context, text()).await.map(drop),
        review_count(&second, "x", 0).await.map(drop),
        weather.await.map(drop),
        found.await.map(drop),
        quote.await.map(drop),
        third
            .find_payment(&context, text(), None, total())
            .await
            .map(drop),
        third
            .find_refund(&context, text(), text(), total())
            .await
            .map(drop),
        third.describe_instrument(&context, text()).await.map(drop),
    ]
}

/// Calls every function that changes a booking.
async fn changes(supplier: &Supplier) -> [Result<(), ChangeError>; 3] {
    let context = context();
    let prebook = HotelPrebookRequest {
        client_reference: "hbk_1-prebook-1".to_owned(),
        supplier_hotel_id: text(),
        supplier_offer: text(),
        stay: stay(),
        total: total(),
        contact: contact(),
        rooms: Vec::new(),
        use_payment_sdk: false,
    };
    let book = HotelBookRequest {
        client_reference: "hbk_1".to_owned(),
        supplier_prebook: text(),
        supplier_hotel_id: text(),
        stay: stay(),
        total: total(),
        contact: contact(),
        rooms: Vec::new(),
    };
    let cancel = HotelCancelRequest {
        client_reference: "hbk_1-cancel-1".to_owned(),
        booking_client_reference: "hbk_1".to_owned(),
        supplier_reference: text(),
        rooms: Vec::new(),
    };
    let canceled = supplier.cancel_hotel(&context, cancel, Currency::USD);
    [
        supplier.prebook_hotel(&context, prebook).await.map(drop),
        supplier.book_hotel(&context, book).await.map(drop),
        canceled.await.map(drop),
    ]
}

/// Calls every function that moves money.
async fn payments(bench: &Bench) -> [Result<(), PaymentError>; 5] {
    let context = context();
    let authorize = AuthorizeRequest {
        client_reference: text(),
        amount: total(),
        instrument: text(),
        description: text(),
        off_session: false,
    };
    let intent = IntentRequest {
        client_reference: text(),
        amount: total(),
        description: text(),
    };
    let capture = CaptureRequest {
        client_reference: text(),
        processor_reference: text(),
        amount: total(),
    };
    let refund = RefundRequest {
        client_reference: text(),
        processor_reference: text(),
        amount: total(),
    };
    let void = VoidRequest {
        client_reference: text(),
        processor_reference: text(),
        amount: total(),
    };
    let [first, second] = [load(bench).await, load(bench).await];
    [
        first.create_intent(&context, intent).await.map(drop),
        first.authorize(&context, authorize).await.map(drop),
        first.capture(&context, capture).await.map(drop),
        second.void(&context, void).await.map(drop),
        second.refund(&context, refund).await.map(drop),
    ]
}

#[tokio::test]
async fn a_trap_in_any_function_is_an_error_of_that_call() {
    let bench = Bench::new();
    assert_errors(&reads(&bench).await, "AdapterFailed(");
    assert_errors(&changes(&load(&bench).await).await, "NotSent(");
    assert_errors(&payments(&bench).await, "NotSent(");
}
