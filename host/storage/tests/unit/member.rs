//! Members of organizations, invitations, and second factors.

use super::account::{account, email, insert};
use super::audit::entry;
use super::plan::{Expectations, check_postgres_plans, check_sqlite_plans, names};
use super::*;
use crate::statement::Statement;
use crate::{Member, SignInMethods, StoredAccountLink, StoredTotp};
use host_domain::account::{AccountRole, AccountState, OrganizationRole};
use host_domain::page::{Cursor, CursorPage, CursorRequest};

on_both_databases!(
    members_are_paged_across_organizations_by_the_time_they_joined,
    addresses_are_those_of_present_and_former_members,
    last_two_admins_cannot_both_leave,
    change_of_a_member_requires_the_role_that_was_read,
    change_of_roles_keeps_the_time_since_which_a_member_belongs,
    open_invitations_are_listed_and_revoked_by_organization,
    concurrent_uses_of_a_code_store_one,
    second_factor_is_stored_once_and_deleted_whole,
);

use OrganizationRole::{Admin, Developer, Viewer};

async fn add(db: &TestStore, number: u32, organization: &str, role: OrganizationRole) {
    let mut account = account(number, &format!("{number}@example.com"));
    account.state = AccountState::Active;
    if db
        .store
        .account_by_email(&account.email)
        .await
        .unwrap()
        .is_none()
    {
        insert(db, &account).await;
    }
    let joins = unit(|write| write.insert_member(organization, &account.id, role));
    assert_eq!(conflict(&db.store, joins).await, None);
}

async fn member(db: &TestStore, number: u32, organization: &str) -> Option<Member> {
    let account = account(number, "nobody@example.com").id;
    db.store.member(organization, &account).await.unwrap()
}

async fn members_are_paged_across_organizations_by_the_time_they_joined(db: &TestStore) {
    let mut operator = account(9, "operator@example.com");
    operator.roles = vec![AccountRole::Operator];
    insert(db, &operator).await;
    // All join at the same time, and one is a member of both.
    for (number, organization) in [
        (1, "acme"),
        (2, "acme"),
        (2, "b.c"),
        (3, "b.c"),
        (4, "other"),
    ] {
        add(db, number, organization, Viewer).await;
    }
    let taken = unit(|write| write.insert_member("acme", &account(1, "a@b").id, Admin));
    assert_eq!(
        conflict(&db.store, taken).await,
        Some(Conflict::MemberExists)
    );
    let both = ["acme".to_owned(), "b.c".to_owned()];
    for (organizations, expected) in [
        (None, "4@other 3@b.c 2@b.c 2@acme 1@acme"),
        (Some(&both[..]), "3@b.c 2@b.c 2@acme 1@acme"),
        (Some(&both[..1]), "2@acme 1@acme"),
        (Some(&both[..0]), ""),
    ] {
        let mut seen = Vec::new();
        let mut request = CursorRequest {
            after: None,
            limit: 1,
        };
        loop {
            let page = db.store.member_page(organizations, &request).await.unwrap();
            let CursorPage { items, next } = page;
            seen.extend(items.iter().map(|found| {
                let name = found.email.as_str().split('@').next().unwrap();
                format!("{name}@{}", found.organization)
            }));
            request.after = next;
            if request.after.is_none() {
                break;
            }
        }
        assert_eq!(seen.join(" "), expected, "{organizations:?}");
    }
}

async fn addresses_are_those_of_present_and_former_members(db: &TestStore) {
    add(db, 1, "acme", Viewer).await;
    add(db, 2, "b.c", Viewer).await;
    // Former members, of whom one is an operator now, a stranger, and an operator who is a member.
    for (number, roles) in [
        (3, vec![]),
        (4, vec![AccountRole::Operator]),
        (5, vec![]),
        (6, vec![AccountRole::Operator]),
    ] {
        let mut account = account(number, &format!("{number}@example.com"));
        account.roles = roles;
        insert(db, &account).await;
    }
    add(db, 6, "acme", Admin).await;
    let entries: Vec<_> = [(3, "acme"), (4, "acme"), (5, ""), (5, "other")]
        .into_iter()
        .zip(1..)
        .map(|((number, organization), sequence)| {
            let mut entry = entry(sequence, organization, "");
            entry.target_id = account(number, "a@b").id.to_string();
            entry
        })
        .collect();
    let appended = unit(|write| write.append_audit_entries(&entries, &[]));
    assert_eq!(conflict(&db.store, appended).await, None);
    let both = ["acme".to_owned(), "b.c".to_owned()];
    let some = ["3", "4", "5", "6", "7"].map(|number| format!("{number}@example.com"));
    for (organizations, among, expected) in [
        (&both[..], None, "1 2 3 6"),
        (&both[..1], None, "1 3 6"),
        (&both[1..], None, "2"),
        (&both[..0], None, ""),
        (&both[..], Some(&some[..]), "3 6"),
        (&both[..], Some(&some[..0]), ""),
    ] {
        let found = db.store.member_addresses(organizations, among).await;
        let found = found.unwrap();
        let mut numbers: Vec<_> = found
            .iter()
            .filter_map(|one| one.split('@').next())
            .collect();
        numbers.sort_unstable();
        assert_eq!(numbers.join(" "), expected, "{organizations:?} {among:?}");
    }
}

/// Each of the two would be the last one after the other has left.
async fn last_two_admins_cannot_both_leave(db: &TestStore) {
    // An admin who has never set up the account cannot sign in.
    insert(db, &account(3, "3@example.com")).await;
    for round in 0..5_u32 {
        let organization = format!("org-{round}");
        for number in [1, 2, 3] {
            add(db, number, &organization, Admin).await;
        }
        let mut leaves = Vec::new();
        for (number, demotes) in [(1, true), (2, false)] {
            let found = member(db, number, &organization).await.unwrap();
            leaves.push(unit(|write| match demotes {
                true => write.set_member_role(&found, Developer),
                false => write.delete_member(&found),
            }));
        }
        one_is_stored(db, leaves, Conflict::MemberChanged).await;
        let admins = [1, 2].map(async |number| {
            let found = member(db, number, &organization).await;
            found.is_some_and(|found| found.role == Admin)
        });
        let admins = join_all(admins).await;
        assert_eq!(admins.iter().filter(|is_admin| **is_admin).count(), 1);
    }
}

async fn change_of_a_member_requires_the_role_that_was_read(db: &TestStore) {
    add(db, 1, "acme", Admin).await;
    add(db, 2, "acme", Viewer).await;
    add(db, 2, "other", Viewer).await;
    let (admin, viewer) = (
        member(db, 1, "acme").await.unwrap(),
        member(db, 2, "acme").await.unwrap(),
    );
    let change = |found: &Member, role| unit(|write| write.set_member_role(found, role));
    let remove = |found: &Member| unit(|write| write.delete_member(found));
    for (write, expected) in [
        (change(&admin, Viewer), Some(Conflict::MemberChanged)),
        (remove(&admin), Some(Conflict::MemberChanged)),
        (change(&viewer, Admin), None),
        (change(&viewer, Developer), Some(Conflict::MemberChanged)),
        (remove(&viewer), Some(Conflict::MemberChanged)),
        (remove(&admin), None),
        (remove(&admin), Some(Conflict::MemberChanged)),
    ] {
        assert_eq!(conflict(&db.store, write).await, expected);
    }
    let found = member(db, 2, "acme").await.unwrap();
    assert_eq!(found.role, Admin);
    assert_eq!(member(db, 2, "other").await.unwrap().role, Viewer);
    assert_eq!(member(db, 1, "acme").await, None);
}

async fn change_of_roles_keeps_the_time_since_which_a_member_belongs(db: &TestStore) {
    let role = |organization: &str, role| AccountRole::Organization {
        organization: organization.to_owned(),
        role,
    };
    let before = [role("acme", Viewer), role("left", Admin)];
    let after = [
        AccountRole::Operator,
        role("acme", Admin),
        role("new", Viewer),
    ];
    let mut account = account(1, "ada@example.com");
    account.roles = before.to_vec();
    insert(db, &account).await;
    let change = || {
        unit_at(NOW.plus_ms(5), |write| {
            write.set_account_roles(&account.id, &before, &after)
        })
    };
    assert_eq!(conflict(&db.store, change()).await, None);
    let joined = async |organization: &str| {
        let found = member(db, 1, organization).await;
        found.map(|found| (found.role, found.joined_at))
    };
    assert_eq!(joined("acme").await, Some((Admin, NOW)));
    assert_eq!(joined("new").await, Some((Viewer, NOW.plus_ms(5))));
    assert_eq!(joined("left").await, None);
    let stored = db.store.account_by_email(&account.email).await.unwrap();
    assert_eq!(stored.unwrap().roles, after);
    let again = conflict(&db.store, change()).await;
    assert_eq!(again, Some(Conflict::AccountVersion));
}

async fn open_invitations_are_listed_and_revoked_by_organization(db: &TestStore) {
    let link = |organization: Option<&str>, address: &str, expires_ms| StoredAccountLink {
        email: Some(email(address)),
        roles: Vec::new(),
        organization: organization.map(str::to_owned),
        created_at: NOW,
        expires_at: NOW.plus_ms(expires_ms),
        used_at: None,
    };
    let links = [
        link(Some("acme"), "zoe@example.com", 10),
        link(Some("acme"), "ada@example.com", 10),
        link(Some("acme"), "expired@example.com", 5),
        link(Some("other"), "ada@example.com", 10),
        link(None, "ada@example.com", 10),
    ];
    for (number, link) in (1..).zip(&links) {
        let sha256 = [number; 32];
        commit(&db.store, |write| write.insert_account_link(link, &sha256)).await;
    }
    let [zoe, ada, _, elsewhere, setup] = links;
    let acme = ["acme".to_owned()];
    let listed = async |organizations: Option<&[String]>| {
        let listed = db.store.invitations(organizations, NOW.plus_ms(5), 10);
        listed.await.unwrap()
    };
    assert_eq!(listed(Some(&acme)).await, [ada.clone(), zoe.clone()]);
    assert_eq!(listed(None).await, [ada, zoe.clone(), elsewhere.clone()]);
    assert_eq!(listed(Some(&[])).await, []);
    let address = email("ada@example.com");
    let revocation = |organization| {
        unit_at(NOW.plus_ms(5), |write| {
            write.revoke_open_invitation(organization, &address)
        })
    };
    let unknown = conflict(&db.store, revocation("unknown")).await;
    assert_eq!(unknown, Some(Conflict::AccountLinkUsed));
    let revocations = vec![revocation("acme"); 8];
    one_is_stored(db, revocations, Conflict::AccountLinkUsed).await;
    assert_eq!(listed(None).await, [zoe, elsewhere]);
    // The link that sets up the account remains.
    let found = db.store.account_link(&[5; 32]).await.unwrap();
    assert_eq!(found, Some(setup));
}

fn totp(last_step: i64) -> StoredTotp {
    StoredTotp {
        sealed_secret: vec![1, 2, 3],
        last_step,
    }
}

async fn concurrent_uses_of_a_code_store_one(db: &TestStore) {
    let id = account(1, "ada@example.com").id;
    let codes = [[1; 32], [2; 32]];
    commit(&db.store, |write| {
        write.insert_second_factor(&id, &totp(6), &codes)
    })
    .await;
    let steps = vec![unit(|write| write.use_totp_step(&id, 7)); 8];
    one_is_stored(db, steps, Conflict::CodeUsed).await;
    let codes = vec![unit(|write| write.use_recovery_code(&id, &[1; 32])); 8];
    one_is_stored(db, codes, Conflict::CodeUsed).await;
    for (write, expected) in [
        (
            unit(|write| write.use_totp_step(&id, 6)),
            Some(Conflict::CodeUsed),
        ),
        (unit(|write| write.use_totp_step(&id, 8)), None),
        (
            unit(|write| write.use_recovery_code(&id, &[3; 32])),
            Some(Conflict::CodeUsed),
        ),
    ] {
        assert_eq!(conflict(&db.store, write).await, expected);
    }
    assert_eq!(db.store.totp(&id).await.unwrap(), Some(totp(8)));
}

async fn second_factor_is_stored_once_and_deleted_whole(db: &TestStore) {
    let mut first = account(1, "ada@example.com");
    let id = first.id.clone();
    let methods = async || db.store.sign_in_methods(&id).await.unwrap();
    assert_eq!(methods().await, None);
    insert(db, &first).await;
    let none = SignInMethods {
        has_password: false,
        has_totp: false,
        recovery_codes: 0,
    };
    assert_eq!(methods().await, Some(none));
    let stores = vec![unit(|write| write.insert_second_factor(&id, &totp(1), &[[1; 32]])); 4];
    one_is_stored(db, stores, Conflict::SecondFactorExists).await;
    let all = SignInMethods {
        has_totp: true,
        recovery_codes: 1,
        ..none
    };
    assert_eq!(methods().await, Some(all));
    commit(&db.store, |write| write.delete_second_factor(&id)).await;
    assert_eq!(methods().await, Some(none));
    first.password_hash = Some(crate::PasswordHash("$argon2id$".to_owned()));
    first.version = 2;
    commit(&db.store, |write| write.update_account(&first, 1)).await;
    let with_password = SignInMethods {
        has_password: true,
        ..none
    };
    assert_eq!(methods().await, Some(with_password));
}

/// The lists and the indexes that give their order.
async fn expectations() -> Vec<(Statement, &'static str)> {
    let db = TestStore::sqlite().await;
    let (store, mut plans) = (&db.store, Expectations::new(&db));
    let acme = ["acme".to_owned()];
    for (organizations, index) in [
        (None, "account_role_all_joined"),
        (Some(&acme[..]), "account_role_joined"),
    ] {
        for after in [None, Some(Cursor::new(NOW, "acc_7-acme"))] {
            let page = CursorRequest { after, limit: 50 };
            let list = store.member_page(organizations, &page);
            plans.add(index, list).await;
        }
    }
    let invitations = store.invitations(Some(&acme), NOW, 50);
    plans.add("account_link_organization", invitations).await;
    db.remove().await;
    plans.all
}

const FILL: &[&str] = &[
    "INSERT INTO account SELECT 'acc_' || n, n || '@example.com', 'active', NULL, 1, n, n, NULL, 1 \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO account_role SELECT 'acc_' || n, \
       CASE WHEN n % 10 = 0 THEN 'acme' ELSE 'org' || n % 100 END, 'viewer', n \
     FROM generate_series(1, 20000) AS n",
    "INSERT INTO account_link SELECT decode(md5(CAST(n AS text)), 'hex'), n || '@example.com', \
       '[]', n, CAST(1800000000000 AS bigint) + n, NULL, \
       CASE WHEN n % 10 = 0 THEN 'acme' ELSE 'org' || n % 100 END \
     FROM generate_series(1, 20000) AS n",
    "ANALYZE",
];

#[tokio::test]
async fn sqlite_lists_of_members_use_an_index_of_their_order() {
    check_sqlite_plans(expectations().await, |plan, _| {
        !plan.contains("TEMP B-TREE")
    })
    .await;
}

#[tokio::test]
async fn postgres_lists_of_members_use_an_index_of_their_order() {
    check_postgres_plans(FILL, expectations().await, |plan, index| {
        names(plan, index) && !plan.contains("Sort") && !plan.contains("Seq Scan")
    })
    .await;
}
