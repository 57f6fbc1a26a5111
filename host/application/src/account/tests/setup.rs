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
    host: &Host,
    token: &SecretString,
    address: &str,
    password: &str,
) -> Result<NewSession, SetupError> {
    let setup = &host.services.setup;
    let client = client(1);
    let completed = setup.complete(token.expose_secret(), address, password.into(), &client);
    completed.await
}

async fn describe(office: &Office, token: &SecretString) -> Option<LinkDescription> {
    let setup = &office.other_host.services.setup;
    match setup.describe(token.expose_secret()).await {
        Ok(description) => Some(description),
        Err(SetupError::NotFound) => None,
        Err(error) => panic!("{error:?}"),
    }
}

async fn link_is_valid_once_within_a_day(office: &Office) {
    for (number, at_ms, is_valid) in [(1, 24 * HOUR_MS - 1, true), (2, 24 * HOUR_MS, false)] {
        office.set_clock(0);
        let address = format!("{number}@example.com");
        let token = office.invite(&address).await;
        office.set_clock(at_ms);
        let expected = is_valid.then(|| LinkDescription {
            email: Some(email(&address)),
            roles: roles(),
            joins: None,
        });
        assert_eq!(describe(office, &token).await, expected);
        // The address of the form is not used: the link has one.
        let result = complete(&office.host, &token, "eve@example.com", PASSWORD).await;
        assert_eq!(result.is_ok(), is_valid, "{result:?}");
        if let Ok(session) = result {
            let viewer = office.host.find(&session).await.unwrap();
            assert_eq!(viewer.email, email(&address));
        }
        let again = complete(&office.host, &token, &address, PASSWORD).await;
        assert!(matches!(again, Err(SetupError::NotFound)), "{again:?}");
        assert_eq!(describe(office, &token).await, None);
    }
    let unknown = complete(&office.host, &"x".into(), ADA, PASSWORD).await;
    assert!(matches!(unknown, Err(SetupError::NotFound)), "{unknown:?}");
}

async fn concurrent_uses_of_a_link_set_up_one_account(office: &Office) {
    let setup = &office.host.services.setup;
    for is_first in [true, false] {
        let token = match is_first {
            true => setup.create_first_link(roles()).await.unwrap().unwrap(),
            false => office.invite(ADA).await,
        };
        let hosts = [&office.host, &office.other_host];
        let uses = (0..6).map(|number| {
            let (host, token) = (hosts[number % 2], &token);
            async move {
                let address = format!("{number}@example.com");
                complete(host, token, &address, PASSWORD).await
            }
        });
        let results = join_all(uses).await;
        let done = results.iter().filter(|result| result.is_ok());
        assert_eq!(done.count(), 1, "{results:?}");
        let mut failed = results.iter().filter_map(|result| result.as_ref().err());
        assert!(failed.all(|error| matches!(error, SetupError::NotFound)));
    }
    let accounts = office.host.services.accounts.list().await.unwrap();
    assert_eq!(accounts.len(), 2, "{accounts:?}");
}

async fn refused_password_leaves_the_link_valid(office: &Office) {
    let token = office.invite(ADA).await;
    for (password, expected) in [
        ("elevenchars", PasswordProblem::TooShort),
        (&"x".repeat(129), PasswordProblem::TooLong),
        ("Ada@example.com", PasswordProblem::EqualsEmail),
        ("Qwerty123456", PasswordProblem::TooCommon),
    ] {
        let result = complete(&office.host, &token, ADA, password).await;
        let Err(SetupError::Password(problem)) = result else {
            panic!("{password}: {result:?}")
        };
        assert_eq!(problem, expected);
    }
    let longest = "x".repeat(128);
    complete(&office.host, &token, ADA, &longest).await.unwrap();
    let signed_in = office.host.sign_in(ADA, &longest, &client(1)).await;
    assert_eq!(answer(&signed_in), Answer::Session);
}

async fn first_account_chooses_its_address_and_gets_the_roles_of_its_link(office: &Office) {
    let setup = &office.host.services.setup;
    let mut roles = roles();
    roles.insert(0, AccountRole::Operator);
    let token = setup.create_first_link(roles.clone()).await;
    let token = token.unwrap().unwrap();
    let expected = LinkDescription {
        email: None,
        roles: roles.clone(),
        joins: None,
    };
    assert_eq!(describe(office, &token).await, Some(expected));
    let invalid = complete(&office.host, &token, "no address", PASSWORD).await;
    assert!(matches!(invalid, Err(SetupError::Email(_))), "{invalid:?}");
    let session = complete(&office.host, &token, ADA, PASSWORD).await.unwrap();
    let viewer = office.host.find(&session).await.unwrap();
    assert_eq!(viewer.roles, roles);
    assert!(setup.create_first_link(roles).await.unwrap().is_none());
}

async fn newer_first_link_revokes_the_older_one(office: &Office) {
    let link = async || {
        let setup = &office.host.services.setup;
        setup.create_first_link(roles()).await.unwrap().unwrap()
    };
    let (older, newer) = (link().await, link().await);
    assert_eq!(describe(office, &older).await, None);
    assert!(describe(office, &newer).await.is_some());
}

/// The link gives the roles of an operator to anyone who has it.
async fn first_link_ends_when_an_operator_can_sign_in(office: &Office) {
    let services = &office.host.services;
    let first = services
        .setup
        .create_first_link(vec![AccountRole::Operator]);
    let first = first.await.unwrap().unwrap();
    office.set_up("viewer@example.com").await;
    let operator = vec![AccountRole::Operator];
    let invited = services
        .accounts
        .create(&Actor::system(), &email(ADA), operator)
        .await
        .unwrap();
    assert!(describe(office, &first).await.is_some());
    complete(&office.host, &invited, ADA, PASSWORD)
        .await
        .unwrap();
    assert_eq!(describe(office, &first).await, None);
    let refused = complete(&office.host, &first, "eve@example.com", PASSWORD).await;
    assert!(matches!(refused, Err(SetupError::NotFound)), "{refused:?}");
    let newer = services.setup.create_first_link(roles()).await;
    assert!(newer.unwrap().is_none());
}

async fn link_ends_when_the_account_is_disabled_or_reset(office: &Office) {
    for (address, is_reset) in [("a@example.com", true), ("b@example.com", false)] {
        let older = office.invite(address).await;
        let newer = match is_reset {
            true => Some(office.reset(address).await),
            false => None,
        };
        if newer.is_none() {
            office.disable(address).await;
        }
        let refused = complete(&office.host, &older, address, PASSWORD).await;
        assert!(matches!(refused, Err(SetupError::NotFound)), "{refused:?}");
        if let Some(newer) = newer {
            let done = complete(&office.host, &newer, address, PASSWORD).await;
            done.unwrap();
        }
    }
}

async fn reset_replaces_the_password_and_enables_the_account(office: &Office) {
    office.set_up(ADA).await;
    let state = async || {
        let accounts = office.host.services.accounts.list().await.unwrap();
        accounts[0].state
    };
    office.disable(ADA).await;
    assert_eq!(state().await, AccountState::Disabled);
    let token = office.reset(ADA).await;
    assert_eq!(state().await, AccountState::Invited);
    let old = office.host.sign_in(ADA, PASSWORD, &client(1)).await;
    assert_eq!(answer(&old), Answer::Refused);
    let new = "another password";
    complete(&office.host, &token, ADA, new).await.unwrap();
    assert_eq!(state().await, AccountState::Active);
    for (password, expected) in [(PASSWORD, Answer::Refused), (new, Answer::Session)] {
        let result = office.host.sign_in(ADA, password, &client(2)).await;
        assert_eq!(answer(&result), expected, "{password}");
    }
}
