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
    pub(super) standing: Standing,
    pub(super) is_declined: bool,
    /// Reason why the supplier refused the prebook.
    pub(super) refused: Option<PrebookRefusal>,
    /// Time at which the current state expires.
    pub(super) lapses_at: Timestamp,
    /// Outcome at the supplier and the processor, with the time at which it becomes known.
    pub(super) ends: Option<(Timestamp, End)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Early,
    Ready,
    Completing,
    Confirmed,
    /// The traveller is cancelling the confirmed booking.
    Leaving,
    Failed {
        bound: bool,
    },
    Expired,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Confirmed,
    Refused,
    Declined,
    NotSent,
}

impl Booking {
    /// Applies everything that has happened by `now`.
    pub(super) fn pass(&mut self, now: Timestamp) {
        if let Some((at, end)) = self.ends
            && at <= now
        {
            self.ends = None;
            self.is_declined |= end == End::Declined;
            self.standing = match end {
                End::Confirmed => Standing::Confirmed,
                End::Refused => Standing::Failed { bound: true },
                End::Declined | End::NotSent => Standing::Ready,
            };
        }
        if self.lapses_at <= now {
            self.standing = match self.standing {
                Standing::Early => Standing::Failed { bound: false },
                Standing::Ready => Standing::Expired,
                other => other,
            };
        }
    }

    pub(super) fn is_bound(&mut self, price: Money, lapses_at: Timestamp) {
        self.standing = Standing::Ready;
        self.price = price;
        self.lapses_at = lapses_at;
    }

    /// Starts the completion, whose outcome becomes known later.
    pub(super) fn completes(&mut self, random: &Random, now: Timestamp) {
        let end = match random.percent(50) {
            true => End::Confirmed,
            false => random.one_of(&[End::Refused, End::Declined, End::NotSent]),
        };
        let after_ms = random.one_of(&[1_500, 1_500, 20_000, 50_000, 1_200_000, 10_800_000]);
        self.ends_after(end, random.between(200, after_ms), now);
    }

    pub(super) fn ends_after(&mut self, end: End, ms: i64, now: Timestamp) {
        self.standing = Standing::Completing;
        self.ends = Some((now.plus_ms(ms), end));
    }

    pub(super) const fn stage(&self) -> BookingPhase<'_> {
        static LEG: RemoteCall = RemoteCall::pending(Timestamp(0));
        match self.standing {
            Standing::Early => BookingPhase::Prebooking,
            Standing::Ready => BookingPhase::ReadyToComplete,
            Standing::Completing => BookingPhase::Completing(&LEG),
            Standing::Confirmed => BookingPhase::Confirmed,
            Standing::Leaving => BookingPhase::Canceling,
            Standing::Failed { bound } => BookingPhase::Failed {
                was_prebooked: bound,
            },
            Standing::Expired => BookingPhase::Expired,
        }
    }

    pub(super) fn left(&self) -> Option<PurchaseOutcome> {
        policy::from_booking_phase(self.stage(), self.is_declined, self.refused.as_ref())
    }

    /// Returns whether the supplier has sold the booking, even if that is not known yet.
    pub(super) const fn is_sold(&self) -> bool {
        matches!(self.standing, Standing::Confirmed | Standing::Leaving)
            || matches!(self.ends, Some((_, End::Confirmed)))
    }

    /// Returns whether the supplier refused for a reason other than availability or price.
    pub(super) const fn is_refused(&self) -> bool {
        let is_bound = matches!(self.standing, Standing::Failed { bound: true });
        is_bound || matches!(self.refused, Some(PrebookRefusal::Rejected))
    }

    /// Returns whether the completion is in progress, with any outcome.
    pub(super) const fn is_open(&self) -> bool {
        self.ends.is_some()
    }
}
