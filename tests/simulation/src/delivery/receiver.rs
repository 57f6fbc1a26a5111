//! Simulated receivers whose behaviour changes over time.

use super::{DAY_MS, HOUR_MS, START};
use crate::seeded_random::Random;
use host_application::webhook::attempt::{ReceiverResponse, SendError, SendFailure};
use host_domain::time::Timestamp;
use http::{HeaderValue, StatusCode};

/// The behaviour of a receiver for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spell {
    Takes,
    /// Returns a status that is neither a success nor a definitive refusal.
    Errs,
    /// Returns a status with a request to retry later.
    Busy,
    Gone,
    Hangs,
    Cuts,
    /// Refuses connections.
    Refuses,
    /// The host name resolves to an address that may not be connected to.
    Forbidden,
    /// Behaves randomly for each request.
    Moody,
}

const SPELLS: [Spell; 13] = [
    Spell::Takes,
    Spell::Takes,
    Spell::Takes,
    Spell::Errs,
    Spell::Errs,
    Spell::Busy,
    Spell::Busy,
    Spell::Gone,
    Spell::Hangs,
    Spell::Cuts,
    Spell::Refuses,
    Spell::Forbidden,
    Spell::Moody,
];

/// The `Retry-After` value that a receiver sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RetryAfter {
    Seconds(i64),
    Date(Timestamp),
    /// An invalid value.
    Soon,
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
        RetryAfter::Soon => "soon".to_owned(),
    };
    HeaderValue::from_str(&text).unwrap()
}

/// A receiver at one URL.
pub(super) struct Receiver {
    /// Behaviours with their start times, the latest first.
    spells: Vec<(Timestamp, Spell)>,
}

impl Receiver {
    pub(super) fn draw(random: &Random) -> Self {
        let mut spells = vec![(START, random.one_of(&SPELLS))];
        let mut at = START;
        for _ in 0..random.between(0, 8) {
            let length_ms = random.one_of(&[40_000, 600_000, 2 * HOUR_MS, DAY_MS, 6 * DAY_MS]);
            at = at.plus_ms(random.between(1, length_ms));
            spells.insert(0, (at, random.one_of(&SPELLS)));
        }
        Self { spells }
    }

    /// Returns the outcome for a request and the delay in milliseconds.
    pub(super) fn respond(&self, random: &Random, now: Timestamp) -> (ReceiverOutcome, i64) {
        let spell = self.spells.iter().find(|(from, _)| *from <= now);
        let spell = match spell.unwrap().1 {
            Spell::Moody => random.one_of(&SPELLS),
            steady => steady,
        };
        let quick_ms = random.one_of(&[20, 900, 9_900]);
        let took_ms = random.between(1, quick_ms);
        let outcome = match spell {
            Spell::Takes | Spell::Moody => {
                ReceiverOutcome::Responded(random.one_of(&[200, 201, 204, 299]), None)
            }
            Spell::Errs => ReceiverOutcome::Responded(
                random.one_of(&[301, 302, 307, 308, 304, 400, 401, 404, 500, 502]),
                None,
            ),
            Spell::Busy => {
                let wait_s = random.one_of(&[0, 30, 90, 600, 4_000, 100_000]);
                let asks = match random.between(0, 9) {
                    0 => None,
                    1 => Some(RetryAfter::Soon),
                    2..=5 => Some(RetryAfter::Seconds(wait_s)),
                    // HTTP dates have whole seconds.
                    _ => Some(RetryAfter::Date(Timestamp(
                        now.plus_s(wait_s - 10).0.div_euclid(1000) * 1000,
                    ))),
                };
                ReceiverOutcome::Responded(random.one_of(&[429, 503]), asks)
            }
            Spell::Gone => ReceiverOutcome::Responded(410, None),
            Spell::Hangs => return (ReceiverOutcome::TimedOut, super::EXCHANGE_MS),
            Spell::Cuts => ReceiverOutcome::ConnectionClosed,
            Spell::Refuses => ReceiverOutcome::Refused,
            Spell::Forbidden => ReceiverOutcome::Forbidden,
        };
        (outcome, took_ms)
    }
}
