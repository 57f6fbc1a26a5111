//! Bookings of hotels and flights: the life cycle that both share, its transitions and steps, and
//! the references of their payments.

mod absence;
mod aggregate;
mod next_step;
mod status;
mod step;
#[cfg(test)]
pub(crate) mod tests;
mod transition;

pub use absence::{AbsenceRecheck, Orphan};
pub use aggregate::{
    BookedCall, Booking, BookingEvent, BookingKind, BookingPhase, BookingState,
    LifecycleEventTypes, ReportedBooking,
};
pub use status::BookingStatus;
pub use step::BookingStep;
pub(crate) use transition::{advance_cancel_call, schedule_refresh};

use crate::event::EventType;
use crate::id::{BookingId, PaymentId, RefundId};
use crate::payment::{Payment, PaymentEvent};
use crate::remote_call::RemoteCall;
use serde::{Deserialize, Serialize};

/// Time after which a prebook without a response is abandoned. Nothing is owed at that stage, so
/// this is the only place where a timer decides an outcome.
pub const PREBOOK_TIMEOUT_MS: i64 = 15 * 60 * 1000;

/// A value with a stable name, used in histories, logs, metrics and failpoints.
pub trait Named {
    fn name(&self) -> &'static str;
}

/// The source of a reported change of a booking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeSource {
    /// The supplier that sold the booking.
    Supplier,
    /// The processor of the payments. It only reports payments.
    Processor,
}

/// The reason for a failure, as shown to API clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// A stable code, e.g. `book_failed`.
    pub code: String,
    pub description: String,
}

impl Failure {
    pub fn new(code: &str, description: &str) -> Self {
        Self {
            code: code.to_owned(),
            description: description.to_owned(),
        }
    }

    /// Returns the failure of a prebook whose outcome never became known.
    pub fn prebook_unknown() -> Self {
        Self::new(
            "prebook_unknown",
            "The supplier did not respond; nothing was booked or charged.",
        )
    }
}

/// The party that collects the payer's money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentCollector {
    /// The gateway, with a stored instrument or the payer's browser.
    Gateway,
    /// The supplier, at its own checkout.
    Supplier,
}

/// Error for an event that does not fit the booking's state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{event} does not fit a booking that is {status}")]
pub struct InvalidTransition {
    /// The status of the booking, as the API names it.
    pub status: &'static str,
    pub event: &'static str,
}

/// A booking after a transition, with the notifications to publish.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition<B> {
    /// The booking after the transition, with its version incremented.
    pub booking: B,
    pub from_status: &'static str,
    /// The name of the event, for the booking's history.
    pub event: &'static str,
    pub notifications: Vec<Notification>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    pub event_type: EventType,
    /// The payment, if this is a payment event.
    pub payment: Option<PaymentId>,
}

/// The notifications that a transition collects for subscribers.
#[derive(Debug, Default)]
pub struct Notifications(pub(crate) Vec<Notification>);

impl Notifications {
    pub(crate) fn push_booking_event(&mut self, event_type: EventType) {
        self.0.push(Notification {
            event_type,
            payment: None,
        });
    }

    /// Adds the notification for a payment event, if subscribers receive one.
    pub(crate) fn push_payment_event(&mut self, event: &PaymentEvent, payment: &PaymentId) {
        let event_type = match event {
            PaymentEvent::Captured | PaymentEvent::CapturedDespiteVoid => {
                EventType::PaymentCaptured
            }
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

/// Returns the gateway's reference at a processor for one call about a payment. It begins with the
/// booking's id.
///
/// A call that may have taken effect keeps its reference. A call that is known to have had no
/// effect gets a new one, because processors answer a repeated reference with their first response.
pub fn payment_client_reference(
    booking: &BookingId,
    payments: &[Payment],
    payment: &PaymentId,
    call: &str,
    failed_attempts: u32,
) -> String {
    let at = payments.iter().position(|p| p.id == *payment);
    let ordinal = at.unwrap_or(payments.len()).saturating_add(1);
    format!(
        "{booking}-{call}-{ordinal}-{}",
        failed_attempts.saturating_add(1)
    )
}

/// Returns the gateway's reference at a processor for one refund of a payment. The rules of
/// [`payment_client_reference`] apply.
pub fn refund_client_reference(
    booking: &BookingId,
    payments: &[Payment],
    payment: &Payment,
    refund: &RefundId,
) -> String {
    let refunds = &payment.refunds;
    let at = refunds.iter().position(|known| known.id == *refund);
    let at = at.unwrap_or(refunds.len());
    let refund_call = refunds.get(at).and_then(|known| known.call.as_ref());
    let failed_attempts = refund_call.map_or(0, RemoteCall::failed_attempts);
    let call = format!("refund-{}", at.saturating_add(1));
    payment_client_reference(booking, payments, &payment.id, &call, failed_attempts)
}

/// Returns the booking of one of the gateway's references, which all begin with the booking's id.
pub fn booking_id_from_reference(reference: &str) -> Option<BookingId> {
    // The booking id is followed by a dash, and no booking id created by the gateway contains one.
    let id = reference.split('-').next().unwrap_or_default();
    BookingId::parse(id).ok()
}

/// Maximum number of characters of a membership number that are shown.
const MEMBERSHIP_SHOWN: usize = 4;

/// Masks a membership number except for its end. At most half of a short number is shown.
pub fn mask_membership_number(number: &str) -> String {
    let length = number.chars().count();
    let hidden = length.saturating_sub(MEMBERSHIP_SHOWN);
    let hidden = hidden.max(length.div_ceil(2));
    let characters = number.chars().enumerate();
    characters
        .map(|(at, character)| if at < hidden { '*' } else { character })
        .collect()
}
