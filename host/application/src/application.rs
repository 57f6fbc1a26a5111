//! The application: the state that handlers and background tasks share, built in one place.

use crate::api_key::ApiKeyAuthenticator;
use crate::background::{self, BackgroundTasks};
use crate::base::Base;
use crate::booking::cancellation::CancellationService;
use crate::booking::completion::CompletionService;
use crate::booking::engine::WorkflowEngine;
use crate::booking::prebook::PrebookService;
use crate::booking::reader::BookingReader;
use crate::booking::resolution::ResolutionService;
use crate::booking::service_purchase::ServicePurchaseService;
use crate::catalog::flight_reference::FlightReferenceService;
use crate::catalog::hotel_content::ContentService;
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
use crate::service_groups::{BookingServices, QueryServices, WebhookServices};
use crate::supplier::directory::SupplierDirectory;
use crate::supplier_event::service::SupplierEventService;
use crate::task_supervisor::TaskSupervisor;
use crate::watch::check_worker::CheckWorker;
use crate::watch::price_check::PriceChecker;
use crate::watch::purchase_job::{PurchaseDependencies, PurchaseJob};
use crate::watch::service::WatchService;
use crate::webhook::delivery_service::DeliveryService;
use crate::webhook::service::WebhookService;
use crate::webhook::watch_endpoint::WatchEndpointService;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use host_domain::time::Clock;
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

/// The resources that [`Application::launch`] opens before it builds the services.
struct OpenedResources {
    config: Config,
    base: Base,
    base_url: String,
    sealer: Arc<Sealer>,
    idempotency: IdempotencyService,
    instruments: Arc<PaymentInstrumentService>,
    mandates: Arc<MandateService>,
    suppliers: Arc<SupplierDirectory>,
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
            runtime,
        ));
        suppliers.load_all().await;
        let instruments = Arc::new(PaymentInstrumentService::new(
            base.clone(),
            Arc::clone(&suppliers),
            Arc::clone(&sealer),
            idempotency.clone(),
        ));
        Ok(Self::build(OpenedResources {
            config,
            base,
            base_url: surroundings.base_url,
            sealer,
            idempotency,
            instruments,
            mandates,
            suppliers,
        }))
    }

    /// Builds the services and starts the background tasks.
    fn build(resources: OpenedResources) -> Arc<Self> {
        let OpenedResources {
            config,
            base,
            base_url,
            sealer,
            idempotency,
            instruments,
            mandates,
            suppliers,
        } = resources;
        let tasks = TaskSupervisor::default();
        let queries = QueryServices::new(&config, &base, &suppliers, &sealer, &tasks);
        let watches = Arc::new(WatchService::new(
            base.clone(),
            Arc::clone(&queries.price_checker),
            Arc::clone(&mandates),
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
            readiness: Arc::new(ReadinessProbe::new(base.store.clone(), tasks.clone())),
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
            clock: Arc::clone(&base.clock),
            ids: Arc::clone(&base.ids),
            base_url,
            config,
            store: base.store.clone(),
            suppliers,
            sealer,
            tasks,
        });
        webhook.workers.spawn(&app.tasks);
        spawn_background_tasks(&app, &base, &booking.engine);
        app
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

impl std::fmt::Debug for Application {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Application")
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
