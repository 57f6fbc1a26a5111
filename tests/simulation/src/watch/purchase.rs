//! Simulated purchases that follow `watch/purchase_job.rs`. The production code decides
//! (`watch/policy`), and any event may happen between two transactions.

use super::Simulation;
use super::booking::{Booking, BookingOutcome, SimulatedPhase};
use super::database::WriteOperation;
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
const RUN_TIMEOUT_MS: i64 = 45_000;
const PRICING_TIMEOUT_MS: i64 = 15_000;
/// Timeout of a prebook without a response.
const PREBOOK_TIMEOUT_MS: i64 = 15 * 60_000;
/// Retry delay of the purchase job, equal to its `RETRY_DELAY_S`.
const RETRY_MS: i64 = 5_000;

pub(super) struct Purchase {
    pub(super) watch: WatchId,
    pub(super) holder: u64,
    pub(super) claimed_at: Timestamp,
    pub(super) progress: PurchaseProgress,
}

impl Purchase {
    pub(super) const fn claimed(watch: WatchId, holder: u64, now: Timestamp) -> Self {
        Self {
            watch,
            holder,
            claimed_at: now,
            progress: PurchaseProgress::Claimed,
        }
    }
}

/// The next step of a purchase.
pub(super) enum PurchaseProgress {
    Claimed,
    /// The current price was received.
    PriceReceived(Watch, Option<Money>),
    /// The mandate that was read is about to be used.
    ConsumingMandate(Watch, Money, Mandate),
    PrebookAnswered(BookingId, Result<Money, PrebookError>),
    Completing(BookingId),
    CompletionAnswered(BookingId),
    Ending(PurchaseOutcome),
    StoringOutcome(PurchaseOutcome, Watch, Option<Mandate>),
    Failing,
}

impl PurchaseProgress {
    fn description(&self) -> String {
        match self {
            Self::Claimed => "claimed".to_owned(),
            Self::PriceReceived(_, total) => format!("the price is {total:?}"),
            Self::ConsumingMandate(_, total, _) => format!("books at {total:?}"),
            Self::PrebookAnswered(id, response) => {
                format!("prebook response of {id}: {response:?}")
            }
            Self::Completing(id) => format!("{id} is to be completed"),
            Self::CompletionAnswered(id) => format!("completion of {id} has responded"),
            Self::Ending(outcome) => format!("ends: {outcome:?}"),
            Self::StoringOutcome(outcome, ..) => format!("stores {outcome:?}"),
            Self::Failing => "fails".to_owned(),
        }
    }
}

impl Simulation<'_> {
    /// Executes one step and schedules the next one, unless the purchase is finished.
    pub(super) fn advance_purchase(&mut self, purchase: Purchase) -> Result<()> {
        let claimed_at = purchase.claimed_at;
        let (id, holder, progress) = (purchase.watch, purchase.holder, purchase.progress);
        self.note(|| format!("purchase {holder} of {id}: {}", progress.description()));
        let mut after_ms = self.random.between(1, 30);
        let progress = match progress {
            PurchaseProgress::Claimed => {
                let watch = self.rows.watch(&id).clone();
                match watch.state.clone() {
                    WatchState::Purchasing { booking: None } => {
                        let (wait_ms, total) = self.request_current_price(&watch);
                        after_ms = wait_ms;
                        PurchaseProgress::PriceReceived(watch, total)
                    }
                    WatchState::Purchasing {
                        booking: Some(booking),
                    } => self.resume(booking),
                    _ => {
                        let _conflict =
                            self.commit(vec![WriteOperation::ReleaseJob(id, holder, None)])?;
                        return Ok(());
                    }
                }
            }
            PurchaseProgress::PriceReceived(watch, total) => self.read_mandate(watch, total),
            PurchaseProgress::ConsumingMandate(watch, total, mandate) => {
                self.start_booking(watch, total, mandate, holder)?
            }
            PurchaseProgress::PrebookAnswered(booking, response) => {
                after_ms = 1;
                self.record_prebook_response(booking, response)
            }
            PurchaseProgress::Completing(booking) => {
                let is_late = self.now.since(claimed_at) >= RUN_TIMEOUT_MS;
                let (wait_ms, progress) = self.complete(booking, is_late);
                after_ms = wait_ms;
                progress
            }
            PurchaseProgress::CompletionAnswered(booking) => {
                let outcome = self.read_purchase_outcome(&booking);
                PurchaseProgress::Ending(outcome.unwrap_or(PurchaseOutcome::Undecided))
            }
            PurchaseProgress::Ending(outcome) => self.read_rows_to_store(&id, outcome),
            PurchaseProgress::StoringOutcome(outcome, watch, mandate) => {
                match self.store_outcome(outcome, watch, mandate, holder)? {
                    Some(progress) => progress,
                    None => return Ok(()),
                }
            }
            PurchaseProgress::Failing => {
                let due_at = self.now.plus_ms(RETRY_MS);
                let _conflict = self.commit(vec![WriteOperation::FailJob(id, holder, due_at)])?;
                return Ok(());
            }
        };
        let purchase = Purchase {
            watch: id,
            holder,
            claimed_at,
            progress,
        };
        self.continue_after(after_ms, |simulation| simulation.advance_purchase(purchase));
        Ok(())
    }

    /// Reads the mandate if the price is acceptable.
    fn read_mandate(&self, watch: Watch, total: Option<Money>) -> PurchaseProgress {
        match total.filter(|total| policy::is_price_acceptable(&watch, *total)) {
            Some(total) => {
                let mandate = watch.mandate_id.as_ref().unwrap();
                let mandate = self.rows.mandates[mandate].clone();
                PurchaseProgress::ConsumingMandate(watch, total, mandate)
            }
            None => PurchaseProgress::Ending(PurchaseOutcome::Released),
        }
    }

    /// Requests the current price again.
    fn request_current_price(&self, watch: &Watch) -> (i64, Option<Money>) {
        let random = self.random;
        if random.percent(self.scenario.unanswered_percent) {
            return (random.between(1, PRICING_TIMEOUT_MS), None);
        }
        let query_index = self.scenario.query_index(&watch.query);
        let after_ms = random.between(50, random.one_of(&[900, PRICING_TIMEOUT_MS]));
        let total = self.scenario.price(query_index, self.now.plus_ms(after_ms));
        // The price may change just before the request.
        match random.percent(15) {
            true => (after_ms, any_price(random)),
            false => (after_ms, total),
        }
    }

    /// Uses the mandate in one transaction with the booking and the watch.
    fn start_booking(
        &mut self,
        watch: Watch,
        total: Money,
        mandate: Mandate,
        holder: u64,
    ) -> Result<PurchaseProgress> {
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
            Err(refusal) => {
                return Ok(PurchaseProgress::Ending(policy::from_mandate_refusal(
                    refusal,
                )));
            }
        };
        let booking = Booking {
            id: id.clone(),
            watch: watch.id.clone(),
            price: total,
            instrument,
            phase: SimulatedPhase::Prebooking,
            is_declined: false,
            refusal: None,
            expires_at: self.now.plus_ms(PREBOOK_TIMEOUT_MS),
            pending_outcome: None,
        };
        let purchase_started = WatchTransitionEvent::PurchaseStarted {
            booking: id.clone(),
        };
        let Ok(Some(transition)) = watch.apply(purchase_started, self.now) else {
            return Ok(PurchaseProgress::Failing);
        };
        let stored = self.commit(vec![
            WriteOperation::RenewJob(booking.watch.clone(), holder),
            WriteOperation::UpdateMandate(mandate, mandate_version),
            WriteOperation::UpdateWatch(transition, watch_version),
            WriteOperation::InsertBooking(booking),
        ])?;
        if stored.is_err() {
            return Ok(PurchaseProgress::Failing);
        }
        Ok(PurchaseProgress::PrebookAnswered(
            id,
            self.draw_prebook_response(total),
        ))
    }

    /// Draws the supplier's response to the prebook.
    fn draw_prebook_response(&self, offered: Money) -> Result<Money, PrebookError> {
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

    fn record_prebook_response(
        &mut self,
        id: BookingId,
        response: Result<Money, PrebookError>,
    ) -> PurchaseProgress {
        let expires_at = self.now.plus_ms(self.random.between(60_000, 3_600_000));
        let booking = self.rows.bookings.get_mut(&id).unwrap();
        booking.apply_due_changes(self.now);
        // The prebook timer fired first, so the supplier's response is not stored.
        if booking.phase != SimulatedPhase::Prebooking {
            return PurchaseProgress::Failing;
        }
        match response {
            Ok(price) => {
                booking.record_prebook(price, expires_at);
                PurchaseProgress::Completing(id)
            }
            Err(error) => {
                if let PrebookError::Refused(decision) = &error {
                    booking.refusal = Some(decision.clone());
                }
                if !matches!(error, PrebookError::NoResponse { .. }) {
                    booking.phase = SimulatedPhase::Failed {
                        was_prebooked: false,
                    };
                }
                policy::from_prebook_error(&error)
                    .map_or(PurchaseProgress::Failing, PurchaseProgress::Ending)
            }
        }
    }

    fn read_purchase_outcome(&mut self, id: &BookingId) -> Option<PurchaseOutcome> {
        let booking = self.rows.bookings.get_mut(id).unwrap();
        booking.apply_due_changes(self.now);
        if booking.phase == SimulatedPhase::Confirmed && self.random.percent(5) {
            booking.phase = SimulatedPhase::Canceling;
        }
        booking.purchase_outcome()
    }

    fn resume(&mut self, id: BookingId) -> PurchaseProgress {
        self.read_purchase_outcome(&id)
            .map_or(PurchaseProgress::Completing(id), PurchaseProgress::Ending)
    }

    /// Mirrors `CompletionService::complete`. Returns the delay until the result is known, and the
    /// next step.
    fn complete(&mut self, id: BookingId, is_late: bool) -> (i64, PurchaseProgress) {
        let booking = self.rows.bookings.get_mut(&id).unwrap();
        booking.apply_due_changes(self.now);
        let refusal = match booking.phase {
            SimulatedPhase::ReadyToComplete
                if self.rows.deleted_instruments.contains(&booking.instrument) =>
            {
                Some(CompleteBookingError::InstrumentInvalid)
            }
            SimulatedPhase::Prebooking
            | SimulatedPhase::Expired
            | SimulatedPhase::Failed {
                was_prebooked: false,
            } => Some(CompleteBookingError::InvalidState("EXPIRED")),
            SimulatedPhase::ReadyToComplete if is_late => {
                booking.complete_after(BookingOutcome::NotSent, 1, self.now);
                None
            }
            SimulatedPhase::ReadyToComplete => {
                booking.start_completion(self.random, self.now);
                None
            }
            _ => None,
        };
        if let Some(error) = refusal {
            let outcome = policy::from_complete_error(&error);
            return (
                1,
                outcome.map_or(PurchaseProgress::Failing, PurchaseProgress::Ending),
            );
        }
        let known_ms = booking
            .pending_outcome
            .map_or(0, |(at, _)| at.since(self.now));
        (
            known_ms.min(RUN_TIMEOUT_MS - PRICING_TIMEOUT_MS),
            PurchaseProgress::CompletionAnswered(id),
        )
    }

    /// Reads the rows that are stored with the outcome of a run.
    fn read_rows_to_store(&self, id: &WatchId, outcome: PurchaseOutcome) -> PurchaseProgress {
        let watch = self.rows.watch(id).clone();
        let mandate = watch.mandate_id.as_ref();
        let mandate = mandate.filter(|_| outcome == PurchaseOutcome::Released);
        let mandate = mandate.map(|id| self.rows.mandates[id].clone());
        PurchaseProgress::StoringOutcome(outcome, watch, mandate)
    }

    fn store_outcome(
        &mut self,
        outcome: PurchaseOutcome,
        watch: Watch,
        mandate: Option<Mandate>,
        holder: u64,
    ) -> Result<Option<PurchaseProgress>> {
        let id = watch.id.clone();
        let Some(event) = outcome.event() else {
            let due_at = policy::next_run_at(outcome, watch.updated_at, self.now);
            let open = WriteOperation::ReleaseJob(id, holder, Some(due_at));
            let stored = self.commit(vec![open])?;
            return Ok(stored.is_err().then_some(PurchaseProgress::Failing));
        };
        let mut operations = vec![WriteOperation::ReleaseJob(id, holder, None)];
        if let Some(mandate) = mandate {
            let read_version = mandate.version;
            if let Ok(Some(released)) = mandate.apply(MandateEvent::Released, self.now) {
                operations.push(WriteOperation::UpdateMandate(released, read_version));
            }
        }
        let read_version = watch.version;
        match watch.apply(event, self.now) {
            Ok(Some(transition)) => {
                operations.push(WriteOperation::UpdateWatch(transition, read_version))
            }
            Ok(None) => {}
            Err(_) => return Ok(Some(PurchaseProgress::Failing)),
        }
        Ok(self
            .commit(operations)?
            .is_err()
            .then_some(PurchaseProgress::Failing))
    }
}
