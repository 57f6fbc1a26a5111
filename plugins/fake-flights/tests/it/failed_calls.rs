//! Outcomes of failed calls at both suppliers: every documented error at every call, and every
//! failure of an exchange.

use serde_json::Value;
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::{Failed, InvalidResponse, Misconfigured};
use stopover_sdk::testing::{
    MockGateway, check_change_failures, check_read_failures, outcome, refusal,
};
use stopover_sdk::{ChangeError, ReadError, Refusal, RefusalReason};

use crate::ask::gateway;
use crate::supplier::{JETBRIDGE, SKYLANE, SUPPLIERS, Supplier};

const INVALID_SETTINGS: [&str; 3] = [
    "{}",
    r#"{"base_url": 7}"#,
    r#"{"base_url": "x", "key": "y"}"#,
];

/// Returns the name of every change with its supplier.
fn changes() -> impl Iterator<Item = (Supplier, &'static str)> {
    SUPPLIERS.into_iter().flat_map(|supplier| {
        let changes = supplier.changes.iter();
        changes.map(move |change| (supplier, *change))
    })
}

fn is_unknown(ending: &Result<(), ChangeError>) -> bool {
    matches!(ending, Err(ChangeError::Unknown(text)) if !text.is_empty() && !text.contains("Ann"))
}

fn check_refusal(refusal: &Refusal, reason: &str, code: &str, case: &str) {
    let found = match &refusal.reason {
        RefusalReason::Other(text) => format!("other {text}"),
        known => format!("{known:?}").replace("RefusalReason::", ""),
    };
    assert_eq!(found, reason, "{case}");
    assert_eq!(refusal.supplier_code.as_deref(), Some(code), "{case}");
    assert!(!refusal.message.contains("Ann"), "{case}");
}

#[test]
fn change_is_refused_by_listed_code_and_otherwise_unknown() {
    for supplier in SUPPLIERS {
        for (code, status, reason, outcomes) in supplier.errors {
            for (change, outcome) in supplier.changes.iter().zip(outcomes.chars()) {
                let case = format!("{} {change}: {status} {code}", supplier.name);
                let gateway = gateway().respond_with(*status, (supplier.error)(code));
                let ending = gateway.run(|| supplier.change(change));
                assert_eq!(gateway.requests().len(), 1, "{case}");
                if outcome == 'R' {
                    check_refusal(&refusal(ending), reason, code, &case);
                } else {
                    assert!(is_unknown(&ending), "{case}: {ending:?}");
                }
            }
        }
    }
}

#[test]
fn failed_change_is_unknown_or_not_sent() {
    for supplier in SUPPLIERS {
        let mut unusable = vec![
            Response::new(422, r#"{"errors": []}"#),
            Response::new(422, r#"{"ok": true, "fault": {"no": 45001}}"#),
            Response::new(422, (SKYLANE.error)("seat_on_fire")),
            Response::new(422, (JETBRIDGE.error)("45999")),
        ];
        unusable.extend(["prebook", "booking"].map(|name| {
            let whole = supplier.fixture(name).to_string();
            Response::new(200, whole.split_at(whole.len() / 2).0)
        }));
        for (code, ..) in supplier.errors {
            // These statuses are not documented for the code.
            let undocumented = [200, 302, 418, 500, 503];
            unusable
                .extend(undocumented.map(|status| Response::new(status, (supplier.error)(code))));
        }
        for name in supplier.changes {
            let change = || supplier.change(name);
            check_change_failures(name, gateway, &unusable, &INVALID_SETTINGS, change);
        }
    }
}

#[test]
fn response_about_other_object_is_unknown() {
    for supplier in SUPPLIERS {
        for (change, fixture, pointer, value) in supplier.elsewhere {
            let call = || supplier.change(change);
            let whole = supplier.edited(fixture, &[]);
            let done = gateway().respond_with(200, whole).run(call);
            assert_eq!(done, Ok(()), "{change}: {fixture} as it came");
            let other = supplier.edited(fixture, &[(pointer, Value::from(*value))]);
            let ending = gateway().respond_with(200, other).run(call);
            assert!(is_unknown(&ending), "{change}: {pointer}: {ending:?}");
        }
    }
}

#[test]
fn rate_limit_is_reported_for_reads_and_prebooks_only() {
    let limited =
        || gateway().respond(Response::new(429, "slow down").with_header("Retry-After", "30"));
    for (supplier, change) in changes() {
        let ending = limited().run(|| supplier.change(change));
        let case = format!("{} {change}: {ending:?}", supplier.name);
        if change == "prebook" {
            assert_eq!(ending, Err(ChangeError::RateLimited(Some(30))), "{case}");
        } else {
            // Neither supplier documents at which point it applies its rate limit.
            assert!(is_unknown(&ending), "{case}");
        }
    }
    for supplier in SUPPLIERS {
        for name in supplier.reads {
            let ending = limited().run(|| supplier.read(name));
            assert_eq!(ending, Err(ReadError::RateLimited(Some(30))), "{name}");
        }
    }
}

#[test]
fn every_error_is_converted_for_reads() {
    for supplier in SUPPLIERS {
        for name in supplier.reads {
            for (code, status, reason, _) in supplier.errors {
                let case = format!("{} {name}: {status} {code}", supplier.name);
                let gateway = gateway().respond_with(*status, (supplier.error)(code));
                let ending = gateway.run(|| supplier.read(name));
                if *name == "quote" && *code == supplier.no_quote {
                    assert_eq!(ending, Ok(()), "{case}");
                    continue;
                }
                match (status, ending.unwrap_err()) {
                    (401, ReadError::Misconfigured(text)) | (404, ReadError::NotFound(text)) => {
                        assert!(!text.contains("Ann"), "{case}");
                    }
                    (400 | 402 | 409 | 410 | 422, ReadError::Rejected(refusal)) => {
                        check_refusal(&refusal, reason, code, &case);
                    }
                    (_, other) => panic!("{case}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn failed_read_returns_specific_error() {
    for supplier in SUPPLIERS {
        let no_quote = (supplier.error)(supplier.no_quote);
        let responses = [
            // A 404 in another form is not from the supplier.
            (404, "", InvalidResponse),
            (422, "", InvalidResponse),
            (500, no_quote.as_str(), Failed),
        ];
        for name in supplier.reads.iter().chain(&["find by id"]) {
            let read = || supplier.read(name);
            check_read_failures(name, gateway, &responses, read);
            let ending = MockGateway::new().run(read);
            assert_eq!(outcome(&ending), Misconfigured, "{name} without settings");
        }
    }
}
