//! Properties of mandates in the audit log.

use crate::audit::record::AuditChange;
use host_domain::audit::AuditAction;
use host_domain::mandate::Mandate;
use host_domain::time::Timestamp;
use serde_json::json;

/// Returns the change that issues a mandate.
pub(crate) fn issued(mandate: &Mandate) -> AuditChange<'_> {
    let terms = &mandate.terms;
    AuditChange::new(AuditAction::MandateIssued, terms.id.as_str())
        .of_tenant(&terms.owner.tenant)
        .after(json!({
            "amount_minor": terms.amount.minor,
            "currency": terms.amount.currency,
            "expires_at": terms.expires_at.to_string(),
        }))
}

/// Returns the change that revokes a mandate.
pub(crate) fn revoked<'a>(before: &Mandate, after: &'a Mandate, now: Timestamp) -> AuditChange<'a> {
    AuditChange::new(AuditAction::MandateRevoked, after.terms.id.as_str())
        .of_tenant(&after.terms.owner.tenant)
        .before(json!({ "status": before.status(now).as_str() }))
        .after(json!({ "status": after.status(now).as_str() }))
}
