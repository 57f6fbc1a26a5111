//! Decisions of operators about calls whose outcome the gateway could not determine.

use crate::named_enum::named_enum;

/// The kind of the jobs that apply decisions.
pub const SETTLEMENT_JOB_KIND: &str = "settlement";

named_enum! {
    /// The decision of an operator about a call or an undecided refund.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum SettlementChoice {
        /// The call was executed.
        Done = "done",
        /// The call was not executed and will not be.
        NotDone = "not_done",
        /// The amount of an undecided refund.
        Refund = "refund",
    }
}

named_enum! {
    /// The progress of a decision.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum SettlementState {
        /// A lookup of the outcome is under way. The decision is applied afterwards.
        Waiting = "waiting",
        Applied = "applied",
        /// The outcome became known before the decision was applied.
        Superseded = "superseded",
        /// An operator took the decision back before it was applied.
        Withdrawn = "withdrawn",
    }
}
