//! Members that are repeated with different values. Their order decides nothing.

use stopover_sdk::testing::Outcome::{Done, NotSent};
use stopover_sdk::testing::{MockGateway, outcome};
use stopover_sdk::types::flight::FareConditions;

use crate::ask;

/// Returns the offer with another member before and after this one.
fn repeated(member: &str, other: &str) -> [String; 2] {
    let offer = ask::fixture("offer.json");
    assert!(offer.contains(member), "{member}");
    [(member, other), (other, member)]
        .map(|(first, second)| offer.replacen(member, &format!("{first}, {second}"), 1))
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
