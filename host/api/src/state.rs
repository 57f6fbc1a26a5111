//! State of the API's routes.

use crate::rate_limit::RateLimiter;
use crate::validation::ValidatorCache;
use axum::extract::FromRef;
use host_application::application::Application;
use host_application::booking::cancellation::CancellationService;
use host_application::booking::completion::CompletionService;
use host_application::booking::prebook::PrebookService;
use host_application::booking::reader::BookingReader;
use host_application::booking::service_purchase::ServicePurchaseService;
use host_application::catalog::flight_reference::FlightReferenceService;
use host_application::catalog::hotel_content::ContentService;
use host_application::catalog::hotel_search::HotelSearchService;
use host_application::catalog::place::PlaceService;
use host_application::catalog::price_calendar::PriceCalendarService;
use host_application::catalog::weather::WeatherService;
use host_application::mandate::service::MandateService;
use host_application::offers::service::OfferService;
use host_application::payment_instrument::PaymentInstrumentService;
use host_application::readiness::ReadinessProbe;
use host_application::recording::reader::RequestLogReader;
use host_application::supplier::directory::SupplierDirectory;
use host_application::supplier_event::service::SupplierEventService;
use host_application::watch::service::WatchService;
use host_application::webhook::delivery_service::DeliveryService;
use host_application::webhook::listen::ListenService;
use host_application::webhook::service::WebhookService;
use host_application::webhook::watch_endpoint::WatchEndpointService;
use host_domain::time::{Clock, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// Settings of the API.
#[derive(Debug, Clone)]
pub struct ApiSettings {
    /// Base URL of the API as clients see it, without a trailing slash.
    pub base_url: String,
    /// URL of the dashboard, without a trailing slash; `None` if it is not served.
    pub dashboard_url: Option<String>,
    /// Sustained number of requests of a client in a second.
    pub requests_per_s: u32,
    /// Number of requests that a client may send at once.
    pub burst: u32,
    /// Longest time that a request may take.
    pub request_timeout: Duration,
}

/// The state that all routes share. Handlers extract the part that they use.
#[derive(Clone)]
pub struct ApiState {
    pub(crate) application: Arc<Application>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Base URL of the API as clients see it, without a trailing slash.
    pub(crate) base_url: Arc<str>,
    /// URL of the dashboard, without a trailing slash; `None` if it is not served.
    pub(crate) dashboard_url: Option<Arc<str>>,
    /// Longest time that a request may take.
    pub(crate) request_timeout: Duration,
    /// Compiled schemas that requests are validated against.
    pub(crate) validators: Arc<ValidatorCache>,
    pub(crate) rate_limiter: Arc<RateLimiter>,
}

impl ApiState {
    pub fn new(
        application: Arc<Application>,
        settings: ApiSettings,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let ApiSettings {
            base_url,
            dashboard_url,
            requests_per_s,
            burst,
            request_timeout,
        } = settings;
        Self {
            application,
            clock,
            base_url: base_url.into(),
            dashboard_url: dashboard_url.map(Into::into),
            request_timeout,
            validators: Arc::default(),
            rate_limiter: Arc::new(RateLimiter::new(requests_per_s, burst)),
        }
    }

    /// Drops the rate limits of clients that have not sent a request for a while.
    pub fn evict_idle_rate_limits(&self) {
        self.rate_limiter.evict_idle();
    }

    pub(crate) fn error_docs_url(&self) -> String {
        error_docs_url(&self.base_url)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// Only the handlers that tests add may take the whole application.
#[cfg(test)]
impl FromRef<ApiState> for Arc<Application> {
    fn from_ref(state: &ApiState) -> Self {
        Self::clone(&state.application)
    }
}

impl FromRef<ApiState> for Arc<dyn Clock> {
    fn from_ref(state: &ApiState) -> Self {
        Self::clone(&state.clock)
    }
}

/// Lets handlers take each service as `State<…>`: their signature then shows what they can do.
macro_rules! services {
    ($state:ty: $($($field:ident).+: $service:ty;)*) => {$(
        impl axum::extract::FromRef<$state> for $service {
            fn from_ref(state: &$state) -> Self {
                state.application.$($field).+.clone()
            }
        }
    )*};
}

pub(crate) use services;

services! { ApiState:
    webhooks.deliveries: Arc<DeliveryService>;
    instruments: Arc<PaymentInstrumentService>;
    mandates: Arc<MandateService>;
    readiness: Arc<ReadinessProbe>;
    reporting.request_log: Arc<RequestLogReader>;
    suppliers: Arc<SupplierDirectory>;
    webhooks.listen: Arc<ListenService>;
    webhooks.watch_endpoints: Arc<WatchEndpointService>;
    webhooks.webhooks: Arc<WebhookService>;
    bookings.reader: Arc<BookingReader>;
    bookings.cancellations: Arc<CancellationService>;
    bookings.completions: Arc<CompletionService>;
    bookings.prebooks: Arc<PrebookService>;
    bookings.service_purchases: Arc<ServicePurchaseService>;
    supplier_events: Arc<SupplierEventService>;
    queries.content: Arc<ContentService>;
    queries.flight_reference: Arc<FlightReferenceService>;
    queries.hotel_search: Arc<HotelSearchService>;
    queries.offers: Arc<OfferService>;
    queries.places: Arc<PlaceService>;
    queries.price_calendar: Arc<PriceCalendarService>;
    watches: Arc<WatchService>;
    queries.weather: Arc<WeatherService>;
}

/// Returns the base URL of the error code pages, with a trailing slash.
pub(crate) fn error_docs_url(base_url: &str) -> String {
    format!("{base_url}/docs/errors/")
}
