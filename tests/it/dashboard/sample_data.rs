//! Sample data of the demo.

use serde_json::Value;
use std::collections::BTreeSet;
use tests::{Client, DashboardClient, Database, Server, eventually, on_both_databases};

on_both_databases!(
    sample_data_fills_the_pages,
    charts_of_the_sample_day_lead_to_the_calls_that_they_count,
);

async fn sample_data_fills_the_pages(database: Database) {
    let server = Server::start(database).await;
    let ada = DashboardClient::set_up(&server, "ada@example.com").await;
    for _ in 0..2 {
        let begun = ada.post("/sample-data", &[]).await;
        assert_eq!(begun.status, 303, "{}", begun.body);
    }
    wait_for_sample_data(&ada).await;
    for (path, text) in [
        ("/bookings", "The Market Square Hotel"),
        ("/unresolved", "SANDBOX_HOTELS"),
        ("/webhooks", "/control/webhooks"),
        ("/deliveries", "hotel.booking"),
        ("/watches", "wtc_"),
        ("/requests", "/v1/hotel/offers"),
        ("/suppliers/SANDBOX_HOTELS", "hotel_pricing.price"),
    ] {
        // Calls are listed within seconds.
        eventually(&format!("{text} on {path}"), async || {
            let page = ada.get(path).await;
            assert_eq!(page.status, 200, "{path}: {}", page.body);
            page.body.contains(text).then_some(())
        })
        .await;
    }
}

/// Waits until the key with which the data is made is revoked, which is the last step.
async fn wait_for_sample_data(ada: &DashboardClient) {
    eventually("the end of the sample data", async || {
        let keys = ada.get("/keys?q=sample").await.body;
        keys.contains("Revoked</span>").then_some(())
    })
    .await;
}

/// Returns the distinct links of a page that begin so.
fn links(page: &str, beginning: &str) -> BTreeSet<String> {
    let links = page.split("href=\"").skip(1);
    let links = links.filter_map(|rest| rest.split('"').next());
    let links = links.filter(|link| link.starts_with(beginning));
    links
        .map(|link| link.replace("&amp;", "&").replace("&#38;", "&"))
        .collect()
}

async fn charts_of_the_sample_day_lead_to_the_calls_that_they_count(database: Database) {
    let server = Server::start(database).await;
    let ada = DashboardClient::set_up(&server, "ada@example.com").await;
    assert_eq!(ada.post("/sample-data", &[]).await.status, 303);
    wait_for_sample_data(&ada).await;
    let overview = ada.get("/?window=day").await.body;
    let buckets = links(&overview, "/requests?");
    let buckets = buckets.iter().filter(|link| link.contains("&to="));
    let buckets: BTreeSet<_> = buckets
        .chain(&links(&overview, "/requests?method="))
        .cloned()
        .collect();
    assert!(buckets.len() >= 24, "{buckets:?}");
    for link in &buckets {
        // Calls are listed within seconds.
        eventually(&format!("the calls of {link}"), async || {
            let list = ada.get(link).await.body;
            list.contains("href=\"/requests/req_").then_some(())
        })
        .await;
    }

    let operator = Client::new(&server.admin, "");
    let read = async |path: &str| operator.get(path).await.expect(200).data().clone();
    let day = read("/overview?window=day").await;
    let hours = day["traffic"]["by_time"].as_array().unwrap();
    let at = |hour: &Value| hour["at"].as_str().unwrap().to_owned();
    // The calls that made the bookings are in the last hours, and may not be counted yet.
    let (mut compared, mut failed) = (0, 0);
    for pair in hours.windows(2).take(hours.len() - 3) {
        let query = format!("from={}&to={}&limit=500", at(&pair[0]), at(&pair[1]));
        let logged = read(&format!("/requests?{query}")).await;
        let logged = logged.as_array().unwrap();
        assert_eq!(pair[0]["calls"], logged.len(), "{query}");
        let failures = logged
            .iter()
            .filter(|call| call["status"].as_u64() >= Some(500));
        failed += failures.count();
        compared += logged.len();
    }
    assert!((200..=1000).contains(&compared), "{compared} calls");
    assert!(failed > 0, "no call failed");
    let list = read("/requests?status=5xx&limit=500").await;
    let oldest = list.as_array().unwrap().last().unwrap();
    let path = format!("/requests/{}", oldest["request_id"].as_str().unwrap());
    let calls = read(&path).await["calls"].clone();
    assert_eq!(
        calls.as_array().unwrap().len(),
        2,
        "a plugin and its HTTP request"
    );
}
