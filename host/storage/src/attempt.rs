//! Remote calls that may change data at a supplier or a payment processor. A call is recorded
//! before its first byte is sent, so that a crash cannot lose it.

use crate::statement::{Row, statement};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::id::{AttemptId, BookingId};
use host_domain::owner::Tenant;
use host_domain::remote_call::AttemptOutcome;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;

/// A call that is about to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAttempt {
    pub id: AttemptId,
    pub booking_id: BookingId,
    /// The name of the workflow step.
    pub step: String,
    /// The supplier or processor that is called.
    pub target: SupplierId,
    /// The gateway's reference, by which the other side identifies the call.
    pub client_reference: String,
    pub plugin_digest: String,
    pub request_digest: String,
}

/// A call that was sent or was about to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The tenant that owns the booking.
    pub tenant: Tenant,
    pub call: NewAttempt,
    /// The call's number among the calls of one step of one booking, from 1.
    pub number: i64,
    pub outcome: AttemptOutcome,
    pub last_sent_at: Timestamp,
    pub finished_at: Option<Timestamp>,
    /// The other side's id.
    pub supplier_reference: Option<String>,
    /// A short explanation of the outcome, without secrets or personal data.
    pub evidence: Option<String>,
}

// Calls are finished by key: `outcome || ''` keeps PostgreSQL from using the indexes of unresolved
// calls. These look short to its planner but are full of entries of calls that are no longer
// unresolved. Attempts are numbered by booking: `organization || ''` keeps it from using the
// primary key, which covers all calls of the organization.
impl UnitOfWork {
    /// Records that a call is about to be sent. Fails with [`Conflict::AttemptExists`] if a call of
    /// the same step with the same reference happened or may have happened.
    pub fn record_attempt(&mut self, tenant: &Tenant, call: &NewAttempt) -> &mut Self {
        let insert = statement!(
            "INSERT INTO remote_call_attempt (organization, mode, id, booking_id, step, \
             attempt_number, target, client_reference, plugin_digest, request_digest, outcome, \
             send_count, reconcile_count, last_sent_at) \
             VALUES ($1, $2, $3, $4, $5, \
               (SELECT COALESCE(MAX(attempt_number), 0) + 1 FROM remote_call_attempt \
                WHERE booking_id = $4 AND organization || '' = $1 AND mode || '' = $2 \
                AND step = $5), \
               $6, $7, $8, $9, 'sent', 1, 0, $10) \
             ON CONFLICT DO NOTHING",
            tenant,
            call.id.as_str(),
            call.booking_id.as_str(),
            call.step.as_str(),
            call.target.as_str(),
            call.client_reference.as_str(),
            call.plugin_digest.as_str(),
            call.request_digest.as_str(),
            self.now,
        );
        self.add_expecting_one(insert, Conflict::AttemptExists)
    }

    /// Records an outcome. Fails with [`Conflict::AttemptFinished`] if a final outcome is recorded
    /// already.
    pub fn finish_attempt(
        &mut self,
        tenant: &Tenant,
        id: &AttemptId,
        outcome: AttemptOutcome,
        supplier_reference: Option<&str>,
        evidence: Option<&str>,
    ) -> &mut Self {
        let update = statement!(
            "UPDATE remote_call_attempt SET outcome = $4, finished_at = $5, \
             supplier_reference = COALESCE($6, supplier_reference), \
             evidence = COALESCE($7, evidence) \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND outcome || '' IN ('sent', 'unknown')",
            tenant,
            id.as_str(),
            outcome.as_str(),
            self.now,
            supplier_reference,
            evidence,
        );
        self.add_expecting_one(update, Conflict::AttemptFinished)
    }

    /// Records that a call may have taken effect after all, although its outcome was final. Fails
    /// with [`Conflict::AttemptFinished`] if the call does not exist.
    pub fn reopen_attempt(
        &mut self,
        tenant: &Tenant,
        id: &AttemptId,
        supplier_reference: Option<&str>,
        evidence: Option<&str>,
    ) -> &mut Self {
        let update = statement!(
            "UPDATE remote_call_attempt SET outcome = 'unknown', finished_at = $4, \
             supplier_reference = COALESCE($5, supplier_reference), \
             evidence = COALESCE($6, evidence) \
             WHERE organization = $1 AND mode = $2 AND id = $3",
            tenant,
            id.as_str(),
            self.now,
            supplier_reference,
            evidence,
        );
        self.add_expecting_one(update, Conflict::AttemptFinished)
    }
}

impl Store {
    /// Returns the calls for a booking, oldest first.
    pub async fn attempts(
        &self,
        tenant: &Tenant,
        booking_id: &BookingId,
    ) -> Result<Vec<Attempt>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS} FROM remote_call_attempt \
                 WHERE organization = $1 AND mode = $2 AND booking_id = $3 \
                 ORDER BY last_sent_at, id"
            ),
            tenant,
            booking_id.as_str(),
        );
        self.read_all(select, read).await
    }

    /// Returns the calls of all tenants that were sent before `sent_before` and whose outcome is
    /// unknown, oldest first. For operators, so without prebooks: nothing is owed for one, and its
    /// outcome stays unknown.
    pub async fn unresolved_attempts(
        &self,
        sent_before: Timestamp,
        limit: u32,
    ) -> Result<Vec<Attempt>, DatabaseError> {
        let select = statement!(
            format!(
                "SELECT {COLUMNS} FROM remote_call_attempt \
                 WHERE outcome IN ('sent', 'unknown') AND step <> 'prebook' \
                 AND last_sent_at < $1 \
                 ORDER BY last_sent_at LIMIT $2"
            ),
            sent_before,
            limit,
        );
        self.read_all(select, read).await
    }
}

const COLUMNS: &str = "organization, mode, id, booking_id, step, attempt_number, target, \
    client_reference, plugin_digest, request_digest, outcome, \
    last_sent_at, finished_at, supplier_reference, evidence";

pub(crate) fn read(row: &Row) -> Result<Attempt, DatabaseError> {
    Ok(Attempt {
        tenant: row.tenant()?,
        call: NewAttempt {
            id: row.parsed("id", AttemptId::parse)?,
            booking_id: row.parsed("booking_id", BookingId::parse)?,
            step: row.get("step")?,
            target: row.parsed("target", SupplierId::parse)?,
            client_reference: row.get("client_reference")?,
            plugin_digest: row.get("plugin_digest")?,
            request_digest: row.get("request_digest")?,
        },
        number: row.get("attempt_number")?,
        outcome: row.enum_value("outcome", AttemptOutcome::parse)?,
        last_sent_at: row.timestamp("last_sent_at")?,
        finished_at: row.timestamp_opt("finished_at")?,
        supplier_reference: row.get("supplier_reference")?,
        evidence: row.get("evidence")?,
    })
}
