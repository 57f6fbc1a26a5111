//! Public interface of the runtime: loads, replaces and removes plugins by supplier id while calls
//! are running.

use crate::call_log::CallSink;
use crate::circuit_breaker::HealthReport;
use crate::compile::CodeCache;
use crate::concurrency_limit::ConcurrencyLimit;
use crate::engine;
use crate::loader::{LoadError, Loader};
use crate::plugin::{Plugin, PluginInfo, PluginSpec};
use crate::supplier::Supplier;
use host_domain::supplier::SupplierId;
use host_domain::time::Clock;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Default number of concurrent calls over all plugins. Each call reserves 8 GB of address space
/// and, while it waits, about 200 KB of memory.
pub const CALLS_MAX_DEFAULT: u32 = 1_024;

/// Configuration of the runtime.
#[derive(Clone)]
pub struct RuntimeConfig {
    /// Maximum number of concurrent calls over all plugins.
    pub calls_max: u32,
    /// Folder that keeps compiled code between starts. `None` disables the cache.
    pub code_cache_dir: Option<PathBuf>,
    /// Wall clock used by guests and in records.
    pub clock: Arc<dyn Clock>,
}

impl RuntimeConfig {
    /// Creates a configuration with the default number of calls and no code cache.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            calls_max: CALLS_MAX_DEFAULT,
            code_cache_dir: None,
            clock,
        }
    }
}

/// An error that prevents the runtime from starting.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The engine rejected its configuration, or there is not enough address space.
    #[error("the WebAssembly engine cannot start: {0}")]
    Engine(String),
    /// The folder for compiled code cannot be used.
    #[error("the folder for compiled code (`code_cache_dir`) cannot be used")]
    CodeCache(#[source] std::io::Error),
}

/// All loaded plugins. Clones are cheap; the engine lives as long as any clone or handle.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

type Plugins = BTreeMap<SupplierId, Arc<Plugin>>;

struct Inner {
    loader: Arc<Loader>,
    call_limit: Arc<ConcurrencyLimit>,
    plugins: RwLock<Plugins>,
    /// Serializes loads, because two concurrent loads would compile the same code twice.
    loading: tokio::sync::Mutex<()>,
}

impl Runtime {
    /// Starts the engine and its ticker without loading a plugin.
    ///
    /// # Errors
    /// Returns [`RuntimeError`] if the engine or the code cache cannot be used.
    pub fn new(config: RuntimeConfig, sink: Arc<dyn CallSink>) -> Result<Self, RuntimeError> {
        let calls_max = config.calls_max.max(1);
        let failed = |error: wasmtime::Error| RuntimeError::Engine(format!("{error:#}"));
        // One slot is added to the maximum number of calls, because a load calls `describe` on the
        // plugin.
        let engine = engine::new(calls_max.saturating_add(1)).map_err(failed)?;
        let code = CodeCache::open(config.code_cache_dir).map_err(RuntimeError::CodeCache)?;
        let loader = Loader::new(engine, code, config.clock, sink).map_err(failed)?;
        let inner = Inner {
            loader: Arc::new(loader),
            call_limit: Arc::new(ConcurrencyLimit::new(calls_max)),
            plugins: RwLock::default(),
            loading: tokio::sync::Mutex::default(),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Loads a plugin or replaces the one with the same id. Running calls finish on the old plugin;
    /// new calls use the new one.
    ///
    /// # Errors
    /// Returns [`LoadError`] if the plugin cannot be used. The previously loaded plugin stays.
    pub async fn load(&self, spec: PluginSpec) -> Result<PluginInfo, LoadError> {
        let _one_at_a_time = self.inner.loading.lock().await;
        let plugin = self.inner.loader.load(spec).await?;
        let info = plugin.info.clone();
        tracing::info!(
            supplier = info.id.as_str(),
            plugin = info.description.name,
            version = info.description.version,
            digest = info.digest,
            code = ?info.code,
            load_ms = u64::try_from(info.load_time.as_millis()).unwrap_or(u64::MAX),
            missing_grants = ?info.missing_grants,
            missing_secrets = ?info.missing_secrets,
            "plugin loaded"
        );
        (self.plugins_mut()).insert(info.id.clone(), Arc::new(plugin));
        Ok(info)
    }

    /// Returns the description and capabilities of a component without loading it. The settings are
    /// not validated.
    ///
    /// # Errors
    /// Returns [`LoadError`] if the component cannot be used.
    pub async fn inspect(&self, spec: &PluginSpec) -> Result<PluginInfo, LoadError> {
        self.inner.loader.inspect(spec).await
    }

    /// Loads a plugin again from its file with the same configuration.
    ///
    /// # Errors
    /// Returns [`LoadError`] if the plugin cannot be used. The old plugin stays.
    pub async fn reload(&self, id: &SupplierId) -> Result<PluginInfo, LoadError> {
        let spec = self.plugins().get(id).map(|plugin| plugin.spec.clone());
        self.load(spec.ok_or_else(|| LoadError::NotLoaded(id.clone()))?)
            .await
    }

    /// Removes a plugin and returns whether it was loaded. Its running calls finish normally.
    pub fn remove(&self, id: &SupplierId) -> bool {
        self.plugins_mut().remove(id).is_some()
    }

    /// Returns the loaded plugins in the order of their ids.
    #[must_use]
    pub fn list(&self) -> Vec<PluginInfo> {
        self.plugins()
            .values()
            .map(|plugin| plugin.info.clone())
            .collect()
    }

    /// Returns the health of a plugin, or `None` if it is not loaded.
    #[must_use]
    pub fn health(&self, id: &SupplierId) -> Option<HealthReport> {
        self.plugins().get(id).map(|plugin| plugin.breaker.report())
    }

    /// Returns a handle for calls, or `None` if the plugin is not loaded. Get a new handle for each
    /// request: a handle keeps using its plugin even after a reload.
    #[must_use]
    pub fn supplier(&self, id: &SupplierId) -> Option<Supplier> {
        let plugin = self.plugins().get(id).map(Arc::clone)?;
        Some(Supplier::new(plugin, Arc::clone(&self.inner.call_limit)))
    }

    fn plugins(&self) -> RwLockReadGuard<'_, Plugins> {
        let plugins = self.inner.plugins.read();
        plugins.unwrap_or_else(PoisonError::into_inner)
    }

    fn plugins_mut(&self) -> RwLockWriteGuard<'_, Plugins> {
        let plugins = self.inner.plugins.write();
        plugins.unwrap_or_else(PoisonError::into_inner)
    }
}
