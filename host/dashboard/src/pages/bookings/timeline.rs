//! Texts of the entries of a booking's timeline.

use crate::path_text::path_segment;
use crate::text::{booking_state, duration_us, words};
use crate::timeline::{TimelineEvent, TimelineLink};
use host_application::booking::engine::DECIDE_REFUND_STEP;
use host_domain::audit::AuditAction;
use host_domain::console::booking::{
    TimelineCall, TimelineContent, TimelineDelivery, TimelineEntry, TimelineRequest,
    TimelineTransition,
};
use host_domain::id::BookingId;
use host_domain::remote_call::AttemptOutcome;
use host_domain::time::Timestamp;
use host_domain::webhook::DeliveryStatus;

/// Steps that call a payment processor. All others call the supplier.
const PAYMENT_STEPS: [&str; 6] = [
    "authorize",
    "capture",
    "void",
    "find_payment",
    "refund",
    "find_refund",
];

/// Returns an entry in words. `booking` is the booking of the timeline.
pub(super) fn timeline_event(entry: TimelineEntry, booking: &BookingId) -> TimelineEvent {
    let neutral = TimelineEvent {
        at: entry.at,
        tone: "",
        source: "",
        title: String::new(),
        detail: String::new(),
        links: Vec::new(),
    };
    match entry.content {
        TimelineContent::Request(content) => request(content, neutral),
        TimelineContent::Transition(content) => transition(content, neutral),
        TimelineContent::Call(content) => call(content, neutral, booking),
        TimelineContent::Event { id, event_type } => TimelineEvent {
            source: "Webhook",
            title: format!("{event_type} published"),
            links: vec![link("Event", format!("/events/{id}"))],
            ..neutral
        },
        TimelineContent::Delivery(content) => delivery(content, neutral),
        TimelineContent::Action { action, actor } => TimelineEvent {
            source: "Person",
            title: action_words(action),
            detail: actor,
            ..neutral
        },
    }
}

fn link(label: &str, path: String) -> TimelineLink {
    TimelineLink {
        label: label.to_owned(),
        path,
    }
}

/// Joins those parts that are not empty.
fn join(parts: impl IntoIterator<Item = String>) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" · ")
}

fn request(request: TimelineRequest, neutral: TimelineEvent) -> TimelineEvent {
    let took = duration_us(request.duration_us.unsigned_abs());
    let path = format!("/requests/{}", path_segment(&request.request_id));
    TimelineEvent {
        tone: if request.status >= 400 { "bad" } else { "" },
        source: "API",
        title: format!("{} {}", request.method, request.route),
        detail: join([
            format!("{} in {took}", request.status),
            request.code.unwrap_or_default(),
        ]),
        links: vec![link(&request.request_id, path)],
        ..neutral
    }
}

fn transition(transition: TimelineTransition, neutral: TimelineEvent) -> TimelineEvent {
    let to = booking_state(transition.to_status);
    let is_change = transition.from_status != Some(transition.to_status);
    let from = transition.from_status.filter(|_| is_change);
    let statuses = match from.map(booking_state) {
        Some(from) => format!("{} → {}", from.label, to.label),
        None if is_change => to.label.to_owned(),
        None => String::new(),
    };
    TimelineEvent {
        tone: if is_change { to.tone } else { "" },
        source: "Booking",
        title: words(&transition.event),
        detail: join([statuses, transition.reason.unwrap_or_default()]),
        ..neutral
    }
}

/// Returns the link to the list of unknown outcomes, if it has the call.
fn settle_link(call: &TimelineCall, booking: &BookingId) -> Vec<TimelineLink> {
    let settle = || link("Settle", format!("/unresolved?booking={booking}"));
    call.is_open.then(settle).into_iter().collect()
}

/// Returns the entry of a refund whose amount an operator decides. Nothing was sent for it.
fn refund_decision(
    call: TimelineCall,
    neutral: TimelineEvent,
    booking: &BookingId,
) -> TimelineEvent {
    let (tone, word) = match call.outcome.is_unresolved() {
        true => ("wait", "undecided"),
        false => ("good", "decided"),
    };
    TimelineEvent {
        tone,
        source: "Booking",
        title: format!("Amount of the refund {word}"),
        links: settle_link(&call, booking),
        detail: join([
            took(&call, neutral.at),
            call.evidence.unwrap_or_default(),
            format!("reference {}", call.client_reference),
        ]),
        ..neutral
    }
}

/// Returns how long a call took, or an empty text.
fn took(call: &TimelineCall, sent_at: Timestamp) -> String {
    let took = call.finished_at.map(|at| at.since(sent_at));
    took.map_or_else(String::new, |ms| format!("after {}", milliseconds(ms)))
}

fn call(call: TimelineCall, neutral: TimelineEvent, booking: &BookingId) -> TimelineEvent {
    if call.step == DECIDE_REFUND_STEP {
        return refund_decision(call, neutral, booking);
    }
    let (tone, word) = match call.outcome {
        AttemptOutcome::Sent => ("wait", "sent, no answer yet"),
        AttemptOutcome::Succeeded => ("good", "succeeded"),
        AttemptOutcome::Refused => ("bad", "refused"),
        AttemptOutcome::NotSent => ("bad", "had no effect"),
        AttemptOutcome::Unknown => ("wait", "outcome unknown"),
    };
    TimelineEvent {
        tone,
        source: if PAYMENT_STEPS.contains(&call.step.as_str()) {
            "Payment"
        } else {
            "Supplier"
        },
        title: format!("{} at {}: {word}", words(&call.step), call.target),
        links: settle_link(&call, booking),
        detail: join([
            took(&call, neutral.at),
            call.evidence.unwrap_or_default(),
            format!("reference {}", call.client_reference),
        ]),
        ..neutral
    }
}

fn delivery(delivery: TimelineDelivery, neutral: TimelineEvent) -> TimelineEvent {
    let was_tried = delivery.response_status.is_some() || delivery.error.is_some();
    let (tone, word) = match delivery.status {
        DeliveryStatus::Pending => ("wait", "waiting"),
        DeliveryStatus::Published if was_tried => ("wait", "waiting for its next attempt"),
        DeliveryStatus::Published => ("wait", "being sent"),
        DeliveryStatus::Delivered => ("good", "delivered"),
        DeliveryStatus::Failed => ("bad", "failed"),
    };
    let response = match (delivery.response_status, delivery.duration_ms) {
        (Some(status), Some(ms)) => format!("{status} in {}", milliseconds(ms)),
        (Some(status), None) => status.to_string(),
        (None, _) => String::new(),
    };
    let error = delivery.error.as_deref().map(words).unwrap_or_default();
    TimelineEvent {
        tone,
        source: "Webhook",
        title: format!("{} {word}", delivery.event_type),
        detail: join([delivery.url, response, error]),
        links: vec![link("Delivery", format!("/deliveries/{}", delivery.id))],
        ..neutral
    }
}

fn milliseconds(ms: i64) -> String {
    duration_us(ms.unsigned_abs().saturating_mul(1000))
}

fn action_words(action: AuditAction) -> String {
    match action {
        AuditAction::BookingRevealed => "Personal data revealed".to_owned(),
        other => words(other.as_str()),
    }
}
