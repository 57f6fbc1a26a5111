//! Links that set up accounts.

use super::*;
use crate::account::setup::{LinkDescription, SetupError};
use futures::future::join_all;
use host_domain::account::{AccountState, PasswordProblem};

on_both_databases!(
    link_is_valid_once_within_a_day,
    concurrent_uses_of_a_link_set_up_one_account,
    refused_password_leaves_the_link_valid,
    first_account_chooses_its_address_and_gets_the_roles_of_its_link,
    newer_first_link_revokes_the_older_one,
    first_link_ends_when_an_operator_can_sign_in,
    link_ends_when_the_account_is_disabled_or_reset,
    reset_replaces_the_password_and_enables_the_account,
);

async fn complete(
    process: &Process,
    token: &SecretString,
    address: &str,
    password: &str,
) -> Result<NewSession, SetupError> {
    let setup = &process.services.setup;
    let client = client(1);
    let completed = setup.complete(token.expose_secret(), address, password.into(), &client);
    completed.await
}

async fn describe(processes: &TwoProcesses, token: &SecretString) -> Option<LinkDescription> {
    let setup = &processes.other.services.setup;
    match setup.describe(token.expose_secret()).await {
        Ok(description) => Some(description),
        Err(SetupError::NotFound) => None,
        Err(error) => panic!("{error:?}"),
    }
}

async fn link_is_valid_once_within_a_day(processes: &TwoProcesses) {
    for (number, at_ms, is_valid) in [(1, 24 * HOUR_MS - 1, true), (2, 24 * HOUR_MS, false)] {
        processes.set_clock(0);
        let address = format!("{number}@example.com");
        let token = processes.invite(&address).await;
        processes.set_clock(at_ms);
        let expected = is_valid.then(|| LinkDescription {
            email: Some(email(&address)),
            roles: roles(),
            joins: None,
        });
        assert_eq!(describe(processes, &token).await, expected);
        // The address of the form is not used: the link has one.
        let result = complete(&processes.first, &token, "eve@example.com", PASSWORD).await;
        assert_eq!(result.is_ok(), is_valid, "{result:?}");
        if let Ok(session) = result {
            let viewer = processes.first.find(&session).await.unwrap();
            assert_eq!(viewer.email, email(&address));
        }
        let again = complete(&processes.first, &token, &address, PASSWORD).await;
        assert!(matches!(again, Err(SetupError::NotFound)), "{again:?}");
        assert_eq!(describe(processes, &token).await, None);
    }
    let unknown = complete(&processes.first, &"x".into(), ADA, PASSWORD).await;
    assert!(matches!(unknown, Err(SetupError::NotFound)), "{unknown:?}");
}

async fn concurrent_uses_of_a_link_set_up_one_account(processes: &TwoProcesses) {
    let setup = &processes.first.services.setup;
    for is_first in [true, false] {
        let token = match is_first {
            true => setup.create_first_link(roles()).await.unwrap().unwrap(),
            false => processes.invite(ADA).await,
        };
        let both = [&processes.first, &processes.other];
        let uses = (0..6).map(|number| {
            let (process, token) = (both[number % 2], &token);
            async move {
                let address = format!("{number}@example.com");
                complete(process, token, &address, PASSWORD).await
            }
        });
        let results = join_all(uses).await;
        let done = results.iter().filter(|result| result.is_ok());
        assert_eq!(done.count(), 1, "{results:?}");
        let mut failed = results.iter().filter_map(|result| result.as_ref().err());
        assert!(failed.all(|error| matches!(error, SetupError::NotFound)));
    }
    let accounts = processes.first.services.accounts.list().await.unwrap();
    assert_eq!(accounts.len(), 2, "{accounts:?}");
}

async fn refused_password_leaves_the_link_valid(processes: &TwoProcesses) {
    let token = processes.invite(ADA).await;
    for (password, expected) in [
        ("elevenchars", PasswordProblem::TooShort),
        (&"x".repeat(129), PasswordProblem::TooLong),
        ("Ada@example.com", PasswordProblem::EqualsEmail),
        ("Qwerty123456", PasswordProblem::TooCommon),
    ] {
        let result = complete(&processes.first, &token, ADA, password).await;
        let Err(SetupError::Password(problem)) = result else {
            panic!("{password}: {result:?}")
        };
        assert_eq!(problem, expected);
    }
    let longest = "x".repeat(128);
    complete(&processes.first, &token, ADA, &longest)
        .await
        .unwrap();
    let signed_in = processes.first.sign_in(ADA, &longest, &client(1)).await;
    assert_eq!(answer(&signed_in), Answer::Session);
}

async fn first_account_chooses_its_address_and_gets_the_roles_of_its_link(
    processes: &TwoProcesses,
) {
    let setup = &processes.first.services.setup;
    let mut roles = roles();
    roles.insert(0, AccountRole::Operator);
    let token = setup.create_first_link(roles.clone()).await;
    let token = token.unwrap().unwrap();
    let expected = LinkDescription {
        email: None,
        roles: roles.clone(),
        joins: None,
    };
    assert_eq!(describe(processes, &token).await, Some(expected));
    let invalid = complete(&processes.first, &token, "no address", PASSWORD).await;
    assert!(matches!(invalid, Err(SetupError::Email(_))), "{invalid:?}");
    let session = complete(&processes.first, &token, ADA, PASSWORD)
        .await
        .unwrap();
    let viewer = processes.first.find(&session).await.unwrap();
    assert_eq!(viewer.roles, roles);
    assert!(setup.create_first_link(roles).await.unwrap().is_none());
}

async fn newer_first_link_revokes_the_older_one(processes: &TwoProcesses) {
    let link = async || {
        let setup = &processes.first.services.setup;
        setup.create_first_link(roles()).await.unwrap().unwrap()
    };
    let (older, newer) = (link().await, link().await);
    assert_eq!(describe(processes, &older).await, None);
    assert!(describe(processes, &newer).await.is_some());
}

/// The link gives the roles of an operator to anyone who has it.
async fn first_link_ends_when_an_operator_can_sign_in(processes: &TwoProcesses) {
    let services = &processes.first.services;
    let first = services
        .setup
        .create_first_link(vec![AccountRole::Operator]);
    let first = first.await.unwrap().unwrap();
    processes.set_up("viewer@example.com").await;
    let operator = vec![AccountRole::Operator];
    let invited = services
        .accounts
        .create(&Actor::system(), &email(ADA), operator)
        .await
        .unwrap();
    assert!(describe(processes, &first).await.is_some());
    complete(&processes.first, &invited, ADA, PASSWORD)
        .await
        .unwrap();
    assert_eq!(describe(processes, &first).await, None);
    let refused = complete(&processes.first, &first, "eve@example.com", PASSWORD).await;
    assert!(matches!(refused, Err(SetupError::NotFound)), "{refused:?}");
    let newer = services.setup.create_first_link(roles()).await;
    assert!(newer.unwrap().is_none());
}

async fn link_ends_when_the_account_is_disabled_or_reset(processes: &TwoProcesses) {
    for (address, is_reset) in [("a@example.com", true), ("b@example.com", false)] {
        let older = processes.invite(address).await;
        let newer = match is_reset {
            true => Some(processes.reset(address).await),
            false => None,
        };
        if newer.is_none() {
            processes.disable(address).await;
        }
        let refused = complete(&processes.first, &older, address, PASSWORD).await;
        assert!(matches!(refused, Err(SetupError::NotFound)), "{refused:?}");
        if let Some(newer) = newer {
            let done = complete(&processes.first, &newer, address, PASSWORD).await;
            done.unwrap();
        }
    }
}

async fn reset_replaces_the_password_and_enables_the_account(processes: &TwoProcesses) {
    processes.set_up(ADA).await;
    let state = async || {
        let accounts = processes.first.services.accounts.list().await.unwrap();
        accounts[0].state
    };
    processes.disable(ADA).await;
    assert_eq!(state().await, AccountState::Disabled);
    let token = processes.reset(ADA).await;
    assert_eq!(state().await, AccountState::Invited);
    let old = processes.first.sign_in(ADA, PASSWORD, &client(1)).await;
    assert_eq!(answer(&old), Answer::Refused);
    let new = "another password";
    complete(&processes.first, &token, ADA, new).await.unwrap();
    assert_eq!(state().await, AccountState::Active);
    for (password, expected) in [(PASSWORD, Answer::Refused), (new, Answer::Session)] {
        let result = processes.first.sign_in(ADA, password, &client(2)).await;
        assert_eq!(answer(&result), expected, "{password}");
    }
}
