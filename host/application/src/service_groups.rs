//! Groups of services that are built together.

use crate::base::Base;
use crate::booking::cancellation::CancellationService;
use crate::booking::completion::CompletionService;
use crate::booking::engine::WorkflowEngine;
use crate::booking::passenger_secrets::PassengerSecrets;
use crate::booking::prebook::PrebookService;
use crate::booking::reader::BookingReader;
use crate::booking::resolution::ResolutionService;
use crate::booking::service_purchase::ServicePurchaseService;
use crate::booking::settings::BookingSettings;
use crate::catalog::flight_reference::FlightReferenceService;
use crate::catalog::hotel_content::{ContentDependencies, ContentService};
use crate::catalog::hotel_mapping::HotelMappingService;
use crate::catalog::hotel_search::HotelSearchService;
use crate::catalog::place::PlaceService;
use crate::catalog::price_calendar::PriceCalendarService;
use crate::catalog::weather::WeatherService;
use crate::config::Config;
use crate::idempotency::IdempotencyService;
use crate::offers::service::OfferService;
use crate::payment_instrument::PaymentInstrumentService;
use crate::sealer::Sealer;
use crate::supplier::directory::SupplierDirectory;
use crate::supplier::rate_limiter::SupplierRateLimiter;
use crate::supplier::router::SupplierRouter;
use crate::task_supervisor::TaskSupervisor;
use crate::watch::price_check::{PriceCheckDependencies, PriceChecker};
use crate::webhook::delivery_service::DeliveryService;
use crate::webhook::delivery_worker::{DeliveryWorker, DeliveryWorkerSettings};
use crate::webhook::maintenance::WebhookMaintenance;
use crate::webhook::policy::DeliveryPolicy;
use crate::webhook::service::WebhookService;
use crate::webhook::watch_endpoint::WatchEndpointService;
use host_runtime::guarded_client::DnsLookup;
use std::sync::Arc;
use std::time::Duration;

/// The services and workers of webhooks.
pub(crate) struct WebhookServices {
    pub(crate) subscriptions: Arc<WebhookService>,
    pub(crate) deliveries: Arc<DeliveryService>,
    pub(crate) watch_endpoints: Arc<WatchEndpointService>,
    pub(crate) workers: WebhookWorkers,
}

/// The background work of webhooks.
pub(crate) struct WebhookWorkers {
    pub(crate) delivery: Arc<DeliveryWorker>,
    pub(crate) maintenance: WebhookMaintenance,
}

impl WebhookServices {
    pub(crate) fn new(
        config: &Config,
        base: &Base,
        tasks: &TaskSupervisor,
        sealer: &Arc<Sealer>,
        idempotency: &IdempotencyService,
    ) -> Self {
        let policy = Arc::new(DeliveryPolicy::new(
            &config.webhooks,
            Duration::from_secs(config.jobs.lease_s.max(1)),
            config.allow_insecure_webhooks,
            DnsLookup::system(),
        ));
        let subscriptions = Arc::new(WebhookService::new(
            base.clone(),
            Arc::clone(sealer),
            Arc::clone(&policy),
            idempotency.clone(),
        ));
        let deliveries = Arc::new(DeliveryService::new(
            base.clone(),
            Arc::clone(&policy),
            idempotency.clone(),
            Arc::clone(&subscriptions),
        ));
        let watch_endpoints = Arc::new(WatchEndpointService::new(
            base.clone(),
            Arc::clone(sealer),
            idempotency.clone(),
            Arc::clone(&subscriptions),
        ));
        let delivery = Arc::new(DeliveryWorker::new(
            base.clone(),
            Arc::clone(sealer),
            policy,
            Arc::clone(&subscriptions),
            tasks.clone(),
            DeliveryWorkerSettings::new(&config.webhooks, &config.jobs),
        ));
        Self {
            subscriptions,
            deliveries,
            watch_endpoints,
            workers: WebhookWorkers {
                delivery,
                maintenance: WebhookMaintenance::new(base.clone()),
            },
        }
    }
}

/// The services that query suppliers and change nothing there.
pub(crate) struct QueryServices {
    pub(crate) content: Arc<ContentService>,
    pub(crate) flight_reference: Arc<FlightReferenceService>,
    pub(crate) hotel_search: Arc<HotelSearchService>,
    pub(crate) offers: Arc<OfferService>,
    pub(crate) places: Arc<PlaceService>,
    pub(crate) price_calendar: Arc<PriceCalendarService>,
    pub(crate) price_checker: Arc<PriceChecker>,
    pub(crate) weather: Arc<WeatherService>,
}

impl QueryServices {
    pub(crate) fn new(
        config: &Config,
        base: &Base,
        suppliers: &Arc<SupplierDirectory>,
        sealer: &Arc<Sealer>,
        tasks: &TaskSupervisor,
    ) -> Self {
        let router = SupplierRouter::new(Arc::clone(suppliers));
        let mappings = HotelMappingService::new(base.store.clone());
        let refresh_timeout = Duration::from_secs(config.limits.request_s);
        let content = ContentService::new(ContentDependencies {
            base: base.clone(),
            suppliers: Arc::clone(suppliers),
            router: router.clone(),
            mappings: mappings.clone(),
            tasks: tasks.clone(),
            config: config.content.clone(),
            refresh_timeout,
        });
        let flight_reference = FlightReferenceService::new(
            base.clone(),
            router.clone(),
            tasks.clone(),
            refresh_timeout,
        );
        let places = Arc::new(PlaceService::new(base.clone(), router.clone()));
        let hotel_search = Arc::new(HotelSearchService::new(
            base.clone(),
            router.clone(),
            Arc::clone(&places),
        ));
        let offers = Arc::new(OfferService::new(
            base.clone(),
            router.clone(),
            mappings.clone(),
            Arc::clone(sealer),
            &config.offers,
        ));
        let price_calendar = PriceCalendarService::new(
            router.clone(),
            mappings.clone(),
            SupplierRateLimiter::per_minute(config.limits.calendar_per_minute),
        );
        let price_checker = PriceChecker::new(PriceCheckDependencies {
            base: base.clone(),
            offers: Arc::clone(&offers),
            hotel_search: Arc::clone(&hotel_search),
            places: Arc::clone(&places),
            mappings,
            router,
            rate_limiter: SupplierRateLimiter::per_minute(config.watches.supplier_per_minute),
        });
        Self {
            content: Arc::new(content),
            flight_reference: Arc::new(flight_reference),
            hotel_search,
            offers,
            places,
            price_calendar: Arc::new(price_calendar),
            price_checker: Arc::new(price_checker),
            weather: Arc::new(WeatherService::new(
                base.store.clone(),
                Arc::clone(suppliers),
            )),
        }
    }
}

impl WebhookWorkers {
    pub(crate) fn spawn(self, tasks: &TaskSupervisor) {
        tasks.spawn("webhooks", self.delivery.run());
        let (maintenance, supervisor) = (self.maintenance, tasks.clone());
        tasks.spawn("webhook upkeep", async move {
            maintenance.run(&supervisor).await;
        });
    }
}

/// The services that work on bookings.
pub(crate) struct BookingServices {
    pub(crate) engine: Arc<WorkflowEngine>,
    pub(crate) reader: Arc<BookingReader>,
    pub(crate) prebooks: Arc<PrebookService>,
    pub(crate) completions: Arc<CompletionService>,
    pub(crate) cancellations: Arc<CancellationService>,
    pub(crate) service_purchases: Arc<ServicePurchaseService>,
    pub(crate) resolutions: Arc<ResolutionService>,
}

impl BookingServices {
    pub(crate) fn new(
        config: &Config,
        base: &Base,
        tasks: &TaskSupervisor,
        suppliers: &Arc<SupplierDirectory>,
        sealer: &Arc<Sealer>,
        idempotency: &IdempotencyService,
        instruments: &Arc<PaymentInstrumentService>,
    ) -> Self {
        let passenger_secrets = PassengerSecrets::new(Arc::clone(&base.ids), Arc::clone(sealer));
        let engine = Arc::new(WorkflowEngine::new(
            base.clone(),
            BookingSettings::new(&config.jobs, &config.reconcile, &config.payments),
            tasks.clone(),
            Arc::clone(suppliers),
            Arc::clone(instruments),
            passenger_secrets.clone(),
        ));
        Self {
            reader: Arc::new(BookingReader::new(base.clone())),
            prebooks: Arc::new(PrebookService::new(
                base.clone(),
                Arc::clone(&engine),
                Arc::clone(suppliers),
                passenger_secrets,
                &config.offers,
            )),
            completions: Arc::new(CompletionService::new(
                base.clone(),
                Arc::clone(&engine),
                idempotency.clone(),
                Arc::clone(instruments),
            )),
            cancellations: Arc::new(CancellationService::new(
                base.clone(),
                Arc::clone(&engine),
                Arc::clone(suppliers),
                idempotency.clone(),
            )),
            service_purchases: Arc::new(ServicePurchaseService::new(
                base.clone(),
                Arc::clone(&engine),
                Arc::clone(suppliers),
                Arc::clone(instruments),
            )),
            resolutions: Arc::new(ResolutionService::new(base.clone(), Arc::clone(&engine))),
            engine,
        }
    }
}
