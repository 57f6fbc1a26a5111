//! The state of the simulated supplier and payment processor: their orders, charges and responses.

use super::charge::Charge;
use super::order::{Decision, Order};
use super::remote_call::Reply;
use super::scenario::BookingScenario;
use crate::seeded_random::Random;
use host_domain::money::Money;
use host_domain::time::Timestamp;
use std::collections::HashMap;

/// The simulated supplier and payment processor.
pub(super) struct ExternalSystems<'a> {
    pub(super) random: &'a Random,
    pub(super) scenario: &'a BookingScenario,
    /// Whether failures are injected.
    pub(super) injects_faults: bool,
    /// States of the order, each with the time from which reads return it. The last one is the
    /// actual state.
    pub(super) order: Vec<(Timestamp, Order)>,
    pub(super) charges: Vec<Charge>,
    /// Responses by reference, if the other side is idempotent.
    pub(super) responses: HashMap<String, Reply>,
    /// References of sent requests, each with whether the request is known to have had no effect.
    pub(super) sent_requests: HashMap<String, bool>,
    /// Last time at which the supplier reported the checkout as unpaid. A call sent before that
    /// time receives the same response whenever it arrives.
    pub(super) unpaid_at: Option<Timestamp>,
    /// Price for which the supplier sold the booking.
    pub(super) price: Money,
    pub(super) is_checkout_paid: bool,
    /// Pending decisions of the supplier with their times.
    pub(super) decisions: Vec<(Timestamp, Decision)>,
    pub(super) violation: Option<String>,
    pub(super) rare: RareCases,
}

impl<'a> ExternalSystems<'a> {
    pub(super) fn new(random: &'a Random, scenario: &'a BookingScenario) -> Self {
        Self {
            random,
            scenario,
            injects_faults: true,
            order: Vec::new(),
            charges: Vec::new(),
            responses: HashMap::new(),
            sent_requests: HashMap::new(),
            unpaid_at: None,
            price: scenario.offered(),
            is_checkout_paid: false,
            decisions: Vec::new(),
            violation: None,
            rare: RareCases::new(scenario),
        }
    }
}

/// The state of the rare cases.
pub(super) struct RareCases {
    /// Random numbers that follow from the price, so that they change no other draw of a seed.
    pub(super) random: Random,
    /// Whether the other side has shown nothing of a call that was executed, which happens once: a
    /// lookup met an outdated copy of its data, or a resend was refused.
    pub(super) has_misled: bool,
    /// The order before the supplier cancelled a room, until a refresh has met it.
    pub(super) before_loss: Option<Order>,
    /// Number of refreshes that met an outdated copy in which a lost room is still booked.
    pub(super) outdated_refreshes: u32,
    /// Number of bookings that were executed and whose resend was refused.
    pub(super) refused_bookings: u32,
}

impl RareCases {
    fn new(scenario: &BookingScenario) -> Self {
        Self {
            random: Random::new(scenario.offered().minor.unsigned_abs()),
            has_misled: false,
            before_loss: None,
            outdated_refreshes: 0,
            refused_bookings: 0,
        }
    }
}
