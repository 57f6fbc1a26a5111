//! Tests of flights that the end user pays to Nuitee in the browser. The gateway collects and
//! refunds nothing.

mod change;
mod drive;
mod event;
mod prebook;
mod service;
