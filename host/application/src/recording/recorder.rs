//! The recorder: counts calls, and queues them for the log without ever waiting.

pub use crate::recording::entry::{CapturedBodies, CapturedBody};

use crate::context::RequestContext;
use crate::id_generator::IdGenerator;
use crate::metric_names::RECORDING_DROPPED_TOTAL;
use crate::recording::counters::Counters;
use crate::recording::entry::{QueuedEntry, QueuedRequest, method_name};
use crate::recording::limits::{
    ANONYMOUS_BURST, LOW_PRIORITY_BURST, LOW_PRIORITY_PER_SECOND, QUEUE_BODY_BYTES_MAX,
    QUEUE_ENTRIES_FOR_LOW_PRIORITY, QUEUE_ENTRIES_MAX, READ_BODIES_BURST, READ_BODIES_PER_SECOND,
    URI_BYTES_MAX,
};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use host_domain::money::Money;
use host_domain::owner::{Mode, Tenant};
use host_domain::request_log::LoggedCall;
use host_domain::statistics::CallResult;
use host_domain::time::Timestamp;
use http::{Method, Uri};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;

/// An API call as the listener saw it.
#[derive(Debug)]
pub struct RequestRecord<'a> {
    pub request_id: &'a Arc<str>,
    /// Context of a call with a valid key.
    pub context: Option<&'a RequestContext>,
    /// Mode of a call without a valid key.
    pub mode: Mode,
    /// Time of the response.
    pub at: Timestamp,
    pub method: &'a Method,
    /// Template of the path; `None` if the path is unknown.
    pub route: Option<&'a str>,
    pub uri: &'a Uri,
    pub status: u16,
    pub duration: Duration,
    /// Code of the problem.
    pub code: Option<&'static str>,
    /// The bodies of a change, of a failure, and of a read for which
    /// [`TrafficRecorder::takes_read_body`] allows it.
    pub bodies: Option<CapturedBodies>,
}

/// Counts calls, and queues them for the log. Its methods never wait: if the queue is full, entries
/// are dropped and counted.
pub struct TrafficRecorder {
    /// `None` if nothing is recorded.
    queue: Option<mpsc::Sender<QueuedEntry>>,
    counters: Mutex<Counters>,
    body_bytes: AtomicUsize,
    /// Limits the calls without a valid key.
    anonymous: DefaultDirectRateLimiter,
    /// Limits the calls that are left out first.
    low_priority: DefaultDirectRateLimiter,
    /// Limits the bodies of successful reads.
    read_bodies: DefaultDirectRateLimiter,
    pub(super) ids: Arc<dyn IdGenerator>,
}

/// The receiving end of the queue, for the writer.
pub(crate) struct RecorderQueue(pub(super) mpsc::Receiver<QueuedEntry>);

impl TrafficRecorder {
    /// Returns a recorder with its queue.
    pub(crate) fn new(ids: Arc<dyn IdGenerator>) -> (Arc<Self>, RecorderQueue) {
        let (queue, receiver) = mpsc::channel(QUEUE_ENTRIES_MAX);
        let recorder = Self {
            queue: Some(queue),
            ..Self::off(ids)
        };
        (Arc::new(recorder), RecorderQueue(receiver))
    }

    /// Returns a recorder that records nothing.
    pub(crate) fn off(ids: Arc<dyn IdGenerator>) -> Self {
        Self {
            queue: None,
            counters: Mutex::default(),
            body_bytes: AtomicUsize::new(0),
            anonymous: RateLimiter::direct(
                Quota::per_second(NonZeroU32::MIN).allow_burst(ANONYMOUS_BURST),
            ),
            low_priority: RateLimiter::direct(
                Quota::per_second(LOW_PRIORITY_PER_SECOND).allow_burst(LOW_PRIORITY_BURST),
            ),
            read_bodies: RateLimiter::direct(
                Quota::per_second(READ_BODIES_PER_SECOND).allow_burst(READ_BODIES_BURST),
            ),
            ids,
        }
    }

    pub fn is_on(&self) -> bool {
        self.queue.is_some()
    }

    /// Returns whether the log has room for the body of one more successful read.
    pub fn takes_read_body(&self) -> bool {
        self.is_on() && self.read_bodies.check().is_ok()
    }

    /// Records an API call.
    pub fn record_request(&self, record: RequestRecord<'_>) {
        let Some(queue) = &self.queue else {
            return;
        };
        let duration_us = micros(record.duration);
        let owner = record.context.map(|context| &context.owner);
        let tenant = owner.map(|owner| &owner.tenant);
        self.counters().count_request(
            tenant,
            record.mode,
            record.at,
            (method_name(record.method), record.route),
            (duration_us, result_of_status(record.status)),
        );
        let waiting = queue.max_capacity() - queue.capacity();
        let is_excess = match record.context {
            None => self.anonymous.check().is_err(),
            Some(_) if is_low_priority(&record) => {
                waiting >= QUEUE_ENTRIES_FOR_LOW_PRIORITY || self.low_priority.check().is_err()
            }
            Some(_) => false,
        };
        if is_excess {
            self.count_dropped("request", 1);
            return;
        }
        let request = QueuedRequest {
            owner: owner.cloned(),
            mode: record.mode,
            request_id: Arc::clone(record.request_id),
            at: record.at,
            method: record.method.clone(),
            route: record.route.map(str::to_owned),
            uri: short_uri(record.uri),
            status: record.status,
            duration_us,
            key: record.context.and_then(|context| context.key_id.clone()),
            code: record.code,
            bodies: record.bodies,
        };
        self.enqueue(QueuedEntry::Request(Box::new(request)), "request");
    }

    /// Records a call of a plugin or an HTTP request of one.
    pub(super) fn record_call(&self, call: LoggedCall) {
        self.enqueue(QueuedEntry::Call(Box::new(call)), "call");
    }

    /// Counts the amount of a booking that a supplier confirmed.
    pub(crate) fn count_confirmed_booking(&self, tenant: &Tenant, at: Timestamp, amount: Money) {
        if self.is_on() {
            self.counters().count_booking(tenant, at, amount);
        }
    }

    pub(super) fn counters(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enqueue(&self, entry: QueuedEntry, kind: &'static str) {
        let Some(queue) = &self.queue else {
            return;
        };
        let bytes = entry.body_bytes();
        let waiting = self.body_bytes.fetch_add(bytes, Ordering::Relaxed);
        if waiting + bytes > QUEUE_BODY_BYTES_MAX || queue.try_send(entry).is_err() {
            self.body_bytes.fetch_sub(bytes, Ordering::Relaxed);
            self.count_dropped(kind, 1);
        }
    }

    /// Gives back the memory of entries that are no longer queued.
    pub(super) fn release(&self, entries: &[QueuedEntry]) {
        let bytes = entries.iter().map(QueuedEntry::body_bytes).sum();
        self.body_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Counts entries that are not recorded.
    pub(super) fn count_dropped(&self, kind: &'static str, number: usize) {
        let number = u64::try_from(number).unwrap_or(u64::MAX);
        metrics::counter!(RECORDING_DROPPED_TOTAL, "kind" => kind).increment(number);
    }
}

pub(super) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Returns whether a call is left out first when calls come faster than they are worth to be logged: a
/// successful read, a refused read, and a call above the caller's rate. Callers can make any number of
/// them.
fn is_low_priority(record: &RequestRecord<'_>) -> bool {
    let is_read = record.method.is_safe() && record.status < 500;
    record.bodies.is_none() || is_read || record.status == 429
}

/// Returns a copy of a URI that shares no memory with the request. Of a long one only the path is kept,
/// or nothing.
fn short_uri(uri: &Uri) -> Uri {
    let whole = uri.path_and_query().map_or("/", |uri| uri.as_str());
    let kept = [whole, uri.path()]
        .into_iter()
        .find(|text| text.len() <= URI_BYTES_MAX);
    let copy = kept.and_then(|text| text.parse().ok());
    copy.unwrap_or_default()
}

const fn result_of_status(status: u16) -> CallResult {
    match status {
        500.. => CallResult::ServerError,
        400.. => CallResult::ClientError,
        _ => CallResult::Succeeded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deadline::Deadline;
    use crate::id_generator::UuidV7Generator;
    use bytes::Bytes;

    fn context() -> RequestContext {
        let tenant = Tenant {
            organization: "acme".to_owned(),
            mode: Mode::Test,
        };
        let deadline = Deadline::from_now(Duration::from_secs(1));
        RequestContext::for_background(&tenant, "req_1", deadline)
    }

    fn record(
        recorder: &TrafficRecorder,
        context: Option<&RequestContext>,
        bodies: Option<CapturedBodies>,
    ) {
        recorder.record_request(RequestRecord {
            request_id: &"req_1".into(),
            context,
            mode: Mode::Test,
            at: Timestamp(0),
            method: &Method::POST,
            route: Some("/v1/hotel/prebook"),
            uri: &Uri::from_static("/v1/hotel/prebook"),
            status: 200,
            duration: Duration::from_millis(1),
            code: None,
            bodies,
        });
    }

    fn bodies(length: usize) -> CapturedBodies {
        CapturedBodies {
            request: CapturedBody {
                bytes: 0,
                content: Some(Bytes::from(vec![b' '; length])),
            },
            response: CapturedBody::default(),
        }
    }

    fn waiting(queue: &RecorderQueue) -> usize {
        queue.0.len()
    }

    #[tokio::test]
    async fn flood_of_reads_leaves_room_for_changes() {
        let (recorder, queue) = TrafficRecorder::new(Arc::new(UuidV7Generator));
        let context = context();
        for _ in 0..2 * QUEUE_ENTRIES_MAX {
            record(&recorder, Some(&context), None);
        }
        assert_eq!(waiting(&queue), QUEUE_ENTRIES_FOR_LOW_PRIORITY);
        for _ in 0..2 * QUEUE_ENTRIES_MAX {
            record(&recorder, Some(&context), Some(CapturedBodies::default()));
        }
        assert_eq!(waiting(&queue), QUEUE_ENTRIES_MAX);
    }

    #[test]
    fn few_bodies_of_reads_are_taken() {
        let (recorder, _queue) = TrafficRecorder::new(Arc::new(UuidV7Generator));
        let burst = usize::try_from(READ_BODIES_BURST.get()).unwrap();
        let taken = (0..50 * burst).filter(|_| recorder.takes_read_body());
        // A slow machine gives the loop some seconds.
        assert!((burst..2 * burst).contains(&taken.count()));
        let off = TrafficRecorder::off(Arc::new(UuidV7Generator));
        assert!(!off.takes_read_body());
    }

    #[test]
    fn anonymous_calls_are_rate_limited_in_log() {
        let (recorder, queue) = TrafficRecorder::new(Arc::new(UuidV7Generator));
        let burst = usize::try_from(ANONYMOUS_BURST.get()).unwrap();
        for _ in 0..10 * burst {
            record(&recorder, None, Some(CapturedBodies::default()));
        }
        // A slow machine gives the loop some seconds.
        assert!((burst..2 * burst).contains(&waiting(&queue)));
    }

    #[tokio::test]
    async fn bodies_that_wait_are_bounded() {
        let (recorder, mut queue) = TrafficRecorder::new(Arc::new(UuidV7Generator));
        let context = context();
        let body = QUEUE_BODY_BYTES_MAX / 4;
        for _ in 0..6 {
            record(&recorder, Some(&context), Some(bodies(body)));
        }
        assert_eq!(waiting(&queue), 4);
        let taken = queue.0.try_recv().unwrap();
        recorder.release(&[taken]);
        record(&recorder, Some(&context), Some(bodies(body)));
        assert_eq!(waiting(&queue), 4);
    }

    #[test]
    fn recorder_that_is_off_records_nothing() {
        let recorder = TrafficRecorder::off(Arc::new(UuidV7Generator));
        record(&recorder, None, None);
        let rows = recorder.counters().take(Timestamp(0)).into_rows("host");
        assert_eq!(rows.statistics.len(), 0);
    }
}
