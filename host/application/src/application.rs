//! The application: the state that handlers and background tasks share, built in one place.

use crate::api_key::ApiKeyAuthenticator;
use crate::background::{self, BackgroundTasks};
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
use crate::id_generator::IdGenerator;
use crate::idempotency::IdempotencyService;
use crate::jobs::operator::OperatorService;
use crate::jobs::unresolved_monitor::UnresolvedMonitor;
use crate::jobs::worker::JobWorker;
use crate::mandate::service::MandateService;
use crate::mandate::signing_key::SigningKeyError;
use crate::offers::service::OfferService;
use crate::payment_instrument::PaymentInstrumentService;
use crate::readiness::ReadinessProbe;
use crate::sealer::{KEY_BYTES, SealError, Sealer};
use crate::supplier::directory::SupplierDirectory;
use crate::supplier::rate_limiter::SupplierRateLimiter;
use crate::supplier::router::SupplierRouter;
use crate::supplier_event::service::SupplierEventService;
use crate::task_supervisor::TaskSupervisor;
use crate::watch::check_worker::CheckWorker;
use crate::watch::price_check::{PriceCheckDependencies, PriceChecker};
use crate::watch::purchase_job::{PurchaseDependencies, PurchaseJob};
use crate::watch::service::WatchService;
use crate::webhook::delivery_service::DeliveryService;
use crate::webhook::delivery_worker::{DeliveryWorker, DeliveryWorkerSettings};
use crate::webhook::maintenance::WebhookMaintenance;
use crate::webhook::policy::DeliveryPolicy;
use crate::webhook::service::WebhookService;
use crate::webhook::watch_endpoint::WatchEndpointService;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use host_domain::time::Clock;
use host_runtime::guarded_client::DnsLookup;
use host_runtime::{CallSink, Runtime, RuntimeConfig, RuntimeError};
use host_storage::{DatabaseError, MigrateError, OpenError, Store, StoreOptions};
use secrecy::SecretSlice;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The application. Handlers receive it as `State<Arc<Application>>`.
pub struct Application {
    /// The configuration.
    pub config: Config,
    /// The database.
    pub store: Store,
    /// The plugin runtime.
    pub runtime: Runtime,
    /// The configured suppliers.
    pub suppliers: Arc<SupplierDirectory>,
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// Generator of new identifiers.
    pub ids: Arc<dyn IdGenerator>,
    /// Seals offers and secrets.
    pub sealer: Arc<Sealer>,
    /// Finds and lists bookings.
    pub bookings: Arc<BookingReader>,
    /// Starts cancellations and quotes their cost.
    pub cancellations: Arc<CancellationService>,
    /// Completes bookings.
    pub completions: Arc<CompletionService>,
    /// Finds, claims and releases idempotency keys.
    pub idempotency: IdempotencyService,
    /// Stored payment instruments.
    pub instruments: Arc<PaymentInstrumentService>,
    /// Content of hotels.
    pub content: Arc<ContentService>,
    /// Airlines and airports.
    pub flight_reference: Arc<FlightReferenceService>,
    /// Hotel search.
    pub hotel_search: Arc<HotelSearchService>,
    /// Prices of hotels and flights.
    pub offers: Arc<OfferService>,
    /// Places to search hotels around.
    pub places: Arc<PlaceService>,
    /// Price calendars of hotels.
    pub price_calendar: Arc<PriceCalendarService>,
    /// Price checks of watches.
    pub price_checker: Arc<PriceChecker>,
    /// Price watches.
    pub watches: Arc<WatchService>,
    /// Weather of booked stays.
    pub weather: Arc<WeatherService>,
    /// Lists unresolved work and restarts parked jobs.
    pub operator: Arc<OperatorService>,
    /// Turns offers into bookings.
    pub prebooks: Arc<PrebookService>,
    /// Resolves unknown outcomes by an operator's decision.
    pub resolutions: Arc<ResolutionService>,
    /// Purchases bags for existing tickets.
    pub service_purchases: Arc<ServicePurchaseService>,
    /// Verifies and stores the events that suppliers send.
    pub supplier_events: Arc<SupplierEventService>,
    /// Mandates.
    pub mandates: Arc<MandateService>,
    /// Authenticates API keys.
    pub api_keys: Arc<ApiKeyAuthenticator>,
    /// Checks the readiness of the process.
    pub readiness: Arc<ReadinessProbe>,
    /// Webhook subscriptions.
    pub webhooks: Arc<WebhookService>,
    /// Deliveries to webhook subscriptions.
    pub deliveries: Arc<DeliveryService>,
    /// The endpoint that receives watch events.
    pub watch_endpoints: Arc<WatchEndpointService>,
    /// Starts all tasks of the application.
    pub tasks: TaskSupervisor,
    /// Base URL of the API as clients see it, without a trailing slash.
    pub base_url: String,
}

/// The dependencies of an application besides its configuration.
pub struct ApplicationDependencies {
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// Generator of new identifiers.
    pub ids: Arc<dyn IdGenerator>,
    /// Folder that relative component paths start from.
    pub plugins_dir: PathBuf,
    /// Receives a record of every call of a plugin.
    pub call_sink: Arc<dyn CallSink>,
    /// Base URL of the API as clients see it.
    pub base_url: String,
}

/// Reason why the application cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartupError {
    /// The master key is missing or is not 32 bytes in base64.
    #[error("{0}")]
    MasterKey(String),
    /// A sealing key has an invalid length or id.
    #[error("the master key or its id is invalid")]
    Seal(#[from] SealError),
    /// The configured keys cannot open the value that was sealed at an earlier start.
    #[error(
        "the master key is not the one that this database was used with; add the previous key to old_master_keys"
    )]
    MasterKeyMismatch(#[source] SealError),
    /// The database cannot be opened.
    #[error("the database cannot be opened")]
    OpenDatabase(#[from] OpenError),
    /// The schema migrations failed.
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    /// The database failed.
    #[error("the database failed")]
    Database(#[from] DatabaseError),
    /// No key for signing mandates can be created.
    #[error("cannot create a key for signing mandates")]
    MandateKey(#[from] SigningKeyError),
    /// The plugin runtime cannot start.
    #[error("the plugin runtime cannot start")]
    Runtime(#[from] RuntimeError),
}

impl Application {
    /// Opens the database, applies its migrations, loads the plugins and starts the background
    /// tasks.
    ///
    /// # Errors
    /// [`StartupError`]. A plugin that cannot be loaded is not an error.
    pub async fn launch(
        config: Config,
        surroundings: ApplicationDependencies,
    ) -> Result<Arc<Self>, StartupError> {
        let sealer = Arc::new(build_sealer(&config)?);
        let store = open_store(&config).await?;
        store.migrate().await?;
        verify_master_key(&store, &sealer).await?;
        let base = Base {
            store: store.clone(),
            clock: Arc::clone(&surroundings.clock),
            ids: Arc::clone(&surroundings.ids),
        };
        let idempotency = IdempotencyService::new(base.clone());
        let mandates = Arc::new(MandateService::new(
            base.clone(),
            Arc::clone(&sealer),
            idempotency.clone(),
            config.mandates.clone(),
            surroundings.base_url.clone(),
        ));
        mandates.load_or_rotate_keys().await?;
        let runtime = build_runtime(&config, &surroundings)?;
        let suppliers = Arc::new(SupplierDirectory::new(
            &config,
            surroundings.plugins_dir,
            runtime.clone(),
        ));
        suppliers.load_all().await;
        let tasks = TaskSupervisor::default();
        let queries = QueryServices::new(&config, &base, &suppliers, &sealer, &tasks);
        let watches = Arc::new(WatchService::new(
            base.clone(),
            Arc::clone(&queries.price_checker),
            Arc::clone(&mandates),
            idempotency.clone(),
        ));
        let instruments = Arc::new(PaymentInstrumentService::new(
            base.clone(),
            Arc::clone(&suppliers),
            Arc::clone(&sealer),
            idempotency.clone(),
        ));
        let webhook = WebhookServices::new(&config, &base, &tasks, &sealer, &idempotency);
        let booking = BookingServices::new(
            &config,
            &base,
            &tasks,
            &suppliers,
            &sealer,
            &idempotency,
            &instruments,
        );
        let app = Arc::new(Self {
            bookings: booking.reader,
            cancellations: booking.cancellations,
            completions: booking.completions,
            operator: Arc::new(OperatorService::new(base.clone())),
            prebooks: booking.prebooks,
            resolutions: booking.resolutions,
            service_purchases: booking.service_purchases,
            supplier_events: Arc::new(SupplierEventService::new(
                base.clone(),
                Arc::clone(&suppliers),
            )),
            idempotency,
            instruments,
            mandates,
            api_keys: Arc::new(ApiKeyAuthenticator::new(base.clone(), tasks.clone())),
            readiness: Arc::new(ReadinessProbe::new(store.clone(), tasks.clone())),
            webhooks: webhook.subscriptions,
            deliveries: webhook.deliveries,
            watch_endpoints: webhook.watch_endpoints,
            content: queries.content,
            flight_reference: queries.flight_reference,
            hotel_search: queries.hotel_search,
            offers: queries.offers,
            places: queries.places,
            price_calendar: queries.price_calendar,
            price_checker: queries.price_checker,
            watches,
            weather: queries.weather,
            clock: surroundings.clock,
            ids: surroundings.ids,
            base_url: surroundings.base_url,
            config,
            store,
            runtime,
            suppliers,
            sealer,
            tasks,
        });
        webhook.workers.spawn(&app.tasks);
        spawn_background_tasks(&app, &base, &booking.engine);
        Ok(app)
    }

    /// Stops background tasks, waits up to `patience` for them, and closes the database. Returns
    /// `false` if a task was still running after that time.
    pub async fn shut_down(&self, patience: Duration) -> bool {
        self.tasks.begin_shutdown();
        let done = self.tasks.wait_for_tasks(patience).await;
        self.store.close().await;
        done
    }
}

/// The services and workers of webhooks.
struct WebhookServices {
    subscriptions: Arc<WebhookService>,
    deliveries: Arc<DeliveryService>,
    watch_endpoints: Arc<WatchEndpointService>,
    workers: WebhookWorkers,
}

/// The background work of webhooks.
struct WebhookWorkers {
    delivery: Arc<DeliveryWorker>,
    maintenance: WebhookMaintenance,
}

impl WebhookServices {
    fn new(
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
struct QueryServices {
    content: Arc<ContentService>,
    flight_reference: Arc<FlightReferenceService>,
    hotel_search: Arc<HotelSearchService>,
    offers: Arc<OfferService>,
    places: Arc<PlaceService>,
    price_calendar: Arc<PriceCalendarService>,
    price_checker: Arc<PriceChecker>,
    weather: Arc<WeatherService>,
}

impl QueryServices {
    fn new(
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
    fn spawn(self, tasks: &TaskSupervisor) {
        tasks.spawn("webhooks", self.delivery.run());
        let (maintenance, supervisor) = (self.maintenance, tasks.clone());
        tasks.spawn("webhook upkeep", async move {
            maintenance.run(&supervisor).await;
        });
    }
}

impl std::fmt::Debug for Application {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App")
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

/// Starts the background tasks. Each ends when the application shuts down.
fn spawn_background_tasks(app: &Arc<Application>, base: &Base, engine: &Arc<WorkflowEngine>) {
    let purchase_job = PurchaseJob::new(PurchaseDependencies {
        base: base.clone(),
        prebooks: Arc::clone(&app.prebooks),
        completions: Arc::clone(&app.completions),
        price_checker: Arc::clone(&app.price_checker),
        offers: Arc::clone(&app.offers),
        mandates: Arc::clone(&app.mandates),
        watches: Arc::clone(&app.watches),
        jobs_config: app.config.jobs.clone(),
    });
    let job_worker = JobWorker::new(
        base.clone(),
        app.tasks.clone(),
        &app.config.jobs,
        background::job_handlers(base, engine, &app.suppliers, Arc::new(purchase_job)),
    );
    let background = BackgroundTasks {
        bookings: Arc::clone(&app.bookings),
        job_worker: Arc::new(job_worker),
        supplier_events: Arc::clone(&app.supplier_events),
        unresolved_monitor: UnresolvedMonitor::new(base.clone()),
    };
    background.spawn(&app.tasks);
    let check_worker = Arc::new(CheckWorker::new(
        base.clone(),
        app.tasks.clone(),
        Arc::clone(&app.price_checker),
        Arc::clone(&app.watches),
        app.config.jobs.clone(),
        &app.config.watches,
    ));
    app.tasks.spawn("watches", check_worker.run());
}

/// The services that work on bookings.
struct BookingServices {
    engine: Arc<WorkflowEngine>,
    reader: Arc<BookingReader>,
    prebooks: Arc<PrebookService>,
    completions: Arc<CompletionService>,
    cancellations: Arc<CancellationService>,
    service_purchases: Arc<ServicePurchaseService>,
    resolutions: Arc<ResolutionService>,
}

impl BookingServices {
    fn new(
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

/// Opens the configured database without applying migrations.
///
/// # Errors
/// [`OpenError`].
pub async fn open_store(config: &Config) -> Result<Store, OpenError> {
    if let Some(folder) = config
        .database
        .expose()
        .strip_prefix("sqlite:")
        .and_then(|path| Path::new(path).parent())
    {
        // If the folder cannot be created, opening the file below reports the error.
        let _ = tokio::fs::create_dir_all(folder).await;
    }
    let options = StoreOptions {
        postgres_connections: config.limits.postgres_connections,
        ..StoreOptions::default()
    };
    Store::open(config.database.expose(), &options).await
}

fn build_runtime(
    config: &Config,
    surroundings: &ApplicationDependencies,
) -> Result<Runtime, RuntimeError> {
    let mut made_of = RuntimeConfig::new(Arc::clone(&surroundings.clock));
    made_of.calls_max = config.limits.plugin_calls;
    made_of.code_cache_dir =
        Some(config.code_cache_dir.clone()).filter(|folder| !folder.as_os_str().is_empty());
    Runtime::new(made_of, Arc::clone(&surroundings.call_sink))
}

fn build_sealer(config: &Config) -> Result<Sealer, StartupError> {
    if config.master_key.is_empty() {
        let how = "no master key is configured: set STOPOVER_MASTER_KEY or master_key to 32 bytes in base64, e.g. from `openssl rand -base64 32`";
        return Err(StartupError::MasterKey(how.to_owned()));
    }
    let key = decode_key("master_key", config.master_key.expose())?;
    let mut older = Vec::new();
    for old in &config.old_master_keys {
        older.push((
            old.id.clone(),
            decode_key("a key of old_master_keys", old.key.expose())?,
        ));
    }
    Ok(Sealer::new(&config.master_key_id, &key, &older)?)
}

fn decode_key(which: &str, text: &str) -> Result<SecretSlice<u8>, StartupError> {
    let bytes = STANDARD
        .decode(text.trim())
        .ok()
        .filter(|bytes| bytes.len() == KEY_BYTES);
    let key = bytes.map(SecretSlice::from);
    key.ok_or_else(|| {
        StartupError::MasterKey(format!("{which} is not {KEY_BYTES} bytes in base64"))
    })
}

const MASTER_KEY_CHECK: &str = "master_key_proof";

/// Verifies the master key at startup, so that a wrong one is reported before a secret cannot be
/// opened. Reseals the check value if it was sealed with an older key.
async fn verify_master_key(store: &Store, sealer: &Sealer) -> Result<(), StartupError> {
    let fresh = sealer.seal(MASTER_KEY_CHECK, &[], MASTER_KEY_CHECK.as_bytes())?;
    let stored = store.setting_or_insert(MASTER_KEY_CHECK, &fresh).await?;
    sealer
        .open(MASTER_KEY_CHECK, &[], &stored)
        .map_err(StartupError::MasterKeyMismatch)?;
    if sealer.is_sealed_with_current_key(&stored) {
        return Ok(());
    }
    store.set_setting(MASTER_KEY_CHECK, &fresh).await?;
    Ok(())
}
