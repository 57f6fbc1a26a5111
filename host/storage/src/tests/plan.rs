//! Query plans: statements use the intended index and its order.

use super::*;
use crate::dialect::Dialect;
use crate::statement::Statement;
use crate::{AttemptOutcome, JobClaim, ParkedJobFilter};
use crate::{api_key, attempt, flight, hotel, hotel_mapping, instrument, job, reference_data};
use host_domain::booking::BookingStatus;
use host_domain::hotel::list::HotelBookingFilter;
use host_domain::page::PageRequest;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};

/// Statements with the index that each must use.
fn expectations() -> Vec<(Statement, &'static str)> {
    let filter = |status, reference: Option<&str>| HotelBookingFilter {
        status,
        reference_id: reference.map(str::to_owned),
    };
    let all = filter(None, None);
    let confirmed = filter(Some(BookingStatus::Confirmed), None);
    let referred = filter(None, Some("reference-7"));
    let both = filter(Some(BookingStatus::Confirmed), Some("reference-7"));
    let page = PageRequest {
        limit: 25,
        offset: 50,
    };
    let claim = JobClaim {
        kinds: &["resume", "purge"],
        limit: 10,
        now: NOW,
        lease_ms: 1000,
        token: "t",
        attempts_max: 5,
    };
    let id = BookingId::from_bits(1);
    vec![
        (
            crate::booking::select_by_id_unscoped("hotel_booking", &id),
            "hotel_booking_id",
        ),
        (
            crate::booking::by_supplier_reference("hotel_booking", Mode::Test, &supplier(), "H-7"),
            "hotel_booking_supplier_reference",
        ),
        (hotel::list(&owner(), &all, page), "hotel_booking_list"),
        (
            hotel::list(&owner(), &confirmed, page),
            "hotel_booking_list_status",
        ),
        (
            hotel::list(&owner(), &referred, page),
            "hotel_booking_list_reference",
        ),
        (
            hotel::list(&owner(), &both, page),
            "hotel_booking_list_reference",
        ),
        (job::claim(claim), "job_due"),
        (job::parked(10), "job_parked"),
        (job::unpark(ParkedJobFilter::default(), NOW), "job_parked"),
        (
            attempt::unresolved(NOW, 10),
            "remote_call_attempt_unresolved",
        ),
        (api_key::by_hash(&[7; 32]), "api_key_sha256"),
        (instrument::list(&owner()), "payment_instrument_list"),
        (
            hotel_mapping::by_hotel_ids(Mode::Test, &[HotelId::from_bits(1)]),
            "hotel_mapping_hotel",
        ),
        (
            hotel_mapping::by_supplier_ids(Mode::Test, &supplier(), ["h1", "h2"].into_iter()),
            "hotel_mapping_pkey",
        ),
    ]
}

/// Returns the same for flights, except for their lists, which have separate tests.
fn flight_expectations() -> Vec<(Statement, &'static str)> {
    let id = BookingId::from_bits(1);
    vec![
        (
            crate::booking::select_by_id_unscoped("flight_booking", &id),
            "flight_booking_id",
        ),
        (
            crate::booking::by_supplier_reference(
                "flight_booking",
                Mode::Test,
                &supplier(),
                "ord_7",
            ),
            "flight_booking_supplier_reference",
        ),
        (
            flight::by_offer(Mode::Test, &supplier(), "off_7"),
            "flight_booking_offer",
        ),
        (
            reference_data::airports(Mode::Test, ["LHR", "JFK"].into_iter()),
            "airport_pkey",
        ),
    ]
}

#[tokio::test]
async fn sqlite_plans_use_expected_indexes() {
    let db = TestDatabase::sqlite().await;
    for (statement, index) in expectations().into_iter().chain(flight_expectations()) {
        let plan = sqlite_plan(&db, &statement).await.join("\n");
        let index = in_sqlite(index);
        assert!(names(&plan, &index), "{}\n{plan}", statement.sql);
        let sorts = plan.contains("TEMP B-TREE") && !is_put_in_order(&index);
        assert!(!sorts, "{}\n{plan}", statement.sql);
    }
    db.remove().await;
}

#[tokio::test]
async fn postgres_plans_use_expected_indexes() {
    let expectations = expectations().into_iter().chain(flight_expectations());
    check_postgres_plans(FILL, expectations, |plan, index| {
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
    check_postgres_plans(fill, of_one_row(), |plan, keys| {
        keys.iter().any(|key| names(plan, key))
    })
    .await;
}

/// Statements for one row or one booking, each with the equally suitable indexes.
fn of_one_row() -> Vec<(Statement, &'static [&'static str])> {
    let id = BookingId::from_bits(1);
    let instrument = InstrumentId::from_bits(1);
    let mut write = UnitOfWork::new(NOW);
    write.update_booking(&booking(1), 1);
    let call = AttemptId::from_bits(1);
    write.finish_attempt(&tenant(), &call, AttemptOutcome::Succeeded, None, None);
    write.record_attempt(&tenant(), &super::attempt::call(1));
    write.delete_instrument(&owner(), &instrument);
    let updates = write.statements.into_iter().map(|step| step.statement);
    let hotels: &[&str] = &["hotel_booking_pkey", "hotel_booking_id"];
    let flights: &[&str] = &["flight_booking_pkey", "flight_booking_id"];
    let instruments: &[&str] = &["payment_instrument_pkey"];
    let keys = [
        hotels,
        &["remote_call_attempt_pkey"],
        &["remote_call_attempt_number"],
        instruments,
    ];
    let mut statements: Vec<_> = updates.zip(keys).collect();
    statements.extend([
        (
            crate::booking::select_by_id("hotel_booking", &owner(), &id),
            hotels,
        ),
        (
            crate::booking::select_by_id("flight_booking", &owner(), &id),
            flights,
        ),
        (instrument::get(&owner(), &instrument), instruments),
    ]);
    statements
}

/// Returns the lines of SQLite's plan for a statement.
pub(super) async fn sqlite_plan(db: &TestDatabase, statement: &Statement) -> Vec<String> {
    let explain = Statement {
        sql: format!("EXPLAIN QUERY PLAN {}", statement.sql).into(),
        args: statement.args.clone(),
    };
    let rows = db.store.fetch_all(explain).await.unwrap();
    rows.iter().map(|row| row.text("detail").unwrap()).collect()
}

/// Checks PostgreSQL's plan for each statement in a database that `fill` filled.
pub(super) async fn check_postgres_plans<E: Copy>(
    fill: &[&'static str],
    expectations: impl IntoIterator<Item = (Statement, E)>,
    is_expected: impl Fn(&str, E) -> bool,
) {
    let db = TestDatabase::postgres().await;
    let mut connection = PgConnection::connect(&db.url).await.unwrap();
    for sql in fill {
        connection.execute(*sql).await.unwrap();
    }
    for (statement, expectation) in expectations {
        let sql = Dialect::Postgres.render(&statement);
        let explain = AssertSqlSafe(format!("EXPLAIN {sql}"));
        let args = statement.postgres_args().unwrap();
        let rows = sqlx::query_with(explain, args).fetch_all(&mut connection);
        let rows = rows.await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let plan = plan.join(
            "
",
        );
        assert!(
            is_expected(&plan, expectation),
            "{sql}
{plan}"
        );
    }
    connection.close().await.unwrap();
    db.remove().await;
}

/// Returns SQLite's name for an index. The two databases name primary-key indexes differently.
pub(super) fn in_sqlite(index: &str) -> String {
    match index.strip_suffix("_pkey") {
        Some(table) => format!("sqlite_autoindex_{table}_1"),
        None => index.to_owned(),
    }
}

/// Returns whether the few rows found by this index are sorted afterwards.
fn is_put_in_order(index: &str) -> bool {
    let few = [
        "hotel_mapping_hotel",
        "flight_booking_offer",
        "payment_instrument_list",
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
