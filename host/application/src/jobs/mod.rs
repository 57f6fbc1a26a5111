pub mod operator;
pub mod unresolved_monitor;
pub mod worker;
