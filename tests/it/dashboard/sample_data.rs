//! Sample data of the demo.

use tests::{DashboardClient, Database, Server, eventually, on_both_databases};

on_both_databases!(sample_data_fills_the_pages);

async fn sample_data_fills_the_pages(database: Database) {
    let server = Server::start(database).await;
    let ada = DashboardClient::set_up(&server, "ada@example.com").await;
    for _ in 0..2 {
        let begun = ada.post("/sample-data", &[]).await;
        assert_eq!(begun.status, 303, "{}", begun.body);
    }
    // The key with which the data is made is revoked at the end.
    eventually("the end of the sample data", async || {
        let keys = ada.get("/keys?q=sample").await.body;
        keys.contains("Revoked</span>").then_some(())
    })
    .await;
    for (path, text) in [
        ("/bookings", "The Market Square Hotel"),
        ("/unresolved", "SANDBOX_HOTELS"),
        ("/webhooks", "/control/webhooks"),
        ("/deliveries", "hotel.booking"),
        ("/watches", "wtc_"),
        ("/requests", "/v1/hotel/offers"),
        ("/suppliers/SANDBOX_HOTELS", "hotel_pricing.price"),
    ] {
        let page = ada.get(path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        assert!(page.body.contains(text), "{text} on {path}: {}", page.body);
    }
}
