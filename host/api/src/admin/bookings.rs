//! Bookings of all organizations on the admin listener, without personal data.

use crate::admin::parameter::{
    page_json, page_request, parse, search_text, tenant_scope, with_members,
};
use crate::error_code::ErrorCode;
use crate::problem::ApiError;
use axum::Json;
use axum::extract::{Path, Query, State};
use host_application::booking::reader::BookingReader;
use host_domain::booking::{Booking, BookingKind, BookingStatus};
use host_domain::console::AnyBooking;
use host_domain::console::booking::{
    AnyBookingKind, BookingScopeFilter, TimelineCall, TimelineContent, TimelineDelivery,
    TimelineEntry, TimelineRequest, TimelineTransition,
};
use host_domain::id::BookingId;
use host_domain::money::Money;
use host_domain::payment::Payment;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use host_resources::payment;
use host_resources::value::MoneyResource;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Filter of the bookings. Absent fields mean any.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BookingsQuery {
    /// `test`, the default, or `live`.
    mode: Option<String>,
    organization: Option<String>,
    /// Id, supplier's reference or client's reference.
    q: Option<String>,
    status: Option<String>,
    /// `hotel` or `flight`.
    kind: Option<String>,
    supplier: Option<String>,
    user: Option<String>,
    /// Earliest time of creation, RFC 3339.
    from: Option<String>,
    /// Latest time of creation, RFC 3339.
    to: Option<String>,
    /// The `next` of the previous page.
    after: Option<String>,
    /// Maximum number of bookings, at most 500.
    limit: Option<u32>,
}

/// `GET /bookings`: lists bookings, latest first.
pub(super) async fn list(
    State(bookings): State<Arc<BookingReader>>,
    Query(query): Query<BookingsQuery>,
) -> Result<Json<Value>, ApiError> {
    let scope = tenant_scope(query.organization, query.mode)?;
    let filter = BookingScopeFilter {
        kind: parse(query.kind, "kind", AnyBookingKind::parse)?,
        status: parse(query.status, "status", BookingStatus::parse)?,
        supplier: parse(query.supplier, "supplier", |id| SupplierId::parse(id).ok())?,
        user: parse(query.user, "user", search_text)?,
        reference: parse(query.q, "q", search_text)?,
        created_from: parse(query.from, "from", Timestamp::parse)?,
        created_to: parse(query.to, "to", Timestamp::parse)?,
    };
    let page = page_request(query.after, query.limit)?;
    let found = bookings.list_unscoped(&scope, &filter, &page).await;
    let found = found.map_err(ApiError::from_storage)?;
    Ok(page_json(found.map(|booking| any_json(&booking))))
}

/// `GET /bookings/{id}`: a booking with its payments and its timeline, oldest entry first.
pub(super) async fn show(
    State(bookings): State<Arc<BookingReader>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let not_found = || ApiError::from(ErrorCode::BookingNotFound);
    let id = BookingId::parse(&id).map_err(|_| not_found())?;
    let found = bookings.find_unscoped(&id).await;
    let found = found.map_err(ApiError::from_storage)?;
    let found = found.ok_or_else(not_found)?;
    let payments: Vec<Value> = found.booking.payments().iter().map(payment_json).collect();
    let timeline: Vec<Value> = found.timeline.into_iter().map(entry_json).collect();
    let details = json!({ "payments": payments, "timeline": timeline });
    let booking = with_members(any_json(&found.booking), details);
    Ok(Json(json!({ "data": booking })))
}

fn any_json(booking: &AnyBooking) -> Value {
    match booking {
        AnyBooking::Hotel(hotel) => {
            let total = Some(hotel.details.total);
            booking_json(hotel, AnyBookingKind::Hotel, total)
        }
        AnyBooking::Flight(flight) => booking_json(flight, AnyBookingKind::Flight, flight.total()),
    }
}

fn booking_json<K: BookingKind>(
    booking: &Booking<K>,
    kind: AnyBookingKind,
    total: Option<Money>,
) -> Value {
    let owner = &booking.owner;
    let text = |at: Option<Timestamp>| at.map(|at| at.to_string());
    json!({
        "id": booking.id.as_str(),
        "organization": owner.tenant.organization,
        "mode": owner.tenant.mode.as_str(),
        "user_id": owner.user,
        "kind": kind.as_str(),
        "status": booking.status().as_str(),
        "supplier": booking.supplier.as_str(),
        "supplier_reference": booking.supplier_reference,
        "reference_id": booking.reference_id,
        "total": total.map(MoneyResource::from),
        "created_at": booking.created_at.to_string(),
        "updated_at": booking.updated_at.to_string(),
        "confirmed_at": text(booking.confirmed_at),
        "canceled_at": text(booking.canceled_at),
    })
}

fn payment_json(payment: &Payment) -> Value {
    let references = json!({
        "processor": payment.processor.as_str(),
        "processor_reference": payment.processor_reference,
    });
    with_members(json!(payment::payment_without_cards(payment)), references)
}

fn entry_json(entry: TimelineEntry) -> Value {
    let content = match entry.content {
        TimelineContent::Request(request) => request_json(request),
        TimelineContent::Transition(transition) => transition_json(transition),
        TimelineContent::Call(call) => call_json(call),
        TimelineContent::Event { id, event_type } => {
            json!({ "kind": "event", "event": id.as_str(), "event_type": event_type })
        }
        TimelineContent::Delivery(delivery) => delivery_json(delivery),
        TimelineContent::Action { action, actor } => {
            json!({ "kind": "action", "action": action.as_str(), "actor": actor })
        }
    };
    with_members(content, json!({ "at": entry.at.to_string() }))
}

fn request_json(request: TimelineRequest) -> Value {
    json!({
        "kind": "request",
        "request_id": request.request_id,
        "method": request.method,
        "route": request.route,
        "status": request.status,
        "duration_us": request.duration_us,
        "code": request.code,
    })
}

fn transition_json(transition: TimelineTransition) -> Value {
    json!({
        "kind": "transition",
        "event": transition.event,
        "from_status": transition.from_status.map(BookingStatus::as_str),
        "to_status": transition.to_status.as_str(),
        "reason": transition.reason,
    })
}

fn call_json(call: TimelineCall) -> Value {
    json!({
        "kind": "call",
        "step": call.step,
        "target": call.target.as_str(),
        "client_reference": call.client_reference,
        "outcome": call.outcome.as_str(),
        "evidence": call.evidence,
        "finished_at": call.finished_at.map(|at| at.to_string()),
    })
}

fn delivery_json(delivery: TimelineDelivery) -> Value {
    json!({
        "kind": "delivery",
        "delivery": delivery.id.as_str(),
        "event_type": delivery.event_type,
        "url": delivery.url,
        "status": delivery.status.as_str(),
        "response_status": delivery.response_status,
        "duration_ms": delivery.duration_ms,
        "error": delivery.error,
    })
}
