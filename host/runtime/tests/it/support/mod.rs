//! Support for the tests: minimal handwritten guests with behaviour that no valid plugin has, a
//! fixed clock, and a sink that stores its records.

pub(crate) mod guest;
pub(crate) mod upstream;

use guest::Guest;
use host_domain::hotel::{Occupancy, Stay};
use host_domain::money::{Currency, Money};
use host_domain::owner::Mode;
use host_domain::personal::PersonalWords;
use host_domain::supplier::{Capability, FindRequest, ReadError, SupplierId};
use host_domain::time::{Clock, Timestamp};
use host_runtime::{
    CallContext, CallRecord, CallSink, ExchangeOutcome, ExchangeRecord, HostGrant,
    PluginCallOutcome, PluginSpec, Runtime, RuntimeConfig, Supplier,
};
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;
use upstream::Upstream;

pub(crate) struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp(1_795_255_200_000)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) capability: Capability,
    pub(crate) outcome: PluginCallOutcome,
    pub(crate) detail: String,
    pub(crate) exchanges: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exchange {
    pub(crate) line: String,
    pub(crate) status: Option<u16>,
    pub(crate) response_bytes: usize,
    pub(crate) outcome: ExchangeOutcome,
    pub(crate) detail: String,
}

#[derive(Default)]
pub(crate) struct Remembered {
    pub(crate) calls: Mutex<Vec<Call>>,
    pub(crate) exchanges: Mutex<Vec<Exchange>>,
    /// Operation, reason and number of items that were left out.
    pub(crate) dropped: Mutex<Vec<(Capability, String, u64)>>,
}

impl Remembered {
    pub(crate) fn last_call(&self) -> Call {
        self.calls.lock().unwrap().last().unwrap().clone()
    }

    pub(crate) fn last_exchange(&self) -> Exchange {
        self.exchanges.lock().unwrap().last().unwrap().clone()
    }
}

impl CallSink for Remembered {
    fn record_call(&self, record: &CallRecord<'_>) {
        assert_eq!(
            (
                record.request_id,
                record.organization,
                record.mode,
                record.booking
            ),
            ("req_1", "org_1", Some(Mode::Test), Some("hbk_1"))
        );
        self.calls.lock().unwrap().push(Call {
            capability: record.capability,
            outcome: record.outcome,
            detail: record.detail.unwrap_or_default().to_owned(),
            exchanges: record.exchanges,
        });
    }

    fn record_exchange(&self, record: &ExchangeRecord<'_>) {
        assert_eq!(
            (record.request_id, record.organization, record.mode),
            ("req_1", "org_1", Some(Mode::Test))
        );
        self.exchanges.lock().unwrap().push(Exchange {
            line: format!("{} {}", record.method, record.path),
            status: record.status,
            response_bytes: record.response_bytes,
            outcome: record.outcome,
            detail: record.detail.unwrap_or_default().to_owned(),
        });
    }

    fn record_dropped_items(
        &self,
        supplier: &SupplierId,
        capability: Capability,
        reason: &str,
        count: u64,
    ) {
        assert_eq!(*supplier, id());
        let mut dropped = self.dropped.lock().unwrap();
        dropped.push((capability, reason.to_owned(), count));
    }
}

/// A runtime with a folder for its guests.
pub(crate) struct Bench {
    pub(crate) runtime: Runtime,
    pub(crate) sink: Arc<Remembered>,
    pub(crate) folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with_calls(8)
    }

    pub(crate) fn with_calls(calls_max: u32) -> Self {
        let sink = Arc::new(Remembered::default());
        let folder = tempfile::tempdir().unwrap();
        let config = RuntimeConfig {
            calls_max,
            code_cache_dir: Some(folder.path().join("code")),
            clock: Arc::new(FixedClock),
        };
        let runtime = Runtime::new(config, Arc::clone(&sink) as Arc<dyn CallSink>).unwrap();
        Self {
            runtime,
            sink,
            folder,
        }
    }

    pub(crate) fn write(&self, name: &str, component: &[u8]) -> PathBuf {
        let file = self.folder.path().join(name);
        std::fs::write(&file, component).unwrap();
        file
    }

    pub(crate) fn spec(&self, guest: &Guest) -> PluginSpec {
        PluginSpec::new(id(), self.write("guest.wasm", &guest.component()))
    }

    /// Builds the configuration of a guest with grants for the given hosts.
    pub(crate) fn granted_spec(&self, guest: &Guest, grants: &[&str]) -> PluginSpec {
        let grants = grants.iter().map(|text| text.parse::<HostGrant>().unwrap());
        PluginSpec {
            grants: grants.collect(),
            ..self.spec(guest)
        }
    }

    /// Loads a guest with grants for the given hosts.
    pub(crate) async fn load(&self, guest: &Guest, grants: &[&str]) -> Supplier {
        self.load_spec(self.granted_spec(guest, grants)).await
    }

    /// Loads the usual guest with a grant for an upstream.
    pub(crate) async fn load_for(&self, upstream: &Upstream) -> Supplier {
        self.load(&Guest::default(), &[&upstream.origin()]).await
    }

    /// Asserts that a plugin does not load. `error` is the beginning of the error in debug format.
    pub(crate) async fn assert_not_loaded(&self, spec: PluginSpec, error: &str) {
        let actual = format!("{:?}", self.runtime.load(spec).await.unwrap_err());
        assert!(actual.starts_with(error), "{actual}, not {error}");
    }

    pub(crate) async fn load_spec(&self, spec: PluginSpec) -> Supplier {
        self.runtime.load(spec).await.unwrap();
        self.runtime.supplier(&id()).unwrap()
    }
}

/// Returns the review count of a guest whose `read-reviews` sends a request to the URL.
pub(crate) async fn review_count(
    supplier: &Supplier,
    url: &str,
    method: u16,
) -> Result<u32, ReadError> {
    let context = context();
    let reviews = supplier.read_hotel_reviews(&context, url.to_owned(), method);
    reviews.await.map(|reviews| reviews.count)
}

/// Asserts that each response is an error. `error` is its beginning in debug format.
pub(crate) fn assert_errors<T: Debug>(responses: &[T], error: &str) {
    for response in responses {
        let actual = format!("{response:?}");
        assert!(actual.starts_with(&format!("Err({error}")), "{actual}");
    }
}

/// Builds a stay of two adults for two nights.
pub(crate) fn stay() -> Stay {
    Stay {
        check_in: "2027-01-10".parse().unwrap(),
        check_out: "2027-01-12".parse().unwrap(),
        occupancies: vec![Occupancy {
            adults: 2,
            children: Vec::new(),
        }],
        guest_nationality: "DE".to_owned(),
        guest_residence: None,
        currency: Currency::parse("EUR").unwrap(),
    }
}

/// Builds a request for a booking that is known by the caller's reference only.
pub(crate) fn find_request() -> FindRequest {
    FindRequest {
        client_reference: "booking".to_owned(),
        supplier_reference: None,
        supplier_prebook: None,
        since: Timestamp(0),
    }
}

pub(crate) fn total() -> Money {
    Money::new(100, Currency::USD)
}

pub(crate) fn id() -> SupplierId {
    SupplierId::parse("SUPPLIER_A").unwrap()
}

pub(crate) fn context() -> CallContext {
    within(Duration::from_secs(10))
}

pub(crate) fn within(time: Duration) -> CallContext {
    CallContext {
        request_id: "req_1".to_owned(),
        organization: "org_1".to_owned(),
        mode: Some(Mode::Test),
        booking: Some("hbk_1".to_owned()),
        personal: PersonalWords::default(),
        deadline: Instant::now() + time,
    }
}
