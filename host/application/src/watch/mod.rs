//! Price watches: operations, checks and purchases.

mod audited;
pub mod check_worker;
pub mod policy;
pub mod price_check;
pub mod purchase_job;
pub mod service;
pub mod unscoped_watch;
