//! Links of the checklist before going live.

use super::server::{Server, member};
use host_domain::account::OrganizationRole;

#[tokio::test]
async fn every_link_of_the_checklist_is_open_to_the_person() {
    let server = Server::start().await;
    for (email, role, has_form) in [
        ("viewer@example.com", OrganizationRole::Viewer, false),
        ("developer@example.com", OrganizationRole::Developer, false),
        ("admin@example.com", OrganizationRole::Admin, true),
    ] {
        let cookie = server.sign_up(email, &[member("acme", role)]).await;
        let page = server.get("/go-live", &cookie).await;
        let form = "href=\"/keys?create=1\"";
        assert_eq!(page.body.contains(form), has_form, "{email}: {}", page.body);
        let (_, items) = page.body.split_once("checklist-item").unwrap();
        for link in items.split("href=\"").skip(1) {
            let path = link.split('"').next().unwrap();
            let status = server.get(path, &cookie).await.status;
            assert_eq!(status, 200, "{email}: {path}");
        }
    }
}
