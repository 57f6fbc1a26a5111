//! Lists of bookings across users, and the timeline of one.

use super::console::{first_page, scope, tenant_of};
use super::plan::{Expectations, check_postgres_plans, check_sqlite_plans, names};
use super::*;
use crate::bounded_search::AFTER_ALL_IDS;
use crate::statement::Statement;
use crate::tests::flight::flight;
use host_domain::booking::BookingStatus;
use host_domain::console::booking::{
    AnyBookingKind, BookingScopeFilter, TimelineContent, TimelineEntry,
};
use host_domain::console::{AnyBooking, TenantScope, UnresolvedFilter};
use host_domain::event::Product;
use host_domain::flight::booking::FlightBooking;
use host_domain::id::{AuditEntryId, EventId, SubscriptionId};
use host_domain::page::{Cursor, CursorRequest};
use host_domain::remote_call::AttemptOutcome;
use host_domain::webhook::{DeliveryStatus, Subscription};
use serde_json::json;

on_both_databases!(
    bookings_are_listed_by_scope_and_filter,
    booking_of_any_tenant_is_found,
    pages_of_both_kinds_are_one_list,
    rare_booking_is_found_by_searching_further,
    search_among_many_organizations_ends_without_the_id_of_another_one,
    timeline_has_what_all_tables_say_of_the_booking,
    call_of_timeline_is_open_if_the_list_of_open_outcomes_has_it,
);

fn id(booking: &AnyBooking) -> u128 {
    let id = match booking {
        AnyBooking::Hotel(booking) => &booking.id,
        AnyBooking::Flight(booking) => &booking.id,
    };
    u128::from_str_radix(&id.as_str()[4..], 16).unwrap()
}

async fn page(
    store: &Store,
    scope: &TenantScope,
    filter: &BookingScopeFilter,
    page: &CursorRequest,
) -> (Vec<u128>, Option<Cursor>) {
    let found = store.booking_page(scope, filter, page).await.unwrap();
    (found.items.iter().map(id).collect(), found.next)
}

/// Three hotel and two flight bookings, of two organizations, users and suppliers, and one of the
/// other mode. Their numbers are their order in time.
async fn insert_bookings(store: &Store) {
    let mut referenced = booking(1);
    referenced.reference_id = Some("order-1".to_owned());
    referenced.supplier_reference = Some("H-1".to_owned());
    let mut foreign = booking(3);
    foreign.owner.tenant.organization = "another".to_owned();
    foreign.owner.user = "ann".to_owned();
    let mut live = booking(6);
    live.owner.tenant.mode = Mode::Live;
    for booking in [&referenced, &booking(2), &foreign, &live] {
        store.commit(inserting(booking)).await.unwrap();
    }
    let failed = moved(&booking(2), BookingState::Failed { absence: None });
    store.commit(updating(&failed)).await.unwrap();
    let flights = [
        FlightBooking {
            supplier: other_supplier(),
            reference_id: Some("order-1".to_owned()),
            ..flight(4)
        },
        FlightBooking {
            supplier_reference: Some("F-5".to_owned()),
            ..flight(5)
        },
    ];
    for flight in &flights {
        store.commit(inserting(flight)).await.unwrap();
    }
}

async fn bookings_are_listed_by_scope_and_filter(db: &TestStore) {
    insert_bookings(&db.store).await;
    let all = scope(None, Mode::Test);
    let demo = scope(Some(&["demo"]), Mode::Test);
    let both = scope(Some(&["another", "demo"]), Mode::Test);
    let any = BookingScopeFilter::default;
    let reference = |text: &str| BookingScopeFilter {
        reference: Some(text.to_owned()),
        ..any()
    };
    let user = |user: &str| BookingScopeFilter {
        user: Some(user.to_owned()),
        ..any()
    };
    let kind = |kind| BookingScopeFilter {
        kind: Some(kind),
        ..any()
    };
    let failed = BookingScopeFilter {
        status: Some(BookingStatus::Failed),
        ..any()
    };
    let by_supplier = BookingScopeFilter {
        supplier: Some(other_supplier()),
        ..any()
    };
    let by_time = BookingScopeFilter {
        created_from: Some(NOW.plus_ms(2)),
        created_to: Some(NOW.plus_ms(4)),
        ..any()
    };
    for (scope, filter, expected) in [
        (&all, any(), &[5, 4, 3, 2, 1][..]),
        (&demo, any(), &[5, 4, 2, 1]),
        (&scope(Some(&["another"]), Mode::Test), any(), &[3]),
        (&both, any(), &[5, 4, 3, 2, 1]),
        (&scope(Some(&[]), Mode::Test), any(), &[]),
        (&scope(None, Mode::Live), any(), &[6]),
        (&scope(Some(&["another"]), Mode::Live), any(), &[]),
        (&all, kind(AnyBookingKind::Hotel), &[3, 2, 1]),
        (&all, kind(AnyBookingKind::Flight), &[5, 4]),
        (&all, failed.clone(), &[2]),
        (&demo, failed, &[2]),
        (&all, by_supplier, &[4]),
        (&all, user("ann"), &[3]),
        (&demo, user("ann"), &[]),
        (&demo, user(Owner::ORGANIZATION_USER), &[5, 4, 2, 1]),
        (&all, by_time.clone(), &[4, 3, 2]),
        (&demo, by_time, &[4, 2]),
        (&all, reference("order-1"), &[4, 1]),
        (&demo, reference("H-1"), &[1]),
        (&demo, reference("F-5"), &[5]),
        (&all, reference(BookingId::from_bits(3).as_str()), &[3]),
        (&demo, reference(BookingId::from_bits(3).as_str()), &[]),
        (&all, reference("order"), &[]),
        (
            &all,
            BookingScopeFilter {
                status: Some(BookingStatus::Created),
                ..reference("order-1")
            },
            &[4, 1],
        ),
    ] {
        let (found, next) = page(&db.store, scope, &filter, &first_page(10)).await;
        assert_eq!(found, expected, "{scope:?} {filter:?}");
        assert_eq!(next, None, "{scope:?} {filter:?}");
    }
}

async fn booking_of_any_tenant_is_found(db: &TestStore) {
    insert_bookings(&db.store).await;
    for number in 1..=6 {
        let id = BookingId::from_bits(number);
        assert!(
            db.store
                .booking_of_either_kind_unscoped(&id)
                .await
                .unwrap()
                .is_some()
        );
    }
    let unknown = BookingId::from_bits(7);
    assert_eq!(
        db.store
            .booking_of_either_kind_unscoped(&unknown)
            .await
            .unwrap(),
        None
    );
}

async fn pages_of_both_kinds_are_one_list(db: &TestStore) {
    insert_bookings(&db.store).await;
    let supplier = BookingScopeFilter {
        supplier: Some(supplier()),
        ..BookingScopeFilter::default()
    };
    for (filter, expected) in [
        (BookingScopeFilter::default(), vec![5, 4, 3, 2, 1]),
        (supplier, vec![5, 3, 2, 1]),
    ] {
        let (mut request, mut found) = (first_page(2), Vec::new());
        loop {
            let all = scope(None, Mode::Test);
            let (items, next) = page(&db.store, &all, &filter, &request).await;
            assert!(items.len() <= 2);
            found.extend(items);
            if next.is_none() {
                break;
            }
            request.after = next;
        }
        assert_eq!(found, expected, "{filter:?}");
    }
}

/// Inserts one booking more than a page examines, with the numbers from 10 to 5010, which are their
/// order in time.
async fn insert_many_bookings(store: &Store, organization: &str) {
    let insert = statement!(
        "INSERT INTO hotel_booking (organization, mode, id, user_id, status, supplier, hotel_id, \
         total_minor, currency, created_at, updated_at, version, document) \
         WITH RECURSIVE numbers(n) AS (SELECT 10 UNION ALL SELECT n + 1 FROM numbers \
           WHERE n < 5010) \
         SELECT $1, 'test', 'bkg_x' || n, 'org', 'CREATED', 'SUPPLIER_A', 'htl_1', 1, 'EUR', \
           $2 + n, $2, 1, '{}' FROM numbers",
        organization,
        NOW,
    );
    store.execute_statement(insert).await.unwrap();
}

/// Checks that booking 1 is on the second page, because the first one ends after 5000 bookings.
async fn check_second_page(store: &Store, scope: &TenantScope, filter: &BookingScopeFilter) {
    let (found, next) = page(store, scope, filter, &first_page(10)).await;
    assert_eq!(found, [], "{scope:?}");
    let expected = Cursor::new(NOW.plus_ms(11), AFTER_ALL_IDS);
    assert_eq!(next, Some(expected), "{scope:?}");
    let request = CursorRequest {
        after: next,
        limit: 10,
    };
    let further = page(store, scope, filter, &request).await;
    assert_eq!(further, (vec![1], None), "{scope:?}");
}

async fn rare_booking_is_found_by_searching_further(db: &TestStore) {
    db.store.commit(inserting(&booking(1))).await.unwrap();
    let failed = moved(&booking(1), BookingState::Failed { absence: None });
    db.store.commit(updating(&failed)).await.unwrap();
    insert_many_bookings(&db.store, "demo").await;
    let filter = BookingScopeFilter {
        status: Some(BookingStatus::Failed),
        ..BookingScopeFilter::default()
    };
    for scope in [scope(None, Mode::Test), scope(Some(&["demo"]), Mode::Test)] {
        check_second_page(&db.store, &scope, &filter).await;
    }
}

/// Returns more organizations than a list reads one range for each of.
fn many_organizations() -> TenantScope {
    let organizations = ["demo", "b", "c", "d", "e", "f", "g", "h", "i"];
    scope(Some(&organizations), Mode::Test)
}

async fn search_among_many_organizations_ends_without_the_id_of_another_one(db: &TestStore) {
    db.store.commit(inserting(&booking(1))).await.unwrap();
    insert_many_bookings(&db.store, "another").await;
    let created = BookingScopeFilter {
        status: Some(BookingStatus::Created),
        ..BookingScopeFilter::default()
    };
    for filter in [BookingScopeFilter::default(), created] {
        check_second_page(&db.store, &many_organizations(), &filter).await;
    }
}

/// A subscription of the tenant and one event of the booking before it and one after it.
async fn insert_events(store: &Store, booking: &HotelBooking) {
    let event = |number: u128, ms| OutboxEvent {
        id: EventId::from_bits(number),
        event_type: format!("hotel.booking.{number}"),
        product: Product::Hotel,
        booking_id: Some(booking.id.clone()),
        payload: "{}".to_owned(),
        created_at: NOW.plus_ms(ms),
    };
    let (tenant, id) = (tenant(), SubscriptionId::from_bits(1));
    let url = "https://receiver.example/hook".to_owned();
    let types = vec!["*".to_owned()];
    let subscription = Subscription::new(id, tenant.clone(), Product::Hotel, url, types, None, NOW);
    commit(store, |write| write.publish(&tenant, &event(1, 1))).await;
    commit(store, |write| {
        write.insert_subscription(&subscription, b"sealed")
    })
    .await;
    commit(store, |write| write.publish(&tenant, &event(2, 2))).await;
}

async fn insert_rows_of_other_tables(store: &Store, booking: &HotelBooking, organization: &str) {
    let request = statement!(
        "INSERT INTO request_log (organization, mode, id, request_id, at, method, route, path, \
         status, duration_us, user_id, booking_id, code, host) \
         VALUES ($1, 'test', $2, 'req_1', $3, 'POST', '/v1/hotel/prebook', '/', 201, 1500, 'org', \
         $4, NULL, 'host')",
        organization,
        format!("rql_{organization}"),
        NOW,
        booking.id.as_str(),
    );
    let action = statement!(
        "INSERT INTO audit_log (sequence, at, organization, mode, actor_kind, actor_id, actor_name, \
         action, target_id, body, hash) \
         VALUES ($1, $2, $3, 'test', 'account', 'acc_1', 'ada@example.com', 'booking.revealed', $4, '', '')",
        i64::from(u32::try_from(organization.len()).unwrap()),
        NOW.plus_ms(6),
        organization,
        booking.id.as_str(),
    );
    for insert in [request, action] {
        store.execute_statement(insert).await.unwrap();
    }
    let pending = json!({
        "action": "booking.settled",
        "actor": {"type": "account", "id": "acc_2", "name": ""},
        "target": {"type": "booking", "id": booking.id},
        "organization": organization,
        "mode": "test",
    });
    let id = AuditEntryId::from_bits(u128::try_from(organization.len()).unwrap());
    commit(store, |write| {
        write.insert_pending_audit_entry(&id, NOW.plus_ms(7), &pending)
    })
    .await;
}

async fn timeline_has_what_all_tables_say_of_the_booking(db: &TestStore) {
    let (store, tenant, booking) = (&db.store, tenant(), booking(1));
    store.commit(inserting(&booking)).await.unwrap();
    let entry = BookingHistoryEntry {
        occurred_at: NOW,
        reason: Some("why".to_owned()),
        ..history_entry(&booking, 1)
    };
    commit(store, |write| write.append_booking_history(&tenant, &entry)).await;
    let call = new_attempt(AttemptId::from_bits(1), &booking.id, "reference");
    let sent = unit_at(NOW.plus_ms(4), |write| write.record_attempt(&tenant, &call));
    store.commit(sent).await.unwrap();
    let unknown = AttemptOutcome::Unknown;
    let finished = unit_at(NOW.plus_ms(5), |write| {
        write.finish_attempt(&tenant, &call.id, unknown, None, Some("no answer"))
    });
    store.commit(finished).await.unwrap();
    insert_events(store, &booking).await;
    for organization in ["demo", "another"] {
        insert_rows_of_other_tables(store, &booking, organization).await;
    }
    let timeline = store.booking_timeline(&tenant, &booking.id, NOW, 100);
    let timeline = timeline.await.unwrap();
    let found: Vec<String> = timeline.iter().map(summary).collect();
    assert_eq!(
        found,
        [
            "0 POST /v1/hotel/prebook 201 1500 req_1",
            "0 made 1 None Created why",
            "1 hotel.booking.1 published",
            "2 hotel.booking.2 published",
            "2 hotel.booking.2 Pending https://receiver.example/hook",
            "4 book SUPPLIER_A Unknown no answer",
            "6 booking.revealed ada@example.com",
            "7 booking.settled acc_2",
        ]
    );
    let latest = store.booking_timeline(&tenant, &booking.id, NOW, 2).await;
    assert_eq!(latest.unwrap(), timeline[6..]);
    let live = tenant_of("demo", Mode::Live);
    let other = store.booking_timeline(&live, &booking.id, NOW, 100).await;
    assert_eq!(other.unwrap(), []);
}

async fn call_of_timeline_is_open_if_the_list_of_open_outcomes_has_it(db: &TestStore) {
    let (store, tenant, booking) = (&db.store, tenant(), booking(1));
    store.commit(inserting(&booking)).await.unwrap();
    let (unknown, done) = (AttemptOutcome::Unknown, AttemptOutcome::Succeeded);
    let calls = [
        (1, "prebook", Some(unknown)),
        (2, "book", Some(unknown)),
        (3, "cancel", Some(done)),
        (4, "void", None),
        (5, "decide_refund", None),
        (6, "capture", None),
    ];
    for (number, step, outcome) in calls {
        let id = AttemptId::from_bits(number);
        let mut call = new_attempt(id.clone(), &booking.id, &format!("reference {number}"));
        call.step = step.to_owned();
        let sent_at = NOW.plus_ms(i64::try_from(number).unwrap());
        let mut write = unit_at(sent_at, |write| write.record_attempt(&tenant, &call));
        if let Some(outcome) = outcome {
            write.finish_attempt(&tenant, &id, outcome, None, None);
        }
        store.commit(write).await.unwrap();
    }
    // The call for the capture is under way.
    let sent_before = NOW.plus_ms(5);
    let timeline = store.booking_timeline(&tenant, &booking.id, sent_before, 9);
    let open = timeline.await.unwrap().into_iter();
    let open = open.filter_map(|entry| match entry.content {
        TimelineContent::Call(call) if call.is_open => Some(call.step),
        _ => None,
    });
    let open: Vec<String> = open.collect();
    assert_eq!(open, ["book", "void", "decide_refund"]);
    let (filter, page) = (UnresolvedFilter::default(), first_page(9));
    let scope = scope(None, tenant.mode);
    let listed = store.unresolved_page(&scope, &filter, sent_before, &page);
    let listed = listed.await.unwrap().items.into_iter();
    let listed: Vec<String> = listed.map(|row| row.attempt.call.step).collect();
    assert_eq!(listed, open);
}

fn summary(entry: &TimelineEntry) -> String {
    let content = match &entry.content {
        TimelineContent::Request(request) => format!(
            "{} {} {} {} {}",
            request.method, request.route, request.status, request.duration_us, request.request_id
        ),
        TimelineContent::Transition(transition) => format!(
            "{} {:?} {:?} {}",
            transition.event,
            transition.from_status,
            transition.to_status,
            transition.reason.as_deref().unwrap_or_default()
        ),
        TimelineContent::Call(call) => {
            assert_eq!(call.client_reference, "reference");
            assert_eq!(call.finished_at, Some(NOW.plus_ms(5)));
            assert_eq!(call.outcome, AttemptOutcome::Unknown);
            let evidence = call.evidence.as_deref().unwrap_or_default();
            format!(
                "{} {} {:?} {evidence}",
                call.step, call.target, call.outcome
            )
        }
        TimelineContent::Event { event_type, .. } => format!("{event_type} published"),
        TimelineContent::Delivery(delivery) => {
            assert_eq!(delivery.status, DeliveryStatus::Pending);
            format!(
                "{} {:?} {}",
                delivery.event_type, delivery.status, delivery.url
            )
        }
        TimelineContent::Action { action, actor } => format!("{} {actor}", action.as_str()),
    };
    format!("{} {content}", entry.at.since(NOW))
}

async fn expectations() -> Vec<(Statement, &'static [&'static str])> {
    let db = TestStore::sqlite().await;
    let (store, mut plans) = (&db.store, Expectations::new(&db));
    let all = scope(None, Mode::Test);
    let demo = scope(Some(&["demo"]), Mode::Test);
    let two = scope(Some(&["org7", "org8"]), Mode::Test);
    let many = many_organizations();
    let any = BookingScopeFilter::default;
    let failed = BookingScopeFilter {
        status: Some(BookingStatus::Failed),
        ..any()
    };
    let reference = BookingScopeFilter {
        reference: Some("reference-7".to_owned()),
        ..any()
    };
    let by_mode: &[&str] = &["hotel_booking_mode", "flight_booking_mode"];
    let by_scope: &[&str] = &["hotel_booking_scope", "flight_booking_scope"];
    let by_reference: &[&str] = &[
        "hotel_booking_id",
        "hotel_booking_supplier_reference",
        "hotel_booking_reference",
        "flight_booking_id",
        "flight_booking_supplier_reference",
        "flight_booking_reference",
    ];
    for (scope, filter, indexes) in [
        (&all, any(), by_mode),
        (&demo, any(), by_scope),
        (&all, failed.clone(), by_mode),
        (&demo, failed.clone(), by_scope),
        (&two, any(), by_scope),
        (&two, failed.clone(), by_scope),
        (&many, any(), by_mode),
        (&many, failed, by_mode),
        (&all, reference.clone(), by_reference),
        (&demo, reference, by_reference),
    ] {
        let after = Some(Cursor::new(NOW, "bkg_1"));
        for after in [None, after] {
            let request = CursorRequest { after, limit: 50 };
            plans
                .add(indexes, store.booking_page(scope, &filter, &request))
                .await;
        }
    }
    let id = BookingId::from_bits(1);
    let by_id: &[&str] = &["hotel_booking_id", "flight_booking_id"];
    plans
        .add(by_id, store.booking_of_either_kind_unscoped(&id))
        .await;
    let by_booking: &[&str] = &[
        "request_log_booking",
        "remote_call_attempt_number",
        "outbox_booking",
        "webhook_delivery_pkey",
        "webhook_delivery_attempt_pkey",
        "audit_log_target",
    ];
    let tenant = tenant();
    let timeline = store.booking_timeline(&tenant, &id, NOW, 100);
    plans.add(by_booking, timeline).await;
    db.remove().await;
    plans.all
}

#[tokio::test]
async fn sqlite_plans_of_bookings_use_expected_indexes() {
    for (statement, indexes) in expectations().await {
        for index in indexes {
            check_sqlite_plans(vec![(statement.clone(), index)], |_, _| true).await;
        }
    }
}

#[tokio::test]
async fn postgres_plans_of_bookings_use_expected_indexes() {
    check_postgres_plans(FILL, expectations().await, |plan, indexes| {
        // Changes stay there for about a second, so there are few.
        let plan = plan.replace("Seq Scan on audit_pending", "");
        indexes.iter().all(|index| names(&plan, index)) && !plan.contains("Seq Scan on")
    })
    .await;
}

/// Inserts enough rows to make a full scan a bad plan.
const FILL: &[&str] = &[
    "INSERT INTO hotel_booking SELECT CASE WHEN n % 2 = 0 THEN 'demo' ELSE 'org' || n % 50 END, \
       'test', 'bkg_' || n, 'org', CASE WHEN n % 100 = 0 THEN 'FAILED' ELSE 'CREATED' END, \
       'SUPPLIER_A', 'H-' || n, 'reference-' || n % 1000, 'htl_1', 1, 'EUR', \
       CAST(1800000000000 AS bigint) - n, n, 1, '{}' \
     FROM generate_series(1, 40000) AS n",
    "INSERT INTO flight_booking SELECT CASE WHEN n % 2 = 0 THEN 'demo' ELSE 'org' || n % 50 END, \
       'test', 'bkg_f' || n, 'org', CASE WHEN n % 100 = 0 THEN 'FAILED' ELSE 'CREATED' END, \
       'SUPPLIER_A', 'ord_' || n, n, NULL, n, CAST(1800000000000 AS bigint) - n, n, 1, '{}', \
       'reference-' || n % 1000 \
     FROM generate_series(1, 40000) AS n",
    "INSERT INTO remote_call_attempt SELECT 'demo', 'test', 'att_' || n, 'bkg_' || n, 'book', 1, \
       'SUPPLIER_A', 'ref-' || n, 'd', 'd', 'succeeded', 1, 0, n, NULL, NULL, NULL \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO outbox SELECT 'demo', 'test', 'evt_' || n, 'ping', 'hotel', 'bkg_' || n, '{}', n \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO request_log (organization, mode, id, request_id, at, method, route, path, status, \
       duration_us, user_id, booking_id, host) \
     SELECT 'demo', 'test', 'rql_' || n, 'req_' || n, n, 'POST', '/', '/', 200, 1, 'org', \
       'bkg_' || n, 'host' FROM generate_series(1, 20000) AS n",
    "INSERT INTO audit_log SELECT n, n, 'demo', 'test', 'account', 'acc_1', 'ada', 'booking.revealed', \
       'bkg_' || n, '', '' FROM generate_series(1, 20000) AS n",
    "INSERT INTO booking_history SELECT 'demo', 'test', 'bkg_' || n, 1, 'made', NULL, 'CREATED', \
       NULL, NULL, n FROM generate_series(1, 20000) AS n",
    "INSERT INTO webhook_delivery (organization, mode, id, subscription_id, event_id, status, \
       generation, attempt_count, created_at, pending_since) \
     SELECT 'demo', 'test', 'dlv_' || n || '-1', 'whs_' || n, 'evt_' || n, 'DELIVERED', 0, 1, n, n \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO webhook_delivery_attempt (organization, mode, delivery_id, generation, \
       attempt_number, duration_ms, created_at) \
     SELECT 'demo', 'test', 'dlv_' || n || '-1', 0, 1, 1, n FROM generate_series(1, 20000) AS n",
    "INSERT INTO webhook_subscription (organization, mode, id, product, url, event_types, status, \
       sealed_secret, created_at, updated_at, version) \
     SELECT CASE WHEN n <= 20 THEN 'demo' ELSE 'org' || n END, 'test', 'whs_' || n, 'hotel', \
       '', '', 'ACTIVE', '', n, n, 1 FROM generate_series(1, 2000) AS n",
    "VACUUM ANALYZE",
];
