//! The steps of an integration until it may go live.

use crate::bounded_search::EXAMINED_ROWS_MAX;
use crate::condition::{ConditionBuilder, ordered_parts};
use crate::{DatabaseError, Store};
use host_domain::console::TenantScope;
use host_domain::console::go_live::GoLiveStep;
use host_domain::owner::Mode;
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
        let test = TenantScope {
            organizations: organizations.map(<[String]>::to_vec),
            mode: Mode::Test,
        };
        let parts = ordered_parts(&test).into_iter();
        let places = Places {
            scope,
            test_lists: parts
                .map(|part| conditions.bind_scope_list(&part))
                .collect(),
            test_without_index: conditions.bind_scope_without_index(&test),
            now: conditions.bind(now),
            examined_max: conditions.bind(EXAMINED_ROWS_MAX),
        };
        let parts = GoLiveStep::ALL.map(|step| {
            let evidence = places.evidence(step);
            format!("SELECT '{}' AS step WHERE {evidence}", step.as_str())
        });
        let select = conditions.statement(parts.join(" UNION ALL "));
        self.read_all(select, |row| row.enum_value("step", GoLiveStep::parse))
            .await
    }
}

/// Places of the evidence of steps.
struct Places {
    /// The condition of the organizations.
    scope: String,
    /// The conditions of the test data of the organizations: of ranges of the indexes of lists, and
    /// in a form that no index has.
    test_lists: Vec<String>,
    test_without_index: String,
    now: String,
    examined_max: String,
}

impl Places {
    /// Returns the condition that one of the newest bookings has one of these statuses. An index has
    /// the order and the status.
    fn newest_bookings(&self, statuses: &str) -> String {
        let lists = self.test_lists.iter();
        let parts = lists.flat_map(|list| {
            ["hotel_booking", "flight_booking"].map(|table| {
                format!(
                    "EXISTS (SELECT 1 FROM (SELECT status FROM {table} WHERE {list} \
                     ORDER BY created_at DESC, id DESC LIMIT {}) AS newest \
                     WHERE status IN ({statuses}))",
                    self.examined_max
                )
            })
        });
        format!("({})", parts.collect::<Vec<_>>().join(" OR "))
    }

    /// Returns the condition that a step has happened.
    fn evidence(&self, step: GoLiveStep) -> String {
        let Self {
            scope,
            now,
            test_without_index,
            ..
        } = self;
        let test = format!("{scope} AND mode = 'test'");
        match step {
            GoLiveStep::TestKey => format!("EXISTS (SELECT 1 FROM api_key WHERE {test})"),
            GoLiveStep::FirstCall => {
                format!("EXISTS (SELECT 1 FROM api_key WHERE {test} AND last_used_at IS NOT NULL)")
            }
            GoLiveStep::Booking => self.newest_bookings(
                "'CONFIRMED', 'CANCEL_IN_PROGRESS', 'PARTIALLY_CANCELED', 'CANCELED'",
            ),
            GoLiveStep::Cancellation => self.newest_bookings("'PARTIALLY_CANCELED', 'CANCELED'"),
            // The index has the events of unknown outcomes only. The primary key would have all events.
            GoLiveStep::UnknownOutcome => format!(
                "EXISTS (SELECT 1 FROM booking_history AS h WHERE {test_without_index} \
             AND event IN ('book_unresolved', 'cancel_unresolved', 'payment_unresolved', \
             'refund_unresolved') \
             AND NOT EXISTS (SELECT 1 FROM remote_call_attempt AS a \
             WHERE a.organization = h.organization AND a.mode = h.mode \
             AND a.booking_id = h.booking_id AND a.outcome IN ('sent', 'unknown')))"
            ),
            // An index has the deliveries of a subscription by status.
            GoLiveStep::Webhook => format!(
                "EXISTS (SELECT 1 FROM webhook_subscription AS s WHERE {test_without_index} \
             AND EXISTS (SELECT 1 FROM webhook_delivery AS d WHERE d.subscription_id = s.id \
             AND d.organization = s.organization AND d.mode = s.mode \
             AND d.status = 'DELIVERED'))"
            ),
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
}
