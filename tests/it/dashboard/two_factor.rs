//! Sign-in with a code of an authenticator app.

use tests::{DashboardClient, Database, PASSWORD, PageReply, Server, on_both_databases, totp_code};

const EMAIL: &str = "ada@example.com";

on_both_databases!(
    sign_in_needs_a_code_until_it_is_turned_off,
    recovery_code_replaces_the_device_once,
    set_up_after_an_earlier_sign_in_needs_the_current_password,
    recovery_codes_are_replaced_with_the_current_password,
);

/// A person who has set up an authenticator app.
struct Person {
    client: DashboardClient,
    secret: String,
    recovery_codes: Vec<String>,
}

impl Person {
    async fn new(server: &Server) -> Self {
        let client = DashboardClient::set_up(server, EMAIL).await;
        let set_up = client.post("/account/two-factor", &[]).await;
        let secret = set_up.test_id("totp-secret").to_owned();
        let enrolment = set_up.hidden_field("enrolment").to_owned();
        let confirm = async |code: &str| {
            let fields = [("enrolment", enrolment.as_str()), ("code", code)];
            client.post("/account/two-factor/confirm", &fields).await
        };
        let wrong = confirm("12345").await;
        assert_eq!(wrong.status, 422, "{}", wrong.body);
        assert_eq!(wrong.test_id("totp-secret"), secret);
        let done = confirm(&totp_code(&secret, 0)).await;
        assert_eq!(done.status, 200, "{}", done.body);
        Self {
            recovery_codes: recovery_codes(&done),
            client,
            secret,
        }
    }
}

/// Returns the recovery codes that a page shows.
fn recovery_codes(page: &PageReply) -> Vec<String> {
    let list = page.body.split_once("data-testid=\"recovery-codes\"");
    let list = list.and_then(|(_, list)| list.split_once("</ul>"));
    let (list, _) = list.unwrap_or_else(|| panic!("no codes: {}", page.body));
    let codes = list.split("<code>").skip(1);
    let codes = codes.map(|rest| rest.split_once('<').unwrap().0.to_owned());
    codes.collect()
}

/// Sends the right password and returns the page with the field for the code.
async fn give_password(client: &DashboardClient) -> PageReply {
    let page = client.sign_in(EMAIL, PASSWORD).await;
    assert_eq!((page.status, page.heading()), (200, "Sign in"));
    assert_eq!(client.cookie(), None, "no session before the code");
    assert_eq!(client.get("/account").await.status, 303);
    page
}

async fn give_code(client: &DashboardClient, field: &str, code: &str) -> PageReply {
    let page = give_password(client).await;
    let fields = [
        ("challenge", page.hidden_field("challenge")),
        ("next", page.hidden_field("next")),
        (field, code),
    ];
    client.post("/login/code", &fields).await
}

async fn sign_in_needs_a_code_until_it_is_turned_off(database: Database) {
    let server = Server::start(database).await;
    let person = Person::new(&server).await;
    let code = totp_code(&person.secret, 1);
    for (code, status) in [("000000", 401), (&code, 303), (&code, 401)] {
        let client = DashboardClient::new(&server);
        let reply = give_code(&client, "code", code).await;
        assert_eq!(reply.status, status, "{}", reply.body);
        assert_eq!(client.cookie().is_some(), status == 303);
        assert_eq!(reply.body.contains("role=\"alert\""), status == 401);
    }
    let forged = [("challenge", "AWExAAAA"), ("code", "000000")];
    let reply = DashboardClient::new(&server)
        .post("/login/code", &forged)
        .await;
    assert_eq!((reply.status, reply.heading()), (401, "Sign in"));

    let client = &person.client;
    assert!(
        client
            .get("/account")
            .await
            .body
            .contains("10 recovery codes left")
    );
    let turn_off = async |password| {
        let fields = [("current_password", password)];
        client.post("/account/two-factor/turn-off", &fields).await
    };
    assert_eq!(turn_off("a wrong password").await.status, 422);
    assert_eq!(turn_off(PASSWORD).await.status, 303);
    let other = DashboardClient::new(&server);
    assert_eq!(other.sign_in(EMAIL, PASSWORD).await.status, 303);
}

async fn recovery_code_replaces_the_device_once(database: Database) {
    let server = Server::start(database).await;
    let person = Person::new(&server).await;
    let first = person.recovery_codes[0].as_str();
    for (code, status) in [(first, 303), (first, 401), (&person.recovery_codes[1], 303)] {
        let client = DashboardClient::new(&server);
        let reply = give_code(&client, "recovery_code", code).await;
        assert_eq!(reply.status, status, "{}", reply.body);
    }
    let account = person.client.get("/account").await.body;
    assert!(account.contains("8 recovery codes left"), "{account}");
}

/// Whoever finds an open session could otherwise lock its owner out.
async fn set_up_after_an_earlier_sign_in_needs_the_current_password(database: Database) {
    let server = Server::start(database).await;
    let client = DashboardClient::set_up(&server, EMAIL).await;
    let begin = async |fields: &[(&str, &str)]| client.post("/account/two-factor", fields).await;
    let age_by_half_an_hour = async || {
        let age = "UPDATE account_session SET created_at = created_at - 1800000";
        server.try_edit(age).await.unwrap();
    };
    age_by_half_an_hour().await;
    let page = begin(&[]).await;
    assert!(page.body.contains("totp-secret"), "{}", page.body);
    age_by_half_an_hour().await;
    let page = begin(&[]).await;
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(page.body.contains("Current password"), "{}", page.body);
    assert!(!page.body.contains("totp-secret"), "{}", page.body);
    for (password, status) in [("a wrong password", 422), (PASSWORD, 200)] {
        let page = begin(&[("current_password", password)]).await;
        assert_eq!(page.status, status, "{}", page.body);
        assert_eq!(page.body.contains("totp-secret"), status == 200);
    }
}

async fn recovery_codes_are_replaced_with_the_current_password(database: Database) {
    let server = Server::start(database).await;
    let person = Person::new(&server).await;
    let client = &person.client;
    let question = client.get("/account?confirm=recovery-codes").await;
    assert!(
        question.body.contains("Current password"),
        "{}",
        question.body
    );
    let replace = async |password| {
        let fields = [("current_password", password)];
        let path = "/account/two-factor/recovery-codes";
        client.post(path, &fields).await
    };
    let refused = replace("a wrong password").await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.body.contains("role=\"alert\""), "{}", refused.body);
    assert!(!refused.body.contains("data-testid=\"recovery-codes\""));
    let replaced = replace(PASSWORD).await;
    assert_eq!(replaced.status, 200, "{}", replaced.body);
    let codes = recovery_codes(&replaced);
    assert_eq!(codes.len(), 10);
    for (code, status) in [(&person.recovery_codes[0], 401), (&codes[0], 303)] {
        let client = DashboardClient::new(&server);
        let reply = give_code(&client, "recovery_code", code).await;
        assert_eq!(reply.status, status, "{}", reply.body);
    }
    let account = client.get("/account").await.body;
    assert!(account.contains("9 recovery codes left"), "{account}");
    let audit = client.get("/audit/export").await.body;
    let entries = audit.matches("account.recovery_codes_replaced");
    assert_eq!(entries.count(), 1, "{audit}");

    // Without a second factor there is nothing to replace.
    let fields = [("current_password", PASSWORD)];
    client.post("/account/two-factor/turn-off", &fields).await;
    let reply = replace(PASSWORD).await;
    assert_eq!((reply.status, reply.header("location")), (303, "/account"));
}
