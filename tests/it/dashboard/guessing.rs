//! Passwords that somebody guesses.

use futures::future::join_all;
use tests::{
    DashboardClient, Database, PASSWORD, PageReply, Server, ServerOptions, on_both_databases,
};

on_both_databases!(
    account_is_locked_for_all_addresses,
    reset_and_new_password_lift_the_lock_of_the_account,
    address_is_locked_for_all_accounts,
    burst_checks_no_more_passwords_than_the_limit,
);

const EMAIL: &str = "ada@example.com";
const WRONG: &str = "something else";

/// Failures that lock an account or an address.
const FAILURES_MAX: usize = 5;

/// Starts a server behind a proxy on this machine, so that tests choose their address.
async fn start_behind_proxy(database: Database) -> Server {
    let options = ServerOptions::on(database);
    Server::start_with(options.config("[dashboard]\ntrusted_proxies = [\"127.0.0.1\"]")).await
}

/// Tries to sign in from an address.
async fn attempt(
    client: &DashboardClient,
    address: &str,
    email: &str,
    password: &str,
) -> PageReply {
    let origin = client.base.as_str();
    let headers = [("origin", origin), ("x-forwarded-for", address)];
    let fields = [("email", email), ("password", password)];
    client.post_from("/login", &headers, &fields).await
}

/// Returns the words of a refusal: the page without its nonce and the address that was sent.
fn words(reply: &PageReply, email: &str) -> String {
    let (_, rest) = reply.body.split_once("<main>").unwrap();
    rest.replace(email, "EMAIL")
}

async fn account_is_locked_for_all_addresses(database: Database) {
    let server = start_behind_proxy(database).await;
    DashboardClient::set_up(&server, EMAIL).await;
    let client = DashboardClient::new(&server);
    let mut refusals = Vec::new();
    for email in [EMAIL, "unknown@example.com"] {
        for at in 0..FAILURES_MAX {
            // Known and unknown accounts have networks of their own.
            let address = format!("2001:db8:{}:{at}::1", email.len());
            let reply = attempt(&client, &address, email, WRONG).await;
            assert_eq!(reply.status, 401, "{email} {at}");
            assert_eq!(reply.header("retry-after"), "");
            refusals.push(words(&reply, email));
        }
        for (spelling, password) in [(email.to_owned(), PASSWORD), (email.to_uppercase(), WRONG)] {
            let reply = attempt(&client, "192.0.2.9", &spelling, password).await;
            assert_eq!(reply.status, 429, "{spelling}");
            let wait_s: u64 = reply.header("retry-after").parse().unwrap();
            assert!((1..=900).contains(&wait_s), "{wait_s}");
            refusals.push(words(&reply, &spelling));
        }
    }
    refusals.dedup();
    assert_eq!(refusals.len(), 1, "the words tell nothing: {refusals:#?}");
    assert_eq!(client.cookie(), None);
}

async fn reset_and_new_password_lift_the_lock_of_the_account(database: Database) {
    let server = start_behind_proxy(database).await;
    DashboardClient::set_up(&server, EMAIL).await;
    let client = DashboardClient::new(&server);
    let guess = async |round: usize| {
        for at in 0..FAILURES_MAX {
            let address = format!("2001:db8:{round}:{at}::1");
            let reply = attempt(&client, &address, EMAIL, WRONG).await;
            assert_eq!(reply.status, 401, "{round} {at}");
        }
        let locked = attempt(&client, "192.0.2.1", EMAIL, PASSWORD).await;
        assert_eq!(locked.status, 429);
    };
    guess(0).await;
    let link = server.command("accounts", &["reset", EMAIL]).await;
    guess(1).await;
    let (_, token) = link.trim_end().rsplit_once('/').unwrap();
    client.use_link(&format!("/setup/{token}"), EMAIL).await;
    let reply = attempt(&client, "192.0.2.1", EMAIL, PASSWORD).await;
    assert_eq!(reply.status, 303);
}

async fn address_is_locked_for_all_accounts(database: Database) {
    let server = start_behind_proxy(database).await;
    DashboardClient::set_up(&server, EMAIL).await;
    let client = DashboardClient::new(&server);
    for at in 0..FAILURES_MAX {
        // Addresses of one IPv6 network belong to one subscriber.
        let (address, email) = (format!("2001:db8::{at}"), format!("{at}@example.com"));
        let reply = attempt(&client, &address, &email, WRONG).await;
        assert_eq!(reply.status, 401, "{at}");
    }
    let neighbour = attempt(&client, "2001:db8::ffff", EMAIL, PASSWORD).await;
    assert_eq!(neighbour.status, 429);
    // An entry that the client invents stands before the address that the proxy adds.
    let invented = attempt(&client, "192.0.2.1, 2001:db8::1", EMAIL, PASSWORD).await;
    assert_eq!(invented.status, 429);
    let other = attempt(&client, "2001:db8:0:1::1", EMAIL, PASSWORD).await;
    assert_eq!(other.status, 303, "other networks are not locked");
}

async fn burst_checks_no_more_passwords_than_the_limit(database: Database) {
    let server = start_behind_proxy(database).await;
    DashboardClient::set_up(&server, EMAIL).await;
    let client = DashboardClient::new(&server);
    let attempts = (0..100).map(|at| {
        let client = &client;
        async move {
            let address = format!("2001:db8:0:{at:x}::1");
            attempt(client, &address, EMAIL, WRONG).await.status
        }
    });
    let statuses = join_all(attempts).await;
    let count = |status| statuses.iter().filter(|found| **found == status).count();
    let counts = (count(401), count(429));
    assert_eq!(counts, (FAILURES_MAX, 100 - FAILURES_MAX), "{statuses:?}");
    let late = attempt(&client, "192.0.2.1", EMAIL, PASSWORD).await;
    assert_eq!(late.status, 429, "the right password comes too late");
}

/// Without a trusted proxy, the header is the client's own invention.
#[tokio::test]
async fn header_of_a_client_does_not_change_its_address() {
    let server = Server::start(Database::Sqlite).await;
    DashboardClient::set_up(&server, EMAIL).await;
    let client = DashboardClient::new(&server);
    for at in 0..FAILURES_MAX {
        let (address, email) = (format!("192.0.2.{at}"), format!("{at}@example.com"));
        let reply = attempt(&client, &address, &email, WRONG).await;
        assert_eq!(reply.status, 401, "{at}");
    }
    let reply = attempt(&client, "192.0.2.99", EMAIL, PASSWORD).await;
    assert_eq!(reply.status, 429);
}

/// Guesses of the current password on the account's page count like those of the sign-in.
#[tokio::test]
async fn session_is_no_way_to_guess_the_password() {
    let server = Server::start(Database::Sqlite).await;
    let client = DashboardClient::set_up(&server, EMAIL).await;
    let new = "another horse battery staple";
    let guess = async |current| {
        let fields = [
            ("current_password", current),
            ("new_password", new),
            ("repeat_password", new),
        ];
        client.post("/account/password", &fields).await.status
    };
    for _ in 0..FAILURES_MAX {
        assert_eq!(guess(WRONG).await, 422);
    }
    assert_eq!(
        guess(PASSWORD).await,
        429,
        "the right one is not checked any more"
    );
    let other = DashboardClient::new(&server);
    assert_eq!(other.sign_in(EMAIL, PASSWORD).await.status, 429);
    assert_eq!(client.get("/").await.status, 200, "the session goes on");
}
