//! Accounts as operators manage them.

use super::*;
use crate::account::service::AccountError;
use futures::future::join_all;
use host_domain::account::AccountState;

on_both_databases!(
    accounts_are_listed_with_their_roles,
    address_has_one_account,
    unknown_account_is_not_found,
    concurrent_changes_of_an_account_all_happen,
);

async fn accounts_are_listed_with_their_roles(processes: &TwoProcesses) {
    let accounts = &processes.first.services.accounts;
    let operator = vec![AccountRole::Operator];
    accounts
        .create(
            &Actor::system(),
            &email("zoe@example.com"),
            operator.clone(),
        )
        .await
        .unwrap();
    processes.set_up(ADA).await;
    let listed = processes.other.services.accounts.list().await.unwrap();
    let seen: Vec<_> = listed
        .iter()
        .map(|account| (account.email.as_str(), account.state, &account.roles))
        .collect();
    let expected = [
        (ADA, AccountState::Active, &roles()),
        ("zoe@example.com", AccountState::Invited, &operator),
    ];
    assert_eq!(seen, expected);
}

async fn address_has_one_account(processes: &TwoProcesses) {
    let created = (0..6).map(async |_| {
        let accounts = &processes.first.services.accounts;
        accounts
            .create(&Actor::system(), &email(ADA), roles())
            .await
    });
    let results = join_all(created).await;
    let done = results.iter().filter(|result| result.is_ok());
    assert_eq!(done.count(), 1, "{results:?}");
    let mut failed = results.iter().filter_map(|result| result.as_ref().err());
    assert!(failed.all(|error| matches!(error, AccountError::Exists)));
}

async fn unknown_account_is_not_found(processes: &TwoProcesses) {
    let accounts = &processes.first.services.accounts;
    let disabled = accounts.disable(&Actor::system(), &email(ADA)).await;
    assert!(matches!(disabled, Err(AccountError::NotFound)));
    let reset = accounts.reset(&Actor::system(), &email(ADA)).await;
    assert!(matches!(reset, Err(AccountError::NotFound)));
}

async fn concurrent_changes_of_an_account_all_happen(processes: &TwoProcesses) {
    processes.invite(ADA).await;
    let both = [&processes.first, &processes.other];
    let resets = (0..8).map(async |number: usize| {
        let accounts = &both[number % 2].services.accounts;
        accounts.reset(&Actor::system(), &email(ADA)).await.unwrap()
    });
    let tokens = join_all(resets).await;
    let valid = tokens.iter().map(async |token| {
        let described = processes
            .first
            .services
            .setup
            .describe(token.expose_secret());
        described.await.is_ok()
    });
    // Each reset revokes the link of the one before.
    let valid = join_all(valid).await;
    let valid = valid.into_iter().filter(|is_valid| *is_valid);
    assert_eq!(valid.count(), 1);
}
