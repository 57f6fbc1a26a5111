//! Tests of the shipped Nuitee adapter in the real server, against Nuitee responses served by a
//! mock server on this machine. They cover place search to cancellation and every way in which a
//! step can end differently.

mod change;
mod drive;
mod event;
mod flight;
mod mock;
mod read;
mod scene;
mod service;
mod story;
