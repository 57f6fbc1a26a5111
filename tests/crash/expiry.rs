//! Tests of an offer that expires while the process crashes. The booking expires once, and a
//! browser's authorization is voided.

use crate::SHORT_DELAYS;
use crate::flow::{Steps, for_each, points};
use tests::{
    Database, HotelBookingBuilder, Server, ServerOptions, complete_payment, on_both_databases,
};

/// Failpoints at which the process aborts. The step makes no call; voiding the authorization is a
/// separate step.
pub(crate) const STEPS: Steps = &[("offer_expiry", &["planned", "outcome_committed"])];

async fn check_survives(database: Database, point: &str) {
    let plain = ServerOptions::on(database).config(SHORT_DELAYS);
    let mut server = Server::start_with_own_sandbox(plain.clone().with_failpoint(point)).await;
    let hotel = HotelBookingBuilder::at("EXPIRES_SOON").in_browser();
    let bound = hotel.prebook(&server.client()).await.expect(201);
    let token = &bound.body["meta"]["payment_sdk"]["token"];
    complete_payment(&server.sandbox_url, token.as_str().unwrap()).await;
    let booking = bound.data()["id"].as_str().unwrap();
    let _killed = server.wait_for_exit().await;
    let server = server.restart(plain).await;
    let client = server.client();
    let _expired = client.wait_for_hotel_booking(booking, "EXPIRED").await;
    let voided = ["authorization", "void"];
    server.wait_for_ledger(booking, &voided).await;
    let mut expired = server.outbox(booking).await;
    expired.retain(|event_type| event_type == "hotel.booking.expired");
    assert_eq!(expired.len(), 1, "{point}");
}

async fn booking_expiry_survives_a_crash_at_any_point(database: Database) {
    for_each(points(STEPS), async |point| {
        check_survives(database, &point).await
    })
    .await;
}

on_both_databases! {
    booking_expiry_survives_a_crash_at_any_point,
}
