//! Tests of one delivery with a process that crashes at each failpoint. The delivery arrives, and
//! arrives twice only if it was accepted but the acceptance was not stored.

use crate::SHORT_DELAYS;
use crate::flow::{ALL_PHASES, Steps, for_each, points};
use reqwest::Method;
use tests::{
    Database, ReceivedRequest, Server, ServerOptions, Subscriber, on_both_databases,
    verify_signatures,
};

/// Failpoints at which the process aborts.
pub(crate) const STEPS: Steps = &[("deliver", ALL_PHASES)];

const WEBHOOKS: &str = "[webhooks]\ntimeout_s = 2\nsubscription_retry_s = [1, 1]";

async fn check_survives(database: Database, what: &str) {
    let plain = ServerOptions::on(database)
        .config(SHORT_DELAYS)
        .config(WEBHOOKS);
    let mut server = Server::start_with_own_sandbox(plain.clone().with_failpoint(what)).await;
    let subscriber = Subscriber::start(&server.client()).await;
    let subscription = &subscriber.subscription;
    let (client, path) = (server.client(), subscription.path("/test"));
    // The process may abort before it has responded.
    let _answered = client.try_send(Method::POST, &path, None).await;
    let _killed = server.wait_for_exit().await;
    let server = server.restart(plain).await;
    let client = server.client();
    let listed = subscription.deliveries(&client, "").await;
    assert_eq!(listed.list().len(), 1, "{what}");
    let id = listed.list()[0]["id"].as_str().unwrap();
    let delivered = subscription
        .wait_for_delivery_status(&client, id, "DELIVERED")
        .await;
    assert_eq!(delivered["attempts"].as_array().unwrap().len(), 1, "{what}");
    // Any repeated delivery has arrived before this one.
    let later = subscription.ping_until(&client, "DELIVERED").await;
    let received = subscriber.upstream.received();
    let times = if what.ends_with(":response_received") {
        2
    } else {
        1
    };
    assert_eq!(count_of(&received, id), times, "{what}");
    let later = later["id"].as_str().unwrap();
    assert_eq!(count_of(&received, later), 1, "{what}");
    for request in &received {
        let signed = verify_signatures(request, &[&subscription.secret]);
        assert_eq!(signed, [true], "{what}");
    }
}

/// Counts the requests of a delivery.
fn count_of(received: &[ReceivedRequest], id: &str) -> usize {
    let came = received.iter();
    came.filter(|one| one.header("svc-delivery-id") == Some(id))
        .count()
}

async fn a_delivery_survives_a_crash_at_any_point(database: Database) {
    for_each(points(STEPS), async |point| {
        check_survives(database, &point).await
    })
    .await;
}

on_both_databases! {
    a_delivery_survives_a_crash_at_any_point,
}
