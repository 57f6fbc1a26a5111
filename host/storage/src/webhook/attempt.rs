//! Delivery attempts with the endpoints' responses.

use crate::statement::{Row, statement, text_array};
use crate::{DatabaseError, Store};
use host_domain::id::DeliveryId;
use host_domain::owner::Tenant;
use host_domain::time::Timestamp;

/// One delivery attempt with its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// The attempt's number within a generation, from 1.
    pub number: i64,
    /// The status code of the endpoint's response, if there was one.
    pub response_status: Option<u16>,
    /// The start of the response body, without NUL characters, which PostgreSQL cannot store.
    pub response_body: Option<String>,
    /// The reason that there is no response, as an identifier such as `timeout`.
    pub error: Option<String>,
    pub duration_ms: i64,
    pub created_at: Timestamp,
}

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
            "SELECT a.delivery_id, a.attempt_number, a.response_status, a.response_body, \
             a.error, a.duration_ms, a.created_at \
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
    let status = row.get::<Option<i64>>("response_status")?;
    let attempt = DeliveryAttempt {
        number: row.get("attempt_number")?,
        response_status: status.and_then(|status| u16::try_from(status).ok()),
        response_body: row.get("response_body")?,
        error: row.get("error")?,
        duration_ms: row.get("duration_ms")?,
        created_at: row.timestamp("created_at")?,
    };
    Ok((row.parsed("delivery_id", DeliveryId::parse)?, attempt))
}
