//! Tests of the exported functions against scripted responses of Tillway. The fixtures are
//! responses that Tillway returned.

mod description;
mod ending;
mod payment;
mod reading;
mod tillway;
