//! The runtime as the server sees it: plugins by supplier id, loaded, replaced and
//! removed while calls go on.

use crate::admission::ConcurrencyLimit;
use crate::breaker::HealthReport;
use crate::call_log::CallSink;
use crate::compile::CodeCache;
use crate::engine;
use crate::plugin::{Plugin, PluginInfo, PluginSpec};
use crate::registry::{LoadError, Loader};
use crate::supplier::Supplier;
use host_domain::supplier::SupplierId;
use host_domain::time::Clock;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// Calls of all plugins at the same time, where the configuration says nothing:
/// each reserves 8 GB of address space and, while it waits, about 200 KB of memory.
pub const CALLS_MAX_DEFAULT: u32 = 1_024;

/// What the runtime is made of.
#[derive(Clone)]
pub struct RuntimeConfig {
    /// Calls of all plugins at the same time.
    pub calls_max: u32,
    /// Where compiled code is kept between starts; none: nowhere.
    pub code_cache_dir: Option<PathBuf>,
    /// The wall clock of guests and records.
    pub clock: Arc<dyn Clock>,
}

impl RuntimeConfig {
    /// The default number of calls, and no folder.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            calls_max: CALLS_MAX_DEFAULT,
            code_cache_dir: None,
            clock,
        }
    }
}

/// A runtime that cannot start.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The engine refuses its configuration, or there is no address space for it.
    #[error("the WebAssembly engine cannot start: {0}")]
    Engine(String),
    /// The folder for compiled code cannot be used.
    #[error("the folder for compiled code cannot be used")]
    CodeCache(#[source] std::io::Error),
}

/// All plugins. Cheap to clone; the engine lives as long as any clone or handle.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

struct Inner {
    loader: Arc<Loader>,
    call_limit: Arc<ConcurrencyLimit>,
    plugins: RwLock<BTreeMap<SupplierId, Arc<Plugin>>>,
    /// One load at a time: two at once would compile the same code twice.
    loading: tokio::sync::Mutex<()>,
}

impl Runtime {
    /// Starts the engine and its ticker; loads nothing.
    ///
    /// # Errors
    /// [`RuntimeError`].
    pub fn new(config: RuntimeConfig, sink: Arc<dyn CallSink>) -> Result<Self, RuntimeError> {
        let calls_max = config.calls_max.max(1);
        let failed = |error: wasmtime::Error| RuntimeError::Engine(format!("{error:#}"));
        // One place more than calls may run at once: a load asks a plugin what it is.
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

    /// Loads a plugin, or replaces the one of the same id: calls that run go on
    /// with the old one, new ones take the new one.
    ///
    /// # Errors
    /// [`LoadError`]; what was loaded before stays.
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
        let mut plugins = self
            .inner
            .plugins
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        plugins.insert(info.id.clone(), Arc::new(plugin));
        Ok(info)
    }

    /// What a component is and asks for, whatever its settings would be; loads nothing.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn inspect(&self, spec: &PluginSpec) -> Result<PluginInfo, LoadError> {
        self.inner.loader.inspect(spec).await
    }

    /// Loads a plugin again from its file, under the same configuration.
    ///
    /// # Errors
    /// [`LoadError`]; the old one stays.
    pub async fn reload(&self, id: &SupplierId) -> Result<PluginInfo, LoadError> {
        let spec = self.plugins().get(id).map(|plugin| plugin.spec.clone());
        self.load(spec.ok_or_else(|| LoadError::NotLoaded(id.clone()))?)
            .await
    }

    /// Takes a plugin away; its running calls end by themselves. False: there was none.
    pub fn remove(&self, id: &SupplierId) -> bool {
        let mut plugins = self
            .inner
            .plugins
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        plugins.remove(id).is_some()
    }

    /// What is loaded, by id.
    #[must_use]
    pub fn list(&self) -> Vec<PluginInfo> {
        self.plugins()
            .values()
            .map(|plugin| plugin.info.clone())
            .collect()
    }

    /// How a plugin does.
    #[must_use]
    pub fn health(&self, id: &SupplierId) -> Option<HealthReport> {
        self.plugins().get(id).map(|plugin| plugin.breaker.report())
    }

    /// A handle for calls. Ask anew for each request: a handle stays with the
    /// plugin that it was made for, also after a reload.
    #[must_use]
    pub fn supplier(&self, id: &SupplierId) -> Option<Supplier> {
        let plugin = self.plugins().get(id).map(Arc::clone)?;
        Some(Supplier::new(plugin, Arc::clone(&self.inner.call_limit)))
    }

    fn plugins(&self) -> RwLockReadGuard<'_, BTreeMap<SupplierId, Arc<Plugin>>> {
        self.inner
            .plugins
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
