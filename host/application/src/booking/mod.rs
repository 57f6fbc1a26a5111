//! Bookings from prebook to refund. Each call to a supplier or processor is a named step: its intent
//! is stored before the call and its outcome after it. Services start a workflow, jobs resume it, and
//! both execute the same steps.

pub mod aggregate;
pub mod cancel_error;
pub mod cancellation;
pub mod commit_repeats;
pub mod completion;
pub mod consequence;
pub mod engine;
pub mod execution;
pub mod flight_cancellation;
pub mod flight_prebook;
pub mod history;
pub mod hotel_cancellation;
pub mod hotel_prebook;
pub mod interpret;
pub mod job;
pub mod lease;
pub mod open_outcome;
pub mod passenger_secrets;
pub mod plan;
pub mod prebook;
pub mod prebook_call;
pub mod prebook_refusal;
mod prebook_storage;
pub mod reader;
pub mod resolution;
pub mod retry_schedules;
pub mod service_purchase;
pub mod settlement;
pub mod settlement_job;
pub mod step_dependencies;
pub mod steps;
pub mod unresolved_call;
