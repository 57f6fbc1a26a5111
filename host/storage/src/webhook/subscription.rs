//! Subscriptions with their encrypted secrets.

use crate::statement::{Row, statement};
use crate::wakeup::WorkQueue;
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::event::Product;
use host_domain::id::SubscriptionId;
use host_domain::owner::Tenant;
use host_domain::page::{Page, PageRequest};
use host_domain::webhook::{Subscription, SubscriptionStatus};

impl UnitOfWork {
    /// Stores a new subscription. Fails with [`Conflict::SubscriptionExists`] if its id exists.
    pub fn insert_subscription(
        &mut self,
        subscription: &Subscription,
        sealed_secret: &[u8],
    ) -> &mut Self {
        let event_types = self.encode_json(&subscription.event_types);
        let tenant = &subscription.tenant;
        let insert = statement!(
            "INSERT INTO webhook_subscription (organization, mode, id, product, url, \
             event_types, description, status, sealed_secret, created_at, updated_at, version) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING",
            tenant,
            subscription.id.as_str(),
            subscription.product.as_str(),
            subscription.url.as_str(),
            event_types,
            subscription.description.as_deref(),
            subscription.status.as_str(),
            sealed_secret,
            subscription.created_at,
            subscription.updated_at,
            subscription.version,
        );
        self.add_expecting_one(insert, Conflict::SubscriptionExists);
        self.insert_event_types(subscription)
    }

    /// Stores a subscription that was read at version `read_version`. Fails with
    /// [`Conflict::SubscriptionVersion`] if the stored version is another one. Workers are woken,
    /// because waiting deliveries may now be due.
    pub fn update_subscription(
        &mut self,
        subscription: &Subscription,
        read_version: i64,
    ) -> &mut Self {
        let event_types = self.encode_json(&subscription.event_types);
        let tenant = &subscription.tenant;
        let update = statement!(
            "UPDATE webhook_subscription SET url = $4, event_types = $5, description = $6, \
             status = $7, failing_since = $8, previous_secret_expires_at = $9, updated_at = $10, \
             version = $11 \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND version = $12 \
             AND deleted_at IS NULL",
            tenant,
            subscription.id.as_str(),
            subscription.url.as_str(),
            event_types,
            subscription.description.as_deref(),
            subscription.status.as_str(),
            subscription.failing_since,
            subscription.previous_secret_expires_at,
            subscription.updated_at,
            subscription.version,
            read_version,
        );
        self.wakeups.insert(WorkQueue::Deliveries);
        self.add_expecting_one(update, Conflict::SubscriptionVersion);
        self.delete_event_types(&subscription.tenant, &subscription.id);
        self.insert_event_types(subscription)
    }

    /// Stores a subscription with new encrypted secrets. Fails with
    /// [`Conflict::SubscriptionVersion`] if the stored version is another one.
    pub fn rotate_subscription_secret(
        &mut self,
        subscription: &Subscription,
        read_version: i64,
        sealed: &SealedSecrets,
    ) -> &mut Self {
        self.update_subscription(subscription, read_version);
        self.add_expecting_one(
            statement!(
                "UPDATE webhook_subscription SET sealed_secret = $4, sealed_previous_secret = $5 \
                 WHERE organization = $1 AND mode = $2 AND id = $3",
                &subscription.tenant,
                subscription.id.as_str(),
                sealed.current.as_slice(),
                sealed.previous.as_deref(),
            ),
            Conflict::SubscriptionVersion,
        )
    }

    /// Deletes a subscription with its secrets. Fails with [`Conflict::SubscriptionNotFound`] if it
    /// does not exist. Its deliveries are deleted later by [`Store::purge_deleted_subscriptions`].
    pub fn delete_subscription(
        &mut self,
        tenant: &Tenant,
        product: Product,
        id: &SubscriptionId,
    ) -> &mut Self {
        let update = statement!(
            "UPDATE webhook_subscription SET deleted_at = $5, sealed_secret = $6, \
             sealed_previous_secret = NULL \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND product = $4 \
             AND deleted_at IS NULL",
            tenant,
            id.as_str(),
            product.as_str(),
            self.now,
            &[] as &[u8],
        );
        self.add_expecting_one(update, Conflict::SubscriptionNotFound);
        self.delete_event_types(tenant, id)
    }

    fn insert_event_types(&mut self, subscription: &Subscription) -> &mut Self {
        let event_types = self.encode_json(&subscription.event_types);
        self.add(statement!(
            "INSERT INTO webhook_subscription_event_type (organization, mode, subscription_id, \
             event_type) SELECT $1, $2, $3, item.value FROM {texts $4} WHERE TRUE \
             ON CONFLICT DO NOTHING",
            &subscription.tenant,
            subscription.id.as_str(),
            event_types,
        ))
    }

    fn delete_event_types(&mut self, tenant: &Tenant, id: &SubscriptionId) -> &mut Self {
        self.add(statement!(
            "DELETE FROM webhook_subscription_event_type \
             WHERE organization = $1 AND mode = $2 AND subscription_id = $3",
            tenant,
            id.as_str(),
        ))
    }
}

/// The encrypted secrets of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecrets {
    /// The secret that signs.
    pub current: Vec<u8>,
    pub previous: Option<Vec<u8>>,
}

impl Store {
    /// Returns a tenant's subscription to a product. Deleted subscriptions are omitted.
    pub async fn subscription(
        &self,
        tenant: &Tenant,
        product: Product,
        id: &SubscriptionId,
    ) -> Result<Option<Subscription>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS} FROM webhook_subscription AS s \
                 WHERE s.organization = $1 AND s.mode = $2 AND s.id = $3 AND s.product = $4 \
                 AND s.deleted_at IS NULL"
            ),
            tenant,
            id.as_str(),
            product.as_str(),
        );
        self.read_optional(select, read).await
    }

    /// Returns the secrets of a subscription. Returns `None` if it does not exist or was deleted.
    pub async fn sealed_secrets(
        &self,
        tenant: &Tenant,
        id: &SubscriptionId,
    ) -> Result<Option<SealedSecrets>, DatabaseError> {
        let select = statement!(
            "SELECT sealed_secret, sealed_previous_secret FROM webhook_subscription \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND deleted_at IS NULL",
            tenant,
            id.as_str(),
        );
        self.read_optional(select, read_secrets).await
    }

    /// Returns a page of a tenant's subscriptions to a product, oldest first.
    pub async fn subscriptions(
        &self,
        tenant: &Tenant,
        product: Product,
        page: PageRequest,
    ) -> Result<Page<Subscription>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS} FROM webhook_subscription AS s \
                 WHERE s.organization = $1 AND s.mode = $2 AND s.product = $3 \
                 AND s.deleted_at IS NULL ORDER BY s.created_at, s.id LIMIT $4 OFFSET $5"
            ),
            tenant,
            product.as_str(),
            page.limit.saturating_add(1),
            page.offset,
        );
        self.read_page(select, page, read).await
    }

    pub async fn count_subscriptions(
        &self,
        tenant: &Tenant,
        product: Product,
    ) -> Result<u64, DatabaseError> {
        let select = statement!(
            "SELECT COUNT(*) AS number FROM webhook_subscription \
             WHERE organization = $1 AND mode = $2 AND product = $3 AND deleted_at IS NULL",
            tenant,
            product.as_str(),
        );
        self.read_count(select).await
    }
}

pub(crate) const COLUMNS: &str = "s.organization, s.mode, s.id, s.product, s.url, s.event_types, \
    s.description, s.status, s.failing_since, s.previous_secret_expires_at, s.created_at, \
    s.updated_at, s.version";

pub(crate) fn read(row: &Row) -> Result<Subscription, DatabaseError> {
    Ok(Subscription {
        id: row.parsed("id", SubscriptionId::parse)?,
        tenant: row.tenant()?,
        product: row.enum_value("product", Product::parse)?,
        url: row.get("url")?,
        event_types: row.json("event_types")?,
        description: row.get("description")?,
        status: row.enum_value("status", SubscriptionStatus::parse)?,
        failing_since: row.timestamp_opt("failing_since")?,
        previous_secret_expires_at: row.timestamp_opt("previous_secret_expires_at")?,
        created_at: row.timestamp("created_at")?,
        updated_at: row.timestamp("updated_at")?,
        version: row.get("version")?,
    })
}

pub(crate) fn read_secrets(row: &Row) -> Result<SealedSecrets, DatabaseError> {
    Ok(SealedSecrets {
        current: row.get("sealed_secret")?,
        previous: row.get("sealed_previous_secret")?,
    })
}
