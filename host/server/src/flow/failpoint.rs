//! Named points at which a test kills the process. Only debug builds have them.

/// All of them, a line each. The crash tests read the same file and try each.
const FAILPOINTS: &str = include_str!("failpoints.txt");

/// Where in a step the process is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FailpointPhase {
    /// The step is chosen, nothing is stored.
    StepPlanned,
    /// The intent is stored, nothing has left.
    IntentCommitted,
    /// The answer is there, nothing of it is stored.
    ResponseReceived,
    /// The outcome is stored.
    OutcomeCommitted,
}

impl FailpointPhase {
    const fn name(self) -> &'static str {
        match self {
            Self::StepPlanned => "chosen",
            Self::IntentCommitted => "marked",
            Self::ResponseReceived => "answered",
            Self::OutcomeCommitted => "recorded",
        }
    }
}

/// Aborts the process when `abort_at` names this point, `step:phase`. No
/// destructor runs, as in a real crash.
pub(crate) fn hit(abort_at: &str, step: &str, phase: FailpointPhase) {
    let is_this = |point: &str| point.split_once(':') == Some((step, phase.name()));
    debug_assert!(
        point_names().any(is_this),
        "{step}:{} is not in failpoints.txt, so that no crash test tries it",
        phase.name()
    );
    if cfg!(debug_assertions) && is_this(abort_at) {
        tracing::error!(abort_at, "aborting at failpoint");
        std::process::abort();
    }
}

/// The first word of each line.
fn point_names() -> impl Iterator<Item = &'static str> {
    FAILPOINTS
        .lines()
        .filter_map(|line| line.split_whitespace().next())
}
