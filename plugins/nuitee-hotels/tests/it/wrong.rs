//! Responses with one value replaced by an invalid one: none makes the adapter panic, and amounts
//! are never negative.

use nuitee_hotels::NuiteeHotels;
use stopover_sdk::hotel_booking::BookingLookup;
use stopover_sdk::testing::{self, MockGateway};
use stopover_sdk::types::Location;
use stopover_sdk::{
    HotelBooking, HotelCancellation, HotelContent, HotelPriceCalendar, HotelPricing, HotelWeather,
};

use crate::ask;

/// Calls `check` with every document that differs from the fixture in one value.
fn for_each_mutation(fixture: &str, check: impl Fn(&str)) {
    testing::for_each_mutation(&ask::fixture(fixture), check);
}

#[test]
fn mutated_rates_never_yield_negative_prices() {
    for_each_mutation("rates.json", |document| {
        let gateway = MockGateway::new().respond_with(200, document);
        let response = gateway.run(|| NuiteeHotels::price(ask::price_request()));
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
        let gateway = MockGateway::new()
            .respond_with(200, document)
            .respond_with(204, "");
        let bound = gateway.run(|| NuiteeHotels::prebook(ask::prebook_request()));
        if let Ok(bound) = bound {
            assert!((1..=46050).contains(&bound.total), "{document}");
        }
    });
}

#[test]
fn mutated_booking_never_yields_negative_total() {
    for_each_mutation("booking.json", |document| {
        for canceled in [
            document.to_owned(),
            document.replace("\"CONFIRMED\"", "\"CANCELED\""),
        ] {
            let gateway = MockGateway::new()
                .respond_with(200, canceled)
                .respond_with(204, "");
            let found = gateway.run(|| NuiteeHotels::find(ask::find_request(Some("BK-OWN-1"))));
            if let Ok(BookingLookup::Found(state)) = found {
                assert!(state.total >= 0, "{document}");
                assert!(!state.supplier_reference.is_empty(), "{document}");
            }
        }
    });
}

#[test]
fn mutated_cancellation_never_yields_negative_amounts() {
    for_each_mutation("cancel.json", |document| {
        let gateway = MockGateway::new()
            .respond_with(200, document)
            .respond_with(500, "");
        let canceled = gateway.run(|| NuiteeHotels::cancel(ask::cancel_request()));
        if let Ok(state) = canceled {
            let amounts = state.cancellation.unwrap();
            assert!(
                amounts.fee >= 0 && amounts.refund.unwrap_or(0) >= 0,
                "{document}"
            );
        }
    });
}

#[test]
fn mutated_content_weather_and_prices_never_panic() {
    for_each_mutation("hotel.json", |document| {
        let gateway = MockGateway::new().respond_with(200, document);
        let _ = gateway.run(|| NuiteeHotels::read_details("lpown1".to_owned()));
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
