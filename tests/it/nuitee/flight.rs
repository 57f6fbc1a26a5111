//! Tests of flights that the end user pays to Nuitee in the browser. The gateway collects and
//! refunds nothing.

mod book;
mod cancel;
mod drive;
mod event;
mod prebook;
mod read;
mod scene;
mod service;
mod story;
