//! Outcomes of failed calls at both suppliers: every documented error at every call, and every
//! failure of an exchange.

use serde_json::Value;
use stopover_sdk::http::Response;
use stopover_sdk::testing::Outcome::{InvalidResponse, Misconfigured, NotSent};
use stopover_sdk::testing::{
    MockGateway, failures_after_sending, failures_before_sending, outcome, read_failures, refusal,
};
use stopover_sdk::{ChangeError, ReadError};

use crate::ask::{edited, gateway};
use crate::{jetbridge, skylane};

type Change = fn() -> Result<(), ChangeError>;
type Read = fn() -> Result<(), ReadError>;

/// The documented errors of a supplier and their expected outcomes.
#[derive(Clone, Copy)]
pub(crate) struct Supplier {
    pub(crate) name: &'static str,
    /// Every documented error with its status.
    pub(crate) codes: &'static [(&'static str, u16)],
    pub(crate) error: fn(&str) -> String,
    pub(crate) changes: &'static [(&'static str, Change)],
    /// Change, code and reason of each refusal. All other combinations are unknown.
    pub(crate) refused: &'static [(&'static str, &'static str, &'static str)],
    pub(crate) reads: &'static [(&'static str, Read)],
    /// Code with which a quote is unavailable instead of an error.
    pub(crate) no_quote: &'static str,
    /// Fixtures of responses to changes.
    pub(crate) whole: &'static [&'static str],
    pub(crate) fixture: fn(&str) -> Value,
    /// Change, fixture of its response, and the pointer and value that make it a response about
    /// something else.
    pub(crate) elsewhere: &'static [(&'static str, &'static str, &'static str, &'static str)],
}

const SUPPLIERS: [Supplier; 2] = [skylane::SUPPLIER, jetbridge::SUPPLIER];

/// Returns every change of every supplier, with its name.
fn changes() -> impl Iterator<Item = (Supplier, &'static str, Change)> {
    SUPPLIERS.into_iter().flat_map(|supplier| {
        let changes = supplier.changes.iter();
        changes.map(move |(name, change)| (supplier, *name, *change))
    })
}

fn is_unknown(ending: &Result<(), ChangeError>) -> bool {
    matches!(ending, Err(ChangeError::Unknown(text)) if !text.is_empty() && !text.contains("Ann"))
}

#[test]
fn change_is_refused_by_listed_code_and_otherwise_unknown() {
    for (supplier, name, change) in changes() {
        for (code, status) in supplier.codes {
            let case = format!("{} {name}: {status} {code}", supplier.name);
            let gateway = gateway().respond_with(*status, (supplier.error)(code));
            let ending = gateway.run(change);
            assert_eq!(gateway.requests().len(), 1, "{case}");
            let expected = (supplier.refused.iter())
                .find(|(of, refused, _)| *of == name && refused == code)
                .map(|(_, _, reason)| format!("RefusalReason::{reason}"));
            let Some(expected) = expected else {
                assert!(is_unknown(&ending), "{case}: {ending:?}");
                continue;
            };
            let refusal = refusal(ending);
            assert_eq!(format!("{:?}", refusal.reason), expected, "{case}");
            assert_eq!(refusal.supplier_code.as_deref(), Some(*code), "{case}");
            assert!(!refusal.message.contains("Ann"), "{case}");
        }
    }
}

#[test]
fn code_with_undocumented_status_is_unknown() {
    for (supplier, name, change) in changes() {
        for (_, code, _) in supplier.refused.iter().filter(|(of, ..)| *of == name) {
            for status in [200, 302, 418, 500, 503] {
                let gateway = gateway().respond_with(status, (supplier.error)(code));
                let ending = gateway.run(change);
                let case = format!("{} {name}: {status} {code}", supplier.name);
                assert!(is_unknown(&ending), "{case}: {ending:?}");
            }
        }
    }
}

#[test]
fn failure_after_sending_is_unknown() {
    let mut failures = failures_after_sending();
    let errors = [
        r#"{"errors": []}"#.to_owned(),
        r#"{"ok": true, "fault": {"no": 45001}}"#.to_owned(),
        skylane::error("seat_on_fire"),
        jetbridge::error("45999"),
    ];
    failures.extend(errors.map(|error| Ok(Response::new(422, error))));
    for (supplier, name, change) in changes() {
        let half = |fixture: &&str| {
            let whole = (supplier.fixture)(fixture).to_string();
            Ok(Response::new(200, whole.split_at(whole.len() / 2).0))
        };
        for failure in failures
            .iter()
            .cloned()
            .chain(supplier.whole.iter().map(half))
        {
            let case = format!("{} {name}: {failure:?}", supplier.name);
            let gateway = gateway().exchange(failure);
            let ending = gateway.run(change);
            assert!(is_unknown(&ending), "{case}: {ending:?}");
            assert_eq!(gateway.requests().len(), 1, "{case}");
        }
    }
}

#[test]
fn response_about_other_object_is_unknown() {
    for (supplier, name, change) in changes() {
        for (_, fixture, pointer, value) in supplier.elsewhere.iter().filter(|row| row.0 == name) {
            let whole = (supplier.fixture)(fixture);
            let done = gateway().respond_with(200, whole.to_string()).run(change);
            assert_eq!(done, Ok(()), "{name}: {fixture} as it came");
            let other = edited(whole, &[(pointer, Value::from(*value))]);
            let ending = gateway().respond_with(200, other).run(change);
            assert!(is_unknown(&ending), "{name}: {pointer}: {ending:?}");
        }
    }
}

#[test]
fn failure_before_sending_is_not_sent() {
    for (supplier, name, change) in changes() {
        let case = format!("{} {name}", supplier.name);
        for failure in failures_before_sending() {
            let ending = gateway().exchange(failure).run(change);
            assert_eq!(outcome(&ending), NotSent, "{case}");
        }
        for settings in [
            "{}",
            r#"{"base_url": 7}"#,
            r#"{"base_url": "x", "key": "y"}"#,
        ] {
            let gateway = MockGateway::new().settings(settings);
            assert_eq!(outcome(&gateway.run(change)), NotSent, "{case}: {settings}");
            assert!(gateway.requests().is_empty());
        }
    }
}

fn limited(body: &str) -> MockGateway {
    gateway().respond(Response::new(429, body).with_header("Retry-After", "30"))
}

#[test]
fn rate_limit_is_reported_for_reads_and_prebooks_only() {
    for (supplier, name, change) in changes() {
        let ending = limited("slow down").run(change);
        if name == "prebook" {
            assert_eq!(
                ending,
                Err(ChangeError::RateLimited(Some(30))),
                "{}",
                supplier.name
            );
        } else {
            // Neither supplier documents at which point it applies its rate limit.
            assert!(is_unknown(&ending), "{} {name}: {ending:?}", supplier.name);
        }
    }
    for supplier in SUPPLIERS {
        for (name, read) in supplier.reads {
            let ending = limited("slow down").run(read);
            assert_eq!(ending, Err(ReadError::RateLimited(Some(30))), "{name}");
        }
    }
}

#[test]
fn every_error_is_converted_for_reads() {
    for supplier in SUPPLIERS {
        for (name, read) in supplier.reads {
            for (code, status) in supplier.codes {
                let case = format!("{} {name}: {status} {code}", supplier.name);
                let ending = gateway()
                    .respond_with(*status, (supplier.error)(code))
                    .run(read);
                if *name == "quote" && *code == supplier.no_quote {
                    assert_eq!(ending, Ok(()), "{case}");
                    continue;
                }
                match (status, ending.unwrap_err()) {
                    (401, ReadError::Misconfigured(text)) | (404, ReadError::NotFound(text)) => {
                        assert!(!text.contains("Ann"), "{case}");
                    }
                    (400 | 402 | 409 | 410 | 422, ReadError::Rejected(refusal)) => {
                        assert_eq!(refusal.supplier_code.as_deref(), Some(*code), "{case}");
                        assert!(!refusal.message.contains("Ann"), "{case}");
                    }
                    (_, other) => panic!("{case}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn failed_read_returns_specific_error() {
    let mut failures = read_failures();
    // A 404 in another form is not from the supplier.
    failures.push((Ok(Response::new(404, "")), InvalidResponse));
    for supplier in SUPPLIERS {
        for (name, read) in supplier.reads {
            for (failure, expected) in &failures {
                let ending = gateway().exchange(failure.clone()).run(read);
                assert_eq!(outcome(&ending), *expected, "{name}: {failure:?}");
            }
            let ending = MockGateway::new().run(read);
            assert_eq!(outcome(&ending), Misconfigured, "{name} without settings");
        }
    }
}
