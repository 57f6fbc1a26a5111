//! The booking that a watch buys with, as far as the watch sees it: what becomes of it
//! is drawn, and comes out in time. The simulation of bookings lives the rest.

use crate::flow::bookable::BookingPhase;
use crate::flow::refusal::PrebookRefusal;
use crate::simulation::random::Random;
use crate::watch::judge::{self, PurchaseOutcome};
use host_domain::id::{BookingId, InstrumentId, WatchId};
use host_domain::leg::RemoteCall;
use host_domain::money::Money;
use host_domain::time::Timestamp;

/// As the timer of a prebook without an answer.
const UNBOUND_MS: i64 = 15 * 60_000;

#[derive(Debug, Clone)]
pub(super) struct Booking {
    pub(super) id: BookingId,
    pub(super) watch: WatchId,
    pub(super) price: Money,
    pub(super) instrument: InstrumentId,
    pub(super) standing: Standing,
    pub(super) is_declined: bool,
    /// Why the supplier would not bind it.
    pub(super) refused: Option<PrebookRefusal>,
    /// When what it is now lapses.
    lapses_at: Timestamp,
    /// How the supplier and the processor decide, and when that is known.
    ends: Option<(Timestamp, End)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Early,
    Ready,
    Completing,
    Confirmed,
    /// Booked, and cancelled by its traveller.
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
    pub(super) const fn new(
        id: BookingId,
        watch: WatchId,
        price: Money,
        instrument: InstrumentId,
        lapses_at: Timestamp,
    ) -> Self {
        Self {
            id,
            watch,
            price,
            instrument,
            standing: Standing::Early,
            is_declined: false,
            refused: None,
            lapses_at,
            ends: None,
        }
    }

    /// When a prebook that begins now has failed.
    pub(super) fn unbound_at(now: Timestamp) -> Timestamp {
        now.plus_ms(UNBOUND_MS)
    }

    /// What has happened to it by now.
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

    /// Is paid and booked; when that is known.
    pub(super) fn completes(&mut self, random: &Random, now: Timestamp) -> Timestamp {
        let confirmed = End::Confirmed;
        let end = random.one_of(&[
            confirmed,
            confirmed,
            confirmed,
            End::Refused,
            End::Declined,
            End::NotSent,
        ]);
        let after_ms = random.one_of(&[1_500, 1_500, 20_000, 50_000, 1_200_000, 10_800_000]);
        self.ends_after(end, random.between(200, after_ms), now)
    }

    pub(super) fn ends_after(&mut self, end: End, ms: i64, now: Timestamp) -> Timestamp {
        self.standing = Standing::Completing;
        let at = now.plus_ms(ms);
        self.ends = Some((at, end));
        at
    }

    /// When somebody who works on it has an outcome.
    pub(super) fn known_at(&self, now: Timestamp) -> Timestamp {
        self.ends.map_or(now, |(at, _)| at)
    }

    pub(super) const fn stage(&self) -> BookingPhase<'_> {
        const LEG: RemoteCall = RemoteCall::pending(Timestamp(0));
        match self.standing {
            Standing::Early => BookingPhase::Prebooking,
            Standing::Ready => BookingPhase::ReadyToComplete,
            Standing::Completing => BookingPhase::Completing(&LEG),
            Standing::Confirmed => BookingPhase::Confirmed,
            Standing::Leaving => BookingPhase::Canceling,
            Standing::Failed { bound } => BookingPhase::Failed { was_bound: bound },
            Standing::Expired => BookingPhase::Expired,
        }
    }

    pub(super) fn left(&self) -> Option<PurchaseOutcome> {
        judge::from_booking_phase(self.stage(), self.is_declined, self.refused.as_ref())
    }

    /// Whether the supplier has sold it, known or not.
    pub(super) const fn is_sold(&self) -> bool {
        matches!(self.standing, Standing::Confirmed | Standing::Leaving)
            || matches!(self.ends, Some((_, End::Confirmed)))
    }

    /// Whether the supplier said no, for another reason than that it is sold out or dearer.
    pub(super) const fn is_refused(&self) -> bool {
        let is_bound = matches!(self.standing, Standing::Failed { bound: true });
        is_bound || matches!(self.refused, Some(PrebookRefusal::Rejected))
    }

    /// Whether it is paid and booked just now, with whatever end.
    pub(super) const fn is_open(&self) -> bool {
        self.ends.is_some()
    }
}
