//! Rules about the properties of a subscription that a person or an operator enters.

use host_domain::event::{EventType, Product};
use host_domain::webhook::subscription::WILDCARD_EVENT_TYPE;

const URL_CHARS_MAX: usize = 2048;
const DESCRIPTION_CHARS_MAX: usize = 500;

/// A rule that a webhook breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WebhookProblem {
    #[error(
        "the URL is empty, has a control character, or has more than {URL_CHARS_MAX} characters"
    )]
    Url,
    #[error("there is no event type")]
    NoEventType,
    #[error("an event type is unknown, or of another product")]
    EventType,
    #[error(
        "the description has a control character, or more than {DESCRIPTION_CHARS_MAX} characters"
    )]
    Description,
}

/// Checks the rules of these properties. Whether the URL is allowed is checked when it is stored,
/// because its host is looked up. Properties that are `None` break no rule.
///
/// # Errors
/// The rules that are broken, at least one.
pub(crate) fn check_properties(
    product: Product,
    url: Option<&str>,
    event_types: Option<&[String]>,
    description: Option<&str>,
) -> Result<(), Vec<WebhookProblem>> {
    let is_text = |text: &str, chars_max| {
        text.chars().count() <= chars_max && !text.chars().any(char::is_control)
    };
    let is_known = |name: &String| {
        name == WILDCARD_EVENT_TYPE
            || EventType::for_product(product).any(|event_type| event_type.as_str() == name)
    };
    let rules = [
        (
            url.is_none_or(|url| !url.is_empty() && is_text(url, URL_CHARS_MAX)),
            WebhookProblem::Url,
        ),
        (
            event_types.is_none_or(|names| !names.is_empty()),
            WebhookProblem::NoEventType,
        ),
        (
            event_types.is_none_or(|names| names.iter().all(is_known)),
            WebhookProblem::EventType,
        ),
        (
            description.is_none_or(|text| is_text(text, DESCRIPTION_CHARS_MAX)),
            WebhookProblem::Description,
        ),
    ];
    let broken = rules.into_iter().filter(|(is_met, _)| !is_met);
    let problems: Vec<_> = broken.map(|(_, problem)| problem).collect();
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems),
    }
}
