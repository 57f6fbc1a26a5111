//! What bookings of hotels and of flights have in common: why they fail, who
//! settles them, how a move is told, how payments are referred to.

use crate::event::EventType;
use crate::id::{BookingId, PaymentId, RefundId};
use crate::leg::RemoteCall;
use crate::payment::{Payment, PaymentEvent};
use serde::{Deserialize, Serialize};

/// How long an unanswered prebook may stay unanswered. Nothing is owed at that
/// stage, so here, and only here, a timer decides.
pub const PREBOOK_TIMEOUT_MS: i64 = 15 * 60 * 1000;

/// What happens by itself, without a call, when its time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// An unanswered prebook is not waited for any more.
    Prebook,
    /// What was bound was not completed.
    Offer,
}

impl Expiry {
    /// Its name, as a step has one: in failpoints and tests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prebook => "give_up_prebook",
            Self::Offer => "expire",
        }
    }
}

/// Who says that something about a booking changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeSource {
    /// Who sold it.
    Supplier,
    /// Who takes the money for it, and knows nothing else.
    Processor,
}

/// Why something failed, for callers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Stable, e.g. `book_failed`.
    pub code: String,
    /// One sentence.
    pub description: String,
}

impl Failure {
    /// From a code and a sentence.
    #[must_use]
    pub fn new(code: &str, description: &str) -> Self {
        Self {
            code: code.to_owned(),
            description: description.to_owned(),
        }
    }

    /// The supplier did not bind the offer, and never said so.
    #[must_use]
    pub fn prebook_unknown() -> Self {
        Self::new(
            "prebook_unknown",
            "The supplier did not answer; nothing was booked or charged.",
        )
    }
}

/// Who takes the payer's money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentCollector {
    /// The gateway, with a stored instrument or the payer's browser.
    Gateway,
    /// The supplier, at its own checkout.
    Supplier,
}

/// The event does not fit the booking's state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{event} does not fit a booking that is {status}")]
pub struct InvalidTransition {
    /// Where the booking is, as the API names it.
    pub status: &'static str,
    /// What does not fit.
    pub event: &'static str,
}

/// A booking that has moved, and what the move tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition<B> {
    /// The booking afterwards, its version counted up.
    pub booking: B,
    /// Where it was, as the API names it.
    pub from_status: &'static str,
    /// What happened, for the booking's history.
    pub event: &'static str,
    /// What subscribers are told.
    pub notifications: Vec<Notification>,
}

/// Something that subscribers are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// Of which type.
    pub event_type: EventType,
    /// The payment that it is about, of a payment event.
    pub payment: Option<PaymentId>,
}

/// What one arm of a machine's table tells subscribers.
#[derive(Debug, Default)]
pub(crate) struct Notifications(pub(crate) Vec<Notification>);

impl Notifications {
    pub(crate) fn push_booking_event(&mut self, event_type: EventType) {
        self.0.push(Notification {
            event_type,
            payment: None,
        });
    }

    /// Of what happens to a payment, what subscribers are told.
    pub(crate) fn push_payment_event(&mut self, event: &PaymentEvent, payment: &PaymentId) {
        let event_type = match event {
            PaymentEvent::Captured => EventType::PaymentCaptured,
            PaymentEvent::Refunded(_) => EventType::PaymentRefunded,
            PaymentEvent::Declined(_) | PaymentEvent::NotAuthorized => EventType::PaymentFailed,
            PaymentEvent::Sent { .. }
            | PaymentEvent::Authorized { .. }
            | PaymentEvent::Voided
            | PaymentEvent::StepFailed { .. }
            | PaymentEvent::Unresolved { .. }
            | PaymentEvent::ResendScheduled { .. }
            | PaymentEvent::RefundResendScheduled { .. }
            | PaymentEvent::RefundSent { .. }
            | PaymentEvent::RefundFailed { .. }
            | PaymentEvent::RefundUnresolved { .. } => return,
        };
        self.0.push(Notification {
            event_type,
            payment: Some(payment.clone()),
        });
    }
}

/// Our reference at a processor for one call about a payment. Begins with the
/// booking's id. A call that may have happened keeps its reference; a call that
/// is known not to have happened gets a new one, because processors answer a
/// repeated reference with its first answer.
#[must_use]
pub fn payment_client_reference(
    booking: &BookingId,
    payments: &[Payment],
    payment: &PaymentId,
    call: &str,
    tries: u32,
) -> String {
    let ordinal = payments
        .iter()
        .position(|p| p.id == *payment)
        .unwrap_or(payments.len());
    format!(
        "{booking}-{call}-{}-{}",
        ordinal.saturating_add(1),
        tries.saturating_add(1)
    )
}

/// The same for one of a payment's refunds.
#[must_use]
pub fn refund_client_reference(
    booking: &BookingId,
    payments: &[Payment],
    payment: &Payment,
    refund: &RefundId,
) -> String {
    let ordinal = payment
        .refunds
        .iter()
        .position(|known| known.id == *refund)
        .unwrap_or(payment.refunds.len());
    let tries = payment
        .refunds
        .get(ordinal)
        .and_then(|known| known.call.as_ref())
        .map_or(0, RemoteCall::failed_attempts);
    let call = format!("refund-{}", ordinal.saturating_add(1));
    payment_client_reference(booking, payments, &payment.id, &call, tries)
}

/// The booking that one of our references is about: each begins with its id.
#[must_use]
pub fn booking_id_from_reference(reference: &str) -> Option<BookingId> {
    // What follows an id begins with a dash, and no id that is made here has one.
    let id = reference.split('-').next().unwrap_or_default();
    BookingId::parse(id).ok()
}

/// The most characters of a membership number that are shown.
const MEMBERSHIP_SHOWN: usize = 4;

/// Of a membership number only the end is shown; of a short one less.
#[must_use]
pub fn mask_membership_number(number: &str) -> String {
    let length = number.chars().count();
    let hidden = length
        .saturating_sub(MEMBERSHIP_SHOWN)
        .max(length.div_ceil(2));
    number
        .chars()
        .enumerate()
        .map(|(at, sign)| if at < hidden { '*' } else { sign })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_leads_back_to_its_booking() {
        let booking = BookingId::from_bits(7);
        let payment = payment_client_reference(&booking, &[], &PaymentId::from_bits(1), "authorize", 0);
        for reference in [booking.as_str(), &payment, &format!("{booking}-c1")] {
            assert_eq!(booking_id_from_reference(reference), Some(booking.clone()));
        }
        for other in ["", "-", "bkg_", "bkg_-1", "ord_1", "pay_1-1", "bkg_a b"] {
            assert_eq!(booking_id_from_reference(other), None, "{other}");
        }
    }

    #[test]
    fn of_a_membership_number_only_the_end_is_shown() {
        for (number, shown) in [
            ("AB-1234567", "******4567"),
            ("12345", "***45"),
            ("1234", "**34"),
            ("1", "*"),
            ("", ""),
            ("******4567", "******4567"),
        ] {
            assert_eq!(mask_membership_number(number), shown);
        }
    }
}
