//! Tests of the shipped Duffel adapter in the real server, against Duffel responses served by a
//! mock server on this machine. They cover search to cancellation and each kind of outcome of a
//! step. The adapter's own tests cover every response.

mod book;
mod change;
mod drive;
mod event;
mod service;
