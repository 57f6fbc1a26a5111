//! Bad days by the thousand. Each seed is a life of its own (of a booking, a delivery, a
//! watch that buys) under a clock that only the simulation moves: what is asked of
//! suppliers and processors gets lost, comes late or twice, processes die between two
//! transactions, callers change their minds. A model of the other side keeps count, and
//! when nothing is left to do, both must agree.
//!
//! `STOPOVER_SIMULATION_SEEDS` says how many seeds, `STOPOVER_SIMULATION_SEED` lives one
//! of them again.

mod agenda;
mod booking;
mod delivery;
mod job;
mod random;
mod watch;

use host_domain::time::Timestamp;
use random::Random;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Seeds of an ordinary test run.
const SEEDS: u64 = 100;

/// After so many broken seeds no more are lived.
const BROKEN_MAX: usize = 20;

/// Lines of a history that are shown, the last ones.
const SHOWN_MAX: usize = 200;

/// What happened in a life, told only when it went wrong.
#[derive(Default)]
struct History(RefCell<Vec<String>>);

impl History {
    fn note(&self, line: impl FnOnce() -> String) {
        self.0.borrow_mut().push(line());
    }

    fn note_at(&self, now: Timestamp, line: impl FnOnce() -> String) {
        let at_ms = now.since(agenda::BIRTH);
        self.note(|| format!("{:>12.3} s  {}", at_ms as f64 / 1000.0, line()));
    }
}

/// Lives every seed.
fn live(name: &str, life: impl Fn(&Random, &History) -> anyhow::Result<()>) {
    let one = setting("STOPOVER_SIMULATION_SEED");
    let seeds = match one {
        Some(seed) => seed..seed + 1,
        None => 0..setting("STOPOVER_SIMULATION_SEEDS").unwrap_or(SEEDS),
    };
    let mut broken = Vec::new();
    for seed in seeds {
        let (random, history) = (Random::new(seed), History::default());
        let lived = catch_unwind(AssertUnwindSafe(|| life(&random, &history)));
        let why = match lived {
            Ok(Ok(())) => continue,
            Ok(Err(why)) => why.to_string(),
            Err(_) => "a panic, see above".to_owned(),
        };
        broken.push((seed, why, history.0.into_inner()));
        if broken.len() >= BROKEN_MAX {
            break;
        }
    }
    // The shortest history says most.
    let Some((seed, why, lines)) = broken.iter().min_by_key(|(_, _, lines)| lines.len()) else {
        return;
    };
    let all: Vec<_> = broken.iter().map(|(seed, ..)| seed).collect();
    let shown = lines[lines.len().saturating_sub(SHOWN_MAX)..].join("\n");
    panic!("{name}, broken by {all:?}\nSTOPOVER_SIMULATION_SEED={seed}: {why}\n{shown}");
}

#[expect(
    clippy::disallowed_methods,
    reason = "how much is tested is no configuration of the server"
)]
fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is a number")),
    )
}
