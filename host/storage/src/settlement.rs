//! Calls with an unknown outcome as operators see them, and operators' decisions about them.

use crate::attempt::{self, Attempt};
use crate::condition::ConditionBuilder;
use crate::console::open_outcome_condition_in_scope;
use crate::statement::{Row, statement};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::console::{AnyBooking, TenantScope, UnresolvedFilter};
use host_domain::id::{AttemptId, BookingId, SettlementId};
use host_domain::money::{Currency, Money};
use host_domain::owner::Tenant;
use host_domain::page::{Cursor, CursorPage, CursorRequest};
use host_domain::settlement::{SettlementChoice, SettlementState};
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;

/// A decision of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettlementDecision {
    pub tenant: Tenant,
    pub id: SettlementId,
    pub booking_id: BookingId,
    /// The call that the decision is about.
    pub attempt_id: AttemptId,
    pub choice: SettlementChoice,
    /// The amount of [`SettlementChoice::Refund`].
    pub refund: Option<Money>,
    /// The supplier's or processor's id, if the operator gave one.
    pub reference: Option<String>,
    pub note: String,
    /// Name of the person or command that decided.
    pub decided_by: String,
    pub decided_at: Timestamp,
    pub state: SettlementState,
    /// Why the decision was superseded, or who withdrew it.
    pub result: Option<String>,
    /// State of the booking that the operator saw. `None` if the decision is about any state.
    pub seen_state: Option<String>,
}

/// A call with its booking, and the decision about it that waits for the end of a lookup.
#[derive(Debug, Clone)]
pub struct UnresolvedAttempt {
    pub attempt: Attempt,
    /// Evidence of the call itself, in one sentence. The attempt has the evidence of the last lookup.
    pub first_evidence: Option<String>,
    pub booking: AnyBooking,
    pub waiting: Option<SettlementDecision>,
}

/// A decision with the call that it is about.
#[derive(Debug, Clone)]
pub struct RecentSettlement {
    pub decision: SettlementDecision,
    /// The name of the workflow step.
    pub step: String,
    /// The supplier or processor that was called.
    pub target: SupplierId,
}

impl UnitOfWork {
    /// Stores a decision. Fails with [`Conflict::SettlementWaiting`] if another decision about the
    /// call waits.
    pub fn insert_settlement(&mut self, decision: &SettlementDecision) -> &mut Self {
        let insert = statement!(
            "INSERT INTO settlement_decision (organization, mode, id, booking_id, attempt_id, \
             choice, amount_minor, currency, reference, note, decided_by, decided_at, state, \
             seen_state) \
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14 \
             WHERE NOT EXISTS (SELECT 1 FROM settlement_decision AS other \
               WHERE other.attempt_id = $5 AND other.organization = $1 AND other.mode = $2 \
               AND other.state = 'waiting') \
             ON CONFLICT DO NOTHING",
            &decision.tenant,
            decision.id.as_str(),
            decision.booking_id.as_str(),
            decision.attempt_id.as_str(),
            decision.choice.as_str(),
            decision.refund.map(|refund| refund.minor),
            decision.refund.map(|refund| refund.currency.code()),
            decision.reference.as_deref(),
            decision.note.as_str(),
            decision.decided_by.as_str(),
            decision.decided_at,
            decision.state.as_str(),
            decision.seen_state.as_deref(),
        );
        self.add_expecting_one(insert, Conflict::SettlementWaiting)
    }

    /// Ends a decision that waits. Fails with [`Conflict::SettlementEnded`] if it has ended.
    pub fn end_settlement(
        &mut self,
        tenant: &Tenant,
        id: &SettlementId,
        state: SettlementState,
        result: Option<&str>,
    ) -> &mut Self {
        let update = statement!(
            "UPDATE settlement_decision SET state = $4, result = $5 \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND state = 'waiting'",
            tenant,
            id.as_str(),
            state.as_str(),
            result,
        );
        self.add_expecting_one(update, Conflict::SettlementEnded)
    }
}

impl Store {
    /// Returns a page of the calls of a scope whose outcome is unknown, oldest first. Calls that
    /// were sent after `sent_before` are in progress, so they are left out.
    pub async fn unresolved_page(
        &self,
        scope: &TenantScope,
        filter: &UnresolvedFilter,
        sent_before: Timestamp,
        page: &CursorRequest,
    ) -> Result<CursorPage<UnresolvedAttempt>, DatabaseError> {
        // The index of open calls is small, and the primary key has all calls of an organization.
        let mut conditions = ConditionBuilder::for_scope_without_index(scope);
        conditions.add_some(
            "booking_id =",
            filter.booking.as_ref().map(BookingId::as_str),
        );
        conditions.add_some("target =", filter.target.as_ref().map(SupplierId::as_str));
        if let Some(after) = &page.after {
            let (at, id) = (
                conditions.bind(after.at),
                conditions.bind(after.id.as_str()),
            );
            conditions.add_text(format!("(last_sent_at, id) > ({at}, {id})"));
        }
        let condition = conditions.text();
        let open = open_outcome_condition_in_scope(&mut conditions, &condition, sent_before);
        let limit = conditions.bind(page.limit.saturating_add(1));
        let select = conditions.statement(with_bookings(&format!(
            "SELECT * FROM remote_call_attempt WHERE {open} \
             ORDER BY last_sent_at, id LIMIT {limit}"
        )));
        let position = |row: &UnresolvedAttempt| {
            let attempt = &row.attempt;
            Cursor::new(attempt.last_sent_at, attempt.call.id.as_str())
        };
        self.read_cursor_page(select, page, read_unresolved, position)
            .await
    }

    /// Returns a call about a booking of a scope, whatever its outcome.
    pub async fn attempt_with_booking(
        &self,
        scope: &TenantScope,
        booking: &BookingId,
        attempt: &AttemptId,
    ) -> Result<Option<UnresolvedAttempt>, DatabaseError> {
        let mut conditions = ConditionBuilder::for_scope(scope);
        conditions.add("booking_id =", booking.as_str());
        conditions.add("id =", attempt.as_str());
        let condition = conditions.text();
        let select = conditions.statement(with_bookings(&format!(
            "SELECT * FROM remote_call_attempt WHERE {condition}"
        )));
        self.read_optional(select, read_unresolved).await
    }

    /// Returns a decision.
    pub async fn settlement(
        &self,
        tenant: &Tenant,
        id: &SettlementId,
    ) -> Result<Option<SettlementDecision>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS} FROM settlement_decision AS d \
                 WHERE d.organization = $1 AND d.mode = $2 AND d.id = $3"
            ),
            tenant,
            id.as_str(),
        );
        self.read_optional(select, read_settlement).await
    }

    /// Returns the decisions about the calls of a booking that wait, or those about its call with
    /// this client reference. For operators.
    pub async fn waiting_settlements_unscoped(
        &self,
        booking: &BookingId,
        client_reference: Option<&str>,
    ) -> Result<Vec<SettlementDecision>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS} FROM settlement_decision AS d \
                 JOIN remote_call_attempt AS a ON a.organization = d.organization \
                   AND a.mode = d.mode AND a.id = d.attempt_id \
                 WHERE d.booking_id = $1 AND d.state = 'waiting' \
                   AND a.client_reference = COALESCE($2, a.client_reference) \
                 ORDER BY d.decided_at, d.id"
            ),
            booking.as_str(),
            client_reference,
        );
        self.read_all(select, read_settlement).await
    }

    /// Returns the latest decision about a call that was neither superseded nor withdrawn.
    pub async fn latest_settlement(
        &self,
        tenant: &Tenant,
        attempt: &AttemptId,
    ) -> Result<Option<SettlementDecision>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS} FROM settlement_decision AS d \
                 WHERE d.attempt_id = $3 AND d.organization = $1 AND d.mode = $2 \
                 AND d.state IN ('waiting', 'applied') ORDER BY d.decided_at DESC LIMIT 1"
            ),
            tenant,
            attempt.as_str(),
        );
        self.read_optional(select, read_settlement).await
    }

    /// Returns the latest decisions of a scope, latest first.
    pub async fn recent_settlements(
        &self,
        scope: &TenantScope,
        limit: u32,
    ) -> Result<Vec<RecentSettlement>, DatabaseError> {
        let mut conditions = ConditionBuilder::for_scope(scope);
        let condition = conditions.text();
        let limit = conditions.bind(limit);
        let select = conditions.statement(format!(
            "SELECT {COLUMNS}, a.step, a.target FROM \
             (SELECT * FROM settlement_decision WHERE {condition} \
              ORDER BY decided_at DESC, id DESC LIMIT {limit}) AS d \
             JOIN remote_call_attempt AS a \
               ON a.organization = d.organization AND a.mode = d.mode AND a.id = d.attempt_id \
             ORDER BY d.decided_at DESC, d.id DESC"
        ));
        self.read_all(select, read_recent).await
    }
}

const COLUMNS: &str = "d.organization, d.mode, d.booking_id, d.attempt_id, \
    d.id AS settlement_id, d.choice, d.amount_minor, d.currency, d.reference, d.note, \
    d.decided_by, d.decided_at, d.state, d.result, d.seen_state";

/// Adds the bookings and the waiting decisions to a selection of attempts. An attempt whose booking
/// was deleted is left out.
fn with_bookings(attempts: &str) -> String {
    format!(
        "SELECT a.*, hotel.document AS hotel_document, flight.document AS flight_document, \
           (SELECT h.reason FROM booking_history AS h \
            WHERE h.organization = a.organization AND h.mode = a.mode \
              AND h.booking_id = a.booking_id AND h.occurred_at > a.last_sent_at \
              AND h.reason IS NOT NULL ORDER BY h.sequence LIMIT 1) AS first_evidence, \
           d.attempt_id, d.id AS settlement_id, d.choice, d.amount_minor, d.currency, \
           d.reference, d.note, d.decided_by, d.decided_at, d.state, d.result, d.seen_state \
         FROM ({attempts}) AS a \
         LEFT JOIN hotel_booking AS hotel ON hotel.organization = a.organization \
           AND hotel.mode = a.mode AND hotel.id = a.booking_id \
         LEFT JOIN flight_booking AS flight ON flight.organization = a.organization \
           AND flight.mode = a.mode AND flight.id = a.booking_id \
         LEFT JOIN settlement_decision AS d ON d.attempt_id = a.id \
           AND d.organization = a.organization AND d.mode = a.mode AND d.state = 'waiting' \
         WHERE hotel.id IS NOT NULL OR flight.id IS NOT NULL \
         ORDER BY a.last_sent_at, a.id"
    )
}

fn read_unresolved(row: &Row) -> Result<UnresolvedAttempt, DatabaseError> {
    let has_decision = row.get::<Option<String>>("settlement_id")?.is_some();
    Ok(UnresolvedAttempt {
        attempt: attempt::read(row)?,
        first_evidence: row.get("first_evidence")?,
        booking: match row.json_opt("hotel_document")? {
            Some(hotel) => AnyBooking::Hotel(hotel),
            None => AnyBooking::Flight(row.json("flight_document")?),
        },
        waiting: has_decision.then(|| read_settlement(row)).transpose()?,
    })
}

fn read_recent(row: &Row) -> Result<RecentSettlement, DatabaseError> {
    Ok(RecentSettlement {
        decision: read_settlement(row)?,
        step: row.get("step")?,
        target: row.parsed("target", SupplierId::parse)?,
    })
}

fn read_settlement(row: &Row) -> Result<SettlementDecision, DatabaseError> {
    let currency = row.parsed_opt("currency", Currency::parse)?;
    let minor: Option<i64> = row.get("amount_minor")?;
    Ok(SettlementDecision {
        tenant: row.tenant()?,
        id: row.parsed("settlement_id", SettlementId::parse)?,
        booking_id: row.parsed("booking_id", BookingId::parse)?,
        attempt_id: row.parsed("attempt_id", AttemptId::parse)?,
        choice: row.enum_value("choice", SettlementChoice::parse)?,
        refund: minor
            .zip(currency)
            .map(|(minor, currency)| Money::new(minor, currency)),
        reference: row.get("reference")?,
        note: row.get("note")?,
        decided_by: row.get("decided_by")?,
        decided_at: row.timestamp("decided_at")?,
        state: row.enum_value("state", SettlementState::parse)?,
        result: row.get("result")?,
        seen_state: row.get("seen_state")?,
    })
}
