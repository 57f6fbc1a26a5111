//! The exported functions against scripted answers of Tillway. The fixtures are
//! answers as Tillway gave them.

mod description;
mod ending;
mod payment;
mod reading;
mod tillway;
