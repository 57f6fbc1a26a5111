//! The receiver of a delivery attempt, and what attempts change about its subscription.

use crate::webhook::endpoint::Endpoint;
use host_domain::time::Timestamp;
use host_domain::webhook::{Subscription, SubscriptionEvent};
use secrecy::SecretString;
use std::collections::HashSet;
use std::sync::Arc;

/// The decrypted signing secrets of a subscription.
pub struct ActiveSecrets {
    pub current: SecretString,
    /// The previous secret, and the time until which it signs, too.
    pub previous: Option<(SecretString, Timestamp)>,
}

impl ActiveSecrets {
    pub fn valid_at(&self, now: Timestamp) -> impl Iterator<Item = &SecretString> {
        let previous = self.previous.iter().filter(move |(_, until)| now < *until);
        std::iter::once(&self.current).chain(previous.map(|(secret, _)| secret))
    }
}

/// A subscription as it was when its deliveries were claimed.
pub struct Recipient {
    pub subscription: Subscription,
    pub secrets: ActiveSecrets,
    pub endpoint: Arc<Endpoint>,
}

impl Recipient {
    /// Returns whether an event changes the stored subscription, as far as this is known without
    /// reading it. Most attempts change nothing.
    fn changes_subscription(&self, event: &SubscriptionEvent, now: Timestamp) -> bool {
        let failed_here = match event {
            SubscriptionEvent::DeliverySucceeded => self.endpoint.record_success(),
            SubscriptionEvent::DeliveryFailed { .. } => {
                self.endpoint.record_failure();
                false
            }
            _ => false,
        };
        let subscription = self.subscription.clone();
        failed_here || subscription.apply(event.clone(), now).is_some()
    }
}

/// Subscription updates to persist, deduplicated.
#[derive(Default)]
pub struct SubscriptionUpdates<'a> {
    /// Subscriptions whose receivers accepted a delivery. They are stored together with the
    /// deliveries, because no later attempt repeats this update.
    pub succeeded: Vec<&'a Subscription>,
    /// The other updates, applied after that.
    pub others: Vec<(&'a Subscription, &'a SubscriptionEvent)>,
}

impl<'a> SubscriptionUpdates<'a> {
    pub fn collect(
        events: impl Iterator<Item = (&'a Recipient, &'a SubscriptionEvent)>,
        now: Timestamp,
    ) -> Self {
        let (mut updates, mut collected) = (Self::default(), HashSet::new());
        for (recipient, event) in events {
            let subscription = &recipient.subscription;
            let is_change = recipient.changes_subscription(event, now);
            if !is_change || !collected.insert((&subscription.id, event.name())) {
                continue;
            }
            match event {
                SubscriptionEvent::DeliverySucceeded => updates.succeeded.push(subscription),
                event => updates.others.push((subscription, event)),
            }
        }
        updates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn previous_secret_signs_until_it_expires() {
        let until = Timestamp(1_800_000_000_000);
        let secrets = ActiveSecrets {
            current: "new".into(),
            previous: Some(("old".into(), until)),
        };
        assert_eq!(secrets.valid_at(until.plus_ms(-1)).count(), 2);
        assert_eq!(secrets.valid_at(until).count(), 1);
    }
}
