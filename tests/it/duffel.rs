//! Duffel's adapter as it is shipped, in the real server, against Duffel's answers
//! on this machine: from a search to a cancellation, and every way in between that
//! ends elsewhere.

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
