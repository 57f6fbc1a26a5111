//! The filter of flight bookings and its SQL conditions, shared by lists and counts.

use crate::statement::Value;
use host_domain::flight::booking::Status;
use host_domain::owner::Owner;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;

/// A filter and an order of an owner's bookings. A field that is `None` does not restrict the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FlightBookingFilter {
    /// The status.
    pub status: Option<Status>,
    /// The supplier.
    pub supplier: Option<SupplierId>,
    /// The id at the supplier. At most one booking matches, the newest.
    pub supplier_reference: Option<String>,
    /// Earliest creation time, inclusive.
    pub created_from: Option<Timestamp>,
    /// Latest creation time, inclusive.
    pub created_to: Option<Timestamp>,
    /// The sort key. Ids order bookings with equal keys.
    pub sort: FlightBookingSort,
    /// Whether the latest or most expensive bookings come first. Bookings without a price are last
    /// in both directions.
    pub descending: bool,
}

/// The sort key of bookings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FlightBookingSort {
    /// The creation time.
    #[default]
    CreatedAt,
    /// The price of ticket and extras, by number alone, whatever the currency.
    TotalAmount,
}

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
