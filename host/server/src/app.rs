//! What handlers and jobs may use, built in one place.

use crate::api::health::Readiness;
use crate::api::schema::Schemas;
use crate::config::Config;
use crate::flow::Schedules;
use crate::id::IdSource;
use crate::key::Keys;
use crate::limit::Limiter;
use crate::mandate::key::{KeyRing, SigningKeyError};
use crate::observe::{self, PluginMetrics};
use crate::query::QueryMemory;
use crate::seal::{KEY_BYTES, SealError, Sealer};
use crate::suppliers::Suppliers;
use crate::tasks::Tasks;
use crate::webhook::{self, Webhooks};
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
const DELIVERIES_MAX: usize = 32;

/// The application. Handlers get it as `State<Arc<App>>`.
pub struct App {
    /// As the operator set it.
    pub config: Config,
    /// Where everything is kept.
    pub store: Store,
    /// The plugins.
    pub runtime: Runtime,
    /// Which suppliers there are, and who could be asked.
    pub suppliers: Suppliers,
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// New identifiers.
    pub ids: Arc<dyn IdSource>,
    /// Seals offers and secrets.
    pub sealer: Sealer,
    /// Who API keys belong to.
    pub keys: Keys,
    /// What requests are held to.
    pub schemas: Schemas,
    /// How much a key may ask.
    pub limiter: Limiter,
    /// Whether the database answers.
    pub readiness: Readiness,
    /// How many deliveries of suppliers are taken in at once.
    pub(crate) deliveries: Semaphore,
    /// What questions to suppliers remember between requests.
    pub(crate) query_memory: QueryMemory,
    /// When what went wrong is looked at again.
    pub(crate) schedules: Schedules,
    /// How events are sent to subscribers.
    pub(crate) webhooks: Webhooks,
    /// The one place that starts tasks.
    pub tasks: Tasks,
    /// Base address that callers see, without a slash at its end.
    pub base_url: String,
}

/// What an application is made of, beside its configuration.
pub struct Surroundings {
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// New identifiers.
    pub ids: Arc<dyn IdSource>,
    /// Where relative component files are.
    pub plugins_dir: PathBuf,
    /// Base address that callers see.
    pub base_url: String,
}

/// Why an application does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
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
    OtherMasterKey(#[source] SealError),
    /// The database cannot be opened.
    #[error("the database cannot be used")]
    Open(#[from] OpenError),
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

impl App {
    /// Opens the database, brings its schema up to date, and loads the plugins.
    ///
    /// # Errors
    /// [`StartError`]. A plugin that cannot be loaded is no such error.
    pub async fn build(
        config: Config,
        surroundings: Surroundings,
    ) -> Result<Arc<Self>, StartError> {
        let sealer = sealer(&config)?;
        let store = open_store(&config).await?;
        store.migrate().await?;
        prove_master_key(&store, &sealer).await?;
        let age_max_s = config.mandates.key_max_age_s;
        KeyRing::fresh(&store, &sealer, age_max_s, surroundings.clock.now()).await?;
        let runtime = runtime(&config, &surroundings)?;
        let suppliers = Suppliers::new(&config, surroundings.plugins_dir, runtime.clone());
        suppliers.load().await;
        let tasks = Tasks::default();
        let app = Arc::new(Self {
            keys: Keys::new(store.clone(), tasks.clone()),
            readiness: Readiness::default(),
            limiter: Limiter::new(config.limits.requests_per_s, config.limits.burst),
            schemas: Schemas::default(),
            deliveries: Semaphore::new(DELIVERIES_MAX),
            query_memory: QueryMemory::new(&config),
            schedules: Schedules::new(&config),
            webhooks: Webhooks::new(&config, DnsLookup::system()),
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
        start_jobs(&app);
        Ok(app)
    }

    /// Where the pages about error codes are, with a slash at its end.
    #[must_use]
    pub fn error_docs(&self) -> String {
        format!("{}/docs/errors/", self.base_url)
    }

    /// Stops background work, waits for what runs, and closes the database.
    /// False: something still ran when time was up.
    pub async fn shut_down(&self, patience: Duration) -> bool {
        self.tasks.stop();
        let done = self.tasks.wait(patience).await;
        self.store.close().await;
        done
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App")
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

/// Background work; each ends when the application stops.
fn start_jobs(app: &Arc<App>) {
    let housekeeping = Arc::clone(app);
    app.tasks.spawn(
        "housekeeping",
        async move { housekeep(&housekeeping).await },
    );
    let watched = Arc::clone(app);
    app.tasks.spawn("unresolved", async move {
        crate::job::unresolved::watch(&watched).await
    });
    let forgetting = Arc::clone(app);
    app.tasks.spawn("supplier events", async move {
        crate::job::supplier_event::forget(&forgetting).await
    });
    let counting = Arc::clone(app);
    app.tasks.spawn(
        "flight counts",
        async move { count_flights(&counting).await },
    );
    let worker = Arc::clone(app);
    app.tasks
        .spawn("worker", async move { crate::job::work(worker).await });
    let sender = Arc::clone(app);
    app.tasks.spawn(
        "webhooks",
        async move { webhook::worker::work(sender).await },
    );
    let watching = Arc::clone(app);
    app.tasks.spawn("watches", async move {
        crate::watch::worker::work(watching).await
    });
    let tended = Arc::clone(app);
    app.tasks.spawn("webhook upkeep", async move {
        webhook::upkeep::tend(&tended).await
    });
}

/// How often the numbers of flight bookings are put together: lists go through what
/// changed since.
const COUNT_EVERY: Duration = Duration::from_secs(2);

async fn count_flights(app: &App) {
    let complaint = "the numbers of flight bookings are not put together";
    let settle = || app.store.compact_flight_booking_counts(app.clock.now());
    app.tasks.repeat(COUNT_EVERY, complaint, settle).await;
}

/// Keeps what grows in memory small.
async fn housekeep(app: &App) {
    let stopping = app.tasks.stopping();
    let mut ticks = tokio::time::interval(Duration::from_secs(10));
    loop {
        tokio::select! {
            () = stopping.cancelled() => return,
            _ = ticks.tick() => {
                app.limiter.tidy();
                observe::metrics().run_upkeep();
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

fn runtime(config: &Config, surroundings: &Surroundings) -> Result<Runtime, RuntimeError> {
    // Recorders come before what they record.
    let _ = observe::metrics();
    let mut made_of = RuntimeConfig::new(Arc::clone(&surroundings.clock));
    made_of.calls_max = config.limits.plugin_calls;
    made_of.code_cache_dir =
        Some(config.code_cache_dir.clone()).filter(|folder| !folder.as_os_str().is_empty());
    Runtime::new(made_of, Arc::new(PluginMetrics))
}

fn sealer(config: &Config) -> Result<Sealer, StartError> {
    if config.master_key.is_empty() {
        let how = "no master key is configured: set STOPOVER_MASTER_KEY or master_key to 32 bytes in base64, e.g. from `openssl rand -base64 32`";
        return Err(StartError::MasterKey(how.to_owned()));
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

fn decode_key(which: &str, text: &str) -> Result<SecretSlice<u8>, StartError> {
    let bytes = STANDARD
        .decode(text.trim())
        .ok()
        .filter(|bytes| bytes.len() == KEY_BYTES);
    let key = bytes.map(SecretSlice::from);
    key.ok_or_else(|| StartError::MasterKey(format!("{which} is not {KEY_BYTES} bytes in base64")))
}

const PROOF: &str = "master_key_proof";

/// A wrong master key is noticed at the start, not at the first secret that
/// cannot be opened.
async fn prove_master_key(store: &Store, sealer: &Sealer) -> Result<(), StartError> {
    let fresh = sealer.seal(PROOF, &[], PROOF.as_bytes())?;
    let stored = store.setting_or_insert(PROOF, &fresh).await?;
    sealer
        .open(PROOF, &[], &stored)
        .map_err(StartError::OtherMasterKey)?;
    if sealer.is_current(&stored) {
        return Ok(());
    }
    store.set_setting(PROOF, &fresh).await?;
    Ok(())
}
