//! Tests of the shipped Nuitee adapter in the real server, against Nuitee responses served by a
//! mock server on this machine. They cover place search to cancellation and each kind of outcome of
//! a booking. The adapter's own tests cover every response.

mod change;
mod drive;
mod event;
mod flight;
mod rate;
mod recording;
mod service;
