//! Prebooks whose commits the database does not confirm.

use host_storage::ABANDONED_CONNECTIONS;
use serde_json::Value;
use tests::{
    Client, HotelBookingBuilder, PostgresCluster, Server, ServerOptions, TcpRelay, eventually,
};

/// The idempotency key, the sandbox hotel, a text in the commit that loses its response, and the
/// response to the request.
const LOST_COMMITS: [(&str, &str, &str, (u16, &str)); 3] = [
    (
        "lost intent",
        "OK",
        "lost intent",
        (201, "READY_FOR_COMPLETE"),
    ),
    (
        "lost outcome",
        "OK",
        "prebook_confirmed",
        (201, "READY_FOR_COMPLETE"),
    ),
    (
        "lost refusal",
        "SOLD_OUT",
        "prebook_refused",
        (422, "offer_unavailable"),
    ),
];

async fn prebook_request(client: &Client, hotel: &str) -> Value {
    let way = HotelBookingBuilder::at(hotel);
    way.request(&way.offer(client).await)
}

#[tokio::test]
async fn prebook_that_loses_the_response_to_a_commit_is_carried_on() {
    let cluster = PostgresCluster::start().await;
    let relay = TcpRelay::start(cluster.port()).await;
    let server = Server::start_with_own_sandbox(ServerOptions::on_relay(&relay)).await;
    let client = server.client();
    for (key, hotel, text, expected) in LOST_COMMITS {
        let request = prebook_request(&client, hotel).await;
        relay.drop_response_to(text);
        let reply = client.prebook_hotel(key, &request).await;
        assert!(relay.has_dropped_response(), "{key}");
        assert_eq!(reply.outcome(), expected, "{key}: {:#}", reply.body);
        let again = client.prebook_hotel(key, &request).await;
        assert_eq!(again.outcome().1, expected.1, "{key}: repeated");
    }
    let listed = client.get("/v1/hotel/bookings").await.expect(200);
    assert_eq!(listed.list().len(), LOST_COMMITS.len());
}

#[tokio::test]
async fn prebook_that_is_not_confirmed_in_time_frees_its_key_once_the_database_answers() {
    let primary = PostgresCluster::start().await;
    let mut standby = primary.start_standby().await;
    let options = ServerOptions::on_cluster(&primary).config("[limits]\nrequest_s = 2\n");
    let server = Server::start_with_own_sandbox(options).await;
    let client = server.client();
    let request = prebook_request(&client, "OK").await;
    primary.require_standby().await;
    standby.stop().await;

    let reply = client.prebook_hotel("waits", &request).await;
    let problem = reply.expect_problem(500, "result_unknown");
    assert_eq!(problem.body["retryable"], true);
    let id = problem.body["booking_id"].as_str().unwrap();
    let detail = problem.body["detail"].as_str().unwrap();
    assert!(detail.contains(id) && detail.contains("same idempotency key"));
    // The gateway waits no longer for the response to the commit, and repeats it.
    eventually("a connection to be abandoned", async || {
        let abandoned = server.metric(ABANDONED_CONNECTIONS, &[]).await;
        (abandoned > 0).then_some(())
    })
    .await;

    standby.restart().await;
    let again = eventually("the key to be free", async || {
        let reply = client.prebook_hotel("waits", &request).await;
        (reply.status == 201).then_some(reply)
    })
    .await;
    assert_eq!(again.outcome().1, "READY_FOR_COMPLETE");
    assert_ne!(again.data()["id"], id);
    // The first booking was stored, and its supplier was never called.
    let first = client.hotel_booking(id).await;
    assert_eq!(first["status"], "FAILED");
}
