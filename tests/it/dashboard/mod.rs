//! The dashboard over HTTP, as browsers and attackers use it.

mod attack;
mod audit;
mod bookings;
mod cross_site;
mod go_live;
mod guessing;
mod keys;
mod listen;
mod members;
mod oidc;
mod requests;
mod roles;
mod sample_data;
mod search;
mod session;
mod stream;
mod suppliers;
mod two_factor;
mod unresolved;
mod watches;
mod webhooks;
