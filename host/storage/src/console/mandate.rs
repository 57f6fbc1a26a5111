//! Mandates across users.

use crate::condition::ConditionBuilder;
use crate::mandate::{COLUMNS, read};
use crate::statement::{Row, statement};
use crate::{DatabaseError, Store};
use host_domain::console::TenantScope;
use host_domain::console::watch::MandateScopeFilter;
use host_domain::id::MandateId;
use host_domain::mandate::{Mandate, MandateStatus};
use host_domain::page::{Cursor, CursorPage, CursorRequest};
use host_domain::time::Timestamp;

impl Store {
    /// Returns the mandates of a scope that match, newest first. `now` decides which are expired.
    pub async fn mandate_page(
        &self,
        scope: &TenantScope,
        filter: &MandateScopeFilter,
        now: Timestamp,
        page: &CursorRequest,
    ) -> Result<CursorPage<Mandate>, DatabaseError> {
        let mut conditions = ConditionBuilder::for_scope_list(scope);
        conditions.add_some("user_id =", filter.user.as_deref());
        match filter.status {
            None => {}
            Some(MandateStatus::Active) => {
                conditions.add("status =", MandateStatus::Active.as_str());
                conditions.add("expires_at >", now);
            }
            // The status `EXPIRED` is never stored; it follows from the time alone.
            Some(MandateStatus::Expired) => {
                conditions.add("status =", MandateStatus::Active.as_str());
                conditions.add("expires_at <=", now);
            }
            Some(status @ (MandateStatus::Consumed | MandateStatus::Revoked)) => {
                conditions.add("status =", status.as_str());
            }
        }
        let order = conditions.cursor_order("created_at", "id", page);
        let condition = conditions.text();
        let select = conditions.statement(format!(
            "SELECT m.organization, m.mode, {COLUMNS} FROM \
             (SELECT organization AS page_organization, mode AS page_mode, id AS page_id \
              FROM mandate WHERE {condition} {order}) AS page \
             JOIN mandate AS m ON m.organization = page_organization AND m.mode = page_mode \
               AND m.id = page_id ORDER BY created_at DESC, id DESC"
        ));
        let cursor = |mandate: &Mandate| {
            let terms = &mandate.terms;
            Cursor::new(terms.created_at, terms.id.as_str())
        };
        self.read_cursor_page(select, page, read_mandate, cursor)
            .await
    }

    /// Returns a mandate of any tenant. The caller decides who may see it.
    pub async fn mandate_unscoped(&self, id: &MandateId) -> Result<Option<Mandate>, DatabaseError> {
        let select = statement!(
            format!("SELECT organization, mode, {COLUMNS} FROM mandate WHERE id = $1"),
            id.as_str(),
        );
        self.read_optional(select, read_mandate).await
    }
}

fn read_mandate(row: &Row) -> Result<Mandate, DatabaseError> {
    read(&row.tenant()?, row)
}
