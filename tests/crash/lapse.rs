//! Tests of an offer that expires while the process crashes. The booking expires once, and a
//! browser's authorization is voided.

use crate::{AT_ONCE, SOON};
use futures::{StreamExt, stream};
use serde_json::json;
use tests::{
    Database, HotelBookingBuilder, Server, ServerOptions, complete_payment, eventually,
    on_both_databases, prebook_request,
};

/// Failpoints at which the process aborts. The step makes no call; voiding the authorization is a
/// separate step.
pub(crate) const STEPS: &[(&str, &[&str])] = &[("expire", &["chosen", "recorded"])];

/// Prebooks a booking that a browser pays, and returns its id.
async fn paid(server: &Server) -> String {
    let client = server.client();
    let offer = HotelBookingBuilder::at("EXPIRES_SOON").offer(&client).await;
    let mut request = prebook_request(&offer, 1);
    request["use_payment_sdk"] = json!(true);
    let keyed = client.header("x-idempotency-key", "browser");
    let bound = keyed.post("/v1/hotel/prebook", &request).await.expect(201);
    let token = &bound.body["meta"]["payment_sdk"]["token"];
    complete_payment(&server.sandbox_url, token.as_str().unwrap()).await;
    bound.data()["id"].as_str().unwrap().to_owned()
}

async fn survives(database: Database, point: &str) {
    let plain = ServerOptions::on(database).config(SOON);
    let mut server = Server::start_with_own_sandbox(plain.clone().with_failpoint(point)).await;
    let booking = paid(&server).await;
    let _killed = server.wait_for_exit().await;
    let server = server.restart(plain).await;
    let client = server.client();
    let _expired = client.wait_for_hotel_booking(&booking, "EXPIRED").await;
    eventually(
        &format!("{point}: the authorization to be voided"),
        async || {
            let ledger = server.ledger().await;
            (ledger.kinds_of(&booking) == ["authorization", "void"]).then_some(())
        },
    )
    .await;
    let mut told = server.outbox(&booking).await;
    told.retain(|event_type| event_type == "hotel.booking.expired");
    assert_eq!(told.len(), 1, "{point}");
}

async fn booking_expiry_survives_a_crash_at_any_point(database: Database) {
    let points = (STEPS.iter())
        .flat_map(|(step, phases)| phases.iter().map(move |phase| format!("{step}:{phase}")));
    stream::iter(points)
        .for_each_concurrent(AT_ONCE, async |point| survives(database, &point).await)
        .await;
}

on_both_databases! {
    booking_expiry_survives_a_crash_at_any_point,
}
