//! Runs an adapter on variants of its supplier's responses and checks each answer.
//!
//! A plugin describes its operations in tables: the ordinary responses, the statements that a definite
//! answer requires, the documented refusals, and the lists whose items are independent. [`check`]
//! applies every kind of change to each response and compares the adapter's answer with the answers
//! that the changed response allows:
//!
//! - an answer is definite only if the response proves it (the module `rule`);
//! - an invalid value has at most the effect of removing its item, or the value if it is in no list;
//! - a call neither panics nor takes much longer or much more memory than with the ordinary response.
//!
//! The expectation is computed from the changed response, never recorded.
#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests use this crate, and a test that cannot continue fails by panicking"
)]
#![warn(missing_docs)]

mod call;
mod cost;
mod distinct;
mod document;
mod growth;
mod operation;
mod report;
mod rule;
mod run;
mod settings;
mod variant;

pub use cost::cpu_time;
pub use document::Node;
pub use operation::{
    Absence, Answer, AnswerKind, ErrorRow, ObjectSummary, Operation, Proof, Requirement, Step,
    StepRole,
};
pub use run::check;
