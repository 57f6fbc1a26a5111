//! Flights, of which the end user pays Nuitee in the browser: nothing here is ever
//! taken or given back by the gateway.

mod book;
mod cancel;
mod drive;
mod event;
mod prebook;
mod read;
mod scene;
mod service;
mod story;
