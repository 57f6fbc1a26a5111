//! Scenario of a booking: clients, workers, a supplier and a processor, with one booking row and
//! one job between them. The production code plans the steps (`booking/engine.rs`) and interprets
//! responses (`booking/interpret`). Everything else is simulated.

pub(crate) mod actor_action;
pub(crate) mod actors;
pub(crate) mod charge;
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
pub(crate) mod world;

use super::event_queue::{Agenda, START};
use super::job_row::{Job, LEASE_MS};
use super::seeded_random::Random;
use super::{History, run_seeds};
use anyhow::{Result, bail, ensure};
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
use remote_call::{Call, Reply, Request, Silence};
use scenario::{Setting, cards};
use simulated_booking::{Subject, new_booking};
use std::cell::Cell;
use std::collections::BTreeMap;
use world::World;

/// Time after which a call without a response is abandoned. It is shorter than the lease.
const CALL_MAX_MS: i64 = 45_000;
/// Time after which a supplier that books late has booked. The last lookup of a booking that failed
/// by absence comes later.
const LATE_MS: i64 = 20 * 3_600_000;
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
/// Maximum number of failures injected into one call, including its reconciliation. Resends are
/// safe for an hour; after that, only an operator could determine the outcome.
const FAULTS_MAX: u32 = 3;

#[test]
fn hotel_bookings_end_in_agreement_with_suppliers() {
    run_seeds("hotel booking", |random, history| {
        let setting = Setting::draw(random, false);
        let simulation = Simulation::<HotelBookingDetails>::new(random, history, &setting);
        simulation.run().map(|_| ())
    });
}

#[test]
fn flight_bookings_end_in_agreement_with_suppliers() {
    run_seeds("flight booking", |random, history| {
        let setting = Setting::draw(random, true);
        let simulation = Simulation::<FlightBookingDetails>::new(random, history, &setting);
        simulation.run().map(|_| ())
    });
}

/// No supplier has a booking that nobody knows of.
#[test]
fn late_bookings_end_on_the_operators_list() {
    run_seeds_with_case::<HotelBookingDetails>(
        "late hotel booking",
        Setting::draw_late,
        |simulation| simulation.checks.has_orphan,
    );
}

/// No later read brings a room back that the supplier cancelled.
#[test]
fn lost_rooms_are_refunded() {
    run_seeds_with_case::<HotelBookingDetails>(
        "lost hotel room",
        Setting::draw_lost_room,
        |simulation| simulation.world.rare.outdated_refreshes > 0,
    );
}

/// A refused resend hides no hotel booking that the supplier has.
#[test]
fn hotel_bookings_survive_refused_resends() {
    let draw = |random: &Random| Setting::draw_refused_resends(random, false);
    run_seeds_with_case::<HotelBookingDetails>(
        "hotel booking with refused resends",
        draw,
        |simulation| simulation.world.rare.refused_bookings > 0,
    );
}

/// A refused resend hides no flight booking that the supplier has.
#[test]
fn flight_bookings_survive_refused_resends() {
    let draw = |random: &Random| Setting::draw_refused_resends(random, true);
    run_seeds_with_case::<FlightBookingDetails>(
        "flight booking with refused resends",
        draw,
        |simulation| simulation.world.rare.refused_bookings > 0,
    );
}

/// Runs scenarios that are drawn for a case, and fails if no seed has it.
fn run_seeds_with_case<K: Subject>(
    name: &str,
    draw: impl Fn(&Random) -> Setting,
    has_case: impl Fn(&Simulation<'_, K>) -> bool,
) {
    let cases = Cell::new(0_u32);
    run_seeds(name, |random, history| {
        let setting = draw(random);
        let simulation = Simulation::<K>::new(random, history, &setting).run()?;
        cases.set(cases.get() + u32::from(has_case(&simulation)));
        Ok(())
    });
    let is_single_seed = super::setting("STOPOVER_SIMULATION_SEED").is_some();
    assert!(is_single_seed || cases.get() > 0, "no seed has the case");
}

/// A worker or request that executes the steps of the booking.
struct Executor<K: Subject> {
    name: u64,
    view: Booking<K>,
    /// The step, or `None` for the prebook.
    step: Option<BookingStep<K::Step>>,
    request: Request,
    requested_at: Timestamp,
    is_worker: bool,
}

struct Simulation<'a, K: Subject> {
    random: &'a Random,
    history: &'a History,
    setting: &'a Setting,
    /// Schedules of reconciliations, of retries, and of lookups after a failure by absence.
    schedules: (BackoffSchedule, BackoffSchedule, BackoffSchedule),
    now: Timestamp,
    row: Option<Booking<K>>,
    job: Option<Job>,
    executors: Vec<Executor<K>>,
    /// Number of failures injected so far into the calls with each reference.
    faults: BTreeMap<String, u32>,
    agenda: Agenda<Self>,
    world: World<'a>,
    checks: Checks,
}

impl<'a, K: Subject> Simulation<'a, K> {
    fn new(random: &'a Random, history: &'a History, setting: &'a Setting) -> Self {
        history.note(|| format!("{setting:?}"));
        Self {
            random,
            history,
            setting,
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
            agenda: Agenda::new(),
            world: World::new(random, setting),
            checks: Checks::default(),
        }
    }

    /// Runs the scenario to its end.
    fn run(mut self) -> Result<Self> {
        self.plan_actors();
        self.begin_prebook()?;
        let mut events = 0;
        while let Some(at) = self.next_at() {
            events += 1;
            let is_alive = at.since(START) < DURATION_MAX_MS && events < EVENTS_MAX;
            ensure!(is_alive, "the scenario does not end: {:?}", self.row);
            self.now = self.now.max(at);
            self.world.injects_faults = self.now.since(START) < FAULTS_END_MS;
            self.process_next(at)?;
            if let Some(broken) = self.world.broken.take() {
                bail!(broken);
            }
            self.check_now()?;
        }
        let booking = self.row.as_ref().unwrap();
        let is_idle = matches!(booking.next_step(self.now), NextStep::Idle);
        ensure!(is_idle, "work is left: {booking:?}");
        self.checks.at_rest(booking)?;
        K::check_end(booking, &self.world, &self.checks)?;
        Ok(self)
    }

    fn next_at(&self) -> Option<Timestamp> {
        let claims = self.job.as_ref().map(Job::claimable_at);
        let decides = self.world.decisions.iter().map(|(at, _)| *at).min();
        let planned = self.agenda.next_at();
        planned.into_iter().chain(claims).chain(decides).min()
    }

    fn process_next(&mut self, at: Timestamp) -> Result<()> {
        if let Some(place) = self.world.decisions.iter().position(|(due, _)| *due == at) {
            let (_, decision) = self.world.decisions.remove(place);
            self.note(|| format!("the supplier decides: {decision:?}"));
            self.world.decide(&decision, self.now);
            return Ok(());
        }
        match self.agenda.take(at) {
            Some(event) => event(self),
            None => self.work(),
        }
    }

    fn note(&self, line: impl FnOnce() -> String) {
        self.history.note_at(self.now, line);
    }

    fn queue(&mut self, after_ms: i64, event: impl FnOnce(&mut Self) -> Result<()> + 'static) {
        self.agenda.plan(self.now.plus_ms(after_ms), event);
    }

    fn begin_prebook(&mut self) -> Result<()> {
        let id = BookingId::from_bits(self.random.generate());
        let booking = new_booking::<K>(id, self.setting, self.now);
        let started = booking.apply(BookingEvent::PrebookStarted, self.now);
        let booking = started?.booking;
        self.row = Some(booking.clone());
        let name = self.agenda.name();
        self.write_job(Some((self.now, Some(name))));
        self.send(Executor {
            name,
            view: booking,
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
        let name = self.agenda.name();
        let Some(job) = &mut self.job else {
            return Ok(());
        };
        job.hold(name, self.now);
        let view = self.row.clone().unwrap();
        self.note(|| format!("worker {name} claims"));
        self.advance(name, view, None, true)
    }

    /// Mirrors `Application::start`: applies a client's event and leases the job.
    fn start(&mut self, event: BookingEvent<K>) -> Result<bool> {
        if self.is_working() {
            return Ok(false);
        }
        let name = self.agenda.name();
        self.write_job(Some((self.now, Some(name))));
        let view = self.row.clone().unwrap();
        self.note(|| format!("caller {name} starts {event:?}"));
        self.advance(name, view, Some(event), false)?;
        Ok(true)
    }

    /// Mirrors `Application::commit_outcome`.
    fn advance(
        &mut self,
        name: u64,
        mut view: Booking<K>,
        event: Option<BookingEvent<K>>,
        is_worker: bool,
    ) -> Result<()> {
        for _ in 0..CONFLICT_RETRIES_MAX {
            let read_version = view.version;
            let first_check = self.schedules.0.next_after(self.now, self.now);
            let (event, now, ids) = (event.clone(), self.now, self.random);
            let planned = match plan_transitions(view, event, now, first_check, ids, |_| {}) {
                Ok(planned) => planned,
                Err(error) => {
                    self.note(|| format!("executor {name} stops: {error}"));
                    self.checks.conflicts += 1;
                    let retry_at = self.now.plus_ms(FAILED_RETRY_MS);
                    if is_worker {
                        self.release(name, Some(retry_at));
                    }
                    return Ok(());
                }
            };
            if self.random.percent(2) && self.world.injects_faults {
                self.note(|| format!("executor {name} loses the database"));
                return Ok(());
            }
            let current = self.row.clone().unwrap();
            if current.version != read_version && !planned.transitions.is_empty() {
                view = current;
                continue;
            }
            if !self.holds(name) {
                self.note(|| format!("executor {name} has lost its lease"));
                return Ok(());
            }
            for moved in &planned.transitions {
                let status = moved.booking.status().as_str();
                self.note(|| format!("executor {name}: {} -> {status}", moved.event));
                self.checks.moved(moved)?;
            }
            if !planned.transitions.is_empty() {
                self.row = Some(planned.booking.clone());
            }
            return self.go_on(name, planned.booking, planned.next, is_worker);
        }
        bail!("the booking changes without end")
    }

    fn go_on(
        &mut self,
        name: u64,
        booking: Booking<K>,
        then: PlannedAction<K>,
        is_worker: bool,
    ) -> Result<()> {
        let prepared = match then {
            PlannedAction::Wait(at) => {
                self.release(name, at);
                return Ok(());
            }
            PlannedAction::Execute(step, _) => *step,
        };
        if let Some(job) = &mut self.job {
            job.hold(name, self.now);
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
            name,
            view: booking,
            step: Some(prepared.step),
            request,
            requested_at: self.now,
            is_worker,
        });
        Ok(())
    }

    // ---- transmission of calls ----

    fn send(&mut self, executor: Executor<K>) {
        let (name, request) = (executor.name, executor.request.clone());
        self.note(|| format!("executor {name} calls: {request:?}"));
        self.executors.push(executor);
        let fault_percent = self.setting.fault_percent;
        let injected = self.faults.entry(request.reference.clone()).or_default();
        let goes_wrong = self.world.injects_faults
            && *injected < FAULTS_MAX
            && self.random.percent(fault_percent);
        if !goes_wrong {
            let (there, back) = (self.random.between(1, 900), self.random.between(1, 900));
            return self.departs(name, request, Some(there), Some(back));
        }
        *injected += 1;
        let latest_ms = self.latest_ms(&request);
        match self.random.between(0, 8) {
            // The process crashes after it has marked the call as sent, but before it sends
            // anything.
            0 => self.queue(0, move |simulation| simulation.die(name)),
            // The call is on its way, and the process crashes before the response arrives.
            1 | 2 => {
                let (there, back) = (self.random.between(1, latest_ms), 1);
                let dies_after = self.random.between(0, 10_000);
                self.departs(name, request, Some(there), Some(back));
                self.queue(dies_after, move |simulation| simulation.die(name));
            }
            3 => self.silent(name, &request, Silence::NotSent),
            4 if request.changes().is_some() => {
                self.world.leaves(&request);
                self.silent(name, &request, Silence::RateLimited);
            }
            // The call never arrives.
            5 => self.departs(name, request, None, None),
            // The call arrives, possibly after its executor has stopped waiting, and the response is
            // lost.
            6 | 7 => {
                let there = self.random.between(1, latest_ms);
                self.departs(name, request, Some(there), None);
            }
            // The process stalls until another process has taken over its work.
            _ => {
                let there = self.random.between(1, 900);
                let back = self.random.between(LEASE_MS, 3 * LEASE_MS);
                self.departs(name, request, Some(there), Some(back));
            }
        }
    }

    /// Returns the maximum delay of a call. If reads are guaranteed to be consistent after a delay,
    /// the call takes no longer anywhere than a call may last. A supplier that books late breaks
    /// this guarantee.
    fn latest_ms(&self, request: &Request) -> i64 {
        let guarantees = self.world.guarantees_of(request);
        match guarantees.reads_consistent_after_ms {
            Some(_) if self.setting.books_late && request.call == Call::Book => {
                self.random.one_of(&[CALL_MAX_MS, 1_800_000, LATE_MS])
            }
            Some(_) => CALL_MAX_MS,
            None => self.random.one_of(&[900, CALL_MAX_MS, 7_200_000]),
        }
    }

    fn departs(&mut self, executor: u64, request: Request, there: Option<i64>, back: Option<i64>) {
        self.world.leaves(&request);
        let sent_at = self.now;
        if back.is_none() {
            let reply = request.silence(Silence::Unknown);
            let after_ms = self.random.one_of(&[1, 2_000, CALL_MAX_MS]);
            self.queue(after_ms, move |simulation| {
                simulation.answer(executor, reply)
            });
        }
        if let Some(there) = there {
            self.queue(there, move |simulation| {
                simulation.arrive(executor, &request, sent_at, back)
            });
        }
    }

    /// A process crashes without releasing anything.
    fn die(&mut self, executor: u64) -> Result<()> {
        self.note(|| format!("executor {executor} dies"));
        self.executors.retain(|known| known.name != executor);
        Ok(())
    }

    fn silent(&mut self, executor: u64, request: &Request, silence: Silence) {
        let reply = request.silence(silence);
        let after_ms = self.random.between(1, 2_000);
        self.queue(after_ms, move |simulation| {
            simulation.answer(executor, reply)
        });
    }

    /// A call reaches the supplier or the processor. Its response is lost if `back` is `None`.
    fn arrive(
        &mut self,
        executor: u64,
        request: &Request,
        sent_at: Timestamp,
        back: Option<i64>,
    ) -> Result<()> {
        let reply = self.world.receive(request, sent_at, self.now);
        self.note(|| format!("call of executor {executor} arrives: {request:?}: {reply:?}"));
        if let Some(after_ms) = back {
            self.queue(after_ms, move |simulation| {
                simulation.answer(executor, reply)
            });
        }
        Ok(())
    }

    /// An executor receives a response or stops waiting for it.
    fn answer(&mut self, name: u64, reply: Reply) -> Result<()> {
        let Some(at) = self
            .executors
            .iter()
            .position(|executor| executor.name == name)
        else {
            return Ok(());
        };
        let executor = self.executors.remove(at);
        self.note(|| format!("executor {name} hears: {reply:?}"));
        self.world.came_to_nothing(&executor.request, &reply);
        let Some(step) = &executor.step else {
            return self.prebooked(executor, reply);
        };
        let schedules = ScheduleContext {
            now: self.now,
            requested_at: executor.requested_at,
            reconcile: &self.schedules.0,
            capture_retry: &self.schedules.1,
            absence_recheck: &self.schedules.2,
        };
        let context = InterpretContext {
            schedules,
            guarantees: self.setting.supplier,
            ids: self.random,
        };
        let response = match (step, reply) {
            (BookingStep::Payment(step), reply) => {
                let guarantees = self.setting.processor;
                let event = interpret_payment(&executor.view, step, reply, guarantees, schedules)?;
                return self.advance(
                    executor.name,
                    executor.view,
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
        let event = interpret_response(&executor.view, step, response, &context).event;
        self.advance(
            executor.name,
            executor.view,
            Some(event),
            executor.is_worker,
        )
    }

    /// Mirrors `Application::bind_offer`.
    fn prebooked(&mut self, executor: Executor<K>, reply: Reply) -> Result<()> {
        let Reply::Bound(answer) = reply else {
            bail!("{reply:?} is not a prebook response");
        };
        let event = match answer {
            Ok(price) => {
                let id = PaymentId::from_bits(self.random.generate());
                let payment = self.setting.by_browser.then(|| {
                    let reference = intent_reference(&executor.view, &id);
                    self.world.intend(reference.clone(), price, self.now);
                    Payment::new_browser_payment(id, price, cards(), reference, self.now)
                });
                let expires_at = self.now.plus_ms(self.random.between(60_000, 3_600_000));
                Some(BookingEvent::PrebookConfirmed {
                    prebook: Box::new(K::prebook_response(self.setting)),
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
        self.advance(executor.name, executor.view, event, false)
    }
}
