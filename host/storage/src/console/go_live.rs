//! The steps of an integration until it may go live.

use crate::bounded_search::EXAMINED_ROWS_MAX;
use crate::condition::ConditionBuilder;
use crate::{DatabaseError, Store};
use host_domain::console::go_live::GoLiveStep;
use host_domain::time::Timestamp;

impl Store {
    /// Returns the steps that have happened in some organizations, or in any if there is `None`.
    pub async fn go_live_steps(
        &self,
        organizations: Option<&[String]>,
        now: Timestamp,
    ) -> Result<Vec<GoLiveStep>, DatabaseError> {
        let mut conditions = ConditionBuilder::for_organizations(organizations);
        let scope = match conditions.text() {
            text if text.is_empty() => "1 = 1".to_owned(),
            text => text,
        };
        let now = conditions.bind(now);
        let examined_max = conditions.bind(EXAMINED_ROWS_MAX);
        let parts = GoLiveStep::ALL.map(|step| {
            let evidence = evidence(step, &scope, &now, &examined_max);
            format!("SELECT '{}' AS step WHERE {evidence}", step.as_str())
        });
        let select = conditions.statement(parts.join(" UNION ALL "));
        self.read_all(select, |row| row.enum_value("step", GoLiveStep::parse))
            .await
    }
}

/// Returns the condition that a step has happened.
fn evidence(step: GoLiveStep, scope: &str, now: &str, examined_max: &str) -> String {
    let test = format!("{scope} AND mode = 'test'");
    // The newest rows are in an index, which has the status of bookings too.
    let newest = |table: &str, statuses: &str| {
        format!(
            "EXISTS (SELECT 1 FROM (SELECT status FROM {table} WHERE {test} \
             ORDER BY created_at DESC, id DESC LIMIT {examined_max}) AS newest \
             WHERE status IN ({statuses}))"
        )
    };
    let booking = |statuses: &str| {
        let hotel = newest("hotel_booking", statuses);
        let flight = newest("flight_booking", statuses);
        format!("({hotel} OR {flight})")
    };
    match step {
        GoLiveStep::TestKey => format!("EXISTS (SELECT 1 FROM api_key WHERE {test})"),
        GoLiveStep::FirstCall => {
            format!("EXISTS (SELECT 1 FROM api_key WHERE {test} AND last_used_at IS NOT NULL)")
        }
        GoLiveStep::Booking => {
            booking("'CONFIRMED', 'CANCEL_IN_PROGRESS', 'PARTIALLY_CANCELED', 'CANCELED'")
        }
        GoLiveStep::Cancellation => booking("'PARTIALLY_CANCELED', 'CANCELED'"),
        GoLiveStep::UnknownOutcome => format!(
            "EXISTS (SELECT 1 FROM booking_history AS h WHERE {test} \
             AND event IN ('book_unresolved', 'cancel_unresolved', 'payment_unresolved', \
             'refund_unresolved') \
             AND NOT EXISTS (SELECT 1 FROM remote_call_attempt AS a \
             WHERE a.organization = h.organization AND a.mode = h.mode \
             AND a.booking_id = h.booking_id AND a.outcome IN ('sent', 'unknown')))"
        ),
        GoLiveStep::Webhook => newest("webhook_delivery", "'DELIVERED'"),
        GoLiveStep::TwoFactor => {
            let admin = format!(
                "SELECT 1 FROM account_role AS r JOIN account ON account.id = r.account_id \
                 WHERE {scope} AND role = 'admin' AND state = 'active' \
                 AND password_hash IS NOT NULL"
            );
            format!(
                "EXISTS ({admin}) AND NOT EXISTS ({admin} AND NOT EXISTS \
                 (SELECT 1 FROM account_totp AS t WHERE t.account_id = r.account_id))"
            )
        }
        GoLiveStep::LiveKey => format!(
            "EXISTS (SELECT 1 FROM api_key WHERE {scope} AND mode = 'live' \
             AND revoked_at IS NULL AND expires_at > {now})"
        ),
    }
}
