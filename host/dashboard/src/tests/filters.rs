//! Filters of lists, and the organization of their rows.

use super::server::{Server, member};
use host_domain::account::{AccountRole, OrganizationRole};

/// The lists, each with a query that shows the filter of an empty list.
const LISTS: [&str; 9] = [
    "/keys?q=nothing",
    "/bookings?user=nobody",
    "/watches?user=nobody",
    "/mandates?user=nobody",
    "/unresolved?supplier=NO_SUCH",
    "/requests?user=nobody",
    "/deliveries?status=FAILED",
    "/webhooks?q=nothing",
    "/audit?actor=nobody",
];

#[tokio::test]
async fn people_with_several_organizations_filter_by_organization() {
    let server = Server::start().await;
    let admin = |organization| member(organization, OrganizationRole::Admin);
    for (email, roles, is_shown) in [
        ("operator@example.com", vec![AccountRole::Operator], true),
        (
            "both@example.com",
            vec![admin("acme"), admin("other")],
            true,
        ),
        ("admin@example.com", vec![admin("acme")], false),
    ] {
        let cookie = server.sign_up(email, &roles).await;
        for path in LISTS.into_iter().chain(["/members"]) {
            let page = server.get(path, &cookie).await;
            assert_eq!(page.status, 200, "{path}");
            let count = page.count("for=\"filter-organization\"");
            assert_eq!(count, usize::from(is_shown), "{email} {path}");
        }
    }
}

#[tokio::test]
async fn value_that_cannot_exist_matches_nothing_and_is_stated() {
    let server = Server::start().await;
    let operator = [AccountRole::Operator];
    let cookie = server.sign_up("operator@example.com", &operator).await;
    for (path, field) in [
        ("/keys?status=gone", "status"),
        ("/bookings?supplier=a%20b", "supplier"),
        ("/bookings?from=tomorrow", "from"),
        ("/watches?status=gone", "status"),
        ("/mandates?status=gone", "status"),
        ("/unresolved?booking=1", "booking"),
        ("/unresolved?supplier=a%20b", "supplier"),
        ("/requests?supplier=a%20b", "supplier"),
        ("/requests?method=fetch", "method"),
        ("/requests?status=9xx", "status"),
        ("/deliveries?webhook=1", "webhook"),
        ("/deliveries?event=gone", "event"),
        ("/webhooks?status=gone", "status"),
        ("/audit?action=gone", "action"),
        ("/audit?to=tomorrow", "to"),
    ] {
        let page = server.get(path, &cookie).await;
        assert_eq!(page.status, 200, "{path}");
        let problem = format!("id=\"filter-{field}-problem\"");
        assert_eq!(page.count(&problem), 1, "{path}: {}", page.body);
        assert_eq!(page.count("class=\"chip\""), 1, "{path}");
        assert_eq!(page.count("<td"), 0, "{path}: {}", page.body);
    }
}

#[tokio::test]
async fn name_of_a_value_is_read_in_either_case() {
    let server = Server::start().await;
    let operator = [AccountRole::Operator];
    let cookie = server.sign_up("operator@example.com", &operator).await;
    for (path, value) in [
        ("/keys?status=ACTIVE", "Active"),
        ("/bookings?status=confirmed", "Confirmed"),
        ("/bookings?kind=HOTEL", "Hotel"),
        ("/watches?status=Active", "Active"),
        ("/mandates?status=active", "Active"),
        ("/requests?method=get", "GET"),
        ("/requests?status=5XX", "5xx Failed"),
        ("/deliveries?status=failed", "Failed"),
        (
            "/deliveries?event=Hotel.Booking.Confirmed",
            "hotel.booking.confirmed",
        ),
        ("/webhooks?status=active", "Active"),
        ("/audit?action=API_KEY.CREATED", "API key created"),
    ] {
        let page = server.get(path, &cookie).await;
        assert_eq!(page.status, 200, "{path}");
        assert_eq!(page.count("-problem\""), 0, "{path}: {}", page.body);
        let chip = format!(": <b>{value}</b>");
        assert_eq!(page.count(&chip), 1, "{path}: {}", page.body);
    }
    let fields = [
        ("organization", "acme"),
        ("name", "checkout"),
        ("mode", "test"),
        ("scopes", "read"),
    ];
    assert_eq!(server.post("/keys", &cookie, &fields).await.status, 200);
    for (status, is_listed) in [("ACTIVE", true), ("Revoked", false)] {
        let page = server.get(&format!("/keys?status={status}"), &cookie).await;
        assert_eq!(page.body.contains("checkout</a>"), is_listed, "{status}");
    }
}

#[tokio::test]
async fn page_has_one_visible_field_for_the_organization() {
    let server = Server::start().await;
    let operator = [AccountRole::Operator];
    let cookie = server.sign_up("operator@example.com", &operator).await;
    for path in [
        "/keys?create=1",
        "/keys?create=1&organization=acme",
        "/webhooks?create=1",
        "/webhooks?create=1&organization=acme",
        "/members",
        "/members?organization=acme",
    ] {
        let page = server.get(path, &cookie).await;
        assert_eq!(page.count(">Organization</label>"), 1, "{path}");
        let is_filtered = path.ends_with("=acme");
        assert_eq!(
            page.count("Filtered by"),
            usize::from(is_filtered),
            "{path}"
        );
    }
    let page = server.get("/members?organization=acme", &cookie).await;
    assert!(page.body.contains("value=\"acme\""), "{}", page.body);
    // The filter beside the form that invites has a label of its own.
    assert_eq!(page.count(">Members of</label>"), 1, "{}", page.body);
    assert_eq!(page.count("name=\"organization\""), 2, "{}", page.body);
}

#[tokio::test]
async fn notes_and_problems_are_tied_to_their_fields() {
    let server = Server::start().await;
    let operator = [AccountRole::Operator];
    let cookie = server.sign_up("operator@example.com", &operator).await;
    let page = server.get("/requests?to=tomorrow", &cookie).await;
    for described in ["filter-from-unit", "filter-to-problem filter-to-unit"] {
        let attribute = format!("aria-describedby=\"{described}\"");
        assert_eq!(page.count(&attribute), 1, "{described}: {}", page.body);
        for id in described.split(' ') {
            assert_eq!(page.count(&format!(" id=\"{id}\"")), 1, "{id}");
        }
    }
    let fields = [
        ("organization", "acme"),
        ("mode", "both"),
        ("scopes", "read"),
    ];
    let page = server.post("/keys", &cookie, &fields).await;
    assert_eq!(page.status, 422);
    let attribute = "aria-describedby=\"mode-problem mode-hint\"";
    assert_eq!(page.count(attribute), 1, "{}", page.body);
    for id in ["mode-problem", "mode-hint"] {
        assert_eq!(page.count(&format!(" id=\"{id}\"")), 1, "{id}");
    }
}

/// Returns the number of revoked invitations in the audit log.
async fn count_revocations(server: &Server, cookie: &str) -> usize {
    let log = server
        .get("/audit?action=member.invitation_revoked", cookie)
        .await;
    assert_eq!(log.status, 200, "{}", log.body);
    log.count("<tr id=\"entry-")
}

#[tokio::test]
async fn change_in_a_filtered_list_leads_back_to_it() {
    let server = Server::start().await;
    let operator = [AccountRole::Operator];
    let cookie = server.sign_up("operator@example.com", &operator).await;
    let filter = "status=active&organization=acme";
    let list = format!("/keys?{filter}");
    let key = [
        ("name", "checkout"),
        ("mode", "test"),
        ("scopes", "read"),
        ("organization", "acme"),
    ];
    let page = server.post(&list, &cookie, &key).await;
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(page.body.contains("Filtered by"), "{}", page.body);
    assert_eq!(page.next_path(), list);
    let id = &server.app.api_key_service.list(Some("acme")).await.unwrap()[0].id;
    let escaped = filter.replace('&', "&#38;");
    for link in [
        format!("href=\"/keys/{id}?{escaped}\""),
        format!("data-action=\"/keys/{id}/revoke?{escaped}\""),
        "<input type=\"hidden\" name=\"status\" value=\"active\">".to_owned(),
    ] {
        assert!(page.body.contains(&link), "{link}: {}", page.body);
    }
    let question = format!("/keys/{id}?{filter}&confirm=revoke");
    let page = server.get(&question, &cookie).await;
    for link in [
        format!("action=\"/keys/{id}/revoke?{escaped}\""),
        format!("href=\"/keys?{escaped}\""),
    ] {
        assert!(page.body.contains(&link), "{link}: {}", page.body);
    }
    // Nothing but the filter of the list is carried.
    let revoke = format!("/keys/{id}/revoke?{filter}&next=//evil.example&confirm=x");
    let reply = server.post(&revoke, &cookie, &[]).await;
    let back = format!("/keys?{filter}&done=key-revoked");
    assert_eq!(reply.header("location"), back);

    let list = "/audit?actor=operator@example.com";
    let verify = "/audit/verify?actor=operator@example.com";
    let page = server.post(verify, &cookie, &[]).await;
    assert_eq!(page.next_path(), list);
    assert!(page.body.contains("The chain is intact"), "{}", page.body);
    assert!(page.body.contains("Filtered by"), "{}", page.body);
}

#[tokio::test]
async fn invitation_is_revoked_and_recorded_once() {
    let server = Server::start().await;
    let operator = [AccountRole::Operator];
    let cookie = server.sign_up("operator@example.com", &operator).await;
    let list = "/members?organization=acme";
    let guest = [
        ("email", "guest@example.com"),
        ("role", "viewer"),
        ("organization", "acme"),
    ];
    let page = server.post(list, &cookie, &guest).await;
    assert_eq!(
        (page.status.as_u16(), page.next_path()),
        (200, list.to_owned())
    );
    assert!(page.body.contains("Filtered by"), "{}", page.body);
    let revoke = "/members/invitations/revoke?organization=acme";
    for notice in ["invitation-revoked", "no-invitation"] {
        let reply = server.post(revoke, &cookie, &guest).await;
        let back = format!("{list}&done={notice}");
        assert_eq!(reply.header("location"), back, "{}", reply.body);
        assert_eq!(count_revocations(&server, &cookie).await, 1);
    }
    let unknown = [("email", "guest@example.com"), ("organization", "a b")];
    let reply = server.post(revoke, &cookie, &unknown).await;
    assert_eq!(reply.status, 303, "{}", reply.body);
    assert_eq!(count_revocations(&server, &cookie).await, 1);
}
