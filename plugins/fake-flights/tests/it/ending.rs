//! How calls end that are not done, at both suppliers: every documented error at
//! every call, and every way in which an exchange can break.

use serde_json::Value;
use stopover_sdk::http::{Error, Header, Response};
use stopover_sdk::testing::Gateway;
use stopover_sdk::{ChangeError, ReadError};

use crate::ask::{edited, gateway};
use crate::{jetbridge, skylane};

type Change = fn() -> Result<(), ChangeError>;
type Read = fn() -> Result<(), ReadError>;

/// A supplier's documentation, as far as it is about calls that are not done.
#[derive(Clone, Copy)]
pub(crate) struct Supplier {
    pub(crate) name: &'static str,
    /// Every documented error with its status.
    pub(crate) codes: &'static [(&'static str, u16)],
    pub(crate) error: fn(&str) -> String,
    pub(crate) changes: &'static [(&'static str, Change)],
    /// Change, code and reason; everything that is not here is unknown.
    pub(crate) refused: &'static [(&'static str, &'static str, &'static str)],
    pub(crate) reads: &'static [(&'static str, Read)],
    /// Not an error to whoever asks for a quote.
    pub(crate) no_quote: &'static str,
    /// Fixtures of what changes answer.
    pub(crate) whole: &'static [&'static str],
    pub(crate) fixture: fn(&str) -> Value,
    /// Change, what it answers, and a value that makes it the answer to something
    /// else.
    pub(crate) elsewhere: &'static [(&'static str, &'static str, &'static str, &'static str)],
}

const SUPPLIERS: [Supplier; 2] = [skylane::SUPPLIER, jetbridge::SUPPLIER];

/// Every change of every supplier, with a name to tell it by.
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
fn a_change_is_refused_out_of_a_closed_list_and_unknown_otherwise() {
    for (supplier, name, change) in changes() {
        for (code, status) in supplier.codes {
            let case = format!("{} {name}: {status} {code}", supplier.name);
            let gateway = gateway().answer(*status, (supplier.error)(code));
            let ending = gateway.run(change);
            assert_eq!(gateway.requests().len(), 1, "{case}");
            let expected = (supplier.refused.iter())
                .find(|(of, refused, _)| *of == name && refused == code)
                .map(|(_, _, reason)| format!("RefusalReason::{reason}"));
            let Some(expected) = expected else {
                assert!(is_unknown(&ending), "{case}: {ending:?}");
                continue;
            };
            let Err(ChangeError::Refused(refusal)) = ending else {
                panic!("{case}: {ending:?}");
            };
            assert_eq!(format!("{:?}", refusal.reason), expected, "{case}");
            assert_eq!(refusal.supplier_code.as_deref(), Some(*code), "{case}");
            assert!(!refusal.message.contains("Ann"), "{case}");
        }
    }
}

#[test]
fn an_error_with_another_status_than_documented_refuses_nothing() {
    for (supplier, name, change) in changes() {
        for (_, code, _) in supplier.refused.iter().filter(|(of, ..)| *of == name) {
            for status in [200, 302, 418, 500, 503] {
                let gateway = gateway().answer(status, (supplier.error)(code));
                let ending = gateway.run(change);
                let case = format!("{} {name}: {status} {code}", supplier.name);
                assert!(is_unknown(&ending), "{case}: {ending:?}");
            }
        }
    }
}

/// Ways in which nothing can be said of what was sent.
fn broken() -> Vec<(&'static str, Gateway)> {
    let text = || "closed".to_owned();
    vec![
        ("cut", gateway().fail(Error::Cut(text()))),
        ("timed out", gateway().fail(Error::TimedOut(text()))),
        ("too large", gateway().fail(Error::TooLarge(8 << 20))),
        ("empty 200", gateway().answer(200, "")),
        ("no content", gateway().answer(204, "")),
        ("not JSON", gateway().answer(200, "<html>ok</html>")),
        ("another shape", gateway().answer(201, r#"{"id": 7}"#)),
        ("a proxy's 502", gateway().answer(502, "<html>bad</html>")),
        ("a bare 400", gateway().answer(400, "")),
        ("a bare 401", gateway().answer(401, "")),
        ("a bare 404", gateway().answer(404, "")),
        ("no errors", gateway().answer(422, r#"{"errors": []}"#)),
        (
            "a contradiction",
            gateway().answer(422, r#"{"ok": true, "fault": {"no": 45001}}"#),
        ),
        (
            "a new code",
            gateway().answer(422, skylane::error("seat_on_fire")),
        ),
        (
            "a new fault",
            gateway().answer(422, jetbridge::error("45999")),
        ),
        ("a redirect", gateway().answer(307, "")),
    ]
}

#[test]
fn once_sent_whatever_breaks_is_unknown() {
    for (supplier, name, change) in changes() {
        for (case, gateway) in broken() {
            let ending = gateway.run(change);
            assert!(
                is_unknown(&ending),
                "{} {name}: {case}: {ending:?}",
                supplier.name
            );
            assert_eq!(
                gateway.requests().len(),
                1,
                "{} {name}: {case}",
                supplier.name
            );
        }
        for fixture in supplier.whole {
            let whole = (supplier.fixture)(fixture).to_string();
            let half = whole.split_at(whole.len() / 2).0;
            let ending = gateway().answer(200, half).run(change);
            assert!(is_unknown(&ending), "{name}: half of {fixture}: {ending:?}");
        }
    }
}

#[test]
fn an_answer_about_something_else_is_unknown() {
    for (supplier, name, change) in changes() {
        for (_, fixture, pointer, value) in supplier.elsewhere.iter().filter(|row| row.0 == name) {
            let whole = (supplier.fixture)(fixture);
            let done = gateway().answer(200, whole.to_string()).run(change);
            assert_eq!(done, Ok(()), "{name}: {fixture} as it came");
            let other = edited(whole, &[(pointer, Value::from(*value))]);
            let ending = gateway().answer(200, other).run(change);
            assert!(is_unknown(&ending), "{name}: {pointer}: {ending:?}");
        }
    }
}

#[test]
fn only_what_never_left_is_not_sent() {
    for (supplier, name, change) in changes() {
        for error in [
            Error::NotSent("no route".into()),
            Error::Denied("no".into()),
        ] {
            let ending = gateway().fail(error).run(change);
            let case = format!("{} {name}", supplier.name);
            assert!(
                matches!(ending, Err(ChangeError::NotSent(_))),
                "{case}: {ending:?}"
            );
        }
        for settings in [
            "{}",
            r#"{"base_url": 7}"#,
            r#"{"base_url": "x", "key": "y"}"#,
        ] {
            let gateway = Gateway::new().settings(settings);
            let ending = gateway.run(change);
            let case = format!("{} {name}: {settings}", supplier.name);
            assert!(
                matches!(ending, Err(ChangeError::NotSent(_))),
                "{case}: {ending:?}"
            );
            assert!(gateway.requests().is_empty());
        }
    }
}

fn limited(body: &str) -> Gateway {
    gateway().respond(Response {
        status: 429,
        headers: vec![Header {
            name: "Retry-After".to_owned(),
            value: "30".to_owned(),
        }],
        body: body.into(),
    })
}

#[test]
fn a_limit_is_one_where_nothing_can_have_been_done() {
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
            // Neither supplier documents when it says so.
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
fn every_error_means_something_to_a_read() {
    for supplier in SUPPLIERS {
        for (name, read) in supplier.reads {
            for (code, status) in supplier.codes {
                let case = format!("{} {name}: {status} {code}", supplier.name);
                let ending = gateway().answer(*status, (supplier.error)(code)).run(read);
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

/// The case of an error, by its name.
fn case(error: &ReadError) -> &'static str {
    match error {
        ReadError::NotFound(_) => "not found",
        ReadError::Rejected(_) => "rejected",
        ReadError::RateLimited(_) => "rate limited",
        ReadError::TimedOut(_) => "timed out",
        ReadError::Unavailable(_) => "unavailable",
        ReadError::Failed(_) => "failed",
        ReadError::Unreadable(_) => "unreadable",
        ReadError::Misconfigured(_) => "misconfigured",
    }
}

#[test]
fn a_read_that_breaks_says_how() {
    let text = || "closed".to_owned();
    let failures = [
        (Error::Cut(text()), "unavailable"),
        (Error::NotSent(text()), "unavailable"),
        (Error::TimedOut(text()), "timed out"),
        (Error::Denied(text()), "misconfigured"),
        (Error::TooLarge(1), "unreadable"),
    ];
    let answers = [
        (500, "{}", "failed"),
        (502, "<html>", "failed"),
        (503, "<html>", "unavailable"),
        // Whoever says 404 in another form than the supplier's is not the supplier.
        (404, "", "unreadable"),
        (200, "{", "unreadable"),
        (401, "", "misconfigured"),
    ];
    for supplier in SUPPLIERS {
        for (name, read) in supplier.reads {
            for (failure, expected) in &failures {
                let ending = gateway().fail(failure.clone()).run(read).unwrap_err();
                assert_eq!(case(&ending), *expected, "{name}: {failure:?}");
            }
            for (status, body, expected) in answers {
                let ending = gateway().answer(status, body).run(read).unwrap_err();
                assert_eq!(case(&ending), expected, "{name}: {status} {body}");
            }
            let ending = Gateway::new().run(read).unwrap_err();
            assert_eq!(case(&ending), "misconfigured", "{name} without settings");
        }
    }
}
