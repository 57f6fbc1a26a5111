//! Interprets the responses of suppliers to the calls that hotels and flights share.

#[cfg(test)]
mod tests;

use crate::booking::aggregate::{BookingAggregate, ChangeResponse, LookupResponse};
use crate::booking::interpret::{
    AbsenceMeaning, InterpretContext, Interpretation, NextLookup, REFUSED_EVIDENCE,
    RESENT_EVIDENCE, ScheduleContext, absent_booking_failure, booking_failure, classify_absence,
    classify_booking_absence, may_have_been_executed, missing_lookup_of_accepted,
};
use host_domain::booking::{Booking, BookingEvent, Failure, Orphan, ReportedBooking};
use host_domain::remote_call::{RemoteCall, ResendRefusal};
use host_domain::supplier::{
    BookingLookup, ChangeError, Refusal, RefusalReason, SupplierBookingStatus,
};
use host_domain::time::Timestamp;

pub fn book_response<K: BookingAggregate>(
    booking: &Booking<K>,
    response: ChangeResponse<K>,
    context: &InterpretContext<'_>,
) -> Interpretation<BookingEvent<K>> {
    let call = booking.active_call();
    let next_at = context.schedules.next_reconcile_at(call);
    match response {
        // A supplier that refuses does not cancel. A lookup shows what became of the booking.
        Ok(supplier_booking) if *supplier_booking.status() == SupplierBookingStatus::Canceled => {
            unresolved_book(next_at, canceled_evidence(&supplier_booking))
                .with_reference(supplier_booking.supplier_reference())
        }
        Ok(supplier_booking) => interpret_reported_booking(booking, supplier_booking, next_at),
        Err(ChangeError::Refused(refusal)) => refused_book(call, refusal, context.schedules),
        Err(ChangeError::Unknown(reason)) => unresolved_book(next_at, reason),
        Err(error) if may_have_been_executed(call) => unresolved_book(next_at, error.to_string()),
        Err(
            error @ (ChangeError::NotSent(_)
            | ChangeError::RefusedByAdapter(_)
            | ChangeError::RateLimited { .. }
            | ChangeError::Overloaded
            | ChangeError::Unsupported),
        ) => Interpretation::not_sent(BookingEvent::BookNotSent, error.to_string()),
    }
}

fn refused_book<K: BookingAggregate>(
    call: Option<&RemoteCall>,
    refusal: Refusal,
    schedules: ScheduleContext<'_>,
) -> Interpretation<BookingEvent<K>> {
    let Refusal {
        reason, message, ..
    } = refusal;
    let is_resend = may_have_been_executed(call);
    match reason {
        // The supplier already has this client reference; a lookup shows whose booking it is.
        RefusalReason::Duplicate => unresolved_book(schedules.now, message),
        // The state of the gateway's account is no evidence about an earlier sending.
        RefusalReason::Account if is_resend => {
            unresolved_book(schedules.next_reconcile_at(call), message)
        }
        RefusalReason::PaymentRequired if !is_resend => {
            Interpretation::refused(BookingEvent::CheckoutNotCompleted, message)
        }
        RefusalReason::PaymentRequired
        | RefusalReason::Unavailable
        | RefusalReason::Expired
        | RefusalReason::PriceChanged(_)
        | RefusalReason::TermsChanged
        | RefusalReason::PaymentDeclined
        | RefusalReason::Invalid
        | RefusalReason::NotCancellable
        | RefusalReason::Account
        | RefusalReason::Other(_) => match is_resend {
            true => {
                let refusal = ResendRefusal::Supplier(reason);
                unresolved_book(schedules.lookup_after_refusal(call, refusal), message)
            }
            false => {
                let failure = booking_failure(&reason, K::TEXTS.sold_out);
                Interpretation::refused(BookingEvent::BookRefused(failure), message)
            }
        },
    }
}

pub fn book_lookup<K: BookingAggregate>(
    booking: &Booking<K>,
    response: LookupResponse<K>,
    context: &InterpretContext<'_>,
) -> Interpretation<BookingEvent<K>> {
    let call = booking.active_call();
    let next_at = context.schedules.next_reconcile_at(call);
    match response {
        Ok(BookingLookup::Found(supplier_booking)) => {
            interpret_reported_booking(booking, *supplier_booking, next_at)
        }
        Ok(BookingLookup::NotFound) => {
            match classify_booking_absence(booking.payment_collector, call, context) {
                AbsenceMeaning::NeverExecuted => book_not_executed(call, context.schedules),
                AbsenceMeaning::SafeToResend(_) => Interpretation::not_sent(
                    BookingEvent::BookResendScheduled { at: next_at },
                    RESENT_EVIDENCE,
                ),
                AbsenceMeaning::Inconclusive(next) => {
                    let evidence = next.evidence();
                    unresolved_book(next, evidence)
                }
            }
        }
        Err(error) => unresolved_book(next_at, error.to_string()),
    }
}

/// Interprets the proof that nothing was booked. If a resend was refused, the refusal decides.
fn book_not_executed<K: BookingAggregate>(
    call: Option<&RemoteCall>,
    schedules: ScheduleContext<'_>,
) -> Interpretation<BookingEvent<K>> {
    let refusal = call.and_then(RemoteCall::supplier_refusal);
    if refusal == Some(&RefusalReason::PaymentRequired) {
        return Interpretation::refused(BookingEvent::CheckoutNotCompleted, REFUSED_EVIDENCE);
    }
    let evidence = match refusal {
        Some(_) => REFUSED_EVIDENCE,
        None => "reconciled: not found twice, and reads are consistent",
    };
    let event = BookingEvent::BookNotExecuted {
        failure: absent_booking_failure(call, K::TEXTS.sold_out),
        recheck_at: (schedules.absence_recheck).upcoming(schedules.now, schedules.now),
    };
    Interpretation::refused(event, evidence)
}

fn interpret_reported_booking<K: BookingAggregate>(
    booking: &Booking<K>,
    supplier_booking: K::SupplierBooking,
    next_at: Timestamp,
) -> Interpretation<BookingEvent<K>> {
    let reference = supplier_booking.supplier_reference().to_owned();
    let interpretation = match supplier_booking.status() {
        SupplierBookingStatus::PartiallyCanceled if !K::CAN_CANCEL_PARTIALLY => {
            accepted_book(&reference, next_at)
        }
        SupplierBookingStatus::Confirmed | SupplierBookingStatus::PartiallyCanceled => {
            let event = BookingEvent::BookConfirmed {
                supplier_booking: Box::new(supplier_booking),
                payment: booking.next_payment_id(),
            };
            Interpretation::succeeded(event, "confirmed")
        }
        SupplierBookingStatus::Pending | SupplierBookingStatus::CancelPending => {
            accepted_book(&reference, next_at)
        }
        // Charges may be due for a booking that the payer does not have. An operator decides.
        SupplierBookingStatus::Canceled if !supplier_booking.is_canceled_for_free() => {
            unresolved_book(next_at, canceled_evidence(&supplier_booking))
        }
        SupplierBookingStatus::Canceled => {
            let failure = Failure::new("book_failed", "The supplier canceled the booking.");
            let event = BookingEvent::BookRefused(failure);
            Interpretation::refused(event, "canceled at the supplier")
        }
        SupplierBookingStatus::Failed(refusal) => {
            let event =
                BookingEvent::BookRefused(booking_failure(&refusal.reason, K::TEXTS.sold_out));
            Interpretation::refused(event, refusal.message.clone())
        }
    };
    interpretation.with_reference(&reference)
}

fn accepted_book<K: BookingAggregate>(
    reference: &str,
    next_at: Timestamp,
) -> Interpretation<BookingEvent<K>> {
    let supplier_reference = Some(reference.to_owned()).filter(|known| !known.is_empty());
    let event = BookingEvent::BookAccepted {
        supplier_reference,
        next_at,
    };
    Interpretation::succeeded(event, "accepted")
}

fn unresolved_book<K: BookingAggregate>(
    next: impl Into<NextLookup>,
    evidence: impl Into<String>,
) -> Interpretation<BookingEvent<K>> {
    let NextLookup { next_at, absence } = next.into();
    let event = BookingEvent::BookUnresolved { next_at, absence };
    Interpretation::unknown(event, evidence)
}

/// Interprets a lookup of a booking that failed because its supplier did not have it. Lookups that
/// give no result are repeated until one does.
pub fn absence_recheck<K: BookingAggregate>(
    booking: &Booking<K>,
    response: LookupResponse<K>,
    context: &InterpretContext<'_>,
) -> Interpretation<BookingEvent<K>> {
    let schedules = context.schedules;
    let failed_at = booking
        .absence_recheck()
        .map_or(schedules.now, |absence| absence.failed_at);
    let next_at = schedules.absence_recheck.upcoming(failed_at, schedules.now);
    let evidence = match response {
        Ok(BookingLookup::Found(found)) => match kept_status(&*found) {
            Some(status) => return orphan_found(found.supplier_reference(), status, context),
            None => "rechecked: the supplier's booking is canceled",
        },
        Ok(BookingLookup::NotFound) => "rechecked: not found",
        Err(error) => {
            let retry_at = schedules.reconcile.next_after(failed_at, schedules.now);
            let next_at = Some(next_at.map_or(retry_at, |at| at.min(retry_at)));
            let event = BookingEvent::AbsenceRechecked { next_at };
            return Interpretation::unknown(event, error.to_string());
        }
    };
    Interpretation::refused(BookingEvent::AbsenceRechecked { next_at }, evidence)
}

fn orphan_found<K: BookingAggregate>(
    reference: &str,
    status: &str,
    context: &InterpretContext<'_>,
) -> Interpretation<BookingEvent<K>> {
    let found_at = context.schedules.now;
    let evidence = format!(
        "found at the supplier after the booking failed: {status}, reference {reference}, read at {found_at}"
    );
    let event = BookingEvent::OrphanFound(Orphan {
        supplier_reference: reference.to_owned(),
        found_at,
    });
    Interpretation::unknown(event, evidence).with_reference(reference)
}

/// Returns the name of a status in which the supplier keeps the booking or may charge for it, or
/// `None` if it does neither.
fn kept_status(supplier_booking: &impl ReportedBooking) -> Option<&'static str> {
    match supplier_booking.status() {
        SupplierBookingStatus::Pending => Some("pending"),
        SupplierBookingStatus::Confirmed => Some("confirmed"),
        SupplierBookingStatus::PartiallyCanceled => Some("partially canceled"),
        SupplierBookingStatus::CancelPending => Some("cancellation pending"),
        SupplierBookingStatus::Canceled if !supplier_booking.is_canceled_for_free() => {
            Some("canceled with charges")
        }
        SupplierBookingStatus::Canceled | SupplierBookingStatus::Failed(_) => None,
    }
}

/// Number of times that a cancellation is sent again after the supplier refused the gateway's account:
/// about a day with the default schedule.
const ACCOUNT_RETRIES_MAX: u32 = 8;

pub fn cancel_response<K: BookingAggregate>(
    booking: &Booking<K>,
    response: ChangeResponse<K>,
    context: &InterpretContext<'_>,
) -> Interpretation<BookingEvent<K>> {
    let call = booking.active_call();
    let next_at = context.schedules.next_reconcile_at(call);
    match response {
        Ok(supplier_booking) => {
            interpret_reported_cancellation(booking, supplier_booking, context, next_at)
        }
        // The supplier refuses the gateway, not this cancellation: perhaps a token is being replaced.
        // An account that has no right to cancel must not keep the booking in progress for ever.
        Err(ChangeError::Refused(refusal))
            if refusal.reason == RefusalReason::Account
                && call.map_or(0, RemoteCall::failed_attempts) < ACCOUNT_RETRIES_MAX =>
        {
            let retry_at = context.schedules.next_retry_at(call);
            let event = BookingEvent::CancelNotSent { retry_at };
            Interpretation::not_sent(event, refusal.message)
        }
        // An adapter may know that its supplier does not cancel this, and not ask. It would refuse a
        // repeat as well.
        Err(ChangeError::Refused(refusal) | ChangeError::RefusedByAdapter(refusal)) => {
            refused_cancel(REFUSED, refusal.message)
        }
        Err(ChangeError::Unsupported) => {
            refused_cancel("The supplier does not cancel bookings.", "not supported")
        }
        Err(
            error @ (ChangeError::NotSent(_)
            | ChangeError::RateLimited { .. }
            | ChangeError::Overloaded),
        ) => {
            let retry_at = context.schedules.next_retry_at(call);
            let allowed_at = match error {
                ChangeError::RateLimited { retry_after_s } => {
                    let wait_s = retry_after_s.unwrap_or(0);
                    context.schedules.now.plus_s(i64::from(wait_s))
                }
                _ => context.schedules.now,
            };
            let retry_at = retry_at.max(allowed_at);
            let event = BookingEvent::CancelNotSent { retry_at };
            Interpretation::not_sent(event, error.to_string())
        }
        Err(ChangeError::Unknown(reason)) => unresolved_cancel(next_at, reason),
    }
}

pub fn cancel_lookup<K: BookingAggregate>(
    booking: &Booking<K>,
    response: LookupResponse<K>,
    context: &InterpretContext<'_>,
) -> Interpretation<BookingEvent<K>> {
    let call = booking.active_call();
    let next_at = context.schedules.next_reconcile_at(call);
    let supplier_booking = match response {
        Ok(BookingLookup::Found(supplier_booking)) => *supplier_booking,
        Ok(BookingLookup::NotFound) => {
            return unresolved_cancel(next_at, "reconciled: booking not found");
        }
        Err(error) => return unresolved_cancel(next_at, error.to_string()),
    };
    let is_still_booked = match supplier_booking.status() {
        SupplierBookingStatus::Confirmed => true,
        SupplierBookingStatus::PartiallyCanceled => {
            K::CAN_CANCEL_PARTIALLY && !K::is_canceled_as_requested(booking, &supplier_booking)
        }
        SupplierBookingStatus::Pending
        | SupplierBookingStatus::CancelPending
        | SupplierBookingStatus::Canceled
        | SupplierBookingStatus::Failed(_) => false,
    };
    if !is_still_booked {
        return interpret_reported_cancellation(booking, supplier_booking, context, next_at);
    }
    if let Some(call @ RemoteCall::Accepted { accepted_at, .. }) = call {
        return match missing_lookup_of_accepted(call, *accepted_at, context) {
            None => refused_cancel(REFUSED, "reconciled: the booking is still confirmed twice"),
            Some(next) => {
                let evidence = "reconciled: the booking is still confirmed, but the supplier may show the accepted cancellation later";
                unresolved_cancel(next, evidence)
            }
        };
    }
    match classify_absence(call, context.guarantees, context.schedules) {
        AbsenceMeaning::NeverExecuted => {
            let description = "The cancellation did not reach the supplier.";
            let failure = Failure::new("cancel_failed", description);
            let evidence =
                "reconciled: the booking is still confirmed twice, and reads are consistent";
            Interpretation::refused(BookingEvent::CancelNotExecuted(failure), evidence)
        }
        AbsenceMeaning::SafeToResend(next) | AbsenceMeaning::Inconclusive(next) => {
            let evidence = "reconciled: the booking is still confirmed, but the supplier may show the change later";
            unresolved_cancel(next, evidence)
        }
    }
}

const REFUSED: &str = "The supplier refused the cancellation.";

fn interpret_reported_cancellation<K: BookingAggregate>(
    booking: &Booking<K>,
    supplier_booking: K::SupplierBooking,
    context: &InterpretContext<'_>,
    next_at: Timestamp,
) -> Interpretation<BookingEvent<K>> {
    let reference = supplier_booking.supplier_reference().to_owned();
    let is_canceled = K::is_canceled_as_requested(booking, &supplier_booking);
    let interpretation = match supplier_booking.status() {
        _ if is_canceled => {
            let evidence = canceled_evidence(&supplier_booking);
            let event = K::cancel_succeeded_event(Box::new(supplier_booking), context.ids);
            Interpretation::succeeded(BookingEvent::Kind(event), evidence)
        }
        SupplierBookingStatus::CancelPending | SupplierBookingStatus::Pending => {
            Interpretation::succeeded(BookingEvent::CancelAccepted { next_at }, "accepted")
        }
        SupplierBookingStatus::Confirmed
        | SupplierBookingStatus::PartiallyCanceled
        | SupplierBookingStatus::Canceled
        | SupplierBookingStatus::Failed(_) => {
            unresolved_cancel(next_at, "the supplier still shows the booking")
        }
    };
    interpretation.with_reference(&reference)
}

fn canceled_evidence(supplier_booking: &impl ReportedBooking) -> String {
    match supplier_booking.stated_cancellation_amounts() {
        Some(_) if supplier_booking.has_placeholder_amounts() => {
            "canceled, without usable amounts".to_owned()
        }
        Some((fee, Some(refund))) => {
            format!("canceled; the supplier states a fee of {fee} and a refund of {refund} so far")
        }
        Some((fee, None)) => format!("canceled; the supplier states a fee of {fee} so far"),
        None => "canceled, without readable amounts".to_owned(),
    }
}

fn refused_cancel<K: BookingAggregate>(
    description: &str,
    evidence: impl Into<String>,
) -> Interpretation<BookingEvent<K>> {
    let event = BookingEvent::CancelRefused(Failure::new("cancel_refused", description));
    Interpretation::refused(event, evidence)
}

fn unresolved_cancel<K: BookingAggregate>(
    next: impl Into<NextLookup>,
    evidence: impl Into<String>,
) -> Interpretation<BookingEvent<K>> {
    let NextLookup { next_at, absence } = next.into();
    let event = BookingEvent::CancelUnresolved { next_at, absence };
    Interpretation::unknown(event, evidence)
}

pub fn refresh_response<K: BookingAggregate>(
    booking: &Booking<K>,
    response: LookupResponse<K>,
    context: &InterpretContext<'_>,
) -> Interpretation<BookingEvent<K>> {
    let call = booking.active_call();
    let evidence = match response {
        Ok(BookingLookup::Found(supplier_booking)) => {
            let reported_at = change_reported_at(call, context.schedules.now);
            let event = K::refreshed_event(supplier_booking, reported_at, context.ids);
            let event = BookingEvent::Kind(event);
            return Interpretation::succeeded(event, "refreshed");
        }
        Ok(BookingLookup::NotFound) => "refreshed: booking not found".to_owned(),
        Err(error) => error.to_string(),
    };
    let next_at = context.schedules.next_reconcile_at(call);
    let event = BookingEvent::RefreshFailed { next_at };
    Interpretation::unknown(event, evidence)
}

fn change_reported_at(call: Option<&RemoteCall>, now: Timestamp) -> Timestamp {
    match call {
        Some(RemoteCall::Accepted { accepted_at, .. }) => *accepted_at,
        Some(RemoteCall::Pending { .. } | RemoteCall::Sent { .. }) | None => now,
    }
}
