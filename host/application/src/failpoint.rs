//! Named points at which a test aborts the process. Only debug builds have them.

/// All failpoints, one a line. The crash tests read the same file and try each of them.
const FAILPOINTS: &str = include_str!("failpoints.txt");

/// A point within the execution of a step.
#[derive(Debug, Clone, Copy)]
pub enum FailpointPhase {
    /// The step is planned; nothing is stored.
    StepPlanned,
    /// The intent is committed; nothing is sent.
    IntentCommitted,
    /// The response is received; nothing of it is stored.
    ResponseReceived,
    OutcomeCommitted,
}

impl FailpointPhase {
    const fn name(self) -> &'static str {
        match self {
            Self::StepPlanned => "planned",
            Self::IntentCommitted => "intent_committed",
            Self::ResponseReceived => "response_received",
            Self::OutcomeCommitted => "outcome_committed",
        }
    }
}

/// Aborts the process, like a crash, if `abort_at` names this point as `step:phase`.
pub fn hit(abort_at: &str, step: &str, phase: FailpointPhase) {
    let is_this = |point: &str| point.split_once(':') == Some((step, phase.name()));
    debug_assert!(
        point_names().any(is_this),
        "{step}:{} is not in failpoints.txt; add it there, so that a crash test tries it",
        phase.name()
    );
    if cfg!(debug_assertions) && is_this(abort_at) {
        tracing::error!(abort_at, "aborting at failpoint");
        std::process::abort();
    }
}

fn point_names() -> impl Iterator<Item = &'static str> {
    FAILPOINTS
        .lines()
        .filter_map(|line| line.split_whitespace().next())
}
