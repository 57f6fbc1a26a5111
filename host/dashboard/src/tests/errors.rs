//! Pages of errors.

use super::server::{Server, member};
use host_domain::account::OrganizationRole;

#[tokio::test]
async fn error_of_a_signed_in_person_keeps_header_and_navigation() {
    let server = Server::start().await;
    let roles = [member("acme", OrganizationRole::Viewer)];
    let cookie = server.sign_up("viewer@example.com", &roles).await;
    for (mode, other) in [("test", "live"), ("live", "test")] {
        server.switch(&cookie, mode).await;
        for (path, status) in [
            ("/unknown?q=1&done=key-revoked", 404),
            ("/keys/nonsense", 404),
            ("/keys?create=1", 403),
        ] {
            let page = server.get(path, &cookie).await;
            assert_eq!(page.status, status, "{path}");
            let shown = if mode == "live" {
                "Live mode"
            } else {
                "Test mode"
            };
            assert_eq!(page.test_id("mode"), Some(shown), "{path}");
            let switch = format!("Switch to {other} mode");
            assert_eq!(page.count(&switch), 1, "{path}: {}", page.body);
            for text in ["Sign out", "href=\"/bookings\"", "viewer@example.com"] {
                assert!(page.body.contains(text), "{path}: {text}");
            }
            assert!(!page.body.contains("href=\"/audit\""), "{path}");
            assert!(!page.body.contains("class=\"notice"), "{path}");
        }
        let page = server.get("/unknown?q=1&done=key-revoked", &cookie).await;
        assert_eq!(page.next_path(), "/unknown?q=1");
    }
    let page = server.post("/keys/nonsense/revoke", &cookie, &[]).await;
    assert_eq!(page.status, 404);
    assert_eq!(page.next_path(), "/keys/nonsense");
}

#[tokio::test]
async fn error_before_the_sign_in_leads_to_it() {
    let server = Server::start().await;
    let page = server.get("/setup/unknown", "").await;
    assert_eq!(page.status, 404);
    assert_eq!(page.test_id("mode"), None);
    assert!(page.body.contains("Go to sign-in"), "{}", page.body);
    assert!(!page.body.contains("Sign out"), "{}", page.body);
}
