//! Invitations to an organization, and its members.

use tests::{
    DashboardClient, Database, PASSWORD, PageReply, Server, accounts, link_path, on_both_databases,
};

on_both_databases!(
    invitation_sets_up_a_new_account_with_its_role,
    invitation_never_sets_the_password_of_an_existing_account,
    invitation_is_revoked_by_a_newer_one_and_by_its_admin,
    last_admin_keeps_the_role,
    last_operator_is_disabled_and_replaced_by_commands,
    removed_member_loses_access_at_once,
);

const ADMIN: &str = "admin@example.com";
const NEW_PASSWORD: &str = "staple battery horse correct";

async fn admin_of(server: &Server, organization: &str, email: &str) -> DashboardClient {
    let options = ["--organization", organization, "--org-role", "admin"];
    DashboardClient::with_account(server, email, &options).await
}

async fn invite(admin: &DashboardClient, email: &str, role: &str) -> PageReply {
    admin
        .post("/members", &[("email", email), ("role", role)])
        .await
}

/// Invites a person and returns the path of the link.
async fn invitation(admin: &DashboardClient, email: &str, role: &str) -> String {
    let reply = invite(admin, email, role).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    link_path(reply.test_id("invite-link")).to_owned()
}

async fn can_read(client: &DashboardClient, organization: &str) -> bool {
    let path = format!("/members?organization={organization}");
    client.get(&path).await.status == 200
}

async fn invitation_sets_up_a_new_account_with_its_role(database: Database) {
    let server = Server::start(database).await;
    let admin = admin_of(&server, "acme", ADMIN).await;
    let email = "new@example.com";
    let path = invitation(&admin, email, "developer").await;
    let list = admin.get("/members").await.body;
    assert!(list.contains("Open invitations") && list.contains(email));

    let client = DashboardClient::new(&server);
    let page = client.get(&path).await;
    assert_eq!(page.heading(), "Set up your account");
    assert!(page.body.contains("Developer of acme") && page.body.contains(email));
    client.use_link(&path, "eve@example.com").await;
    assert!(client.get("/account").await.body.contains(email));
    assert!(can_read(&client, "acme").await);
    assert!(!can_read(&client, "other").await);
    assert_eq!(
        invite(&client, "eve@example.com", "admin").await.status,
        403
    );
    assert_eq!(client.get(&path).await.status, 404);
    let list = admin.get("/members").await.body;
    assert!(!list.contains("Open invitations") && list.contains(email));
    assert_eq!(invite(&admin, email, "admin").await.status, 422);
}

/// Whoever makes the link could otherwise get all other roles of the account.
async fn invitation_never_sets_the_password_of_an_existing_account(database: Database) {
    let server = Server::start(database).await;
    let email = "operator@example.com";
    let operator = DashboardClient::with_account(&server, email, &["--role", "operator"]).await;
    let admin = admin_of(&server, "acme", ADMIN).await;
    let path = invitation(&admin, email, "viewer").await;
    let accept = format!("{path}/accept");
    let stranger = DashboardClient::new(&server);
    for client in [&stranger, &admin] {
        assert_eq!(client.get(&path).await.heading(), "Join acme");
        let fields = [
            ("password", NEW_PASSWORD),
            ("repeat_password", NEW_PASSWORD),
        ];
        for path in [&path, &accept] {
            let reply = client.post(path, &fields).await;
            assert_eq!(
                (reply.status, reply.header("location")),
                (303, path_of(&accept))
            );
        }
    }
    assert_eq!(stranger.cookie(), None);
    let sign_in = async |password| stranger.sign_in(email, password).await.status;
    assert_eq!(sign_in(NEW_PASSWORD).await, 401);
    assert_eq!(sign_in(PASSWORD).await, 303);
    let is_member = async || admin.get("/members").await.body.contains(email);

    let before = admin.get("/members").await.body;
    assert!(before.contains("Open invitations"));
    assert_eq!(operator.post(&accept, &[]).await.status, 303);
    assert!(is_member().await);
    assert!(
        !admin
            .get("/members")
            .await
            .body
            .contains("Open invitations")
    );
    assert_eq!(operator.post(&accept, &[]).await.status, 404);
    assert!(
        operator
            .get("/account")
            .await
            .body
            .contains("Viewer of acme")
    );
}

/// Returns the path of the link that is accepted at this path.
fn path_of(accept: &str) -> &str {
    accept.strip_suffix("/accept").unwrap()
}

async fn invitation_is_revoked_by_a_newer_one_and_by_its_admin(database: Database) {
    let server = Server::start(database).await;
    let admin = admin_of(&server, "acme", ADMIN).await;
    let other = admin_of(&server, "other", "other@example.com").await;
    let email = "new@example.com";
    let status = async |path: &str| DashboardClient::new(&server).get(path).await.status;
    let first = invitation(&admin, email, "viewer").await;
    let elsewhere = invitation(&other, email, "viewer").await;
    let second = invitation(&admin, email, "admin").await;
    let found = [&first, &second, &elsewhere];
    for (path, expected) in found.into_iter().zip([404, 200, 200]) {
        assert_eq!(status(path).await, expected);
    }
    let fields = [("organization", "acme"), ("email", email)];
    for (client, expected) in [(&other, 404), (&admin, 303)] {
        let reply = client.post("/members/invitations/revoke", &fields).await;
        assert_eq!(reply.status, expected, "{}", reply.body);
    }
    assert_eq!(status(&second).await, 404);
    assert_eq!(status(&elsewhere).await, 200);
}

/// Returns the path of a member's page.
async fn member_path(admin: &DashboardClient, email: &str) -> String {
    let list = admin.get("/members").await.body;
    let (before, _) = list.split_once(&format!("data-row>{email}<")).unwrap();
    let (_, path) = before.rsplit_once("href=\"").unwrap();
    path.split('"').next().unwrap().to_owned()
}

async fn last_admin_keeps_the_role(database: Database) {
    let server = Server::start(database).await;
    let admin = admin_of(&server, "acme", ADMIN).await;
    let path = member_path(&admin, ADMIN).await;
    let (role, remove) = (format!("{path}/role"), format!("{path}/remove"));
    let viewer = [("role", "viewer")];
    // Admins who cannot sign in do not count.
    let options = ["--organization", "acme", "--org-role", "admin"];
    let invited = ["create", "--email", "invited@example.com"];
    accounts(&server, &[&invited[..], &options].concat()).await;
    admin_of(&server, "acme", "left@example.com").await;
    accounts(&server, &["disable", "left@example.com"]).await;
    for path in [&role, &remove] {
        let reply = admin.post(path, &viewer).await;
        assert_eq!(reply.status, 409, "{}", reply.body);
        assert!(reply.body.contains("would have no admin"));
    }
    let second = admin_of(&server, "acme", "second@example.com").await;
    assert_eq!(second.post(&role, &viewer).await.status, 303);
    let refused = admin.post(&role, &[("role", "admin")]).await;
    assert_eq!(refused.status, 403);
    assert_eq!(second.post(&role, &[("role", "owner")]).await.status, 422);
}

/// Whoever runs commands on the gateway's host can always make a link for another operator.
async fn last_operator_is_disabled_and_replaced_by_commands(database: Database) {
    let server = Server::start(database).await;
    let operator = ["--role", "operator"];
    let first = DashboardClient::with_account(&server, "first@example.com", &operator).await;
    accounts(&server, &["disable", "first@example.com"]).await;
    assert_eq!(first.get("/suppliers").await.status, 303);
    let second = DashboardClient::with_account(&server, "second@example.com", &operator).await;
    let page = second.get("/account").await.body;
    assert!(page.contains("Operator of the installation"), "{page}");
}

async fn removed_member_loses_access_at_once(database: Database) {
    let server = Server::start(database).await;
    let admin = admin_of(&server, "acme", ADMIN).await;
    let second = admin_of(&server, "acme", "second@example.com").await;
    let path = member_path(&admin, "second@example.com").await;
    assert!(can_read(&second, "acme").await);
    let way_back = invitation(&second, "third@example.com", "admin").await;
    let question = admin.get(&format!("{path}?confirm=remove")).await.body;
    assert!(question.contains("Remove this member?"));
    assert_eq!(admin.post(&format!("{path}/remove"), &[]).await.status, 303);
    assert!(!can_read(&second, "acme").await);
    assert_eq!(
        second.get("/account").await.status,
        200,
        "the account remains"
    );
    assert_eq!(admin.get(&path).await.status, 404);
    // The removed admin could otherwise come back with another address.
    let stranger = DashboardClient::new(&server);
    assert_eq!(stranger.get(&way_back).await.status, 404);
}
