//! SQL conditions of the filter of flight bookings, shared by lists and counts.

use crate::statement::Value;
use host_domain::flight::list::FlightBookingFilter;
use host_domain::owner::Owner;

/// Conditions and their arguments. Only requested filters become conditions: an optional condition
/// in the SQL text would keep the database from using the index of another one.
#[derive(Default)]
pub(crate) struct ConditionBuilder {
    texts: Vec<String>,
    pub(crate) args: Vec<Value>,
}

impl ConditionBuilder {
    /// Builds the conditions for the owner and for the filters that an index begins with.
    pub(crate) fn for_owner(owner: &Owner, filter: &FlightBookingFilter) -> Self {
        let mut conditions = Self::default();
        let tenant = &owner.tenant;
        conditions.add("organization =", tenant.organization.as_str());
        conditions.add("mode =", tenant.mode);
        conditions.add("user_id =", owner.user.as_str());
        if let Some(supplier) = &filter.supplier {
            conditions.add("supplier =", supplier.as_str());
        }
        if let Some(status) = filter.status {
            conditions.add("status =", status.as_str());
        }
        conditions
    }

    pub(crate) fn add(&mut self, left: &str, right: impl Into<Value>) {
        let right = self.bind(right);
        self.texts.push(format!("{left} {right}"));
    }

    pub(crate) fn bind(&mut self, value: impl Into<Value>) -> String {
        self.args.push(value.into());
        format!("${}", self.args.len())
    }

    pub(crate) fn text(&self) -> String {
        self.texts.join(" AND ")
    }
}
