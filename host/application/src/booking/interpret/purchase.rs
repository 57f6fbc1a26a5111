//! Interprets a flight supplier's responses to purchases of extras.

#[cfg(test)]
mod tests;

use crate::booking::aggregate::{ChangeResponse, LookupResponse};
use crate::booking::interpret::{
    AbsenceMeaning, InterpretContext, Interpretation, NextLookup, REFUSED_EVIDENCE,
    RESENT_EVIDENCE, classify_absence, may_have_been_executed,
};
use host_domain::booking::{BookingEvent, Failure};
use host_domain::flight::booking::{FlightBooking, FlightBookingDetails, FlightEvent};
use host_domain::flight::supplier_api::FlightSupplierBooking;
use host_domain::remote_call::{RemoteCall, ResendRefusal};
use host_domain::supplier::{BookingLookup, ChangeError, RefusalReason};

const REFUSED: &str = "The supplier refused to sell the extras.";

fn purchase_failed(description: &str) -> BookingEvent<FlightBookingDetails> {
    FlightEvent::PurchaseRefused(Failure::new("purchase_failed", description)).into()
}

fn unresolved_purchase(
    next: impl Into<NextLookup>,
    evidence: impl Into<String>,
) -> Interpretation<BookingEvent<FlightBookingDetails>> {
    let NextLookup { next_at, absence } = next.into();
    let event = FlightEvent::PurchaseUnresolved { next_at, absence }.into();
    Interpretation::unknown(event, evidence)
}

fn purchase_call(booking: &FlightBooking) -> Option<&RemoteCall> {
    booking.open_purchase().and_then(|purchase| purchase.call())
}

pub fn purchase_response(
    booking: &FlightBooking,
    response: ChangeResponse<FlightBookingDetails>,
    context: &InterpretContext<'_>,
) -> Interpretation<BookingEvent<FlightBookingDetails>> {
    let call = purchase_call(booking);
    let next_at = context.schedules.next_reconcile_at(call);
    match response {
        Ok(supplier_booking) => match is_purchase_on_ticket(booking, &supplier_booking) {
            true => Interpretation::succeeded(
                FlightEvent::PurchaseSucceeded(Box::new(supplier_booking)).into(),
                "bought",
            ),
            false => unresolved_purchase(next_at, "the response does not show what was bought"),
        },
        Err(ChangeError::Refused(refusal)) if refusal.reason == RefusalReason::Duplicate => {
            // The supplier already knows the gateway's own reference; reconciling shows the
            // outcome.
            unresolved_purchase(context.schedules.now, refusal.message)
        }
        Err(ChangeError::Refused(refusal)) if may_have_been_executed(call) => {
            // The state of the gateway's account is no evidence about an earlier sending.
            if refusal.reason == RefusalReason::Account {
                return unresolved_purchase(next_at, refusal.message);
            }
            let reason = ResendRefusal::Supplier(refusal.reason);
            let next = context.schedules.lookup_after_refusal(call, reason);
            unresolved_purchase(next, refusal.message)
        }
        Err(ChangeError::Refused(refusal)) => {
            Interpretation::refused(purchase_failed(REFUSED), refusal.message)
        }
        Err(ChangeError::Unknown(reason)) => unresolved_purchase(next_at, reason),
        Err(error) if may_have_been_executed(call) => {
            unresolved_purchase(next_at, error.to_string())
        }
        Err(
            error @ (ChangeError::NotSent(_)
            | ChangeError::RefusedByAdapter(_)
            | ChangeError::RateLimited { .. }
            | ChangeError::Overloaded
            | ChangeError::Unsupported),
        ) => Interpretation::not_sent(FlightEvent::PurchaseNotSent.into(), error.to_string()),
    }
}

pub fn purchase_lookup(
    booking: &FlightBooking,
    response: LookupResponse<FlightBookingDetails>,
    context: &InterpretContext<'_>,
) -> Interpretation<BookingEvent<FlightBookingDetails>> {
    let call = purchase_call(booking);
    let next_at = context.schedules.next_reconcile_at(call);
    match response {
        Ok(BookingLookup::Found(supplier_booking))
            if is_purchase_on_ticket(booking, &supplier_booking) =>
        {
            let event = FlightEvent::PurchaseSucceeded(supplier_booking).into();
            Interpretation::succeeded(event, "reconciled: bought")
        }
        Ok(BookingLookup::Found(supplier_booking)) if supplier_booking.has_unreadable_services => {
            unresolved_purchase(next_at, "reconciled: services on the ticket cannot be read")
        }
        Ok(BookingLookup::Found(_)) => {
            match classify_absence(call, context.guarantees, context.schedules) {
                AbsenceMeaning::NeverExecuted => {
                    let refusal = call.and_then(RemoteCall::supplier_refusal);
                    let (description, evidence) = match refusal {
                        Some(_) => (REFUSED, REFUSED_EVIDENCE),
                        None => (
                            "The supplier did not sell the extras.",
                            "reconciled: not on the ticket twice, and reads are consistent",
                        ),
                    };
                    Interpretation::refused(purchase_failed(description), evidence)
                }
                AbsenceMeaning::SafeToResend(_) => {
                    let event = FlightEvent::PurchaseResendScheduled { at: next_at }.into();
                    Interpretation::not_sent(event, RESENT_EVIDENCE)
                }
                AbsenceMeaning::Inconclusive(next) => {
                    let evidence = next.evidence();
                    unresolved_purchase(next, evidence)
                }
            }
        }
        Ok(BookingLookup::NotFound) => {
            unresolved_purchase(next_at, "reconciled: booking not found")
        }
        Err(error) => unresolved_purchase(next_at, error.to_string()),
    }
}

fn is_purchase_on_ticket(
    booking: &FlightBooking,
    supplier_booking: &FlightSupplierBooking,
) -> bool {
    let purchase = booking.open_purchase();
    purchase.is_some_and(|purchase| booking.is_on_ticket(purchase, supplier_booking))
}
