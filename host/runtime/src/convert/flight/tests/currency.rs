//! Tests of the currency of tickets and quotes.

use super::*;
use host_domain::flight::passenger::PassengerContact;

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
