//! The transmission of calls to the supplier and the processor, and the injected faults.

use super::remote_call::{Call, MissingResponse, Request};
use super::simulated_booking::SimulatedBooking;
use super::{CALL_MAX_MS, Executor, Simulation};
use crate::job_row::LEASE_MS;
use anyhow::Result;
use host_domain::time::Timestamp;

/// Time after which a supplier that books late has booked. The last lookup of a booking that failed
/// by absence comes later.
const LATE_MS: i64 = 20 * 3_600_000;
/// Maximum number of failures injected into one call, including its reconciliation. Resends are
/// safe for an hour; after that, only an operator could determine the outcome.
const FAULTS_MAX: u32 = 3;

impl<K: SimulatedBooking> Simulation<'_, K> {
    /// Sends the request of an executor, with a fault in some cases.
    pub(super) fn send(&mut self, executor: Executor<K>) {
        let (number, request) = (executor.number, executor.request.clone());
        self.note(|| format!("executor {number} calls: {request:?}"));
        self.executors.push(executor);
        let fault_percent = self.scenario.fault_percent;
        let injected = self.faults.entry(request.reference.clone()).or_default();
        let is_faulty = self.external.injects_faults
            && *injected < FAULTS_MAX
            && self.random.percent(fault_percent);
        if !is_faulty {
            let (request_ms, response_ms) =
                (self.random.between(1, 900), self.random.between(1, 900));
            return self.transmit(number, request, Some(request_ms), Some(response_ms));
        }
        *injected += 1;
        let latest_ms = self.latest_ms(&request);
        match self.random.between(0, 8) {
            // The process crashes after it has marked the call as sent, but before it sends
            // anything.
            0 => self.queue(0, move |simulation| simulation.crash(number)),
            // The call is on its way, and the process crashes before the response arrives.
            1 | 2 => {
                let (request_ms, response_ms) = (self.random.between(1, latest_ms), 1);
                let crash_after_ms = self.random.between(0, 10_000);
                self.transmit(number, request, Some(request_ms), Some(response_ms));
                self.queue(crash_after_ms, move |simulation| simulation.crash(number));
            }
            3 => self.fail_without_response(number, &request, MissingResponse::NotSent),
            4 if request.change_reference().is_some() => {
                self.external.record_request(&request);
                self.fail_without_response(number, &request, MissingResponse::RateLimited);
            }
            // The call never arrives.
            5 => self.transmit(number, request, None, None),
            // The call arrives, possibly after its executor has stopped waiting, and the response
            // is lost.
            6 | 7 => {
                let request_ms = self.random.between(1, latest_ms);
                self.transmit(number, request, Some(request_ms), None);
            }
            // The process stalls until another process has taken over its work.
            _ => {
                let request_ms = self.random.between(1, 900);
                let response_ms = self.random.between(LEASE_MS, 3 * LEASE_MS);
                self.transmit(number, request, Some(request_ms), Some(response_ms));
            }
        }
    }

    /// Returns the maximum delay of a call. If reads are guaranteed to be consistent after a delay,
    /// the call takes no longer anywhere than a call may last. A supplier that books late breaks
    /// this guarantee.
    fn latest_ms(&self, request: &Request) -> i64 {
        let guarantees = self.external.guarantees_of(request);
        match guarantees.reads_consistent_after_ms {
            Some(_) if self.scenario.books_late && request.call == Call::Book => {
                self.random.one_of(&[CALL_MAX_MS, 1_800_000, LATE_MS])
            }
            Some(_) => CALL_MAX_MS,
            None => self.random.one_of(&[900, CALL_MAX_MS, 7_200_000]),
        }
    }

    /// Schedules the arrivals of a request and of its response. One whose delay is `None` is lost.
    fn transmit(
        &mut self,
        executor: u64,
        request: Request,
        request_ms: Option<i64>,
        response_ms: Option<i64>,
    ) {
        self.external.record_request(&request);
        let sent_at = self.now;
        if response_ms.is_none() {
            let reply = request.without_response(MissingResponse::Unknown);
            let after_ms = self.random.one_of(&[1, 2_000, CALL_MAX_MS]);
            self.queue(after_ms, move |simulation| {
                simulation.deliver_response(executor, reply)
            });
        }
        if let Some(request_ms) = request_ms {
            self.queue(request_ms, move |simulation| {
                simulation.arrive(executor, &request, sent_at, response_ms)
            });
        }
    }

    /// A process crashes without releasing anything.
    fn crash(&mut self, executor: u64) -> Result<()> {
        self.note(|| format!("executor {executor} crashes"));
        self.executors.retain(|known| known.number != executor);
        Ok(())
    }

    /// Ends a call that is certainly not executed.
    fn fail_without_response(
        &mut self,
        executor: u64,
        request: &Request,
        missing: MissingResponse,
    ) {
        let reply = request.without_response(missing);
        let after_ms = self.random.between(1, 2_000);
        self.queue(after_ms, move |simulation| {
            simulation.deliver_response(executor, reply)
        });
    }

    /// Lets a call reach the supplier or the processor. Its response is lost if `response_ms` is
    /// `None`.
    fn arrive(
        &mut self,
        executor: u64,
        request: &Request,
        sent_at: Timestamp,
        response_ms: Option<i64>,
    ) -> Result<()> {
        let reply = self.external.receive(request, sent_at, self.now);
        self.note(|| format!("call of executor {executor} arrives: {request:?}: {reply:?}"));
        if let Some(after_ms) = response_ms {
            self.queue(after_ms, move |simulation| {
                simulation.deliver_response(executor, reply)
            });
        }
        Ok(())
    }
}
