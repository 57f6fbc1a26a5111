//! Tests of bookings with a process that crashes at each failpoint of each step, for both products.

use crate::flow::{Flow, FollowUp, Step, for_each, points_of};
use crate::retried_booking::RetriedBooking;
use crate::{SHORT_DELAYS, flight, hotel};
use tests::{Database, Server, ServerOptions, eventually, on_both_databases};

async fn check_survives(database: Database, point: &str, flow: &Flow) {
    let plain = ServerOptions::on(database).config(SHORT_DELAYS);
    let armed_at = |point: &str| plain.clone().with_failpoint(point);
    let armed = armed_at(point);
    let (mut server, booking) = match flow.follow_up {
        FollowUp::Nothing | FollowUp::Cancel => {
            let first = armed_at(flow.first.unwrap_or(point));
            let server = Server::start_with_own_sandbox(first).await;
            let booking = RetriedBooking::begin(&server, flow).await;
            (server, booking)
        }
        // The ticket runs steps of the same names before, so the failpoint is set only afterwards.
        FollowUp::Bags(card, _) => {
            let server = Server::start_with_own_sandbox(plain.clone()).await;
            let mut booking = RetriedBooking::begin(&server, flow).await;
            booking.choose_bags(&server, card).await;
            (server.restart(armed.clone()).await, booking)
        }
    };
    if let Some(first) = flow.first {
        wait_for_abort(&mut server, &booking, first).await;
        server = server.restart(armed).await;
    }
    wait_for_abort(&mut server, &booking, point).await;

    let server = server.restart(plain).await;
    let client = server.client();
    let what = format!("{point}: {flow:?}");
    eventually(&what, async || {
        let seen = booking.call_once(&client).await?;
        let ledger = server.ledger().await;
        booking.has_ended(&seen, &ledger).then_some(())
    })
    .await;
    let again = booking.call_once(&client).await.unwrap();
    let ledger = server.ledger().await;
    assert!(
        booking.has_ended(&again, &ledger),
        "{what}: work continued after the flow had ended"
    );
    booking.check_money(&again.booking, &ledger, point);
    booking.check_ticket(&again.booking, point);
}

/// Calls until the process has aborted.
async fn wait_for_abort(server: &mut Server, booking: &RetriedBooking<'_>, point: &str) {
    let client = server.client();
    eventually(&format!("{point} to be reached"), async || {
        booking.call_once(&client).await.is_none().then_some(())
    })
    .await;
    let status = server.wait_for_exit().await;
    assert!(!status.success(), "{point}: the process ended by itself");
}

async fn check_every_point(database: Database, steps: &[Step]) {
    let points = steps.iter().flat_map(|(step, phases, flow)| {
        let points = points_of(step, phases).into_iter();
        points.map(move |point| (point, flow))
    });
    let check = async |(point, flow): (String, _)| check_survives(database, &point, flow).await;
    for_each(points, check).await;
}

async fn a_hotel_booking_survives_a_crash_at_any_point(database: Database) {
    check_every_point(database, hotel::STEPS).await;
}

async fn a_flight_booking_survives_a_crash_at_any_point(database: Database) {
    check_every_point(database, flight::STEPS).await;
}

async fn a_purchase_of_bags_survives_a_crash_at_any_point(database: Database) {
    check_every_point(database, flight::BAG_STEPS).await;
}

on_both_databases! {
    a_hotel_booking_survives_a_crash_at_any_point,
    a_flight_booking_survives_a_crash_at_any_point,
    a_purchase_of_bags_survives_a_crash_at_any_point,
}
