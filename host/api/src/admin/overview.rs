//! The figures of the overview on the admin listener.

use crate::admin::parameter::{parse, tenant_scope, with_members};
use crate::admin::suppliers::calls_json;
use crate::problem::ApiError;
use axum::Json;
use axum::extract::{Query, State};
use host_application::reporting::overview::{
    Overview, OverviewReader, OverviewWindow, WindowStatistics,
};
use host_application::supplier::plugin_report::SupplierSummary;
use host_domain::console::{BookingCount, OpenItem};
use host_domain::money::Money;
use host_domain::statistics::{CallStatistics, RemarkableCall, StatisticsGroup, StatisticsSubject};
use host_domain::time::Timestamp;
use host_resources::value::MoneyResource;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The window of time, and the tenants whose rows are counted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OverviewQuery {
    /// `hour`, the default, `day` or `week`.
    window: Option<String>,
    /// `test`, the default, or `live`.
    mode: Option<String>,
    organization: Option<String>,
}

/// `GET /overview`: work that waits for a person, and the calls and bookings of a window of time.
/// With an organization, of the parked jobs those whose subject belongs to it.
pub(super) async fn show(
    State(overview): State<Arc<OverviewReader>>,
    Query(query): Query<OverviewQuery>,
) -> Result<Json<Value>, ApiError> {
    let scope = tenant_scope(query.organization, query.mode)?;
    let window = parse(query.window, "window", OverviewWindow::parse)?;
    let window = window.unwrap_or(OverviewWindow::Hour);
    let read = overview.read(&scope, window, true).await;
    let read = read.map_err(ApiError::from_storage)?;
    Ok(Json(json!({ "data": overview_json(&read, window) })))
}

/// Renders the overview. `traffic` and `bookings` are `null` while they are being counted.
fn overview_json(overview: &Overview, window: OverviewWindow) -> Value {
    let (counts, traffic) = (overview.counts, &overview.traffic);
    let bookings = overview.bookings.as_deref();
    json!({
        "at": overview.at.to_string(),
        "window": window.as_str(),
        "unknown_outcomes": counts.open_outcomes,
        "oldest_outcome_at": text(counts.oldest_outcome_at),
        "waiting_deliveries": counts.waiting_deliveries,
        "oldest_delivery_at": text(counts.oldest_delivery_at),
        "parked_jobs": counts.parked_jobs,
        "active_keys": counts.active_keys,
        "open_items": list(&overview.open_items, item_json),
        "suppliers": list(&overview.suppliers, supplier_json),
        "traffic": traffic.statistics.as_ref().map(traffic_json),
        "remarkable_calls": list(&traffic.remarkable, remarkable_json),
        "bookings": bookings.map(|counts| list(counts, booking_count_json)),
        "booked": list(&traffic.booked, booked_json),
    })
}

fn list<T>(items: &[T], render: impl Fn(&T) -> Value) -> Vec<Value> {
    items.iter().map(render).collect()
}

fn text(at: Option<Timestamp>) -> Option<String> {
    at.map(|at| at.to_string())
}

fn item_json(item: &OpenItem) -> Value {
    match item {
        OpenItem::Outcome {
            booking,
            step,
            target,
            sent_at,
        } => json!({
            "kind": "outcome",
            "booking_id": booking.as_str(),
            "step": step,
            "supplier": target.as_str(),
            "sent_at": sent_at.to_string(),
        }),
        OpenItem::Job {
            kind,
            subject,
            attempts,
            parked_at,
        } => json!({
            "kind": "job",
            "job": kind,
            "subject": subject,
            "attempts": attempts,
            "parked_at": parked_at.to_string(),
        }),
        OpenItem::Key {
            id,
            name,
            masked_key,
            expires_at,
        } => json!({
            "kind": "api_key",
            "id": id.as_str(),
            "name": name,
            "masked_key": masked_key,
            "expires_at": expires_at.to_string(),
        }),
        OpenItem::Webhook {
            id,
            url,
            is_disabled,
            since,
        } => json!({
            "kind": "webhook",
            "id": id.as_str(),
            "url": url,
            "disabled": is_disabled,
            "since": since.to_string(),
        }),
    }
}

fn supplier_json(supplier: &SupplierSummary) -> Value {
    json!({
        "id": supplier.id.as_str(),
        "health": supplier.health,
        "version": supplier.version,
    })
}

/// Renders the API calls of the window: together, by minute or hour, and by route, and the calls of
/// suppliers by function. Minutes and hours without calls are left out.
fn traffic_json(statistics: &WindowStatistics) -> Value {
    let of = |subject, render: fn(&StatisticsGroup) -> Value| -> Vec<Value> {
        let groups = statistics.groups.iter();
        let groups = groups.filter(|group| group.subject == subject);
        groups
            .map(|group| with_members(render(group), calls_json(&group.calls)))
            .collect()
    };
    let groups = statistics.groups.iter();
    let mut total = CallStatistics::default();
    for group in groups.filter(|group| group.subject == StatisticsSubject::Total) {
        total.add(&group.calls);
    }
    json!({
        "since": statistics.since.to_string(),
        "until": statistics.at.to_string(),
        "total": calls_json(&total),
        "by_time": of(StatisticsSubject::Total, |group| json!({ "at": group.at.to_string() })),
        "routes": of(StatisticsSubject::Route, |group| json!({ "route": group.name })),
        "suppliers": of(StatisticsSubject::Supplier, |group| {
            json!({ "supplier": group.name, "function": group.operation })
        }),
    })
}

fn remarkable_json(call: &RemarkableCall) -> Value {
    json!({
        "at": call.at.to_string(),
        "organization": call.tenant.organization,
        "supplier": call.supplier.as_str(),
        "function": call.operation,
        "reason": call.reason.as_str(),
        "request_id": call.request_id,
        "duration_us": call.duration_us,
        "outcome": call.outcome,
    })
}

fn booking_count_json(count: &BookingCount) -> Value {
    json!({
        "status": count.status.as_str(),
        "hotels": count.hotels,
        "flights": count.flights,
    })
}

fn booked_json((amount, bookings): &(Money, u64)) -> Value {
    json!({ "total": MoneyResource::from(*amount), "bookings": bookings })
}
