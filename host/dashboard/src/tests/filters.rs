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
        for path in LISTS.into_iter().chain(["/members?filter=1"]) {
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
        "/members?filter=1",
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
}
