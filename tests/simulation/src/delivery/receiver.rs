//! Simulated receivers whose behaviour changes over time.

use super::{DAY_MS, HOUR_MS, START};
use crate::seeded_random::Random;
use host_application::webhook::attempt::{ReceiverResponse, SendError, SendFailure};
use host_domain::time::Timestamp;
use http::{HeaderValue, StatusCode};

/// The behaviour of a receiver for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReceiverBehaviour {
    Accepts,
    /// Returns a status that is neither a success nor a definitive refusal.
    ReturnsError,
    /// Returns a status with a request to retry later.
    ReturnsRetryAfter,
    /// Returns the definitive refusal, status 410.
    ReturnsGone,
    NeverResponds,
    ClosesConnection,
    RefusesConnection,
    /// The host name resolves to an address that may not be connected to.
    HasForbiddenAddress,
    /// Behaves randomly for each request.
    Random,
}

const BEHAVIOURS: [ReceiverBehaviour; 13] = [
    ReceiverBehaviour::Accepts,
    ReceiverBehaviour::Accepts,
    ReceiverBehaviour::Accepts,
    ReceiverBehaviour::ReturnsError,
    ReceiverBehaviour::ReturnsError,
    ReceiverBehaviour::ReturnsRetryAfter,
    ReceiverBehaviour::ReturnsRetryAfter,
    ReceiverBehaviour::ReturnsGone,
    ReceiverBehaviour::NeverResponds,
    ReceiverBehaviour::ClosesConnection,
    ReceiverBehaviour::RefusesConnection,
    ReceiverBehaviour::HasForbiddenAddress,
    ReceiverBehaviour::Random,
];

/// The `Retry-After` value that a receiver sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RetryAfter {
    Seconds(i64),
    Date(Timestamp),
    /// An invalid value.
    Invalid,
}

/// The result of a request from the receiver's point of view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReceiverOutcome {
    Responded(u16, Option<RetryAfter>),
    /// No response in time, although the receiver may have accepted the request.
    TimedOut,
    ConnectionClosed,
    Refused,
    Forbidden,
}

impl ReceiverOutcome {
    /// Converts the outcome into the sender's result.
    pub(super) fn reply(&self) -> Result<ReceiverResponse, SendError> {
        match self {
            Self::Responded(status, after) => Ok(ReceiverResponse {
                status: StatusCode::from_u16(*status).unwrap(),
                retry_after: after.as_ref().map(header),
                body: "said".to_owned(),
            }),
            Self::TimedOut => Err(SendFailure::TimedOut.into()),
            Self::ConnectionClosed => Err(SendFailure::ConnectionClosed.into()),
            Self::Refused => Err(SendFailure::Connect.into()),
            Self::Forbidden => Err(SendFailure::UrlNotAllowed.into()),
        }
    }

    pub(super) const fn is_success(&self) -> bool {
        matches!(self, Self::Responded(200..=299, _))
    }
}

fn header(after: &RetryAfter) -> HeaderValue {
    let text = match after {
        RetryAfter::Seconds(seconds) => seconds.to_string(),
        RetryAfter::Date(at) => jiff::Timestamp::from_second(at.0 / 1000)
            .unwrap()
            .strftime("%a, %d %b %Y %H:%M:%S GMT")
            .to_string(),
        RetryAfter::Invalid => "soon".to_owned(),
    };
    HeaderValue::from_str(&text).unwrap()
}

/// A receiver at one URL.
pub(super) struct Receiver {
    /// Behaviours with their start times, the latest first.
    behaviours: Vec<(Timestamp, ReceiverBehaviour)>,
}

impl Receiver {
    pub(super) fn draw(random: &Random) -> Self {
        let mut behaviours = vec![(START, random.one_of(&BEHAVIOURS))];
        let mut at = START;
        for _ in 0..random.between(0, 8) {
            let length_ms = random.one_of(&[40_000, 600_000, 2 * HOUR_MS, DAY_MS, 6 * DAY_MS]);
            at = at.plus_ms(random.between(1, length_ms));
            behaviours.insert(0, (at, random.one_of(&BEHAVIOURS)));
        }
        Self { behaviours }
    }

    /// Returns the outcome for a request and the delay in milliseconds.
    pub(super) fn respond(&self, random: &Random, now: Timestamp) -> (ReceiverOutcome, i64) {
        let behaviour = self.behaviours.iter().find(|(from, _)| *from <= now);
        let behaviour = match behaviour.unwrap().1 {
            ReceiverBehaviour::Random => random.one_of(&BEHAVIOURS),
            steady => steady,
        };
        let quick_ms = random.one_of(&[20, 900, 9_900]);
        let took_ms = random.between(1, quick_ms);
        let outcome = match behaviour {
            ReceiverBehaviour::Accepts | ReceiverBehaviour::Random => {
                ReceiverOutcome::Responded(random.one_of(&[200, 201, 204, 299]), None)
            }
            ReceiverBehaviour::ReturnsError => ReceiverOutcome::Responded(
                random.one_of(&[301, 302, 307, 308, 304, 400, 401, 404, 500, 502]),
                None,
            ),
            ReceiverBehaviour::ReturnsRetryAfter => {
                let wait_s = random.one_of(&[0, 30, 90, 600, 4_000, 100_000]);
                let retry_after = match random.between(0, 9) {
                    0 => None,
                    1 => Some(RetryAfter::Invalid),
                    2..=5 => Some(RetryAfter::Seconds(wait_s)),
                    // HTTP dates have whole seconds.
                    _ => Some(RetryAfter::Date(Timestamp(
                        now.plus_s(wait_s - 10).0.div_euclid(1000) * 1000,
                    ))),
                };
                ReceiverOutcome::Responded(random.one_of(&[429, 503]), retry_after)
            }
            ReceiverBehaviour::ReturnsGone => ReceiverOutcome::Responded(410, None),
            ReceiverBehaviour::NeverResponds => {
                return (ReceiverOutcome::TimedOut, super::EXCHANGE_MAX_MS);
            }
            ReceiverBehaviour::ClosesConnection => ReceiverOutcome::ConnectionClosed,
            ReceiverBehaviour::RefusesConnection => ReceiverOutcome::Refused,
            ReceiverBehaviour::HasForbiddenAddress => ReceiverOutcome::Forbidden,
        };
        (outcome, took_ms)
    }
}
