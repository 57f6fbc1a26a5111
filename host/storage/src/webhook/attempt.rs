//! Delivery attempts with the endpoints' responses.

use crate::statement::{Row, statement, text_array};
use crate::{DatabaseError, Store};
use host_domain::id::DeliveryId;
use host_domain::owner::Tenant;
use host_domain::webhook::DeliveryAttempt;

impl Store {
    /// Returns the attempts of the current generation of these deliveries, each with its delivery's
    /// id, in order.
    pub async fn delivery_attempts(
        &self,
        tenant: &Tenant,
        deliveries: &[&DeliveryId],
    ) -> Result<Vec<(DeliveryId, DeliveryAttempt)>, DatabaseError> {
        if deliveries.is_empty() {
            return Ok(Vec::new());
        }
        let select = statement!(
            "SELECT a.delivery_id, a.attempt_number, a.request_headers, a.response_status, \
             a.response_body, a.error, a.duration_ms, a.created_at \
             FROM webhook_delivery AS d JOIN webhook_delivery_attempt AS a \
               ON a.organization = d.organization AND a.mode = d.mode \
               AND a.delivery_id = d.id AND a.generation = d.generation \
             WHERE d.organization = $1 AND d.mode = $2 AND d.id {in $3} \
             ORDER BY a.delivery_id, a.attempt_number",
            tenant,
            text_array(deliveries.iter().map(|id| id.as_str())),
        );
        self.read_all(select, read).await
    }
}

fn read(row: &Row) -> Result<(DeliveryId, DeliveryAttempt), DatabaseError> {
    Ok((
        row.parsed("delivery_id", DeliveryId::parse)?,
        read_attempt(row)?,
    ))
}

pub(super) fn read_attempt(row: &Row) -> Result<DeliveryAttempt, DatabaseError> {
    let status = row.get::<Option<i64>>("response_status")?;
    Ok(DeliveryAttempt {
        number: row.get("attempt_number")?,
        request_headers: row.json_opt("request_headers")?.unwrap_or_default(),
        response_status: status.and_then(|status| u16::try_from(status).ok()),
        response_body: row.get("response_body")?,
        error: row.get("error")?,
        duration_ms: row.get("duration_ms")?,
        created_at: row.timestamp("created_at")?,
    })
}
