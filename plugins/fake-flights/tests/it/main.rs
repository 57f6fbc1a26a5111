//! The exported functions against scripted answers of Skylane and Jetbridge. The
//! fixtures are answers as they gave them.

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
