//! State of the API's routes.

use crate::rate_limit::RateLimiter;
use crate::validation::ValidatorCache;
use axum::extract::FromRef;
use host_application::application::Application;
use host_application::catalog::flight_reference::FlightReferenceService;
use host_application::catalog::hotel_content::ContentService;
use host_application::catalog::hotel_search::HotelSearchService;
use host_application::catalog::place::PlaceService;
use host_application::catalog::price_calendar::PriceCalendarService;
use host_application::catalog::weather::WeatherService;
use host_application::offers::service::OfferService;
use host_application::payment_instrument::PaymentInstrumentService;
use host_application::watch::service::WatchService;
use host_domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// What the routes share. Handlers extract the part that they use.
#[derive(Clone)]
pub struct ApiState {
    pub(crate) application: Arc<Application>,
    /// Compiled schemas that requests are validated against.
    pub(crate) validators: Arc<ValidatorCache>,
    pub(crate) rate_limiter: Arc<RateLimiter>,
}

impl ApiState {
    /// Creates the state of an application.
    #[must_use]
    pub fn new(application: Arc<Application>) -> Self {
        let limits = &application.config.limits;
        Self {
            rate_limiter: Arc::new(RateLimiter::new(limits.requests_per_s, limits.burst)),
            validators: Arc::default(),
            application,
        }
    }

    /// Drops the rate limits of clients that have not sent a request for a while.
    pub fn evict_idle_rate_limits(&self) {
        self.rate_limiter.evict_idle();
    }

    /// Returns the base URL of the error code pages, with a trailing slash.
    #[must_use]
    pub(crate) fn error_docs_url(&self) -> String {
        error_docs_url(&self.application)
    }

    /// Returns the longest time that a request may take.
    pub(crate) fn request_timeout(&self) -> Duration {
        Duration::from_secs(self.application.config.limits.request_s)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.application.clock.now()
    }
}

impl FromRef<ApiState> for Arc<Application> {
    fn from_ref(state: &ApiState) -> Self {
        Self::clone(&state.application)
    }
}

/// Lets handlers take each service as `State<…>`: their signature then shows what they can do.
macro_rules! services {
    ($($field:ident: $service:ty;)*) => {$(
        impl FromRef<ApiState> for $service {
            fn from_ref(state: &ApiState) -> Self {
                state.application.$field.clone()
            }
        }
    )*};
}

services! {
    content: Arc<ContentService>;
    flight_reference: Arc<FlightReferenceService>;
    hotel_search: Arc<HotelSearchService>;
    instruments: Arc<PaymentInstrumentService>;
    offers: Arc<OfferService>;
    places: Arc<PlaceService>;
    price_calendar: Arc<PriceCalendarService>;
    watches: Arc<WatchService>;
    weather: Arc<WeatherService>;
}

/// Returns the base URL of the error code pages, with a trailing slash.
pub(crate) fn error_docs_url(application: &Application) -> String {
    format!("{}/docs/errors/", application.base_url)
}
