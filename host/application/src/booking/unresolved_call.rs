//! Calls of a booking whose outcome the gateway could not determine.

use crate::booking::aggregate::BookingAggregate;
use crate::booking::engine::BOOK_STEP;
use crate::booking::execution::CallKey;
use crate::booking::interpret::absent_booking_failure;
use crate::booking::steps::payment;
use crate::id_generator::IdGenerator;
use host_domain::booking::{
    BookedCall, Booking, BookingEvent, BookingState, BookingStep, Failure, Named,
};
use host_domain::payment::{Payment, PaymentOperation};
use host_domain::remote_call::RemoteCall;
use host_domain::supplier::SupplierBookingStatus;
use host_domain::time::Timestamp;

/// A call whose outcome is unknown.
pub(crate) enum UnresolvedCall<'a, S> {
    Supplier(BookingStep<S>),
    Processor(&'a Payment, PaymentOperation),
}

impl<'a, S: Named> UnresolvedCall<'a, S> {
    pub(crate) fn all<K: BookingAggregate<Step = S>>(booking: &'a Booking<K>) -> Vec<Self> {
        let supplier = unresolved_supplier_step(booking).map(Self::Supplier);
        let payments = booking.payments.iter().flat_map(|payment| {
            let operations = payment.unresolved_operations().into_iter();
            operations.map(move |operation| Self::Processor(payment, operation))
        });
        supplier.into_iter().chain(payments).collect()
    }

    /// Returns the event for a call that succeeded, or `None` if its reference is missing.
    pub(crate) fn success_event<K: BookingAggregate<Step = S>>(
        &self,
        booking: &Booking<K>,
        reference: Option<&str>,
        ids: &dyn IdGenerator,
    ) -> Option<BookingEvent<K>> {
        Some(match self {
            Self::Supplier(step) => resolved_event(booking, step, Some(reference?), ids),
            Self::Processor(payment, call) => BookingEvent::Payment {
                id: payment.id.clone(),
                event: call.success_event(reference)?,
            },
        })
    }

    /// Returns the event for a call that was not executed.
    pub(crate) fn failure_event<K: BookingAggregate<Step = S>>(
        &self,
        booking: &Booking<K>,
        ids: &dyn IdGenerator,
        now: Timestamp,
    ) -> BookingEvent<K> {
        match self {
            Self::Supplier(step) => resolved_event(booking, step, None, ids),
            Self::Processor(payment, call) => BookingEvent::Payment {
                id: payment.id.clone(),
                event: call.failure_event(payment, now),
            },
        }
    }

    pub(crate) fn call_key<K: BookingAggregate<Step = S>>(&self, booking: &Booking<K>) -> CallKey {
        match self {
            // An orphan is the late result of the call that booked.
            Self::Supplier(BookingStep::RecheckAbsence) => CallKey::of_step(BOOK_STEP),
            Self::Supplier(step) => CallKey::of_step(step.name()),
            Self::Processor(payment, operation) => payment::call_key(booking, payment, operation),
        }
    }

    /// Returns the other side's id of the booking or payment, if the gateway has it.
    pub(crate) fn known_reference<K: BookingAggregate<Step = S>>(
        &self,
        booking: &Booking<K>,
    ) -> Option<String> {
        match self {
            Self::Supplier(_) => {
                let orphan = booking.orphan();
                let found = orphan.map(|orphan| orphan.supplier_reference.clone());
                found.or_else(|| booking.supplier_reference.clone())
            }
            Self::Processor(payment, _) => payment.processor_reference.clone(),
        }
    }
}

/// Returns the event for an operator's decision about a call to the supplier. With a reference the
/// call succeeded; without one it was not executed.
pub fn resolved_event<K: BookingAggregate>(
    booking: &Booking<K>,
    step: &BookingStep<K::Step>,
    reference: Option<&str>,
    ids: &dyn IdGenerator,
) -> BookingEvent<K> {
    let resolved = |status| {
        let reported = reference.map(|reference| K::resolved_booking(booking, reference, status));
        reported.map(Box::new)
    };
    match step {
        BookingStep::Kind(step) => {
            let resolved = resolved(SupplierBookingStatus::Confirmed);
            BookingEvent::Kind(K::resolved_kind_event(step, resolved))
        }
        BookingStep::Cancel | BookingStep::FindCancellation => {
            match resolved(SupplierBookingStatus::Canceled) {
                Some(canceled) => BookingEvent::Kind(K::cancel_succeeded_event(canceled, ids)),
                None => BookingEvent::CancelRefused(Failure::new(
                    "cancel_refused",
                    "The supplier refused the cancellation.",
                )),
            }
        }
        BookingStep::RecheckAbsence => BookingEvent::OrphanResolved,
        BookingStep::Book
        | BookingStep::FindBooking
        | BookingStep::Refresh
        | BookingStep::Payment(_) => match resolved(SupplierBookingStatus::Confirmed) {
            Some(supplier_booking) => BookingEvent::BookConfirmed {
                supplier_booking,
                payment: booking.next_payment_id(),
            },
            None => {
                let call = booking.active_call();
                BookingEvent::BookRefused(absent_booking_failure(call, K::TEXTS.sold_out))
            }
        },
    }
}

/// Returns the step whose call to the supplier was sent and has no known outcome, or that found an
/// orphan.
pub fn unresolved_supplier_step<K: BookingAggregate>(
    booking: &Booking<K>,
) -> Option<BookingStep<K::Step>> {
    let (step, call) = match &booking.state {
        BookingState::CompleteInProgress { book } => (BookingStep::Book, book),
        BookingState::Booked(state) => match K::booked_call(state) {
            Some(BookedCall::Cancel(cancel)) => (BookingStep::Cancel, cancel),
            Some(BookedCall::Refresh(_)) | None => {
                let (step, call) = K::unresolved_kind_call(booking)?;
                (BookingStep::Kind(step), call)
            }
        },
        BookingState::Failed { .. } => {
            return booking.orphan().map(|_| BookingStep::RecheckAbsence);
        }
        BookingState::Created
        | BookingState::PrebookInProgress { .. }
        | BookingState::ReadyForComplete
        | BookingState::Expired => return None,
    };
    (!matches!(call, RemoteCall::Pending { .. })).then_some(step)
}
