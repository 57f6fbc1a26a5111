//! The configuration: defaults, file, environment, checked as a whole. The only
//! place that reads environment variables. Secrets do not print.

mod layer;
mod secret;
mod supplier;
#[cfg(test)]
mod tests;

pub use crate::config::layer::{ConfigError, Environment};
pub use crate::config::secret::Secret;
pub use crate::config::supplier::{Rank, SupplierConfig};

use host_domain::owner::Mode;
use host_domain::supplier::{Kind, SupplierId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The embedded defaults, every key explained.
pub const DEFAULTS: &str = include_str!("config.default.toml");

/// Everything that an operator can set. `config.default.toml` explains each key.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml explains every key")]
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
    pub log: Log,
    pub limits: Limits,
    pub jobs: Jobs,
    pub reconcile: Reconcile,
    pub content: Content,
    pub offers: Offers,
    pub payments: Payments,
    pub webhooks: Webhooks,
    pub watches: Watches,
    pub suppliers: Vec<SupplierConfig>,
}

macro_rules! sections {
    ($($name:ident { $($field:ident: $type:ty,)* })*) => {$(
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(missing_docs, reason = "config.default.toml explains every key")]
        pub struct $name {
            $(pub $field: $type,)*
        }
    )*};
}

sections! {
    OldMasterKey { id: String, key: Secret, }
    Log { format: LogFormat, filter: String, }
    Limits {
        requests_per_s: u32,
        burst: u32,
        request_s: u64,
        connections: usize,
        shutdown_s: u64,
        plugin_calls: u32,
        calendar_per_minute: u32,
        postgres_connections: u32,
    }
    Jobs { poll_s: u64, lease_s: u64, abort_at: String, }
    Reconcile { schedule_s: Vec<u64>, }
    Content { details_fresh_s: u64, reviews_fresh_s: u64, }
    Offers { ttl_s: u64, }
    Payments { capture_retry_s: Vec<u64>, processor_test: String, processor_live: String, }
    Webhooks {
        subscription_retry_s: Vec<u64>,
        watch_retry_s: Vec<u64>,
        timeout_s: u64,
        replay_pending_after_s: u64,
        replay_published_after_s: u64,
        dual_signature_s: u64,
        disable_after_s: u64,
    }
    Watches { interval_s: u64, }
}

/// How a log line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

impl Config {
    /// Reads the configuration. `overlay` stands between defaults and file.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn load(
        overlay: Option<toml::Table>,
        file: Option<&Path>,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let table = layer::merged(overlay, file, environment)?;
        let config: Self = table
            .try_into()
            .map_err(|error: toml::de::Error| ConfigError::Invalid(error.message().to_owned()))?;
        config.check()?;
        Ok(config)
    }

    /// Base address that callers see, without a slash at its end.
    #[must_use]
    pub fn base_url(&self) -> String {
        if self.public_url.is_empty() {
            format!("http://{}", self.listen)
        } else {
            self.public_url.trim_end_matches('/').to_owned()
        }
    }

    /// The processor of a mode: the one that is named, else the only one.
    #[must_use]
    pub fn processor(&self, mode: Mode) -> Option<&SupplierId> {
        let named = match mode {
            Mode::Test => &self.payments.processor_test,
            Mode::Live => &self.payments.processor_live,
        };
        let mut able = self
            .suppliers
            .iter()
            .filter(|supplier| supplier.kind == Kind::Payment && supplier.modes.contains(&mode));
        if named.is_empty() {
            let only = able.next()?;
            return able.next().is_none().then_some(&only.id);
        }
        able.find(|supplier| supplier.id.as_str() == named)
            .map(|supplier| &supplier.id)
    }

    /// The effective configuration as TOML, without secrets.
    ///
    /// # Errors
    /// Never in practice: every value has a form in TOML.
    pub fn redacted(&self) -> Result<String, toml::ser::Error> {
        toml::to_string_pretty(self)
    }

    fn check(&self) -> Result<(), ConfigError> {
        let mut wrong: Vec<String> = Vec::new();
        let mut rule = |holds: bool, text: &str| {
            if !holds {
                wrong.push(text.to_owned());
            }
        };
        let limits = &self.limits;
        rule(
            limits.requests_per_s > 0,
            "limits.requests_per_s must be at least 1",
        );
        rule(limits.burst > 0, "limits.burst must be at least 1");
        rule(
            (1..=3600).contains(&limits.request_s),
            "limits.request_s must be 1 to 3600",
        );
        rule(
            limits.connections > 0,
            "limits.connections must be at least 1",
        );
        rule(
            limits.shutdown_s <= 3600,
            "limits.shutdown_s must be at most 3600",
        );
        rule(
            limits.plugin_calls > 0,
            "limits.plugin_calls must be at least 1",
        );
        rule(
            limits.postgres_connections > 1,
            "limits.postgres_connections must be at least 2",
        );
        rule(
            (1..=3600).contains(&self.jobs.poll_s),
            "jobs.poll_s must be 1 to 3600",
        );
        rule(
            !self.reconcile.schedule_s.is_empty(),
            "reconcile.schedule_s must not be empty",
        );
        rule(
            self.public_url.is_empty()
                || self.public_url.starts_with("http://")
                || self.public_url.starts_with("https://"),
            "public_url must begin with https:// or http://",
        );
        let mut seen = BTreeSet::new();
        for supplier in &self.suppliers {
            rule(
                seen.insert(&supplier.id),
                &format!("two suppliers are called {}", supplier.id),
            );
            rule(
                !supplier.modes.is_empty(),
                &format!("modes of {} must not be empty", supplier.id),
            );
            rule(
                supplier.record.as_os_str().is_empty() || supplier.replay.as_os_str().is_empty(),
                &format!("{} can either record or replay", supplier.id),
            );
        }
        for (mode, named) in [
            (Mode::Test, &self.payments.processor_test),
            (Mode::Live, &self.payments.processor_live),
        ] {
            let found = named.is_empty() || self.processor(mode).is_some();
            rule(
                found,
                &format!(
                    "payments.processor_{} names no supplier of kind \"payment\" for that mode",
                    mode.as_str()
                ),
            );
        }
        if wrong.is_empty() {
            Ok(())
        } else {
            Err(ConfigError::Invalid(wrong.join("; ")))
        }
    }
}
