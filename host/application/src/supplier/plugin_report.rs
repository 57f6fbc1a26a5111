//! Description of a loaded plugin for operators: the command line, the admin API and the log.

use host_domain::supplier::Capability;
use host_runtime::PluginInfo;
use serde_json::{Value, json};

/// Returns the JSON description of a loaded plugin.
pub fn plugin_info(info: &PluginInfo) -> Value {
    json!({
        "id": info.id.as_str(),
        "name": info.description.name,
        "version": info.description.version,
        "digest": info.digest,
        "modes": info.modes.iter().map(|mode| mode.as_str()).collect::<Vec<_>>(),
        "operations": info.capabilities.iter().copied().map(Capability::as_str).collect::<Vec<_>>(),
        "hosts": info.description.hosts,
        "missing_hosts": info.missing_grants,
        "secrets": info.description.secrets,
        "missing_secrets": info.missing_secrets,
        "loaded_at": info.loaded_at.to_string(),
        "load_ms": u64::try_from(info.load_time.as_millis()).unwrap_or(u64::MAX),
    })
}
