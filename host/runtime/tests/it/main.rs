//! The runtime through its public surface, with guests and upstreams that misbehave.
#![expect(clippy::unwrap_used, reason = "a failed step fails its test")]

mod egress;
mod events;
mod flights;
mod hostile_answers;
mod hostile_guests;
mod loading;
mod support;
mod traps;
