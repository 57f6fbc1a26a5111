//! Tests of the log of watch events.

use serde_json::{Value, json};
use tests::{
    Database, Server, ServerOptions, WATCHES, eventually, on_both_databases, set_price,
    watch_events, watch_request,
};

on_both_databases! {
    watch_log_is_visible_to_its_organization_only,
    watch_log_is_read_in_pages_to_its_end,
}

#[tokio::test]
async fn watch_log_with_invalid_query_is_refused() {
    let server = Server::start(Database::Sqlite).await;
    let client = server.client();
    for (query, pointer) in [
        ("limit=0", "/limit"),
        ("limit=201", "/limit"),
        ("limit=many", "/limit"),
        ("after=bkg_1", "/after"),
        ("after=", "/after"),
        ("before=evt_1", "/before"),
    ] {
        let refused = client.get(&format!("/v1/watcher/events?{query}")).await;
        let refused = refused.expect_problem(400, "validation_failed");
        assert_eq!(refused.body["errors"][0]["pointer"], pointer, "{query}");
    }
    client
        .get("/v1/watcher/events?after=evt_unknown")
        .await
        .expect_problem(404, "event_not_found");
}

/// Starts a server that checks watches every second.
async fn start(database: Database) -> Server {
    Server::start_with(ServerOptions::on(database).config("[watches]\ninterval_s = 1")).await
}

fn ids(events: &[Value]) -> Vec<&str> {
    let ids = events.iter().filter_map(|event| event["id"].as_str());
    ids.collect()
}

async fn watch_log_is_visible_to_its_organization_only(database: Database) {
    let server = start(database).await;
    let client = server.client();
    let empty = client.get("/v1/watcher/events").await.expect(200);
    assert_eq!(empty.body, json!({"data": []}));
    set_price(&server.sandbox_url, "OK", 50.0).await;
    let watch = client.user("ada").watch_hotel("OK", 150.0, json!({})).await;
    let logged = eventually("the watch to report an event", async || {
        Some(watch_events(&client, None).await).filter(|logged| !logged.is_empty())
    })
    .await;
    let (event, payload) = (&logged[0], &logged[0]["payload"]);
    assert_eq!(logged.len(), 1);
    assert_eq!(event["type"], "travel.hotel.watch.triggered");
    assert_eq!(event["status"], "pending", "there is no webhook");
    for member in ["id", "type", "created_at"] {
        assert_eq!(payload[member], event[member], "{member}");
    }
    assert_eq!(payload["data"]["watch"]["id"], watch["id"]);
    assert_eq!(payload["data"]["user_id"], "ada");
    assert_eq!(watch_events(&client.user("eve"), None).await, logged);
    let other = server.client_for("acme").await;
    assert!(watch_events(&other, None).await.is_empty());
    let id = event["id"].as_str().unwrap();
    let path = format!("/v1/watcher/events?after={id}");
    other
        .get(&path)
        .await
        .expect_problem(404, "event_not_found");
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
    let mut read = Vec::new();
    loop {
        let after = read.last().map(|last: &Value| &last["id"]);
        let after = after
            .and_then(Value::as_str)
            .map(|id| format!("&after={id}"));
        let path = format!("/v1/watcher/events?limit=10{}", after.unwrap_or_default());
        let page = client.get(&path).await.expect(200);
        let page = page.data().as_array().unwrap().clone();
        let is_last = page.len() < 10;
        read.extend(page);
        if is_last {
            break;
        }
    }
    assert_eq!(ids(&read), ids(&all));
    let page = client.get("/v1/watcher/events").await.expect(200);
    assert_eq!(*page.data(), json!(all[..50]));
}
