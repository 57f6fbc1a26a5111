//! Failures of an exchange that every adapter must handle, for tests of each of its calls.

use super::{Outcome, outcome};
use crate::http::{Error, Response};
use crate::types::ChangeError;

/// A failed exchange.
type Exchange = Result<Response, Error>;

/// Returns exchanges that leave the outcome of a change unknown: broken connections, unreadable
/// responses, and error statuses without the supplier's own error.
pub fn failures_after_sending() -> Vec<Exchange> {
    let mut failures = vec![
        Err(Error::ConnectionLost("closed".to_owned())),
        Err(Error::TimedOut("late".to_owned())),
        Err(Error::TooLarge(8 << 20)),
    ];
    let responses = [
        (200, ""),
        (204, ""),
        (200, "<html>ok</html>"),
        (201, r#"{"id": 7}"#),
        (502, "<html>bad</html>"),
        (400, ""),
        (401, ""),
        (402, ""),
        (404, ""),
        (409, ""),
        (307, ""),
    ];
    failures.extend(responses.map(|(status, body)| Ok(Response::new(status, body))));
    failures
}

/// Returns errors after which it is certain that nothing was sent.
pub fn failures_before_sending() -> [Exchange; 2] {
    [
        Err(Error::NotSent("no route".to_owned())),
        Err(Error::Denied("no".to_owned())),
    ]
}

/// Checks a change after each failed exchange. Its outcome is unknown if the request may have been
/// sent, and after each of the `unusable` responses. Otherwise it is not sent.
///
/// # Panics
/// Panics if a change has another outcome.
pub fn check_failed_change<T>(
    unusable: impl IntoIterator<Item = Response>,
    change: impl Fn(Exchange) -> Result<T, ChangeError>,
) {
    let after = failures_after_sending().into_iter();
    let after = after.chain(unusable.into_iter().map(Ok));
    let before = failures_before_sending().map(|exchange| (exchange, Outcome::NotSent));
    for (exchange, expected) in after
        .map(|exchange| (exchange, Outcome::Unknown))
        .chain(before)
    {
        let result = change(exchange.clone());
        assert_eq!(outcome(&result), expected, "{exchange:?}");
    }
}

/// Returns failed exchanges of a read, each with the outcome of the read.
pub fn read_failures() -> Vec<(Exchange, Outcome)> {
    let text = || "closed".to_owned();
    vec![
        (Err(Error::ConnectionLost(text())), Outcome::Unavailable),
        (Err(Error::NotSent(text())), Outcome::Unavailable),
        (Err(Error::TimedOut(text())), Outcome::TimedOut),
        (Err(Error::Denied(text())), Outcome::Misconfigured),
        (Err(Error::TooLarge(8 << 20)), Outcome::InvalidResponse),
        (Ok(Response::new(200, "{")), Outcome::InvalidResponse),
        (Ok(Response::new(401, "")), Outcome::Misconfigured),
        (Ok(Response::new(500, "{}")), Outcome::Failed),
        (Ok(Response::new(502, "<html>")), Outcome::Failed),
        (Ok(Response::new(503, "<html>")), Outcome::Unavailable),
    ]
}
