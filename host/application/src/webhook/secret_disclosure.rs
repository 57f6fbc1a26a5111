//! A new signing secret is returned once for each idempotency key: by the first response, or by a
//! replay if no response contained it, because the outcome of the commit was unknown or the process
//! ended. The secret is only stored encrypted, with the subscription. That a response contains it
//! is stored as a second idempotency record of the same key.

use crate::idempotency::{IdempotentRequest, claim_in};
use crate::webhook::error::WebhookError;
use crate::webhook::service::{SubscriptionWithSecret, WebhookService};
use crate::webhook::signing_secret::{self, SecretOrigin, SecretSlot};
use host_domain::event::Product;
use host_domain::id::SubscriptionId;
use host_domain::owner::Tenant;
use host_domain::time::Timestamp;
use host_domain::webhook::{Subscription, SubscriptionEvent};
use host_storage::{Conflict, UnitOfWork};
use secrecy::SecretString;

/// Suffix of the operation under which the disclosure of a secret is recorded.
const DISCLOSURE: &str = "secret_disclosed";

impl WebhookService {
    /// Returns the subscription that the same request created or rotated before. It contains the
    /// secret if no response has contained it and no later rotation has replaced it.
    pub(super) async fn find_replay(
        &self,
        tenant: &Tenant,
        product: Product,
        key: Option<&IdempotentRequest>,
        origin: SecretOrigin,
    ) -> Result<Option<SubscriptionWithSecret>, WebhookError> {
        let Some(key) = key else { return Ok(None) };
        let Some(record) = self.base.find_idempotency_record(key).await? else {
            return Ok(None);
        };
        let id = SubscriptionId::parse(&record.resource_id).map_err(|_| WebhookError::NotFound)?;
        // The secret is read first: a rotation after this read shows in the subscription.
        let sealed = self.base.store.sealed_secrets(tenant, &id).await?;
        let subscription = self.find(tenant, product, &id).await?;
        let is_current = self.is_current(&subscription, origin, record.created_at);
        let signing_secret = match sealed.filter(|_| is_current) {
            Some(sealed) => {
                let (slot, sealed) = (SecretSlot::Current, &sealed.current);
                let secret = signing_secret::open(&self.sealer, tenant, &id, slot, sealed)?;
                self.disclose_once(Some(key), &id, secret).await
            }
            None => None,
        };
        Ok(Some(SubscriptionWithSecret {
            subscription,
            signing_secret,
        }))
    }

    /// Returns whether the current secret is the one that was made at a time.
    fn is_current(
        &self,
        subscription: &Subscription,
        origin: SecretOrigin,
        made_at: Timestamp,
    ) -> bool {
        let last_rotation = subscription.previous_secret_expires_at;
        match origin {
            SecretOrigin::Creation => last_rotation.is_none(),
            SecretOrigin::Rotation => last_rotation.is_some_and(|previous_secret_expires_at| {
                self.policy.rotation_event(made_at)
                    == SubscriptionEvent::Rotated {
                        previous_secret_expires_at,
                    }
            }),
        }
    }

    /// Returns the secret for a response, unless another response to the same key contains it.
    /// Without a key there is no other response. If the record cannot be stored, the secret is
    /// returned, because one that is returned twice is better than one that is lost.
    pub(super) async fn disclose_once(
        &self,
        key: Option<&IdempotentRequest>,
        id: &SubscriptionId,
        secret: SecretString,
    ) -> Option<SecretString> {
        let Some(key) = key else { return Some(secret) };
        let mut write = UnitOfWork::new(self.base.now());
        claim_in(&mut write, Some(&key.for_fact(DISCLOSURE)), id.as_str());
        let conflict = Conflict::IdempotencyKeyExists;
        match self.base.commit_unless(conflict, write).await {
            Ok(is_first) => is_first.then_some(secret),
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    subscription = id.as_str(),
                    "the disclosure of a signing secret was not stored; a repeat of the request returns the secret again"
                );
                Some(secret)
            }
        }
    }
}
