//! Product-independent invariants, checked after every event and at the end.

use super::external_systems::ExternalSystems;
use super::scenario::cards;
use anyhow::{Result, ensure};
use host_application::booking::aggregate::BookingAggregate;
use host_domain::booking::{Booking, Transition};
use host_domain::event::EventType;
use host_domain::money::Money;
use host_domain::payment::{Payment, PaymentState, ProcessorPaymentStatus};
use std::collections::HashMap;

/// The observations of a scenario.
#[derive(Default)]
pub(super) struct Checks {
    /// Number of notifications by event type and payment.
    published: HashMap<(&'static str, Option<String>), usize>,
    /// Whether an operator resolved a cancellation without amounts.
    pub(super) has_resolved_cancellation: bool,
    pub(super) resolutions: usize,
    /// Whether a failed booking was found at the supplier and listed for the operator.
    pub(super) has_orphan: bool,
    pub(super) conflicts: usize,
}

/// Allowed transitions of the status.
const ALLOWED_TRANSITIONS: [(&str, &[&str]); 10] = [
    ("CREATED", &["PREBOOK_IN_PROGRESS", "FAILED"]),
    ("PREBOOK_IN_PROGRESS", &["READY_FOR_COMPLETE", "FAILED"]),
    ("READY_FOR_COMPLETE", &["COMPLETE_IN_PROGRESS", "EXPIRED"]),
    (
        "COMPLETE_IN_PROGRESS",
        &[
            "READY_FOR_COMPLETE",
            "CONFIRMED",
            "PARTIALLY_CANCELED",
            "FAILED",
        ],
    ),
    (
        "CONFIRMED",
        &["CANCEL_IN_PROGRESS", "PARTIALLY_CANCELED", "CANCELED"],
    ),
    (
        "CANCEL_IN_PROGRESS",
        &["CONFIRMED", "PARTIALLY_CANCELED", "CANCELED"],
    ),
    ("PARTIALLY_CANCELED", &["CANCEL_IN_PROGRESS", "CANCELED"]),
    ("CANCELED", &[]),
    ("FAILED", &[]),
    ("EXPIRED", &[]),
];

impl Checks {
    pub(super) fn record_transition<K: BookingAggregate>(
        &mut self,
        transition: &Transition<Booking<K>>,
    ) -> Result<()> {
        let (from, to) = (transition.from_status, transition.booking.status().as_str());
        let (_, targets) = ALLOWED_TRANSITIONS
            .iter()
            .find(|(name, _)| *name == from)
            .unwrap();
        let (is_allowed, event) = (from == to || targets.contains(&to), transition.event);
        ensure!(is_allowed, "{from} became {to} by {event}");
        for notification in &transition.notifications {
            let payment = notification.payment.as_ref().map(ToString::to_string);
            let key = (notification.event_type.as_str(), payment);
            *self.published.entry(key).or_default() += 1;
        }
        Ok(())
    }

    /// Checks the invariants that hold after every event.
    pub(super) fn check<K: BookingAggregate>(
        &self,
        booking: &Booking<K>,
        external: &ExternalSystems<'_>,
    ) -> Result<()> {
        let own = own_payments(booking);
        let live = own.iter().filter(|payment| payment.has_funds()).count();
        ensure!(live <= 1, "{live} active payments: {own:?}");
        for payment in &booking.payments {
            let refunds: i64 = payment.refunds.iter().map(|r| r.amount.minor).sum();
            let is_within = refunds <= payment.amount.minor;
            ensure!(is_within, "refunds exceed the payment: {payment:?}");
        }
        for charge in &external.charges {
            let is_within = charge.refunded() <= charge.amount.minor;
            ensure!(is_within, "refunds exceed the captured amount: {charge:?}");
        }
        Ok(())
    }

    /// Returns the total that the payer pays according to the booking.
    pub(super) fn paid_by<K: BookingAggregate>(&self, booking: &Booking<K>) -> Money {
        let taken = booking.payments.iter();
        let taken = taken.filter(|payment| payment.has_funds());
        let minor = taken
            .map(|payment| payment.amount.minor - payment.refunded().minor)
            .sum();
        Money::new(minor, booking.details.booked_price().currency)
    }

    /// Checks that the stored payments match the processor when no work is left.
    pub(super) fn check_payments_at_end<K: BookingAggregate>(
        &self,
        booking: &Booking<K>,
    ) -> Result<()> {
        for payment in &booking.payments {
            let is_at_rest = matches!(
                payment.state,
                PaymentState::Captured | PaymentState::Voided | PaymentState::Failed
            );
            let mut refunds = payment.refunds.iter();
            let is_final = is_at_rest && refunds.all(|refund| refund.call.is_none());
            ensure!(is_final, "a payment is not final: {payment:?}");
            let captured =
                self.published_count(EventType::PaymentCaptured, Some(payment.id.as_str()));
            let refunded =
                self.published_count(EventType::PaymentRefunded, Some(payment.id.as_str()));
            if payment.processor == cards() {
                let taken = usize::from(payment.state == PaymentState::Captured);
                ensure!(
                    captured == taken,
                    "published {captured} captures: {payment:?}"
                );
                let refunds = payment.refunds.len();
                ensure!(
                    refunded == refunds,
                    "published {refunded} refunds: {payment:?}"
                );
            }
        }
        Ok(())
    }

    /// Checks that the booking agrees with the processor and that the payer pays `retained`.
    pub(super) fn check_money<K: BookingAggregate>(
        &self,
        booking: &Booking<K>,
        external: &ExternalSystems<'_>,
        retained: Money,
    ) -> Result<()> {
        let mut charges = external.charges.iter();
        let held = charges.find(|c| c.status == ProcessorPaymentStatus::Authorized);
        ensure!(held.is_none(), "an authorization is left open: {held:?}");
        let charges = external.charges.iter().filter(|charge| charge.is_live());
        let taken: i64 = charges
            .map(|charge| charge.amount.minor - charge.refunded())
            .sum();
        let stated = self.paid_by(booking);
        let agrees = taken == stated.minor;
        ensure!(agrees, "{taken} is captured, but the booking has {stated}");
        let agrees = self.has_resolved_cancellation || taken == retained.minor;
        ensure!(
            agrees,
            "the payer pays {taken}, the supplier keeps {retained}"
        );
        Ok(())
    }

    pub(super) fn published_count(&self, event: EventType, payment: Option<&str>) -> usize {
        let key = (event.as_str(), payment.map(str::to_owned));
        self.published.get(&key).copied().unwrap_or_default()
    }

    /// Checks that subscribers were notified exactly once, or never if the event did not happen.
    pub(super) fn check_published_once(&self, event: EventType, happened: bool) -> Result<()> {
        let (count, name) = (self.published_count(event, None), event.as_str());
        ensure!(
            count == usize::from(happened),
            "{name} was sent {count} times"
        );
        Ok(())
    }
}

/// Returns the payments of the booking itself, without those of services.
fn own_payments<K: BookingAggregate>(booking: &Booking<K>) -> Vec<&Payment> {
    let payments = booking.payments.iter();
    let own = payments.filter(|payment| !booking.details.pays_for_services(&payment.id));
    own.collect()
}
