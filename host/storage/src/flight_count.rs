//! Counts of flight bookings. Counting a long list row by row takes longer than reading a page of
//! it. The database therefore stores counts for the statuses in which bookings remain, in total and
//! per day. Each change is first inserted as a separate delta, so that no booking waits for another
//! one's lock. Deltas are compacted soon after.

use crate::condition::ConditionBuilder;
use crate::statement::{Statement, Value, statement};
use crate::{CommitError, DatabaseError, Store, UnitOfWork};
use host_domain::booking::BookingStatus;
use host_domain::flight::list::FlightBookingFilter;
use host_domain::owner::Owner;
use host_domain::time::Timestamp;

/// Number of deltas that one compaction adds to the counts.
const DELTAS_PER_COMPACTION: u64 = 10_000;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

impl Store {
    /// Adds the collected deltas to the counts. The counts are exact before and after.
    pub async fn compact_flight_booking_counts(&self, now: Timestamp) -> Result<(), CommitError> {
        if !self.fetch_all(select_any_delta()).await?.is_empty() {
            let compact = async || self.execute(compaction(now), false).await;
            while compact().await?.rows_affected >= DELTAS_PER_COMPACTION {}
        }
        Ok(())
    }

    pub(crate) async fn flight_booking_counts(
        &self,
        owner: &Owner,
        filter: &FlightBookingFilter,
    ) -> Result<ListCounts, DatabaseError> {
        let counts = self.read_optional(select_counts(owner, filter), |row| {
            Ok(ListCounts {
                total: row.count("total")?,
                total_all_time: row.count("whole")?,
            })
        });
        Ok(counts.await?.unwrap_or_default())
    }
}

/// The length of a list.
#[derive(Default)]
pub(crate) struct ListCounts {
    /// The number of matching bookings on all pages.
    pub(crate) total: u64,
    /// The stored count for all pages and times. It covers only the statuses that have stored
    /// counts.
    pub(crate) total_all_time: u64,
}

pub(crate) fn select_any_delta() -> Statement {
    statement!("SELECT 1 AS delta_exists FROM flight_booking_count_delta WHERE claimed = 0 LIMIT 1")
}

/// Builds a unit of work that claims some of the deltas and adds them to the counts. No two processes
/// claim the same delta.
fn compaction(now: Timestamp) -> UnitOfWork {
    let mut write = UnitOfWork::new(now);
    write.add(statement!(
        "WITH free AS (SELECT {row_id} AS place FROM flight_booking_count_delta \
           WHERE claimed = 0 LIMIT $1 {skip_locked}) \
         UPDATE flight_booking_count_delta SET claimed = 1 \
         WHERE {row_id} IN (SELECT place FROM free)",
        DELTAS_PER_COMPACTION,
    ));
    for (table, key) in [
        (
            "flight_booking_count",
            "organization, mode, user_id, supplier, status",
        ),
        (
            "flight_booking_daily_count",
            "organization, mode, user_id, day, supplier, status",
        ),
    ] {
        write.add(statement!(format!(
            "INSERT INTO {table} SELECT {key}, SUM(delta) \
             FROM flight_booking_count_delta WHERE claimed = 1 GROUP BY {key} ORDER BY {key} \
             ON CONFLICT ({key}) \
             DO UPDATE SET booking_count = {table}.booking_count + excluded.booking_count"
        )));
    }
    write.add(statement!(
        "DELETE FROM flight_booking_count_delta WHERE claimed = 1"
    ));
    write
}

/// Builds the query for [`ListCounts`].
pub(crate) fn select_counts(owner: &Owner, filter: &FlightBookingFilter) -> Statement {
    let mut conditions = ConditionBuilder::for_facets(owner, filter);
    let whole = sum_column("flight_booking_count", "booking_count", &conditions.text());
    let days = DayRange::of(filter).filter(|_| filter.status.is_none_or(is_counted_status));
    let total = match days {
        Some(days) => day_by_day(&mut conditions, filter, days),
        None => {
            let (from, to) = (filter.created_from, filter.created_to);
            count_rows(&within(&mut conditions, "created_at", from, to))
        }
    };
    conditions.statement(format!("SELECT {total} AS total, {whole} AS whole"))
}

fn count_rows(which: &str) -> String {
    format!("(SELECT COUNT(*) FROM flight_booking WHERE {which})")
}

fn sum_column(table: &str, column: &str, which: &str) -> String {
    format!("(SELECT CAST(COALESCE(SUM({column}), 0) AS BIGINT) FROM {table} WHERE {which})")
}

/// The whole days of a time range, and the remainders before and after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DayRange {
    /// First and last whole day. `None` means that the range is open on that side.
    first: Option<i64>,
    last: Option<i64>,
    before: Option<(Timestamp, Timestamp)>,
    after: Option<(Timestamp, Timestamp)>,
}

impl DayRange {
    /// Returns `None` if the range contains no whole day.
    fn of(filter: &FlightBookingFilter) -> Option<Self> {
        let (from, to) = (filter.created_from, filter.created_to);
        let first = from.map(|from| from.0.saturating_add(DAY_MS - 1).div_euclid(DAY_MS));
        let last = to.map(|to| to.0.saturating_add(1).div_euclid(DAY_MS) - 1);
        if first.zip(last).is_some_and(|(first, last)| first > last) {
            return None;
        }
        let before = from.zip(first.map(|first| start(first).plus_ms(-1)));
        let after = last.map(|last| start(last + 1)).zip(to);
        let some = |(from, to): &(Timestamp, Timestamp)| from <= to;
        Some(Self {
            first,
            last,
            before: before.filter(some),
            after: after.filter(some),
        })
    }
}

/// Returns the start of a day (UTC).
const fn start(day: i64) -> Timestamp {
    Timestamp(day.saturating_mul(DAY_MS))
}

/// Returns the conditions with bounds, both inclusive, for a column.
fn within(
    conditions: &mut ConditionBuilder,
    column: &str,
    from: Option<impl Into<Value>>,
    to: Option<impl Into<Value>>,
) -> String {
    let mut text = conditions.text();
    if let Some(from) = from {
        text.push_str(&format!(" AND {column} >= {}", conditions.bind(from)));
    }
    if let Some(to) = to {
        text.push_str(&format!(" AND {column} <= {}", conditions.bind(to)));
    }
    text
}

fn day_by_day(
    conditions: &mut ConditionBuilder,
    filter: &FlightBookingFilter,
    days: DayRange,
) -> String {
    let DayRange { first, last, .. } = days;
    let mut numbers = Vec::new();
    for (from, to) in [days.before, days.after].into_iter().flatten() {
        let at_times = within(conditions, "created_at", Some(from), Some(to));
        numbers.push(count_rows(&at_times));
    }
    let on_days = within(conditions, "day", first, last);
    let table = match (first, last) {
        (None, None) => "flight_booking_count",
        (Some(_), _) | (_, Some(_)) => "flight_booking_daily_count",
    };
    numbers.push(sum_column(table, "booking_count", &on_days));
    numbers.push(sum_column("flight_booking_count_delta", "delta", &on_days));
    if filter.status.is_none() {
        let end = last.map(|last| start(last + 1).plus_ms(-1));
        let at_times = within(conditions, "created_at", first.map(start), end);
        // There is one count for each status. A combined condition would lead PostgreSQL, for
        // owners with few bookings, to a plan that scans all of them, and it would reuse that plan
        // for other owners.
        let passing = BookingStatus::FLIGHT
            .into_iter()
            .filter(|status| !is_counted_status(*status));
        numbers.extend(passing.map(|status| {
            let status = status.as_str();
            count_rows(&format!("{at_times} AND status = '{status}'"))
        }));
    }
    numbers.join(" + ")
}

/// Returns whether bookings remain in a status for long, so that the database stores its count. The
/// triggers in the migrations name the same statuses.
const fn is_counted_status(status: BookingStatus) -> bool {
    match status {
        BookingStatus::Confirmed
        | BookingStatus::Canceled
        | BookingStatus::Failed
        | BookingStatus::Expired => true,
        BookingStatus::Created
        | BookingStatus::PrebookInProgress
        | BookingStatus::ReadyForComplete
        | BookingStatus::CompleteInProgress
        | BookingStatus::CancelInProgress
        | BookingStatus::PartiallyCanceled => false,
    }
}
