//! Tests of the log of watch events.

use super::resource_assertions::{check_refused_get, violations};
use serde_json::{Value, json};
use tests::{
    Database, Server, ServerOptions, WATCHES, eventually, on_both_databases, set_price,
    wait_for_watch_event, watch_events, watch_request,
};

on_both_databases! {
    watch_log_is_visible_to_its_organization_only,
    watch_log_is_read_in_pages_to_its_end,
}

const LOG: &str = "/v1/watcher/events";

#[tokio::test]
async fn watch_log_with_invalid_query_is_refused() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    for (query, violation) in [
        ("limit=0", "/limit too_small"),
        ("limit=201", "/limit too_large"),
        ("limit=many", "/limit type"),
        ("after=bkg_1", "/after pattern"),
        ("after=", "/after pattern"),
        ("before=evt_1", "/before unknown_field"),
    ] {
        let refused = client.get(&format!("{LOG}?{query}")).await;
        assert_eq!(violations(refused), violation);
    }
    let unknown = format!("{LOG}?after=evt_unknown");
    check_refused_get(&client, &unknown, 404, "event_not_found").await;
}

/// Starts a server that checks watches every second.
async fn start(database: Database) -> Server {
    Server::start_with(ServerOptions::on(database).config("[watches]\ninterval_s = 1")).await
}

async fn watch_log_is_visible_to_its_organization_only(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let empty = client.get(LOG).await.expect(200);
    assert_eq!(empty.body, json!({"data": []}));
    set_price(&server.sandbox_url, "OK", 50.0).await;
    let watch = client.user("ada").watch_hotel("OK", 150.0, json!({})).await;
    // The event stays pending, because there is no webhook.
    let event = wait_for_watch_event(&client, "pending").await;
    let payload = &event["payload"];
    assert_eq!(event["type"], "travel.hotel.watch.triggered");
    for member in ["id", "type", "created_at"] {
        assert_eq!(payload[member], event[member], "{member}");
    }
    assert_eq!(payload["data"]["watch"]["id"], watch["id"]);
    assert_eq!(payload["data"]["user_id"], "ada");
    let after = format!("{LOG}?after={}", event["id"].as_str().unwrap());
    assert_eq!(watch_events(&client.user("eve"), None).await, [event]);
    let other = server.client_for("acme").await;
    assert!(watch_events(&other, None).await.is_empty());
    check_refused_get(&other, &after, 404, "event_not_found").await;
}

async fn watch_log_is_read_in_pages_to_its_end(database: Database) {
    // One more than the default page size.
    const WATCHES_MADE: u32 = 51;
    let server = start(database).await;
    let client = server.client();
    set_price(&server.sandbox_url, "OK", 50.0).await;
    let hotel_id = client.hotel_id("OK").await;
    for more in 0..WATCHES_MADE {
        let request = watch_request(&hotel_id, f64::from(150 + more));
        client.post(WATCHES, &request).await.expect(201);
    }
    let all = eventually("all watches to report an event", async || {
        let logged = watch_events(&client, None).await;
        (logged.len() == WATCHES_MADE as usize).then_some(logged)
    })
    .await;
    let mut read: Vec<Value> = Vec::new();
    loop {
        let last = read.last().and_then(|last| last["id"].as_str());
        let after = last.map(|id| format!("&after={id}")).unwrap_or_default();
        let page = client.get(&format!("{LOG}?limit=10{after}")).await;
        let page = page.expect(200).list().to_vec();
        let is_last = page.len() < 10;
        read.extend(page);
        if is_last {
            break;
        }
    }
    assert_eq!(read, all);
    let page = client.get(LOG).await.expect(200);
    assert_eq!(*page.data(), json!(all[..50]));
}
