//! The state of the market: records in memory, with every change passed to the journal. No response
//! is sent before the data that it shows is on disk. The module knows the kinds of records, not the
//! behaviour of suppliers.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};
use tokio_util::sync::CancellationToken;

use crate::{
    clock::Clock,
    flight::tables as flight,
    hotel::tables as hotel,
    journal::{Change, Journal, JournalClosed, StoredRecord},
    ledger,
    payments::tables as payments,
};

pub(crate) trait Record: Serialize + DeserializeOwned + Clone {
    const TABLE: &'static str;
    fn id(&self) -> &str;
    fn table(records: &mut SandboxRecords) -> &mut HashMap<String, Self>;
    /// Updates the indexes and due times. It runs for every new version and at start.
    fn index(&self, _records: &mut SandboxRecords) {}
}

/// A scheduled change, ordered by its due time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ScheduledChange {
    pub(crate) at: i64,
    pub(crate) of: ScheduledSubject,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ScheduledSubject {
    HotelBooking(String),
    FlightOrder(String),
}

/// Applies a scheduled change to its subject.
pub(crate) type ScheduledHandler = fn(&mut SandboxRecords, &ScheduledSubject);

#[derive(Default)]
pub(crate) struct SandboxRecords {
    now: i64,
    /// Number of the last group passed to the journal.
    groups: u64,
    changes: Vec<Change>,
    due: BTreeSet<ScheduledChange>,
    pub(crate) ledger: Vec<ledger::Entry>,
    pub(crate) hotel: hotel::HotelTables,
    pub(crate) flight: flight::FlightTables,
    pub(crate) card: payments::PaymentTables,
    /// Counters and switches by name.
    settings: HashMap<String, i64>,
}

/// Table of the counters and switches.
const SETTING_TABLE: &str = "setting";
/// Setting that holds the number of the last reference.
const COUNTER: &str = "counter";

impl SandboxRecords {
    pub(crate) fn restore(stored: Vec<StoredRecord>) -> Result<Self, serde_json::Error> {
        let mut records = Self::default();
        for record in &stored {
            match record.table.as_str() {
                ledger::TABLE => records.ledger.push(serde_json::from_str(&record.body)?),
                SETTING_TABLE => {
                    let value = serde_json::from_str(&record.body)?;
                    records.settings.insert(record.id.clone(), value);
                }
                hotel::Prebook::TABLE => records.put_back::<hotel::Prebook>(&record.body)?,
                hotel::Booking::TABLE => records.put_back::<hotel::Booking>(&record.body)?,
                flight::Prebook::TABLE => records.put_back::<flight::Prebook>(&record.body)?,
                flight::Order::TABLE => records.put_back::<flight::Order>(&record.body)?,
                payments::Payment::TABLE => records.put_back::<payments::Payment>(&record.body)?,
                payments::Refund::TABLE => records.put_back::<payments::Refund>(&record.body)?,
                other => tracing::warn!(table = other, "a record of an unknown kind is ignored"),
            }
        }
        Ok(records)
    }

    fn put_back<R: Record>(&mut self, body: &str) -> Result<(), serde_json::Error> {
        let record: R = serde_json::from_str(body)?;
        record.index(self);
        R::table(self).insert(record.id().to_owned(), record);
        Ok(())
    }

    /// Returns the time of this transaction in milliseconds since 1970-01-01T00:00:00Z.
    pub(crate) fn now(&self) -> i64 {
        self.now
    }

    pub(crate) fn save<R: Record>(&mut self, record: R) {
        self.stage(R::TABLE, record.id().to_owned(), &record);
        record.index(self);
        R::table(self).insert(record.id().to_owned(), record);
    }

    fn stage(&mut self, table: &'static str, id: String, body: &impl Serialize) {
        match serde_json::to_string(body) {
            Ok(body) => self.changes.push(Change { table, id, body }),
            Err(error) => tracing::error!(%error, table, "a record cannot be written as JSON"),
        }
    }

    pub(crate) fn record(&mut self, entry: ledger::Entry) {
        let sequence = format!("{:012}", self.ledger.len());
        self.stage(ledger::TABLE, sequence, &entry);
        self.ledger.push(entry);
    }

    pub(crate) fn reference(&mut self, prefix: &str) -> String {
        let number = self.number();
        format!("{prefix}{number}")
    }

    pub(crate) fn number(&mut self) -> i64 {
        let number = self.setting(COUNTER).unwrap_or(100_000) + 1;
        self.set(COUNTER, number);
        number
    }

    pub(crate) fn setting(&self, name: &str) -> Option<i64> {
        self.settings.get(name).copied()
    }

    pub(crate) fn set(&mut self, name: &str, value: i64) {
        self.stage(SETTING_TABLE, name.to_owned(), &value);
        self.settings.insert(name.to_owned(), value);
    }

    pub(crate) fn schedule(&mut self, due: ScheduledChange) {
        self.due.insert(due);
    }

    /// Applies all due changes, each at its own due time.
    fn apply_due_changes(&mut self, now: i64, handler: ScheduledHandler) {
        while let Some(due) = self.due.first().filter(|due| due.at <= now).cloned() {
            self.due.remove(&due);
            self.now = due.at;
            handler(self, &due.of);
        }
        self.now = now;
    }
}

#[derive(Clone)]
pub(crate) struct SandboxState(Arc<SandboxInner>);

struct SandboxInner {
    records: Mutex<SandboxRecords>,
    scheduled_handler: ScheduledHandler,
    journal: Journal,
    clock: Clock,
    base_url: String,
    stopping: CancellationToken,
}

impl SandboxState {
    pub(crate) fn new(
        records: SandboxRecords,
        scheduled_handler: ScheduledHandler,
        journal: Journal,
        clock: Clock,
        base_url: String,
        stopping: CancellationToken,
    ) -> Self {
        Self(Arc::new(SandboxInner {
            records: Mutex::new(records),
            scheduled_handler,
            journal,
            clock,
            base_url,
            stopping,
        }))
    }

    /// Returns `http://address:port` of this sandbox.
    pub(crate) fn base_url(&self) -> &str {
        &self.0.base_url
    }

    /// Runs `operation` exclusively on the state. Returns once everything that it read or changed
    /// is on disk.
    pub(crate) async fn transact<T>(
        &self,
        operation: impl FnOnce(&mut SandboxRecords) -> T,
    ) -> Result<T, JournalClosed> {
        let (outcome, group) = self.apply(operation);
        self.0.journal.wait(group).await?;
        Ok(outcome)
    }

    /// Runs `operation`. Returns its result and the number of the group that must be on disk.
    fn apply<T>(&self, operation: impl FnOnce(&mut SandboxRecords) -> T) -> (T, u64) {
        let mut records = self
            .0
            .records
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        records.apply_due_changes((self.0.clock)(), self.0.scheduled_handler);
        let outcome = operation(&mut records);
        if !records.changes.is_empty() {
            records.groups += 1;
            let changes = std::mem::take(&mut records.changes);
            self.0.journal.append(records.groups, changes);
        }
        (outcome, records.groups)
    }

    /// Waits for `wait` or until the sandbox stops.
    #[expect(
        clippy::disallowed_methods,
        reason = "some scenarios exist to delay responses"
    )]
    pub(crate) async fn sleep_or_stop(&self, wait: Duration) {
        if !wait.is_zero() {
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.0.stopping.cancelled() => {}
            }
        }
    }
}
