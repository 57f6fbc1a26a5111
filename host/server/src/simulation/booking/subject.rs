//! What is simulated of a booking, of hotels or of flights, beside what its flows know.

use super::call::Request;
use super::check::Checks;
use super::people::Wish;
use super::setting::Setting;
use super::world::{Order, World};
use crate::flow::bookable::BookingAggregate;
use crate::flow::judge::{Interpretation, SupplierGuarantees, ScheduleContext};
use crate::simulation::random::Random;
use anyhow::Result;
use host_domain::id::BookingId;
use host_domain::payment::{Payment, PaymentStep};
use host_domain::supplier::{ChangeError, ReadError};
use host_domain::time::Timestamp;

/// When answers mean what.
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
    /// What a step asks of the supplier.
    fn request(&self, step: &Self::Step, reference: Option<&str>) -> Request;
    /// What the supplier's answer means.
    fn judge(
        &self,
        step: &Self::Step,
        reply: Answer,
        around: &Around<'_>,
    ) -> Interpretation<Self::Event>;
    /// What a caller wants of it, where that is possible now.
    fn wished(
        &self,
        wish: Wish,
        random: &Random,
        setting: &Setting,
        now: Timestamp,
    ) -> Option<Self::Event>;
    /// Whether what an unknown call was for is done, by what the supplier has.
    fn is_done(&self, step: &str, order: Option<&Order>) -> Option<bool>;
    fn check_end(&self, setting: &Setting, world: &World<'_>, checks: &Checks) -> Result<()>;
    /// The payments that pay the booking itself, not extras.
    fn own_payments(&self) -> Vec<&Payment>;
}

/// What a supplier answers.
pub(super) enum Answer {
    Changed(Result<Order, ChangeError>),
    Found(Result<Option<Order>, ReadError>),
}
