//! Product-independent invariants, checked after every event and at the end.

use super::scenario::cards;
use super::world::World;
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
    pub(super) settled: bool,
    pub(super) settlements: usize,
    /// Whether a failed booking was found at the supplier and listed for the operator.
    pub(super) has_orphan: bool,
    pub(super) conflicts: usize,
}

/// Allowed transitions of the status.
const MOVES: [(&str, &[&str]); 10] = [
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
    pub(super) fn moved<K: BookingAggregate>(
        &mut self,
        transition: &Transition<Booking<K>>,
    ) -> Result<()> {
        let (from, to) = (transition.from_status, transition.booking.status().as_str());
        let (_, ways) = MOVES.iter().find(|(name, _)| *name == from).unwrap();
        let (is_allowed, event) = (from == to || ways.contains(&to), transition.event);
        ensure!(is_allowed, "{from} became {to} by {event}");
        for notice in &transition.notifications {
            let payment = notice.payment.as_ref().map(ToString::to_string);
            let key = (notice.event_type.as_str(), payment);
            *self.published.entry(key).or_default() += 1;
        }
        Ok(())
    }

    /// Checks the invariants that hold after every event.
    pub(super) fn now<K: BookingAggregate>(
        &self,
        booking: &Booking<K>,
        world: &World<'_>,
    ) -> Result<()> {
        let own = own_payments(booking);
        let live = own.iter().filter(|payment| payment.has_funds()).count();
        ensure!(live <= 1, "{live} active payments: {own:?}");
        for payment in &booking.payments {
            let refunds: i64 = payment.refunds.iter().map(|r| r.amount.minor).sum();
            let fits = refunds <= payment.amount.minor;
            ensure!(fits, "refunds exceed the payment: {payment:?}");
        }
        for charge in &world.charges {
            let fits = charge.refunded() <= charge.amount.minor;
            ensure!(fits, "refunds exceed the captured amount: {charge:?}");
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
    pub(super) fn at_rest<K: BookingAggregate>(&self, booking: &Booking<K>) -> Result<()> {
        for payment in &booking.payments {
            let is_at_rest = matches!(
                payment.state,
                PaymentState::Captured | PaymentState::Voided | PaymentState::Failed
            );
            let mut refunds = payment.refunds.iter();
            let is_final = is_at_rest && refunds.all(|refund| refund.call.is_none());
            ensure!(is_final, "a payment is not final: {payment:?}");
            let captured = self.times(EventType::PaymentCaptured, Some(payment.id.as_str()));
            let refunded = self.times(EventType::PaymentRefunded, Some(payment.id.as_str()));
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

    /// Checks that the booking agrees with the processor and that the payer pays `kept`.
    pub(super) fn money<K: BookingAggregate>(
        &self,
        booking: &Booking<K>,
        world: &World<'_>,
        kept: Money,
    ) -> Result<()> {
        let mut charges = world.charges.iter();
        let held = charges.find(|c| c.status == ProcessorPaymentStatus::Authorized);
        ensure!(held.is_none(), "an authorization is left open: {held:?}");
        let charges = world.charges.iter().filter(|charge| charge.is_live());
        let taken: i64 = charges
            .map(|charge| charge.amount.minor - charge.refunded())
            .sum();
        let said = self.paid_by(booking);
        let agrees = taken == said.minor;
        ensure!(agrees, "{taken} is captured, but the booking has {said}");
        let agrees = self.settled || taken == kept.minor;
        ensure!(agrees, "the payer pays {taken}, the supplier keeps {kept}");
        Ok(())
    }

    pub(super) fn times(&self, event: EventType, payment: Option<&str>) -> usize {
        let key = (event.as_str(), payment.map(str::to_owned));
        self.published.get(&key).copied().unwrap_or_default()
    }

    /// Checks that subscribers were notified exactly once, or never if the event did not happen.
    pub(super) fn published_once(&self, event: EventType, happened: bool) -> Result<()> {
        let (times, name) = (self.times(event, None), event.as_str());
        ensure!(
            times == usize::from(happened),
            "{name} was sent {times} times"
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
