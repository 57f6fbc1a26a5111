//! The booking that a watch purchases, reduced to what affects the watch. Its outcome is drawn at
//! random and becomes known later. The simulation of bookings covers the rest.

use crate::seeded_random::Random;
use host_application::booking::prebook_refusal::PrebookRefusal;
use host_application::watch::policy::{self, PurchaseOutcome};
use host_domain::booking::BookingPhase;
use host_domain::id::{BookingId, InstrumentId, WatchId};
use host_domain::money::Money;
use host_domain::remote_call::RemoteCall;
use host_domain::time::Timestamp;

#[derive(Debug, Clone)]
pub(super) struct Booking {
    pub(super) id: BookingId,
    pub(super) watch: WatchId,
    pub(super) price: Money,
    pub(super) instrument: InstrumentId,
    pub(super) phase: SimulatedPhase,
    pub(super) is_declined: bool,
    /// Reason why the supplier refused the prebook.
    pub(super) refusal: Option<PrebookRefusal>,
    /// Time at which the current phase expires.
    pub(super) expires_at: Timestamp,
    /// Outcome at the supplier and the processor, with the time at which it becomes known.
    pub(super) pending_outcome: Option<(Timestamp, BookingOutcome)>,
}

/// The phase of a booking without its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SimulatedPhase {
    Prebooking,
    ReadyToComplete,
    Completing,
    Confirmed,
    /// The traveller is cancelling the confirmed booking.
    Canceling,
    Failed {
        was_prebooked: bool,
    },
    Expired,
}

/// The outcome of a completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BookingOutcome {
    Confirmed,
    Refused,
    Declined,
    NotSent,
}

impl Booking {
    /// Applies everything that has happened by `now`.
    pub(super) fn apply_due_changes(&mut self, now: Timestamp) {
        if let Some((at, outcome)) = self.pending_outcome
            && at <= now
        {
            self.pending_outcome = None;
            self.is_declined |= outcome == BookingOutcome::Declined;
            self.phase = match outcome {
                BookingOutcome::Confirmed => SimulatedPhase::Confirmed,
                BookingOutcome::Refused => SimulatedPhase::Failed {
                    was_prebooked: true,
                },
                BookingOutcome::Declined | BookingOutcome::NotSent => {
                    SimulatedPhase::ReadyToComplete
                }
            };
        }
        if self.expires_at <= now {
            self.phase = match self.phase {
                SimulatedPhase::Prebooking => SimulatedPhase::Failed {
                    was_prebooked: false,
                },
                SimulatedPhase::ReadyToComplete => SimulatedPhase::Expired,
                other => other,
            };
        }
    }

    /// Records that the supplier accepted the prebook.
    pub(super) fn record_prebook(&mut self, price: Money, expires_at: Timestamp) {
        self.phase = SimulatedPhase::ReadyToComplete;
        self.price = price;
        self.expires_at = expires_at;
    }

    /// Starts the completion, whose outcome becomes known later.
    pub(super) fn start_completion(&mut self, random: &Random, now: Timestamp) {
        let outcome = match random.percent(50) {
            true => BookingOutcome::Confirmed,
            false => random.one_of(&[
                BookingOutcome::Refused,
                BookingOutcome::Declined,
                BookingOutcome::NotSent,
            ]),
        };
        let after_ms = random.one_of(&[1_500, 1_500, 20_000, 50_000, 1_200_000, 10_800_000]);
        self.complete_after(outcome, random.between(200, after_ms), now);
    }

    pub(super) fn complete_after(&mut self, outcome: BookingOutcome, ms: i64, now: Timestamp) {
        self.phase = SimulatedPhase::Completing;
        self.pending_outcome = Some((now.plus_ms(ms), outcome));
    }

    /// Returns the phase in the type that the production code interprets.
    pub(super) const fn domain_phase(&self) -> BookingPhase<'_> {
        static CALL: RemoteCall = RemoteCall::pending(Timestamp(0));
        match self.phase {
            SimulatedPhase::Prebooking => BookingPhase::Prebooking,
            SimulatedPhase::ReadyToComplete => BookingPhase::ReadyToComplete,
            SimulatedPhase::Completing => BookingPhase::Completing(&CALL),
            SimulatedPhase::Confirmed => BookingPhase::Confirmed,
            SimulatedPhase::Canceling => BookingPhase::Canceling,
            SimulatedPhase::Failed { was_prebooked } => BookingPhase::Failed { was_prebooked },
            SimulatedPhase::Expired => BookingPhase::Expired,
        }
    }

    pub(super) fn purchase_outcome(&self) -> Option<PurchaseOutcome> {
        policy::from_booking_phase(self.domain_phase(), self.is_declined, self.refusal.as_ref())
    }

    /// Returns whether the supplier has sold the booking, even if that is not known yet.
    pub(super) const fn is_sold(&self) -> bool {
        matches!(
            self.phase,
            SimulatedPhase::Confirmed | SimulatedPhase::Canceling
        ) || matches!(self.pending_outcome, Some((_, BookingOutcome::Confirmed)))
    }

    /// Returns whether the supplier refused for a reason other than availability or price.
    pub(super) const fn is_refused(&self) -> bool {
        let failed_after_prebook = matches!(
            self.phase,
            SimulatedPhase::Failed {
                was_prebooked: true
            }
        );
        failed_after_prebook || matches!(self.refusal, Some(PrebookRefusal::Rejected))
    }

    /// Returns whether the completion is in progress, with any outcome.
    pub(super) const fn is_open(&self) -> bool {
        self.pending_outcome.is_some()
    }
}
