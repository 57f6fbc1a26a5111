//! Bad days by the thousand. Each seed is a life of its own (of a booking, a delivery, a
//! watch that buys) under a clock that only the simulation moves: what is asked of
//! suppliers and processors gets lost, comes late or twice, processes die between two
//! transactions, callers change their minds. A model of the other side keeps count, and
//! when nothing is left to do, both must agree.
//!
//! `STOPOVER_SIMULATION_SEEDS` says how many seeds, `STOPOVER_SIMULATION_SEED` lives one
//! of them again.

/// Fails the life unless it holds.
macro_rules! hold {
    ($condition:expr, $($broken:tt)+) => {
        if !$condition {
            return Err(format!($($broken)+));
        }
    };
}

mod booking;
mod random;

use random::Random;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Seeds of an ordinary test run.
const SEEDS: u64 = 100;

/// Lines of a history that are shown, the last ones.
const SHOWN_MAX: usize = 400;

/// What happened in a life, told only when it went wrong.
#[derive(Default)]
struct History(RefCell<Vec<String>>);

impl History {
    fn note(&self, line: impl FnOnce() -> String) {
        self.0.borrow_mut().push(line());
    }
}

/// A rule that a life broke.
type Broken = String;

/// Lives every seed.
fn live(name: &str, life: impl Fn(&Random, &History) -> Result<(), Broken>) {
    let one = setting("STOPOVER_SIMULATION_SEED");
    let seeds = match one {
        Some(seed) => seed..seed + 1,
        None => 0..setting("STOPOVER_SIMULATION_SEEDS").unwrap_or(SEEDS),
    };
    for seed in seeds {
        let (random, history) = (Random::new(seed), History::default());
        let lived = catch_unwind(AssertUnwindSafe(|| life(&random, &history)));
        let broken = match lived {
            Ok(Ok(())) => continue,
            Ok(Err(broken)) => broken,
            Err(_) => "a panic, see above".to_owned(),
        };
        let lines = history.0.into_inner();
        let shown = &lines[lines.len().saturating_sub(SHOWN_MAX)..];
        panic!(
            "{name}, STOPOVER_SIMULATION_SEED={seed}: {broken}\n{}",
            shown.join("\n")
        );
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how much is tested is no configuration of the server"
)]
fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}
