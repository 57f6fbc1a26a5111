//! Contents of the pages of one delivery and of one event.

use crate::error::PageError;
use crate::page::PageContext;
use crate::pages::deliveries::view::{DeliveryRow, delivery_rows, delivery_state};
use crate::text::{State, TimeText, duration_us, number};
use askama::Template;
use host_application::console::deliveries::{ConsoleDeliveryError, DeliveryView, EventView};
use host_application::webhook::error::WebhookError;
use host_application::webhook::unscoped_delivery::DeliveryHistory;
use host_domain::time::Timestamp;
use host_domain::webhook::{
    Delivery, DeliveryAttempt, DeliveryFailureReason, DeliveryStatus, SubscriptionStatus,
};

#[derive(Template)]
#[template(path = "delivery.html")]
pub(super) struct DeliveryDetailsPage {
    pub(super) page: PageContext,
    /// Why nothing was changed.
    pub(super) alert: Option<String>,
    pub(super) id: String,
    pub(super) state: State,
    /// The next step of the delivery, or the reason why it failed.
    pub(super) explanation: String,
    pub(super) next_attempt: Option<TimeText>,
    pub(super) organization: String,
    pub(super) event_type: String,
    pub(super) event: String,
    pub(super) webhook: String,
    pub(super) url: String,
    pub(super) created: TimeText,
    pub(super) delivered: Option<TimeText>,
    pub(super) failed: Option<TimeText>,
    /// The number of replays, empty for none.
    pub(super) replays: String,
    /// Latest first.
    pub(super) attempts: Vec<AttemptText>,
    pub(super) payload: String,
    pub(super) is_revealed: bool,
    pub(super) can_replay: bool,
    pub(super) can_reveal: bool,
}

/// An attempt with what was sent and what came back.
pub(super) struct AttemptText {
    /// Unique on the page.
    pub(super) id: String,
    pub(super) heading: String,
    pub(super) state: State,
    /// Status of the response, empty for none.
    pub(super) status: String,
    pub(super) at: TimeText,
    pub(super) duration: String,
    /// One header a line; empty if nothing was sent.
    pub(super) headers: String,
    /// The beginning of the body; empty if there was none.
    pub(super) response: String,
}

impl DeliveryDetailsPage {
    pub(super) fn new(page: PageContext, found: DeliveryView, now: Timestamp) -> Self {
        let time = |at| TimeText::new(at, now);
        let DeliveryHistory {
            subscription,
            delivery,
            event_type,
            attempts,
            payload,
        } = found.history;
        let is_active = subscription.status == SubscriptionStatus::Active;
        let attempts = attempts.into_iter();
        Self {
            page: page.titled(format!("Delivery {}", delivery.id)),
            alert: None,
            state: delivery_state(&delivery),
            explanation: explanation(&delivery, is_active),
            next_attempt: delivery.next_at().filter(|_| is_active).map(time),
            created: time(delivery.created_at),
            delivered: delivery.delivered_at().map(time),
            failed: delivery.failure().map(|(at, _)| time(at)),
            replays: match delivery.generation {
                ..=0 => String::new(),
                replays => number(replays.unsigned_abs()),
            },
            attempts: attempts
                .map(|(generation, attempt)| AttemptText::new(generation, attempt, now))
                .collect(),
            id: delivery.id.to_string(),
            event: delivery.event.to_string(),
            organization: subscription.tenant.organization,
            webhook: subscription.id.to_string(),
            url: subscription.url,
            event_type,
            payload,
            is_revealed: found.is_revealed,
            can_replay: found.can_replay,
            can_reveal: found.can_reveal && !found.is_revealed,
        }
    }
}

fn explanation(delivery: &Delivery, is_active: bool) -> String {
    let text = match (delivery.status(), delivery.failure()) {
        (DeliveryStatus::Delivered, _) => "The receiver accepted the event.",
        (DeliveryStatus::Failed, Some((_, reason))) => match reason {
            DeliveryFailureReason::RetriesExhausted => "The last of all attempts failed.",
            DeliveryFailureReason::UrlNotAllowed => {
                "The URL leads to an address to which the gateway does not connect."
            }
            DeliveryFailureReason::Gone => "The receiver answered 410 Gone.",
            DeliveryFailureReason::Expired => "It waited too long for its webhook.",
        },
        (DeliveryStatus::Failed, None) => "",
        (DeliveryStatus::Pending | DeliveryStatus::Published, _) if !is_active => {
            "It waits until the webhook is resumed."
        }
        (DeliveryStatus::Pending, _) => "It is sent in a moment.",
        (DeliveryStatus::Published, _) => "It is sent again until the receiver accepts it.",
    };
    text.to_owned()
}

impl AttemptText {
    fn new(generation: i64, attempt: DeliveryAttempt, now: Timestamp) -> Self {
        let headers = attempt.request_headers.iter();
        let headers: Vec<_> = headers
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        let us = attempt.duration_ms.unsigned_abs().saturating_mul(1000);
        let heading = match generation {
            ..=0 => format!("Attempt {}", attempt.number),
            replay => format!("Replay {replay}, attempt {}", attempt.number),
        };
        Self {
            id: format!("attempt-{generation}-{}", attempt.number),
            heading,
            state: attempt_state(&attempt),
            status: attempt
                .response_status
                .map_or_else(String::new, |status| status.to_string()),
            at: TimeText::new(attempt.created_at, now),
            duration: duration_us(us),
            headers: headers.join("\n"),
            response: attempt.response_body.unwrap_or_default(),
        }
    }
}

fn attempt_state(attempt: &DeliveryAttempt) -> State {
    let (tone, label) = match (attempt.response_status, attempt.error.as_deref()) {
        (Some(200..=299), _) => ("good", "Accepted"),
        (Some(_), _) => ("bad", "Refused"),
        (None, Some("timeout")) => ("bad", "Timed out"),
        (None, Some("connect")) => ("bad", "No connection"),
        (None, Some("url_not_allowed")) => ("bad", "Address not allowed"),
        (None, _) => ("bad", "Connection lost"),
    };
    State { tone, label }
}

#[derive(Template)]
#[template(path = "event.html")]
pub(super) struct EventDetailsPage {
    pub(super) page: PageContext,
    pub(super) id: String,
    pub(super) event_type: String,
    pub(super) organization: String,
    pub(super) booking: String,
    pub(super) created: TimeText,
    pub(super) payload: String,
    pub(super) is_revealed: bool,
    pub(super) can_reveal: bool,
    pub(super) deliveries: Vec<DeliveryRow>,
    /// The number of deliveries in words.
    pub(super) delivery_count: String,
}

impl EventDetailsPage {
    pub(super) fn new(page: PageContext, found: EventView, now: Timestamp) -> Self {
        let event = found.history;
        Self {
            page: page.titled(format!("Event {}", event.id)),
            id: event.id.to_string(),
            event_type: event.event_type,
            organization: event.tenant.organization,
            booking: event
                .booking
                .map_or_else(String::new, |booking| booking.to_string()),
            created: TimeText::new(event.created_at, now),
            payload: event.payload,
            can_reveal: found.can_reveal && !found.is_revealed,
            is_revealed: found.is_revealed,
            delivery_count: match event.deliveries.len() {
                1 => "1 delivery".to_owned(),
                deliveries => format!("{deliveries} deliveries"),
            },
            deliveries: delivery_rows(event.deliveries, now),
        }
    }
}

/// Returns why a delivery was not replayed.
///
/// # Errors
/// The failure has no place on the page.
pub(super) fn replay_alert(error: ConsoleDeliveryError) -> Result<String, PageError> {
    match error {
        ConsoleDeliveryError::Webhook(WebhookError::ReplayNotAllowed(_)) => {
            Ok("The delivery may still arrive by itself, so it is not replayed yet.".to_owned())
        }
        ConsoleDeliveryError::Webhook(WebhookError::SubscriptionNotActive) => {
            Ok("The webhook is not active. Resume it, then replay the delivery.".to_owned())
        }
        error => Err(error.into()),
    }
}
