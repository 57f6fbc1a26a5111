//! Named points at which a test kills the process. Only debug builds have them.

/// Where in a step the process is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Phase {
    /// The step is chosen, nothing is stored.
    Chosen,
    /// The intent is stored, nothing has left.
    Marked,
    /// The answer is there, nothing of it is stored.
    Answered,
    /// The outcome is stored.
    Recorded,
}

impl Phase {
    const fn name(self) -> &'static str {
        match self {
            Self::Chosen => "chosen",
            Self::Marked => "marked",
            Self::Answered => "answered",
            Self::Recorded => "recorded",
        }
    }
}

/// Aborts the process when `abort_at` names this point, `step:phase`. No
/// destructor runs, as in a real crash.
pub(crate) fn reach(abort_at: &str, step: &str, phase: Phase) {
    if cfg!(debug_assertions) && abort_at.split_once(':') == Some((step, phase.name())) {
        tracing::error!(abort_at, "aborting at failpoint");
        std::process::abort();
    }
}
