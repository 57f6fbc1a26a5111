//! Background jobs: the worker that runs them, and what operators see of them.

pub mod operator;
pub mod unresolved_monitor;
pub mod worker;
