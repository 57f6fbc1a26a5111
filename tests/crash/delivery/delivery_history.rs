//! The attempts of every delivery to a subscription, as the subscription's owner sees them.

use super::TIMEOUT_S;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tests::{Client, Subscription};

const PAGE_SIZE: usize = 100;
const TIMEOUT: SignedDuration = SignedDuration::from_secs(TIMEOUT_S);

/// A delivery that arrived.
pub(super) struct DeliveryHistory {
    pub(super) id: String,
    pub(super) event: String,
    pub(super) attempts: Vec<Attempt>,
}

pub(super) struct Attempt {
    pub(super) at: Timestamp,
    /// Earliest time at which the outcome was available.
    pub(super) ended_at: Timestamp,
    /// Reason why there was no response.
    pub(super) error: Option<String>,
    pub(super) status: Option<u64>,
}

impl DeliveryHistory {
    /// Returns all deliveries to a subscription. Checks that the last attempt of each succeeded.
    pub(super) async fn read_all(client: &Client, subscription: &Subscription) -> Vec<Self> {
        let mut all = Vec::new();
        loop {
            let offset = all.len();
            let query = format!("?limit={PAGE_SIZE}&offset={offset}");
            let listed = subscription.deliveries(client, &query).await;
            let page = listed.list();
            all.extend(page.iter().map(Self::read));
            if page.len() < PAGE_SIZE {
                return all;
            }
        }
    }

    fn read(delivery: &Value) -> Self {
        assert_eq!(delivery["status"], "DELIVERED", "{delivery:#}");
        assert_eq!(delivery["replay_count"], 0, "{delivery:#}");
        let attempts = delivery["attempts"].as_array().unwrap();
        let numbers = attempts.iter().map(|one| one["attempt_number"].as_u64());
        let expected = (1..=attempts.len() as u64).map(Some);
        assert!(numbers.eq(expected), "{delivery:#}");
        let attempts: Vec<Attempt> = attempts.iter().map(Attempt::read).collect();
        let (last, failed) = attempts.split_last().unwrap();
        let outcome = (last.status, last.error.as_deref());
        assert_eq!(outcome, (Some(204), None), "{delivery:#}");
        let has_failed = |attempt: &Attempt| attempt.failure().is_some();
        assert!(failed.iter().all(has_failed), "{delivery:#}");
        Self {
            id: delivery["id"].as_str().unwrap().to_owned(),
            event: delivery["event"]["id"].as_str().unwrap().to_owned(),
            attempts,
        }
    }

    /// Returns for each retry when it was due by the schedule and when it was started.
    pub(super) fn retries(&self, retry_delays_s: &[i64]) -> Vec<(Timestamp, Timestamp)> {
        let pairs = self.attempts.windows(2).zip(retry_delays_s);
        let retries = pairs.map(|(pair, delay)| {
            let due = pair[0].ended_at + SignedDuration::from_secs(*delay);
            (due, pair[1].at)
        });
        retries.collect()
    }

    /// Returns whether the receiver's response at `responded_at` was lost: an attempt around that
    /// time is recorded as failed without response.
    pub(super) fn has_lost_response(&self, responded_at: Timestamp) -> bool {
        let mut attempts = self.attempts.iter();
        attempts.any(|one| {
            let is_around = one.at <= responded_at && responded_at <= one.at + TIMEOUT;
            is_around && one.error.is_some()
        })
    }
}

impl Attempt {
    fn read(attempt: &Value) -> Self {
        let at: Timestamp = attempt["created_at"].as_str().unwrap().parse().unwrap();
        let error = attempt["error"].as_str().map(str::to_owned);
        let is_timeout = error.as_deref() == Some("timeout");
        Self {
            at,
            ended_at: if is_timeout { at + TIMEOUT } else { at },
            error,
            status: attempt["response_status"].as_u64(),
        }
    }

    /// Returns a short reason if the attempt failed.
    pub(super) fn failure(&self) -> Option<String> {
        let status = self.status.filter(|status| *status != 204);
        let status = status.map(|status| status.to_string());
        self.error.clone().or(status)
    }
}
