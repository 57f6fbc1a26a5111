//! API keys as people manage them.

use crate::account::viewer::Viewer;
use crate::api_key::service::{
    ApiKeyProblem, ApiKeyService, CreateApiKeyError, CreatedApiKey, NewApiKey,
};
use crate::base::Base;
use crate::console::access::AccessError;
use crate::console::list::{ConsoleList, ConsoleListRequest, readable_organizations};
use crate::storage_failure::StorageFailure;
use host_domain::account::Permission;
use host_domain::console::{ApiKeyFilter, ApiKeyStatus};
use host_domain::id::KeyId;
use host_storage::{ApiKey, DatabaseError};

#[derive(Debug, thiserror::Error)]
pub enum ConsoleKeyError {
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The rules that a new key breaks, at least one.
    #[error("the API key is not valid")]
    Invalid(Vec<ApiKeyProblem>),
    #[error("the API keys could not be read or stored")]
    Storage(#[from] StorageFailure),
    #[error("the operating system provides no random bytes")]
    Random,
}

impl From<DatabaseError> for ConsoleKeyError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

impl From<CreateApiKeyError> for ConsoleKeyError {
    fn from(error: CreateApiKeyError) -> Self {
        match error {
            CreateApiKeyError::Invalid(problems) => Self::Invalid(problems),
            CreateApiKeyError::Random => Self::Random,
            CreateApiKeyError::Storage(failure) => Self::Storage(failure),
        }
    }
}

/// A key as a person sees it.
#[derive(Debug, Clone)]
pub struct ApiKeyView {
    pub key: ApiKey,
    pub status: ApiKeyStatus,
    /// Whether the person may revoke the key. A revoked key cannot be revoked again.
    pub can_revoke: bool,
}

/// A page of keys.
#[derive(Debug, Clone)]
pub struct ApiKeyList {
    pub list: ConsoleList<ApiKeyView>,
    /// Number of matching keys on all pages.
    pub total: u64,
}

/// Lists, creates and revokes keys within the roles of a person.
pub struct ConsoleKeys {
    pub(crate) base: Base,
    pub(crate) api_keys: ApiKeyService,
}

impl ConsoleKeys {
    /// Returns a page of keys of the session's mode.
    ///
    /// # Errors
    /// [`ConsoleKeyError::Access`] if the organization is somebody else's.
    pub async fn list(
        &self,
        viewer: &Viewer,
        request: &ConsoleListRequest<ApiKeyFilter>,
    ) -> Result<ApiKeyList, ConsoleKeyError> {
        let scope = viewer.scope(request.organization.as_deref())?;
        let (store, now) = (&self.base.store, self.base.now());
        let (filter, page) = (&request.filter, request.page());
        let total = async {
            match request.matches_nothing {
                true => Ok(0),
                false => store.count_api_keys(&scope, filter, now).await,
            }
        };
        let (keys, total, organizations) = futures::try_join!(
            request.read_page(store.api_key_page(&scope, filter, now, &page)),
            total,
            readable_organizations(store, viewer),
        )?;
        let list = ConsoleList {
            page: keys.map(|key| self.view(viewer, key)),
            organizations,
        };
        Ok(ApiKeyList { list, total })
    }

    /// Returns a key of the session's mode.
    ///
    /// # Errors
    /// [`ConsoleKeyError::Access`].
    pub async fn find(&self, viewer: &Viewer, id: &KeyId) -> Result<ApiKeyView, ConsoleKeyError> {
        let found = self.api_keys.find_unscoped(id).await?;
        let key = found.ok_or(AccessError::NotFound)?.key;
        viewer.require_on(Permission::Read, &key.tenant)?;
        Ok(self.view(viewer, key))
    }

    /// Creates a key of either mode.
    ///
    /// # Errors
    /// [`ConsoleKeyError`].
    pub async fn create(
        &self,
        viewer: &Viewer,
        new: NewApiKey,
    ) -> Result<CreatedApiKey, ConsoleKeyError> {
        let permission = Permission::manage_keys(new.tenant.mode);
        viewer.require(permission, &new.tenant.organization)?;
        let created = self.api_keys.create_unexpired(&viewer.actor(), new).await?;
        tracing::info!(account = %viewer.account, key = %created.id, "an API key was created");
        Ok(created)
    }

    /// Revokes a key of the session's mode. Revoking it again changes nothing.
    ///
    /// # Errors
    /// [`ConsoleKeyError::Access`].
    pub async fn revoke(&self, viewer: &Viewer, id: &KeyId) -> Result<(), ConsoleKeyError> {
        let found = self.api_keys.find_unscoped(id).await?;
        let tenant = found.ok_or(AccessError::NotFound)?.key.tenant;
        viewer.require_on(Permission::manage_keys(tenant.mode), &tenant)?;
        if !self.api_keys.revoke(&viewer.actor(), id).await? {
            return Err(AccessError::NotFound.into());
        }
        tracing::info!(account = %viewer.account, key = %id, "an API key was revoked");
        Ok(())
    }

    fn view(&self, viewer: &Viewer, key: ApiKey) -> ApiKeyView {
        let permission = Permission::manage_keys(key.tenant.mode);
        let status = key.status(self.base.now());
        ApiKeyView {
            status,
            can_revoke: status != ApiKeyStatus::Revoked
                && viewer.require_on(permission, &key.tenant).is_ok(),
            key,
        }
    }
}
