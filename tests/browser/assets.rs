//! Style sheets and scripts, and full lists.

use crate::driver::with_browser;
use crate::{EMAIL, set_up};
use serde_json::Value;
use tests::{Database, PASSWORD, Server, eventually};

/// Lists that have more rows than a page, and the overview with charts.
const FULL_PAGES: &[(&str, &str)] = &[
    ("/?window=week", "Overview"),
    ("/bookings", "Bookings"),
    ("/requests", "Requests"),
    ("/deliveries", "Deliveries"),
    ("/unresolved", "Unresolved"),
    ("/audit", "Audit log"),
];

#[tokio::test]
async fn full_pages_are_light_and_their_assets_are_kept() {
    let server = Server::start(Database::Sqlite).await;
    let person = set_up(&server).await;
    person.post("/sample-data", &[]).await;
    // The key with which the data is made is revoked at the end.
    eventually("the end of the sample data", async || {
        let keys = person.get("/keys?status=revoked").await;
        keys.body.contains("sample data</a>").then_some(())
    })
    .await;
    with_browser("assets", &server, async |browser| {
        browser.open("/login").await;
        browser.sign_in(EMAIL, PASSWORD).await;
        for &(path, heading) in FULL_PAGES {
            browser.open_light_page(path, heading).await;
        }
        let network = browser.network().await;
        let responses = network.iter().map(|event| &event["params"]["response"]);
        let is_asset = |url: &Value| url.as_str().is_some_and(|url| url.contains("/assets/"));
        let assets: Vec<&Value> = responses.filter(|found| is_asset(&found["url"])).collect();
        assert!(!assets.is_empty());
        for asset in assets {
            let headers = &asset["headers"];
            let caching = headers["cache-control"].as_str().unwrap();
            assert_eq!(caching, "public, max-age=31536000, immutable", "{asset}");
            assert_eq!(headers["content-encoding"], "gzip", "{asset}");
        }
    })
    .await;
}
