//! The pages, one file for each. A file has the page's routes, handlers and template.

pub(crate) mod account;
pub(crate) mod keys;
pub(crate) mod login;
pub(crate) mod mode;
pub(crate) mod overview;
pub(crate) mod setup;
