//! Reads across users and organizations: each returns rows of its scope only.

use super::plan::{Expectations, check_sqlite_plans, scans};
use super::*;
use crate::tests::flight::flight;
use crate::{ApiKey, ListedJob, OverviewLimits, ParkedJobFilter};
use host_domain::booking::BookingStatus;
use host_domain::console::{
    ApiKeyFilter, ApiKeyStatus, BookingCount, OpenItem, OverviewCounts, TenantScope,
    UnresolvedFilter,
};
use host_domain::event::Product;
use host_domain::id::{EventId, KeyId, SettlementId, SubscriptionId};
use host_domain::page::CursorRequest;
use host_domain::remote_call::AttemptOutcome;
use host_domain::webhook::Subscription;

on_both_databases!(
    keys_are_listed_by_scope_and_filter,
    keys_are_paged_newest_first,
    organizations_are_those_of_keys_and_accounts,
    bookings_are_counted_by_status,
    parked_jobs_have_the_tenants_of_their_subjects,
    overview_counts_the_rows_of_its_scope,
    open_items_are_those_of_the_scope,
);

const SOON_MS: i64 = 10_000;

pub(super) fn scope(organizations: Option<&[&str]>, mode: Mode) -> TenantScope {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    TenantScope {
        organizations: organizations.map(owned),
        mode,
    }
}

/// Returns the request of the first page of a list.
pub(super) fn first_page(limit: u32) -> CursorRequest {
    CursorRequest { after: None, limit }
}

pub(super) fn tenant_of(organization: &str, mode: Mode) -> Tenant {
    Tenant {
        organization: organization.to_owned(),
        mode,
    }
}

pub(super) fn key(number: u8, organization: &str, mode: Mode) -> ApiKey {
    ApiKey {
        id: KeyId::from_bits(u128::from(number)),
        tenant: tenant_of(organization, mode),
        name: format!("Key {number}"),
        scopes: vec!["read".to_owned()],
        masked_key: format!("sk_test_…aB{number:02}"),
        created_at: NOW.plus_ms(i64::from(number)),
        expires_at: None,
        last_used_at: None,
        revoked_at: None,
    }
}

pub(super) async fn insert_keys(db: &TestStore, keys: &[ApiKey]) {
    for (number, key) in (0..).zip(keys) {
        commit(&db.store, |write| write.insert_api_key(key, &[number; 32])).await;
    }
}

/// Five keys: of two organizations and two modes, active, expired and revoked.
fn five_keys() -> [ApiKey; 5] {
    let (test, live) = (Mode::Test, Mode::Live);
    [
        ApiKey {
            name: "100% of_it".to_owned(),
            expires_at: Some(NOW.plus_ms(1)),
            ..key(1, "acme", test)
        },
        ApiKey {
            expires_at: Some(NOW),
            ..key(2, "acme", test)
        },
        ApiKey {
            revoked_at: Some(NOW),
            expires_at: Some(NOW),
            ..key(3, "zoo", test)
        },
        key(4, "acme", live),
        key(5, "zoo", test),
    ]
}

async fn keys_are_listed_by_scope_and_filter(db: &TestStore) {
    use ApiKeyStatus::{Active, Expired, Revoked};
    insert_keys(db, &five_keys()).await;
    let all = scope(None, Mode::Test);
    let acme = scope(Some(&["acme"]), Mode::Test);
    let both = scope(Some(&["acme", "zoo", "none"]), Mode::Test);
    for (scope, text, status, expected) in [
        (&all, None, None, &[5_u32, 3, 2, 1][..]),
        (&both, None, None, &[5, 3, 2, 1]),
        (&acme, None, None, &[2, 1]),
        (&scope(Some(&[]), Mode::Test), None, None, &[]),
        (&scope(None, Mode::Live), None, None, &[4]),
        (&scope(Some(&["zoo"]), Mode::Live), None, None, &[]),
        (&all, None, Some(Active), &[5, 1]),
        (&all, None, Some(Expired), &[2]),
        (&all, None, Some(Revoked), &[3]),
        (&all, Some("KEY"), None, &[5, 3, 2]),
        (&all, Some("ab05"), None, &[5]),
        (&all, Some("0%"), None, &[1]),
        (&all, Some("%"), None, &[1]),
        (&all, Some("f_i"), None, &[1]),
        (&all, Some("_"), None, &[5, 3, 2, 1]),
        (&all, Some("!"), None, &[]),
        (&acme, Some("key"), Some(Expired), &[2]),
    ] {
        let filter = ApiKeyFilter {
            text: text.map(str::to_owned),
            status,
        };
        let first = first_page(10);
        let page = db.store.api_key_page(scope, &filter, NOW, &first).await;
        let found: Vec<_> = page.unwrap().items.into_iter().map(|key| key.id).collect();
        let expected = ids(KeyId::from_bits, expected.iter().copied());
        assert_eq!(found, expected, "{scope:?} {filter:?}");
        let count = db.store.count_api_keys(scope, &filter, NOW).await.unwrap();
        assert_eq!(count, expected.len() as u64, "{scope:?} {filter:?}");
    }
    for key in five_keys() {
        assert_eq!(db.store.api_key_unscoped(&key.id).await.unwrap(), Some(key));
    }
    let unknown = KeyId::from_bits(9);
    assert_eq!(db.store.api_key_unscoped(&unknown).await.unwrap(), None);
}

async fn keys_are_paged_newest_first(db: &TestStore) {
    let mut keys: Vec<_> = (1..=5)
        .map(|number| key(number, "acme", Mode::Test))
        .collect();
    // The page ends between two keys of the same time.
    keys[2].created_at = keys[3].created_at;
    insert_keys(db, &keys).await;
    let (scope, filter) = (scope(None, Mode::Test), ApiKeyFilter::default());
    let (mut page, mut found) = (first_page(2), Vec::new());
    loop {
        let next = db.store.api_key_page(&scope, &filter, NOW, &page).await;
        let next = next.unwrap();
        assert!(next.items.len() <= 2);
        found.extend(next.items.into_iter().map(|key| key.name));
        page.after = next.next;
        if page.after.is_none() {
            break;
        }
    }
    assert_eq!(found, ["Key 5", "Key 4", "Key 3", "Key 2", "Key 1"]);
}

async fn organizations_are_those_of_keys_and_accounts(db: &TestStore) {
    insert_keys(db, &five_keys()).await;
    for (organization, account) in [("", "acc_1"), ("beta", "acc_1"), ("zoo", "acc_2")] {
        let insert = statement!(
            "INSERT INTO account_role (organization, account_id, role, created_at) \
             VALUES ($1, $2, $3, $4)",
            organization,
            account,
            if organization.is_empty() {
                "operator"
            } else {
                "viewer"
            },
            NOW,
        );
        db.store.execute_statement(insert).await.unwrap();
    }
    let found = db.store.organizations(10).await.unwrap();
    assert_eq!(found, ["acme", "beta", "zoo"]);
    assert_eq!(db.store.organizations(2).await.unwrap(), ["acme", "beta"]);
}

async fn bookings_are_counted_by_status(db: &TestStore) {
    let mut other = booking(3);
    other.owner.tenant.organization = "another".to_owned();
    other.owner.user = "somebody".to_owned();
    let mut live = booking(4);
    live.owner.tenant.mode = Mode::Live;
    let failed = booking(5);
    for booking in [&booking(1), &booking(2), &other, &live, &failed] {
        db.store.commit(inserting(booking)).await.unwrap();
    }
    let failed = moved(&failed, BookingState::Failed { absence: None });
    db.store.commit(updating(&failed)).await.unwrap();
    db.store.commit(inserting(&flight(6))).await.unwrap();
    let count = |status, hotels, flights| BookingCount {
        status,
        hotels,
        flights,
    };
    for (scope, expected) in [
        (
            scope(None, Mode::Test),
            vec![
                count(BookingStatus::Created, 3, 1),
                count(BookingStatus::Failed, 1, 0),
            ],
        ),
        (
            scope(Some(&["another"]), Mode::Test),
            vec![count(BookingStatus::Created, 1, 0)],
        ),
        (
            scope(Some(&["another", "demo"]), Mode::Test),
            vec![
                count(BookingStatus::Created, 3, 1),
                count(BookingStatus::Failed, 1, 0),
            ],
        ),
        (
            scope(None, Mode::Live),
            vec![count(BookingStatus::Created, 1, 0)],
        ),
        (scope(Some(&[]), Mode::Test), vec![]),
    ] {
        let mut found = db.store.booking_counts(&scope).await.unwrap();
        found.sort_by_key(|count| count.status);
        assert_eq!(found, expected, "{scope:?}");
    }
}

pub(super) fn limits(includes_jobs: bool) -> OverviewLimits {
    OverviewLimits {
        now: NOW,
        sent_before: NOW,
        expires_until: NOW.plus_ms(SOON_MS),
        deliveries_max: 2,
        items_max: 10,
        includes_jobs,
        booked_since: NOW,
        remarkable_since: NOW,
        remarkable_max: 10,
    }
}

/// Three deliveries of the tenant, one of another organization, and one of a deleted subscription.
async fn insert_deliveries(db: &TestStore) {
    let another = tenant_of("another", Mode::Test);
    let publications = [
        (tenant(), 1, 3_u32),
        // Deleted before the next one exists, so that the next event is not for it.
        (another.clone(), 3, 1),
        (another.clone(), 2, 1),
    ];
    for (owner, number, events) in publications {
        let id = SubscriptionId::from_bits(number);
        let url = "https://receiver.example/hook".to_owned();
        let types = vec!["*".to_owned()];
        let subscription = Subscription::new(
            id.clone(),
            owner.clone(),
            Product::Hotel,
            url,
            types,
            None,
            NOW,
        );
        commit(&db.store, |write| {
            write.insert_subscription(&subscription, b"sealed")
        })
        .await;
        for event in 0..events {
            let at = NOW.plus_ms(-1000 + i64::from(event));
            let event = OutboxEvent {
                id: EventId::from_bits(number * 100 + u128::from(event)),
                event_type: "ping".to_owned(),
                product: Product::Hotel,
                booking_id: None,
                payload: "{}".to_owned(),
                created_at: at,
            };
            commit(&db.store, |write| write.publish(&owner, &event)).await;
        }
        if number == 3 {
            let delete = statement!(
                "UPDATE webhook_subscription SET deleted_at = $1 WHERE id = $2",
                NOW,
                id.as_str(),
            );
            db.store.execute_statement(delete).await.unwrap();
        }
    }
}

/// Calls of the tenant: in progress, sent long ago, unknown and succeeded.
async fn insert_calls(db: &TestStore) {
    let calls = [
        (1, 0, None),
        (2, -1, None),
        (3, -2, Some(AttemptOutcome::Unknown)),
        (4, -3, Some(AttemptOutcome::Succeeded)),
    ];
    for (number, at_ms, outcome) in calls {
        let id = AttemptId::from_bits(number);
        let booking = BookingId::from_bits(number);
        let call = new_attempt(id.clone(), &booking, &format!("reference {number}"));
        let at = NOW.plus_ms(at_ms);
        let sent = unit_at(at, |write| write.record_attempt(&tenant(), &call));
        db.store.commit(sent).await.unwrap();
        if let Some(outcome) = outcome {
            commit(&db.store, |write| {
                write.finish_attempt(&tenant(), &id, outcome, None, None)
            })
            .await;
        }
    }
}

/// A parked job of a test booking, one of a live booking, one of each mode's supplier events, and
/// one that is not parked.
async fn insert_jobs(db: &TestStore) {
    let mut live = booking(2);
    live.owner.tenant.mode = Mode::Live;
    for booking in [&booking(1), &live] {
        db.store.commit(inserting(booking)).await.unwrap();
    }
    let subjects = [
        (booking(1).id.to_string(), Some(NOW.plus_ms(-4))),
        (live.id.to_string(), Some(NOW.plus_ms(-5))),
        ("test/SUPPLIER_A/1".to_owned(), Some(NOW.plus_ms(-6))),
        ("live/SUPPLIER_A/1".to_owned(), Some(NOW.plus_ms(-7))),
        ("bkg_x".to_owned(), None),
    ];
    for (subject, parked_at) in subjects {
        let insert = statement!(
            "INSERT INTO job (kind, subject, due_at, attempt_count, parked_at, created_at) \
             VALUES ('resume', $1, $2, 7, $3, $2)",
            subject,
            NOW,
            parked_at,
        );
        db.store.execute_statement(insert).await.unwrap();
    }
}

/// Parked jobs of a recovery, of decisions, and of an event of a supplier with an organization's name.
async fn insert_jobs_with_names(db: &TestStore) {
    let webhook = SubscriptionId::from_bits(1);
    let decision = SettlementId::from_bits(1);
    let jobs = [
        ("delivery_recovery", format!("test/{webhook}/1/2"), 3),
        ("settlement", format!("live/acme/{decision}"), 2),
        ("settlement", format!("test/acme/{decision}"), 1),
        ("supplier_event", format!("test/acme/{decision}"), 0),
        ("settlement", "test/short".to_owned(), -1),
    ];
    for (kind, subject, parked_ms) in jobs {
        let insert = statement!(
            "INSERT INTO job (kind, subject, due_at, attempt_count, parked_at, created_at) \
             VALUES ($1, $2, $3, 7, $4, $3)",
            kind,
            subject,
            NOW,
            NOW.plus_ms(-parked_ms),
        );
        db.store.execute_statement(insert).await.unwrap();
    }
}

async fn parked_jobs_have_the_tenants_of_their_subjects(db: &TestStore) {
    insert_jobs(db).await;
    insert_deliveries(db).await;
    insert_jobs_with_names(db).await;
    let row = |parked: ListedJob| {
        let tenant = parked.tenant;
        let tenant =
            tenant.map(|tenant| format!("{} {}", tenant.mode.as_str(), tenant.organization));
        let kind = parked.job.kind;
        format!("{kind} {}", tenant.as_deref().unwrap_or("none"))
    };
    let rows = |found: Vec<ListedJob>| found.into_iter().map(row).collect::<Vec<_>>();
    let all = db
        .store
        .parked_jobs_unscoped(ParkedJobFilter::default(), 99);
    let expected = [
        "resume none",
        "resume none",
        "resume live demo",
        "resume test demo",
        "delivery_recovery test demo",
        "settlement live acme",
        "settlement test acme",
        "supplier_event none",
        "settlement none",
    ];
    assert_eq!(rows(all.await.unwrap()), expected);
    let of_kind = ParkedJobFilter {
        kind: Some("delivery_recovery"),
        subject: None,
    };
    let found = db.store.parked_jobs_unscoped(of_kind, 99).await.unwrap();
    assert_eq!(rows(found), ["delivery_recovery test demo"]);
    let (test, live) = (Mode::Test, Mode::Live);
    let of_test = [
        "resume none",
        "resume test demo",
        "delivery_recovery test demo",
        "settlement test acme",
        "supplier_event none",
        "settlement none",
    ];
    for (scope, expected) in [
        (scope(None, test), &of_test[..]),
        (scope(Some(&["demo"]), test), &of_test[1..3]),
        (scope(Some(&["acme"]), test), &of_test[3..4]),
        (scope(Some(&["acme", "demo"]), test), &of_test[1..4]),
        (scope(Some(&["acme"]), live), &["settlement live acme"]),
        (scope(Some(&[]), test), &[]),
    ] {
        let found = db.store.parked_jobs_of_scope(&scope, 99).await.unwrap();
        assert_eq!(rows(found), expected, "{scope:?}");
    }
}

async fn overview_counts_the_rows_of_its_scope(db: &TestStore) {
    let mut keys = five_keys();
    keys[4].last_used_at = Some(NOW);
    insert_keys(db, &keys).await;
    insert_deliveries(db).await;
    insert_calls(db).await;
    insert_jobs(db).await;
    let at = |ms| Some(NOW.plus_ms(ms));
    let nothing = OverviewCounts::default();
    let test = Mode::Test;
    for (scope, includes_jobs, expected) in [
        (
            scope(None, test),
            true,
            OverviewCounts {
                // The limit.
                waiting_deliveries: 2,
                oldest_delivery_at: at(-1000),
                open_outcomes: 2,
                oldest_outcome_at: at(-2),
                parked_jobs: 2,
                active_keys: 2,
                has_key: true,
                has_used_key: true,
            },
        ),
        (
            scope(Some(&["demo"]), test),
            false,
            OverviewCounts {
                waiting_deliveries: 2,
                oldest_delivery_at: at(-1000),
                open_outcomes: 2,
                oldest_outcome_at: at(-2),
                ..nothing
            },
        ),
        (
            scope(Some(&["another", "acme"]), test),
            false,
            OverviewCounts {
                waiting_deliveries: 1,
                oldest_delivery_at: at(-1000),
                active_keys: 1,
                has_key: true,
                ..nothing
            },
        ),
        (
            scope(None, Mode::Live),
            true,
            OverviewCounts {
                parked_jobs: 2,
                active_keys: 1,
                has_key: true,
                ..nothing
            },
        ),
        (scope(Some(&[]), test), false, nothing),
    ] {
        let found = db.store.overview(&scope, limits(includes_jobs));
        assert_eq!(found.await.unwrap().counts, expected, "{scope:?}");
    }
}

fn open_item_name(item: OpenItem) -> String {
    match item {
        OpenItem::Outcome {
            booking, target, ..
        } => format!("{booking} {target}"),
        OpenItem::Job {
            subject, attempts, ..
        } => format!("{subject} {attempts}"),
        OpenItem::Key { name, .. } => name,
        OpenItem::Webhook { id, .. } => id.to_string(),
    }
}

async fn open_items_are_those_of_the_scope(db: &TestStore) {
    let expiring = |number, ms| ApiKey {
        expires_at: Some(NOW.plus_ms(ms)),
        ..key(number, "acme", Mode::Test)
    };
    let keys = [
        expiring(1, 0),
        expiring(2, 1),
        expiring(3, SOON_MS),
        expiring(4, SOON_MS + 1),
        key(5, "acme", Mode::Test),
        ApiKey {
            revoked_at: Some(NOW),
            ..expiring(6, 2)
        },
        ApiKey {
            tenant: tenant_of("acme", Mode::Live),
            ..expiring(7, 3)
        },
    ];
    insert_keys(db, &keys).await;
    insert_calls(db).await;
    insert_jobs(db).await;
    let call = |number| format!("{} SUPPLIER_A", BookingId::from_bits(number));
    let job = |subject: &str| format!("{subject} 7");
    let (key_2, key_3, key_7) = ("Key 2".to_owned(), "Key 3".to_owned(), "Key 7".to_owned());
    let own_job = job(booking(1).id.as_str());
    let live_job = job(booking(2).id.as_str());
    for (scope, includes_jobs, expected) in [
        (
            scope(None, Mode::Test),
            true,
            vec![
                job("test/SUPPLIER_A/1"),
                own_job,
                call(3),
                call(2),
                key_2.clone(),
                key_3.clone(),
            ],
        ),
        (
            scope(Some(&["acme"]), Mode::Test),
            false,
            vec![key_2, key_3],
        ),
        (
            scope(Some(&["demo"]), Mode::Test),
            false,
            vec![call(3), call(2)],
        ),
        (
            scope(None, Mode::Live),
            true,
            vec![job("live/SUPPLIER_A/1"), live_job, key_7],
        ),
    ] {
        let found = db.store.overview(&scope, limits(includes_jobs)).await;
        let found = found.unwrap().open_items.into_iter();
        let found: Vec<String> = found.map(open_item_name).collect();
        assert_eq!(found, expected, "{scope:?}");
    }
}

/// The statements of one organization must not read all of its rows.
#[tokio::test]
async fn sqlite_reads_of_an_organization_use_expected_indexes() {
    let db = TestStore::sqlite().await;
    let (store, mut plans) = (&db.store, Expectations::new(&db));
    let demo = scope(Some(&["demo"]), Mode::Test);
    for index in ["remote_call_attempt_unresolved", "webhook_delivery_open"] {
        let overview = store.overview(&demo, limits(true));
        plans.add(index, overview).await;
    }
    let (filter, first) = (UnresolvedFilter::default(), first_page(50));
    let unresolved = store.unresolved_page(&demo, &filter, NOW, &first);
    plans
        .add("remote_call_attempt_unresolved", unresolved)
        .await;
    for index in ["hotel_booking_scope", "flight_booking_scope"] {
        plans.add(index, store.booking_counts(&demo)).await;
        let steps = store.go_live_steps(demo.organizations.as_deref(), NOW);
        plans.add(index, steps).await;
    }
    let steps = store.go_live_steps(demo.organizations.as_deref(), NOW);
    plans.add("booking_history_unresolved", steps).await;
    check_sqlite_plans(plans.all, |plan, _| {
        let reads_all_calls = plan.contains("sqlite_autoindex_remote_call_attempt_1");
        let large = ["hotel_booking", "flight_booking", "webhook_delivery"];
        let scans_rows = scans(plan).any(|source| large.contains(&source));
        !reads_all_calls && !scans_rows
    })
    .await;
    db.remove().await;
}
