//! Deletion of old rows of the logs.

use crate::condition::ConditionBuilder;
use crate::statement::statement;
use crate::{DatabaseError, Store, UnitOfWork};
use host_domain::id::{CallLogId, RequestLogId};
use host_domain::owner::Mode;
use host_domain::time::Timestamp;

/// A log whose ids begin with a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogTable {
    /// API calls and their bodies.
    Requests,
    /// Calls of plugins and their HTTP requests.
    Calls,
}

impl LogTable {
    pub const ALL: [Self; 2] = [Self::Requests, Self::Calls];

    const fn name(self) -> &'static str {
        match self {
            Self::Requests => "request_log",
            Self::Calls => "call_log",
        }
    }

    /// The columns that identify a row.
    const fn key(self) -> &'static str {
        match self {
            Self::Requests => "organization, mode, id",
            Self::Calls => "organization, mode, request_id, id",
        }
    }

    /// Returns the tables of the log. The last one decides which rows are old.
    const fn tables(self) -> &'static [&'static str] {
        match self {
            Self::Requests => &["request_log_body", "request_log"],
            Self::Calls => &["call_log"],
        }
    }

    /// Returns the lowest id that an entry of this time can have.
    fn lowest_id_at(self, time: Timestamp) -> String {
        match self {
            Self::Requests => RequestLogId::lowest_at(time).to_string(),
            Self::Calls => CallLogId::lowest_at(time).to_string(),
        }
    }
}

/// A period of 65.5 seconds of a log: the beginning of its entries' ids. Periods sort by time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogPeriod(String);

/// Number of characters of an id that name its period: the prefix and 8 of the 12 hexadecimal digits
/// of the time in milliseconds.
const PERIOD_CHARS: usize = RequestLogId::PREFIX.len() + 8;
const _: () = assert!(RequestLogId::PREFIX.len() == CallLogId::PREFIX.len());

impl LogPeriod {
    /// Returns the period of an entry.
    pub fn of_entry(id: &str) -> Self {
        Self(id.chars().take(PERIOD_CHARS).collect())
    }

    /// Returns the period of a time.
    pub fn at(log: LogTable, time: Timestamp) -> Self {
        Self::of_entry(&log.lowest_id_at(time))
    }
}

impl Store {
    /// Deletes up to `limit` of the oldest entries of a mode that are older than `before`. Returns
    /// their number.
    pub async fn purge_log(
        &self,
        log: LogTable,
        mode: Mode,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, DatabaseError> {
        let (name, key) = (log.name(), log.key());
        let mut write = UnitOfWork::new(Timestamp(0));
        for table in log.tables() {
            write.add(statement!(
                format!(
                    "DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {name} \
                     WHERE mode = $1 AND id < $2 ORDER BY id LIMIT $3)"
                ),
                mode,
                log.lowest_id_at(before),
                limit,
            ));
        }
        let outcome = self.execute_unconditional(write).await?;
        Ok(outcome.rows_affected)
    }

    /// Returns the periods of a mode that have entries, with the number of each, in their order. Reads
    /// the index of the ids from the period `first` to the period `last`, or to the end.
    pub async fn log_counts(
        &self,
        log: LogTable,
        mode: Mode,
        first: &LogPeriod,
        last: Option<&LogPeriod>,
    ) -> Result<Vec<(LogPeriod, u64)>, DatabaseError> {
        let mut conditions = ConditionBuilder::default();
        conditions.add("mode =", mode);
        conditions.add("id >=", first.0.as_str());
        // The digits of an id precede this letter.
        conditions.add_some("id <", last.map(|last| format!("{}g", last.0)));
        let (condition, name) = (conditions.text(), log.name());
        let select = conditions.statement(format!(
            "SELECT SUBSTR(id, 1, {PERIOD_CHARS}) AS period, COUNT(*) AS number \
             FROM {name} WHERE {condition} GROUP BY 1 ORDER BY 1"
        ));
        self.read_all(select, |row| {
            Ok((LogPeriod(row.get("period")?), row.count("number")?))
        })
        .await
    }

    /// Returns the id of the oldest entry of a mode. Ids of a log sort by time.
    pub async fn oldest_log_id(
        &self,
        log: LogTable,
        mode: Mode,
    ) -> Result<Option<String>, DatabaseError> {
        let name = log.name();
        let select = format!("SELECT id FROM {name} WHERE mode = $1 ORDER BY id LIMIT 1");
        self.read_optional(statement!(select, mode), |row| row.get("id"))
            .await
    }
}
