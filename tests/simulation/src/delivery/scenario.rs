//! Parameters of a delivery scenario: gateway processes, subscriptions and the rate of failures.

use super::{DAY_MS, HOUR_MS};
use crate::seeded_random::Random;
use host_domain::event::Product;

#[derive(Debug)]
pub(super) struct DeliveryScenario {
    pub(super) product: Product,
    pub(super) subscriptions: usize,
    pub(super) processes: usize,
    /// Maximum difference between a process's clock and the database's clock.
    pub(super) skew_ms: i64,
    /// Percentage of attempts that fail.
    pub(super) fault_percent: i64,
    /// Duration in which events and requests are generated.
    pub(super) duration_ms: i64,
    pub(super) events: i64,
    /// Number of client requests.
    pub(super) client_actions: i64,
}

impl DeliveryScenario {
    pub(super) fn draw(random: &Random, product: Product) -> Self {
        let is_watch = product == Product::Watch;
        Self {
            product,
            subscriptions: if is_watch || random.percent(60) { 1 } else { 2 },
            processes: usize::try_from(random.between(1, 3)).unwrap(),
            skew_ms: random.one_of(&[0, 0, 50, 2_000]),
            fault_percent: random.one_of(&[0, 0, 10, 40]),
            duration_ms: random.one_of(&[HOUR_MS, 8 * HOUR_MS, 2 * DAY_MS, 9 * DAY_MS, 9 * DAY_MS]),
            events: random.between(2, 14),
            client_actions: random.one_of(&[0, 0, 3, 8, 12]),
        }
    }
}
