//! Creates, lists and revokes API keys.

use crate::api_key::{digest, generate, masked};
use crate::audit::record::{AuditChange, audit_in};
use crate::base::Base;
use crate::context::ApiKeyScope;
use crate::storage_failure::StorageFailure;
use host_domain::account::is_organization_id;
use host_domain::audit::{Actor, AuditAction};
use host_domain::console::{ApiKeyFilter, ApiKeyStatus, TenantScope};
use host_domain::id::KeyId;
use host_domain::owner::Tenant;
use host_domain::page::{CursorPage, CursorRequest};
use host_domain::time::{Date, Timestamp};
use host_storage::{ApiKey, Conflict, DatabaseError, UnitOfWork};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

/// Maximum length of a key's name.
const NAME_CHARS_MAX: usize = 100;
/// Length of a date as `2027-01-31`. Other forms are not accepted.
const DATE_CHARS: usize = 10;

/// Returns whether a text may be the name of a key. The empty text may.
pub fn is_key_name(text: &str) -> bool {
    text.chars().count() <= NAME_CHARS_MAX && !text.chars().any(char::is_control)
}

/// Parses the expiry of a key: a timestamp, or a date, at the end of which the key expires (UTC). That
/// is its last millisecond, so that the time of the expiry has the date that was entered.
pub fn parse_expiry(text: &str) -> Option<Timestamp> {
    if let Some(at) = Timestamp::parse(text) {
        return Some(at);
    }
    let date: Date = Some(text)
        .filter(|text| text.len() == DATE_CHARS)?
        .parse()
        .ok()?;
    Timestamp::parse(&format!("{date}T23:59:59.999Z"))
}

#[derive(Debug, Clone)]
pub struct NewApiKey {
    pub tenant: Tenant,
    pub name: String,
    /// At least one. The order and duplicates do not matter.
    pub scopes: Vec<ApiKeyScope>,
    /// `None` for a key that does not expire.
    pub expires_at: Option<Timestamp>,
}

impl NewApiKey {
    /// Returns everything that is wrong with the key, except an expiry that has passed.
    fn problems(&self) -> Vec<ApiKeyProblem> {
        let rules = [
            (
                is_organization_id(&self.tenant.organization),
                ApiKeyProblem::Organization,
            ),
            (is_key_name(&self.name), ApiKeyProblem::Name),
            (!self.scopes.is_empty(), ApiKeyProblem::NoScope),
        ];
        let broken = rules.into_iter().filter(|(is_met, _)| !is_met);
        broken.map(|(_, problem)| problem).collect()
    }
}

/// A rule that a new key breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApiKeyProblem {
    #[error("the organization is not 1 to 64 of [A-Za-z0-9._-]")]
    Organization,
    #[error("the name has more than {NAME_CHARS_MAX} characters or a control character")]
    Name,
    #[error("the key has no scope")]
    NoScope,
    /// Only the command line may create a key that has expired.
    #[error("the time of the expiry has passed")]
    ExpiryPassed,
}

#[derive(Debug, thiserror::Error)]
pub enum CreateApiKeyError {
    /// The rules that the key breaks, at least one.
    #[error("the API key is not valid: {}", join(.0))]
    Invalid(Vec<ApiKeyProblem>),
    #[error("the operating system provides no random bytes")]
    Random,
    #[error("the API key cannot be stored")]
    Storage(#[source] StorageFailure),
}

fn join(problems: &[ApiKeyProblem]) -> String {
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

/// A key that was just created.
#[derive(Debug)]
pub struct CreatedApiKey {
    pub id: KeyId,
    /// The key itself. It cannot be read again.
    pub key: SecretString,
}

/// A key with its status at the time of the read.
#[derive(Debug, Clone)]
pub struct ListedApiKey {
    pub key: ApiKey,
    pub status: ApiKeyStatus,
}

impl ListedApiKey {
    fn new(key: ApiKey, now: Timestamp) -> Self {
        Self {
            status: key.status(now),
            key,
        }
    }
}

/// Manages the API keys of all organizations.
pub struct ApiKeyService {
    base: Base,
}

impl ApiKeyService {
    pub fn new(base: Base) -> Self {
        Self { base }
    }

    /// Creates an API key, as [`ApiKeyService::create`] does, unless the time of its expiry has passed.
    ///
    /// # Errors
    /// [`CreateApiKeyError`].
    pub async fn create_unexpired(
        &self,
        actor: &Actor,
        new: NewApiKey,
    ) -> Result<CreatedApiKey, CreateApiKeyError> {
        let mut problems = new.problems();
        let now = self.base.now();
        if new.expires_at.is_some_and(|end| end <= now) {
            problems.push(ApiKeyProblem::ExpiryPassed);
        }
        if !problems.is_empty() {
            return Err(CreateApiKeyError::Invalid(problems));
        }
        self.create(actor, new).await
    }

    /// Creates an API key and stores its digest.
    ///
    /// # Errors
    /// [`CreateApiKeyError`].
    pub async fn create(
        &self,
        actor: &Actor,
        mut new: NewApiKey,
    ) -> Result<CreatedApiKey, CreateApiKeyError> {
        let now = self.base.now();
        let problems = new.problems();
        if !problems.is_empty() {
            return Err(CreateApiKeyError::Invalid(problems));
        }
        new.scopes.sort_unstable();
        new.scopes.dedup();
        let key = generate(new.tenant.mode).ok_or(CreateApiKeyError::Random)?;
        let scopes = new.scopes.iter().map(|scope| scope.as_str().to_owned());
        let stored = ApiKey {
            id: KeyId::from_bits(self.base.ids.generate()),
            tenant: new.tenant,
            name: new.name,
            scopes: scopes.collect(),
            masked_key: masked(key.expose_secret()),
            created_at: now,
            expires_at: new.expires_at,
            last_used_at: None,
            revoked_at: None,
        };
        let mut write = UnitOfWork::new(now);
        write.insert_api_key(&stored, &digest(key.expose_secret()));
        let change = AuditChange::new(AuditAction::ApiKeyCreated, stored.id.as_str());
        let change = change.of_tenant(&stored.tenant).after(json!({
            "name": stored.name,
            "scopes": stored.scopes,
            "expires_at": stored.expires_at.map(|at| at.to_string()),
        }));
        audit_in(&mut write, &self.base, actor, change);
        let committed = self.base.store.commit(write).await;
        committed.map_err(|error| CreateApiKeyError::Storage(error.into()))?;
        Ok(CreatedApiKey { id: stored.id, key })
    }

    /// Revokes a key. It stops working on every process within
    /// [`CACHE_TTL`](crate::api_key::CACHE_TTL). A revoked key keeps its revocation time. Returns
    /// whether the key exists.
    ///
    /// # Errors
    /// The database failed.
    pub async fn revoke(&self, actor: &Actor, id: &KeyId) -> Result<bool, StorageFailure> {
        let Some(key) = self.base.store.api_key_unscoped(id).await? else {
            return Ok(false);
        };
        if key.revoked_at.is_some() {
            return Ok(true);
        }
        let (mut write, now) = (self.base.unit_of_work(), self.base.now());
        write.revoke_api_key(id, now);
        let change = AuditChange::new(AuditAction::ApiKeyRevoked, id.as_str())
            .of_tenant(&key.tenant)
            .before(json!({ "revoked_at": null }))
            .after(json!({ "revoked_at": now.to_string() }));
        audit_in(&mut write, &self.base, actor, change);
        // Somebody else may have revoked the key meanwhile.
        let conflict = Conflict::ApiKeyRevoked;
        self.base.commit_unless(conflict, write).await?;
        Ok(true)
    }

    /// Returns all keys, or those of one organization, oldest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn list(&self, organization: Option<&str>) -> Result<Vec<ApiKey>, StorageFailure> {
        Ok(self.base.store.api_keys(organization).await?)
    }

    /// Returns a page of the keys of a scope, newest first, with their status now.
    ///
    /// # Errors
    /// The database failed.
    pub async fn list_unscoped(
        &self,
        scope: &TenantScope,
        filter: &ApiKeyFilter,
        page: &CursorRequest,
    ) -> Result<CursorPage<ListedApiKey>, DatabaseError> {
        let now = self.base.now();
        let found = self.base.store.api_key_page(scope, filter, now, page);
        Ok(found.await?.map(|key| ListedApiKey::new(key, now)))
    }

    /// Returns a key with its status now, even if it is revoked or expired.
    ///
    /// # Errors
    /// The database failed.
    pub async fn find_unscoped(&self, id: &KeyId) -> Result<Option<ListedApiKey>, DatabaseError> {
        let (found, now) = (self.base.store.api_key_unscoped(id).await?, self.base.now());
        Ok(found.map(|key| ListedApiKey::new(key, now)))
    }
}
