//! The parts of a simulated hotel or flight booking that its production flows do not provide.

use super::actors::Wish;
use super::invariants::Checks;
use super::remote_call::Request;
use super::scenario::Setting;
use super::supplier::{Order, World};
use crate::seeded_random::Random;
use anyhow::Result;
use host_application::booking::aggregate::BookingAggregate;
use host_application::booking::interpret::{Interpretation, ScheduleContext, SupplierGuarantees};
use host_domain::id::BookingId;
use host_domain::payment::{Payment, PaymentStep};
use host_domain::supplier::{ChangeError, ReadError};
use host_domain::time::Timestamp;

/// The context that determines what a response means.
pub(super) struct Around<'a> {
    pub(super) random: &'a Random,
    pub(super) supplier: SupplierGuarantees,
    pub(super) processor: SupplierGuarantees,
    pub(super) times: ScheduleContext<'a>,
}

/// A booking that can be simulated.
pub(super) trait Subject: BookingAggregate {
    fn born(id: BookingId, setting: &Setting, now: Timestamp) -> Self;
    fn bound(
        &self,
        setting: &Setting,
        expires_at: Timestamp,
        payment: Option<Payment>,
    ) -> Self::Event;
    fn payment_step(step: &Self::Step) -> Option<&PaymentStep>;
    /// Returns the supplier request of a step.
    fn request(&self, step: &Self::Step, reference: Option<&str>) -> Request;
    /// Interprets the supplier's response.
    fn judge(
        &self,
        step: &Self::Step,
        reply: Answer,
        around: &Around<'_>,
    ) -> Interpretation<Self::Event>;
    /// Returns the event of a client's request, or `None` if the request is currently not possible.
    fn wished(
        &self,
        wish: Wish,
        random: &Random,
        setting: &Setting,
        now: Timestamp,
    ) -> Option<Self::Event>;
    /// Returns whether the supplier has executed the call whose outcome is unknown.
    fn is_done(&self, step: &str, order: Option<&Order>) -> Option<bool>;
    fn check_end(&self, setting: &Setting, world: &World<'_>, checks: &Checks) -> Result<()>;
    /// Returns the payments of the booking itself, without those of services.
    fn own_payments(&self) -> Vec<&Payment>;
}

/// A response of the supplier.
pub(super) enum Answer {
    Changed(Result<Order, ChangeError>),
    Found(Result<Option<Order>, ReadError>),
}
