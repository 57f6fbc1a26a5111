//! Simulated purchases that follow `watch/purchase_job.rs`. The production code decides
//! (`watch/policy`), and any event may happen between two transactions.

use super::Simulation;
use super::booking::{Booking, End, Standing};
use super::database::Op;
use super::scenario::any_price;
use anyhow::Result;
use host_application::booking::completion::CompleteBookingError;
use host_application::booking::prebook::PrebookError;
use host_application::booking::prebook_refusal::PrebookRefusal;
use host_application::id_generator::IdGenerator;
use host_application::watch::policy::{self, PurchaseOutcome};
use host_domain::id::{BookingId, WatchId};
use host_domain::mandate::{Mandate, MandateEvent, MandateUsage};
use host_domain::money::Money;
use host_domain::time::Timestamp;
use host_domain::watch::{Watch, WatchState, WatchTransitionEvent};

/// Time limits, equal to `RUN_TIMEOUT` and `PRICING_TIMEOUT` of the purchase job.
const RUN_MAX_MS: i64 = 45_000;
const ASK_MAX_MS: i64 = 15_000;
/// Timeout of a prebook without a response.
const UNBOUND_MS: i64 = 15 * 60_000;
/// Retry delay of the purchase job, equal to its `RETRY_DELAY_S`.
const RETRY_MS: i64 = 5_000;

pub(super) struct Purchase {
    pub(super) watch: WatchId,
    pub(super) holder: u64,
    pub(super) claimed_at: Timestamp,
    pub(super) at: At,
}

impl Purchase {
    pub(super) const fn claimed(watch: WatchId, holder: u64, now: Timestamp) -> Self {
        Self {
            watch,
            holder,
            claimed_at: now,
            at: At::Claimed,
        }
    }
}

pub(super) enum At {
    Claimed,
    /// The current price was received.
    Responded(Watch, Option<Money>),
    /// The mandate that was read is about to be used.
    Consumes(Watch, Money, Mandate),
    Bound(BookingId, Result<Money, PrebookError>),
    Pays(BookingId),
    Paid(BookingId),
    Ends(PurchaseOutcome),
    Stores(PurchaseOutcome, Watch, Option<Mandate>),
    Fails,
}

impl At {
    fn shown(&self) -> String {
        match self {
            Self::Claimed => "claimed".to_owned(),
            Self::Responded(_, total) => format!("it costs {total:?}"),
            Self::Consumes(_, total, _) => format!("begins at {total:?}"),
            Self::Bound(id, bound) => format!("{id} is bound: {bound:?}"),
            Self::Pays(id) => format!("{id} is to be paid"),
            Self::Paid(id) => format!("{id} is read"),
            Self::Ends(left) => format!("ends: {left:?}"),
            Self::Stores(left, ..) => format!("stores {left:?}"),
            Self::Fails => "fails".to_owned(),
        }
    }
}

impl Simulation<'_> {
    /// Executes one step and plans the next one, unless the purchase is finished.
    pub(super) fn buy(&mut self, purchase: Purchase) -> Result<()> {
        let claimed_at = purchase.claimed_at;
        let (id, holder, at) = (purchase.watch, purchase.holder, purchase.at);
        self.note(|| format!("purchase {holder} of {id}: {}", at.shown()));
        let mut after_ms = self.random.between(1, 30);
        let at = match at {
            At::Claimed => {
                let watch = self.rows.watch(&id).clone();
                match watch.state.clone() {
                    WatchState::Purchasing { booking: None } => {
                        let (wait_ms, total) = self.fresh(&watch);
                        after_ms = wait_ms;
                        At::Responded(watch, total)
                    }
                    WatchState::Purchasing {
                        booking: Some(booking),
                    } => self.follow(booking),
                    _ => {
                        let _lost = self.commit(vec![Op::ReleaseJob(id, holder, None)])?;
                        return Ok(());
                    }
                }
            }
            At::Responded(watch, total) => {
                match total.filter(|total| policy::is_price_acceptable(&watch, *total)) {
                    Some(total) => {
                        let mandate = watch.mandate_id.as_ref().unwrap();
                        let mandate = self.rows.mandates[mandate].clone();
                        At::Consumes(watch, total, mandate)
                    }
                    None => At::Ends(PurchaseOutcome::Released),
                }
            }
            At::Consumes(watch, total, mandate) => self.begin(watch, total, mandate, holder)?,
            At::Bound(booking, bound) => {
                after_ms = 1;
                self.bound(booking, bound)
            }
            At::Pays(booking) => {
                let is_late = self.now.since(claimed_at) >= RUN_MAX_MS;
                let (wait_ms, at) = self.pay(booking, is_late);
                after_ms = wait_ms;
                at
            }
            At::Paid(booking) => {
                let left = self.standing(&booking);
                At::Ends(left.unwrap_or(PurchaseOutcome::Undecided))
            }
            At::Ends(left) => self.ends(&id, left),
            At::Stores(left, watch, mandate) => {
                match self.store_end(left, watch, mandate, holder)? {
                    Some(at) => at,
                    None => return Ok(()),
                }
            }
            At::Fails => {
                let due_at = self.now.plus_ms(RETRY_MS);
                let _lost = self.commit(vec![Op::FailJob(id, holder, due_at)])?;
                return Ok(());
            }
        };
        let purchase = Purchase {
            watch: id,
            holder,
            claimed_at,
            at,
        };
        self.goes(after_ms, |simulation| simulation.buy(purchase));
        Ok(())
    }

    /// Requests the current price again.
    fn fresh(&self, watch: &Watch) -> (i64, Option<Money>) {
        let random = self.random;
        if random.percent(self.setting.unanswered_percent) {
            return (random.between(1, ASK_MAX_MS), None);
        }
        let place = self.setting.place_of(&watch.query);
        let after_ms = random.between(50, random.one_of(&[900, ASK_MAX_MS]));
        let total = self.setting.price(place, self.now.plus_ms(after_ms));
        // The price may change just before the request.
        match random.percent(15) {
            true => (after_ms, any_price(random)),
            false => (after_ms, total),
        }
    }

    /// Uses the mandate in one transaction with the booking and the watch.
    fn begin(&mut self, watch: Watch, total: Money, mandate: Mandate, holder: u64) -> Result<At> {
        let id = BookingId::from_bits(self.random.generate());
        let auto_book = watch.auto_book.as_ref().unwrap();
        let instrument = auto_book.payment_instrument_id.clone();
        let usage = MandateUsage {
            owner: watch.owner.clone(),
            amount: total,
            instrument: instrument.clone(),
            scope: watch.mandate_scope().unwrap(),
            booking: id.clone(),
        };
        let (mandate_version, watch_version) = (mandate.version, watch.version);
        let consumed = MandateEvent::Consumed {
            usage,
            jws: String::new(),
        };
        let mandate = match mandate.apply(consumed, self.now) {
            Ok(mandate) => mandate.unwrap(),
            Err(refusal) => return Ok(At::Ends(policy::from_mandate_refusal(refusal))),
        };
        let booking = Booking {
            id: id.clone(),
            watch: watch.id.clone(),
            price: total,
            instrument,
            standing: Standing::Early,
            is_declined: false,
            refused: None,
            lapses_at: self.now.plus_ms(UNBOUND_MS),
            ends: None,
        };
        let began = WatchTransitionEvent::PurchaseStarted {
            booking: id.clone(),
        };
        let Ok(Some(moved)) = watch.apply(began, self.now) else {
            return Ok(At::Fails);
        };
        let stored = self.commit(vec![
            Op::RenewJob(booking.watch.clone(), holder),
            Op::UpdateMandate(mandate, mandate_version),
            Op::UpdateWatch(moved, watch_version),
            Op::InsertBooking(booking),
        ])?;
        if stored.is_err() {
            return Ok(At::Fails);
        }
        Ok(At::Bound(id, self.bind(total)))
    }

    /// Draws the supplier's response to the prebook.
    fn bind(&self, offered: Money) -> Result<Money, PrebookError> {
        let random = self.random;
        let cheaper = Money::new(offered.minor - 1, offered.currency);
        let dearer = Money::new(offered.minor + 1, offered.currency);
        match random.between(0, 19) {
            0 => Err(PrebookError::Refused(PrebookRefusal::Unavailable)),
            1 => Err(PrebookError::Refused(PrebookRefusal::PriceChanged {
                offered,
                current: dearer,
            })),
            2 => Err(PrebookError::Refused(PrebookRefusal::Rejected)),
            3 => Err(PrebookError::NotSent {
                overloaded: false,
                reason: "no answer".into(),
            }),
            4 => Err(PrebookError::RateLimited {
                retry_after_s: None,
            }),
            5 | 6 => Err(PrebookError::NoResponse {
                timed_out: true,
                reason: "no answer".into(),
            }),
            7 => Ok(cheaper),
            _ => Ok(offered),
        }
    }

    fn bound(&mut self, id: BookingId, bound: Result<Money, PrebookError>) -> At {
        let lapses_at = self.now.plus_ms(self.random.between(60_000, 3_600_000));
        let booking = self.rows.bookings.get_mut(&id).unwrap();
        booking.pass(self.now);
        // The prebook timer fired first, so the supplier's response is not stored.
        if booking.standing != Standing::Early {
            return At::Fails;
        }
        match bound {
            Ok(price) => {
                booking.is_bound(price, lapses_at);
                At::Pays(id)
            }
            Err(error) => {
                if let PrebookError::Refused(decision) = &error {
                    booking.refused = Some(decision.clone());
                }
                if !matches!(error, PrebookError::NoResponse { .. }) {
                    booking.standing = Standing::Failed { bound: false };
                }
                policy::from_prebook_error(&error).map_or(At::Fails, At::Ends)
            }
        }
    }

    fn standing(&mut self, id: &BookingId) -> Option<PurchaseOutcome> {
        let booking = self.rows.bookings.get_mut(id).unwrap();
        booking.pass(self.now);
        if booking.standing == Standing::Confirmed && self.random.percent(5) {
            booking.standing = Standing::Leaving;
        }
        booking.left()
    }

    fn follow(&mut self, id: BookingId) -> At {
        self.standing(&id).map_or(At::Pays(id), At::Ends)
    }

    /// Mirrors `Application::complete`. Returns the delay until the result is known, and the next
    /// step.
    fn pay(&mut self, id: BookingId, is_late: bool) -> (i64, At) {
        let booking = self.rows.bookings.get_mut(&id).unwrap();
        booking.pass(self.now);
        let refused = match booking.standing {
            Standing::Ready if self.rows.deleted.contains(&booking.instrument) => {
                Some(CompleteBookingError::InstrumentInvalid)
            }
            Standing::Early | Standing::Expired | Standing::Failed { bound: false } => {
                Some(CompleteBookingError::InvalidState("EXPIRED"))
            }
            Standing::Ready if is_late => {
                booking.ends_after(End::NotSent, 1, self.now);
                None
            }
            Standing::Ready => {
                booking.completes(self.random, self.now);
                None
            }
            _ => None,
        };
        if let Some(error) = refused {
            let left = policy::from_complete_error(&error);
            return (1, left.map_or(At::Fails, At::Ends));
        }
        let known_ms = booking.ends.map_or(0, |(at, _)| at.since(self.now));
        (known_ms.min(RUN_MAX_MS - ASK_MAX_MS), At::Paid(id))
    }

    /// Reads the rows that are stored with the end of a run.
    fn ends(&self, id: &WatchId, left: PurchaseOutcome) -> At {
        let watch = self.rows.watch(id).clone();
        let mandate = watch.mandate_id.as_ref();
        let mandate = mandate.filter(|_| left == PurchaseOutcome::Released);
        let mandate = mandate.map(|id| self.rows.mandates[id].clone());
        At::Stores(left, watch, mandate)
    }

    fn store_end(
        &mut self,
        left: PurchaseOutcome,
        watch: Watch,
        mandate: Option<Mandate>,
        holder: u64,
    ) -> Result<Option<At>> {
        let id = watch.id.clone();
        let Some(event) = left.event() else {
            let due_at = policy::next_poll_at(watch.updated_at, self.now);
            let open = Op::ReleaseJob(id, holder, Some(due_at));
            let stored = self.commit(vec![open])?;
            return Ok(stored.is_err().then_some(At::Fails));
        };
        let mut ops = vec![Op::ReleaseJob(id, holder, None)];
        if let Some(mandate) = mandate {
            let read_version = mandate.version;
            if let Ok(Some(released)) = mandate.apply(MandateEvent::Released, self.now) {
                ops.push(Op::UpdateMandate(released, read_version));
            }
        }
        let read_version = watch.version;
        match watch.apply(event, self.now) {
            Ok(Some(moved)) => ops.push(Op::UpdateWatch(moved, read_version)),
            Ok(None) => {}
            Err(_) => return Ok(Some(At::Fails)),
        }
        Ok(self.commit(ops)?.is_err().then_some(At::Fails))
    }
}
