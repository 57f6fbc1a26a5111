//! The timeline of a booking, from all tables that name it.

use crate::console::open_outcome_condition;
use crate::statement::{Row, statement};
use crate::{DatabaseError, Store};
use host_domain::audit::AuditAction;
use host_domain::booking::BookingStatus;
use host_domain::console::booking::{
    TimelineCall, TimelineContent, TimelineDelivery, TimelineEntry, TimelineRequest,
    TimelineTransition,
};
use host_domain::id::{BookingId, DeliveryId, EventId};
use host_domain::owner::Tenant;
use host_domain::remote_call::AttemptOutcome;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use host_domain::webhook::DeliveryStatus;

impl Store {
    /// Returns the latest `limit` entries of a booking's timeline, oldest first. Calls that were sent
    /// after `sent_before` are in progress, so their outcomes are not open.
    pub async fn booking_timeline(
        &self,
        tenant: &Tenant,
        booking: &BookingId,
        sent_before: Timestamp,
        limit: u32,
    ) -> Result<Vec<TimelineEntry>, DatabaseError> {
        let parts = timeline_parts(&open_outcome_condition("$5"));
        let select = statement!(
            format!("{parts} ORDER BY at DESC, place DESC, number DESC LIMIT $4"),
            tenant,
            booking.as_str(),
            limit,
            sent_before,
        );
        let mut entries = self.read_all(select, read).await?;
        entries.reverse();
        Ok(entries)
    }
}

/// Returns the statement without its order. Each part reads one table. `place` orders entries of the
/// same millisecond: a call of the API causes a transition, which causes a call to the supplier and an
/// event. The id of a delivery is made of those of its event and its subscription. Organization and
/// mode of a request are compared as expressions, because its primary key would read all requests of
/// the organization. A change is in the audit log or, for about a second, among the pending ones.
fn timeline_parts(is_open: &str) -> String {
    format!(
        "SELECT 'request' AS kind, 1 AS place, at, status AS number, request_id AS id, \
           route AS name, method AS subject, CAST(NULL AS TEXT) AS status, code AS reason, \
           CAST(NULL AS TEXT) AS reference, duration_us AS duration, \
           CAST(0 AS BIGINT) AS is_open \
         FROM request_log \
         WHERE booking_id = $3 AND organization || '' = $1 AND mode || '' = $2 \
         UNION ALL \
         SELECT 'transition', 2, occurred_at, sequence, from_status, event, '', to_status, reason, \
           NULL, NULL, 0 \
         FROM booking_history WHERE organization = $1 AND mode = $2 AND booking_id = $3 \
         UNION ALL \
         SELECT 'call', 3, last_sent_at, attempt_number, id, step, target, outcome, evidence, \
           client_reference, finished_at, CASE WHEN {is_open} THEN 1 ELSE 0 END \
         FROM remote_call_attempt WHERE booking_id = $3 AND organization = $1 AND mode = $2 \
         UNION ALL \
         SELECT 'event', 4, created_at, 0, id, event_type, '', NULL, NULL, NULL, NULL, 0 \
         FROM outbox WHERE booking_id = $3 AND organization = $1 AND mode = $2 \
         UNION ALL \
         SELECT 'delivery', 5, COALESCE(a.created_at, d.created_at), \
           COALESCE(a.response_status, 0), d.id, o.event_type, s.url, d.status, \
           COALESCE(a.error, d.failure_reason), NULL, a.duration_ms, 0 \
         FROM outbox AS o JOIN webhook_subscription AS s \
           ON s.organization = o.organization AND s.mode = o.mode \
         JOIN webhook_delivery AS d ON d.organization = o.organization AND d.mode = o.mode \
           AND d.id = 'dlv_' || substr(o.id, 5) || '-' || substr(s.id, 5) \
         LEFT JOIN webhook_delivery_attempt AS a \
           ON a.organization = d.organization AND a.mode = d.mode AND a.delivery_id = d.id \
           AND a.generation = d.generation AND a.attempt_number = d.attempt_count \
         WHERE o.booking_id = $3 AND o.organization = $1 AND o.mode = $2 \
         UNION ALL \
         SELECT 'action', 6, at, sequence, NULL, action, \
           COALESCE(NULLIF(actor_name, ''), actor_id), NULL, NULL, NULL, NULL, 0 \
         FROM audit_log WHERE target_id = $3 AND organization = $1 AND mode = $2 \
         UNION ALL \
         SELECT 'action', 7, at, 0, NULL, {{json body}} ->> 'action', \
           COALESCE(NULLIF({{json body}} -> 'actor' ->> 'name', ''), \
             {{json body}} -> 'actor' ->> 'id'), NULL, NULL, NULL, NULL, 0 \
         FROM audit_pending WHERE {{json body}} -> 'target' ->> 'id' = $3 \
           AND {{json body}} ->> 'organization' = $1 AND {{json body}} ->> 'mode' = $2"
    )
}

/// The table of an entry.
enum EntryKind {
    Request,
    Transition,
    Call,
    Event,
    Delivery,
    Action,
}

fn parse_kind(name: &str) -> Option<EntryKind> {
    match name {
        "request" => Some(EntryKind::Request),
        "transition" => Some(EntryKind::Transition),
        "call" => Some(EntryKind::Call),
        "event" => Some(EntryKind::Event),
        "delivery" => Some(EntryKind::Delivery),
        "action" => Some(EntryKind::Action),
        _ => None,
    }
}

fn read(row: &Row) -> Result<TimelineEntry, DatabaseError> {
    let content = match row.enum_value("kind", parse_kind)? {
        EntryKind::Request => TimelineContent::Request(read_request(row)?),
        EntryKind::Transition => TimelineContent::Transition(read_transition(row)?),
        EntryKind::Call => TimelineContent::Call(read_call(row)?),
        EntryKind::Event => TimelineContent::Event {
            id: row.parsed("id", EventId::parse)?,
            event_type: row.get("name")?,
        },
        EntryKind::Delivery => TimelineContent::Delivery(read_delivery(row)?),
        EntryKind::Action => TimelineContent::Action {
            action: row.enum_value("name", AuditAction::parse)?,
            actor: row.get("subject")?,
        },
    };
    Ok(TimelineEntry {
        at: row.timestamp("at")?,
        content,
    })
}

fn read_request(row: &Row) -> Result<TimelineRequest, DatabaseError> {
    Ok(TimelineRequest {
        request_id: row.get("id")?,
        method: row.get("subject")?,
        route: row.get("name")?,
        status: http_status(row)?.unwrap_or_default(),
        duration_us: row.get("duration")?,
        code: row.get("reason")?,
    })
}

fn read_transition(row: &Row) -> Result<TimelineTransition, DatabaseError> {
    let from_status: Option<String> = row.get("id")?;
    Ok(TimelineTransition {
        event: row.get("name")?,
        from_status: from_status.as_deref().and_then(BookingStatus::parse),
        to_status: row.enum_value("status", BookingStatus::parse)?,
        reason: row.get("reason")?,
    })
}

fn read_call(row: &Row) -> Result<TimelineCall, DatabaseError> {
    Ok(TimelineCall {
        step: row.get("name")?,
        target: row.parsed("subject", SupplierId::parse)?,
        client_reference: row.get("reference")?,
        outcome: row.enum_value("status", AttemptOutcome::parse)?,
        evidence: row.get("reason")?,
        finished_at: row.timestamp_opt("duration")?,
        is_open: row.get::<i64>("is_open")? != 0,
    })
}

fn read_delivery(row: &Row) -> Result<TimelineDelivery, DatabaseError> {
    Ok(TimelineDelivery {
        id: row.parsed("id", DeliveryId::parse)?,
        event_type: row.get("name")?,
        url: row.get::<Option<String>>("subject")?.unwrap_or_default(),
        status: row.enum_value("status", DeliveryStatus::parse)?,
        response_status: http_status(row)?,
        duration_ms: row.get("duration")?,
        error: row.get("reason")?,
    })
}

/// Returns the status code of a response, if there was one.
fn http_status(row: &Row) -> Result<Option<u16>, DatabaseError> {
    let status = u16::try_from(row.get::<i64>("number")?).ok();
    Ok(status.filter(|status| *status > 0))
}
