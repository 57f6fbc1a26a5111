//! Figures about the state of the gateway and of integrations, for people and operators.

pub mod go_live;
pub mod overview;
mod stale_value_cache;
