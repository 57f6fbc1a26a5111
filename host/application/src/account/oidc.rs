//! Single sign-on by OpenID Connect: the authorization code flow with PKCE.
//!
//! A person is known by issuer and subject. The e-mail address never leads to an account that
//! exists: whoever chooses the address at the provider would otherwise get that account.

mod id_token;
mod provider;

use crate::account::audited::{audit_account_in, audit_roles_in};
use crate::account::oidc::id_token::{IdTokenError, Identity, verify};
use crate::account::oidc::provider::{Provider, ProviderClient, ProviderError};
use crate::account::secret::{RandomSourceFailure, generate_token};
use crate::account::service::revoke_invitations_of_lost_in;
use crate::account::session::{NewSession, SessionService};
use crate::account::setup::{end_first_link_in, invited_account};
use crate::account::viewer::{ClientInfo, account_actor};
use crate::base::Base;
use crate::config::oidc::{MappedRole, OidcConfig};
use crate::sealer::{SealError, Sealer};
use crate::storage_failure::StorageFailure;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use host_domain::account::AccountState;
use host_domain::audit::AuditAction;
use host_domain::id::AccountId;
use host_domain::owner::Mode;
use host_domain::time::Timestamp;
use host_storage::{CommitError, Conflict, DatabaseError, StoredAccount, UnitOfWork};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Time that a person has at the provider.
const CHALLENGE_TTL_MS: i64 = 10 * 60 * 1000;

const PURPOSE: &str = "oidc_challenge";

#[derive(Debug, thiserror::Error)]
pub enum OidcError {
    /// The sign-in began in another browser or too long ago, or the person declined it.
    #[error("the sign-in has to begin again")]
    ChallengeEnded,
    /// The provider's answer is not valid. The cause is logged.
    #[error("the provider's answer is not valid")]
    Refused,
    #[error("the provider names no verified e-mail address")]
    NoEmail,
    #[error("the provider gives the person no role")]
    NoRole,
    #[error("another account has this address")]
    EmailTaken,
    #[error("the account is disabled")]
    Disabled,
    #[error("the provider does not respond")]
    Unavailable,
    #[error("the account could not be read or stored")]
    Storage(#[from] StorageFailure),
    /// A defect.
    #[error(transparent)]
    Internal(Box<dyn std::error::Error + Send + Sync>),
}

impl From<DatabaseError> for OidcError {
    fn from(error: DatabaseError) -> Self {
        Self::Storage(error.into())
    }
}

impl From<CommitError> for OidcError {
    fn from(error: CommitError) -> Self {
        match error.conflict() {
            // Two sign-ins of a new person at the same time, or a change of the account.
            Some(Conflict::AccountExists | Conflict::AccountVersion) => Self::ChallengeEnded,
            _ => Self::Storage(error.into()),
        }
    }
}

impl From<RandomSourceFailure> for OidcError {
    fn from(error: RandomSourceFailure) -> Self {
        Self::Internal(error.into())
    }
}

impl From<SealError> for OidcError {
    fn from(error: SealError) -> Self {
        Self::Internal(error.into())
    }
}

impl From<ProviderError> for OidcError {
    fn from(error: ProviderError) -> Self {
        let is_refusal =
            matches!(&error, ProviderError::Status(status) if status.is_client_error());
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "single sign-on failed at the provider; check client id, client secret and redirect URL if the provider refuses, or try again if it is away"
        );
        if is_refusal {
            Self::Refused
        } else {
            Self::Unavailable
        }
    }
}

impl From<IdTokenError> for OidcError {
    fn from(error: IdTokenError) -> Self {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "an identity token was refused, so the person is not signed in; compare issuer, audience and clock with those of the provider"
        );
        Self::Refused
    }
}

/// The begin of a sign-in.
#[derive(Debug)]
pub struct OidcRedirect {
    /// The address at the provider.
    pub url: String,
    /// The value of the cookie that binds the sign-in to the browser.
    pub challenge: SecretString,
}

/// The parameters with which the provider sends the person back.
#[derive(Debug, Clone, Copy)]
pub struct OidcCallback<'a> {
    pub code: &'a str,
    pub state: &'a str,
    /// The issuer, which not all providers send.
    pub issuer: Option<&'a str>,
}

/// The end of a sign-in.
#[derive(Debug)]
pub struct OidcSignIn {
    pub session: NewSession,
    /// The path of [`OidcService::begin`].
    pub next: String,
}

/// The content of a sealed challenge.
#[derive(Serialize, Deserialize)]
struct Challenge {
    state: String,
    nonce: String,
    verifier: String,
    next: String,
    expires_at: Timestamp,
}

/// Begins sessions for people whom a provider has identified.
pub struct OidcService {
    base: Base,
    sealer: Arc<Sealer>,
    sessions: Arc<SessionService>,
    config: OidcConfig,
    client: ProviderClient,
}

impl OidcService {
    /// Returns `None` if no provider is configured.
    ///
    /// # Errors
    /// The HTTP client cannot be built.
    pub(super) fn new(
        base: &Base,
        sealer: &Arc<Sealer>,
        sessions: &Arc<SessionService>,
        config: &OidcConfig,
    ) -> Result<Option<Self>, reqwest::Error> {
        if config.issuer.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            base: base.clone(),
            sealer: Arc::clone(sealer),
            sessions: Arc::clone(sessions),
            client: ProviderClient::new(config.clone())?,
            config: config.clone(),
        }))
    }

    /// Begins a sign-in. The provider sends the person to `redirect_uri`; `next` is the path to
    /// open afterwards.
    ///
    /// # Errors
    /// [`OidcError::Unavailable`] or [`OidcError::Internal`].
    pub async fn begin(&self, next: &str, redirect_uri: &str) -> Result<OidcRedirect, OidcError> {
        let provider = self.client.provider(self.base.now()).await?;
        let token = || -> Result<String, RandomSourceFailure> {
            Ok(generate_token()?.expose_secret().to_owned())
        };
        let challenge = Challenge {
            state: token()?,
            nonce: token()?,
            verifier: token()?,
            next: next.to_owned(),
            expires_at: self.base.now().plus_ms(CHALLENGE_TTL_MS),
        };
        let mut url = provider.metadata.authorization_url()?;
        let verifier = Sha256::digest(challenge.verifier.as_bytes());
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.config.client_id)
            .append_pair("redirect_uri", redirect_uri)
            .append_pair("scope", &self.config.scopes.join(" "))
            .append_pair("state", &challenge.state)
            .append_pair("nonce", &challenge.nonce)
            .append_pair("code_challenge", &URL_SAFE_NO_PAD.encode(verifier))
            .append_pair("code_challenge_method", "S256");
        let bytes = serde_json::to_vec(&challenge);
        let bytes = bytes.map_err(|error| OidcError::Internal(error.into()))?;
        Ok(OidcRedirect {
            url: url.into(),
            challenge: self.sealer.seal_text(PURPOSE, &[], &bytes)?.into(),
        })
    }

    /// Ends a sign-in that began in the browser with this challenge. The person gets an account on
    /// the first sign-in. If the configuration maps roles, each sign-in sets the person's roles.
    ///
    /// # Errors
    /// [`OidcError`].
    pub async fn complete(
        &self,
        callback: OidcCallback<'_>,
        challenge: &SecretString,
        redirect_uri: &str,
        client: &ClientInfo,
    ) -> Result<OidcSignIn, OidcError> {
        let challenge = self.open(challenge)?;
        let is_own_issuer = callback
            .issuer
            .is_none_or(|issuer| issuer == self.config.issuer);
        // Without a code, the person declined the sign-in.
        let is_answer = !callback.code.is_empty() && is_own_issuer;
        if challenge.state != callback.state || !is_answer {
            return Err(OidcError::ChallengeEnded);
        }
        let provider = self.client.provider(self.base.now()).await?;
        let (code, verifier) = (callback.code, &challenge.verifier);
        let exchanged = self
            .client
            .exchange(&provider, code, verifier, redirect_uri);
        let token = exchanged.await?;
        let identity = self.identify(&provider, &token, &challenge.nonce).await?;
        let session = self.begin_session(identity, client).await?;
        Ok(OidcSignIn {
            session,
            next: challenge.next,
        })
    }

    fn open(&self, challenge: &SecretString) -> Result<Challenge, OidcError> {
        let opened = self
            .sealer
            .open_text(PURPOSE, &[], challenge.expose_secret());
        let challenge: Option<Challenge> = opened
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let now = self.base.now();
        let challenge = challenge.filter(|challenge| now < challenge.expires_at);
        challenge.ok_or(OidcError::ChallengeEnded)
    }

    async fn identify(
        &self,
        provider: &Provider,
        token: &str,
        nonce: &str,
    ) -> Result<Identity, OidcError> {
        match verify(token, &provider.keys, &self.config, nonce) {
            Err(IdTokenError::UnknownKey) => {
                let renewed = self.client.renewed_provider(self.base.now()).await?;
                Ok(verify(token, &renewed.keys, &self.config, nonce)?)
            }
            result => Ok(result?),
        }
    }

    async fn begin_session(
        &self,
        identity: Identity,
        client: &ClientInfo,
    ) -> Result<NewSession, OidcError> {
        let mut write = self.base.unit_of_work();
        let account = match self.find(&identity).await? {
            Some(account) => self.update_in(&mut write, account, &identity, client),
            None => self.insert_in(&mut write, &identity, client).await,
        }?;
        if self.maps_roles() && account.roles.is_empty() {
            // A person who has lost all roles keeps no session either.
            write.delete_sessions(&account.id);
            self.base.store.commit(write).await?;
            return Err(OidcError::NoRole);
        }
        // A new session shows test data first.
        let begun = self
            .sessions
            .begin_in(&mut write, &account, client, Mode::Test);
        let session = begun?;
        write.record_sign_in(&account.id);
        self.base.store.commit(write).await?;
        tracing::info!(account = %account.id, session = %session.id, "a person has signed in by single sign-on");
        Ok(session)
    }

    async fn find(&self, identity: &Identity) -> Result<Option<StoredAccount>, OidcError> {
        let (issuer, subject) = (&self.config.issuer, &identity.subject);
        let account = self.base.store.account_by_identity(issuer, subject).await?;
        match account {
            Some(account) if account.state == AccountState::Disabled => Err(OidcError::Disabled),
            account => Ok(account),
        }
    }

    fn maps_roles(&self) -> bool {
        !self.config.roles.is_empty()
    }

    /// Adds the changes of an account that the provider has identified before.
    fn update_in(
        &self,
        write: &mut UnitOfWork,
        account: StoredAccount,
        identity: &Identity,
        client: &ClientInfo,
    ) -> Result<StoredAccount, OidcError> {
        let mut changed = account.clone();
        if self.maps_roles() {
            changed.roles = identity.roles(&self.config);
        }
        end_first_link_in(write, &changed);
        if account.state == AccountState::Invited {
            changed.state = AccountState::Active;
            changed.version += 1;
            write.update_account(&changed, account.version);
        }
        if changed.roles != account.roles {
            revoke_invitations_of_lost_in(write, &account.roles, &changed.roles);
            write.set_account_roles(&account.id, &account.roles, &changed.roles);
            let actor = account_actor(&account.id, &account.email, client.address);
            let accounts = (&account, &changed);
            audit_roles_in(write, &self.base, &actor, accounts, role_names);
        }
        Ok(changed)
    }

    /// Adds the account of a person who signs in for the first time.
    async fn insert_in(
        &self,
        write: &mut UnitOfWork,
        identity: &Identity,
        client: &ClientInfo,
    ) -> Result<StoredAccount, OidcError> {
        let email = identity.email.clone().ok_or(OidcError::NoEmail)?;
        let roles = identity.roles(&self.config);
        if self.maps_roles() && roles.is_empty() {
            return Err(OidcError::NoRole);
        }
        if self.base.store.account_by_email(&email).await?.is_some() {
            return Err(OidcError::EmailTaken);
        }
        let id = AccountId::from_bits(self.base.ids.generate());
        let account = StoredAccount {
            state: AccountState::Active,
            ..invited_account(id, email, roles, self.base.now())
        };
        end_first_link_in(write, &account);
        write.insert_account(&account);
        let (issuer, subject) = (&self.config.issuer, &identity.subject);
        write.insert_account_identity(issuer, subject, &account.id);
        let actor = account_actor(&account.id, &account.email, client.address);
        let (action, accounts) = (AuditAction::AccountCreated, (None, &account));
        audit_account_in(write, &self.base, &actor, action, accounts, role_names);
        Ok(account)
    }
}

fn role_names(account: &StoredAccount) -> serde_json::Value {
    let names = account
        .roles
        .iter()
        .cloned()
        .map(MappedRole)
        .map(String::from);
    json!({ "roles": names.collect::<Vec<String>>() })
}
