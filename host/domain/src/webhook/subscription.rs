//! A subscription: where events of a product go, and whether they are sent.

use crate::event::Product;
use crate::id::SubscriptionId;
use crate::owner::Tenant;
use crate::time::Timestamp;

/// Stands for every type of the product, also those that come later.
pub const WILDCARD_EVENT_TYPE: &str = "*";

/// Whether a subscription's deliveries are sent. While it is not ACTIVE they are
/// recorded, and wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SubscriptionStatus {
    /// They are.
    Active,
    /// They wait: the caller said so, or the receiver answered 410.
    Paused,
    /// They wait: nothing succeeded for days.
    Disabled,
}

impl SubscriptionStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Active, Self::Paused, Self::Disabled];

    /// The name in the API, e.g. `ACTIVE`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Paused => "PAUSED",
            Self::Disabled => "DISABLED",
        }
    }

    /// The status of this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|status| status.as_str() == text)
    }
}

/// Where events of a product go. Its secrets are not here: they are sealed, and
/// only whoever signs opens them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Its id.
    pub id: SubscriptionId,
    /// Whose.
    pub tenant: Tenant,
    /// Events of what.
    pub product: Product,
    /// Where they go, as the caller wrote it.
    pub url: String,
    /// Names of event types, or [`EVERY_TYPE`].
    pub event_types: Vec<String>,
    /// The caller's note.
    pub description: Option<String>,
    /// Whether deliveries are sent.
    pub status: SubscriptionStatus,
    /// The first failure since the last success.
    pub failing_since: Option<Timestamp>,
    /// Until then the secret before this one signs too.
    pub previous_secret_expires_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When what its owner sees of it changed last.
    pub updated_at: Timestamp,
    /// Counts its changes.
    pub version: i64,
}

/// What happens to a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubscriptionEvent {
    /// The caller changed it; none: stays as it is.
    Changed {
        /// Another address.
        url: Option<String>,
        /// Other types.
        event_types: Option<Vec<String>>,
        /// Another note, or none any more.
        description: Option<Option<String>>,
    },
    /// The caller wants nothing sent for now.
    Paused,
    /// The caller wants it sent again.
    Resumed,
    /// It has a new secret.
    Rotated {
        /// Until then the one before signs too.
        previous_secret_expires_at: Timestamp,
    },
    /// The receiver took an event.
    DeliverySucceeded,
    /// The receiver did not take an event.
    DeliveryFailed {
        /// So long without a success disables it.
        disable_after_s: i64,
    },
    /// The receiver answered that it is gone for good.
    EndpointGone {
        /// When what its owner sees had changed last as it was sent.
        updated_at: Timestamp,
    },
}

impl SubscriptionEvent {
    /// Its name in logs and in the table of the machine.
    #[must_use]
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
    /// A new subscription, ACTIVE.
    #[must_use]
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

    /// Moves it. None: nothing about it changes, which is no error, so that asking
    /// twice is as good as asking once.
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
            SubscriptionEvent::DeliveryFailed { disable_after_s } => self.record_failure(disable_after_s, now),
            // What was sent before the caller decided otherwise changes nothing.
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
            // What another receiver did says nothing about this one.
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
