//! Checks that the changes and reads of every adapter must pass.

use std::fmt::Debug;

use super::{
    MockGateway, Outcome, failures_after_sending, failures_before_sending, outcome, read_failures,
};
use crate::http::Response;
use crate::types::ReadError;

/// Checks a change after each failed exchange. Its outcome is unknown if the request may have been
/// sent, and after each of the `unusable` responses. Otherwise, and with each of the invalid
/// settings, it is not sent. No error may repeat a person's name, which is `Ann` in the responses.
///
/// # Panics
/// Panics if a change has another outcome or does not send one request.
pub fn check_change_failures<T: Debug, E: Debug>(
    name: &str,
    gateway: fn() -> MockGateway,
    unusable: &[Response],
    invalid_settings: &[&str],
    change: impl Fn() -> Result<T, E>,
) where
    for<'e> Outcome: From<&'e E>,
{
    let after = failures_after_sending().into_iter();
    let after = after.chain(unusable.iter().cloned().map(Ok));
    let before = failures_before_sending().map(|exchange| (exchange, Outcome::NotSent));
    for (exchange, expected) in after
        .map(|exchange| (exchange, Outcome::Unknown))
        .chain(before)
    {
        let gateway = gateway().exchange(exchange.clone());
        let result = gateway.run(&change);
        assert_eq!(outcome(&result), expected, "{name}: {exchange:?}");
        assert!(!format!("{result:?}").contains("Ann"), "{name}: {result:?}");
        assert_eq!(gateway.requests().len(), 1, "{name}: {exchange:?}");
    }
    for settings in invalid_settings {
        let gateway = MockGateway::new().settings(settings);
        let result = gateway.run(&change);
        assert_eq!(outcome(&result), Outcome::NotSent, "{name}: {settings}");
        assert!(gateway.requests().is_empty(), "{name}: {settings}");
    }
}

/// Checks a read after each failed exchange and each of these responses.
///
/// # Panics
/// Panics if a read has another outcome or does not send one request.
pub fn check_read_failures<T>(
    name: &str,
    gateway: fn() -> MockGateway,
    responses: &[(u16, &str, Outcome)],
    read: impl Fn() -> Result<T, ReadError>,
) {
    let responses = responses.iter();
    let responses =
        responses.map(|(status, body, outcome)| (Ok(Response::new(*status, body)), *outcome));
    for (exchange, expected) in read_failures().into_iter().chain(responses) {
        let gateway = gateway().exchange(exchange.clone());
        assert_eq!(
            outcome(&gateway.run(&read)),
            expected,
            "{name}: {exchange:?}"
        );
        assert_eq!(gateway.requests().len(), 1, "{name}: {exchange:?}");
    }
}
