//! Codes of authenticator apps and recovery codes.

use super::*;
use crate::account::password_change::ChangePasswordError;
use crate::account::sign_in::SecondFactor;
use crate::account::two_factor::TwoFactorError;
use futures::future::join_all;
use totp_rs::{Builder, Secret};

on_both_databases!(
    code_signs_in_once,
    concurrent_uses_of_a_code_begin_one_session,
    recovery_code_signs_in_once,
    wrong_codes_lock_the_account_even_for_those_who_know_the_password,
    people_with_codes_do_not_lock_their_address,
    challenge_ends_in_ten_minutes_and_when_the_account_changes,
    set_up_is_confirmed_by_its_own_session_with_a_right_code,
    turning_off_requires_the_current_password,
    reset_removes_the_second_factor,
);

/// A time at which a step of 30 s begins.
const STEP_MS: i64 = 30_000;

/// A person who uses an authenticator app.
struct Person {
    viewer: Arc<Viewer>,
    secret: SecretString,
    recovery_codes: Vec<SecretString>,
}

impl Person {
    /// Sets up an account with a second factor.
    async fn new(processes: &TwoProcesses, address: &str) -> Self {
        let session = processes.set_up(address).await;
        let viewer = processes.first.find(&session).await.unwrap();
        let two_factor = &processes.first.services.two_factor;
        let enrolment = two_factor.begin(&viewer).await.unwrap();
        let code = code_at(processes, &enrolment.secret);
        let confirmed = two_factor.confirm(&viewer, &enrolment.token, &code);
        Self {
            recovery_codes: confirmed.await.unwrap(),
            secret: enrolment.secret,
            viewer,
        }
    }

    fn code(&self, processes: &TwoProcesses) -> String {
        code_at(processes, &self.secret)
    }
}

/// Returns the code that an app shows now.
fn code_at(processes: &TwoProcesses, secret: &SecretString) -> String {
    let secret = Secret::try_from_base32(secret.expose_secret()).unwrap();
    let totp = Builder::new().with_secret(secret).build().unwrap();
    let seconds = u64::try_from(processes.first.base.now().0 / 1000).unwrap();
    totp.generate(seconds).to_string()
}

async fn challenge(process: &Process, address: &str, client: &ClientInfo) -> SecretString {
    match process.give_password(address, PASSWORD, client).await {
        Ok(SignInStep::CodeRequired { challenge }) => challenge,
        other => panic!("{other:?}"),
    }
}

/// Gives the right password and then a code.
async fn sign_in_with(process: &Process, factor: SecondFactor<'_>, client: &ClientInfo) -> Answer {
    let challenge = challenge(process, ADA, client).await;
    let sign_in = &process.services.sign_in;
    answer(&sign_in.with_second_factor(&challenge, factor, client).await)
}

async fn code_signs_in_once(processes: &TwoProcesses) {
    let person = Person::new(processes, ADA).await;
    for (after_ms, code, expected) in [
        (0, None, Answer::Session),
        (0, None, Answer::Refused),
        (STEP_MS, None, Answer::Session),
        // A code of an earlier step than the last one used.
        (STEP_MS, Some(0), Answer::Refused),
    ] {
        processes.set_clock(code.unwrap_or(after_ms));
        let code = person.code(processes);
        processes.set_clock(after_ms);
        let process = &processes.other;
        let found = sign_in_with(process, SecondFactor::Totp(&code), &client(1)).await;
        assert_eq!(found, expected, "after {after_ms} ms");
    }
}

async fn concurrent_uses_of_a_code_begin_one_session(processes: &TwoProcesses) {
    let person = Person::new(processes, ADA).await;
    let code = person.code(processes);
    let both = [&processes.first, &processes.other];
    let challenge = challenge(&processes.first, ADA, &client(1)).await;
    let uses = (0..4_u8).map(|number| {
        let sign_in = &both[usize::from(number % 2)].services.sign_in;
        let (challenge, code, client) = (&challenge, &code, client(number));
        async move {
            let factor = SecondFactor::Totp(code);
            answer(&sign_in.with_second_factor(challenge, factor, &client).await)
        }
    });
    let answers = join_all(uses).await;
    let sessions = answers.iter().filter(|one| **one == Answer::Session);
    assert_eq!(sessions.count(), 1, "{answers:?}");
}

async fn recovery_code_signs_in_once(processes: &TwoProcesses) {
    let person = Person::new(processes, ADA).await;
    assert_eq!(person.recovery_codes.len(), 10);
    let first = person.recovery_codes[0].expose_secret();
    let second = person.recovery_codes[1].expose_secret().to_uppercase();
    for (code, expected) in [
        (first, Answer::Session),
        (first, Answer::Refused),
        (&second, Answer::Session),
        ("", Answer::Refused),
        // The code of an app is no recovery code.
        (&person.code(processes), Answer::Refused),
    ] {
        let factor = SecondFactor::RecoveryCode(code);
        let found = sign_in_with(&processes.first, factor, &client(1)).await;
        assert_eq!(found, expected, "{code}");
    }
    let two_factor = &processes.first.services.two_factor;
    let methods = two_factor.methods(&person.viewer).await.unwrap();
    assert_eq!(methods.recovery_codes, 8);
}

/// The right password between wrong codes must not clear their count.
async fn wrong_codes_lock_the_account_even_for_those_who_know_the_password(
    processes: &TwoProcesses,
) {
    let person = Person::new(processes, ADA).await;
    let process = &processes.first;
    for number in 1..=5 {
        let factor = SecondFactor::Totp("000000");
        let found = sign_in_with(process, factor, &client(number)).await;
        assert_eq!(found, Answer::Refused, "{number}");
    }
    let locked = Answer::Locked { retry_after_s: 900 };
    let password = process.give_password(ADA, PASSWORD, &client(9)).await;
    let Err(SignInError::Locked { retry_after_s: 900 }) = password else {
        panic!("{password:?}")
    };
    // A challenge from before the lock does not open the account either.
    processes.set_clock(15 * MINUTE_MS);
    let open = challenge(process, ADA, &client(9)).await;
    for number in 1..=5 {
        processes.first.fail(ADA, &client(number)).await;
    }
    let code = person.code(processes);
    let sign_in = &process.services.sign_in;
    let (factor, client) = (SecondFactor::Totp(&code), client(9));
    let late = sign_in.with_second_factor(&open, factor, &client).await;
    assert_eq!(answer(&late), locked);
}

async fn people_with_codes_do_not_lock_their_address(processes: &TwoProcesses) {
    let person = Person::new(processes, ADA).await;
    for number in 0..8 {
        processes.set_clock(number * STEP_MS);
        let code = person.code(processes);
        let factor = SecondFactor::Totp(&code);
        let found = sign_in_with(&processes.first, factor, &client(1)).await;
        assert_eq!(found, Answer::Session, "{number}");
    }
}

async fn challenge_ends_in_ten_minutes_and_when_the_account_changes(processes: &TwoProcesses) {
    let person = Person::new(processes, ADA).await;
    let process = &processes.first;
    for (number, change, after_ms) in [
        (1, "nothing", 10 * MINUTE_MS - 1),
        (2, "time", 10 * MINUTE_MS),
        (3, "password", 0),
        (4, "disabled", 0),
    ] {
        processes.set_clock(i64::from(number) * HOUR_MS);
        let open = challenge(process, ADA, &client(number)).await;
        match change {
            "password" => {
                let client = client(number);
                let passwords = &processes.other.services.passwords;
                let changed =
                    passwords.change(&person.viewer, PASSWORD.into(), PASSWORD.into(), &client);
                changed.await.unwrap();
            }
            "disabled" => processes.disable(ADA).await,
            _ => processes.set_clock(i64::from(number) * HOUR_MS + after_ms),
        }
        let code = person.code(processes);
        let factor = SecondFactor::Totp(&code);
        let sign_in = &process.services.sign_in;
        let client = client(number);
        let result = sign_in.with_second_factor(&open, factor, &client).await;
        match (change, result) {
            ("nothing", Ok(_)) | (_, Err(SignInError::ChallengeEnded)) => {}
            (_, other) => panic!("{change}: {other:?}"),
        }
    }
    let sign_in = &process.services.sign_in;
    let factor = SecondFactor::Totp("000000");
    for invented in ["", "nonsense", "AWEx"] {
        let (challenge, client) = (invented.into(), client(1));
        let result = sign_in
            .with_second_factor(&challenge, factor, &client)
            .await;
        assert!(matches!(result, Err(SignInError::ChallengeEnded)));
    }
}

async fn set_up_is_confirmed_by_its_own_session_with_a_right_code(processes: &TwoProcesses) {
    let session = processes.set_up(ADA).await;
    let viewer = processes.first.find(&session).await.unwrap();
    let other = processes.first.sign_in(ADA, PASSWORD, &client(1)).await;
    let other = processes.first.find(&other.unwrap()).await.unwrap();
    let two_factor = &processes.first.services.two_factor;
    let enrolment = two_factor.begin(&viewer).await.unwrap();
    let code = code_at(processes, &enrolment.secret);
    let foreign = two_factor.confirm(&other, &enrolment.token, &code).await;
    assert!(matches!(foreign, Err(TwoFactorError::UnknownEnrolment)));
    let wrong = two_factor
        .confirm(&viewer, &enrolment.token, "000000")
        .await;
    assert!(matches!(wrong, Err(TwoFactorError::WrongCode)));
    assert!(!two_factor.methods(&viewer).await.unwrap().has_totp);
    let again = two_factor.resume(&viewer, &enrolment.token).unwrap();
    assert_eq!(
        again.secret.expose_secret(),
        enrolment.secret.expose_secret()
    );
    // Until it is confirmed, the password alone signs in.
    processes
        .first
        .sign_in(ADA, PASSWORD, &client(1))
        .await
        .unwrap();
    let confirmed = two_factor.confirm(&viewer, &enrolment.token, &code).await;
    confirmed.unwrap();
    let twice = two_factor.confirm(&viewer, &enrolment.token, &code).await;
    assert!(matches!(twice, Err(TwoFactorError::NotAvailable)));
    let second = two_factor.begin(&viewer).await;
    assert!(matches!(second, Err(TwoFactorError::NotAvailable)));
}

async fn turning_off_requires_the_current_password(processes: &TwoProcesses) {
    let person = Person::new(processes, ADA).await;
    let two_factor = &processes.first.services.two_factor;
    let turn_off = async |password: &str, number| {
        let client = client(number);
        two_factor
            .turn_off(&person.viewer, password.into(), &client)
            .await
    };
    for number in 1..=4 {
        let wrong = turn_off("a wrong password", number).await;
        assert!(matches!(wrong, Err(ChangePasswordError::WrongPassword)));
    }
    assert!(two_factor.methods(&person.viewer).await.unwrap().has_totp);
    turn_off(PASSWORD, 5).await.unwrap();
    processes
        .first
        .sign_in(ADA, PASSWORD, &client(6))
        .await
        .unwrap();
    for number in 1..=5 {
        let wrong = turn_off("a wrong password", number).await;
        assert!(matches!(wrong, Err(ChangePasswordError::WrongPassword)));
    }
    let locked = turn_off(PASSWORD, 7).await;
    assert!(matches!(locked, Err(ChangePasswordError::Locked { .. })));
}

/// A person who has lost the device and the codes gets a new link from an operator.
async fn reset_removes_the_second_factor(processes: &TwoProcesses) {
    let person = Person::new(processes, ADA).await;
    let token = processes.reset(ADA).await;
    let setup = &processes.first.services.setup;
    let client = client(1);
    let completed = setup.complete(token.expose_secret(), "", PASSWORD.into(), &client);
    completed.await.unwrap();
    processes
        .first
        .sign_in(ADA, PASSWORD, &client)
        .await
        .unwrap();
    let two_factor = &processes.first.services.two_factor;
    let methods = two_factor.methods(&person.viewer).await.unwrap();
    assert_eq!((methods.has_totp, methods.recovery_codes), (false, 0));
}
