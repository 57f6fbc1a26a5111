//! Tests of airports and airlines.

use serde_json::json;
use tests::{Client, Database, Reply, Server, on_both_databases};

async fn airports(client: &Client, query: &str) -> Reply {
    let path = format!("/v1/flight/airports?{query}");
    client.get(&path).await.expect(200)
}

fn codes(reply: &Reply) -> Vec<&str> {
    let codes = reply.list().iter().map(|airport| &airport["iata_code"]);
    codes.map(|code| code.as_str().unwrap()).collect()
}

async fn airports_keep_the_suppliers_order_and_their_ids(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let found = airports(&client, "q=London").await;
    assert_eq!(found.header("x-supplier"), Some("SUPPLIER_A"));
    let meta = json!({"supplier": "SUPPLIER_A", "truncated": false});
    assert_eq!(found.body["meta"], meta);
    assert_eq!(codes(&found), ["LHR", "LGW", "STN", "LTN", "LCY"]);
    let id = &found.data()[0]["id"];
    assert!(id.as_str().unwrap().starts_with("apt_"), "{id}");
    let heathrow = json!({
        "id": id, "iata_code": "LHR", "icao_code": "EGLL", "name": "Heathrow Airport", "city": "London", "state": "England",
        "country": "GB", "latitude": 51.47, "longitude": -0.4543, "time_zone": "Europe/London",
    });
    assert_eq!(found.data()[0], heathrow);
    let by_code = airports(&client, "q=lhr").await;
    assert_eq!(by_code.data()[0], heathrow);
    let cut = airports(&client, "q=London&limit=2").await;
    assert_eq!(codes(&cut), ["LHR", "LGW"]);
    assert_eq!(cut.body["meta"]["truncated"], true);
    let many = airports(&client, "q=air").await;
    assert_eq!(codes(&many).len(), 20, "the default limit is 20");
    assert_eq!(many.body["meta"]["truncated"], true);
    let more = airports(&client, "q=air&limit=100").await;
    assert_eq!(codes(&more)[..20], codes(&many));
    assert!(codes(&more).len() > 20);
    let longest = "x".repeat(100);
    for unknown in ["Nowhere%20at%20all", &longest] {
        let none = airports(&client, &format!("q={unknown}")).await;
        assert_eq!(*none.data(), json!([]));
    }
    for query in ["", "q=L", &format!("q=x{longest}"), "q=Lo&limit=101"] {
        let refused = client.get(&format!("/v1/flight/airports?{query}")).await;
        refused.expect_problem(400, "validation_failed");
    }
}

/// The sandbox responds to this search after nine seconds, which is in time for any other call.
async fn airport_search_times_out_after_eight_seconds(database: Database) {
    let server = Server::start(database).await;
    let slow = "/v1/flight/airports?q=slowsearch";
    let problem = server.client().get(slow).await;
    let problem = problem.expect_problem(504, "supplier_timeout");
    assert_eq!(problem.body["supplier"], "SUPPLIER_A");
}

async fn airline_is_imported_once_and_then_read_locally(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let imported = client.get("/v1/flight/airlines/iatas/ba").await.expect(200);
    assert_eq!(imported.body["meta"], json!({"supplier": "SUPPLIER_A"}));
    let airline = imported.data();
    assert!(airline["id"].as_str().unwrap().starts_with("arl_"));
    let shape = json!({
        "id": airline["id"], "iata_code": "BA", "icao_code": "BAW", "name": "British Airways", "country": "GB",
        "alliance": "oneworld", "is_active": true, "logo_url": airline["logo_url"],
    });
    assert_eq!(*airline, shape);
    let path = "/v1/flight/airlines/iatas/%20BA%20";
    let known = client.get(path).await.expect(200);
    assert_eq!(known.body, json!({"data": airline}));
    assert_eq!(known.header("x-supplier"), None);
}

async fn inactive_airline_is_returned_and_unknown_airline_returns_404(database: Database) {
    let server = Server::start(database).await;
    let client = server.client();
    let get = async |code: &str| {
        let path = format!("/v1/flight/airlines/iatas/{code}");
        client.get(&path).await
    };
    let inactive = get("XX").await.expect(200);
    assert_eq!(inactive.data()["is_active"], false);
    get("0Z").await.expect_problem(404, "airline_not_found");
    get("BAW").await.expect_problem(400, "validation_failed");
}

on_both_databases! {
    airports_keep_the_suppliers_order_and_their_ids,
    airport_search_times_out_after_eight_seconds,
    airline_is_imported_once_and_then_read_locally,
    inactive_airline_is_returned_and_unknown_airline_returns_404,
}
