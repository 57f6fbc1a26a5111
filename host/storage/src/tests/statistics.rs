//! A database that is new finds its rows as one that is old.

use super::plan::{names, postgres_plan};
use super::*;
use crate::statement::{Statement, statement};
use crate::statistics::count;
use crate::{AttemptOutcome, flight, hotel};
use host_domain::id::AttemptId;
use sqlx::postgres::PgPool;
use sqlx::{Connection, Executor, PgConnection};

/// As many as the bookings of some minutes leave behind, all of one organization.
const FILL: &[&str] = &[
    "INSERT INTO hotel_booking SELECT 'demo', 'test', 'bkg_' || n, 'org', 'CONFIRMED', \
       'SUPPLIER_A', 'H-' || n, 'reference-' || n, 'htl_1', 1, 'EUR', n, n, 1, '{}' \
     FROM generate_series(1, 600) AS n",
    "INSERT INTO flight_booking SELECT 'demo', 'test', 'bkg_' || n, 'org', 'CONFIRMED', \
       'SUPPLIER_A', 'ord_' || n, n, NULL, n, n, n, 1, '{}' \
     FROM generate_series(1, 600) AS n",
    "INSERT INTO supplier_attempt SELECT 'demo', 'test', 'att_' || n, 'bkg_' || n, 'book', 1, \
       'SUPPLIER_A', 'ref-' || n, 'd', 'd', 'done', 1, 0, n, NULL, NULL, NULL \
     FROM generate_series(1, 600) AS n",
    // Otherwise they are told of when the connection has been idle for a while.
    "SELECT pg_stat_force_next_flush()",
];

#[tokio::test]
async fn rows_are_found_by_their_keys_once_a_new_database_was_counted() {
    let db = TestDatabase::postgres().await;
    let mut connection = PgConnection::connect(&db.url).await.unwrap();
    for sql in FILL {
        connection.execute(*sql).await.unwrap();
    }
    let pool = PgPool::connect(&db.url).await.unwrap();
    count(&pool).await.unwrap();
    pool.close().await;
    for (statement, table) in of_one_row() {
        let (sql, plan) = postgres_plan(&mut connection, &statement).await;
        let keys = [format!("{table}_pkey"), format!("{table}_id")];
        let is_found = keys.iter().any(|index| names(&plan, index));
        assert!(is_found, "{sql}\n{plan}");
    }
    let counted = "SELECT CAST(COUNT(last_analyze) AS bigint) AS number FROM pg_stat_user_tables";
    let tables = db.store.row(statement!(counted)).await.unwrap().unwrap();
    // The others have too few rows, or none.
    assert_eq!(tables.int("number").unwrap(), 3);
    connection.close().await.unwrap();
    db.remove().await;
}

/// Statements about one row, and its table.
fn of_one_row() -> Vec<(Statement, &'static str)> {
    let id = BookingId::from_bits(1);
    let mut write = Write::new(NOW);
    write.update_hotel_booking(&booking(1), 1);
    let call = AttemptId::from_bits(1);
    write.finish_attempt(&tenant(), &call, AttemptOutcome::Done, None, None);
    let mut updates = write.steps.into_iter().map(|step| step.statement);
    vec![
        (updates.next().unwrap(), "hotel_booking"),
        (updates.next().unwrap(), "supplier_attempt"),
        (hotel::get(&owner(), &id), "hotel_booking"),
        (flight::get(&owner(), &id), "flight_booking"),
    ]
}
