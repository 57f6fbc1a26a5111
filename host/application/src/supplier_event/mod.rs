pub mod job;
pub mod service;
