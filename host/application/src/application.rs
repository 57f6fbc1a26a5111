//! The application: the state that handlers and background tasks share, built in one place.

#[cfg(feature = "dashboard")]
use crate::account::AccountServices;
use crate::api_key::ApiKeyAuthenticator;
use crate::api_key::service::ApiKeyService;
use crate::audit::service::AuditService;
use crate::background;
use crate::base::Base;
use crate::config::Config;
#[cfg(feature = "dashboard")]
use crate::console::{ConsoleDependencies, ConsoleServices};
use crate::id_generator::IdGenerator;
use crate::jobs::operator::OperatorService;
use crate::jobs::worker::JobWorker;
use crate::mandate::service::MandateService;
use crate::mandate::signing_key::SigningKeyError;
use crate::payment_instrument::PaymentInstrumentService;
use crate::readiness::ReadinessProbe;
use crate::recording::recorder::TrafficRecorder;
use crate::recording::{Recording, RecordingCallSink};
use crate::reporting::ReportingServices;
use crate::sealer::{KEY_BYTES, SealError, Sealer};
use crate::search::SearchService;
use crate::service_groups::{BookingServices, QueryServices, WebhookServices};
use crate::supplier::directory::SupplierDirectory;
use crate::supplier::overrides::SupplierControl;
use crate::supplier::reader::SupplierReader;
use crate::supplier_event::service::SupplierEventService;
use crate::task_supervisor::TaskSupervisor;
use crate::watch::check_worker::CheckWorker;
use crate::watch::purchase_job::PurchaseJob;
use crate::watch::service::WatchService;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use host_domain::time::Clock;
use host_runtime::{CallSink, Runtime, RuntimeConfig, RuntimeError};
use host_storage::{DatabaseError, MigrateError, OpenError, Store, StoreOptions};
use secrecy::SecretSlice;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Time that a shutdown waits for the recorded calls to be stored.
const RECORDING_TIMEOUT: Duration = Duration::from_secs(5);

/// The application: its services, in groups, and what they share. Handlers receive the single service
/// that they need, see `services!` in `host/api/src/state.rs`.
pub struct Application {
    pub config: Config,
    pub store: Store,
    pub suppliers: Arc<SupplierDirectory>,
    /// Drains, ranks and reloads suppliers.
    pub supplier_control: Arc<SupplierControl>,
    /// Reads suppliers with their calls.
    pub supplier_reader: Arc<SupplierReader>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdGenerator>,
    /// Seals offers and secrets.
    pub sealer: Arc<Sealer>,
    pub bookings: BookingServices,
    pub queries: QueryServices,
    pub webhooks: WebhookServices,
    pub instruments: Arc<PaymentInstrumentService>,
    pub watches: Arc<WatchService>,
    pub operator: Arc<OperatorService>,
    pub supplier_events: Arc<SupplierEventService>,
    pub mandates: Arc<MandateService>,
    /// Authenticates requests.
    pub api_keys: Arc<ApiKeyAuthenticator>,
    /// Creates and revokes keys.
    pub api_key_service: Arc<ApiKeyService>,
    #[cfg(feature = "dashboard")]
    pub accounts: AccountServices,
    #[cfg(feature = "dashboard")]
    pub console: ConsoleServices,
    pub audit: Arc<AuditService>,
    /// Records API calls and statistics.
    pub recorder: Arc<TrafficRecorder>,
    recording: Recording,
    pub reporting: ReportingServices,
    pub search: Arc<SearchService>,
    pub readiness: Arc<ReadinessProbe>,
    pub tasks: TaskSupervisor,
    /// Base URL of the API as clients see it, without a trailing slash.
    pub base_url: String,
}

/// The dependencies of an application besides its configuration.
pub struct ApplicationDependencies {
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdGenerator>,
    /// Folder that relative component paths start from.
    pub plugins_dir: PathBuf,
    /// Receives a record of every call of a plugin.
    pub call_sink: Arc<dyn CallSink>,
    pub base_url: String,
}

#[derive(Debug, thiserror::Error)]
pub enum StartupError {
    #[error("{0}")]
    MasterKey(String),
    #[error("the master key or its id is invalid")]
    Seal(#[from] SealError),
    /// The configured keys cannot open the value that was sealed at an earlier start.
    #[error(
        "the master key is not the one that this database was used with; add the previous key to old_master_keys"
    )]
    MasterKeyMismatch(#[source] SealError),
    #[error("the database cannot be opened; check `database` in the configuration")]
    OpenDatabase(#[from] OpenError),
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    #[error("the database failed; check `database` in the configuration, and the database itself")]
    Database(#[from] DatabaseError),
    #[error("cannot create a key for signing mandates")]
    MandateKey(#[from] SigningKeyError),
    #[error("the plugin runtime cannot start")]
    Runtime(#[from] RuntimeError),
    #[cfg(feature = "dashboard")]
    #[error("the HTTP client of single sign-on cannot be built")]
    SingleSignOn(#[from] reqwest::Error),
}

/// The parts that are started before the services.
struct Foundation {
    config: Config,
    base: Base,
    base_url: String,
    sealer: Arc<Sealer>,
    tasks: TaskSupervisor,
    recording: Recording,
    mandates: Arc<MandateService>,
    supplier_control: Arc<SupplierControl>,
}

impl Application {
    /// Opens the database, applies its migrations, loads the plugins and starts the background
    /// tasks.
    ///
    /// # Errors
    /// [`StartupError`]. A plugin that cannot be loaded is not an error.
    pub async fn launch(
        config: Config,
        dependencies: ApplicationDependencies,
    ) -> Result<Arc<Self>, StartupError> {
        let sealer = Arc::new(build_sealer(&config)?);
        let store = open_store(&config).await?;
        store.migrate().await?;
        verify_master_key(&store, &sealer).await?;
        let base = Base {
            store: store.clone(),
            clock: Arc::clone(&dependencies.clock),
            ids: Arc::clone(&dependencies.ids),
        };
        let mandates = Arc::new(MandateService {
            base: base.clone(),
            sealer: Arc::clone(&sealer),
            config: config.mandates.clone(),
            base_url: dependencies.base_url.clone(),
        });
        mandates.load_or_rotate_keys().await?;
        let tasks = TaskSupervisor::default();
        let recording = Recording::start(&config.requests, &base, &tasks);
        let call_sink = RecordingCallSink {
            recorder: Arc::clone(&recording.recorder),
            next: Arc::clone(&dependencies.call_sink),
        };
        let runtime = build_runtime(&config, &dependencies, call_sink)?;
        let directory = SupplierDirectory::new(&config, dependencies.plugins_dir, runtime);
        let suppliers = Arc::new(directory);
        suppliers.load_all().await;
        let supplier_control = Arc::new(SupplierControl {
            base: base.clone(),
            directory: suppliers,
        });
        supplier_control.refresh().await?;
        let app = Arc::new(Self::assemble(Foundation {
            config,
            base: base.clone(),
            base_url: dependencies.base_url,
            sealer,
            tasks,
            recording,
            mandates,
            supplier_control,
        })?);
        spawn_background_tasks(&app, &base);
        Ok(app)
    }

    /// Builds the services.
    fn assemble(
        Foundation {
            config,
            base,
            base_url,
            sealer,
            tasks,
            recording,
            mandates,
            supplier_control,
        }: Foundation,
    ) -> Result<Self, StartupError> {
        let store = base.store.clone();
        let suppliers = Arc::clone(&supplier_control.directory);
        let instruments = Arc::new(PaymentInstrumentService {
            base: base.clone(),
            suppliers: Arc::clone(&suppliers),
            sealer: Arc::clone(&sealer),
        });
        let queries = QueryServices::new(&config, &base, &suppliers, &sealer, &tasks);
        let watches = Arc::new(WatchService {
            base: base.clone(),
            price_checker: Arc::clone(&queries.price_checker),
            mandates: Arc::clone(&mandates),
        });
        let webhooks = WebhookServices::start(&config, &base, &tasks, &sealer);
        let bookings = BookingServices::new(
            &config,
            &base,
            &tasks,
            &suppliers,
            &sealer,
            &instruments,
            &recording.recorder,
        );
        let supplier_events = SupplierEventService::new(base.clone(), Arc::clone(&suppliers));
        let reporting = ReportingServices::new(&base, &suppliers, &tasks);
        #[cfg(feature = "dashboard")]
        let console = ConsoleServices::new(ConsoleDependencies {
            base: &base,
            reporting: &reporting,
            supplier_control: &supplier_control,
            webhooks: &webhooks.webhooks,
            deliveries: &webhooks.deliveries,
            bulk_replays: &webhooks.bulk_replays,
            open_outcomes: &bookings.open_outcomes,
            settlements: &bookings.settlements,
            watches: &watches,
            mandates: &mandates,
        });
        Ok(Self {
            bookings,
            queries,
            webhooks,
            operator: Arc::new(OperatorService { base: base.clone() }),
            supplier_events: Arc::new(supplier_events),
            instruments,
            watches,
            mandates,
            api_keys: Arc::new(ApiKeyAuthenticator::new(base.clone(), tasks.clone())),
            api_key_service: Arc::new(ApiKeyService::new(base.clone())),
            #[cfg(feature = "dashboard")]
            accounts: AccountServices::new(&base, &tasks, &sealer, &config.dashboard.oidc)?,
            #[cfg(feature = "dashboard")]
            console,
            audit: Arc::new(AuditService::new(base.clone())),
            recorder: Arc::clone(&recording.recorder),
            recording,
            reporting,
            search: Arc::new(SearchService { base: base.clone() }),
            readiness: Arc::new(ReadinessProbe::new(store.clone(), tasks.clone())),
            clock: Arc::clone(&base.clock),
            ids: Arc::clone(&base.ids),
            base_url,
            config,
            store,
            supplier_reader: Arc::new(SupplierReader::new(base, &suppliers)),
            suppliers,
            supplier_control,
            sealer,
            tasks,
        })
    }

    /// Stops background tasks, waits up to `timeout` for them, stores what was recorded, and closes
    /// the database. Returns `false` if a task was still running after its time.
    pub async fn shut_down(&self, timeout: Duration) -> bool {
        self.tasks.begin_shutdown();
        let ended = self.tasks.wait_for_tasks(timeout).await;
        // The last tasks still record.
        let recorded = self.recording.finish(RECORDING_TIMEOUT).await;
        self.store.close().await;
        ended && recorded
    }
}

impl std::fmt::Debug for Application {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Application")
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

fn spawn_background_tasks(app: &Application, base: &Base) {
    let (tasks, bookings) = (&app.tasks, &app.bookings);
    let purchase_job = PurchaseJob {
        base: base.clone(),
        prebooks: Arc::clone(&bookings.prebooks),
        completions: Arc::clone(&bookings.completions),
        price_checker: Arc::clone(&app.queries.price_checker),
        offers: Arc::clone(&app.queries.offers),
        mandates: Arc::clone(&app.mandates),
        watches: Arc::clone(&app.watches),
        jobs_config: app.config.jobs.clone(),
    };
    let purchase_job = Arc::new(purchase_job);
    let handlers = background::job_handlers(
        base,
        &bookings.engine,
        &bookings.resolutions,
        &app.suppliers,
        &app.webhooks.deliveries,
        purchase_job,
    );
    let job_worker = JobWorker::new(base.clone(), tasks.clone(), &app.config.jobs, handlers);
    tasks.spawn("worker", Arc::new(job_worker).run());
    background::spawn_periodic_tasks(
        base,
        tasks,
        &bookings.reader,
        &app.supplier_events,
        &app.supplier_control,
    );
    let check_worker = Arc::new(CheckWorker {
        base: base.clone(),
        tasks: tasks.clone(),
        price_checker: Arc::clone(&app.queries.price_checker),
        watches: Arc::clone(&app.watches),
        jobs_config: app.config.jobs.clone(),
        interval_s: i64::try_from(app.config.watches.interval_s).unwrap_or(i64::MAX),
        permits: Arc::new(Semaphore::new(app.config.watches.concurrency)),
    });
    tasks.spawn("watches", check_worker.run());
}

/// Opens the configured database without applying migrations.
pub async fn open_store(config: &Config) -> Result<Store, OpenError> {
    let database = config.database.expose();
    let file = database.strip_prefix("sqlite:").map(Path::new);
    if let Some(folder) = file.and_then(Path::parent) {
        // If the folder cannot be created, opening the file below reports the error.
        let _ = tokio::fs::create_dir_all(folder).await;
    }
    let options = StoreOptions {
        postgres_connections: config.limits.postgres_connections,
        ..StoreOptions::default()
    };
    Store::open(database, &options).await
}

fn build_runtime(
    config: &Config,
    dependencies: &ApplicationDependencies,
    call_sink: RecordingCallSink,
) -> Result<Runtime, RuntimeError> {
    let mut runtime_config = RuntimeConfig::new(Arc::clone(&dependencies.clock));
    runtime_config.calls_max = config.limits.plugin_calls;
    let cache = Some(config.code_cache_dir.clone());
    runtime_config.code_cache_dir = cache.filter(|folder| !folder.as_os_str().is_empty());
    Runtime::new(runtime_config, Arc::new(call_sink))
}

fn build_sealer(config: &Config) -> Result<Sealer, StartupError> {
    if config.master_key.is_empty() {
        let how = "no master key is configured: set STOPOVER_MASTER_KEY or master_key to 32 bytes in base64, e.g. from `openssl rand -base64 32`";
        return Err(StartupError::MasterKey(how.to_owned()));
    }
    let key = decode_key("master_key", config.master_key.expose())?;
    let mut older = Vec::new();
    for old in &config.old_master_keys {
        let key = decode_key("a key of old_master_keys", old.key.expose())?;
        older.push((old.id.clone(), key));
    }
    Ok(Sealer::new(&config.master_key_id, &key, &older)?)
}

fn decode_key(which: &str, text: &str) -> Result<SecretSlice<u8>, StartupError> {
    match STANDARD.decode(text.trim()) {
        Ok(bytes) if bytes.len() == KEY_BYTES => Ok(bytes.into()),
        _ => {
            let why = format!("{which} is not {KEY_BYTES} bytes in base64");
            Err(StartupError::MasterKey(why))
        }
    }
}

const MASTER_KEY_CHECK: &str = "master_key_proof";

/// Verifies the master key at startup, so that a wrong one is reported before a secret cannot be
/// opened. Reseals the check value if it was sealed with an older key.
async fn verify_master_key(store: &Store, sealer: &Sealer) -> Result<(), StartupError> {
    let fresh = sealer.seal(MASTER_KEY_CHECK, &[], MASTER_KEY_CHECK.as_bytes())?;
    let stored = store.setting_or_insert(MASTER_KEY_CHECK, &fresh).await?;
    let opened = sealer.open(MASTER_KEY_CHECK, &[], &stored);
    opened.map_err(StartupError::MasterKeyMismatch)?;
    if sealer.is_sealed_with_current_key(&stored) {
        return Ok(());
    }
    store.set_setting(MASTER_KEY_CHECK, &fresh).await?;
    Ok(())
}
