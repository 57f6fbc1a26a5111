//! Tests of the exported functions against scripted responses of Skylane and Jetbridge. The
//! fixtures are responses that the suppliers returned.

mod ask;
mod booking;
mod cancellation;
mod description;
mod ending;
mod jetbridge;
mod pricing;
mod reference;
mod services;
mod skylane;
