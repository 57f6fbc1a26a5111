//! The configuration of a supplier or payment processor.

use crate::config::Secret;
use host_domain::owner::Mode;
use host_domain::supplier::{Rank, SupplierId, SupplierKind};
use host_runtime::{Credential, HostGrant, PluginLimits, PluginSpec, TrafficMode, TrustedKey};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The configuration of a supplier. The end of `config.default.toml` explains each key.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupplierConfig {
    pub id: SupplierId,
    pub kind: SupplierKind,
    pub modes: Vec<Mode>,
    pub component: PathBuf,
    #[serde(default)]
    pub digest: String,
    #[serde(default)]
    pub signed_by: Vec<TrustedKey>,
    #[serde(default = "no_settings")]
    pub settings: serde_json::Value,
    #[serde(default)]
    pub hosts: Vec<HostGrant>,
    #[serde(default)]
    pub credentials: Vec<CredentialConfig>,
    #[serde(default)]
    pub secrets: BTreeMap<String, Secret>,
    #[serde(default)]
    pub events_token: Secret,
    #[serde(default)]
    pub limits: PluginLimits,
    #[serde(default = "priority")]
    pub priority: i32,
    #[serde(default = "weight")]
    pub weight: u32,
    #[serde(default)]
    pub organizations: Vec<OrganizationRank>,
    #[serde(default)]
    pub record: PathBuf,
    #[serde(default)]
    pub replay: PathBuf,
}

/// A header that the gateway sets on requests to a host.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CredentialConfig {
    /// Host as `name` or `name:port`.
    pub host: String,
    pub header: String,
    pub value: Secret,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrganizationRank {
    pub id: String,
    #[serde(default = "priority")]
    pub priority: i32,
    /// Share of calls among suppliers of equal priority. With 0 the supplier is called only if a
    /// request names it.
    #[serde(default = "weight")]
    pub weight: u32,
}

fn no_settings() -> serde_json::Value {
    serde_json::Value::Object(serde_json::Map::new())
}

fn priority() -> i32 {
    100
}

fn weight() -> u32 {
    1
}

impl SupplierConfig {
    pub fn rank_for(&self, organization: &str) -> Rank {
        let mut ranks = self.organizations.iter();
        let own = ranks.find(|rank| rank.id == organization);
        let own = own.map(|rank| (rank.priority, rank.weight));
        let (priority, weight) = own.unwrap_or((self.priority, self.weight));
        Rank { priority, weight }
    }

    /// Returns whether the webhook token is empty, or safe in a path and too long to guess.
    pub fn has_valid_events_token(&self) -> bool {
        let token = self.events_token.expose();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        token.is_empty() || (32..=128).contains(&token.len()) && token.bytes().all(is_plain)
    }

    pub fn plugin_spec(&self, plugins_dir: &Path) -> PluginSpec {
        let mut spec = PluginSpec::new(self.id.clone(), plugins_dir.join(&self.component));
        spec.modes.clone_from(&self.modes);
        spec.digest = Some(self.digest.clone()).filter(|digest| !digest.is_empty());
        spec.signed_by.clone_from(&self.signed_by);
        spec.settings = self.settings.clone();
        spec.grants.clone_from(&self.hosts);
        let credentials = self.credentials.iter();
        spec.credentials = credentials.map(CredentialConfig::credential).collect();
        let secrets = self.secrets.iter();
        let secrets = secrets.map(|(name, secret)| (name.clone(), secret.to_secret_string()));
        spec.secrets = secrets.collect();
        spec.limits = self.limits.clone();
        spec.traffic = self.traffic();
        spec
    }

    fn traffic(&self) -> TrafficMode {
        if !self.replay.as_os_str().is_empty() {
            TrafficMode::Replay(self.replay.clone())
        } else if !self.record.as_os_str().is_empty() {
            TrafficMode::Record(self.record.clone())
        } else {
            TrafficMode::Live
        }
    }
}

impl CredentialConfig {
    fn credential(&self) -> Credential {
        Credential {
            host: self.host.clone(),
            header: self.header.clone(),
            value: self.value.to_secret_string(),
        }
    }
}
