//! The next step of a booking, as a pure function of the booking and the time. The request that
//! books and the worker that resumes after a crash run the same steps.

use crate::booking::PREBOOK_TIMEOUT_MS;
use crate::booking::aggregate::{BookedCall, Booking, BookingKind, BookingState};
use crate::booking::step::BookingStep;
use crate::payment::{Payment, PaymentState};
use crate::remote_call::RemoteCall;
use crate::time::Timestamp;
use crate::workflow::{Expiry, NextStep, earliest_step};

impl<K: BookingKind> Booking<K> {
    /// Returns the next step, which is the earliest one. If several are due at the same time, the
    /// booking's own steps precede those of its payments.
    pub fn next_step(&self, now: Timestamp) -> NextStep<BookingStep<K::Step>> {
        let payments = self.payments.iter().flat_map(Payment::scheduled_steps);
        let payments = payments.map(|(at, step)| (at, BookingStep::Payment(step)));
        let own = self.supplier_steps().into_iter();
        earliest_step(self.expiry(), own.chain(payments), now)
    }

    fn expiry(&self) -> Option<(Timestamp, Expiry)> {
        match &self.state {
            BookingState::Created => Some((
                self.created_at.plus_ms(PREBOOK_TIMEOUT_MS),
                Expiry::PrebookTimeout,
            )),
            BookingState::PrebookInProgress { started_at } => Some((
                started_at.plus_ms(PREBOOK_TIMEOUT_MS),
                Expiry::PrebookTimeout,
            )),
            BookingState::ReadyForComplete => Some((self.offer_expires_at, Expiry::Offer)),
            BookingState::CompleteInProgress { .. }
            | BookingState::Booked(_)
            | BookingState::Failed { .. }
            | BookingState::Expired => None,
        }
    }

    fn supplier_steps(&self) -> Vec<(Timestamp, BookingStep<K::Step>)> {
        match &self.state {
            BookingState::CompleteInProgress { book } => {
                self.completion_step(book).into_iter().collect()
            }
            BookingState::Booked(state) => {
                let call = K::booked_call(state).map(booked_step);
                let kind_step = K::kind_step(self);
                let kind_step = kind_step.map(|(at, step)| (at, BookingStep::Kind(step)));
                call.into_iter().chain(kind_step).collect()
            }
            BookingState::Failed { absence } => {
                let due_at = absence.as_ref().and_then(|absence| absence.due_at);
                let recheck = due_at.map(|at| (at, BookingStep::RecheckAbsence));
                recheck.into_iter().collect()
            }
            BookingState::Created
            | BookingState::PrebookInProgress { .. }
            | BookingState::ReadyForComplete
            | BookingState::Expired => Vec::new(),
        }
    }

    fn completion_step(&self, book: &RemoteCall) -> Option<(Timestamp, BookingStep<K::Step>)> {
        match book {
            RemoteCall::Pending { due_at, .. } => {
                let payment = self.current_payment();
                let is_ready =
                    payment.is_none_or(|payment| payment.state == PaymentState::Authorized);
                is_ready.then_some((*due_at, BookingStep::Book))
            }
            RemoteCall::Sent { .. } | RemoteCall::Accepted { .. } => {
                Some((book.due_at(), BookingStep::FindBooking))
            }
        }
    }
}

fn booked_step<S>(call: BookedCall<'_>) -> (Timestamp, BookingStep<S>) {
    let step = match call {
        BookedCall::Refresh(_) => BookingStep::Refresh,
        BookedCall::Cancel(RemoteCall::Pending { .. }) => BookingStep::Cancel,
        BookedCall::Cancel(_) => BookingStep::FindCancellation,
    };
    (call.call().due_at(), step)
}
