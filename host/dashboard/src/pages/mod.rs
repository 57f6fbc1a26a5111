//! The pages, one file for each. A file has the page's routes, handlers and template.

pub(crate) mod account;
pub(crate) mod audit;
pub(crate) mod bookings;
pub(crate) mod deliveries;
pub(crate) mod go_live;
pub(crate) mod keys;
pub(crate) mod login;
pub(crate) mod mandates;
pub(crate) mod members;
pub(crate) mod mode;
pub(crate) mod oidc;
pub(crate) mod overview;
pub(crate) mod requests;
pub(crate) mod sample_data;
pub(crate) mod search;
pub(crate) mod setup;
pub(crate) mod stream;
pub(crate) mod suppliers;
pub(crate) mod unresolved;
pub(crate) mod watches;
pub(crate) mod webhooks;
