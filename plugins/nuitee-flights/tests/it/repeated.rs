//! Members that are repeated with different values. Their order decides nothing.

use serde_json::{Value, json};
use stopover_sdk::ChangeError;
use stopover_sdk::flight_cancellation::Quote;
use stopover_sdk::flight_pricing::Offer;
use stopover_sdk::testing::Outcome::{Done, InvalidResponse, NotSent};
use stopover_sdk::testing::outcome;
use stopover_sdk::types::flight::{FareConditions, SupplierBooking};

use crate::ask;

/// Repeats the member at a JSON pointer, with `value` before or after its own value.
fn repeated(fixture: &str, pointer: &str, value: &str) -> [String; 2] {
    let mut own = Value::Null;
    let document = ask::changed(fixture, |response| {
        let member = response.pointer_mut(pointer).unwrap();
        own = std::mem::replace(member, json!("@@"));
    });
    let name = pointer.rsplit('/').next().unwrap();
    let marked = format!("\"{name}\":\"@@\"");
    assert!(document.contains(&marked), "{pointer}");
    let own = own.to_string();
    [(value, own.as_str()), (own.as_str(), value)].map(|(first, second)| {
        document.replace(&marked, &format!("\"{name}\":{first},\"{name}\":{second}"))
    })
}

const OFFER: &str = "/data/0/journeys/0/offers/0";
const SEGMENT: &str = "/data/0/journeys/0/segments/0";

#[test]
fn order_of_repeated_members_of_an_offer_decides_nothing() {
    for (object, member, value) in [
        (OFFER, "offerId", r#""other""#),
        (OFFER, "pricing", "{}"),
        (
            OFFER,
            "pricing/display",
            r#"{"total": 1, "currency": "EUR"}"#,
        ),
        (OFFER, "pricing/display/total", "1"),
        (OFFER, "pricing/display/currency", r#""USD""#),
        (OFFER, "pricing/display/taxes", "1"),
        (OFFER, "terms", r#"{"refundable": false}"#),
        (OFFER, "terms/refundable", "false"),
        (OFFER, "terms/changeable", "false"),
        (OFFER, "terms/refundFee", "{}"),
        (OFFER, "terms/refundFee/applicability", r#""noShow""#),
        (OFFER, "terms/refundFee/pricing/display/amount", "1"),
        (OFFER, "segmentFares", "[]"),
        (OFFER, "segmentFares/0/cabin", r#""First""#),
        (OFFER, "fare/family", r#""Other""#),
        (SEGMENT, "flight", r#"{"marketingNumber": "9999"}"#),
        (SEGMENT, "flight/marketingNumber", r#""9999""#),
        (SEGMENT, "carrier/marketingCode", r#""ZZ""#),
        (SEGMENT, "departureTime", r#""2027-06-01T01:00:00""#),
        (SEGMENT, "originCode", r#""ZZZ""#),
        (SEGMENT, "direction", r#""INBOUND""#),
    ] {
        let pointer = format!("{object}/{member}");
        let [first, second] = repeated("rates.json", &pointer, value).map(|document| {
            let found = ask::price(&ask::responding(&[(200, &document)]));
            found.map(|found| found.offers)
        });
        assert_eq!(first, second, "{member}");
    }
}

#[test]
fn repeated_terms_and_fees_are_unknown() {
    let terms = |document: &str| -> FareConditions {
        let offers = ask::price(&ask::responding(&[(200, document)]))
            .unwrap()
            .offers;
        let mut offers = offers.into_iter();
        let is_flex = |offer: &Offer| offer.fare_family.as_deref() == Some("Flex");
        offers.find(is_flex).unwrap().fare_conditions
    };
    let conditions = terms(&ask::fixture("rates.json"));
    assert_eq!(conditions.refund.allowed, Some(true));
    assert!(conditions.refund.penalty.is_some());
    for document in repeated("rates.json", &format!("{OFFER}/terms/refundable"), "false") {
        assert_eq!(terms(&document).refund.allowed, None);
        assert_eq!(terms(&document).change, conditions.change);
    }
    for document in repeated("rates.json", &format!("{OFFER}/terms/refundFee"), "{}") {
        assert_eq!(terms(&document).refund.penalty, None);
        assert_eq!(terms(&document).change, conditions.change);
    }
}

#[test]
fn repeated_terms_of_a_verification_are_not_agreed_to() {
    const VERIFIED: &str = "/data/0/journey";
    let prebook = |document: &str| {
        let gateway = ask::responding(&[(200, document)]);
        let prebook = ask::prebook(&gateway);
        assert_eq!(outcome(&prebook), NotSent, "{prebook:?}");
        assert_eq!(gateway.requests().len(), 1);
    };
    for (member, value) in [
        ("pricing", "{}"),
        ("pricing/display", r#"{"total": 1, "currency": "EUR"}"#),
        ("pricing/display/total", "1"),
        ("pricing/display/currency", r#""USD""#),
        ("segments", "[]"),
        ("segments/0/flight/marketingNumber", r#""9999""#),
        ("segments/0/departureTime", r#""2027-06-01T01:00:00""#),
    ] {
        for document in repeated("verify.json", &format!("{VERIFIED}/{member}"), value) {
            prebook(&document);
        }
    }
    let changes = "/data/0/changes";
    let [changed, _] = repeated("verify.json", changes, "null");
    for flags in [
        r#"{"cabinChanged":true,"cabinChanged":false}"#,
        r#"{"cabinChanged":false,"cabinChanged":true}"#,
    ] {
        prebook(&changed.replacen("\"changes\":null", &format!("\"changes\":{flags}"), 1));
    }
}

#[test]
fn repeated_price_of_a_booking_is_that_of_the_prebook() {
    let booked = |document: &str| -> Result<SupplierBooking, ChangeError> {
        ask::book(&ask::responding(&[(200, document)]))
    };
    for (member, value) in [
        ("pricing/totalAmount", "1"),
        ("pricing", r#"{"totalAmount": 1}"#),
    ] {
        let pointer = format!("/data/0/booking/{member}");
        for document in repeated("booking.json", &pointer, value) {
            let booking = booked(&document);
            assert_eq!(outcome(&booking), Done, "{member}: {booking:?}");
            assert_eq!(booking.unwrap().total, 119_040, "{member}");
        }
    }
}

#[test]
fn repeated_members_of_a_quote_give_no_quote() {
    for (member, value) in [
        ("refund", "{}"),
        ("penalty", "{}"),
        ("destination", r#""voucher""#),
        ("isRefundable", "false"),
        ("confidence", r#""heuristic""#),
    ] {
        let pointer = format!("/data/0/{member}");
        let quotes = repeated("quote.json", &pointer, value)
            .map(|document| ask::quote(&ask::responding(&[(200, &document)])));
        let [first, second] = &quotes;
        assert_eq!(first, second, "{member}");
        let is_quoted = matches!(first, Ok(Quote::Quoted(_)));
        assert!(!is_quoted, "{member}: {first:?}");
        assert!(matches!(outcome(first), Done | InvalidResponse), "{member}");
    }
}
