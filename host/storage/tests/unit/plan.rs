//! Query plans: statements use the intended index and its order.

use super::*;
use crate::dialect::Dialect;
use crate::statement::{Statement, Value, postgres_args};
use crate::{DatabaseError, JobClaim, ParkedJobFilter};
use host_domain::booking::BookingStatus;
use host_domain::console::{TenantScope, UnresolvedFilter};
use host_domain::flight::booking::FlightBookingDetails;
use host_domain::hotel::list::HotelBookingFilter;
use host_domain::id::KeyId;
use host_domain::page::CursorRequest;
use host_domain::remote_call::AttemptOutcome;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};

impl Store {
    /// Keeps the statements of a call for [`Expectations::add`].
    pub(crate) fn record<'a>(&self, statements: impl IntoIterator<Item = &'a Statement>) {
        let mut last = self.inner.last_statements.lock().unwrap();
        *last = statements.into_iter().cloned().collect();
    }
}

/// Statements, each with the index that it must use.
pub(super) struct Expectations<I = &'static str> {
    store: Store,
    pub(super) all: Vec<(Statement, I)>,
}

impl<I> Expectations<I> {
    pub(super) fn new(db: &TestStore) -> Self {
        Self {
            store: db.store.clone(),
            all: Vec::new(),
        }
    }

    /// Adds the statement of a call of the store.
    pub(super) async fn add<T>(
        &mut self,
        index: I,
        call: impl Future<Output = Result<T, DatabaseError>>,
    ) {
        call.await.unwrap();
        let mut executed = self.store.inner.last_statements.lock().unwrap();
        let statement = executed.pop().unwrap();
        self.all.push((statement, index));
    }

    /// Adds the last statements of a unit of work.
    pub(super) fn add_unit<const N: usize>(&mut self, mut write: UnitOfWork, indexes: [I; N]) {
        let last = write.statements.split_off(write.statements.len() - N);
        let statements = last.into_iter().map(|step| step.statement);
        self.all.extend(statements.zip(indexes));
    }
}

async fn add_api_key(plans: &mut Expectations, store: &Store) {
    let by_hash = store.api_key_by_hash(&[7; 32]);
    plans.add("api_key_sha256", by_hash).await;
    let key = KeyId::from_bits(7);
    plans.add("api_key_id", store.api_key_unscoped(&key)).await;
}

/// The lists of flights have separate tests.
async fn expectations() -> Vec<(Statement, &'static str)> {
    let db = TestStore::sqlite().await;
    let (store, mut plans) = (&db.store, Expectations::new(&db));
    let (owner, mode, supplier) = (owner(), Mode::Test, supplier());
    let confirmed = Some(BookingStatus::Confirmed);
    for (status, reference, index) in [
        (None, None, "hotel_booking_list"),
        (confirmed, None, "hotel_booking_list_status"),
        (None, Some("reference-7"), "hotel_booking_list_reference"),
        (
            confirmed,
            Some("reference-7"),
            "hotel_booking_list_reference",
        ),
    ] {
        let filter = HotelBookingFilter {
            status,
            reference_id: reference.map(str::to_owned),
        };
        let list = store.hotel_bookings(&owner, &filter, page(25, 50));
        plans.add(index, list).await;
    }
    let id = BookingId::from_bits(1);
    let hotel = store.booking_unscoped::<HotelBookingDetails>(&id);
    plans.add("hotel_booking_id", hotel).await;
    let flight = store.booking_unscoped::<FlightBookingDetails>(&id);
    plans.add("flight_booking_id", flight).await;
    let hotel =
        store.booking_by_supplier_reference_unscoped::<HotelBookingDetails>(mode, &supplier, "H-7");
    plans.add("hotel_booking_supplier_reference", hotel).await;
    let flight = store
        .booking_by_supplier_reference_unscoped::<FlightBookingDetails>(mode, &supplier, "ord_7");
    plans.add("flight_booking_supplier_reference", flight).await;
    let flight = store.flight_booking_by_offer_unscoped(mode, &supplier, "off_7");
    plans.add("flight_booking_offer", flight).await;
    let claim = JobClaim {
        kinds: &["resume", "purge"],
        limit: 10,
        now: NOW,
        lease_ms: 1000,
        token: "t",
        attempts_max: 5,
    };
    plans.add("job_due", store.claim_jobs(claim)).await;
    add_parked_jobs(&mut plans, store).await;
    let calls = store.unresolved_attempts(NOW, 10);
    plans.add("remote_call_attempt_unresolved", calls).await;
    add_settlement(&mut plans, store).await;
    add_api_key(&mut plans, store).await;
    let instruments = store.instruments(&owner);
    plans.add("payment_instrument_list", instruments).await;
    let hotel_ids = [HotelId::from_bits(1)];
    let hotels = store.hotel_mappings(mode, &hotel_ids);
    plans.add("hotel_mapping_hotel", hotels).await;
    let supplier_ids = ["h1".to_owned(), "h2".to_owned()];
    let hotels = store.hotel_mappings_of_supplier(mode, &supplier, &supplier_ids);
    plans.add("hotel_mapping_pkey", hotels).await;
    plans
        .add(
            "airport_pkey",
            store.save_airports(mode, &supplier, &[], NOW),
        )
        .await;
    db.remove().await;
    plans.all
}

#[tokio::test]
async fn sqlite_plans_use_expected_indexes() {
    check_sqlite_plans(expectations().await, |plan, index| {
        !plan.contains("TEMP B-TREE") || is_put_in_order(index)
    })
    .await;
}

#[tokio::test]
async fn postgres_plans_use_expected_indexes() {
    check_postgres_plans(FILL, expectations().await, |plan, index| {
        let sorts = plan.contains("Sort") && !is_put_in_order(index);
        names(plan, index) && !sorts && !plan.contains("Seq Scan")
    })
    .await;
}

/// Without statistics of a table, the planner must not choose the index of a list, for which it
/// estimates one row per owner.
#[tokio::test]
async fn postgres_plans_use_primary_keys_without_statistics() {
    let (_, fill) = FILL.split_last().unwrap();
    check_postgres_plans(fill, of_one_row().await, |plan, keys| {
        keys.iter().any(|key| names(plan, key))
    })
    .await;
}

/// Statements for one row or one booking, each with the equally suitable indexes.
async fn of_one_row() -> Vec<(Statement, &'static [&'static str])> {
    let db = TestStore::sqlite().await;
    let (store, mut plans) = (&db.store, Expectations::new(&db));
    let hotels: &[&str] = &["hotel_booking_pkey", "hotel_booking_id"];
    let flights: &[&str] = &["flight_booking_pkey", "flight_booking_id"];
    let instruments: &[&str] = &["payment_instrument_pkey"];
    let (owner, id, call) = (owner(), BookingId::from_bits(1), super::attempt::call(1));
    let instrument = InstrumentId::from_bits(1);
    let write = unit(|write| {
        let succeeded = AttemptOutcome::Succeeded;
        write
            .update_booking(&booking(1), &read_at(1))
            .finish_attempt(&tenant(), &call.id, succeeded, None, None)
            .record_attempt(&tenant(), &call)
            .delete_instrument(&owner, &instrument)
    });
    let keys: [&[&str]; 4] = [
        hotels,
        &["remote_call_attempt_pkey"],
        &["remote_call_attempt_number"],
        instruments,
    ];
    plans.add_unit(write, keys);
    let hotel = store.booking::<HotelBookingDetails>(&owner, &id);
    plans.add(hotels, hotel).await;
    let flight = store.booking::<FlightBookingDetails>(&owner, &id);
    plans.add(flights, flight).await;
    let instrument = store.instrument(&owner, &instrument);
    plans.add(instruments, instrument).await;
    db.remove().await;
    plans.all
}

/// Returns SQLite's plan for a statement.
pub(super) async fn sqlite_plan(db: &TestStore, statement: &Statement) -> String {
    let explain = Statement {
        sql: format!("EXPLAIN QUERY PLAN {}", statement.sql).into(),
        args: statement.args.clone(),
    };
    let rows = db.store.fetch_all(explain).await.unwrap();
    let lines = rows.iter().map(|row| row.get("detail").unwrap());
    lines.collect::<Vec<String>>().join("\n")
}

/// Checks PostgreSQL's plan for each statement in a database that `fill` filled.
pub(super) async fn check_postgres_plans<E: Copy>(
    fill: &[&'static str],
    expectations: impl IntoIterator<Item = (Statement, E)>,
    is_expected: impl Fn(&str, E) -> bool,
) {
    let db = TestStore::postgres().await;
    let mut connection = PgConnection::connect(db.url()).await.unwrap();
    for sql in fill {
        connection.execute(*sql).await.unwrap();
    }
    for (statement, expectation) in expectations {
        let sql = Dialect::Postgres.render(&statement);
        let explain = AssertSqlSafe(format!("EXPLAIN {sql}"));
        let args = postgres_args(&statement.args).unwrap();
        let rows = sqlx::query_with(explain, args).fetch_all(&mut connection);
        let rows = rows.await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let plan = plan.join("\n");
        assert!(is_expected(&plan, expectation), "{sql}\n{plan}");
    }
    connection.close().await.unwrap();
    db.remove().await;
}

/// Returns PostgreSQL's plan for a prepared statement.
pub(super) async fn explain_prepared(
    connection: &mut PgConnection,
    sql: &str,
    args: &[Value],
) -> String {
    let types = args.iter().map(|value| match value {
        Value::Text(_) => "text",
        Value::Int(_) => "bigint",
        Value::Blob(_) => "bytea",
    });
    let types = types.collect::<Vec<_>>().join(", ");
    let values = args.iter().map(|value| match value {
        Value::Text(Some(text)) => format!("'{}'", text.replace('\'', "''").replace('\0', "")),
        Value::Int(Some(number)) => number.to_string(),
        Value::Text(None) | Value::Int(None) | Value::Blob(None) => "NULL".to_owned(),
        Value::Blob(Some(_)) => unreachable!("these statements have no binary arguments"),
    });
    let values = values.collect::<Vec<_>>().join(", ");
    let prepare = AssertSqlSafe(format!("PREPARE asked ({types}) AS {sql}"));
    connection.execute(prepare).await.unwrap();
    let explain = AssertSqlSafe(format!("EXPLAIN EXECUTE asked ({values})"));
    let rows = connection.fetch_all(explain).await.unwrap();
    connection.execute("DEALLOCATE asked").await.unwrap();
    let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    plan.join("\n")
}

/// Checks that SQLite's plan for each statement uses the index and is good otherwise. The two
/// databases name primary-key indexes differently.
pub(super) async fn check_sqlite_plans(
    expectations: Vec<(Statement, &'static str)>,
    is_good: impl Fn(&str, &str) -> bool,
) {
    let db = TestStore::sqlite().await;
    for (statement, index) in expectations {
        let plan = sqlite_plan(&db, &statement).await;
        let index = match index.strip_suffix("_pkey") {
            Some(table) => format!("sqlite_autoindex_{table}_1"),
            None => index.to_owned(),
        };
        let is_expected = names(&plan, &index) && is_good(&plan, &index);
        assert!(is_expected, "{index}: {}\n{plan}", statement.sql);
    }
    db.remove().await;
}

/// Returns the sources that a plan of SQLite scans without an index.
pub(super) fn scans(plan: &str) -> impl Iterator<Item = &str> {
    let scans = plan.lines().filter_map(|line| line.strip_prefix("SCAN "));
    scans.filter(|source| !source.contains("INDEX"))
}

async fn add_parked_jobs(plans: &mut Expectations, store: &Store) {
    let parked = store.parked_jobs(ParkedJobFilter::default(), 10);
    plans.add("job_parked", parked).await;
}

async fn add_settlement(plans: &mut Expectations, store: &Store) {
    let scope = TenantScope {
        organizations: None,
        mode: tenant().mode,
    };
    let filter = UnresolvedFilter::default();
    let first = CursorRequest {
        after: None,
        limit: 50,
    };
    let open = store.unresolved_page(&scope, &filter, NOW, &first);
    plans.add("remote_call_attempt_unresolved", open).await;
    let recent = store.recent_settlements(&scope, 10);
    plans.add("settlement_decision_recent", recent).await;
    let (tenant, attempt) = (tenant(), AttemptId::from_bits(7));
    let latest = store.latest_settlement(&tenant, &attempt);
    plans.add("settlement_decision_attempt", latest).await;
    let booking = BookingId::from_bits(7);
    let one = store.attempt_with_booking(&scope, &booking, &attempt);
    plans.add("remote_call_attempt_number", one).await;
}

/// Returns whether the few rows found by this index are sorted afterwards.
fn is_put_in_order(index: &str) -> bool {
    let few = [
        "hotel_mapping_hotel",
        "flight_booking_offer",
        "payment_instrument_list",
        "remote_call_attempt_unresolved",
        "remote_call_attempt_number",
        "settlement_decision_recent",
    ];
    few.contains(&index) || index.ends_with("_supplier_reference")
}

/// Returns whether a plan contains the exact name of an index, not merely a name that starts with
/// it.
pub(super) fn names(plan: &str, index: &str) -> bool {
    let mut words = plan.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| word == index)
}

/// Inserts enough rows to make a full scan a bad plan.
pub(super) const FILL: &[&str] = &[
    "INSERT INTO hotel_booking SELECT 'demo', 'test', 'bkg_' || n, 'org', \
       CASE WHEN n % 100 = 0 THEN 'CONFIRMED' ELSE 'CANCELED' END, 'SUPPLIER_A', 'H-' || n, \
       'reference-' || n % 1000, 'htl_1', 1, 'EUR', n, n, 1, '{}' \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO job SELECT CASE WHEN n % 2 = 0 THEN 'resume' ELSE 'other' END, 's' || n, \
       CAST(1800000000000 AS bigint) - 1000 + n, NULL, NULL, NULL, 0, \
       CASE WHEN n % 100 = 0 THEN n END, NULL, n \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO remote_call_attempt SELECT 'demo', 'test', 'att_' || n, 'bkg_' || n, 'book', 1, \
       'SUPPLIER_A', 'ref-' || n, 'd', 'd', \
       CASE WHEN n % 100 = 0 THEN 'unknown' ELSE 'succeeded' END, \
       1, 0, n, NULL, NULL, NULL \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO booking_history SELECT 'demo', 'test', 'bkg_' || n, 1, 'made', NULL, \
       'CONFIRMED', 'reason', NULL, n \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO settlement_decision SELECT 'demo', 'test', 'stl_' || n, 'bkg_' || n, 'att_' || n, \
       'done', NULL, NULL, NULL, 'n', 'a', n, \
       CASE WHEN n % 100 = 0 THEN 'waiting' ELSE 'applied' END, NULL, NULL \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO api_key SELECT 'demo', 'test', 'key_' || n, 'k', '[]', 'h', \
       decode(md5(CAST(n AS text)), 'hex'), n, NULL, NULL, NULL \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO payment_instrument SELECT 'demo', 'test', 'inst_' || n, 'user' || n % 1000, \
       'CARDS', '', NULL, n, NULL \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO hotel_mapping SELECT 'test', 'SUPPLIER_A', 'h' || n, 'htl_' || n, NULL, NULL, \
     NULL, n \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO flight_booking SELECT 'demo', 'test', 'bkg_' || n, 'org', 'CONFIRMED', \
       'SUPPLIER_A', 'ord_' || n, n, NULL, n, n, n, 1, '{}' \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO airport SELECT 'test', 'A' || n, 'apt_' || n, 'SUPPLIER_A', '{}', n \
     FROM generate_series(1, 20000) AS n",
    "ANALYZE",
];
