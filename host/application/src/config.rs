//! The configuration: defaults, file and environment, validated as a whole. This is the only module
//! that reads environment variables. Secrets are never printed.

pub mod dashboard;
pub mod data_dir;
pub mod layers;
pub mod oidc;
pub mod secret;
pub mod supplier;

#[cfg(test)]
mod tests;

pub use crate::config::dashboard::DashboardConfig;
pub use crate::config::data_dir::data_dir_overlay;
pub use crate::config::layers::{ConfigError, Environment};
pub use crate::config::secret::Secret;
pub use crate::config::supplier::SupplierConfig;

use host_domain::owner::Mode;
use host_domain::supplier::{SupplierId, SupplierKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The embedded default configuration, which explains every key.
pub const DEFAULTS: &str = include_str!("config.default.toml");

/// The configuration. `config.default.toml` explains each key.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub database: Secret,
    pub listen: SocketAddr,
    pub admin_listen: SocketAddr,
    pub public_url: String,
    pub plugins_dir: PathBuf,
    pub code_cache_dir: PathBuf,
    pub master_key: Secret,
    pub master_key_id: String,
    pub old_master_keys: Vec<OldMasterKey>,
    pub allow_insecure_webhooks: bool,
    pub log: LogConfig,
    pub admin: AdminConfig,
    pub dashboard: DashboardConfig,
    pub requests: RequestsConfig,
    pub limits: LimitsConfig,
    pub jobs: JobsConfig,
    pub reconcile: ReconcileConfig,
    pub content: ContentConfig,
    pub offers: OffersConfig,
    pub payments: PaymentsConfig,
    pub webhooks: WebhooksConfig,
    pub watches: WatchesConfig,
    pub mandates: MandatesConfig,
    pub suppliers: Vec<SupplierConfig>,
}

macro_rules! sections {
    ($($name:ident { $($field:ident: $type:ty,)* })*) => {$(
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(pub $field: $type,)*
        }
    )*};
}

sections! {
    OldMasterKey { id: String, key: Secret, }
    LogConfig { format: LogFormat, filter: String, }
    AdminConfig { allowed_hosts: Vec<String>, }
    RequestsConfig { days: u32, rows_max: u64, }
    LimitsConfig {
        requests_per_s: u32,
        burst: u32,
        request_s: u64,
        connections: usize,
        shutdown_s: u64,
        plugin_calls: u32,
        calendar_per_minute: u32,
        postgres_connections: u32,
    }
    JobsConfig { poll_s: u64, lease_s: u64, abort_at: String, }
    ReconcileConfig { schedule_s: Vec<u64>, absence_recheck_s: Vec<u64>, undeclared_reads_s: u32, }
    ContentConfig { details_fresh_s: u64, reviews_fresh_s: u64, }
    OffersConfig { ttl_s: u64, }
    PaymentsConfig { capture_retry_s: Vec<u64>, processor_test: String, processor_live: String, }
    WebhooksConfig {
        subscription_retry_s: Vec<u64>,
        watch_retry_s: Vec<u64>,
        timeout_s: u64,
        replay_pending_after_s: u64,
        replay_published_after_s: u64,
        dual_signature_s: u64,
        disable_after_s: u64,
        endpoint_concurrency: u32,
        endpoint_per_s: u32,
    }
    WatchesConfig { interval_s: u64, concurrency: usize, supplier_per_minute: u32, }
    MandatesConfig { ttl_s: u64, key_max_age_s: u64, }
}

impl JobsConfig {
    pub fn poll_interval(&self) -> Duration {
        Duration::from_secs(self.poll_s.max(1))
    }

    /// Returns the duration of a lease, at least one second.
    pub fn lease_duration(&self) -> Duration {
        Duration::from_secs(self.lease_s.max(1))
    }

    pub fn lease_ms(&self) -> i64 {
        i64::try_from(self.lease_duration().as_millis()).unwrap_or(i64::MAX)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    Text,
    Json,
}

/// Returns the address at which a listener is reached from the same machine. An unspecified address
/// becomes the loopback address.
pub fn reachable_address(mut listen: SocketAddr) -> SocketAddr {
    if listen.ip().is_unspecified() {
        listen.set_ip(match listen {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    listen
}

/// Returns whether a text has the form of a host name or an address, without scheme and port.
fn is_host(text: &str) -> bool {
    let is_name = |text: &str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        !text.is_empty() && text.bytes().all(allowed)
    };
    is_name(text) || text.parse::<IpAddr>().is_ok()
}

impl Config {
    /// Loads the configuration. `overlay` overrides the defaults; the file and the environment
    /// override `overlay`.
    ///
    /// # Errors
    /// [`ConfigError`], which names the invalid key, file or variable.
    pub fn load(
        overlay: Option<toml::Table>,
        file: Option<&Path>,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let table = layers::merge_layers(overlay, file, environment)?;
        let config: Self = table
            .try_into()
            .map_err(|error: toml::de::Error| ConfigError::Invalid(error.message().to_owned()))?;
        config.validate()?;
        Ok(config)
    }

    /// Returns the base URL of the API as clients see it, without a trailing slash.
    pub fn base_url(&self) -> String {
        if self.public_url.is_empty() {
            format!("http://{}", reachable_address(self.listen))
        } else {
            self.public_url.trim_end_matches('/').to_owned()
        }
    }

    /// Returns the configured payment processor of a mode, or the only one if none is configured.
    pub fn processor(&self, mode: Mode) -> Option<&SupplierId> {
        let named = match mode {
            Mode::Test => &self.payments.processor_test,
            Mode::Live => &self.payments.processor_live,
        };
        let mut able = self.suppliers.iter().filter(|supplier| {
            supplier.kind == SupplierKind::Payment && supplier.modes.contains(&mode)
        });
        if named.is_empty() {
            let only = able.next()?;
            return able.next().is_none().then_some(&only.id);
        }
        let named = able.find(|supplier| supplier.id.as_str() == named);
        named.map(|supplier| &supplier.id)
    }

    /// Returns the effective configuration as TOML, without secrets.
    ///
    /// # Errors
    /// None in practice: every value can be written as TOML.
    pub fn to_redacted_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string_pretty(self)
    }

    fn validate(&self) -> Result<(), ConfigError> {
        let mut rules = self.numeric_rules();
        rules.extend(self.supplier_rules());
        let broken = rules.into_iter().filter(|(holds, _)| !holds);
        let broken: Vec<String> = broken.map(|(_, rule)| rule).collect();
        match broken.is_empty() {
            true => Ok(()),
            false => Err(ConfigError::Invalid(broken.join("; "))),
        }
    }

    /// Returns for each rule whether it holds, and its text.
    fn numeric_rules(&self) -> Vec<(bool, String)> {
        let (limits, webhooks, watches) = (&self.limits, &self.webhooks, &self.watches);
        let rule = |holds: bool, text: &str| (holds, text.to_owned());
        let positive = |key: &str, value: u64| (value >= 1, format!("{key} must be at least 1"));
        let seconds = |key: &str, value: u64, least: u64| {
            let holds = (least..=3600).contains(&value);
            (holds, format!("{key} must be {least} to 3600"))
        };
        let url = self.public_url.as_str();
        let is_url = url.is_empty() || url.starts_with("http://") || url.starts_with("https://");
        let endpoint_concurrency = webhooks.endpoint_concurrency.into();
        let supplier_per_minute = watches.supplier_per_minute.into();
        vec![
            rule(self.requests.days <= 365, "requests.days must be 0 to 365"),
            positive("requests.rows_max", self.requests.rows_max),
            positive("limits.requests_per_s", limits.requests_per_s.into()),
            positive("limits.burst", limits.burst.into()),
            positive("limits.connections", limits.connections as u64),
            positive("limits.plugin_calls", limits.plugin_calls.into()),
            rule(
                limits.postgres_connections >= 2,
                "limits.postgres_connections must be at least 2",
            ),
            seconds("limits.request_s", limits.request_s, 1),
            seconds("limits.shutdown_s", limits.shutdown_s, 0),
            seconds("jobs.poll_s", self.jobs.poll_s, 1),
            seconds("webhooks.timeout_s", webhooks.timeout_s, 1),
            positive("webhooks.endpoint_concurrency", endpoint_concurrency),
            positive("webhooks.endpoint_per_s", webhooks.endpoint_per_s.into()),
            positive("mandates.ttl_s", self.mandates.ttl_s),
            positive("mandates.key_max_age_s", self.mandates.key_max_age_s),
            positive("watches.interval_s", watches.interval_s),
            positive("watches.concurrency", watches.concurrency as u64),
            positive("watches.supplier_per_minute", supplier_per_minute),
            rule(
                !self.reconcile.schedule_s.is_empty(),
                "reconcile.schedule_s must not be empty",
            ),
            rule(
                !self.reconcile.absence_recheck_s.is_empty(),
                "reconcile.absence_recheck_s must not be empty",
            ),
            positive(
                "reconcile.undeclared_reads_s",
                self.reconcile.undeclared_reads_s.into(),
            ),
            rule(is_url, "public_url must begin with https:// or http://"),
            rule(
                self.dashboard.has_valid_public_url(),
                "dashboard.public_url must be https://HOST, or http:// and a loopback address, without a path",
            ),
            rule(
                self.dashboard.oidc.is_valid(),
                "dashboard.oidc must have an issuer with https://, or http:// and a loopback address, a client_id, and the scope openid",
            ),
            rule(
                self.admin.allowed_hosts.iter().all(|host| is_host(host)),
                "admin.allowed_hosts must be names or addresses without scheme and port",
            ),
        ]
    }

    fn supplier_rules(&self) -> Vec<(bool, String)> {
        let mut rules = Vec::new();
        let mut seen = BTreeSet::new();
        for supplier in &self.suppliers {
            let id = &supplier.id;
            let both =
                !supplier.record.as_os_str().is_empty() && !supplier.replay.as_os_str().is_empty();
            rules.push((seen.insert(id), format!("two suppliers are called {id}")));
            let token = format!("events_token of {id} must be 32 to 128 of [A-Za-z0-9_-]");
            rules.extend([
                (
                    !supplier.modes.is_empty(),
                    format!("modes of {id} must not be empty"),
                ),
                (!both, format!("{id} can either record or replay")),
                (supplier.has_valid_events_token(), token),
            ]);
        }
        for (mode, named) in [
            (Mode::Test, &self.payments.processor_test),
            (Mode::Live, &self.payments.processor_live),
        ] {
            let mode_name = mode.as_str();
            let text = format!(
                "payments.processor_{mode_name} names no supplier of kind \"payment\" for that mode"
            );
            rules.push((named.is_empty() || self.processor(mode).is_some(), text));
        }
        rules
    }
}
