//! Integration tests of the runtime's public interface, with misbehaving guests and upstreams.
#![expect(clippy::unwrap_used, reason = "a failed step fails its test")]

mod egress;
mod events;
mod flights;
mod frozen_wit;
mod hostile_guests;
mod hostile_responses;
mod interface_rules;
mod loading;
mod support;
mod traps;
