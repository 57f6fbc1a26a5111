//! The request log, the log of suppliers' calls, and the statistics.

use super::console::{first_page, insert_keys, key, scope, tenant_of};
use super::plan::{Expectations, check_postgres_plans, check_sqlite_plans, names, sqlite_plan};
use super::*;
use crate::bounded_search::EXAMINED_ROWS_MAX;
use crate::statement::Statement;
use crate::{LogPeriod, LogTable};
use crate::{OverviewLimits, OverviewSnapshot};
use host_domain::console::TenantScope;
use host_domain::id::{CallLogId, KeyId, RequestLogId};
use host_domain::page::{Cursor, CursorRequest};
use host_domain::request_log::{
    LoggedBodies, LoggedBody, LoggedCall, LoggedCallKind, LoggedRequest, RequestLogFilter,
    StatusFilter,
};
use host_domain::statistics::{
    BookedAmount, CallResult, CallStatistics, RemarkableCall, RemarkableReason, StatisticsKey,
    StatisticsSubject, TimeResolution,
};

on_both_databases!(
    requests_are_listed_by_scope_and_filter,
    requests_with_an_id_are_found_by_organization_and_mode,
    requests_are_paged_newest_first,
    rare_filter_is_searched_in_parts,
    request_has_its_bodies_and_the_calls_beneath_it,
    statistics_of_hosts_are_added_up,
    entries_are_counted_by_period,
    old_records_are_purged,
);

fn at(number: i64) -> Timestamp {
    NOW.plus_ms(number)
}

fn request(number: u32, organization: &str, mode: Mode) -> LoggedRequest {
    let time = at(number.into());
    LoggedRequest {
        id: RequestLogId::at(time, number.into()),
        organization: organization.to_owned(),
        mode,
        request_id: format!("req_{number}"),
        at: time,
        method: "GET".to_owned(),
        route: "/v1/a".to_owned(),
        path: "/v1/a?limit=1".to_owned(),
        status: 200,
        duration_us: 1_500,
        key: None,
        user: "org".to_owned(),
        booking: None,
        code: None,
        host: "host-1".to_owned(),
    }
}

async fn insert(db: &TestStore, requests: impl IntoIterator<Item = LoggedRequest>) {
    let entries: Vec<_> = requests.into_iter().map(|one| (one, None)).collect();
    commit(&db.store, |write| write.insert_request_log(&entries)).await;
}

/// Five calls: of two organizations and of none, of two modes, successful and failed.
fn five_requests() -> [LoggedRequest; 5] {
    let (test, live) = (Mode::Test, Mode::Live);
    [
        LoggedRequest {
            method: "POST".to_owned(),
            route: "/v1/b".to_owned(),
            status: 404,
            code: Some("not_found".to_owned()),
            booking: Some(BookingId::from_bits(7)),
            ..request(1, "acme", test)
        },
        LoggedRequest {
            status: 503,
            user: "ada".to_owned(),
            key: Some(KeyId::from_bits(3)),
            ..request(2, "acme", test)
        },
        request(3, "acme", live),
        request(4, "other", test),
        LoggedRequest {
            status: 401,
            route: "unknown".to_owned(),
            ..request(5, "", test)
        },
    ]
}

async fn requests_are_listed_by_scope_and_filter(db: &TestStore) {
    insert(db, five_requests()).await;
    insert_keys(db, &[key(3, "acme", Mode::Test)]).await;
    let any = RequestLogFilter::default;
    let status = |text| RequestLogFilter {
        status: StatusFilter::parse(text),
        ..any()
    };
    let (acme, both) = (&["acme"][..], &["acme", "other"][..]);
    let post = RequestLogFilter {
        method: Some("POST".to_owned()),
        ..any()
    };
    let route = RequestLogFilter {
        route: Some("/v1/a".to_owned()),
        ..any()
    };
    let ada = RequestLogFilter {
        user: Some("ada".to_owned()),
        key: Some(KeyId::from_bits(3).to_string()),
        ..any()
    };
    let named = |name: &str| RequestLogFilter {
        key: Some(name.to_owned()),
        ..any()
    };
    let times = RequestLogFilter {
        from: Some(at(2)),
        to: Some(at(4)),
        ..any()
    };
    for (organizations, mode, filter, expected) in [
        (None, Mode::Test, any(), &[5, 4, 2, 1][..]),
        (None, Mode::Live, any(), &[3]),
        (Some(acme), Mode::Test, any(), &[2, 1]),
        (Some(both), Mode::Test, any(), &[4, 2, 1]),
        (Some(&[][..]), Mode::Test, any(), &[]),
        (None, Mode::Test, status("4xx"), &[5, 1]),
        (None, Mode::Test, status("503"), &[2]),
        (None, Mode::Test, status("2xx"), &[4]),
        (Some(acme), Mode::Test, status("4xx"), &[1]),
        (Some(both), Mode::Test, status("5xx"), &[2]),
        (None, Mode::Test, post, &[1]),
        (None, Mode::Test, route, &[4, 2]),
        (None, Mode::Test, ada, &[2]),
        (None, Mode::Test, named("Key 3"), &[2]),
        (None, Mode::Test, named("Key 4"), &[]),
        (None, Mode::Test, times, &[2]),
    ] {
        let scope = scope(organizations, mode);
        let first = first_page(10);
        let page = db.store.request_log_page(&scope, &filter, &first);
        let page = page.await.unwrap();
        let found: Vec<_> = page
            .items
            .iter()
            .map(|one| one.request_id.clone())
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|number| format!("req_{number}"))
            .collect();
        assert_eq!(found, expected, "{scope:?} {filter:?}");
        assert_eq!(page.next, None);
    }
}

async fn requests_with_an_id_are_found_by_organization_and_mode(db: &TestStore) {
    insert(db, five_requests()).await;
    let acme = ["acme".to_owned()];
    for (organizations, count) in [(None, 1), (Some(&acme[..]), 0)] {
        for (mode, is_found) in [
            (None, true),
            (Some(Mode::Test), true),
            (Some(Mode::Live), false),
        ] {
            let found = db.store.requests_with_id(organizations, mode, "req_4", 10);
            let expected = if is_found { count } else { 0 };
            assert_eq!(found.await.unwrap().len(), expected, "{mode:?}");
        }
    }
}

async fn requests_are_paged_newest_first(db: &TestStore) {
    let all: Vec<_> = (1..=5)
        .map(|number| request(number, "acme", Mode::Test))
        .collect();
    insert(db, all.clone()).await;
    let (scope, filter) = (
        scope(Some(&["acme"]), Mode::Test),
        RequestLogFilter::default(),
    );
    let (mut after, mut found) = (None, Vec::new());
    loop {
        let request = CursorRequest { after, limit: 2 };
        let page = db
            .store
            .request_log_page(&scope, &filter, &request)
            .await
            .unwrap();
        found.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    found.reverse();
    assert_eq!(found, all);
}

/// More calls than one page examines come after the one that is sought.
async fn rare_filter_is_searched_in_parts(db: &TestStore) {
    let sought = LoggedRequest {
        route: "/v1/rare".to_owned(),
        ..request(0, "acme", Mode::Test)
    };
    insert(db, [sought.clone()]).await;
    insert(
        db,
        (1..=EXAMINED_ROWS_MAX + 50).map(|number| request(number, "acme", Mode::Test)),
    )
    .await;
    let filter = RequestLogFilter {
        route: Some(sought.route.clone()),
        ..RequestLogFilter::default()
    };
    let scope = scope(None, Mode::Test);
    let request = first_page(10);
    let first = db.store.request_log_page(&scope, &filter, &request);
    let first = first.await.unwrap();
    assert_eq!(first.items, []);
    let next = CursorRequest {
        after: first.next,
        limit: 10,
    };
    assert!(next.after.is_some());
    let second = db
        .store
        .request_log_page(&scope, &filter, &next)
        .await
        .unwrap();
    assert_eq!((second.items, second.next), (vec![sought], None));
}

fn call(number: u32, organization: &str) -> LoggedCall {
    LoggedCall {
        id: CallLogId::at(at(number.into()), number.into()),
        organization: organization.to_owned(),
        mode: Mode::Test,
        request_id: "req_1".to_owned(),
        kind: LoggedCallKind::Plugin,
        supplier: supplier(),
        capability: "hotel_booking".to_owned(),
        function: "book".to_owned(),
        target: String::new(),
        started_at: at(0),
        duration_us: 9,
        outcome: "timed_out".to_owned(),
        is_failure: true,
        detail: Some("no response".to_owned()),
        status: None,
        request_bytes: 0,
        response_bytes: 0,
    }
}

async fn request_has_its_bodies_and_the_calls_beneath_it(db: &TestStore) {
    let one = request(1, "acme", Mode::Test);
    let bodies = LoggedBodies {
        request: LoggedBody {
            bytes: 2,
            text: Some("{}".to_owned()),
        },
        response: LoggedBody {
            bytes: 90_000,
            text: None,
        },
    };
    let calls = [
        call(1, "acme"),
        LoggedCall {
            kind: LoggedCallKind::Http,
            status: Some(200),
            is_failure: false,
            ..call(2, "acme")
        },
        call(3, "other"),
    ];
    let entries = [(one.clone(), Some(bodies.clone()))];
    commit(&db.store, |write| {
        write.insert_request_log(&entries).insert_call_log(&calls)
    })
    .await;
    let acme = tenant_of("acme", Mode::Test);
    let found = db.store.request_log_bodies(&acme, &one.id).await.unwrap();
    assert_eq!(found, Some(bodies));
    let other = tenant_of("other", Mode::Test);
    let found = db.store.request_log_bodies(&other, &one.id).await.unwrap();
    assert_eq!(found, None);
    let found = db.store.calls_of_request(&acme, "req_1", 10).await.unwrap();
    assert_eq!(found, calls[..2]);
    let found = db
        .store
        .failed_calls(&scope(None, Mode::Test), &supplier(), 10)
        .await;
    assert_eq!(found.unwrap(), [calls[2].clone(), calls[0].clone()]);
}

fn statistics_key(organization: Option<&str>, host: &str) -> StatisticsKey {
    StatisticsKey {
        organization: organization.map(str::to_owned),
        mode: Mode::Test,
        resolution: TimeResolution::Minute,
        subject: StatisticsSubject::Total,
        at: at(0),
        name: String::new(),
        operation: String::new(),
        host: host.to_owned(),
    }
}

fn two_calls() -> CallStatistics {
    let mut calls = CallStatistics::default();
    calls.add_call(1_500, CallResult::Succeeded);
    calls.add_call(70_000, CallResult::ServerError);
    calls
}

async fn statistics_of_hosts_are_added_up(db: &TestStore) {
    let supplier_key = StatisticsKey {
        subject: StatisticsSubject::Supplier,
        name: "SUPPLIER_A".to_owned(),
        operation: "hotel_booking.book".to_owned(),
        ..statistics_key(None, "one")
    };
    let rows = [
        (statistics_key(None, "one"), two_calls()),
        (statistics_key(None, "two"), two_calls()),
        (statistics_key(Some("acme"), "one"), two_calls()),
        (supplier_key, two_calls()),
    ];
    let euros = |organization: Option<&str>| BookedAmount {
        organization: organization.map(str::to_owned),
        mode: Mode::Test,
        at: at(0),
        bookings: 1,
        amount: euros(100),
    };
    let amounts = [euros(None), euros(Some("acme"))];
    for _ in 0..2 {
        commit(&db.store, |write| {
            write.add_statistics(&rows).add_booked_amounts(&amounts)
        })
        .await;
    }
    let minute = TimeResolution::Minute;
    for (organizations, count) in [(None, 8), (Some(&["acme"][..]), 4), (Some(&["x"]), 0)] {
        let scope = scope(organizations, Mode::Test);
        let found = db.store.statistics(&scope, minute, at(0)).await.unwrap();
        let total = found
            .iter()
            .find(|one| one.subject == StatisticsSubject::Total);
        let total = total.map(|group| group.calls).unwrap_or_default();
        assert_eq!((total.count, total.server_errors), (count, count / 2));
        assert_eq!(total.buckets.iter().sum::<u64>(), count);
        assert_eq!(total.duration_us_max, if count > 0 { 70_000 } else { 0 });
        let booked = overview(&db.store, &scope).await.booked;
        let expected = if count > 0 {
            vec![(super::euros(200), 2)]
        } else {
            vec![]
        };
        assert_eq!(booked, expected);
    }
    let all = scope(None, Mode::Test);
    let suppliers = db
        .store
        .supplier_statistics(&all, minute, at(0))
        .await
        .unwrap();
    let [supplier] = &suppliers[..] else {
        panic!("{suppliers:?}");
    };
    assert_eq!(
        (supplier.name.as_str(), supplier.calls.count),
        ("SUPPLIER_A", 4)
    );
    assert_eq!(db.store.statistics(&all, minute, at(1)).await.unwrap(), []);
    assert_eq!(
        db.store
            .statistics(&all, TimeResolution::Hour, at(0))
            .await
            .unwrap(),
        []
    );
}

/// Returns what the overview shows of all times.
async fn overview(store: &Store, scope: &TenantScope) -> OverviewSnapshot {
    let limits = OverviewLimits {
        booked_since: at(0),
        remarkable_since: at(0),
        ..super::console::limits(false)
    };
    store.overview(scope, limits).await.unwrap()
}

/// Inserts three requests with bodies, three calls, statistics and two remarkable calls, of which an
/// API call made the one that it returns.
async fn insert_records(store: &Store) -> RemarkableCall {
    let bodies = Some(LoggedBodies::default());
    let numbers = [1, 2, 3];
    let entries = numbers.map(|number| (request(number, "acme", Mode::Test), bodies.clone()));
    let calls = numbers.map(|number| call(number, "acme"));
    let remarkable = RemarkableCall {
        tenant: tenant_of("acme", Mode::Test),
        at: at(0),
        supplier: supplier(),
        operation: "hotel_booking.book".to_owned(),
        reason: RemarkableReason::Slow,
        request_id: "req_3".to_owned(),
        duration_us: 5,
        outcome: "done".to_owned(),
    };
    let background = RemarkableCall {
        request_id: "job_1".to_owned(),
        ..remarkable.clone()
    };
    let rows = [(statistics_key(None, "one"), two_calls())];
    commit(store, |write| {
        write
            .insert_request_log(&entries)
            .insert_call_log(&calls)
            .add_statistics(&rows)
            .insert_remarkable_calls(&[remarkable.clone(), background])
    })
    .await;
    remarkable
}

async fn entries_are_counted_by_period(db: &TestStore) {
    const MINUTE: u32 = 65_536;
    let numbers = [0, 1, 2, MINUTE, MINUTE + 1, 3 * MINUTE];
    insert(
        db,
        numbers.map(|number| request(number, "acme", Mode::Test)),
    )
    .await;
    insert(db, [request(5, "b.c", Mode::Live)]).await;
    let period = |number: u32| LogPeriod::at(LogTable::Requests, at(number.into()));
    let (first, second, last) = (period(0), period(MINUTE), period(3 * MINUTE));
    let all = [(&first, 3), (&second, 2), (&last, 1)];
    for (mode, from, to, expected) in [
        (Mode::Test, &first, None, &all[..]),
        (Mode::Test, &second, None, &all[1..]),
        (Mode::Test, &first, Some(&second), &all[..2]),
        (Mode::Test, &second, Some(&second), &all[1..2]),
        (Mode::Live, &first, None, &[(&first, 1)]),
        (Mode::Live, &second, None, &[]),
    ] {
        let counted = db.store.log_counts(LogTable::Requests, mode, from, to);
        let counted = counted.await.unwrap();
        let counted: Vec<_> = counted.iter().map(|(period, n)| (period, *n)).collect();
        assert_eq!(counted, expected, "{from:?} to {to:?}");
    }
}

async fn old_records_are_purged(db: &TestStore) {
    let store = &db.store;
    let remarkable = insert_records(store).await;
    let all = scope(None, Mode::Test);
    // Only calls that an API call made are shown.
    assert_eq!(overview(store, &all).await.remarkable, [remarkable]);
    let purge = async |log, mode, limit| store.purge_log(log, mode, at(3), limit).await.unwrap();
    for (mode, limit, purged) in [(Mode::Live, 9, 0), (Mode::Test, 1, 1), (Mode::Test, 9, 1)] {
        assert_eq!(purge(LogTable::Requests, mode, limit).await, purged);
    }
    assert_eq!(purge(LogTable::Calls, Mode::Test, 9).await, 2);
    let request_id = request(3, "acme", Mode::Test).id.to_string();
    let call_id = call(3, "acme").id.to_string();
    for (log, kept) in [(LogTable::Requests, request_id), (LogTable::Calls, call_id)] {
        let all = LogPeriod::at(log, Timestamp(0));
        let counted = store.log_counts(log, Mode::Test, &all, None).await.unwrap();
        assert_eq!(counted, [(LogPeriod::of_entry(&kept), 1)]);
        let oldest = store.oldest_log_id(log, Mode::Test).await.unwrap();
        assert_eq!(oldest, Some(kept));
    }
    let acme = tenant_of("acme", Mode::Test);
    for number in [1, 2, 3] {
        let id = request(number, "acme", Mode::Test).id;
        let bodies = store.request_log_bodies(&acme, &id).await.unwrap();
        assert_eq!(bodies.is_some(), number == 3);
    }
    let later = at(1);
    for (resolution, purged) in [(TimeResolution::Hour, 0), (TimeResolution::Minute, 1)] {
        let found = store.purge_statistics(resolution, later, 9).await;
        assert_eq!(found.unwrap(), purged);
    }
    assert_eq!(store.purge_remarkable_calls(later, 9).await.unwrap(), 2);
}

/// The statements of pages, each with its index.
async fn expectations() -> Vec<(Statement, &'static str)> {
    let db = TestStore::sqlite().await;
    let (store, mut plans) = (&db.store, Expectations::new(&db));
    let page = CursorRequest {
        after: Some(Cursor::new(at(1), "rql_9")),
        limit: 50,
    };
    let any = RequestLogFilter::default();
    let failed = RequestLogFilter {
        status: StatusFilter::parse("5xx"),
        ..RequestLogFilter::default()
    };
    let of_a_time = RequestLogFilter {
        from: Some(at(0)),
        to: Some(at(9)),
        ..RequestLogFilter::default()
    };
    let (one, all) = (scope(Some(&["demo"]), Mode::Test), scope(None, Mode::Test));
    for (scope, filter, index) in [
        (&one, &any, "request_log_pkey"),
        (&all, &any, "request_log_mode"),
        (&all, &of_a_time, "request_log_mode"),
        (&one, &failed, "request_log_failed"),
        (&all, &failed, "request_log_failed_mode"),
    ] {
        plans
            .add(index, store.request_log_page(scope, filter, &page))
            .await;
    }
    for (statement, _) in &plans.all {
        let bounds = ["id <", "id >"].map(|bound| statement.sql.matches(bound).count());
        // SQLite would begin at either of two bounds, and read all rows between them.
        assert!(bounds.iter().all(|count| *count <= 1), "{}", statement.sql);
    }
    let found = store.requests_with_id(None, None, "req_7", 10);
    plans.add("request_log_request", found).await;
    let ids = ["req_7".to_owned()];
    for scope in [&one, &all] {
        let found = store.logged_request_ids(scope, &ids);
        plans.add("request_log_request", found).await;
    }
    let (tenant, supplier, id) = (tenant(), supplier(), RequestLogId::from_bits(1));
    let bodies = store.request_log_bodies(&tenant, &id);
    plans.add("request_log_body_pkey", bodies).await;
    let calls = store.calls_of_request(&tenant, "req_7", 10);
    plans.add("call_log_pkey", calls).await;
    let calls = store.failed_calls(&all, &supplier, 10);
    plans.add("call_log_failed", calls).await;
    let hour = TimeResolution::Hour;
    let statistics = store.supplier_statistics(&all, hour, Timestamp(1));
    plans.add("statistics_pkey", statistics).await;
    db.remove().await;
    plans.all
}

#[tokio::test]
async fn sqlite_plans_of_the_log_use_expected_indexes() {
    // Tables without row ids are their own primary key.
    let expectations = expectations().await.into_iter();
    let (own, other): (Vec<_>, Vec<_>) = expectations
        .partition(|(_, index)| matches!(*index, "request_log_body_pkey" | "statistics_pkey"));
    check_sqlite_plans(other, |plan, _| !plan.contains("TEMP B-TREE")).await;
    let db = TestStore::sqlite().await;
    for (statement, _) in own {
        let plan = sqlite_plan(&db, &statement).await;
        assert!(
            plan.contains("USING PRIMARY KEY"),
            "{}\n{plan}",
            statement.sql
        );
    }
    db.remove().await;
}

/// Enough rows to make a full scan a bad plan.
const FILL: &[&str] = &[
    "INSERT INTO request_log SELECT CASE WHEN n % 10 = 0 THEN 'demo' ELSE 'o' || n % 7 END, 'test', \
       'rql_' || lpad(CAST(n AS text), 9, '0'), 'req_' || n, n, 'GET', '/v1/a', '', \
       CASE WHEN n % 100 = 0 THEN 500 ELSE 200 END, CASE WHEN n % 100 = 0 THEN 5 END, 1, NULL, 'org', \
       NULL, NULL, 'h' FROM generate_series(1, 20000) AS n",
    "INSERT INTO request_log_body SELECT organization, mode, id, 1, NULL, 1, NULL FROM request_log",
    "INSERT INTO call_log SELECT organization, mode, request_id, 'cll_' || id, 'plugin', \
       'SUPPLIER_' || status, 'c', 'f', '', at, 1, 'o', CASE WHEN status = 500 THEN 1 ELSE 0 END, \
       NULL, NULL, 0, 0 FROM request_log",
    "INSERT INTO statistics SELECT organization, mode, 'hour', 'supplier', at, 'n', 'o', 'h', \
       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 FROM request_log",
    "ANALYZE",
];

#[tokio::test]
async fn postgres_plans_of_the_log_use_expected_indexes() {
    check_postgres_plans(FILL, expectations().await, |plan, index| {
        names(plan, index) && !plan.contains("Seq Scan")
    })
    .await;
}
