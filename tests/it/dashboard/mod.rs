//! The dashboard over HTTP, as browsers and attackers use it.

mod attack;
mod cross_site;
mod guessing;
mod keys;
mod roles;
mod session;
