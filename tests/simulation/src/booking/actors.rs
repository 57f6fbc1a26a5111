//! Actors of a booking scenario: the client, the payer, the supplier's webhook, the airline and an
//! operator.

use super::actor_action::ActorAction;
use super::payment::new_payment;
use super::simulated_booking::SimulatedBooking;
use super::{FAULTS_END_MS, START, Simulation};
use anyhow::{Result, bail, ensure};
use host_application::booking::unresolved_call::{resolved_event, unresolved_supplier_step};
use host_domain::booking::{BookingEvent, BookingPhase, ChangeSource, Named, PaymentCollector};
use host_domain::money::Money;
use host_domain::payment::Payment;
use host_domain::workflow::NextStep;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

/// Number of days on which an operator resolves unknown outcomes, once a day.
const RESOLUTION_DAYS: i64 = 10;

impl<K: SimulatedBooking> Simulation<'_, K> {
    /// Schedules the requests of all actors.
    pub(super) fn schedule_actors(&mut self) {
        let random = self.random;
        let count_of =
            |percent: i64, most: i64| (0..most).filter(|_| random.percent(percent)).count();
        let early_ms = (500, 40 * MINUTE_MS);
        let late_ms = (MINUTE_MS, FAULTS_END_MS);
        let actions = [
            (ActorAction::Book, 1 + count_of(50, 3), early_ms),
            (ActorAction::Pay, count_of(80, 2), early_ms),
            (ActorAction::Cancel, count_of(40, 2), late_ms),
            (ActorAction::CancelRooms, count_of(40, 2), late_ms),
            (ActorAction::BuyBags, count_of(40, 3), late_ms),
            (
                ActorAction::ReportChange(ChangeSource::Supplier),
                count_of(50, 6),
                late_ms,
            ),
            (
                ActorAction::ReportChange(ChangeSource::Processor),
                count_of(50, 3),
                late_ms,
            ),
        ];
        for (action, times, (from, to)) in actions {
            for _ in 0..times {
                let after_ms = random.between(from, to);
                self.schedule_action(after_ms, action);
            }
        }
        // Suppliers report changes in quick succession.
        let at_ms = random.between(late_ms.0, late_ms.1);
        for _ in 0..count_of(50, 4) {
            let after_ms = at_ms + random.between(0, 3_000);
            self.schedule_action(after_ms, ActorAction::ReportChange(ChangeSource::Supplier));
        }
        if random.percent(20) {
            let after_ms = at_ms + random.between(0, 3_000);
            self.schedule_action(after_ms, ActorAction::SupplierCancels);
        }
        for day in 1..=RESOLUTION_DAYS {
            self.schedule_action(
                FAULTS_END_MS + day * 24 * HOUR_MS,
                ActorAction::ResolveOutcome,
            );
        }
    }

    fn schedule_action(&mut self, after_ms: i64, action: ActorAction) {
        self.queue(after_ms, move |simulation| simulation.perform(action));
    }

    pub(super) fn perform(&mut self, action: ActorAction) -> Result<()> {
        match action {
            ActorAction::Book => self.book()?,
            ActorAction::Pay => self.pay(),
            ActorAction::ReportChange(by) => self.apply_event(BookingEvent::ChangeReported(by))?,
            ActorAction::SupplierCancels => {
                let phase = self.row.as_ref().unwrap().phase();
                let is_booked = matches!(phase, BookingPhase::Confirmed);
                if is_booked && self.external.cancel_as_supplier(self.now) {
                    self.note(|| "the supplier cancels".to_owned());
                    let after_ms = self.random.between(1, 2_000);
                    self.schedule_action(
                        after_ms,
                        ActorAction::ReportChange(ChangeSource::Supplier),
                    );
                }
            }
            ActorAction::Cancel | ActorAction::CancelRooms => {
                if let Some(event) = self.requested_event(action) {
                    self.apply_event(event)?;
                }
            }
            ActorAction::BuyBags => {
                if let Some(event) = self.requested_event(action) {
                    self.start(event)?;
                }
            }
            ActorAction::ResolveOutcome => self.resolve_outcome()?,
        }
        Ok(())
    }

    fn requested_event(&self, action: ActorAction) -> Option<BookingEvent<K>> {
        let booking = self.row.as_ref().unwrap();
        K::requested_event(booking, action, self.random, self.scenario, self.now)
    }

    /// Mirrors `CompletionService::start_completion`.
    fn book(&mut self) -> Result<()> {
        let booking = self.row.as_ref().unwrap();
        if !matches!(booking.phase(), BookingPhase::ReadyToComplete) {
            return Ok(());
        }
        let event = if booking.offer_expires_at <= self.now {
            BookingEvent::OfferExpired
        } else {
            let is_by_instrument =
                booking.payment_collector == PaymentCollector::Gateway && !booking.use_payment_sdk;
            let payment = is_by_instrument
                .then(|| new_payment(self.random, booking.details.booked_price(), self.now));
            BookingEvent::BookStarted { payment }
        };
        if !self.start(event)? {
            // The job is leased, so the client retries later.
            self.schedule_action(500, ActorAction::Book);
        }
        Ok(())
    }

    fn pay(&mut self) {
        self.external.is_checkout_paid = self.scenario.is_paid_at_checkout();
        // The browser needs a token from the prebook response.
        let booking = self.row.as_ref().unwrap();
        let mut payments = booking.payments.iter();
        let is_known = payments.any(Payment::is_browser_payment);
        if is_known && self.external.complete_in_browser() && self.random.percent(50) {
            let after_ms = self.random.between(1, MINUTE_MS);
            let by = match booking.payment_collector {
                PaymentCollector::Gateway => ChangeSource::Processor,
                PaymentCollector::Supplier => ChangeSource::Supplier,
            };
            self.schedule_action(after_ms, ActorAction::ReportChange(by));
        }
    }

    /// Applies an event of a client or webhook and schedules the job. An event that is not valid in
    /// the current state is ignored.
    fn apply_event(&mut self, event: BookingEvent<K>) -> Result<()> {
        let booking = self.row.clone().unwrap();
        if let Ok(transition) = booking.apply(event, self.now) {
            let status = transition.booking.status().as_str();
            self.note(|| format!("event: {} -> {status}", transition.event));
            self.checks.record_transition(&transition)?;
            self.row = Some(transition.booking);
            self.request_work();
        }
        Ok(())
    }

    /// Mirrors `booking/resolution.rs`: an operator determines the outcome by other means and
    /// supplies it.
    fn resolve_outcome(&mut self) -> Result<()> {
        let booking = self.row.clone().unwrap();
        if self.is_working() {
            return Ok(());
        }
        if let Some(reference) = K::undecided_refunds(&booking).first() {
            let paid = self.checks.paid_by(&booking);
            let retained = self
                .external
                .actual_order()
                .map_or(paid, |order| order.retained);
            // Of several undecided refunds, one takes what fits its rooms.
            let amounts = [paid.less(retained), Money::zero(paid.currency)];
            let random = self.random;
            let mut events = amounts.into_iter().filter_map(|amount| {
                let event = K::refund_decided_event(&booking, reference, amount, random)?;
                Some(BookingEvent::Kind(event))
            });
            let fitting =
                events.find(|event| booking.clone().apply(event.clone(), self.now).is_ok());
            self.start(fitting.unwrap())?;
            return Ok(());
        }
        let Some(step) = unresolved_supplier_step(&booking) else {
            return Ok(());
        };
        if booking.orphan().is_some() {
            self.note(|| "an operator cancels an orphan at the supplier".to_owned());
            self.checks.has_orphan = true;
            self.external.cancel_as_operator(self.now);
            let event = resolved_event(&booking, &step, None, self.random);
            self.start(event)?;
            return Ok(());
        }
        let name = step.name();
        let Some(done) = K::is_done(&booking, name, self.external.actual_order()) else {
            return Ok(());
        };
        let reference = done.then_some("order");
        self.note(|| format!("an operator resolves {name} as executed: {done}"));
        self.checks.has_resolved_cancellation |= name == "cancel";
        self.checks.resolutions += 1;
        let event = resolved_event(&booking, &step, reference, self.random);
        self.start(event)?;
        Ok(())
    }

    /// Checks the invariants that hold after every event.
    pub(super) fn check_now(&self) -> Result<()> {
        let booking = self.row.as_ref().unwrap();
        self.checks.check(booking, &self.external)?;
        let next_at = match booking.next_step(self.now) {
            NextStep::Run(_) | NextStep::Expire(_) => self.now,
            NextStep::WaitUntil(at) => at,
            NextStep::Idle => return Ok(()),
        };
        let Some(job) = &self.job else {
            let at_s = next_at.since(START) / 1000;
            bail!("no job is due at {at_s} s: {booking:?}");
        };
        let checked_at = job
            .reschedule_at
            .map_or(job.due_at, |at| at.min(job.due_at));
        ensure!(
            job.lease.is_some() || checked_at <= next_at,
            "the job is due too late: {booking:?}"
        );
        Ok(())
    }
}
