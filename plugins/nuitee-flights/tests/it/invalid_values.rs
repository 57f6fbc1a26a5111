//! Responses with one value replaced by an invalid one: none makes the adapter panic, and no result
//! exceeds the agreed price.

use stopover_sdk::flight_booking::BookingLookup;
use stopover_sdk::flight_cancellation::Quote;
use stopover_sdk::testing;

use crate::ask;
use crate::events::verify;

/// Calls `check` with every document that differs from the fixture in one value.
fn for_each_mutation(fixture: &str, check: impl Fn(&str)) {
    testing::for_each_mutation(&ask::fixture(fixture), check);
}

#[test]
fn mutated_rates_never_panic() {
    for_each_mutation("rates.json", |document| {
        let response = ask::price(&ask::responding(&[(200, document)]));
        for offer in response.iter().flat_map(|response| &response.offers) {
            assert!(offer.total > 0, "{document}");
            assert_eq!(offer.journeys.len(), 2, "{document}");
            assert!(offer.supplier_offer.len() <= 4096, "{document}");
        }
    });
}

#[test]
fn mutated_verification_and_prebook_never_raise_price() {
    let request = ask::prebook_request();
    let (verify, prebook) = (ask::fixture("verify.json"), ask::fixture("prebook.json"));
    for_each_mutation("verify.json", |document| {
        let gateway = ask::responding(&[(200, document), (200, &prebook)]);
        let bound = ask::prebook_with(&gateway, request.clone());
        if let Ok(bound) = bound {
            assert_eq!(bound.total, 119_040, "{document}");
        }
    });
    for_each_mutation("prebook.json", |document| {
        let gateway = ask::responding(&[(200, &verify), (200, document)]);
        let bound = ask::prebook_with(&gateway, request.clone());
        if let Ok(bound) = bound {
            assert!((1..=121_040).contains(&bound.total), "{document}");
            assert!(!bound.checkout.unwrap().token.is_empty(), "{document}");
        }
    });
}

#[test]
fn mutated_booking_never_yields_negative_total() {
    let supplier_prebook = ask::supplier_prebook();
    for_each_mutation("booking.json", |document| {
        let gateway = ask::responding(&[(200, document), (204, "")]);
        let mut request = ask::find_request(Some(ask::BOOKING_ID));
        request.supplier_prebook = Some(supplier_prebook.clone());
        let found = ask::find_with(&gateway, request);
        if let Ok(BookingLookup::Found(state)) = found {
            assert!(state.total >= 0, "{document}");
            assert_eq!(state.supplier_reference, ask::BOOKING_ID, "{document}");
            assert_ne!(state.airline_pnr.as_deref(), Some(""), "{document}");
        }
    });
}

#[test]
fn mutated_quote_and_cancellation_never_yield_negative_amounts() {
    for_each_mutation("quote.json", |document| {
        let quote = ask::quote(&ask::responding(&[(200, document)]));
        if let Ok(Quote::Quoted(quote)) = quote {
            assert!(quote.fee >= 0 && quote.refund >= 0, "{document}");
        }
    });
    for_each_mutation("cancel.json", |document| {
        let gateway = ask::responding(&[(200, document), (500, "")]);
        if let Ok(state) = ask::cancel(&gateway) {
            let amounts = state.cancellation.unwrap();
            assert!(amounts.fee >= 0 && amounts.refund >= 0, "{document}");
        }
    });
}

#[test]
fn mutated_airports_airlines_and_events_never_panic() {
    for_each_mutation("airports.json", |document| {
        let response = ask::airports(&ask::responding(&[(200, document)]), 20);
        for airport in response.iter().flat_map(|response| &response.airports) {
            assert!(!airport.iata_code.is_empty(), "{document}");
        }
    });
    for_each_mutation("airline.json", |document| {
        if let Ok(airline) = ask::airline(&ask::responding(&[(200, document)]), "XO") {
            assert_eq!(airline.iata_code, "XO", "{document}");
        }
    });
    for_each_mutation("webhook.json", |document| {
        for event in verify(document).iter().flatten() {
            assert!(!event.id.is_empty(), "{document}");
        }
    });
}
