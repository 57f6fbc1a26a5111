//! What handlers and jobs may use, built in one place.

use crate::api::health::Readiness;
use crate::api::schema::ValidatorCache;
use crate::config::Config;
use crate::flow::RetrySchedules;
use crate::id::IdGenerator;
use crate::key::ApiKeyAuthenticator;
use crate::limit::RateLimiter;
use crate::mandate::key::{SigningKeyRing, SigningKeyError};
use crate::observe::{self, PluginMetrics};
use crate::query::QueryState;
use crate::seal::{KEY_BYTES, SealError, Sealer};
use crate::suppliers::SupplierDirectory;
use crate::tasks::TaskSupervisor;
use crate::webhook::{self, DeliveryPolicy};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use host_domain::time::Clock;
use host_runtime::guard::DnsLookup;
use host_runtime::{Runtime, RuntimeConfig, RuntimeError};
use host_storage::{DatabaseError, MigrateError, OpenError, StoreOptions, Store};
use secrecy::SecretSlice;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Anybody may send a delivery, of 1 MiB: so many at once take little memory, and
/// leave an adapter half of its places by default for bookings.
const INBOUND_WEBHOOKS_MAX: usize = 32;

/// The application. Handlers get it as `State<Arc<App>>`.
pub struct Application {
    /// As the operator set it.
    pub config: Config,
    /// Where everything is kept.
    pub store: Store,
    /// The plugins.
    pub runtime: Runtime,
    /// Which suppliers there are, and who could be asked.
    pub suppliers: SupplierDirectory,
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// New identifiers.
    pub ids: Arc<dyn IdGenerator>,
    /// Seals offers and secrets.
    pub sealer: Sealer,
    /// Who API keys belong to.
    pub api_keys: ApiKeyAuthenticator,
    /// What requests are held to.
    pub validators: ValidatorCache,
    /// How much a key may ask.
    pub rate_limiter: RateLimiter,
    /// Whether the database answers.
    pub readiness: Readiness,
    /// How many deliveries of suppliers are taken in at once.
    pub(crate) inbound_webhook_permits: Semaphore,
    /// What questions to suppliers remember between requests.
    pub(crate) query_state: QueryState,
    /// When what went wrong is looked at again.
    pub(crate) schedules: RetrySchedules,
    /// How events are sent to subscribers.
    pub(crate) webhooks: DeliveryPolicy,
    /// The one place that starts tasks.
    pub tasks: TaskSupervisor,
    /// Base address that callers see, without a slash at its end.
    pub base_url: String,
}

/// What an application is made of, beside its configuration.
pub struct ApplicationDependencies {
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// New identifiers.
    pub ids: Arc<dyn IdGenerator>,
    /// Where relative component files are.
    pub plugins_dir: PathBuf,
    /// Base address that callers see.
    pub base_url: String,
}

/// Why an application does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartupError {
    /// The master key is missing or not 32 bytes in base64.
    #[error("{0}")]
    MasterKey(String),
    /// A sealing key cannot be used.
    #[error("the master key cannot be used")]
    Seal(#[from] SealError),
    /// What was sealed before cannot be opened.
    #[error(
        "the master key is not the one that this database was used with; give that one in old_master_keys too"
    )]
    MasterKeyMismatch(#[source] SealError),
    /// The database cannot be opened.
    #[error("the database cannot be used")]
    OpenDatabase(#[from] OpenError),
    /// Its schema cannot be brought up to date.
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    /// The database failed.
    #[error("the database failed")]
    Database(#[from] DatabaseError),
    /// There is no key to sign mandates with.
    #[error("no key to sign mandates with can be made")]
    MandateKey(#[from] SigningKeyError),
    /// The plugin runtime does not start.
    #[error("plugins cannot run")]
    Runtime(#[from] RuntimeError),
}

impl Application {
    /// Opens the database, brings its schema up to date, and loads the plugins.
    ///
    /// # Errors
    /// [`StartError`]. A plugin that cannot be loaded is no such error.
    pub async fn start(
        config: Config,
        surroundings: ApplicationDependencies,
    ) -> Result<Arc<Self>, StartupError> {
        let sealer = build_sealer(&config)?;
        let store = open_store(&config).await?;
        store.migrate().await?;
        verify_master_key(&store, &sealer).await?;
        let age_max_s = config.mandates.key_max_age_s;
        SigningKeyRing::load_or_rotate(&store, &sealer, age_max_s, surroundings.clock.now()).await?;
        let runtime = build_runtime(&config, &surroundings)?;
        let suppliers = SupplierDirectory::new(&config, surroundings.plugins_dir, runtime.clone());
        suppliers.load_all().await;
        let tasks = TaskSupervisor::default();
        let app = Arc::new(Self {
            api_keys: ApiKeyAuthenticator::new(store.clone(), tasks.clone()),
            readiness: Readiness::default(),
            rate_limiter: RateLimiter::new(config.limits.requests_per_s, config.limits.burst),
            validators: ValidatorCache::default(),
            inbound_webhook_permits: Semaphore::new(INBOUND_WEBHOOKS_MAX),
            query_state: QueryState::new(&config),
            schedules: RetrySchedules::new(&config),
            webhooks: DeliveryPolicy::new(&config, DnsLookup::system()),
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
        spawn_background_tasks(&app);
        Ok(app)
    }

    /// Where the pages about error codes are, with a slash at its end.
    #[must_use]
    pub fn error_docs_url(&self) -> String {
        format!("{}/docs/errors/", self.base_url)
    }

    /// Stops background work, waits for what runs, and closes the database.
    /// False: something still ran when time was up.
    pub async fn shut_down(&self, patience: Duration) -> bool {
        self.tasks.begin_shutdown();
        let done = self.tasks.wait_for_tasks(patience).await;
        self.store.close().await;
        done
    }
}

impl std::fmt::Debug for Application {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App")
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

/// Background work; each ends when the application stops.
fn spawn_background_tasks(app: &Arc<Application>) {
    let housekeeping = Arc::clone(app);
    app.tasks.spawn(
        "housekeeping",
        async move { run_housekeeping(&housekeeping).await },
    );
    let watched = Arc::clone(app);
    app.tasks.spawn("unresolved", async move {
        crate::job::unresolved::run_monitor(&watched).await
    });
    let forgetting = Arc::clone(app);
    app.tasks.spawn("supplier events", async move {
        crate::job::supplier_event::run_purge(&forgetting).await
    });
    let counting = Arc::clone(app);
    app.tasks.spawn(
        "flight counts",
        async move { refresh_flight_counts(&counting).await },
    );
    let worker = Arc::clone(app);
    app.tasks
        .spawn("worker", async move { crate::job::run_worker(worker).await });
    let sender = Arc::clone(app);
    app.tasks.spawn(
        "webhooks",
        async move { webhook::worker::run_worker(sender).await },
    );
    let watching = Arc::clone(app);
    app.tasks.spawn("watches", async move {
        crate::watch::worker::run_worker(watching).await
    });
    let tended = Arc::clone(app);
    app.tasks.spawn("webhook upkeep", async move {
        webhook::upkeep::run_maintenance(&tended).await
    });
}

/// How often the numbers of flight bookings are put together: lists go through what
/// changed since.
const FLIGHT_COUNT_INTERVAL: Duration = Duration::from_secs(2);

async fn refresh_flight_counts(app: &Application) {
    let complaint = "the numbers of flight bookings are not put together";
    let settle = || app.store.compact_flight_booking_counts(app.clock.now());
    app.tasks.run_periodically(FLIGHT_COUNT_INTERVAL, complaint, settle).await;
}

/// Keeps what grows in memory small.
async fn run_housekeeping(app: &Application) {
    let stopping = app.tasks.shutdown_token();
    let mut ticks = tokio::time::interval(Duration::from_secs(10));
    loop {
        tokio::select! {
            () = stopping.cancelled() => return,
            _ = ticks.tick() => {
                app.rate_limiter.evict_idle();
                observe::metrics_handle().run_upkeep();
            }
        }
    }
}

/// Opens the configured database; its schema stays as it is.
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
        // Where it cannot be made, opening the file says so.
        let _ = tokio::fs::create_dir_all(folder).await;
    }
    let options = StoreOptions {
        postgres_connections: config.limits.postgres_connections,
        ..StoreOptions::default()
    };
    Store::open(config.database.expose(), &options).await
}

fn build_runtime(config: &Config, surroundings: &ApplicationDependencies) -> Result<Runtime, RuntimeError> {
    // Recorders come before what they record.
    let _ = observe::metrics_handle();
    let mut made_of = RuntimeConfig::new(Arc::clone(&surroundings.clock));
    made_of.calls_max = config.limits.plugin_calls;
    made_of.code_cache_dir =
        Some(config.code_cache_dir.clone()).filter(|folder| !folder.as_os_str().is_empty());
    Runtime::new(made_of, Arc::new(PluginMetrics))
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
    key.ok_or_else(|| StartupError::MasterKey(format!("{which} is not {KEY_BYTES} bytes in base64")))
}

const MASTER_KEY_CHECK: &str = "master_key_proof";

/// A wrong master key is noticed at the start, not at the first secret that
/// cannot be opened.
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
