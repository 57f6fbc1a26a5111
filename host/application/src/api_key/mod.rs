//! API keys: their format and authentication. Only digests are stored. A revoked key stops working
//! on every process within seconds, because cached keys expire after [`CACHE_TTL`].

pub mod service;

use crate::base::Base;
use crate::context::{ApiKeyScope, RequestContext};
use crate::deadline::Deadline;
use crate::task_supervisor::TaskSupervisor;
use host_domain::audit::{AccessChannel, Actor, ActorKind, ActorSource};
use host_domain::owner::{Mode, Owner};
use host_domain::time::Timestamp;
use host_storage::{ApiKey, DatabaseError};
use moka::future::Cache;
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Time that a process caches an API key.
pub const CACHE_TTL: Duration = Duration::from_secs(3);
const CACHE_CAPACITY: u64 = 10_000;

const RANDOM_CHARS: usize = 32;
const CHECKSUM_CHARS: usize = 6;
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Returns the mode that the beginning of a key names, whether the key is valid or not.
pub fn named_mode(key: &str) -> Option<Mode> {
    let mut modes = Mode::ALL.into_iter();
    modes.find(|mode| key.starts_with(prefix(*mode)))
}

/// Returns the masked form of a key, e.g. `sk_test_…abcd`.
fn masked(key: &str) -> String {
    let start = key.get(..8).unwrap_or_default();
    let end = key.get(key.len().saturating_sub(4)..).unwrap_or_default();
    format!("{start}…{end}")
}

fn prefix(mode: Mode) -> &'static str {
    match mode {
        Mode::Test => "sk_test_",
        Mode::Live => "sk_live_",
    }
}

fn digest(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// Generates a well-formed key with 190 random bits. Returns `None` if there are no random bytes.
fn generate(mode: Mode) -> Option<SecretString> {
    let mut key = prefix(mode).to_owned();
    let end = key.len() + RANDOM_CHARS;
    while key.len() < end {
        let mut bytes = [0_u8; 64];
        getrandom::fill(&mut bytes).ok()?;
        // Bytes from 248, the largest multiple of 62, would make some characters more frequent.
        let fair = bytes.iter().filter(|byte| **byte < 248);
        let fair = fair.filter_map(|byte| BASE62.get(usize::from(byte % 62)));
        key.extend(fair.take(end - key.len()).map(|one| char::from(*one)));
    }
    key.push_str(&checksum(&key));
    Some(key.into())
}

/// Returns the CRC-32 of `key` in base 62. It detects a mistyped key without a database lookup.
fn checksum(key: &str) -> String {
    let mut rest = crc32fast::hash(key.as_bytes());
    let mut characters = ['0'; CHECKSUM_CHARS];
    for character in characters.iter_mut().rev() {
        let digit = usize::try_from(rest % 62).ok();
        let digit = digit.and_then(|digit| BASE62.get(digit));
        *character = digit.map_or('0', |digit| char::from(*digit));
        rest /= 62;
    }
    characters.iter().collect()
}

/// Returns whether a text has the format of an API key, including the checksum.
pub fn is_well_formed(key: &str) -> bool {
    let rest = key.strip_prefix("sk_test_");
    let Some(rest) = rest.or_else(|| key.strip_prefix("sk_live_")) else {
        return false;
    };
    let is_alphanumeric = rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if rest.len() != RANDOM_CHARS + CHECKSUM_CHARS || !is_alphanumeric {
        return false;
    }
    let (body, sum) = key.split_at(key.len() - CHECKSUM_CHARS);
    checksum(body) == sum
}

#[derive(Debug, thiserror::Error)]
pub enum ApiKeyError {
    /// The key is malformed, unknown, revoked or expired. Clients do not learn which.
    #[error("the API key is not valid")]
    Invalid,
    #[error("the API key cannot be looked up")]
    Database(#[source] DatabaseError),
}

/// Authenticates API keys, with a short-lived cache.
pub struct ApiKeyAuthenticator {
    base: Base,
    tasks: TaskSupervisor,
    cache: Cache<[u8; 32], Arc<ApiKey>>,
}

impl ApiKeyAuthenticator {
    /// Creates an authenticator, which records the use of keys in separate tasks.
    pub fn new(base: Base, tasks: TaskSupervisor) -> Self {
        let cache = Cache::builder().max_capacity(CACHE_CAPACITY);
        let cache = cache.time_to_live(CACHE_TTL).build();
        Self { base, tasks, cache }
    }

    /// Authenticates a request by its API key and returns its context. The user of its owner is
    /// the organization itself. `address` is the client's, for the audit log.
    pub async fn authenticate(
        &self,
        key: &str,
        request_id: Arc<str>,
        deadline: Deadline,
        address: Option<IpAddr>,
    ) -> Result<RequestContext, ApiKeyError> {
        let api_key = self.find_valid(key).await?;
        let scopes = api_key.scopes.iter();
        let scopes = scopes.filter_map(|name| ApiKeyScope::from_name(name));
        let actor = Actor {
            kind: ActorKind::ApiKey,
            id: api_key.id.to_string(),
            name: api_key.name.clone(),
            source: ActorSource {
                address,
                via: AccessChannel::Api,
            },
        };
        Ok(RequestContext {
            request_id,
            owner: Owner {
                tenant: api_key.tenant.clone(),
                user: Owner::ORGANIZATION_USER.to_owned(),
            },
            actor: Arc::new(actor),
            key_id: Some(api_key.id.clone()),
            scopes: scopes.collect(),
            deadline,
        })
    }

    async fn find_valid(&self, key: &str) -> Result<Arc<ApiKey>, ApiKeyError> {
        if !is_well_formed(key) {
            return Err(ApiKeyError::Invalid);
        }
        let (sha256, now) = (digest(key), self.base.now());
        // Failures are not cached, so a key works as soon as it is created.
        let looked_up = self.look_up(key, sha256, now);
        let api_key = self.cache.try_get_with(sha256, looked_up);
        let api_key = api_key.await.map_err(|error| match error.as_ref() {
            ApiKeyError::Invalid => ApiKeyError::Invalid,
            ApiKeyError::Database(error) => ApiKeyError::Database(error.clone()),
        })?;
        let is_valid = is_valid_at(&api_key, key, now);
        is_valid.then_some(api_key).ok_or(ApiKeyError::Invalid)
    }

    async fn look_up(
        &self,
        key: &str,
        sha256: [u8; 32],
        now: Timestamp,
    ) -> Result<Arc<ApiKey>, ApiKeyError> {
        let api_key = self.base.store.api_key_by_hash(&sha256).await;
        let api_key = api_key.map_err(ApiKeyError::Database)?;
        let api_key = Arc::new(api_key.ok_or(ApiKeyError::Invalid)?);
        // A call that is refused does not use the key.
        if is_valid_at(&api_key, key, now) {
            let (store, used) = (self.base.store.clone(), Arc::clone(&api_key));
            self.tasks.spawn("touch_api_key", async move {
                if let Err(error) = store.touch_api_key(&used, now).await {
                    tracing::warn!(key = %used.id, error = &error as &dyn std::error::Error, "the last use of an API key was not recorded; its next use is recorded");
                }
            });
        }
        Ok(api_key)
    }
}

/// Returns whether a stored key, which was found by the digest of `key`, is accepted.
fn is_valid_at(stored: &ApiKey, key: &str, now: Timestamp) -> bool {
    stored.revoked_at.is_none()
        && stored.expires_at.is_none_or(|end| now < end)
        && key.starts_with(prefix(stored.tenant.mode))
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    #[test]
    fn only_generated_keys_are_well_formed() {
        let key = generate(Mode::Test).unwrap();
        let key = key.expose_secret();
        assert!(key.starts_with("sk_test_") && key.len() == 46, "{key}");
        assert!(is_well_formed(key));
        for index in 0..key.len() {
            let mut changed = key.to_owned().into_bytes();
            changed[index] = if changed[index] == b'x' { b'y' } else { b'x' };
            let changed = std::str::from_utf8(&changed).unwrap();
            assert!(!is_well_formed(changed), "character {index}");
        }
        assert!(!is_well_formed(&key[..45]));
        assert!(!is_well_formed(&format!("{key}0")));
        assert!(!is_well_formed("sk_test_ä"));
    }

    #[test]
    fn generated_keys_differ_and_use_all_base62_characters() {
        let keys: Vec<_> = (0..200).map(|_| generate(Mode::Live).unwrap()).collect();
        let mut texts: Vec<&str> = keys.iter().map(ExposeSecret::expose_secret).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), 200);
        let all: String = texts.iter().map(|key| &key[8..40]).collect();
        assert!(BASE62.iter().all(|one| all.contains(char::from(*one))));
    }
}
