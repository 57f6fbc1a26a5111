//! A plugin in this process: the runtime alone, without the gateway.

use crate::setup::component;
use anyhow::{Context, Result};
use host_domain::owner::Mode;
use host_domain::personal::PersonalWords;
use host_domain::supplier::SupplierId;
use host_domain::time::{Clock, Timestamp};
use host_runtime::{CallContext, CallSink, PluginSpec, Runtime, RuntimeConfig, Supplier};
use std::sync::Arc;
use std::time::Duration;

/// The real clock, as in the gateway.
struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(jiff::Timestamp::now().as_millisecond())
    }
}

/// Loads a component that may reach one host, or none. `sink` receives a record of every call.
pub(crate) async fn load(
    name: &str,
    settings: serde_json::Value,
    host: &str,
    sink: Arc<dyn CallSink>,
) -> Result<Supplier> {
    let runtime = Runtime::new(RuntimeConfig::new(Arc::new(SystemClock)), sink)?;
    let id = SupplierId::parse("MEASURED").ok().context("an id")?;
    let mut spec = PluginSpec::new(id.clone(), component(name));
    spec.settings = settings;
    if !host.is_empty() {
        spec.grants = vec![host.parse()?];
    }
    runtime.load(spec).await?;
    runtime.supplier(&id).context("it was loaded")
}

pub(crate) fn context() -> CallContext {
    CallContext {
        request_id: "req_01976f3e4a5b7c8d9e0f112233445566".to_owned(),
        organization: "demo".to_owned(),
        mode: Some(Mode::Test),
        booking: None,
        personal: PersonalWords::default(),
        deadline: tokio::time::Instant::now() + Duration::from_secs(60),
    }
}
