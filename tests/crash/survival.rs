//! The crash matrix: every step and phase of both products on both databases.

use crate::flow::{Flow, FollowUp, Step, for_each, points_of};
use crate::trial::Trial;
use crate::{SOON, flight, hotel};
use tests::{Database, Server, ServerOptions, eventually, on_both_databases};

async fn survives(database: Database, point: &str, flow: &Flow) {
    let plain = ServerOptions::on(database).config(SOON);
    let armed_at = |point: &str| plain.clone().with_failpoint(point);
    let armed = armed_at(point);
    let (mut server, trial) = match flow.follow_up {
        FollowUp::Nothing | FollowUp::Cancel => {
            let first = armed_at(flow.first.unwrap_or(point));
            let server = Server::start_with_own_sandbox(first).await;
            let trial = Trial::begin(&server, flow).await;
            (server, trial)
        }
        // The ticket runs steps of the same names before, so the failpoint is set only afterwards.
        FollowUp::Bags(card, _) => {
            let server = Server::start_with_own_sandbox(plain.clone()).await;
            let mut trial = Trial::begin(&server, flow).await;
            trial.choose_bags(&server, card).await;
            (server.restart(armed.clone()).await, trial)
        }
    };
    if let Some(first) = flow.first {
        dies(&mut server, &trial, first).await;
        server = server.restart(armed).await;
    }
    dies(&mut server, &trial, point).await;

    let server = server.restart(plain).await;
    let client = server.client();
    let what = format!("{point}: {flow:?}");
    eventually(&what, async || {
        let seen = trial.ask(&client).await?;
        let ledger = server.ledger().await;
        trial.is_over(&seen, &ledger).then_some(())
    })
    .await;
    let again = trial.ask(&client).await.unwrap();
    let ledger = server.ledger().await;
    assert!(
        trial.is_over(&again, &ledger),
        "{what}: work continued after the flow had ended"
    );
    trial.check_money(&again.booking, &ledger, point);
    trial.check_ticket(&again.booking, point);
}

/// Calls until the process has aborted.
async fn dies(server: &mut Server, trial: &Trial<'_>, point: &str) {
    let client = server.client();
    eventually(&format!("{point} to be reached"), async || {
        trial.ask(&client).await.is_none().then_some(())
    })
    .await;
    let status = server.wait_for_exit().await;
    assert!(!status.success(), "{point}: the process ended by itself");
}

async fn every_point_survives(database: Database, steps: &[Step]) {
    let points = steps.iter().flat_map(|(step, phases, flow)| {
        let points = points_of(step, phases).into_iter();
        points.map(move |point| (point, flow))
    });
    let survives = async |(point, flow): (String, _)| survives(database, &point, flow).await;
    for_each(points, survives).await;
}

async fn a_hotel_booking_survives_a_crash_at_any_point(database: Database) {
    every_point_survives(database, hotel::STEPS).await;
}

async fn a_flight_booking_survives_a_crash_at_any_point(database: Database) {
    every_point_survives(database, flight::STEPS).await;
}

async fn a_purchase_of_bags_survives_a_crash_at_any_point(database: Database) {
    every_point_survives(database, flight::BAG_STEPS).await;
}

on_both_databases! {
    a_hotel_booking_survives_a_crash_at_any_point,
    a_flight_booking_survives_a_crash_at_any_point,
    a_purchase_of_bags_survives_a_crash_at_any_point,
}
