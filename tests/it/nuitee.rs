//! Nuitee's adapter as it is shipped, in the real server, against Nuitee's answers
//! on this machine: from a place to a cancellation, and every way in between that
//! ends elsewhere.

mod change;
mod drive;
mod event;
mod example;
mod flight;
mod read;
mod scene;
mod service;
mod story;
