//! Scenario of a booking: clients, workers, a supplier and a processor, with one booking row and
//! one job between them. The production code plans the steps (`booking/engine.rs`) and interprets
//! responses (`booking/interpret`). Everything else is simulated.

pub(crate) mod actor_action;
pub(crate) mod actors;
pub(crate) mod charge;
pub(crate) mod external_systems;
pub(crate) mod flight;
pub(crate) mod hotel;
pub(crate) mod invariants;
pub(crate) mod job;
pub(crate) mod order;
pub(crate) mod payment;
pub(crate) mod processor;
pub(crate) mod rare_case;
pub(crate) mod remote_call;
pub(crate) mod scenario;
pub(crate) mod simulated_booking;
pub(crate) mod supplier;
pub(crate) mod transmission;

use super::event_queue::{EventQueue, START};
use super::job_row::Job;
use super::seeded_random::Random;
use super::{History, run_seeds};
use anyhow::{Result, bail, ensure};
use external_systems::ExternalSystems;
use host_application::booking::aggregate::SupplierResponse;
use host_application::booking::interpret::{InterpretContext, ScheduleContext};
use host_application::booking::plan::{PlannedAction, plan_transitions};
use host_application::booking::steps::execute::interpret_response;
use host_application::booking::steps::payment::intent_reference;
use host_application::booking::steps::prepare::{StepRequest, SupplierRequest};
use host_application::id_generator::IdGenerator;
use host_domain::booking::{Booking, BookingEvent, BookingStep, Failure};
use host_domain::flight::FlightBookingDetails;
use host_domain::hotel::HotelBookingDetails;
use host_domain::id::{BookingId, PaymentId};
use host_domain::payment::Payment;
use host_domain::remote_call::BackoffSchedule;
use host_domain::supplier::{BookingLookup, ChangeError};
use host_domain::time::Timestamp;
use host_domain::workflow::NextStep;
use invariants::Checks;
use payment::{interpret_payment, payment_request};
use remote_call::{Call, Reply, Request};
use scenario::{BookingScenario, cards};
use simulated_booking::{SimulatedBooking, new_booking};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Time after which a call without a response is abandoned. It is shorter than the lease.
const CALL_MAX_MS: i64 = 45_000;
/// Retry delay of a failed job, equal to `RETRY_DELAY_S` of the jobs.
const FAILED_RETRY_MS: i64 = 30_000;
/// Time after which no more failures are injected.
const FAULTS_END_MS: i64 = 6 * 3_600_000;
/// Maximum duration of a scenario. A longer one counts as endless.
const DURATION_MAX_MS: i64 = 90 * 24 * 3_600_000;
/// Maximum number of events of a scenario. One with more events counts as endless.
const EVENTS_MAX: u64 = 20_000;
/// Maximum number of retries if the booking changes under a commit.
const CONFLICT_RETRIES_MAX: usize = 8;

#[test]
fn hotel_bookings_end_in_agreement_with_suppliers() {
    run_seeds("hotel booking", |random, history| {
        let scenario = BookingScenario::draw(random, false);
        let simulation = Simulation::<HotelBookingDetails>::new(random, history, &scenario);
        simulation.run().map(|_| ())
    });
}

#[test]
fn flight_bookings_end_in_agreement_with_suppliers() {
    run_seeds("flight booking", |random, history| {
        let scenario = BookingScenario::draw(random, true);
        let simulation = Simulation::<FlightBookingDetails>::new(random, history, &scenario);
        simulation.run().map(|_| ())
    });
}

/// No supplier has a booking that nobody knows of.
#[test]
fn late_bookings_end_on_the_operators_list() {
    run_seeds_with_case::<HotelBookingDetails>(
        "late hotel booking",
        BookingScenario::draw_late,
        |simulation| simulation.checks.has_orphan,
    );
}

/// No later read brings a room back that the supplier cancelled.
#[test]
fn lost_rooms_are_refunded() {
    run_seeds_with_case::<HotelBookingDetails>(
        "lost hotel room",
        BookingScenario::draw_lost_room,
        |simulation| simulation.external.rare.outdated_refreshes > 0,
    );
}

/// A refused resend hides no hotel booking that the supplier has.
#[test]
fn hotel_bookings_survive_refused_resends() {
    let draw = |random: &Random| BookingScenario::draw_refused_resends(random, false);
    run_seeds_with_case::<HotelBookingDetails>(
        "hotel booking with refused resends",
        draw,
        |simulation| simulation.external.rare.refused_bookings > 0,
    );
}

/// A refused resend hides no flight booking that the supplier has.
#[test]
fn flight_bookings_survive_refused_resends() {
    let draw = |random: &Random| BookingScenario::draw_refused_resends(random, true);
    run_seeds_with_case::<FlightBookingDetails>(
        "flight booking with refused resends",
        draw,
        |simulation| simulation.external.rare.refused_bookings > 0,
    );
}

/// Runs scenarios that are drawn for a case, and fails if no seed has it.
fn run_seeds_with_case<K: SimulatedBooking>(
    name: &str,
    draw: impl Fn(&Random) -> BookingScenario,
    has_case: impl Fn(&Simulation<'_, K>) -> bool,
) {
    let cases = Cell::new(0_u32);
    run_seeds(name, |random, history| {
        let scenario = draw(random);
        let simulation = Simulation::<K>::new(random, history, &scenario).run()?;
        cases.set(cases.get() + u32::from(has_case(&simulation)));
        Ok(())
    });
    let is_single_seed = super::setting("STOPOVER_SIMULATION_SEED").is_some();
    assert!(is_single_seed || cases.get() > 0, "no seed has the case");
}

/// A worker or request that executes the steps of the booking.
struct Executor<K: SimulatedBooking> {
    number: u64,
    /// The booking as the executor has read it.
    booking: Booking<K>,
    /// The step, or `None` for the prebook.
    step: Option<BookingStep<K::Step>>,
    request: Request,
    requested_at: Timestamp,
    is_worker: bool,
}

struct Simulation<'a, K: SimulatedBooking> {
    random: &'a Random,
    history: &'a History,
    scenario: &'a BookingScenario,
    /// Schedules of reconciliations, of retries, and of lookups after a failure by absence.
    schedules: (BackoffSchedule, BackoffSchedule, BackoffSchedule),
    now: Timestamp,
    row: Option<Booking<K>>,
    job: Option<Job>,
    executors: Vec<Executor<K>>,
    /// Number of failures injected so far into the calls with each reference.
    faults: BTreeMap<String, u32>,
    event_queue: EventQueue<Self>,
    external: ExternalSystems<'a>,
    checks: Checks,
}

impl<'a, K: SimulatedBooking> Simulation<'a, K> {
    fn new(random: &'a Random, history: &'a History, scenario: &'a BookingScenario) -> Self {
        history.note(|| format!("{scenario:?}"));
        Self {
            random,
            history,
            scenario,
            schedules: (
                BackoffSchedule::new(vec![5, 15, 60, 300, 900, 3600, 21600, 86400]),
                BackoffSchedule::new(vec![5, 30, 300, 3600, 21600]),
                BackoffSchedule::new(vec![600, 3600, 86400]),
            ),
            now: START,
            row: None,
            job: None,
            executors: Vec::new(),
            faults: BTreeMap::new(),
            event_queue: EventQueue::new(),
            external: ExternalSystems::new(random, scenario),
            checks: Checks::default(),
        }
    }

    /// Runs the scenario to its end.
    fn run(mut self) -> Result<Self> {
        self.schedule_actors();
        self.start_prebook()?;
        let mut events = 0;
        while let Some(at) = self.next_at() {
            events += 1;
            let is_alive = at.since(START) < DURATION_MAX_MS && events < EVENTS_MAX;
            ensure!(is_alive, "the scenario does not end: {:?}", self.row);
            self.now = self.now.max(at);
            self.external.injects_faults = self.now.since(START) < FAULTS_END_MS;
            self.process_next(at)?;
            if let Some(violation) = self.external.violation.take() {
                bail!(violation);
            }
            self.check_now()?;
        }
        let booking = self.row.as_ref().unwrap();
        let is_idle = matches!(booking.next_step(self.now), NextStep::Idle);
        ensure!(is_idle, "work is left: {booking:?}");
        self.checks.check_payments_at_end(booking)?;
        K::check_end(booking, &self.external, &self.checks)?;
        Ok(self)
    }

    fn next_at(&self) -> Option<Timestamp> {
        let claims = self.job.as_ref().map(Job::claimable_at);
        let decides_at = self.external.decisions.iter().map(|(at, _)| *at).min();
        let scheduled = self.event_queue.next_at();
        scheduled.into_iter().chain(claims).chain(decides_at).min()
    }

    fn process_next(&mut self, at: Timestamp) -> Result<()> {
        if let Some(index) = self
            .external
            .decisions
            .iter()
            .position(|(due, _)| *due == at)
        {
            let (_, decision) = self.external.decisions.remove(index);
            self.note(|| format!("the supplier decides: {decision:?}"));
            self.external.decide(&decision, self.now);
            return Ok(());
        }
        match self.event_queue.pop_due(at) {
            Some(event) => event(self),
            None => self.work(),
        }
    }

    fn note(&self, line: impl FnOnce() -> String) {
        self.history.note_at(self.now, line);
    }

    fn queue(&mut self, after_ms: i64, event: impl FnOnce(&mut Self) -> Result<()> + 'static) {
        self.event_queue.schedule(self.now.plus_ms(after_ms), event);
    }

    fn start_prebook(&mut self) -> Result<()> {
        let id = BookingId::from_bits(self.random.generate());
        let booking = new_booking::<K>(id, self.scenario, self.now);
        let started = booking.apply(BookingEvent::PrebookStarted, self.now);
        let booking = started?.booking;
        self.row = Some(booking.clone());
        let number = self.event_queue.next_number();
        self.write_job(Some((self.now, Some(number))));
        self.send(Executor {
            number,
            booking,
            step: None,
            request: Request {
                reference: "the prebook".to_owned(),
                call: Call::Prebook,
            },
            requested_at: self.now,
            is_worker: false,
        });
        Ok(())
    }

    /// A worker claims the due job.
    fn work(&mut self) -> Result<()> {
        let number = self.event_queue.next_number();
        let Some(job) = &mut self.job else {
            return Ok(());
        };
        job.hold(number, self.now);
        let booking = self.row.clone().unwrap();
        self.note(|| format!("worker {number} claims"));
        self.advance(number, booking, None, true)
    }

    /// Mirrors `WorkflowEngine::start`: applies a client's event and leases the job.
    fn start(&mut self, event: BookingEvent<K>) -> Result<bool> {
        if self.is_working() {
            return Ok(false);
        }
        let number = self.event_queue.next_number();
        self.write_job(Some((self.now, Some(number))));
        let booking = self.row.clone().unwrap();
        self.note(|| format!("caller {number} starts {event:?}"));
        self.advance(number, booking, Some(event), false)?;
        Ok(true)
    }

    /// Mirrors `WorkflowEngine::commit_outcome`.
    fn advance(
        &mut self,
        number: u64,
        mut booking: Booking<K>,
        event: Option<BookingEvent<K>>,
        is_worker: bool,
    ) -> Result<()> {
        for _ in 0..CONFLICT_RETRIES_MAX {
            let read_version = booking.version;
            let first_check = self.schedules.0.next_after(self.now, self.now);
            let (event, now, ids) = (event.clone(), self.now, self.random);
            let planned = match plan_transitions(booking, event, now, first_check, ids, |_| {}) {
                Ok(planned) => planned,
                Err(error) => {
                    self.note(|| format!("executor {number} stops: {error}"));
                    self.checks.conflicts += 1;
                    let retry_at = self.now.plus_ms(FAILED_RETRY_MS);
                    if is_worker {
                        self.release(number, Some(retry_at));
                    }
                    return Ok(());
                }
            };
            if self.random.percent(2) && self.external.injects_faults {
                self.note(|| format!("executor {number} loses the database"));
                return Ok(());
            }
            let current = self.row.clone().unwrap();
            if current.version != read_version && !planned.transitions.is_empty() {
                booking = current;
                continue;
            }
            if !self.holds(number) {
                self.note(|| format!("executor {number} has lost its lease"));
                return Ok(());
            }
            for transition in &planned.transitions {
                let status = transition.booking.status().as_str();
                self.note(|| format!("executor {number}: {} -> {status}", transition.event));
                self.checks.record_transition(transition)?;
            }
            if !planned.transitions.is_empty() {
                self.row = Some(planned.booking.clone());
            }
            return self.execute_next(number, planned.booking, planned.next, is_worker);
        }
        bail!("the booking changes without end")
    }

    fn execute_next(
        &mut self,
        number: u64,
        booking: Booking<K>,
        next: PlannedAction<K>,
        is_worker: bool,
    ) -> Result<()> {
        let prepared = match next {
            PlannedAction::Wait(at) => {
                self.release(number, at);
                return Ok(());
            }
            PlannedAction::Execute(step, _) => *step,
        };
        if let Some(job) = &mut self.job {
            job.hold(number, self.now);
        }
        let request = match prepared.request {
            StepRequest::Supplier(SupplierRequest::Change(request)) => {
                K::simulated_request(request)
            }
            StepRequest::Supplier(SupplierRequest::Find(_)) => Request {
                reference: "the booking".to_owned(),
                call: if matches!(prepared.step, BookingStep::Refresh) {
                    Call::Refresh
                } else {
                    Call::FindBooking
                },
            },
            StepRequest::Payment(request) => payment_request(request),
        };
        self.send(Executor {
            number,
            booking,
            step: Some(prepared.step),
            request,
            requested_at: self.now,
            is_worker,
        });
        Ok(())
    }

    /// An executor receives a response or stops waiting for it.
    fn deliver_response(&mut self, number: u64, reply: Reply) -> Result<()> {
        let Some(at) = self
            .executors
            .iter()
            .position(|executor| executor.number == number)
        else {
            return Ok(());
        };
        let executor = self.executors.remove(at);
        self.note(|| format!("executor {number} receives: {reply:?}"));
        self.external.record_no_effect(&executor.request, &reply);
        let Some(step) = &executor.step else {
            return self.prebooked(executor, reply);
        };
        let schedules = ScheduleContext {
            now: self.now,
            requested_at: executor.requested_at,
            reconcile: &self.schedules.0,
            call_retry: &self.schedules.1,
            absence_recheck: &self.schedules.2,
            undeclared_reads_ms: 900_000,
        };
        let context = InterpretContext {
            schedules,
            guarantees: self.scenario.supplier,
            ids: self.random,
        };
        let response = match (step, reply) {
            (BookingStep::Payment(step), reply) => {
                let guarantees = self.scenario.processor;
                let event =
                    interpret_payment(&executor.booking, step, reply, guarantees, schedules)?;
                return self.advance(
                    executor.number,
                    executor.booking,
                    Some(event),
                    executor.is_worker,
                );
            }
            (_, Reply::Changed(response)) => SupplierResponse::Change(response.map(K::reported)),
            (_, Reply::Found(response)) => {
                SupplierResponse::Lookup(response.map(|order| match order {
                    Some(order) => BookingLookup::Found(Box::new(K::reported(order))),
                    None => BookingLookup::NotFound,
                }))
            }
            (_, reply) => bail!("{reply:?} has no matching request"),
        };
        let event = interpret_response(&executor.booking, step, response, &context).event;
        self.advance(
            executor.number,
            executor.booking,
            Some(event),
            executor.is_worker,
        )
    }

    /// Mirrors `PrebookService::bind_offer`.
    fn prebooked(&mut self, executor: Executor<K>, reply: Reply) -> Result<()> {
        let Reply::Prebooked(answer) = reply else {
            bail!("{reply:?} is not a prebook response");
        };
        let event = match answer {
            Ok(price) => {
                let id = PaymentId::from_bits(self.random.generate());
                let payment = self.scenario.pays_in_browser.then(|| {
                    let reference = intent_reference(&executor.booking, &id);
                    self.external
                        .create_browser_payment(reference.clone(), price, self.now);
                    Payment::new_browser_payment(id, price, cards(), reference, self.now)
                });
                let expires_at = self.now.plus_ms(self.random.between(60_000, 3_600_000));
                Some(BookingEvent::PrebookConfirmed {
                    prebook: Box::new(K::prebook_response(self.scenario)),
                    expires_at,
                    payment,
                })
            }
            // The booking stays unchanged until the prebook timer decides.
            Err(ChangeError::Unknown(_)) => None,
            Err(_) => Some(BookingEvent::PrebookRefused(Failure::new(
                "prebook_failed",
                "refused",
            ))),
        };
        self.advance(executor.number, executor.booking, event, false)
    }
}
