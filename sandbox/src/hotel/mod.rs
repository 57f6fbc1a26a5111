//! Lodge, the hotel supplier: its records and routes. It is independent of flights and cards.

use axum::{
    Router,
    routing::{get, post},
};

use crate::{
    credentials::{self, Credential},
    request::require_key,
    state::SandboxState,
};

mod booking;
mod booking_wire;
mod cancellation;
mod catalog;
mod content;
mod due_change;
mod price;
mod pricing;
mod quote;
mod refusal;
mod scenario;
mod search;
pub(crate) mod tables;
mod weather_and_calendar;
mod wire;

use crate::hotel::refusal::LodgeError;
pub(crate) use crate::hotel::{
    catalog::known as knows_hotel, content::restore_content, due_change::apply_due_change,
    price::set_nightly,
};

const CREDENTIALS: &[Credential] = &[credentials::SANDBOX_HOTELS, credentials::SANDBOX_MINI];

pub(crate) fn routes() -> Router<SandboxState> {
    let router = Router::new()
        .route("/places", get(search::find_places))
        .route("/search", post(search::search_hotels))
        .route("/rates", post(pricing::price_hotels))
        .route("/prebooks", post(pricing::prebook_rate))
        .route(
            "/bookings",
            post(booking::book_room).get(booking::find_bookings),
        )
        .route("/bookings/{id}", get(booking::read_booking))
        .route("/bookings/{id}/cancel", post(cancellation::cancel_booking))
        .route(
            "/bookings/{id}/cancel-preview",
            get(cancellation::preview_cancellation),
        )
        .route("/hotels/{id}", get(content::read_hotel))
        .route("/hotels/{id}/reviews", get(content::read_reviews))
        .route("/weather", get(weather_and_calendar::read_weather))
        .route("/calendar", get(weather_and_calendar::read_calendar))
        .fallback(async || LodgeError::NotFound("path"));
    require_key(router, CREDENTIALS, || LodgeError::Unauthorized)
}

/// Returns the routes of photos, which need no key.
pub(crate) fn photo_routes() -> Router<SandboxState> {
    Router::new().route("/lodge/photos/{hotel}/{number}", get(content::read_photo))
}
