//! Sessions: how long they last, and what ends them.

use super::*;
use crate::account::password_change::ChangePasswordError;
use host_domain::account::PasswordProblem;
use host_domain::id::SessionId;
use host_domain::owner::Mode;

on_both_databases!(
    session_ends_after_twelve_idle_hours_and_after_seven_days,
    page_that_refreshes_itself_does_not_keep_a_session_alive,
    sessions_end_at_once_when_the_account_changes,
    sign_in_that_was_under_way_at_a_reset_gives_no_session,
    password_change_requires_the_current_password,
    wrong_current_passwords_lock_the_account,
    sessions_are_listed_and_revoked_by_their_owner_only,
    ended_sessions_and_links_are_purged,
);

async fn is_open(
    processes: &TwoProcesses,
    session: &NewSession,
    activity: SessionActivity,
) -> bool {
    let sessions = &processes.first.services.sessions;
    let found = sessions.find(&session.token, activity, client(1).address);
    let found = found.await.unwrap();
    found.is_some()
}

async fn session_ends_after_twelve_idle_hours_and_after_seven_days(processes: &TwoProcesses) {
    let days = 24 * HOUR_MS;
    let never_idle: Vec<i64> = (1..=15).map(|number| number * 11 * HOUR_MS).collect();
    let cases: [(&[i64], i64, bool); 7] = [
        (&[], 12 * HOUR_MS - 1, true),
        (&[], 12 * HOUR_MS, false),
        (&[11 * HOUR_MS], 23 * HOUR_MS - 1, true),
        (&[11 * HOUR_MS], 23 * HOUR_MS, false),
        // The last use has a resolution of a minute.
        (&[MINUTE_MS - 1], 12 * HOUR_MS, false),
        (&never_idle, 7 * days - 1, true),
        (&never_idle, 7 * days, false),
    ];
    for (number, (uses, at_ms, expected)) in cases.into_iter().enumerate() {
        processes.set_clock(0);
        let session = processes.set_up(&format!("{number}@example.com")).await;
        for used_ms in uses {
            processes.set_clock(*used_ms);
            assert!(is_open(processes, &session, SessionActivity::Person).await);
        }
        processes.set_clock(at_ms);
        let open = is_open(processes, &session, SessionActivity::Person).await;
        assert_eq!(open, expected, "case {number}");
    }
}

async fn page_that_refreshes_itself_does_not_keep_a_session_alive(processes: &TwoProcesses) {
    let session = processes.set_up(ADA).await;
    for (hours, activity, expected) in [
        (11, SessionActivity::Poll, true),
        (12, SessionActivity::Poll, false),
        (11, SessionActivity::Person, true),
        (12, SessionActivity::Poll, true),
    ] {
        processes.set_clock(hours * HOUR_MS);
        let open = is_open(processes, &session, activity).await;
        assert_eq!(open, expected, "{activity:?} after {hours} h");
    }
}

async fn change_password(
    process: &Process,
    viewer: &Viewer,
    current: &str,
    new: &str,
) -> Result<NewSession, ChangePasswordError> {
    let passwords = &process.services.passwords;
    let client = client(1);
    let changed = passwords.change(viewer, current.into(), new.into(), &client);
    changed.await
}

async fn sessions_end_at_once_when_the_account_changes(processes: &TwoProcesses) {
    let other = processes.set_up("other@example.com").await;
    for (number, change) in ["sign-out", "disable", "reset", "password"]
        .into_iter()
        .enumerate()
    {
        let address = format!("{number}@example.com");
        let first = processes.set_up(&address).await;
        let second = processes
            .first
            .sign_in(&address, PASSWORD, &client(1))
            .await;
        let second = second.unwrap();
        let viewer = processes.first.find(&first).await.unwrap();
        assert!(processes.first.find(&second).await.is_some());
        let sessions = &processes.other.services.sessions;
        sessions.set_mode(&first.token, Mode::Live).await.unwrap();
        let viewer = Viewer {
            mode: Mode::Live,
            ..Viewer::clone(&viewer)
        };
        match change {
            "sign-out" => sessions.end(&first.token).await.unwrap(),
            "disable" => processes.disable(&address).await,
            "reset" => drop(processes.reset(&address).await),
            _ => {
                let changed =
                    change_password(&processes.other, &viewer, PASSWORD, "another password");
                let new = changed.await.unwrap();
                let found = processes.first.find(&new).await.unwrap();
                assert_eq!(found.mode, Mode::Live);
                assert_ne!(new.token.expose_secret(), first.token.expose_secret());
            }
        }
        assert!(processes.first.find(&first).await.is_none(), "{change}");
        let second = processes.first.find(&second).await;
        assert_eq!(second.is_some(), change == "sign-out", "{change}");
    }
    assert!(processes.first.find(&other).await.is_some());
}

async fn sign_in_that_was_under_way_at_a_reset_gives_no_session(processes: &TwoProcesses) {
    processes.set_up(ADA).await;
    let store = &processes.first.base.store;
    let read = store.account_by_email(&email(ADA)).await.unwrap().unwrap();
    let token = processes.reset(ADA).await;
    let mut write = processes.first.base.unit_of_work();
    let sessions = &processes.first.services.sessions;
    let late = sessions
        .begin_in(&mut write, &read, &client(1), Mode::Test)
        .unwrap();
    store.commit(write).await.unwrap();
    assert!(processes.first.find(&late).await.is_none());
    // The account is active again, and still the session is of the time before.
    let setup = &processes.first.services.setup;
    let client = client(1);
    let completed = setup.complete(token.expose_secret(), "", PASSWORD.into(), &client);
    completed.await.unwrap();
    assert!(processes.first.find(&late).await.is_none());
}

async fn password_change_requires_the_current_password(processes: &TwoProcesses) {
    let session = processes.set_up(ADA).await;
    let viewer = processes.first.find(&session).await.unwrap();
    let new = "another password";
    let wrong = change_password(&processes.first, &viewer, "a wrong password", new).await;
    assert!(matches!(wrong, Err(ChangePasswordError::WrongPassword)));
    for (refused, expected) in [
        ("short", PasswordProblem::TooShort),
        ("passwordpassword", PasswordProblem::TooCommon),
        (ADA, PasswordProblem::EqualsEmail),
    ] {
        let result = change_password(&processes.first, &viewer, PASSWORD, refused).await;
        let problem = match result {
            Err(ChangePasswordError::Password(problem)) => problem,
            other => panic!("{refused}: {other:?}"),
        };
        assert_eq!(problem, expected);
    }
    assert!(processes.first.find(&session).await.is_some());
    let changed = change_password(&processes.first, &viewer, PASSWORD, new).await;
    changed.unwrap();
    for (password, expected) in [(PASSWORD, Answer::Refused), (new, Answer::Session)] {
        let result = processes.first.sign_in(ADA, password, &client(2)).await;
        assert_eq!(answer(&result), expected, "{password}");
    }
}

/// Whoever finds an open session must not be able to try passwords.
async fn wrong_current_passwords_lock_the_account(processes: &TwoProcesses) {
    let session = processes.set_up(ADA).await;
    let viewer = processes.first.find(&session).await.unwrap();
    let new = "another password";
    for _ in 0..5 {
        let wrong = change_password(&processes.first, &viewer, "a wrong password", new).await;
        assert!(matches!(wrong, Err(ChangePasswordError::WrongPassword)));
    }
    let locked = change_password(&processes.first, &viewer, PASSWORD, new).await;
    let Err(ChangePasswordError::Locked { retry_after_s: 900 }) = locked else {
        panic!("{locked:?}")
    };
    let sign_in = processes.first.sign_in(ADA, PASSWORD, &client(2)).await;
    assert_eq!(answer(&sign_in), Answer::Locked { retry_after_s: 900 });
}

async fn sessions_are_listed_and_revoked_by_their_owner_only(processes: &TwoProcesses) {
    let sessions = &processes.first.services.sessions;
    let first = processes.set_up(ADA).await;
    processes.set_clock(HOUR_MS);
    let second = processes.first.sign_in(ADA, PASSWORD, &client(7)).await;
    let second = second.unwrap();
    let stranger = processes.set_up("zoe@example.com").await;
    let ada = processes.first.find(&first).await.unwrap();
    let zoe = processes.first.find(&stranger).await.unwrap();
    let ids = async |viewer: &Viewer| -> Vec<SessionId> {
        let listed = sessions.list(viewer).await.unwrap();
        listed.into_iter().map(|session| session.id).collect()
    };
    assert_eq!(ids(&ada).await, [second.id.clone(), first.id.clone()]);
    let listed = sessions.list(&ada).await.unwrap();
    assert_eq!(listed[0].address, "192.0.2.7");
    assert_eq!(listed[0].created_at, NOW.plus_ms(HOUR_MS));
    assert!(!sessions.revoke(&zoe, &second.id).await.unwrap());
    assert!(processes.first.find(&second).await.is_some());
    assert!(sessions.revoke(&ada, &second.id).await.unwrap());
    assert!(!sessions.revoke(&ada, &second.id).await.unwrap());
    assert!(processes.first.find(&second).await.is_none());
    // A session that has ended by its age is not listed.
    processes.set_clock(12 * HOUR_MS);
    assert_eq!(ids(&ada).await, []);
    assert_eq!(ids(&zoe).await, [stranger.id]);
}

async fn ended_sessions_and_links_are_purged(processes: &TwoProcesses) {
    let session = processes.set_up(ADA).await;
    let link = processes.invite("zoe@example.com").await;
    let is_valid = async || {
        let described = processes
            .first
            .services
            .setup
            .describe(link.expose_secret());
        described.await.is_ok()
    };
    processes.first.fail(ADA, &client(1)).await;
    for (at_ms, is_open, is_link_valid) in [
        (12 * HOUR_MS, true, true),
        (12 * HOUR_MS + 1, false, true),
        (24 * HOUR_MS, false, true),
        (24 * HOUR_MS + 1, false, false),
    ] {
        processes.set_clock(at_ms);
        processes.purge().await;
        // Before its end nothing is deleted; afterwards nothing remains.
        processes.set_clock(0);
        let open = processes.first.find(&session).await.is_some();
        assert_eq!(
            (open, is_valid().await),
            (is_open, is_link_valid),
            "{at_ms}"
        );
    }
}
