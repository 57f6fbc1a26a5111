//! Use cases of the gateway: services, workers and the booking engine. Knows no HTTP server.

pub mod api_key;
pub mod application;
pub mod background;
pub mod base;
pub mod booking;
pub mod catalog;
pub mod config;
pub mod conflict_backoff;
pub mod context;
pub mod deadline;
pub mod error_chain;
pub mod failpoint;
pub mod id_generator;
pub mod idempotency;
pub mod jobs;
pub mod mandate;
pub mod metric_names;
pub mod offers;
pub mod payment_instrument;
pub mod readiness;
pub mod sealer;
pub mod supplier;
pub mod supplier_event;
pub mod task_supervisor;
pub mod watch;
pub mod webhook;
