//! Members that are repeated with different values. Their order decides nothing.

use serde_json::Value;
use stopover_sdk::flight_cancellation::Quote;
use stopover_sdk::testing::Outcome::{Done, InvalidResponse, NotSent};
use stopover_sdk::testing::{MockGateway, outcome};
use stopover_sdk::types::flight::FareConditions;

use crate::ask;

/// Returns the offer with another member before and after this one.
fn repeated(member: &str, other: &str) -> [String; 2] {
    repeated_in(&ask::fixture("offer.json"), member, other)
}

/// Returns a document with another member before and after this one.
fn repeated_in(document: &str, member: &str, other: &str) -> [String; 2] {
    assert!(document.contains(member), "{member}");
    [(member, other), (other, member)]
        .map(|(first, second)| document.replacen(member, &format!("{first}, {second}"), 1))
}

/// Returns the JSON of a member of an order, without spaces.
fn order_member(name: &str) -> (String, String) {
    let order: Value = serde_json::from_str(&ask::fixture("order.json")).unwrap();
    let member = format!("\"{name}\":{}", order["data"][name]);
    (order.to_string(), member)
}

#[test]
fn repeated_passenger_or_document_type_is_not_prebooked() {
    for (member, other) in [
        (r#""type": "adult""#, r#""type": "child""#),
        (r#""type": "child""#, r#""type": "adult""#),
        (r#""age": 8"#, r#""age": 30"#),
        (r#""id": "pas_adult""#, r#""id": "pas_other""#),
        (
            r#""passenger_identity_documents_required": true"#,
            r#""passenger_identity_documents_required": false"#,
        ),
        (
            r#""supported_passenger_identity_document_types": ["#,
            r#""supported_passenger_identity_document_types": ["visa"]"#,
        ),
        (r#""passengers": ["#, r#""passengers": []"#),
        (
            r#""expires_at": "2027-05-01T10:30:00.500000Z""#,
            r#""expires_at": "x""#,
        ),
    ] {
        let offers = match member.ends_with('[') {
            true => {
                let [_, before] = repeated(member, other);
                vec![before]
            }
            false => repeated(member, other).to_vec(),
        };
        for offer in offers {
            let prebook = ask::prebook(&MockGateway::new().respond_with(200, &offer));
            assert_eq!(outcome(&prebook), NotSent, "{other}: {prebook:?}");
        }
    }
    // The same value twice says one thing.
    for member in [r#""type": "adult""#, r#""age": 8"#] {
        let [offer, _] = repeated(member, member);
        let prebook = ask::prebook(&MockGateway::new().respond_with(200, &offer));
        assert_eq!(outcome(&prebook), Done, "{member}: {prebook:?}");
    }
}

#[test]
fn repeated_conditions_are_unknown() {
    let conditions = |offer: &str| -> FareConditions {
        let prebook = ask::prebook(&MockGateway::new().respond_with(200, offer));
        prebook.unwrap().fare_conditions
    };
    let usual = conditions(&ask::fixture("offer.json"));
    assert_eq!(usual.refund.allowed, Some(true));
    assert!(usual.refund.penalty.is_some());
    for offer in repeated(r#""allowed": true"#, r#""allowed": false"#) {
        let found = conditions(&offer);
        assert_eq!(found.refund.allowed, None, "{offer}");
        assert_eq!(found.change, usual.change, "{offer}");
    }
    for (member, other) in [
        (r#""penalty_amount": "50""#, r#""penalty_amount": "1""#),
        (
            r#""penalty_currency": "USD""#,
            r#""penalty_currency": "EUR""#,
        ),
    ] {
        for offer in repeated(member, other) {
            assert_eq!(conditions(&offer).refund.penalty, None, "{offer}");
        }
    }
}

/// It is not known whether Duffel allows the cancellation, so that nothing is sent and nothing counts as
/// refused.
#[test]
fn order_with_different_available_actions_is_neither_canceled_nor_refused() {
    let (order, actions) = order_member("available_actions");
    let answers = |order: &str| {
        let responses = || {
            let gateway = MockGateway::new().respond_with(200, order);
            let gateway = gateway.respond_with(201, ask::fixture("quote.json"));
            gateway.respond_with(200, ask::confirmed())
        };
        let (quoted, canceled) = (responses(), responses());
        let (quote, cancellation) = (ask::quote(&quoted), ask::cancel(&canceled));
        let sent = [quoted, canceled].map(|gateway| gateway.requests().len());
        (quote, outcome(&cancellation), sent)
    };
    for other in [
        r#""available_actions":[]"#,
        r#""available_actions":["update"]"#,
    ] {
        for order in repeated_in(&order, &actions, other) {
            let (quote, cancellation, sent) = answers(&order);
            assert_eq!(outcome(&quote), InvalidResponse, "{order}");
            assert_eq!((cancellation, sent), (NotSent, [1, 1]), "{order}");
        }
    }
    let [same, _] = repeated_in(&order, &actions, &actions);
    let (quote, cancellation, sent) = answers(&same);
    assert!(matches!(quote, Ok(Quote::Quoted(_))), "{quote:?}");
    assert_eq!((cancellation, sent), (Done, [2, 3]));
}

/// The list of cancellations has the one that counts.
#[test]
fn different_cancellations_of_an_order_are_not_used() {
    let cancellation = |refund: &str| {
        let done = ask::confirmed_with("/refund_amount", refund);
        let done: Value = serde_json::from_str(&done).unwrap();
        format!("\"cancellation\":{}", done["data"])
    };
    let order: Value = serde_json::from_str(&ask::canceled_order()).unwrap();
    let (order, none) = (order.to_string(), "\"cancellation\":null");
    assert!(order.contains(none));
    let order = order.replace(none, &cancellation("365.40"));
    for order in repeated_in(&order, &cancellation("365.40"), &cancellation("1.00")) {
        let list = ask::list(&[&ask::confirmed_with("/refund_amount", "100.00")], None);
        let gateway = MockGateway::with_responses(&[(200, &order), (200, &list)]);
        let state = ask::found(&gateway).unwrap().unwrap();
        assert_eq!(state.cancellation.unwrap().refund, 10_000, "{order}");
        // Without the list, the refund is not known.
        let gateway = MockGateway::with_responses(&[(200, &order), (200, "{}")]);
        assert_eq!(outcome(&ask::found(&gateway)), InvalidResponse, "{order}");
    }
}
