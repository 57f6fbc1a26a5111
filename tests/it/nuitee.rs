//! Nuitee's adapter as it is shipped, in the real server, against Nuitee's answers
//! on this machine: from a place to a cancellation, and every way in between that
//! ends elsewhere.

mod drive;

mod service;
mod story;
