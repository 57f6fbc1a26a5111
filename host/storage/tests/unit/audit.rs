//! The audit log.

use super::plan::{Expectations, check_postgres_plans, check_sqlite_plans, names};
use super::*;
use crate::statement::Statement;
use crate::{AuditChainEnd, StoredAuditEntry};
use host_domain::audit::{AuditAction, AuditFilter, AuditScope};
use host_domain::id::{AccountId, AuditEntryId};
use host_domain::page::{Cursor, CursorRequest};

on_both_databases!(
    changes_wait_until_they_are_appended,
    only_the_first_of_two_appends_succeeds,
    entries_are_listed_by_scope_and_filter,
    entries_are_paged_latest_first,
    entries_cannot_be_changed_or_deleted,
);

/// Builds the entry with this number.
pub(super) fn entry(sequence: i64, organization: &str, mode: &str) -> StoredAuditEntry {
    StoredAuditEntry {
        sequence,
        at: NOW.plus_ms(sequence),
        organization: organization.to_owned(),
        mode: mode.to_owned(),
        actor_kind: "account".to_owned(),
        actor_id: AccountId::from_bits(1).to_string(),
        actor_name: "ada@example.com".to_owned(),
        action: AuditAction::ApiKeyCreated.as_str().to_owned(),
        target_id: format!("key_{sequence}"),
        body: format!("{{\"name\":\"ä\\u0000'{sequence}\"}}"),
        hash: format!("{sequence:064x}"),
    }
}

async fn append(store: &Store, entries: &[StoredAuditEntry]) -> Option<Conflict> {
    let appended = unit(|write| write.append_audit_entries(entries, &[]));
    conflict(store, appended).await
}

const fn first_page(limit: u32) -> CursorRequest {
    CursorRequest { after: None, limit }
}

async fn changes_wait_until_they_are_appended(db: &TestStore) {
    let end = db.store.audit_chain_end().await.unwrap();
    assert_eq!(end, AuditChainEnd::default());
    let change = |number| AuditEntryId::from_bits(number);
    for number in [2, 1, 3] {
        let record = unit(|write| {
            write.insert_pending_audit_entry(&change(number), NOW, &format!("ä\0{number}"))
        });
        assert_eq!(conflict(&db.store, record.clone()).await, None);
        let again = conflict(&db.store, record).await;
        assert_eq!(again, Some(Conflict::AuditEntryExists));
    }
    assert!(db.store.audit_chain_end().await.unwrap().has_pending);
    let pending = db.store.pending_audit_entries(2).await.unwrap();
    let found: Vec<_> = pending.iter().map(|one| one.id.clone()).collect();
    assert_eq!(found, [change(1), change(2)]);
    assert_eq!(pending[0].body, "\"ä\\u00001\"");
    let entries = [entry(1, "acme", "test"), entry(2, "", "")];
    let appended = unit(|write| write.append_audit_entries(&entries, &found));
    assert_eq!(conflict(&db.store, appended).await, None);
    let end = db.store.audit_chain_end().await.unwrap();
    assert!(end.has_pending);
    assert_eq!(end.last, Some((2, entries[1].hash.clone())));
    let pending = db.store.pending_audit_entries(2).await.unwrap();
    assert_eq!(pending[0].id, change(3));
    let read = db.store.audit_entries_after(0, 10).await.unwrap();
    assert_eq!(read, entries);
}

async fn only_the_first_of_two_appends_succeeds(db: &TestStore) {
    let appends = (1..=8).map(async |length: i64| {
        let organization = format!("o{length}");
        let entries: Vec<_> = (1..=length).map(|n| entry(n, &organization, "")).collect();
        append(&db.store, &entries)
            .await
            .is_none()
            .then_some(length)
    });
    let results = join_all(appends).await;
    let done: Vec<i64> = results.into_iter().flatten().collect();
    assert_eq!(done.len(), 1, "{done:?}");
    let stored = db.store.audit_entries_after(0, 10).await.unwrap();
    let organizations: Vec<_> = stored.iter().map(|one| one.organization.clone()).collect();
    let length = usize::try_from(done[0]).unwrap();
    assert_eq!(organizations, vec![format!("o{length}"); length]);
}

async fn entries_are_listed_by_scope_and_filter(db: &TestStore) {
    let mut revoked = entry(5, "zoo", "live");
    revoked.action = AuditAction::ApiKeyRevoked.as_str().to_owned();
    revoked.actor_kind = "cli".to_owned();
    revoked.actor_id = String::new();
    revoked.actor_name = "root".to_owned();
    let entries = [
        entry(1, "acme", "test"),
        entry(2, "acme", "live"),
        entry(3, "acme", ""),
        entry(4, "", ""),
        revoked,
    ];
    assert_eq!(append(&db.store, &entries).await, None);
    let scope = |organizations: Option<&[&str]>, mode| AuditScope {
        organizations: organizations.map(|all| all.iter().map(|one| (*one).to_owned()).collect()),
        mode,
    };
    let (all, any) = (AuditScope::ALL, AuditFilter::default());
    let actor = |text: &str| AuditFilter {
        actor: Some(text.to_owned()),
        ..AuditFilter::default()
    };
    let revocations = AuditFilter {
        action: Some(AuditAction::ApiKeyRevoked),
        ..any.clone()
    };
    let of_target = AuditFilter {
        target: Some("key_2".to_owned()),
        ..any.clone()
    };
    let between = AuditFilter {
        from: Some(NOW.plus_ms(2)),
        until: Some(NOW.plus_ms(4)),
        ..any.clone()
    };
    for (scope, filter, expected) in [
        (all.clone(), any.clone(), &[5, 4, 3, 2, 1][..]),
        (
            scope(Some(&["acme"]), Some(Mode::Test)),
            any.clone(),
            &[3, 1],
        ),
        (
            scope(Some(&["acme", "zoo"]), Some(Mode::Live)),
            any.clone(),
            &[5, 3, 2],
        ),
        (scope(Some(&[]), None), any.clone(), &[]),
        (scope(None, Some(Mode::Test)), any, &[4, 3, 1]),
        (all.clone(), actor("root"), &[5]),
        (all.clone(), actor("cli"), &[5]),
        (
            all.clone(),
            actor(AccountId::from_bits(1).as_str()),
            &[4, 3, 2, 1],
        ),
        (all.clone(), actor("ada@example.com"), &[4, 3, 2, 1]),
        (all.clone(), revocations, &[5]),
        (all.clone(), of_target, &[2]),
        (all, between, &[3, 2]),
    ] {
        let page = db.store.audit_page(&scope, &filter, &first_page(10)).await;
        let found: Vec<_> = page.unwrap().items.iter().map(|one| one.sequence).collect();
        assert_eq!(found, expected, "{scope:?} {filter:?}");
    }
}

async fn entries_are_paged_latest_first(db: &TestStore) {
    let mut entries: Vec<_> = (1..=12).map(|n| entry(n, "acme", "test")).collect();
    // The page ends between entries of the same time.
    for entry in &mut entries[3..9] {
        entry.at = NOW;
    }
    assert_eq!(append(&db.store, &entries).await, None);
    let (mut page, mut found) = (first_page(5), Vec::new());
    loop {
        let next = db
            .store
            .audit_page(&AuditScope::ALL, &AuditFilter::default(), &page)
            .await;
        let next = next.unwrap();
        found.extend(next.items.iter().map(|entry| entry.sequence));
        page.after = next.next;
        if page.after.is_none() {
            break;
        }
    }
    assert_eq!(found, [12, 11, 10, 3, 2, 1, 9, 8, 7, 6, 5, 4]);
}

async fn entries_cannot_be_changed_or_deleted(db: &TestStore) {
    assert_eq!(append(&db.store, &[entry(1, "acme", "test")]).await, None);
    for sql in ["UPDATE audit_log SET action = 'x'", "DELETE FROM audit_log"] {
        assert!(db.store.execute_statement(statement!(sql)).await.is_err());
    }
    let left = db.store.audit_entries_after(0, 10).await.unwrap();
    assert_eq!(left, [entry(1, "acme", "test")]);
}

/// The lists and the indexes that give their order.
async fn expectations() -> Vec<(Statement, &'static str)> {
    let db = TestStore::sqlite().await;
    let (store, mut plans) = (&db.store, Expectations::new(&db));
    let acme = AuditScope {
        organizations: Some(vec!["acme".to_owned()]),
        mode: Some(Mode::Test),
    };
    let any = AuditFilter::default();
    let actor = |text: String| AuditFilter {
        actor: Some(text),
        ..AuditFilter::default()
    };
    let action = AuditFilter {
        action: Some(AuditAction::ApiKeyRevoked),
        ..any.clone()
    };
    let target = AuditFilter {
        target: Some("key_7".to_owned()),
        ..any.clone()
    };
    let id = AccountId::from_bits(7).to_string();
    for (scope, filter, index) in [
        (&AuditScope::ALL, any.clone(), "audit_log_at"),
        (&acme, any, "audit_log_organization"),
        (&AuditScope::ALL, actor(id), "audit_log_actor_id"),
        (
            &AuditScope::ALL,
            actor("ada".to_owned()),
            "audit_log_actor_name",
        ),
        (
            &AuditScope::ALL,
            actor("cli".to_owned()),
            "audit_log_actor_kind",
        ),
        (&AuditScope::ALL, action, "audit_log_action"),
        (&AuditScope::ALL, target, "audit_log_target"),
    ] {
        let later = CursorRequest {
            after: Some(Cursor::new(NOW, "7")),
            limit: 50,
        };
        for page in [first_page(50), later] {
            let list = store.audit_page(scope, &filter, &page);
            plans.add(index, list).await;
        }
    }
    db.remove().await;
    plans.all
}

const FILL: &[&str] = &[
    "INSERT INTO audit_log SELECT n, n, CASE WHEN n % 10 = 0 THEN 'acme' ELSE 'other' END, 'test', 'account', \
       'acc_' || lpad(to_hex(n % 50), 32, '0'), 'name ' || n % 50, \
       CASE WHEN n % 100 = 0 THEN 'api_key.revoked' ELSE 'webhook.created' END, 'key_' || n, '{}', '' \
     FROM generate_series(1, 20000) AS n",
    "ANALYZE",
];

#[tokio::test]
async fn sqlite_lists_use_the_index_of_their_filter() {
    check_sqlite_plans(expectations().await, |plan, _| {
        !plan.contains("TEMP B-TREE")
    })
    .await;
}

#[tokio::test]
async fn postgres_lists_use_the_index_of_their_filter() {
    check_postgres_plans(FILL, expectations().await, |plan, index| {
        names(plan, index) && !plan.contains("Sort") && !plan.contains("Seq Scan")
    })
    .await;
}
