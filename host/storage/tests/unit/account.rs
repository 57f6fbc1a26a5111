//! Accounts, links, sessions and failed sign-ins.

use super::*;
use crate::{PasswordHash, SignInGuard, StoredAccount, StoredAccountLink, StoredSession};
use host_domain::account::{AccountRole, AccountState, EmailAddress, OrganizationRole};
use host_domain::id::{AccountId, SessionId};

on_both_databases!(
    accounts_are_read_as_stored,
    account_address_and_id_are_unique,
    account_update_requires_read_version,
    concurrent_uses_of_a_link_store_one,
    used_expired_revoked_or_unknown_link_cannot_be_used,
    session_is_found_until_its_accounts_epoch_changes,
    session_keeps_its_mode_and_last_use,
    deleted_sessions_are_not_found,
    concurrent_failures_of_a_subject_store_one,
    failures_are_read_by_subject,
    expired_rows_are_purged_in_batches,
);

pub(super) fn email(text: &str) -> EmailAddress {
    EmailAddress::parse(text).unwrap()
}

fn member(organization: &str, role: OrganizationRole) -> AccountRole {
    AccountRole::Organization {
        organization: organization.to_owned(),
        role,
    }
}

pub(super) fn account(number: u32, address: &str) -> StoredAccount {
    StoredAccount {
        id: AccountId::from_bits(u128::from(number)),
        email: email(address),
        state: AccountState::Invited,
        password_hash: None,
        session_epoch: 1,
        roles: vec![],
        created_at: NOW,
        updated_at: NOW.plus_ms(1),
        signed_in_at: None,
        version: 1,
    }
}

fn changed(account: &StoredAccount) -> StoredAccount {
    StoredAccount {
        state: AccountState::Active,
        password_hash: Some(PasswordHash("$argon2id$v=19$…".to_owned())),
        session_epoch: account.session_epoch + 1,
        updated_at: account.updated_at.plus_ms(1),
        version: account.version + 1,
        ..account.clone()
    }
}

pub(super) async fn insert(db: &TestStore, account: &StoredAccount) -> Option<Conflict> {
    conflict(&db.store, unit(|write| write.insert_account(account))).await
}

async fn stored(db: &TestStore, account: &StoredAccount) -> Option<StoredAccount> {
    db.store.account_by_email(&account.email).await.unwrap()
}

async fn accounts_are_read_as_stored(db: &TestStore) {
    let mut bare = account(1, "zoe@example.com");
    bare.roles = vec![AccountRole::Operator];
    let mut full = changed(&account(2, "ada@example.com"));
    full.signed_in_at = Some(NOW);
    full.roles = vec![
        AccountRole::Operator,
        member("Acme", OrganizationRole::Viewer),
        member("acme", OrganizationRole::Admin),
        member("demo", OrganizationRole::Developer),
    ];
    for account in [&bare, &full] {
        assert!(!db.store.has_active_operator().await.unwrap());
        assert_eq!(stored(db, account).await, None);
        assert_eq!(insert(db, account).await, None);
        assert_eq!(stored(db, account).await.as_ref(), Some(account));
    }
    assert_eq!(db.store.accounts().await.unwrap(), [full, bare]);
    assert!(db.store.has_active_operator().await.unwrap());
}

async fn account_address_and_id_are_unique(db: &TestStore) {
    let mut first = account(1, "ada@example.com");
    first.roles = vec![member("acme", OrganizationRole::Admin)];
    insert(db, &first).await;
    for same in [account(2, "ada@example.com"), account(1, "zoe@example.com")] {
        assert_eq!(insert(db, &same).await, Some(Conflict::AccountExists));
    }
    assert_eq!(db.store.accounts().await.unwrap(), [first]);
}

async fn account_update_requires_read_version(db: &TestStore) {
    let mut first = account(1, "ada@example.com");
    first.roles = vec![AccountRole::Operator];
    let update = |account: &StoredAccount, read_version| {
        unit(|write| write.update_account(account, read_version))
    };
    let unknown = conflict(&db.store, update(&changed(&first), 1)).await;
    assert_eq!(unknown, Some(Conflict::AccountVersion));
    insert(db, &first).await;
    // A sign-in changes neither the version nor what another change stores.
    let sign_in = unit_at(NOW.plus_ms(9), |write| write.record_sign_in(&first.id));
    db.store.commit(sign_in).await.unwrap();
    let mut second = changed(&first);
    let updates = vec![update(&second, 1); 8];
    one_is_stored(db, updates, Conflict::AccountVersion).await;
    second.signed_in_at = Some(NOW.plus_ms(9));
    assert_eq!(stored(db, &first).await, Some(second));
}

fn link(address: Option<&str>) -> StoredAccountLink {
    StoredAccountLink {
        email: address.map(email),
        roles: vec![
            AccountRole::Operator,
            member("demo", OrganizationRole::Admin),
        ],
        organization: None,
        created_at: NOW,
        expires_at: NOW.plus_ms(10),
        used_at: None,
    }
}

async fn insert_link(db: &TestStore, number: u8, link: &StoredAccountLink) {
    let sha256 = [number; 32];
    commit(&db.store, |write| write.insert_account_link(link, &sha256)).await;
    let found = db.store.account_link(&sha256).await.unwrap();
    assert_eq!(found.as_ref(), Some(link));
}

async fn concurrent_uses_of_a_link_store_one(db: &TestStore) {
    insert_link(db, 1, &link(None)).await;
    // Each use creates its own account, as the setup of an account does.
    let uses = (1..=8_u32).map(|number| {
        let account = account(number, &format!("{number}@example.com"));
        unit(|write| write.use_account_link(&[1; 32]).insert_account(&account))
    });
    let winner = one_is_stored(db, uses.collect(), Conflict::AccountLinkUsed).await;
    let accounts = db.store.accounts().await.unwrap();
    let addresses: Vec<_> = accounts.iter().map(|found| found.email.as_str()).collect();
    assert_eq!(addresses, [format!("{}@example.com", winner + 1)]);
    let used = db.store.account_link(&[1; 32]).await.unwrap().unwrap();
    assert_eq!(used.used_at, Some(NOW));
}

async fn used_expired_revoked_or_unknown_link_cannot_be_used(db: &TestStore) {
    let reset = link(Some("ada@example.com"));
    let links = [
        link(Some("zoe@example.com")),
        link(None),
        reset.clone(),
        reset,
    ];
    for (number, link) in (1..).zip(&links) {
        insert_link(db, number, link).await;
    }
    let using = |number: u8, at| unit_at(at, |write| write.use_account_link(&[number; 32]));
    let ada = email("ada@example.com");
    commit(&db.store, |write| write.revoke_account_links(Some(&ada))).await;
    for (number, at_ms, expected) in [
        (1, 9, None),
        (1, 9, Some(Conflict::AccountLinkUsed)),
        (2, 10, Some(Conflict::AccountLinkUsed)),
        (3, 0, Some(Conflict::AccountLinkUsed)),
        (4, 0, Some(Conflict::AccountLinkUsed)),
        (5, 0, Some(Conflict::AccountLinkUsed)),
    ] {
        let found = conflict(&db.store, using(number, NOW.plus_ms(at_ms))).await;
        assert_eq!(found, expected, "link {number} at {at_ms}");
    }
    commit(&db.store, |write| write.revoke_account_links(None)).await;
    let revoked = conflict(&db.store, using(2, NOW)).await;
    assert_eq!(revoked, Some(Conflict::AccountLinkUsed));
}

fn session(number: u32, account: &StoredAccount) -> StoredSession {
    StoredSession {
        id: SessionId::from_bits(u128::from(number)),
        account: account.id.clone(),
        session_epoch: account.session_epoch,
        mode: Mode::Test,
        address: "2001:db8::1".into(),
        user_agent: "Mozilla/5.0".into(),
        created_at: NOW.plus_ms(1),
        seen_at: NOW.plus_ms(2),
    }
}

/// Stores a session whose digest consists of its number.
async fn insert_session(db: &TestStore, number: u8, session: &StoredSession) {
    commit(&db.store, |write| {
        write.insert_session(session, &[number; 32])
    })
    .await;
}

async fn session_is_found_until_its_accounts_epoch_changes(db: &TestStore) {
    let mut first = account(1, "ada@example.com");
    first.roles = vec![
        AccountRole::Operator,
        member("acme", OrganizationRole::Developer),
    ];
    let second = account(2, "zoe@example.com");
    let (one, two) = (session(1, &first), session(2, &second));
    for (account, session, number) in [(&first, &one, 1), (&second, &two, 2)] {
        insert(db, account).await;
        insert_session(db, number, session).await;
    }
    let find = async |number: u8| db.store.session_by_hash(&[number; 32]).await.unwrap();
    assert_eq!(find(1).await, Some((one, first.clone())));
    assert_eq!(find(2).await, Some((two.clone(), second.clone())));
    assert_eq!(find(3).await, None);
    commit(&db.store, |write| write.update_account(&changed(&first), 1)).await;
    assert_eq!(find(1).await, None);
    assert_eq!(db.store.sessions_of(&first.id).await.unwrap(), []);
    assert_eq!(find(2).await, Some((two, second)));
}

async fn session_keeps_its_mode_and_last_use(db: &TestStore) {
    let first = account(1, "ada@example.com");
    let mut expected = session(1, &first);
    insert(db, &first).await;
    insert_session(db, 1, &expected).await;
    for number in [1, 2] {
        let set = db.store.set_session_mode(&[number; 32], Mode::Live).await;
        set.unwrap();
    }
    expected.mode = Mode::Live;
    let seen_ms = expected.seen_at.since(NOW);
    for (at_ms, unless_after_ms, expected_ms) in [(5, 1, seen_ms), (6, 2, 6), (7, 5, 6)] {
        let (at, unless_after) = (NOW.plus_ms(at_ms), NOW.plus_ms(unless_after_ms));
        let touched = db.store.touch_session(&[1; 32], at, unless_after).await;
        touched.unwrap();
        expected.seen_at = NOW.plus_ms(expected_ms);
        let found = db.store.session_by_hash(&[1; 32]).await.unwrap();
        assert_eq!(found, Some((expected.clone(), first.clone())), "{at_ms}");
    }
}

async fn deleted_sessions_are_not_found(db: &TestStore) {
    let (first, second) = (account(1, "ada@example.com"), account(2, "zoe@example.com"));
    for (number, account) in [(1, &first), (2, &first), (3, &first), (4, &second)] {
        insert(db, account).await;
        insert_session(db, number, &session(u32::from(number), account)).await;
    }
    let is_found = async |number: u8| {
        let found = db.store.session_by_hash(&[number; 32]).await.unwrap();
        found.is_some()
    };
    let listed = db.store.sessions_of(&first.id).await.unwrap();
    let expected: Vec<_> = (1..=3).map(|number| session(number, &first)).collect();
    assert_eq!(listed, expected);
    for _ in 0..2 {
        db.store.delete_session(&[1; 32]).await.unwrap();
    }
    assert!(!is_found(1).await && is_found(2).await);
    for (account, expected) in [(&second, false), (&first, true), (&first, false)] {
        let id = SessionId::from_bits(2);
        let deleted = db.store.delete_session_of(&account.id, &id).await;
        assert_eq!(deleted.unwrap(), expected, "{account:?}");
    }
    assert!(!is_found(2).await && is_found(3).await);
    commit(&db.store, |write| write.delete_sessions(&first.id)).await;
    assert!(!is_found(3).await && is_found(4).await);
    let taken = unit(|write| write.insert_session(&session(4, &second), &[9; 32]));
    let taken = conflict(&db.store, taken).await;
    assert_eq!(taken, Some(Conflict::SessionExists));
}

fn guard(subject: &str, revision: i64, failures_ms: &[i64]) -> SignInGuard {
    let failures = failures_ms.iter().map(|ms| NOW.plus_ms(*ms));
    SignInGuard {
        subject: subject.to_owned(),
        revision,
        failures: failures.collect(),
    }
}

async fn concurrent_failures_of_a_subject_store_one(db: &TestStore) {
    let puts = |read_revision: Option<i64>, next: i64| {
        let one = |number: i64| {
            let guards = [
                guard("account:a", next, &[number]),
                guard("address:10.0.0.1", next, &[number]),
            ];
            unit(|write| {
                for guard in &guards {
                    write.put_sign_in_guard(guard, read_revision);
                }
                write
            })
        };
        (0..8).map(one).collect::<Vec<_>>()
    };
    let subjects = ["account:a".to_owned(), "address:10.0.0.1".to_owned()];
    for (read_revision, next) in [(None, 1), (Some(1), 2)] {
        let winner = one_is_stored(db, puts(read_revision, next), Conflict::SignInRaced).await;
        let winner = i64::try_from(winner).unwrap();
        let found = db.store.sign_in_guards(&subjects).await.unwrap();
        let expected = subjects.each_ref().map(|one| guard(one, next, &[winner]));
        assert_eq!(found, expected);
    }
}

async fn failures_are_read_by_subject(db: &TestStore) {
    let guards = ["b", "a", "c"].map(|subject| guard(subject, 7, &[1, 2, 3]));
    for guard in &guards {
        commit(&db.store, |write| write.put_sign_in_guard(guard, None)).await;
    }
    let [b, a, _] = guards;
    let subjects = ["b", "a", "d"].map(str::to_owned);
    let found = db.store.sign_in_guards(&subjects).await.unwrap();
    assert_eq!(found, [a, b]);
}

async fn expired_rows_are_purged_in_batches(db: &TestStore) {
    let first = account(1, "ada@example.com");
    insert(db, &first).await;
    for number in 0..5_u8 {
        let at = NOW.plus_ms(i64::from(number));
        let link = StoredAccountLink {
            expires_at: at,
            ..link(None)
        };
        let session = StoredSession {
            seen_at: at,
            ..session(u32::from(number), &first)
        };
        let guard = guard(&number.to_string(), 1, &[]);
        let sha256 = [number; 32];
        let write = unit_at(at, |write| {
            write
                .insert_account_link(&link, &sha256)
                .insert_session(&session, &sha256)
                .put_sign_in_guard(&guard, None)
        });
        db.store.commit(write).await.unwrap();
    }
    let before = NOW.plus_ms(3);
    for expected in [2, 1, 0] {
        let links = db.store.purge_account_links(before, 2).await.unwrap();
        let sessions = db.store.purge_sessions(before, 2).await.unwrap();
        let guards = db.store.purge_sign_in_guards(before, 2).await.unwrap();
        assert_eq!([links, sessions, guards], [expected; 3]);
    }
    let kept = db.store.account_link(&[3; 32]).await.unwrap();
    assert!(kept.is_some());
}
