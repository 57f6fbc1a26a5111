//! Checks of user consent: the limits of a mandate and the allowed ends of a purchase.

use super::booking::{Booking, SimulatedPhase};
use super::check_schedule::expires_at;
use super::database::Rows;
use anyhow::{Result, bail, ensure};
use host_domain::id::WatchId;
use host_domain::mandate::{Mandate, MandateState, MandateStatus};
use host_domain::time::Timestamp;
use host_domain::watch::{PurchaseFailureReason, Watch, WatchStatus};

/// Checks that the terms of a mandate match its watch.
pub(super) fn check_terms(watch: &Watch, rows: &Rows) -> Result<()> {
    let terms = &rows.mandates[watch.mandate_id.as_ref().unwrap()].terms;
    let instrument = watch
        .auto_book
        .as_ref()
        .map(|auto| &auto.payment_instrument_id);
    let is_matching = terms.owner == watch.owner
        && terms.amount == watch.trigger.amount()
        && Some(&terms.instrument) == instrument
        && terms.expires_at == expires_at(&watch.query);
    ensure!(is_matching, "{terms:?} does not match {watch:?}");
    Ok(())
}

/// Checks that a mandate is used, reactivated or revoked correctly.
pub(super) fn check_transition(
    before: &Mandate,
    mandate: &Mandate,
    is_revoked: impl Fn(&WatchId) -> bool,
    rows: &Rows,
    now: Timestamp,
) -> Result<()> {
    match (&before.state, &mandate.state) {
        (MandateState::Active, MandateState::Consumed { booking, .. }) => {
            let booking = &rows.bookings[booking];
            let watch = rows.watch(&booking.watch);
            let is_of_purchase = watch.booking_id() == Some(&booking.id)
                && watch.mandate_id.as_ref() == Some(&mandate.terms.id)
                && booking.instrument == mandate.terms.instrument;
            ensure!(
                is_of_purchase,
                "booked without a purchase: {booking:?} {watch:?}"
            );
            ensure!(
                !is_revoked(&watch.id),
                "used after it was revoked: {mandate:?}"
            );
            let expires_at = expires_at(&watch.query);
            ensure!(now < expires_at, "used too late: {mandate:?}");
            let cap = watch.trigger.amount();
            ensure!(booking.price.minor <= cap.minor, "too dear: {booking:?}");
            let mut others = rows.bookings.values();
            let other = others.find(|other| {
                other.watch == watch.id && other.id != booking.id && !had_no_effect(other)
            });
            ensure!(other.is_none(), "bought twice: {booking:?} {other:?}");
        }
        (MandateState::Consumed { booking, .. }, MandateState::Active) => {
            let booking = &rows.bookings[booking];
            ensure!(had_no_effect(booking), "mandate reactivated: {booking:?}");
            let status = rows.watch(&booking.watch).status();
            ensure!(status == WatchStatus::Active, "{status:?}, mandate active");
        }
        (MandateState::Active, MandateState::Revoked) => {}
        (from, to) => bail!("a mandate was {from:?} and became {to:?}"),
    }
    Ok(())
}

/// Checks that a purchase may end so that its watch becomes active again.
pub(super) fn check_release(watch: &Watch, rows: &Rows, now: Timestamp) -> Result<()> {
    let booking = watch.booking_id().map(|id| &rows.bookings[id]);
    ensure!(booking.is_none_or(had_no_effect), "aborted: {booking:?}");
    let mandate = &rows.mandates[watch.mandate_id.as_ref().unwrap()];
    let is_used = mandate.status(now) == MandateStatus::Consumed;
    ensure!(!is_used, "mandate used without a purchase: {mandate:?}");
    Ok(())
}

/// Checks that a purchase may fail with the given reason.
pub(super) fn check_failure(
    watch: &Watch,
    reason: PurchaseFailureReason,
    is_revoked: bool,
    rows: &Rows,
    now: Timestamp,
) -> Result<()> {
    let booking = watch.booking_id().map(|id| &rows.bookings[id]);
    let is_open = booking.is_some_and(|booking| booking.is_sold() || booking.is_open());
    ensure!(!is_open, "not known to have failed: {booking:?}");
    let booking_has = |is_so: fn(&Booking) -> bool| booking.is_some_and(is_so);
    let is_deleted = |booking: &Booking| rows.deleted_instruments.contains(&booking.instrument);
    let is_correct_reason = match reason {
        PurchaseFailureReason::PaymentFailed => booking_has(|booking| booking.is_declined),
        PurchaseFailureReason::PaymentInstrumentInvalid => booking.is_some_and(is_deleted),
        PurchaseFailureReason::SupplierRejected => booking_has(Booking::is_refused),
        PurchaseFailureReason::MandateRevoked => is_revoked,
        PurchaseFailureReason::MandateExpired => now >= expires_at(&watch.query),
        PurchaseFailureReason::MandateInvalid => false,
    };
    ensure!(is_correct_reason, "wrong reason {reason:?}: {booking:?}");
    Ok(())
}

/// Returns whether the purchase had no effect: no card was charged and the supplier can no longer
/// confirm it.
fn had_no_effect(booking: &Booking) -> bool {
    let is_over = matches!(
        booking.phase,
        SimulatedPhase::Failed {
            was_prebooked: false
        } | SimulatedPhase::Expired
    );
    is_over && !booking.is_declined && !booking.is_refused()
}
