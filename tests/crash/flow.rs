//! Descriptions of the flows that are interrupted and of the state in which each must end.

use crate::CONCURRENT_FAILPOINTS;
use futures::{StreamExt, stream};
use tests::BookingBuilder;

/// Action of the caller after the booking is confirmed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FollowUp {
    Nothing,
    Cancel,
    /// Purchases a bag with a card. The number is the final response status of the key.
    Bags(&'static str, u16),
}

/// A booking and the state in which it must end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flow {
    pub(crate) supplier: &'static str,
    /// A sandbox hotel or route.
    pub(crate) scenario: &'static str,
    pub(crate) card: &'static str,
    pub(crate) follow_up: FollowUp,
    /// Failpoint at which the process aborts earlier, for a step that only a crash leads to.
    pub(crate) first: Option<&'static str>,
    pub(crate) end: &'static str,
    /// Kinds of ledger entries and the number of each at the end.
    pub(crate) ledger: Entries,
}

pub(crate) type Entries = &'static [(&'static str, usize)];

const PAID: Entries = &[
    ("authorization", 1),
    ("booking", 1),
    ("capture", 1),
    ("void", 0),
];

const RELEASED: Entries = &[
    ("authorization", 1),
    ("booking", 0),
    ("capture", 0),
    ("void", 1),
];

const REFUNDED: Entries = &[
    ("authorization", 1),
    ("booking", 1),
    ("capture", 1),
    ("cancellation", 1),
    ("refund", 1),
];

impl Flow {
    /// Returns a flow that ends with a confirmed and paid booking.
    pub(crate) const fn booked(supplier: &'static str, scenario: &'static str) -> Self {
        Self {
            supplier,
            scenario,
            card: "tok_visa",
            follow_up: FollowUp::Nothing,
            first: None,
            end: "CONFIRMED",
            ledger: PAID,
        }
    }

    pub(crate) const fn at(self, scenario: &'static str) -> Self {
        Self { scenario, ..self }
    }

    pub(crate) const fn with_card(self, card: &'static str) -> Self {
        Self { card, ..self }
    }

    /// Returns this flow with an earlier crash.
    pub(crate) const fn after(self, first: &'static str) -> Self {
        Self {
            first: Some(first),
            ..self
        }
    }

    /// Returns this flow with a failed booking at the end.
    pub(crate) const fn failed(self) -> Self {
        Self {
            end: "FAILED",
            ledger: RELEASED,
            ..self
        }
    }

    /// Returns this flow with a cancellation at the end.
    pub(crate) const fn canceled(self) -> Self {
        Self {
            follow_up: FollowUp::Cancel,
            end: "CANCELED",
            ledger: REFUNDED,
            ..self
        }
    }

    pub(crate) fn builder(&self) -> BookingBuilder {
        BookingBuilder::new(self.supplier, self.scenario).card(self.card)
    }
}

/// A step, its phases at which the process aborts, and the flow that reaches them.
pub(crate) type Step = (&'static str, &'static [&'static str], Flow);

/// Steps and their phases at which the process aborts.
pub(crate) type Steps = &'static [(&'static str, &'static [&'static str])];

pub(crate) const ALL_PHASES: &[&str] = &[
    "planned",
    "intent_committed",
    "response_received",
    "outcome_committed",
];
pub(crate) const PHASES_OF_A_READ: &[&str] = &["response_received", "outcome_committed"];

/// Returns the failpoints of a step.
pub(crate) fn points_of(step: &str, phases: &[&str]) -> Vec<String> {
    let phases = phases.iter();
    phases.map(|phase| format!("{step}:{phase}")).collect()
}

/// Returns the failpoints of steps.
pub(crate) fn points(steps: Steps) -> impl Iterator<Item = String> {
    let steps = steps.iter();
    steps.flat_map(|(step, phases)| points_of(step, phases))
}

/// Runs a test for each value, a few at once.
pub(crate) async fn for_each<T, F: Future<Output = ()>>(
    values: impl Iterator<Item = T>,
    test: impl FnMut(T) -> F,
) {
    stream::iter(values)
        .for_each_concurrent(CONCURRENT_FAILPOINTS, test)
        .await;
}
