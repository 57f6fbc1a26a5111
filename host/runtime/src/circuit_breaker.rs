//! The circuit breaker of one plugin: a rolling window of outcomes that decides whether calls are
//! allowed. It uses only outcomes and time and makes no calls.

use crate::call_log::PluginCallOutcome;
use host_domain::supplier::{CircuitStatus, Health};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

const WINDOW: Duration = Duration::from_secs(60);
/// Length of a bucket of the window, so that a busy plugin costs no more than a quiet one.
const STEP: Duration = Duration::from_secs(5);
/// Minimum number of outcomes from which a failure rate is computed.
const CALLS_MIN: u32 = 20;
/// Failure rate in percent from which the plugin counts as down.
const DOWN_PERCENT: u32 = 50;
/// Failure rate in percent from which the plugin counts as degraded.
const DEGRADED_PERCENT: u32 = 20;
/// Number of consecutive traps that opens the circuit, regardless of the number of calls.
const CONSECUTIVE_TRAPS_MAX: u32 = 5;
/// Delay before the first probe. It doubles after each failed probe up to `PROBE_AFTER_MAX`.
const PROBE_AFTER: Duration = Duration::from_secs(5);
const PROBE_AFTER_MAX: Duration = Duration::from_secs(60);
/// Time after which a probe without an outcome is abandoned, so that a lost probe does not block
/// the next one.
const PROBE_TIMEOUT: Duration = Duration::from_secs(120);

/// The meaning of an outcome for the plugin's health.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutcomeClass {
    Success,
    Failure,
    Trap,
    Ignored,
}

const fn classify_outcome(outcome: PluginCallOutcome) -> OutcomeClass {
    match outcome {
        PluginCallOutcome::Succeeded
        | PluginCallOutcome::NotFound
        | PluginCallOutcome::Refused
        | PluginCallOutcome::Declined => OutcomeClass::Success,
        PluginCallOutcome::TimedOut
        | PluginCallOutcome::Unavailable
        | PluginCallOutcome::InvalidResponse
        | PluginCallOutcome::Misconfigured
        | PluginCallOutcome::NotSent
        | PluginCallOutcome::Unknown => OutcomeClass::Failure,
        PluginCallOutcome::Trapped => OutcomeClass::Trap,
        PluginCallOutcome::RateLimited
        | PluginCallOutcome::Overloaded
        | PluginCallOutcome::CircuitOpen
        | PluginCallOutcome::Unsupported
        | PluginCallOutcome::InvalidSignature
        | PluginCallOutcome::Canceled => OutcomeClass::Ignored,
    }
}

/// The health of a plugin, for operators and for routing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthReport {
    /// Overall health.
    pub health: Health,
    /// Whether calls are made at present.
    pub circuit: CircuitStatus,
    /// Counted calls of the last minute.
    pub calls: u32,
    /// Failed calls among `calls`.
    pub failures: u32,
    /// Last failure in one sentence.
    pub last_failure: Option<String>,
}

#[derive(Debug, Default)]
struct Bucket {
    step: u64,
    calls: u32,
    failures: u32,
}

#[derive(Debug, Clone, Copy)]
enum CircuitState {
    Closed,
    Open { probe_at: Instant, wait: Duration },
    HalfOpen { since: Instant, wait: Duration },
}

#[derive(Debug)]
struct RollingWindow {
    began: Instant,
    buckets: VecDeque<Bucket>,
    circuit: CircuitState,
    traps_in_a_row: u32,
    last_failure: Option<String>,
}

#[derive(Debug)]
pub(crate) struct CircuitBreaker {
    window: Mutex<RollingWindow>,
}

/// The call was rejected because the circuit is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CircuitOpen {
    /// Time until the next probe.
    pub(crate) retry_after: Duration,
}

/// The kind of an allowed call: a normal call, or the probe that tests the plugin again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallPermit {
    Normal,
    Probe,
}

impl CircuitBreaker {
    pub(crate) fn new() -> Self {
        let window = RollingWindow {
            began: Instant::now(),
            buckets: VecDeque::new(),
            circuit: CircuitState::Closed,
            traps_in_a_row: 0,
            last_failure: None,
        };
        Self {
            window: Mutex::new(window),
        }
    }

    pub(crate) fn try_acquire(&self) -> Result<CallPermit, CircuitOpen> {
        let mut window = self.window();
        let now = Instant::now();
        match window.circuit {
            CircuitState::Closed => Ok(CallPermit::Normal),
            CircuitState::Open { probe_at, .. } if now < probe_at => Err(CircuitOpen {
                retry_after: probe_at - now,
            }),
            CircuitState::HalfOpen { since, .. } if now < since + PROBE_TIMEOUT => {
                Err(CircuitOpen {
                    retry_after: PROBE_AFTER,
                })
            }
            CircuitState::Open { wait, .. } | CircuitState::HalfOpen { wait, .. } => {
                window.circuit = CircuitState::HalfOpen { since: now, wait };
                Ok(CallPermit::Probe)
            }
        }
    }

    pub(crate) fn record_outcome(
        &self,
        permit: CallPermit,
        outcome: PluginCallOutcome,
        detail: Option<&str>,
    ) {
        let class = classify_outcome(outcome);
        let mut window = self.window();
        let now = Instant::now();
        if permit == CallPermit::Probe {
            window.end_probe(now, class);
        }
        if class == OutcomeClass::Ignored {
            return;
        }
        let failed = class != OutcomeClass::Success;
        window.traps_in_a_row = if class == OutcomeClass::Trap {
            window.traps_in_a_row.saturating_add(1)
        } else {
            0
        };
        window.count(now, failed);
        if failed {
            window.last_failure = Some(detail.unwrap_or(outcome.as_str()).to_owned());
            window.open_if_failing(now);
        }
    }

    pub(crate) fn health(&self) -> Health {
        self.window().health(Instant::now())
    }

    pub(crate) fn report(&self) -> HealthReport {
        let mut window = self.window();
        let now = Instant::now();
        let (calls, failures) = window.totals(now);
        HealthReport {
            health: window.health(now),
            circuit: window.circuit_status(now),
            calls,
            failures,
            last_failure: window.last_failure.clone(),
        }
    }

    fn window(&self) -> MutexGuard<'_, RollingWindow> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RollingWindow {
    fn step(&self, now: Instant) -> u64 {
        now.duration_since(self.began).as_secs() / STEP.as_secs()
    }

    fn count(&mut self, now: Instant, failed: bool) {
        let step = self.step(now);
        if self.buckets.back().is_none_or(|bucket| bucket.step != step) {
            self.buckets.push_back(Bucket {
                step,
                ..Bucket::default()
            });
        }
        if let Some(bucket) = self.buckets.back_mut() {
            bucket.calls = bucket.calls.saturating_add(1);
            bucket.failures = bucket.failures.saturating_add(u32::from(failed));
        }
        self.evict_older(step);
    }

    fn evict_older(&mut self, step: u64) {
        let oldest = step.saturating_sub(WINDOW.as_secs() / STEP.as_secs());
        while self
            .buckets
            .front()
            .is_some_and(|bucket| bucket.step < oldest)
        {
            self.buckets.pop_front();
        }
    }

    fn totals(&mut self, now: Instant) -> (u32, u32) {
        self.evict_older(self.step(now));
        self.buckets
            .iter()
            .fold((0, 0), |(calls, failures), bucket| {
                (
                    calls.saturating_add(bucket.calls),
                    failures.saturating_add(bucket.failures),
                )
            })
    }

    fn failing_percent(&mut self, now: Instant) -> u32 {
        match self.totals(now) {
            (calls, failures) if calls >= CALLS_MIN => failures.saturating_mul(100) / calls,
            _ => 0,
        }
    }

    fn open_if_failing(&mut self, now: Instant) {
        let failing = self.traps_in_a_row >= CONSECUTIVE_TRAPS_MAX
            || self.failing_percent(now) >= DOWN_PERCENT;
        if failing && matches!(self.circuit, CircuitState::Closed) {
            self.circuit = CircuitState::Open {
                probe_at: now + PROBE_AFTER,
                wait: PROBE_AFTER,
            };
        }
    }

    fn end_probe(&mut self, now: Instant, class: OutcomeClass) {
        let CircuitState::HalfOpen { wait, .. } = self.circuit else {
            return;
        };
        self.circuit = match class {
            OutcomeClass::Success => {
                self.buckets.clear();
                CircuitState::Closed
            }
            OutcomeClass::Failure | OutcomeClass::Trap => {
                let wait = (wait * 2).min(PROBE_AFTER_MAX);
                CircuitState::Open {
                    probe_at: now + wait,
                    wait,
                }
            }
            OutcomeClass::Ignored => CircuitState::Open {
                probe_at: now,
                wait,
            },
        };
    }

    fn circuit_status(&self, now: Instant) -> CircuitStatus {
        match self.circuit {
            CircuitState::Closed => CircuitStatus::Closed,
            CircuitState::Open { probe_at, .. } => {
                let wait = probe_at.saturating_duration_since(now).as_millis();
                CircuitStatus::Open {
                    probe_in_ms: u64::try_from(wait).unwrap_or(u64::MAX),
                }
            }
            CircuitState::HalfOpen { .. } => CircuitStatus::Probing,
        }
    }

    fn health(&mut self, now: Instant) -> Health {
        if !matches!(self.circuit, CircuitState::Closed) {
            return Health::Down;
        }
        if self.failing_percent(now) >= DEGRADED_PERCENT {
            Health::Degraded
        } else {
            Health::Up
        }
    }
}

#[cfg(test)]
mod tests;
