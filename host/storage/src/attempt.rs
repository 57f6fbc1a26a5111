//! Calls to suppliers and processors that may change something: written down
//! before their first byte leaves, so that a crash cannot hide one.

use crate::statement::{Row, Statement, statement};
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::id::{AttemptId, BookingId};
use host_domain::owner::Tenant;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;

/// A call that is about to leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAttempt {
    /// Its id.
    pub id: AttemptId,
    /// For which booking.
    pub booking_id: BookingId,
    /// The step's name.
    pub step: String,
    /// Supplier or processor.
    pub target: SupplierId,
    /// Ours; the other side knows the call by it.
    pub client_reference: String,
    /// Digest of the component that makes the call.
    pub plugin_digest: String,
    /// Digest of what is asked for.
    pub request_digest: String,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// Sent, or about to be; nothing more is known. After a crash it may only be
    /// read back.
    Sent,
    /// It happened.
    Succeeded,
    /// A definite no.
    Refused,
    /// It is known that nothing was sent, or that nothing came of it.
    NotSent,
    /// It may have happened.
    Unknown,
}

/// A call that was made, or was about to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Whose booking it is for.
    pub tenant: Tenant,
    /// What was asked of whom.
    pub call: NewAttempt,
    /// Counts the calls of one operation of one booking, from 1.
    pub ordinal: i64,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// How often it was sent; more than once only where repeats are safe.
    pub send_count: i64,
    /// How often it was read back.
    pub reconcile_count: i64,
    /// When it was sent last.
    pub last_sent_at: Timestamp,
    /// When the outcome was recorded.
    pub finished_at: Option<Timestamp>,
    /// The other side's id.
    pub supplier_reference: Option<String>,
    /// What the outcome was concluded from, short; neither secrets nor personal data.
    pub evidence: Option<String>,
}

impl AttemptOutcome {
    const ALL: [Self; 5] = [
        Self::Sent,
        Self::Succeeded,
        Self::Refused,
        Self::NotSent,
        Self::Unknown,
    ];

    /// Its name in tables and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Succeeded => "done",
            Self::Refused => "refused",
            Self::NotSent => "not_sent",
            Self::Unknown => "unknown",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|outcome| outcome.as_str() == text)
    }
}

// Calls are finished by their key: `outcome || ''` keeps PostgreSQL from the indexes of what is
// unfinished, which look short to it and are full of what has left them. They are counted by their
// booking: `organization || ''` keeps it from the key, in which all of the organization's stand.
impl UnitOfWork {
    /// Marks a call as sent. [`Conflict::AttemptExists`] while a call of the same
    /// operation with the same reference happened, or may have happened.
    pub fn record_attempt(&mut self, tenant: &Tenant, call: &NewAttempt) -> &mut Self {
        let insert = statement!(
            "INSERT INTO supplier_attempt (organization, mode, id, booking_id, operation, ordinal, \
             target, client_reference, plugin_digest, request_digest, outcome, sends, checks, \
             dispatched_at) \
             VALUES ($1, $2, $3, $4, $5, \
               (SELECT COALESCE(MAX(ordinal), 0) + 1 FROM supplier_attempt \
                WHERE booking_id = $4 AND organization || '' = $1 AND mode || '' = $2 \
                AND operation = $5), \
               $6, $7, $8, $9, 'sent', 1, 0, $10) \
             ON CONFLICT DO NOTHING",
            tenant.organization.as_str(),
            tenant.mode,
            call.id.as_str(),
            call.booking_id.as_str(),
            call.step.as_str(),
            call.target.as_str(),
            call.client_reference.as_str(),
            call.plugin_digest.as_str(),
            call.request_digest.as_str(),
            self.now,
        );
        self.one(insert, Conflict::AttemptExists)
    }

    /// Marks a call without known outcome as sent once more: only for targets
    /// that declare repeats safe. Else [`Conflict::AttemptFinished`].
    pub fn record_attempt_resend(&mut self, tenant: &Tenant, id: &AttemptId) -> &mut Self {
        let update = statement!(
            "UPDATE supplier_attempt SET outcome = 'sent', sends = sends + 1, dispatched_at = $4, \
             finished_at = NULL \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND outcome || '' IN ('sent', 'unknown')",
            tenant.organization.as_str(),
            tenant.mode,
            id.as_str(),
            self.now,
        );
        self.one(update, Conflict::AttemptFinished)
    }

    /// Records an outcome. A final one stays: [`Conflict::AttemptFinished`].
    pub fn finish_attempt(
        &mut self,
        tenant: &Tenant,
        id: &AttemptId,
        outcome: AttemptOutcome,
        supplier_reference: Option<&str>,
        evidence: Option<&str>,
    ) -> &mut Self {
        let update = statement!(
            "UPDATE supplier_attempt SET outcome = $4, finished_at = $5, \
             supplier_reference = COALESCE($6, supplier_reference), \
             evidence = COALESCE($7, evidence) \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND outcome || '' IN ('sent', 'unknown')",
            tenant.organization.as_str(),
            tenant.mode,
            id.as_str(),
            outcome.as_str(),
            self.now,
            supplier_reference,
            evidence,
        );
        self.one(update, Conflict::AttemptFinished)
    }

    /// Counts a read-back that settled nothing.
    pub fn count_attempt_reconciliation(&mut self, tenant: &Tenant, id: &AttemptId) -> &mut Self {
        let update = statement!(
            "UPDATE supplier_attempt SET checks = checks + 1 \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND outcome || '' IN ('sent', 'unknown')",
            tenant.organization.as_str(),
            tenant.mode,
            id.as_str(),
        );
        self.one(update, Conflict::AttemptFinished)
    }
}

impl Store {
    /// The calls for a booking, oldest first.
    ///
    /// # Errors
    /// The database's.
    pub async fn attempts(
        &self,
        tenant: &Tenant,
        booking_id: &BookingId,
    ) -> Result<Vec<Attempt>, DatabaseError> {
        let select = Statement {
            sql: format!(
                "SELECT {COLUMNS} FROM supplier_attempt \
                 WHERE organization = $1 AND mode = $2 AND booking_id = $3 \
                 ORDER BY dispatched_at, id"
            )
            .into(),
            args: vec![
                tenant.organization.as_str().into(),
                tenant.mode.into(),
                booking_id.as_str().into(),
            ],
        };
        self.fetch_all(select).await?.iter().map(read).collect()
    }

    /// The operator's list: calls of every tenant that were sent before an
    /// instant and whose outcome is not known, oldest first.
    ///
    /// # Errors
    /// The database's.
    pub async fn unresolved_attempts(
        &self,
        sent_before: Timestamp,
        limit: u32,
    ) -> Result<Vec<Attempt>, DatabaseError> {
        let rows = self.fetch_all(unresolved(sent_before, limit)).await?;
        rows.iter().map(read).collect()
    }
}

const COLUMNS: &str = "organization, mode, id, booking_id, operation, ordinal, target, \
    client_reference, plugin_digest, request_digest, outcome, sends, checks, dispatched_at, \
    finished_at, supplier_reference, evidence";

pub(crate) fn unresolved(sent_before: Timestamp, limit: u32) -> Statement {
    Statement {
        sql: format!(
            "SELECT {COLUMNS} FROM supplier_attempt \
             WHERE outcome IN ('sent', 'unknown') AND dispatched_at < $1 \
             ORDER BY dispatched_at LIMIT $2"
        )
        .into(),
        args: vec![sent_before.into(), limit.into()],
    }
}

fn read(row: &Row) -> Result<Attempt, DatabaseError> {
    Ok(Attempt {
        tenant: Tenant {
            organization: row.text("organization")?,
            mode: row.mode()?,
        },
        call: NewAttempt {
            id: row.parsed("id", AttemptId::parse)?,
            booking_id: row.parsed("booking_id", BookingId::parse)?,
            step: row.text("operation")?,
            target: row.parsed("target", SupplierId::parse)?,
            client_reference: row.text("client_reference")?,
            plugin_digest: row.text("plugin_digest")?,
            request_digest: row.text("request_digest")?,
        },
        ordinal: row.int("ordinal")?,
        outcome: row.enum_value("outcome", AttemptOutcome::parse)?,
        send_count: row.int("sends")?,
        reconcile_count: row.int("checks")?,
        last_sent_at: row.timestamp("dispatched_at")?,
        finished_at: row.timestamp_opt("finished_at")?,
        supplier_reference: row.text_opt("supplier_reference")?,
        evidence: row.text_opt("evidence")?,
    })
}
