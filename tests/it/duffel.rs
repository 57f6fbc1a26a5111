//! Tests of the shipped Duffel adapter in the real server, against Duffel responses served by a
//! mock server on this machine. They cover search to cancellation and every way in which a step can
//! end differently.

mod bags;
mod book;
mod cancel;
mod drive;
mod event;
mod prebook;
mod read;
mod scene;
mod service;
mod story;
