//! Single sign-on with a provider that answers rightly and wrongly.

use reqwest::Method;
use serde_json::{Value, json};
use tests::{
    DashboardClient, Database, OidcProvider, PageReply, Server, ServerOptions, TokenSignature,
    accounts, on_both_databases,
};

on_both_databases!(
    first_sign_in_makes_an_account_and_each_one_sets_the_roles,
    admins_find_the_roles_of_their_organization_in_its_log,
    admin_who_loses_the_role_cannot_come_back_by_an_invitation,
    wrong_answers_of_the_provider_open_no_session,
    sign_in_belongs_to_the_browser_in_which_it_began,
    address_of_another_account_is_not_taken_over,
    browser_is_led_to_the_provider_by_a_page,
);

const EMAIL: &str = "ada@example.com";
const ROLES: &str = r#"{ operators = "operator", team = "developer@acme", leads = "admin@acme" }"#;

async fn start(database: Database, provider: &OidcProvider, roles: &str) -> Server {
    let mut options = ServerOptions::on(database);
    options.config = provider.config(roles);
    Server::start_with(options).await
}

/// Begins a sign-in and returns the path to which the provider sends the person back.
async fn begin(client: &DashboardClient, provider: &OidcProvider) -> String {
    let begun = client.get("/login/oidc?next=/keys").await;
    assert_eq!(begun.status, 303, "{}", begun.body);
    let back = provider.authorize(begun.header("location"));
    format!("{}?{}", back.path(), back.query().unwrap())
}

/// A browser may not be redirected: the policy of the sign-in forbids its form to lead to another site.
async fn browser_is_led_to_the_provider_by_a_page(database: Database) {
    let provider = OidcProvider::start().await;
    let server = start(database, &provider, "{}").await;
    let client = DashboardClient::new(&server);
    provider.answer(TokenSignature::Rs256, json!({}));
    let accept = [("accept", "text/html,application/xhtml+xml")];
    let path = "/login/oidc?next=/keys";
    let page = client.send(Method::GET, path, &accept, String::new()).await;
    assert_eq!((page.status, page.heading()), (200, "Single sign-on"));
    let after = |text: &str| {
        let (_, rest) = page.body.split_once(text).unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let url = after("<a href=\"");
    assert_eq!(after("content=\"0;url="), url);
    let url = url.replace("&#38;", "&").replace("&amp;", "&");
    let back = provider.authorize(&url);
    let back = format!("{}?{}", back.path(), back.query().unwrap());
    let reply = client.get(&back).await;
    assert!(reply.body.contains("url=/keys\""), "{}", reply.body);
    assert!(is_signed_in(&client).await);
}

/// Signs in with this answer of the provider.
async fn sign_in(
    client: &DashboardClient,
    provider: &OidcProvider,
    signature: TokenSignature,
    claims: Value,
) -> PageReply {
    provider.answer(signature, claims);
    let back = begin(client, provider).await;
    client.get(&back).await
}

async fn is_signed_in(client: &DashboardClient) -> bool {
    client.get("/account").await.status == 200
}

async fn first_sign_in_makes_an_account_and_each_one_sets_the_roles(database: Database) {
    let provider = OidcProvider::start().await;
    let server = start(database, &provider, ROLES).await;
    let login = DashboardClient::new(&server).get("/login?next=/keys").await;
    let form = "<form id=\"single-sign-on\" method=\"get\" action=\"/login/oidc\" hidden>\
                <input type=\"hidden\" name=\"next\" value=\"/keys\"></form>";
    assert!(login.body.contains(form), "{}", login.body);
    for (signature, groups, role) in [
        (
            TokenSignature::Rs256,
            json!(["team", "unknown"]),
            "Developer of acme",
        ),
        (
            TokenSignature::Es256,
            json!(["team", "leads"]),
            "Admin of acme",
        ),
        (
            TokenSignature::Rs256,
            json!("operators"),
            "Operator of the installation",
        ),
    ] {
        let client = DashboardClient::new(&server);
        // The address at the provider may change; the subject decides.
        let email = if role.starts_with("Dev") {
            EMAIL
        } else {
            "new@example.com"
        };
        let claims = json!({ "groups": groups, "email": email });
        let reply = sign_in(&client, &provider, signature, claims).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert!(reply.body.contains("url=/keys\""), "{}", reply.body);
        let account = client.get("/account").await;
        assert!(account.body.contains(role) && account.body.contains(EMAIL));
        assert!(!account.body.contains("Change password"));
        // The provider asks for a second factor.
        assert!(!account.body.contains("two-factor"), "{}", account.body);
        let begun = client.post("/account/two-factor", &[]).await;
        assert_eq!((begun.status, begun.header("location")), (303, "/account"));
        let listed = accounts(&server, &["list"]).await;
        assert_eq!(listed.lines().count(), 1, "{listed}");
    }
    let client = DashboardClient::new(&server);
    let claims = json!({ "groups": ["unknown"] });
    let reply = sign_in(&client, &provider, TokenSignature::Rs256, claims).await;
    assert_eq!(reply.status, 401);
    assert!(reply.body.contains("no role"), "{}", reply.body);
    accounts(&server, &["disable", EMAIL]).await;
    let claims = json!({ "groups": ["team"] });
    let reply = sign_in(&client, &provider, TokenSignature::Rs256, claims).await;
    assert!(reply.body.contains("disabled"), "{}", reply.body);
    assert!(!is_signed_in(&client).await);
    // After a reset, only the link leads to the account.
    accounts(&server, &["reset", EMAIL]).await;
    let claims = json!({ "groups": ["team"], "email": EMAIL });
    let reply = sign_in(&client, &provider, TokenSignature::Rs256, claims).await;
    assert!(reply.body.contains("Another account has your address"));
    assert!(!is_signed_in(&client).await);
}

async fn admins_find_the_roles_of_their_organization_in_its_log(database: Database) {
    let provider = OidcProvider::start().await;
    let roles = r#"{ team = "developer@acme", leads = "admin@acme", other = "viewer@other" }"#;
    let server = start(database, &provider, roles).await;
    let role = ["--organization", "acme", "--org-role", "admin"];
    let admin = DashboardClient::with_account(&server, "admin@example.com", &role).await;
    for groups in [
        json!(["team", "other"]),
        json!(["leads", "other"]),
        json!(["other"]),
    ] {
        let claims = json!({ "groups": groups, "email": EMAIL });
        let client = DashboardClient::new(&server);
        sign_in(&client, &provider, TokenSignature::Rs256, claims).await;
    }
    let export = admin.get("/audit/export").await.body;
    let entries = export.lines().map(serde_json::from_str);
    let entries: Vec<Value> = entries.map(Result::unwrap).collect();
    let own = entries
        .iter()
        .filter(|entry| entry["actor"]["name"] == EMAIL);
    let changes: Vec<_> = own
        .map(|entry| {
            assert_eq!(entry["organization"], "acme");
            let roles = |member: &str| entry[member]["roles"].to_string();
            let action = entry["action"].as_str().unwrap();
            format!("{action} {} {}", roles("before"), roles("after"))
        })
        .collect();
    let expected = [
        r#"account.created null ["developer@acme"]"#,
        r#"account.roles_changed ["developer@acme"] ["admin@acme"]"#,
        r#"account.roles_changed ["admin@acme"] []"#,
    ];
    assert_eq!(changes, expected);
}

async fn admin_who_loses_the_role_cannot_come_back_by_an_invitation(database: Database) {
    let provider = OidcProvider::start().await;
    let roles = r#"{ leads = "admin@acme", team = "viewer@acme", others = "admin@other" }"#;
    let server = start(database, &provider, roles).await;
    let invited = async |organization: &str| {
        let options = ["list", "--json", "--organization", organization];
        let listed = server.command("members", &options).await;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        listed["invitations"].as_array().unwrap().len()
    };
    for organization in ["acme", "other"] {
        let options = ["invite", "another@example.com", "--role", "admin"];
        let options = [&options[..], &["--organization", organization]].concat();
        server.command("members", &options).await;
    }
    for (groups, expected) in [
        (json!(["leads", "others"]), (1, 1)),
        (json!(["leads", "others"]), (1, 1)),
        (json!(["team", "others"]), (0, 1)),
        (json!([]), (0, 0)),
    ] {
        let claims = json!({ "groups": groups, "email": EMAIL });
        let client = DashboardClient::new(&server);
        sign_in(&client, &provider, TokenSignature::Rs256, claims).await;
        let found = (invited("acme").await, invited("other").await);
        assert_eq!(found, expected, "{groups}");
    }
}

async fn wrong_answers_of_the_provider_open_no_session(database: Database) {
    use TokenSignature::{Es256, Hs256, None, OtherKey, PublicKeyAsSecret, Rs256};
    let provider = OidcProvider::start().await;
    let server = start(database, &provider, "{}").await;
    let another = "another client";
    for (signature, claims) in [
        (None, json!({})),
        (Hs256, json!({})),
        (PublicKeyAsSecret, json!({})),
        (OtherKey, json!({})),
        (Rs256, json!({ "nonce": "another" })),
        (Rs256, json!({ "nonce": null })),
        (Rs256, json!({ "iss": "http://127.0.0.1:1" })),
        (Rs256, json!({ "iss": null })),
        (Rs256, json!({ "aud": another })),
        (Rs256, json!({ "aud": null })),
        (Rs256, json!({ "aud": ["stopover dashboard", another] })),
        (Rs256, json!({ "azp": another })),
        (Rs256, json!({ "exp": 1 })),
        (Rs256, json!({ "exp": null })),
        (Rs256, json!({ "nbf": 32_503_680_000_u64 })),
        (Rs256, json!({ "sub": null })),
        (Rs256, json!({ "sub": "" })),
        (Rs256, json!({ "email": null })),
        (Rs256, json!({ "email_verified": false })),
        (Es256, json!({ "email_verified": "false" })),
    ] {
        let client = DashboardClient::new(&server);
        let case = format!("{signature:?} {claims}");
        let reply = sign_in(&client, &provider, signature, claims).await;
        assert_eq!((reply.status, reply.heading()), (401, "Sign in"), "{case}");
        assert_eq!(client.cookie(), Option::None, "{case}");
    }
    assert_eq!(accounts(&server, &["list"]).await, "");
    let client = DashboardClient::new(&server);
    let reply = sign_in(&client, &provider, Rs256, json!({})).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
}

async fn sign_in_belongs_to_the_browser_in_which_it_began(database: Database) {
    let provider = OidcProvider::start().await;
    let server = start(database, &provider, "{}").await;
    provider.answer(TokenSignature::Es256, json!({}));
    // An attacker's answer in the browser of another person, with and without a sign-in there.
    let attacker = DashboardClient::new(&server);
    let foreign = begin(&attacker, &provider).await;
    let victim = DashboardClient::new(&server);
    for begins in [false, true] {
        if begins {
            begin(&victim, &provider).await;
        }
        let reply = victim.get(&foreign).await;
        assert_eq!(reply.status, 401, "{}", reply.body);
        assert!(!is_signed_in(&victim).await);
    }
    // Another state, another issuer, another code, and a declined sign-in.
    for (from, to) in [
        ("state=", "state=x"),
        ("iss=", "iss=https%3A%2F%2Fevil.example%2F"),
        ("code=", "code=x"),
        ("code=", "error=access_denied&x="),
    ] {
        let client = DashboardClient::new(&server);
        let back = begin(&client, &provider).await.replace(from, to);
        assert_eq!(client.get(&back).await.status, 401, "{to}");
        assert!(!is_signed_in(&client).await);
    }
    // The provider exchanges a code once, and the gateway forgets the challenge.
    let client = DashboardClient::new(&server);
    let back = begin(&client, &provider).await;
    let challenge = client.cookie().unwrap();
    assert!(challenge.starts_with("stopover-oidc="), "{challenge}");
    assert_eq!(client.get(&back).await.status, 200);
    assert!(is_signed_in(&client).await);
    client.set_cookie(Some(&challenge));
    assert_eq!(client.get(&back).await.status, 401);
    let next = client.get("/login/oidc?next=//evil.example").await;
    let back = provider.authorize(next.header("location"));
    let path = format!("{}?{}", back.path(), back.query().unwrap());
    let arrived = client.get(&path).await.body;
    assert!(arrived.contains("url=/\""), "{arrived}");
}

/// Whoever chooses the address at the provider would otherwise get the account.
async fn address_of_another_account_is_not_taken_over(database: Database) {
    let provider = OidcProvider::start().await;
    let server = start(database, &provider, "{}").await;
    DashboardClient::set_up(&server, EMAIL).await;
    let client = DashboardClient::new(&server);
    let reply = sign_in(&client, &provider, TokenSignature::Rs256, json!({})).await;
    assert_eq!(reply.status, 401);
    assert!(reply.body.contains("Another account has your address"));
    assert!(!is_signed_in(&client).await);
}
