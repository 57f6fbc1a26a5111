//! Price watches: operations, checks and purchases.

pub mod any_watch;
mod audited;
pub mod check_worker;
pub mod policy;
pub mod price_check;
pub mod purchase_job;
pub mod service;
