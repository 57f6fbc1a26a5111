//! Lists of flight bookings, compared with a list in memory, and the indexes that the databases use
//! for them.

use super::flight::{flight, state};
use super::plan::{explain_prepared, names, sqlite_plan};
use super::*;
use crate::booking::read;
use crate::dialect::Dialect;
use crate::flight_count::{select_any_delta, select_counts};
use crate::flight_list::{
    by_time, count_with_price, select_by_supplier_reference, select_cheapest_first,
    select_most_expensive_first, select_sorted_by_price, select_without_price,
};
use crate::statement::Statement;
use host_domain::booking::BookingStatus;
use host_domain::flight::booking::FlightBooking;
use host_domain::flight::list::{FlightBookingFilter, FlightBookingSort};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use std::collections::BTreeSet;

on_both_databases!(
    pages_and_counts_match_list_in_memory,
    supplier_reference_filter_returns_at_most_one_booking,
    counts_are_exact_after_transitions_between_all_statuses,
    compaction_processes_all_deltas,
);

/// More bookings than are sorted in the query, so that both short and long time ranges occur.
const BOOKINGS: u32 = 4800;

/// Builds the `number`th of many bookings that differ in all properties that lists use.
fn varied(number: u32) -> FlightBooking {
    // The step sizes have no common factor, so that every combination occurs.
    let status = BookingStatus::FLIGHT[usize::try_from(number % 9).unwrap()];
    let mut booking = flight(number);
    // Two bookings share each creation time.
    booking.created_at = instant((number * 7 % BOOKINGS / 2).into());
    booking.state = state(status);
    if number % 20 < 9 {
        booking.supplier = other_supplier();
    }
    let bindable = !matches!(
        status,
        BookingStatus::Created | BookingStatus::PrebookInProgress
    );
    if bindable && !number.is_multiple_of(4) {
        let currencies = [("EUR", 100), ("JPY", 1), ("KWD", 1000)];
        let (code, minor) = currencies[usize::try_from(number % 3).unwrap()];
        let currency = Currency::parse(code).unwrap();
        let price = Money::new(i64::from(number * 13 % 97) * minor, currency);
        booking.details.offered_total = price;
        booking.details.ticket_total = Some(price);
    }
    booking
}

/// Returns the creation time of the `number`th pair. The times span nine days.
fn instant(number: i64) -> Timestamp {
    NOW.plus_s(number * 331)
}

/// Returns the start of the `number`th day after the first.
fn day(number: i64) -> Timestamp {
    let day_ms = 24 * 60 * 60 * 1000;
    Timestamp(NOW.0 - NOW.0 % day_ms + number * day_ms)
}

/// Inserts the bookings. The counts of the first half are compacted, those of the second half are
/// not.
async fn filled(db: &TestStore) -> Vec<FlightBooking> {
    let bookings: Vec<_> = (1..=BOOKINGS).map(varied).collect();
    let mut stranger = flight(0);
    stranger.owner.user = "another".into();
    for (number, some) in bookings.chunks(200).chain([&[stranger][..]]).enumerate() {
        let mut write = UnitOfWork::new(NOW);
        for booking in some {
            write.insert_booking(booking);
        }
        db.store.commit(write).await.unwrap();
        if number == 12 {
            db.store.compact_flight_booking_counts(NOW).await.unwrap();
        }
    }
    bookings
}

/// Returns every combination of filters, without orders.
fn filters() -> Vec<FlightBookingFilter> {
    let at = |number| Some(instant(number));
    let day = |number| Some(day(number));
    let to = |day: Option<Timestamp>| day.map(|day| day.plus_ms(-1));
    let times = [
        (None, None),
        (at(2100), None),
        (at(30), None),
        (None, at(270)),
        (at(100), at(190)),
        (at(30), at(2370)),
        (at(-10), at(10_000)),
        (at(200), at(100)),
        (day(2), to(day(5))),
        (day(2), to(day(3))),
        (day(3), day(6)),
        (to(day(3)), at(2000)),
        (day(4), None),
        (None, to(day(4))),
        (day(20), None),
    ];
    let mut filters = Vec::new();
    for status in [
        None,
        Some(BookingStatus::Confirmed),
        Some(BookingStatus::Created),
    ] {
        for supplier in [None, Some(supplier())] {
            for (created_from, created_to) in times {
                filters.push(FlightBookingFilter {
                    status,
                    supplier: supplier.clone(),
                    created_from,
                    created_to,
                    ..FlightBookingFilter::default()
                });
            }
        }
    }
    filters
}

fn orders(filter: &FlightBookingFilter) -> Vec<FlightBookingFilter> {
    let sorts = [FlightBookingSort::CreatedAt, FlightBookingSort::TotalAmount];
    let order = |sort, descending| FlightBookingFilter {
        sort,
        descending,
        ..filter.clone()
    };
    let both = sorts.map(|sort| [order(sort, false), order(sort, true)]);
    both.into_iter().flatten().collect()
}

/// Returns the expected list according to the definition of the filter.
fn expected(bookings: &[FlightBooking], filter: &FlightBookingFilter) -> Vec<BookingId> {
    let matches = |booking: &&FlightBooking| {
        let has_status = |status| booking.status() == status;
        filter.status.is_none_or(has_status)
            && filter.supplier.iter().all(|id| booking.supplier == *id)
            && filter.created_from <= Some(booking.created_at)
            && filter.created_to.is_none_or(|to| booking.created_at <= to)
    };
    let mut found: Vec<_> = bookings.iter().filter(matches).collect();
    found.sort_by(|one, other| match filter.sort {
        FlightBookingSort::CreatedAt => {
            (one.created_at, &one.id).cmp(&(other.created_at, &other.id))
        }
        FlightBookingSort::TotalAmount => {
            let price = |booking: &FlightBooking| booking.total().map(Money::to_major);
            (price(one), &one.id).cmp(&(price(other), &other.id))
        }
    });
    if filter.descending {
        found.reverse();
    }
    if filter.sort == FlightBookingSort::TotalAmount {
        found.sort_by_key(|booking| booking.total().is_none());
    }
    found
        .into_iter()
        .map(|booking| booking.id.clone())
        .collect()
}

async fn count(db: &TestStore, filter: &FlightBookingFilter) -> usize {
    let listed = db.store.flight_bookings(&owner(), filter, page(1, 0)).await;
    usize::try_from(listed.unwrap().1).unwrap()
}

async fn pages_and_counts_match_list_in_memory(db: &TestStore) {
    let bookings = filled(db).await;
    for filter in filters() {
        let number = expected(&bookings, &filter).len();
        assert_eq!(count(db, &filter).await, number, "{filter:?}");
        for filter in orders(&filter) {
            let expected = expected(&bookings, &filter);
            let unpriced = number - number / 3;
            for (limit, offset) in [
                (20, 0),
                (100, 40),
                (20, unpriced),
                (7, number.max(9) - 9),
                (5, number),
            ] {
                let page = page(limit, u64::try_from(offset).unwrap());
                let list = db.store.flight_bookings(&owner(), &filter, page).await;
                let (list, total) = list.unwrap();
                assert_eq!(usize::try_from(total).unwrap(), number, "{filter:?}");
                let ids: Vec<_> = list.items.into_iter().map(|booking| booking.id).collect();
                let limit = usize::try_from(limit).unwrap();
                let rest = expected.get(offset..).unwrap_or(&[]);
                let wanted = &rest[..rest.len().min(limit)];
                assert_eq!(ids, wanted, "{filter:?} {page:?}");
                assert_eq!(list.has_more, rest.len() > limit, "{filter:?} {page:?}");
                if filter.sort == FlightBookingSort::TotalAmount {
                    // The price index must return the same rows even where the query would sort.
                    let rows = db.store.page_by_price_index(&owner(), &filter, page).await;
                    let walked: Vec<FlightBooking> =
                        rows.unwrap().iter().map(|row| read(row).unwrap()).collect();
                    let walked: BTreeSet<_> =
                        walked.into_iter().map(|booking| booking.id).collect();
                    let wanted = rest.iter().take(limit + 1).cloned().collect();
                    assert_eq!(walked, wanted, "{filter:?} {page:?}");
                }
            }
        }
    }
}

async fn supplier_reference_filter_returns_at_most_one_booking(db: &TestStore) {
    for number in 1..=3 {
        let mut booking = flight(number);
        booking.supplier_reference = (number < 3).then(|| "ord_1".into());
        if number == 1 {
            booking.supplier = other_supplier();
        }
        db.store.commit(inserting(&booking)).await.unwrap();
    }
    let referred = |reference: &str| FlightBookingFilter {
        supplier_reference: Some(reference.into()),
        ..FlightBookingFilter::default()
    };
    let confirmed = FlightBookingFilter {
        status: Some(BookingStatus::Confirmed),
        ..referred("ord_1")
    };
    let of_first = FlightBookingFilter {
        supplier: Some(other_supplier()),
        ..referred("ord_1")
    };
    for (filter, offset, found, number) in [
        (referred("ord_1"), 0, Some(2), 1),
        (referred("ord_1"), 1, None, 1),
        (of_first, 0, Some(1), 1),
        (confirmed, 0, None, 0),
        (referred("ord"), 0, None, 0),
    ] {
        for filter in orders(&filter) {
            let page = page(20, offset);
            let list = db.store.flight_bookings(&owner(), &filter, page).await;
            let (list, _) = list.unwrap();
            let mut ids = list.items.into_iter().map(|booking| booking.id);
            assert_eq!(ids.next(), found.map(BookingId::from_bits), "{filter:?}");
            assert_eq!((ids.next(), list.has_more), (None, false));
            assert_eq!(count(db, &filter).await, number, "{filter:?}");
        }
    }
}

/// Tests transitions from every status to every other, whether or not real bookings make them, some
/// concurrently.
async fn counts_are_exact_after_transitions_between_all_statuses(db: &TestStore) {
    let mut bookings: Vec<_> = (1..=81).map(flight).collect();
    for (booking, number) in bookings.iter_mut().zip(0..) {
        booking.state = state(BookingStatus::FLIGHT[number / 9]);
        db.store.commit(inserting(booking)).await.unwrap();
        if number == 40 {
            db.store.compact_flight_booking_counts(NOW).await.unwrap();
        }
    }
    let moves = bookings
        .iter_mut()
        .zip(0..)
        .map(|(booking, number): (_, usize)| {
            *booking = moved(booking, state(BookingStatus::FLIGHT[number % 9]));
            db.store.commit(updating(booking))
        });
    // Meanwhile hosts compact the deltas of others.
    let settling = (0..8).map(|_| db.store.compact_flight_booking_counts(NOW));
    let (moved, settled) = futures::join!(join_all(moves), join_all(settling));
    for done in moved.into_iter().chain(settled) {
        done.unwrap();
    }
    // A failed unit of work leaves no delta behind.
    let mut late = bookings[0].clone();
    late.state = state(BookingStatus::Confirmed);
    let write = unit(|write| {
        write
            .update_booking(&late, &read_at(7))
            .insert_booking(&late)
    });
    let refused = conflict(&db.store, write).await;
    assert_eq!(refused, Some(Conflict::BookingVersion));
    let again = conflict(&db.store, inserting(&late)).await;
    assert_eq!(again, Some(Conflict::BookingExists));
    for is_settled in [false, true] {
        if is_settled {
            db.store.compact_flight_booking_counts(NOW).await.unwrap();
            let unsettled = db.store.fetch_all(select_any_delta()).await.unwrap();
            assert!(unsettled.is_empty());
        }
        for created_from in [None, Some(day(0))] {
            let mut filter = FlightBookingFilter {
                created_from,
                ..FlightBookingFilter::default()
            };
            assert_eq!(count(db, &filter).await, 81, "{is_settled} {filter:?}");
            for status in BookingStatus::FLIGHT {
                filter.status = Some(status);
                assert_eq!(count(db, &filter).await, 9, "{is_settled} {filter:?}");
            }
        }
    }
}

async fn compaction_processes_all_deltas(db: &TestStore) {
    let (owner, mut write) = (owner(), UnitOfWork::new(NOW));
    write.add(statement!(
        "INSERT INTO flight_booking_count_delta \
         WITH RECURSIVE numbers(n) AS \
           (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 25000) \
         SELECT $1, $2, $3, n % 40, 'SUPPLIER_A', 'CONFIRMED', 1, 0 FROM numbers",
        &owner.tenant,
        owner.user.as_str(),
    ));
    db.store.commit(write).await.unwrap();
    db.store.compact_flight_booking_counts(NOW).await.unwrap();
    let unsettled = db.store.fetch_all(select_any_delta()).await.unwrap();
    assert!(unsettled.is_empty());
    assert_eq!(count(db, &FlightBookingFilter::default()).await, 25_000);
    let eighth = FlightBookingFilter {
        created_to: Some(Timestamp(5 * 24 * 60 * 60 * 1000 - 1)),
        ..FlightBookingFilter::default()
    };
    assert_eq!(count(db, &eighth).await, 3_125);
}

/// Returns all statements that a list or its count can use, each with the index to use and whether
/// a few rows are sorted afterwards.
fn expectations() -> Vec<(Statement, String, bool)> {
    let page = page(20, 40);
    let mut expectations = Vec::new();
    for filter in filters() {
        let facet = match (&filter.status, &filter.supplier) {
            (None, None) => "",
            (Some(_), None) => "_status",
            (None, Some(_)) => "_supplier",
            (Some(_), Some(_)) => "_supplier_status",
        };
        let by_time_index = format!("flight_booking_list{facet}");
        let by_price_index = format!("flight_booking_price{facet}");
        let mut expect = |statement, index: &str, sorts| {
            expectations.push((statement, index.to_owned(), sorts));
        };
        let owner = &owner();
        for order in orders(&filter) {
            let (statement, index) = match (order.sort, order.descending) {
                (FlightBookingSort::CreatedAt, _) => (by_time(owner, &order, page), &by_time_index),
                (_, false) => (select_cheapest_first(owner, &order, page), &by_price_index),
                (_, true) => (
                    select_most_expensive_first(owner, &order, page),
                    &by_price_index,
                ),
            };
            expect(statement, index, false);
            if filter.created_from == Some(NOW.plus_s(100)) {
                let statement = select_sorted_by_price(owner, &order, page);
                expect(statement, &by_time_index, true);
            }
        }
        expect(
            select_without_price(owner, &filter, page),
            &by_price_index,
            false,
        );
        expect(count_with_price(owner, &filter), &by_price_index, false);
        let length = select_counts(owner, &filter);
        let kept = length.sql.contains("flight_booking_count_delta");
        let index = if kept {
            "flight_booking_count_delta_owner"
        } else {
            &by_time_index
        };
        expect(length, index, false);
        let filter = FlightBookingFilter {
            supplier_reference: Some("ord_1".into()),
            ..filter
        };
        let by_reference = "flight_booking_supplier_reference";
        expect(
            select_by_supplier_reference(owner, &filter),
            by_reference,
            true,
        );
    }
    expectations
}

#[tokio::test]
async fn sqlite_list_plans_use_expected_indexes() {
    let db = TestStore::sqlite().await;
    filled(&db).await;
    // The plans are checked without statistics, as in production, and with them.
    sqlite_plans(&db).await;
    commit(&db.store, |write| write.add(statement!("ANALYZE"))).await;
    sqlite_plans(&db).await;
    db.remove().await;
}

async fn sqlite_plans(db: &TestStore) {
    for (statement, index, sorts) in expectations() {
        let plan = sqlite_plan(db, &statement).await;
        // Scans of the results of a search are allowed, scans of a table are not.
        let mut scans = plan.lines().filter_map(|line| line.strip_prefix("SCAN "));
        let is_good = scans.all(|of| ["page", "CONSTANT ROW"].contains(&of))
            && names(&plan, &index)
            && (sorts || !plan.contains("TEMP B-TREE"));
        assert!(is_good, "{index}: {}\n{plan}", statement.sql);
    }
}

#[tokio::test]
async fn postgres_list_plans_use_expected_indexes() {
    let db = TestStore::postgres().await;
    filled(&db).await;
    let mut connection = PgConnection::connect(db.url()).await.unwrap();
    for sql in CROWD {
        connection.execute(*sql).await.unwrap();
    }
    // The plans for specific arguments and the generic plans are both checked, because PostgreSQL
    // reuses a generic plan for any owner.
    for mode in ["force_custom_plan", "force_generic_plan"] {
        let set = AssertSqlSafe(format!("SET plan_cache_mode = {mode}"));
        connection.execute(set).await.unwrap();
        for (statement, index, sorts) in expectations() {
            let sql = Dialect::Postgres.render(&statement);
            let plan = explain_prepared(&mut connection, &sql, &statement.args).await;
            // Counts must not read rows that they do not count.
            let filters = [
                "+created_at",
                "created_at + 0",
                "supplier_reference",
                "SELECT booking.document",
            ];
            let filters = filters.iter().any(|part| sql.contains(part));
            let is_good = names(&plan, &index)
                && !plan.contains("Seq Scan")
                && (filters || !passes_over(&plan))
                && (sorts || !plan.contains("Sort"));
            assert!(is_good, "{mode} {index}: {sql}\n{plan}");
        }
    }
    connection.close().await.unwrap();
    db.remove().await;
}

/// Returns whether the plan filters out rows that it has read, except for the few deltas that are
/// not compacted yet.
fn passes_over(plan: &str) -> bool {
    let mut scan = "";
    plan.lines().any(|line| {
        if line.contains(" Scan ") {
            scan = line;
        }
        line.trim_start().starts_with("Filter") && !scan.contains("flight_booking_count_delta")
    })
}

/// Rows of other owners, so that one owner is not the whole table.
const CROWD: &[&str] = &[
    "INSERT INTO flight_booking \
     SELECT 'demo', 'test', 'bkg_x' || n, 'user' || n % 100, 'CONFIRMED', 'SUPPLIER_A', \
       'reference-' || n, n, NULL, n % 1000, 1800000000000 + n * 40, n, 1, '{}' \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO flight_booking_count \
     SELECT 'demo', 'test', 'user' || n, 'SUPPLIER_A', 'CONFIRMED', 1 \
     FROM generate_series(101, 20000) AS n",
    "INSERT INTO flight_booking_daily_count \
     SELECT 'demo', 'test', 'user' || n % 100, n / 100, 'SUPPLIER_A', 'CONFIRMED', 1 \
     FROM generate_series(1, 20000) AS n",
    "VACUUM ANALYZE flight_booking",
    "VACUUM ANALYZE flight_booking_count",
    "VACUUM ANALYZE flight_booking_daily_count",
    "VACUUM ANALYZE flight_booking_count_delta",
];
