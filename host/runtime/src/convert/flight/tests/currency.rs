//! Tests of the currency of tickets and quotes.

use super::*;
use host_domain::flight::passenger::PassengerContact;

/// Returns an offer in this currency, whose total is its position.
fn offer_in(currency: &str, total: i64) -> flight_pricing::Offer {
    flight_pricing::Offer {
        currency: currency.to_owned(),
        total,
        ..offer()
    }
}

#[test]
fn offers_in_another_currency_than_most_are_dropped_and_the_others_are_kept() {
    let in_currencies = |currencies: &[&str]| {
        let offers = (1..).zip(currencies);
        let offers = offers.map(|(total, currency)| offer_in(currency, total));
        offers.collect::<Vec<_>>()
    };
    for (currencies, kept, fields) in [
        (&["USD", "USD"][..], &[1, 2][..], &[][..]),
        (&["EUR", "USD"], &[1], &[("offers.currency", 1)]),
        (&["USD", "EUR"], &[1], &[("offers.currency", 1)]),
        (&["USD", "EUR", "EUR"], &[2, 3], &[("offers.currency", 1)]),
        (&["EUR", "USD", "EUR"], &[1, 3], &[("offers.currency", 1)]),
        (&["EUR", "USD", "GBP"], &[1], &[("offers.currency", 2)]),
        (&["euro", "USD"], &[2], &[("offers.currency", 1)]),
    ] {
        let mut dropped = DroppedItems::default();
        let mut request = request();
        request.limit = 3;
        let found = response(in_currencies(currencies));
        let read = price_response(found, &request, NOW, &mut dropped).unwrap();
        let totals = read.offers.iter().map(|offer| offer.total.minor);
        assert_eq!(totals.collect::<Vec<_>>(), kept, "{currencies:?}");
        assert_eq!(dropped.count_by_field(), fields, "{currencies:?}");
    }
}

#[test]
fn offer_that_is_dropped_decides_no_currency() {
    let invalid = offer_in("USD", 0);
    let mut dropped = DroppedItems::default();
    let found = response(vec![invalid, offer()]);
    let read = price_response(found, &request(), NOW, &mut dropped).unwrap();
    assert_eq!(read.offers[0].total, Money::new(52_300, euros()));
    assert_eq!(dropped.count_by_field(), [("offers.total", 1)]);
}

#[test]
fn ticket_in_another_currency_is_rejected() {
    let dropped = &mut DroppedItems::default();
    let booked = BookingExpectation::for_book(&FlightBookRequest {
        client_reference: "fbk_1".to_owned(),
        supplier_prebook: "prebook".to_owned(),
        total: Money::new(100, euros()),
        contact: PassengerContact {
            email: "a@example.com".to_owned(),
            phone: "+4930123456".to_owned(),
        },
        passengers: Vec::new(),
    });
    let changed = BookingExpectation::for_change("fbk_1", "order", euros());
    let found = asked_in(Some("order"), Some(euros()));
    for asked in [&booked, &changed, &found] {
        let read = supplier_booking(state(), asked, dropped);
        assert_eq!(rejected(read), "currency");
    }
    let found = asked_in(Some("order"), Some(Currency::USD));
    assert!(supplier_booking(state(), &found, dropped).is_ok());
}

#[test]
fn quote_has_amounts_of_one_currency_or_reason() {
    let quoted = |currency: &str, fee, refund| {
        quote(flight_cancellation::Quote::Quoted(
            flight_cancellation::AirlineQuote {
                currency: currency.to_owned(),
                fee,
                refund,
                expires_at: None,
            },
        ))
    };
    assert!(quoted("EUR", 100, 0).is_ok());
    for (expected, read) in [
        ("quoted.currency", quoted("XXX", 0, 0)),
        ("quoted.fee", quoted("EUR", -1, 0)),
        ("quoted.refund", quoted("EUR", 0, -1)),
    ] {
        assert_eq!(rejected(read), expected);
    }
    let why = flight_cancellation::Quote::Unavailable("not\nnow".to_owned());
    assert_eq!(
        quote(why).unwrap(),
        FlightSupplierQuote::Unavailable("not now".to_owned())
    );
}
