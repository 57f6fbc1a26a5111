//! Sign-in, and the locks after failures.

use super::*;
use crate::account::lockout::{SignInLimiter, SignInSubjects};
use futures::future::join_all;
use std::time::Duration;
use tokio::sync::oneshot;

on_both_databases!(
    each_sign_in_begins_a_new_session,
    every_account_that_cannot_sign_in_is_refused_like_a_wrong_password,
    five_failures_within_fifteen_minutes_lock_the_account_for_fifteen_minutes,
    locked_account_refuses_the_right_password_from_any_address,
    unknown_account_is_locked_like_a_known_one,
    five_failures_lock_the_address_for_all_accounts,
    ipv6_addresses_of_one_network_are_locked_together,
    success_clears_the_failures_of_the_account_only,
    hundred_attempts_at_once_check_five_passwords,
    people_who_sign_in_at_once_do_not_lock_their_address,
    sign_ins_whose_clients_hang_up_are_decided,
    attempts_without_a_check_do_not_count,
);

async fn each_sign_in_begins_a_new_session(processes: &TwoProcesses) {
    let set_up = processes.set_up(ADA).await;
    let process = &processes.first;
    let mut tokens = vec![set_up];
    for spelling in [ADA, " Ada@Example.COM "] {
        let session = process
            .sign_in(spelling, PASSWORD, &client(1))
            .await
            .unwrap();
        tokens.push(session);
    }
    for (number, session) in tokens.iter().enumerate() {
        let viewer = processes.other.find(session).await.unwrap();
        assert_eq!(viewer.session, session.id);
        assert_eq!(viewer.email, email(ADA));
        assert_eq!(viewer.roles, roles());
        let token = session.token.expose_secret();
        // 256 bits in base64.
        assert_eq!(token.len(), 43);
        let mut others = tokens.iter().skip(number + 1);
        assert!(others.all(|other| other.token.expose_secret() != token));
    }
    let listed = process.services.accounts.list().await.unwrap();
    assert_eq!(listed[0].signed_in_at, Some(NOW));
}

/// Signs in. Returns the answer and the number of hashes that were computed for it, which take
/// almost all the time of a sign-in.
async fn sign_in_counting_hashes(
    processes: &TwoProcesses,
    address: &str,
    password: &str,
    client: &ClientInfo,
) -> (Answer, u32) {
    let hashes = || processes.first.services.sign_in.computed_hashes();
    let before = hashes();
    let result = processes.first.sign_in(address, password, client).await;
    (answer(&result), hashes() - before)
}

async fn every_account_that_cannot_sign_in_is_refused_like_a_wrong_password(
    processes: &TwoProcesses,
) {
    for address in [ADA, "disabled@example.com", "reset@example.com"] {
        processes.set_up(address).await;
    }
    processes.invite("invited@example.com").await;
    processes.disable("disabled@example.com").await;
    processes.reset("reset@example.com").await;
    for (number, (address, password)) in (1..).zip([
        (ADA, "another password"),
        (ADA, "correct horse battery staplE"),
        (ADA, ""),
        ("unknown@example.com", PASSWORD),
        ("no address", PASSWORD),
        ("", ""),
        ("disabled@example.com", PASSWORD),
        ("reset@example.com", PASSWORD),
        ("invited@example.com", PASSWORD),
    ]) {
        let found = sign_in_counting_hashes(processes, address, password, &client(number)).await;
        assert_eq!(found, (Answer::Refused, 1), "{address}");
    }
    let known = sign_in_counting_hashes(processes, ADA, PASSWORD, &client(20)).await;
    assert_eq!(known, (Answer::Session, 1));
}

/// Failures at these minutes, and the answer to a wrong password at the last one.
async fn five_failures_within_fifteen_minutes_lock_the_account_for_fifteen_minutes(
    processes: &TwoProcesses,
) {
    let locked = |retry_after_s| Answer::Locked { retry_after_s };
    let cases: [(&[i64], i64, Answer); 8] = [
        (&[0, 1, 2, 3], 4 * MINUTE_MS, Answer::Refused),
        (&[0, 0, 0, 0, 0], 0, locked(900)),
        (&[0, 0, 0, 0, 0], 15 * MINUTE_MS - 1, locked(1)),
        (&[0, 0, 0, 0, 0], 15 * MINUTE_MS, Answer::Refused),
        // The lock is counted from the fifth failure.
        (&[0, 3, 6, 9, 12], 26 * MINUTE_MS, locked(60)),
        (&[0, 3, 6, 9, 12], 27 * MINUTE_MS, Answer::Refused),
        // The window slides: the first failure no longer counts.
        (&[0, 3, 6, 9, 15], 16 * MINUTE_MS, Answer::Refused),
        (&[0, 3, 6, 9, 15, 16], 17 * MINUTE_MS, locked(840)),
    ];
    for (number, (minutes, at_ms, expected)) in (1..).zip(cases) {
        let account = format!("person-{number}@example.com");
        for minute in minutes {
            processes.set_clock(minute * MINUTE_MS);
            let failed = processes.first.fail(&account, &client(number)).await;
            assert_eq!(failed, Answer::Refused, "case {number}");
        }
        processes.set_clock(at_ms);
        let found = processes.first.fail(&account, &client(100 + number)).await;
        assert_eq!(found, expected, "case {number}");
        processes.set_clock(0);
    }
}

async fn fail_five_times(processes: &TwoProcesses, address: &str, client: &ClientInfo) {
    for _ in 0..5 {
        assert_eq!(processes.first.fail(address, client).await, Answer::Refused);
    }
}

async fn locked_account_refuses_the_right_password_from_any_address(processes: &TwoProcesses) {
    processes.set_up(ADA).await;
    processes.set_up("zoe@example.com").await;
    for number in 1..=5 {
        let failed = processes.first.fail(ADA, &client(number)).await;
        assert_eq!(failed, Answer::Refused);
    }
    let locked = Answer::Locked { retry_after_s: 900 };
    for (address, expected) in [(ADA, locked), ("zoe@example.com", Answer::Session)] {
        let client = client(9);
        let result = processes.other.sign_in(address, PASSWORD, &client);
        assert_eq!(answer(&result.await), expected, "{address}");
    }
    processes.set_clock(15 * MINUTE_MS);
    let result = processes.first.sign_in(ADA, PASSWORD, &client(9)).await;
    assert_eq!(answer(&result), Answer::Session);
}

async fn unknown_account_is_locked_like_a_known_one(processes: &TwoProcesses) {
    processes.set_up(ADA).await;
    for (number, address) in [(1, ADA), (2, "unknown@example.com"), (3, "no address")] {
        fail_five_times(processes, address, &client(number)).await;
        let locked = processes.first.fail(address, &client(9)).await;
        assert_eq!(locked, Answer::Locked { retry_after_s: 900 }, "{address}");
    }
}

async fn five_failures_lock_the_address_for_all_accounts(processes: &TwoProcesses) {
    processes.set_up(ADA).await;
    for number in 1..=5 {
        let account = format!("person-{number}@example.com");
        let failed = processes.first.fail(&account, &client(1)).await;
        assert_eq!(failed, Answer::Refused);
    }
    let locked = Answer::Locked { retry_after_s: 900 };
    for (number, expected) in [(1, locked), (2, Answer::Session)] {
        let client = client(number);
        let result = processes.other.sign_in(ADA, PASSWORD, &client);
        assert_eq!(answer(&result.await), expected, "client {number}");
    }
}

async fn ipv6_addresses_of_one_network_are_locked_together(processes: &TwoProcesses) {
    for number in 1..=5 {
        let account = format!("person-{number}@example.com");
        let client = client_at(&format!("2001:db8:0:1:{number}::{number}"));
        let failed = processes.first.fail(&account, &client).await;
        assert_eq!(failed, Answer::Refused);
    }
    for (address, expected) in [
        ("2001:db8:0:1::9", Answer::Locked { retry_after_s: 900 }),
        ("2001:db8:0:2::9", Answer::Refused),
    ] {
        let found = processes.first.fail(ADA, &client_at(address)).await;
        assert_eq!(found, expected, "{address}");
    }
}

async fn success_clears_the_failures_of_the_account_only(processes: &TwoProcesses) {
    processes.set_up(ADA).await;
    let (process, here, elsewhere) = (&processes.first, client(1), client(2));
    for _ in 0..4 {
        assert_eq!(process.fail(ADA, &here).await, Answer::Refused);
    }
    for _ in 0..3 {
        let result = process.sign_in(ADA, PASSWORD, &here).await;
        assert_eq!(answer(&result), Answer::Session);
    }
    // The address still has four failures: the next one is its fifth.
    assert_eq!(process.fail(ADA, &here).await, Answer::Refused);
    let locked = Answer::Locked { retry_after_s: 900 };
    assert_eq!(process.fail("zoe@example.com", &here).await, locked);
    // The account has the one since its last success.
    for _ in 0..4 {
        assert_eq!(process.fail(ADA, &elsewhere).await, Answer::Refused);
    }
    assert_eq!(process.fail(ADA, &client(3)).await, locked);
}

async fn hundred_attempts_at_once_check_five_passwords(processes: &TwoProcesses) {
    processes.set_up(ADA).await;
    let both = [&processes.first, &processes.other];
    let attempts = (0..100_u8).map(|number| {
        let process = both[usize::from(number % 2)];
        async move { process.fail(ADA, &client(number)).await }
    });
    let answers = join_all(attempts).await;
    let refused = answers.iter().filter(|one| **one == Answer::Refused);
    assert_eq!(refused.count(), 5, "{answers:?}");
    let locked = Answer::Locked { retry_after_s: 900 };
    let locked = answers.iter().filter(|one| **one == locked);
    assert_eq!(locked.count(), 95, "{answers:?}");
}

async fn people_who_sign_in_at_once_do_not_lock_their_address(processes: &TwoProcesses) {
    let people: Vec<_> = (0..12).map(|n| format!("person-{n}@example.com")).collect();
    for address in &people {
        processes.set_up(address).await;
    }
    let client = client(1);
    let sign_ins = people
        .iter()
        .map(|address| processes.first.sign_in(address, PASSWORD, &client));
    for result in join_all(sign_ins).await {
        assert_eq!(answer(&result), Answer::Session);
    }
}

/// Begins a sign-in and hangs up while its password is checked. The check then ends with this error.
async fn hang_up(limiter: &SignInLimiter, error: fn() -> SignInError) {
    let (begin, begun) = oneshot::channel();
    let (release, released) = oneshot::channel();
    let check = move |_| async move {
        begin.send(()).unwrap();
        released.await.unwrap();
        Err::<(), _>(error())
    };
    let subjects = SignInSubjects::new(ADA, client(1).address);
    let sign_in = limiter.run(subjects, is_wrong_password, check);
    tokio::select! {
        begun = begun => begun.unwrap(),
        result = sign_in => panic!("{result:?}"),
    }
    release.send(()).unwrap();
    limiter.tasks.begin_shutdown();
    assert!(limiter.tasks.wait_for_tasks(Duration::from_secs(30)).await);
}

const fn is_wrong_password(error: &SignInError) -> bool {
    matches!(error, SignInError::Refused)
}

async fn sign_ins_whose_clients_hang_up_are_decided(processes: &TwoProcesses) {
    processes.set_up(ADA).await;
    let limiter = || SignInLimiter {
        base: processes.first.base.clone(),
        tasks: TaskSupervisor::default(),
    };
    for _ in 0..6 {
        hang_up(&limiter(), || SignInError::Busy).await;
    }
    // Nobody can try passwords without a limit by hanging up.
    for _ in 0..5 {
        hang_up(&limiter(), || SignInError::Refused).await;
    }
    let locked = Answer::Locked { retry_after_s: 900 };
    assert_eq!(processes.first.fail(ADA, &client(1)).await, locked);
}

async fn attempts_without_a_check_do_not_count(processes: &TwoProcesses) {
    let limiter = SignInLimiter {
        base: processes.first.base.clone(),
        tasks: TaskSupervisor::default(),
    };
    let attempt = async |result: fn() -> SignInError| {
        let subjects = SignInSubjects::new(ADA, client(1).address);
        let check = move |_| async move { Err::<(), _>(result()) };
        limiter
            .run(subjects, is_wrong_password, check)
            .await
            .unwrap_err()
    };
    for _ in 0..6 {
        let error = attempt(|| SignInError::Busy).await;
        assert!(matches!(error, SignInError::Busy), "{error:?}");
    }
    for _ in 0..5 {
        let error = attempt(|| SignInError::Refused).await;
        assert!(matches!(error, SignInError::Refused), "{error:?}");
    }
    let error = attempt(|| SignInError::Refused).await;
    assert!(matches!(error, SignInError::Locked { .. }), "{error:?}");
}
