//! Checks that the list of failpoints and the tests of this folder contain the same points. The
//! gateway aborts only at failpoints in the list.

use crate::flow::{Step, points_of};
use crate::{delivery_attempt, expiry, flight, hotel, prebook, watch};
use std::collections::BTreeSet;

/// The list of failpoints: one per line, as `step:phase`, with the flows that reach it.
const POINTS: &str = include_str!("../../host/application/src/failpoints.txt");

/// Returns the failpoints of a flow in the list.
fn listed(flow: &str) -> BTreeSet<String> {
    let lines = POINTS.lines().filter(|line| !line.starts_with('#'));
    let of_flow = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        let point = words.next()?;
        words.any(|word| word == flow).then(|| point.to_owned())
    });
    of_flow.collect()
}

/// Returns the failpoints of tables of steps.
fn points(tables: &[&[(&str, &[&str])]]) -> BTreeSet<String> {
    let steps = tables.iter().copied().flatten();
    let points = steps.flat_map(|(step, phases)| points_of(step, phases));
    points.collect()
}

/// Returns a table without the flows.
fn without_flows(steps: &[Step]) -> Vec<(&'static str, &'static [&'static str])> {
    let steps = steps.iter();
    steps.map(|(step, phases, _)| (*step, *phases)).collect()
}

#[test]
fn every_failpoint_of_every_flow_is_tested() {
    let (hotels, flights, bags) = (
        without_flows(hotel::STEPS),
        without_flows(flight::STEPS),
        without_flows(flight::BAG_STEPS),
    );
    for (flow, tested) in [
        ("hotel", points(&[&hotels, prebook::STEPS, expiry::STEPS])),
        ("flight", points(&[&flights, prebook::STEPS])),
        ("bags", points(&[&bags])),
        ("watch", points(&[&watch::steps(), watch::CHECKS])),
        ("delivery", points(&[delivery_attempt::STEPS])),
    ] {
        assert_eq!(tested, listed(flow), "{flow}");
    }
}
