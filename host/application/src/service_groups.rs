//! Groups of services that are built together.

use crate::base::Base;
use crate::booking::cancellation::CancellationService;
use crate::booking::completion::CompletionService;
use crate::booking::engine::WorkflowEngine;
use crate::booking::open_outcome::OpenOutcomeReader;
use crate::booking::passenger_secrets::PassengerSecrets;
use crate::booking::prebook::PrebookService;
use crate::booking::reader::BookingReader;
use crate::booking::resolution::ResolutionService;
use crate::booking::retry_schedules::RetrySchedules;
use crate::booking::service_purchase::ServicePurchaseService;
use crate::booking::settlement::SettlementService;
use crate::booking::step_dependencies::StepDependencies;
use crate::catalog::flight_reference::FlightReferenceService;
use crate::catalog::hotel_content::ContentService;
use crate::catalog::hotel_mapping::HotelMappingService;
use crate::catalog::hotel_search::HotelSearchService;
use crate::catalog::place::PlaceService;
use crate::catalog::price_calendar::PriceCalendarService;
use crate::catalog::single_flight::SingleFlight;
use crate::catalog::weather::WeatherService;
use crate::config::Config;
use crate::offers::service::OfferService;
use crate::payment_instrument::PaymentInstrumentService;
use crate::recording::recorder::TrafficRecorder;
use crate::sealer::Sealer;
use crate::supplier::directory::SupplierDirectory;
use crate::supplier::rate_limiter::SupplierRateLimiter;
use crate::supplier::router::SupplierRouter;
use crate::task_supervisor::TaskSupervisor;
use crate::watch::price_check::PriceChecker;
use crate::webhook::bulk_replay::BulkReplayService;
use crate::webhook::delivery_service::DeliveryService;
use crate::webhook::delivery_worker::DeliveryWorker;
use crate::webhook::http_sender::HttpSender;
use crate::webhook::listen::ListenService;
use crate::webhook::policy::DeliveryPolicy;
use crate::webhook::service::WebhookService;
use crate::webhook::watch_endpoint::WatchEndpointService;
use host_runtime::guarded_client::DnsLookup;
use std::sync::Arc;
use std::time::Duration;

pub struct WebhookServices {
    pub webhooks: Arc<WebhookService>,
    pub deliveries: Arc<DeliveryService>,
    pub bulk_replays: Arc<BulkReplayService>,
    pub watch_endpoints: Arc<WatchEndpointService>,
    pub listen: Arc<ListenService>,
}

impl WebhookServices {
    /// Builds the services and starts the worker that sends deliveries.
    pub(crate) fn start(
        config: &Config,
        base: &Base,
        tasks: &TaskSupervisor,
        sealer: &Arc<Sealer>,
    ) -> Self {
        let policy = Arc::new(DeliveryPolicy::new(
            &config.webhooks,
            config.jobs.lease_duration(),
            config.allow_insecure_webhooks,
            DnsLookup::system(),
        ));
        let webhooks = Arc::new(WebhookService {
            base: base.clone(),
            sealer: Arc::clone(sealer),
            policy: Arc::clone(&policy),
        });
        let deliveries = Arc::new(DeliveryService {
            base: base.clone(),
            policy: Arc::clone(&policy),
            webhooks: Arc::clone(&webhooks),
        });
        let watch_endpoints = Arc::new(WatchEndpointService {
            base: base.clone(),
            sealer: Arc::clone(sealer),
            webhooks: Arc::clone(&webhooks),
        });
        let worker = Arc::new(DeliveryWorker {
            base: base.clone(),
            sealer: Arc::clone(sealer),
            sender: HttpSender::new(policy.lookup.clone(), policy.timeout),
            policy,
            webhooks: Arc::clone(&webhooks),
            tasks: tasks.clone(),
            config: config.webhooks.clone(),
            jobs_config: config.jobs.clone(),
        });
        tasks.spawn("webhooks", worker.run());
        Self {
            webhooks,
            deliveries,
            bulk_replays: Arc::new(BulkReplayService { base: base.clone() }),
            watch_endpoints,
            listen: Arc::new(ListenService::new(base.clone())),
        }
    }
}

/// The services that query suppliers and change nothing there.
pub struct QueryServices {
    pub content: Arc<ContentService>,
    /// Airlines and airports.
    pub flight_reference: Arc<FlightReferenceService>,
    pub hotel_search: Arc<HotelSearchService>,
    pub offers: Arc<OfferService>,
    pub places: Arc<PlaceService>,
    pub price_calendar: Arc<PriceCalendarService>,
    pub price_checker: Arc<PriceChecker>,
    pub weather: Arc<WeatherService>,
}

impl QueryServices {
    pub(crate) fn new(
        config: &Config,
        base: &Base,
        suppliers: &Arc<SupplierDirectory>,
        sealer: &Arc<Sealer>,
        tasks: &TaskSupervisor,
    ) -> Self {
        let router = SupplierRouter {
            directory: Arc::clone(suppliers),
        };
        let mappings = HotelMappingService {
            store: base.store.clone(),
        };
        let refresh_timeout = Duration::from_secs(config.limits.request_s);
        let content = ContentService {
            base: base.clone(),
            suppliers: Arc::clone(suppliers),
            router: router.clone(),
            mappings: mappings.clone(),
            tasks: tasks.clone(),
            config: config.content.clone(),
            refresh_timeout,
            fetches: SingleFlight::default(),
        };
        let flight_reference = FlightReferenceService {
            base: base.clone(),
            router: router.clone(),
            tasks: tasks.clone(),
            refresh_timeout,
            airline_reads: SingleFlight::default(),
        };
        let places = Arc::new(PlaceService {
            base: base.clone(),
            router: router.clone(),
        });
        let hotel_search = Arc::new(HotelSearchService {
            base: base.clone(),
            router: router.clone(),
            places: Arc::clone(&places),
        });
        let offers = Arc::new(OfferService {
            base: base.clone(),
            router: router.clone(),
            mappings: mappings.clone(),
            sealer: Arc::clone(sealer),
            ttl_s: i64::try_from(config.offers.ttl_s).unwrap_or(i64::MAX),
        });
        let price_calendar = PriceCalendarService {
            router: router.clone(),
            mappings: mappings.clone(),
            rate_limiter: SupplierRateLimiter::per_minute(config.limits.calendar_per_minute),
        };
        let price_checker = PriceChecker {
            base: base.clone(),
            offers: Arc::clone(&offers),
            hotel_search: Arc::clone(&hotel_search),
            places: Arc::clone(&places),
            mappings,
            router,
            rate_limiter: SupplierRateLimiter::per_minute(config.watches.supplier_per_minute),
        };
        Self {
            content: Arc::new(content),
            flight_reference: Arc::new(flight_reference),
            hotel_search,
            offers,
            places,
            price_calendar: Arc::new(price_calendar),
            price_checker: Arc::new(price_checker),
            weather: Arc::new(WeatherService {
                store: base.store.clone(),
                suppliers: Arc::clone(suppliers),
            }),
        }
    }
}

pub struct BookingServices {
    pub(crate) engine: Arc<WorkflowEngine>,
    pub reader: Arc<BookingReader>,
    pub prebooks: Arc<PrebookService>,
    pub completions: Arc<CompletionService>,
    pub cancellations: Arc<CancellationService>,
    pub service_purchases: Arc<ServicePurchaseService>,
    pub(crate) resolutions: Arc<ResolutionService>,
    pub settlements: Arc<SettlementService>,
    pub open_outcomes: Arc<OpenOutcomeReader>,
}

impl BookingServices {
    pub(crate) fn new(
        config: &Config,
        base: &Base,
        tasks: &TaskSupervisor,
        suppliers: &Arc<SupplierDirectory>,
        sealer: &Arc<Sealer>,
        instruments: &Arc<PaymentInstrumentService>,
        recorder: &Arc<TrafficRecorder>,
    ) -> Self {
        let passenger_secrets = PassengerSecrets {
            ids: Arc::clone(&base.ids),
            sealer: Arc::clone(sealer),
        };
        let steps = StepDependencies {
            base: base.clone(),
            suppliers: Arc::clone(suppliers),
            instruments: Arc::clone(instruments),
            recorder: Arc::clone(recorder),
            passenger_secrets: passenger_secrets.clone(),
            schedules: RetrySchedules::new(&config.reconcile, &config.payments),
        };
        let engine = Arc::new(WorkflowEngine::new(&config.jobs, steps, tasks.clone()));
        let resolutions = Arc::new(ResolutionService {
            base: base.clone(),
            engine: Arc::clone(&engine),
        });
        Self {
            reader: Arc::new(BookingReader { base: base.clone() }),
            prebooks: Arc::new(PrebookService {
                base: base.clone(),
                engine: Arc::clone(&engine),
                suppliers: Arc::clone(suppliers),
                passenger_secrets,
                offer_ttl_s: i64::try_from(config.offers.ttl_s).unwrap_or(i64::MAX),
                shutdown: tasks.shutdown_token(),
            }),
            completions: Arc::new(CompletionService {
                base: base.clone(),
                engine: Arc::clone(&engine),
                instruments: Arc::clone(instruments),
            }),
            cancellations: Arc::new(CancellationService {
                base: base.clone(),
                engine: Arc::clone(&engine),
                suppliers: Arc::clone(suppliers),
            }),
            service_purchases: Arc::new(ServicePurchaseService {
                base: base.clone(),
                engine: Arc::clone(&engine),
                suppliers: Arc::clone(suppliers),
                instruments: Arc::clone(instruments),
            }),
            open_outcomes: Arc::new(OpenOutcomeReader { base: base.clone() }),
            settlements: Arc::new(SettlementService {
                base: base.clone(),
                resolutions: Arc::clone(&resolutions),
            }),
            resolutions,
            engine,
        }
    }
}
