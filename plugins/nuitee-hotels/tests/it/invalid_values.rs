//! Responses with one value replaced by an invalid one: none makes the adapter panic, and amounts
//! are never negative.

use nuitee_hotels::NuiteeHotels;
use stopover_sdk::hotel_booking::BookingLookup;
use stopover_sdk::testing::{self, MockGateway};
use stopover_sdk::types::Location;
use stopover_sdk::{HotelContent, HotelPriceCalendar, HotelWeather};

use crate::ask;

/// Calls `check` with every document that differs from the fixture in one value.
fn for_each_mutation(fixture: &str, check: impl Fn(&str)) {
    testing::for_each_mutation(&ask::fixture(fixture), check);
}

#[test]
fn mutated_rates_never_yield_negative_prices() {
    for_each_mutation("rates.json", |document| {
        let response = ask::price(&MockGateway::new().respond_with(200, document));
        for hotel in response.iter().flat_map(|response| &response.hotels) {
            for offer in &hotel.offers {
                assert!(offer.total > 0, "{document}");
                assert!(offer.rooms.iter().all(|room| room.total >= 0), "{document}");
                assert_eq!(offer.rooms.len(), 2);
            }
        }
    });
}

#[test]
fn mutated_prebook_never_raises_price() {
    for_each_mutation("prebook.json", |document| {
        let gateway = MockGateway::with_responses(&[(200, document), (204, "")]);
        if let Ok(bound) = ask::prebook(&gateway) {
            assert!((1..=46050).contains(&bound.total), "{document}");
        }
    });
}

#[test]
fn mutated_booking_never_yields_negative_total() {
    for_each_mutation("booking.json", |document| {
        let canceled = document.replace("\"CONFIRMED\"", "\"CANCELED\"");
        for document in [document, &canceled] {
            let gateway = MockGateway::with_responses(&[(200, document), (204, "")]);
            if let Ok(BookingLookup::Found(state)) = ask::find(&gateway, Some("BK-OWN-1")) {
                assert!(state.total >= 0, "{document}");
                assert!(!state.supplier_reference.is_empty(), "{document}");
            }
        }
    });
}

#[test]
fn mutated_cancellation_never_yields_negative_amounts() {
    for_each_mutation("cancel.json", |document| {
        let gateway = MockGateway::with_responses(&[(200, document), (500, "")]);
        if let Ok(state) = ask::cancel(&gateway) {
            let amounts = state.cancellation.unwrap();
            let refund = amounts.refund.unwrap_or(0);
            assert!(amounts.fee >= 0 && refund >= 0, "{document}");
        }
    });
}

#[test]
fn mutated_content_weather_and_prices_never_panic() {
    for_each_mutation("hotel.json", |document| {
        let _ = ask::details(&MockGateway::new().respond_with(200, document));
    });
    for_each_mutation("reviews.json", |document| {
        let gateway = MockGateway::new().respond_with(200, document);
        let _ = gateway.run(|| NuiteeHotels::read_reviews("lpown1".to_owned(), 20));
    });
    let days = || ("2027-06-01".to_owned(), "2027-06-03".to_owned());
    for_each_mutation("weather.json", |document| {
        let gateway = MockGateway::new().respond_with(200, document);
        let at = Location {
            latitude: 43.7,
            longitude: 15.9,
        };
        let (start, end) = days();
        let _ = gateway.run(|| NuiteeHotels::forecast(at, start, end));
    });
    for_each_mutation("prices.json", |document| {
        let gateway = MockGateway::new().respond_with(200, document);
        let (start, end) = days();
        let ids = vec!["lpown1".to_owned()];
        let prices = gateway.run(|| NuiteeHotels::read_prices(ids, start, end));
        for day in prices.iter().flatten().flat_map(|hotel| &hotel.prices) {
            assert!(day.average_nightly >= 0, "{document}");
        }
    });
}
