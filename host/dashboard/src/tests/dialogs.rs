//! Dialogs that ask before a change are only on pages that can open them.

use super::server::{Server, member};
use host_domain::account::OrganizationRole;

#[tokio::test]
async fn list_without_a_change_has_no_dialog_for_it() {
    use OrganizationRole::{Admin, Viewer};
    let server = Server::start().await;
    let sign_up = async |email, role| server.sign_up(email, &[member("acme", role)]).await;
    let admin = sign_up("admin@example.com", Admin).await;
    let viewer = sign_up("viewer@example.com", Viewer).await;
    let key = [("name", "checkout"), ("mode", "test"), ("scopes", "read")];
    assert_eq!(server.post("/keys", &admin, &key).await.status, 200);
    for (path, row, button) in [
        ("/keys", "checkout", "Revoke key"),
        ("/members", "viewer@example.com", "Remove member"),
    ] {
        for (cookie, count) in [(&admin, 1), (&viewer, 0)] {
            let page = server.get(path, cookie).await;
            assert!(page.body.contains(row), "{path}: {}", page.body);
            assert_eq!(page.count(button), count, "{path}: {}", page.body);
        }
    }
    for (path, button) in [
        ("/keys?q=nothing", "Revoke key"),
        ("/watches", "Cancel watch"),
        ("/mandates", "Revoke mandate"),
    ] {
        let page = server.get(path, &admin).await;
        assert_eq!(page.count(button), 0, "{path}: {}", page.body);
    }
}
