//! Subscriptions to the events of a product.

use crate::event::Product;
use crate::id::SubscriptionId;
use crate::named_enum::named_enum;
use crate::owner::Tenant;
use crate::time::Timestamp;

/// Matches every event type of the product, including types that are added later.
pub const WILDCARD_EVENT_TYPE: &str = "*";

named_enum! {
    /// The status of a subscription. Unless it is `ACTIVE`, its deliveries are recorded but not
    /// sent.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum SubscriptionStatus {
        /// Deliveries are sent.
        Active = "ACTIVE",
        /// Deliveries wait, because the client paused them or the receiver returned 410.
        Paused = "PAUSED",
        /// Deliveries wait, because no delivery succeeded for days.
        Disabled = "DISABLED",
    }
}

/// A subscription to the events of a product. Its secrets are not part of it: they are stored
/// encrypted, and only the signing code decrypts them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    pub id: SubscriptionId,
    pub tenant: Tenant,
    pub product: Product,
    /// The URL of the receiver, as the client wrote it.
    pub url: String,
    /// Names of event types, or [`WILDCARD_EVENT_TYPE`].
    pub event_types: Vec<String>,
    pub description: Option<String>,
    pub status: SubscriptionStatus,
    /// Time of the first failure since the last success.
    pub failing_since: Option<Timestamp>,
    /// Time until which the previous secret is used for signatures, too.
    pub previous_secret_expires_at: Option<Timestamp>,
    pub created_at: Timestamp,
    /// Time of the last change that the owner can see.
    pub updated_at: Timestamp,
    pub version: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubscriptionEvent {
    /// The client changed the subscription. A field that is `None` stays unchanged.
    Changed {
        url: Option<String>,
        event_types: Option<Vec<String>>,
        /// The new description. `Some(None)` removes it.
        description: Option<Option<String>>,
    },
    Paused,
    Resumed,
    /// The secret was replaced.
    Rotated {
        previous_secret_expires_at: Timestamp,
    },
    DeliverySucceeded,
    /// The receiver did not accept an event.
    DeliveryFailed {
        /// Seconds without a success after which the subscription is disabled.
        disable_after_s: i64,
    },
    /// The receiver responded that it is permanently gone.
    EndpointGone {
        /// Value of [`Subscription::updated_at`] when the delivery was sent.
        updated_at: Timestamp,
    },
}

impl SubscriptionEvent {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Changed { .. } => "changed",
            Self::Paused => "paused",
            Self::Resumed => "resumed",
            Self::Rotated { .. } => "rotated",
            Self::DeliverySucceeded => "succeeded",
            Self::DeliveryFailed { .. } => "failed",
            Self::EndpointGone { .. } => "gone",
        }
    }
}

impl Subscription {
    pub const fn new(
        id: SubscriptionId,
        tenant: Tenant,
        product: Product,
        url: String,
        event_types: Vec<String>,
        description: Option<String>,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            tenant,
            product,
            url,
            event_types,
            description,
            status: SubscriptionStatus::Active,
            failing_since: None,
            previous_secret_expires_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// Returns whether a client may pause the subscription. A disabled one would look as if its
    /// owner had paused it.
    pub fn can_be_paused(&self) -> bool {
        self.status != SubscriptionStatus::Disabled
    }

    /// Applies an event. Returns `None` if nothing changes; this is not an error, so requests are
    /// idempotent.
    #[must_use]
    pub fn apply(mut self, event: SubscriptionEvent, now: Timestamp) -> Option<Self> {
        let before = self.clone();
        match event {
            SubscriptionEvent::Changed {
                url,
                event_types,
                description,
            } => self.change(url, event_types, description),
            SubscriptionEvent::Paused => self.status = SubscriptionStatus::Paused,
            SubscriptionEvent::Resumed => {
                self.status = SubscriptionStatus::Active;
                self.failing_since = None;
            }
            SubscriptionEvent::Rotated {
                previous_secret_expires_at,
            } => self.previous_secret_expires_at = Some(previous_secret_expires_at),
            SubscriptionEvent::DeliverySucceeded => self.failing_since = None,
            SubscriptionEvent::DeliveryFailed { disable_after_s } => {
                self.record_failure(disable_after_s, now)
            }
            // The response to a delivery that was sent before the client's last change is ignored.
            SubscriptionEvent::EndpointGone { updated_at } => {
                if self.status == SubscriptionStatus::Active && self.updated_at == updated_at {
                    self.status = SubscriptionStatus::Paused;
                }
            }
        }
        if self == before {
            return None;
        }
        let health_alone = Self {
            failing_since: before.failing_since,
            ..self.clone()
        } == before;
        if !health_alone {
            self.updated_at = now;
        }
        self.version += 1;
        Some(self)
    }

    fn change(
        &mut self,
        url: Option<String>,
        event_types: Option<Vec<String>>,
        description: Option<Option<String>>,
    ) {
        if let Some(url) = url.filter(|url| *url != self.url) {
            self.url = url;
            // Failures of the previous receiver do not count for the new one.
            self.failing_since = None;
        }
        if let Some(event_types) = event_types {
            self.event_types = event_types;
        }
        if let Some(description) = description {
            self.description = description;
        }
    }

    fn record_failure(&mut self, disable_after_s: i64, now: Timestamp) {
        if self.status != SubscriptionStatus::Active {
            return;
        }
        let since = *self.failing_since.get_or_insert(now);
        if now >= since.plus_s(disable_after_s) {
            self.status = SubscriptionStatus::Disabled;
        }
    }
}

#[cfg(test)]
mod tests;
