//! Loads a plugin from its configured file: reads the file, compares the pinned digest, compiles it
//! or takes it from the cache, links it, calls `describe` and validates the result. A plugin is
//! only used if all of these steps succeed.

use crate::allow_list::AllowList;
use crate::background_executor::BackgroundExecutor;
use crate::bindings::stopover::host as imports;
use crate::bindings::v1_1::stopover::host as imports_v1_1;
use crate::call_log::CallSink;
use crate::call_scope::{CallOrigin, CallScope, TimeLimit};
use crate::call_state::{GuestError, GuestState, HasGuestState};
use crate::cassette::{CassetteError, Recorder, Replayer};
use crate::circuit_breaker::CircuitBreaker;
use crate::compile::{CodeCache, CodeSource, CompileError, ComponentFile};
use crate::concurrency_limit::ConcurrencyLimit;
use crate::description::{self, DescriptionError, ValidatedDescription};
use crate::egress::{Egress, EgressTarget, InvalidCredential};
use crate::exports::{ExportError, Exports};
use crate::guest;
use crate::plugin::{Plugin, PluginInfo, PluginSpec, TrafficMode};
use crate::plugin_cache::Cache;
use crate::plugin_env::PluginEnv;
use crate::signature::{self, SignatureError};
use host_domain::supplier::SupplierId;
use host_domain::time::Clock;
use secrecy::SecretString;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use wasmtime::Engine;
use wasmtime::component::{Component, InstancePre, Linker};

/// Maximum duration of the `describe` call. A JavaScript engine needs 60 ms.
const DESCRIBE_TIME_MAX: Duration = Duration::from_secs(5);
/// Maximum number of schema violations in an error message.
const VIOLATIONS_SHOWN_MAX: usize = 10;

/// An error that prevents a plugin from being used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("no plugin {0} is loaded")]
    NotLoaded(SupplierId),
    #[error(transparent)]
    Compile(#[from] CompileError),
    #[error(
        "the component's digest is {found}, but {pinned} is pinned; restore the file, or correct `digest` in the configuration"
    )]
    Digest { pinned: String, found: String },
    #[error(transparent)]
    Signature(#[from] SignatureError),
    #[error("the component imports an interface that plugins may not use: {0}")]
    Imports(String),
    #[error(transparent)]
    Export(#[from] ExportError),
    #[error("the plugin's describe call failed: {0}")]
    DescribeFailed(String),
    #[error(transparent)]
    Description(#[from] DescriptionError),
    #[error("the settings do not match the plugin's schema: {}", .0.join("; "))]
    Settings(Vec<String>),
    #[error(transparent)]
    Credential(#[from] InvalidCredential),
    #[error(transparent)]
    Cassette(#[from] CassetteError),
    #[error("the host failed to load the plugin: {0}")]
    Host(String),
}

pub(crate) struct Loader {
    engine: Engine,
    plain: Linker<GuestState>,
    wasi: Linker<GuestState>,
    code: CodeCache,
    clock: Arc<dyn Clock>,
    sink: Arc<dyn CallSink>,
    background: Arc<BackgroundExecutor>,
}

struct LinkedComponent {
    pre: InstancePre<GuestState>,
    digest: String,
    code: CodeSource,
}

/// A described component whose settings are not validated yet.
struct Candidate {
    info: PluginInfo,
    pre: InstancePre<GuestState>,
    exports: Exports,
    allowed: AllowList,
    settings_schema: Value,
}

impl Loader {
    pub(crate) fn new(
        engine: Engine,
        code: CodeCache,
        clock: Arc<dyn Clock>,
        sink: Arc<dyn CallSink>,
    ) -> wasmtime::Result<Self> {
        let plain = build_linker(&engine)?;
        let mut wasi = build_linker(&engine)?;
        wasmtime_wasi::p2::add_to_linker_async(&mut wasi)?;
        Ok(Self {
            engine,
            plain,
            wasi,
            code,
            clock,
            sink,
            background: Arc::new(BackgroundExecutor::start()),
        })
    }

    /// Loads a plugin completely, or returns an error and keeps nothing.
    pub(crate) async fn load(self: &Arc<Self>, spec: PluginSpec) -> Result<Plugin, LoadError> {
        let began = Instant::now();
        let mut candidate = self.prepare(&spec).await?;
        check_settings(&candidate.settings_schema, &spec.settings)?;
        let requested = &candidate.info.description.secrets;
        let granted = spec.secrets.clone().into_iter();
        let secrets = granted.filter(|(name, _)| requested.contains(name));
        let route = route(&spec.traffic)?;
        let egress = Egress::new(candidate.allowed, &spec.credentials, &spec.limits, route)?;
        let provision = self.provision(&spec, &candidate.info.digest, secrets.collect(), egress);
        candidate.info.load_time = began.elapsed();
        let admission = ConcurrencyLimit::new(spec.limits.calls_max);
        Ok(Plugin {
            info: candidate.info,
            pre: candidate.pre,
            exports: candidate.exports,
            provision,
            admission,
            breaker: CircuitBreaker::new(),
            spec,
        })
    }

    /// Returns the description and capabilities of a component without validating its settings.
    pub(crate) async fn inspect(
        self: &Arc<Self>,
        spec: &PluginSpec,
    ) -> Result<PluginInfo, LoadError> {
        Ok(self.prepare(spec).await?.info)
    }

    /// Compiles, links and describes a component.
    async fn prepare(self: &Arc<Self>, spec: &PluginSpec) -> Result<Candidate, LoadError> {
        let began = Instant::now();
        let linked = self.compile_and_link(spec).await?;
        let (exports, described) = self.describe(spec, &linked).await?;
        let allowed = AllowList::new(
            spec.id.as_str(),
            described.requested_hosts,
            spec.grants.clone(),
        );
        let requested = described.description.secrets.iter();
        let missing_secrets = requested.filter(|name| !spec.secrets.contains_key(*name));
        let info = PluginInfo {
            id: spec.id.clone(),
            modes: spec.modes.clone(),
            component: spec.component.clone(),
            digest: linked.digest,
            missing_secrets: missing_secrets.cloned().collect(),
            description: described.description,
            capabilities: exports.capabilities.clone(),
            missing_grants: allowed.missing_grants(),
            code: linked.code,
            loaded_at: self.clock.now(),
            load_time: began.elapsed(),
        };
        Ok(Candidate {
            info,
            pre: linked.pre,
            exports,
            allowed,
            settings_schema: described.settings_schema,
        })
    }

    /// Reads, compiles and links a component. These steps are slow and run on a blocking thread.
    async fn compile_and_link(
        self: &Arc<Self>,
        spec: &PluginSpec,
    ) -> Result<LinkedComponent, LoadError> {
        let loader = Arc::clone(self);
        let (path, pinned) = (spec.component.clone(), spec.digest.clone());
        let signed_by = spec.signed_by.clone();
        let aside = tokio::task::spawn_blocking(move || {
            let file = ComponentFile::read(&path)?;
            check_digest(pinned.as_deref(), &file.digest)?;
            signature::verify(&signed_by, &path, &file.bytes)?;
            let (component, code) = loader.code.load_or_compile(&loader.engine, &file)?;
            let linker = if imports_wasi(&loader.engine, &component) {
                &loader.wasi
            } else {
                &loader.plain
            };
            let pre = linker
                .instantiate_pre(&component)
                .map_err(|error| LoadError::Imports(format!("{error:#}")))?;
            Ok(LinkedComponent {
                pre,
                digest: file.digest,
                code,
            })
        });
        aside
            .await
            .unwrap_or_else(|error| Err(LoadError::Host(error.to_string())))
    }

    /// Calls `describe` in an instance that can reach no host.
    async fn describe(
        &self,
        spec: &PluginSpec,
        linked: &LinkedComponent,
    ) -> Result<(Exports, ValidatedDescription), LoadError> {
        let ms = u64::try_from(DESCRIBE_TIME_MAX.as_millis()).unwrap_or(u64::MAX);
        let limit = (
            Instant::now() + DESCRIBE_TIME_MAX,
            TimeLimit::Request { ms },
        );
        let origin = CallOrigin {
            request_id: "load".to_owned(),
            ..CallOrigin::default()
        };
        let scope = Arc::new(CallScope::new(None, origin, limit));
        let nothing = Egress::new(
            AllowList::new(spec.id.as_str(), Vec::new(), Vec::new()),
            &[],
            &spec.limits,
            EgressTarget::Live,
        )?;
        let provision = self.provision(spec, &linked.digest, BTreeMap::new(), nothing);
        let exports = {
            let mut store = guest::new_store(&self.engine, &provision, &scope);
            let instance = linked.pre.instantiate_async(&mut store).await;
            let instance = instance
                .map_err(|error| describe_failure(guest::classify_error(&error, store.data())))?;
            Exports::resolve(&linked.pre, &instance, &mut store)?
        };
        let response =
            guest::call(&linked.pre, &provision, &scope, &exports.describe, (), ()).await;
        let (wire,) = response.map_err(describe_failure)?;
        Ok((exports, description::validate(wire)?))
    }

    fn provision(
        &self,
        spec: &PluginSpec,
        digest: &str,
        secrets: BTreeMap<String, SecretString>,
        egress: Egress,
    ) -> Arc<PluginEnv> {
        Arc::new(PluginEnv {
            supplier: spec.id.clone(),
            digest: digest.to_owned(),
            limits: spec.limits.clone(),
            settings: spec.settings.to_string(),
            secrets,
            egress,
            cache: Cache::new(spec.limits.cache_bytes_max),
            clock: Arc::clone(&self.clock),
            sink: Arc::clone(&self.sink),
            background: Arc::clone(&self.background),
        })
    }
}

fn build_linker(engine: &Engine) -> wasmtime::Result<Linker<GuestState>> {
    let mut linker = Linker::new(engine);
    imports::http::add_to_linker::<_, HasGuestState>(&mut linker, |state| state)?;
    imports::log::add_to_linker::<_, HasGuestState>(&mut linker, |state| state)?;
    imports::clock::add_to_linker::<_, HasGuestState>(&mut linker, |state| state)?;
    imports::cache::add_to_linker::<_, HasGuestState>(&mut linker, |state| state)?;
    imports::secret::add_to_linker::<_, HasGuestState>(&mut linker, |state| state)?;
    imports::settings::add_to_linker::<_, HasGuestState>(&mut linker, |state| state)?;
    imports_v1_1::reads::add_to_linker::<_, HasGuestState>(&mut linker, |state| state)?;
    imports_v1_1::report::add_to_linker::<_, HasGuestState>(&mut linker, |state| state)?;
    Ok(linker)
}

fn imports_wasi(engine: &Engine, component: &Component) -> bool {
    component
        .component_type()
        .imports(engine)
        .any(|(name, _)| name.starts_with("wasi:"))
}

fn describe_failure(error: GuestError) -> LoadError {
    LoadError::DescribeFailed(match error {
        GuestError::Trapped(reason) => reason,
        GuestError::TimedOut => format!("it took more than {} s", DESCRIBE_TIME_MAX.as_secs()),
        GuestError::PoolExhausted => "the pool is full, or too small for this component".to_owned(),
    })
}

fn check_digest(pinned: Option<&str>, found: &str) -> Result<(), LoadError> {
    let Some(pinned) = pinned else { return Ok(()) };
    let bare = pinned.strip_prefix("sha256:").unwrap_or(pinned);
    if bare.eq_ignore_ascii_case(found) {
        return Ok(());
    }
    Err(LoadError::Digest {
        pinned: bare.to_owned(),
        found: found.to_owned(),
    })
}

fn check_settings(schema: &Value, settings: &Value) -> Result<(), LoadError> {
    if !settings.is_object() {
        return Err(LoadError::Settings(vec![
            "they are not a JSON object".to_owned(),
        ]));
    }
    let validator = jsonschema::validator_for(schema);
    let validator = validator.map_err(|_| DescriptionError {
        field: "settings schema",
        reason: "it is not a JSON Schema",
    })?;
    let errors = validator.iter_errors(settings).take(VIOLATIONS_SHOWN_MAX);
    let violations: Vec<String> = errors
        .map(|error| format!("`{}`: {}", error.instance_path(), error.masked()))
        .collect();
    if violations.is_empty() {
        Ok(())
    } else {
        Err(LoadError::Settings(violations))
    }
}

fn route(traffic: &TrafficMode) -> Result<EgressTarget, CassetteError> {
    Ok(match traffic {
        TrafficMode::Live => EgressTarget::Live,
        TrafficMode::Record(folder) => EgressTarget::Record(Recorder::open(folder)?),
        TrafficMode::Replay(folder) => EgressTarget::Replay(Replayer::open(folder)?),
    })
}
