//! Properties of watches in the audit log. Travellers and trips are left out.

use crate::audit::record::AuditChange;
use host_domain::audit::AuditAction;
use host_domain::watch::Watch;
use serde_json::{Value, json};

/// Returns the change that an action makes. `before` is `None` for a new watch.
pub(super) fn audited_watch<'a>(
    action: AuditAction,
    before: Option<&Watch>,
    after: &'a Watch,
) -> AuditChange<'a> {
    AuditChange::new(action, after.id.as_str())
        .of_tenant(&after.owner.tenant)
        .before(before.map_or(Value::Null, properties))
        .after(properties(after))
}

fn properties(watch: &Watch) -> Value {
    let amount = watch.trigger.amount();
    json!({
        "status": watch.status().as_str(),
        "amount_minor": amount.minor,
        "currency": amount.currency,
        "buys": watch.auto_book.is_some(),
        "mandate_id": watch.mandate_id,
    })
}
