//! One file a family of routes.

mod booking;
mod cancellation;
mod content;
mod convention;
mod flight_booking;
mod flight_cancellation;
mod flight_list;
mod flight_offer;
mod flight_payment;
mod flight_prebook;
mod flight_purchase;
mod flight_race;
mod flight_reference;
mod flight_rows;
mod flight_run;
mod flight_secret;
mod flight_service;
mod flight_settle;
mod flight_terms;
mod idempotency;
mod identity;
mod instrument;
mod offer;
mod payment;
mod place;
mod webhook_delivery;
