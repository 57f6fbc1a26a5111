//! Lists of flight bookings, filtered and ordered. A page is one stretch of one index,
//! and what is passed over is not read.

use crate::flight::{NO_PRICE_SORT_KEY, price_sort_key, read};
use crate::flight_count::ListCounts;
use crate::statement::{Row, Statement, Value};
use crate::{DatabaseError, Page, PageRequest, Store};
use host_domain::flight::booking::{Booking, Status};
use host_domain::owner::Owner;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use std::cmp::Ordering;

/// Which of an owner's bookings, and in which order; none: all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FlightBookingFilter {
    /// In this status.
    pub status: Option<Status>,
    /// Of this supplier.
    pub supplier: Option<SupplierId>,
    /// With this id at the supplier: one booking at most, the newest.
    pub supplier_reference: Option<String>,
    /// Made then or later.
    pub created_from: Option<Timestamp>,
    /// Made then or earlier.
    pub created_to: Option<Timestamp>,
    /// By what they are ordered; ids decide between equals.
    pub sort: FlightBookingSort,
    /// Latest or dearest first. Those without a price are last either way.
    pub descending: bool,
}

/// By what bookings are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FlightBookingSort {
    /// When they were made.
    #[default]
    CreatedAt,
    /// What ticket and extras cost, by the number alone, whatever the currency.
    TotalAmount,
}

/// When at most so many were made in the time that is asked for, they are put in
/// the order of their price afterwards, however near the page: either takes little.
const SORT_IN_QUERY_MIN: u64 = 4000;

/// The most that are put in the order of their price afterwards. Of more, the page is
/// found by walking along the prices of the `whole` list, which passes over as many between
/// two of them as there are to one of them: for a page `n` deep in `m` of a list of `l`,
/// over `n * l / m`, against `m` that are put in order.
fn sort_in_query_limit(page: PageRequest, whole: u64) -> u64 {
    let depth = page.offset.saturating_add(u64::from(page.limit));
    SORT_IN_QUERY_MIN.max(depth.saturating_mul(whole).isqrt())
}

impl Store {
    /// An owner's bookings, and how many there are without paging.
    ///
    /// # Errors
    /// The database's.
    pub async fn flight_bookings(
        &self,
        owner: &Owner,
        filter: &FlightBookingFilter,
        page: PageRequest,
    ) -> Result<(Page<Booking>, u64), DatabaseError> {
        let (rows, total) = if filter.supplier_reference.is_some() {
            let found = self.fetch_all(select_by_supplier_reference(owner, filter)).await?;
            let total = u64::try_from(found.len()).unwrap_or(u64::MAX);
            let offset = usize::try_from(page.offset).unwrap_or(usize::MAX);
            (found.into_iter().skip(offset).collect(), total)
        } else {
            let ListCounts { total, total_all_time: whole } = self.flight_booking_counts(owner, filter).await?;
            let is_few = filter.has_time_range() && total <= sort_in_query_limit(page, whole);
            let rows = match filter.sort {
                FlightBookingSort::CreatedAt => self.fetch_all(by_time(owner, filter, page)).await?,
                FlightBookingSort::TotalAmount if is_few => {
                    self.fetch_all(select_sorted_by_price(owner, filter, page)).await?
                }
                FlightBookingSort::TotalAmount => self.page_by_price_index(owner, filter, page).await?,
            };
            (rows, total)
        };
        let mut items: Vec<Booking> = rows.iter().map(read).collect::<Result<_, _>>()?;
        items.sort_by(|one, other| filter.compare(one, other));
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let has_more = items.len() > limit;
        items.truncate(limit);
        Ok((Page { items, has_more }, total))
    }

    /// Those with a price, then those without.
    pub(crate) async fn page_by_price_index(
        &self,
        owner: &Owner,
        filter: &FlightBookingFilter,
        page: PageRequest,
    ) -> Result<Vec<Row>, DatabaseError> {
        if !filter.descending {
            return self.fetch_all(select_cheapest_first(owner, filter, page)).await;
        }
        let mut rows = self.fetch_all(select_most_expensive_first(owner, filter, page)).await?;
        let have = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        if have <= page.limit {
            let offset = if have > 0 || page.offset == 0 {
                0
            } else {
                let priced = self.fetch_optional(count_with_price(owner, filter)).await?;
                let priced = priced.map_or(Ok(0), |row| row.int("number"))?;
                page.offset.saturating_sub(priced.unsigned_abs())
            };
            let rest = PageRequest {
                limit: page.limit.saturating_sub(have),
                offset,
            };
            rows.extend(self.fetch_all(select_without_price(owner, filter, rest)).await?);
        }
        Ok(rows)
    }
}

impl FlightBookingFilter {
    const fn has_time_range(&self) -> bool {
        self.created_from.is_some() || self.created_to.is_some()
    }

    fn compare(&self, one: &Booking, other: &Booking) -> Ordering {
        let (first, order) = match self.sort {
            FlightBookingSort::CreatedAt => {
                (Ordering::Equal, one.created_at.cmp(&other.created_at))
            }
            FlightBookingSort::TotalAmount => {
                let (one, other) = (price_sort_key(one), price_sort_key(other));
                let priced = (one == NO_PRICE_SORT_KEY).cmp(&(other == NO_PRICE_SORT_KEY));
                (priced, one.cmp(&other))
            }
        };
        let order = order.then_with(|| one.id.cmp(&other.id));
        first.then(if self.descending {
            order.reverse()
        } else {
            order
        })
    }
}

/// Conditions and their arguments. Only those that are asked for: one that may or
/// may not apply would keep the database from using the index of the other.
#[derive(Default)]
pub(crate) struct ConditionBuilder {
    texts: Vec<String>,
    pub(crate) args: Vec<Value>,
}

impl ConditionBuilder {
    /// The owner's, with the filters that an index begins with.
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

    /// The same, made in the time that is asked for.
    fn with_time_range(owner: &Owner, filter: &FlightBookingFilter) -> Self {
        let mut conditions = Self::for_owner(owner, filter);
        conditions.between("created_at", filter);
        conditions
    }

    /// The same in an index by price: the plus keeps the databases from taking one
    /// by time instead, and putting all that they find there in order. Both ends of the time
    /// are compared in ways of their own: of one thing between two ends PostgreSQL expects so
    /// little that it would rather put everything in order.
    fn with_time_range_for_price_index(owner: &Owner, filter: &FlightBookingFilter) -> Self {
        let mut conditions = Self::for_owner(owner, filter);
        if let Some(from) = filter.created_from {
            conditions.add("+created_at >=", from);
        }
        if let Some(to) = filter.created_to {
            conditions.add("created_at + 0 <=", to);
        }
        conditions
    }

    fn between(&mut self, instant: &str, filter: &FlightBookingFilter) {
        if let Some(from) = filter.created_from {
            self.add(&format!("{instant} >="), from);
        }
        if let Some(to) = filter.created_to {
            self.add(&format!("{instant} <="), to);
        }
    }

    fn add(&mut self, left: &str, right: impl Into<Value>) {
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

    /// A page of what meets the conditions.
    fn page(self, order: &str, page: PageRequest) -> Statement {
        let ids = format!(
            "SELECT organization, mode, id FROM flight_booking WHERE {} ORDER BY {order}",
            self.text()
        );
        self.documents(&ids, page)
    }

    /// A page of bookings: first its ids, which are in an index, then the documents
    /// of those alone, in no order. One more than wanted.
    fn documents(mut self, ids: &str, page: PageRequest) -> Statement {
        let limit = self.bind(page.limit.saturating_add(1));
        let offset = self.bind(page.offset);
        Statement {
            sql: format!(
                "SELECT booking.document FROM ({ids} LIMIT {limit} OFFSET {offset}) AS page \
                 JOIN flight_booking AS booking ON booking.organization = page.organization \
                 AND booking.mode = page.mode AND booking.id = page.id"
            )
            .into(),
            args: self.args,
        }
    }

    fn count(self) -> Statement {
        Statement {
            sql: format!(
                "SELECT COUNT(*) AS number FROM flight_booking WHERE {}",
                self.text()
            )
            .into(),
            args: self.args,
        }
    }
}

pub(crate) fn by_time(owner: &Owner, filter: &FlightBookingFilter, page: PageRequest) -> Statement {
    let order = if filter.descending {
        "created_at DESC, id DESC"
    } else {
        "created_at, id"
    };
    ConditionBuilder::with_time_range(owner, filter).page(order, page)
}

pub(crate) fn select_cheapest_first(owner: &Owner, filter: &FlightBookingFilter, page: PageRequest) -> Statement {
    ConditionBuilder::with_time_range_for_price_index(owner, filter).page("price, id", page)
}

pub(crate) fn select_most_expensive_first(owner: &Owner, filter: &FlightBookingFilter, page: PageRequest) -> Statement {
    let mut conditions = ConditionBuilder::with_time_range_for_price_index(owner, filter);
    conditions.add("price <", NO_PRICE_SORT_KEY);
    conditions.page("price DESC, id DESC", page)
}

pub(crate) fn select_without_price(owner: &Owner, filter: &FlightBookingFilter, page: PageRequest) -> Statement {
    let mut conditions = ConditionBuilder::with_time_range_for_price_index(owner, filter);
    conditions.add("price =", NO_PRICE_SORT_KEY);
    conditions.page("price DESC, id DESC", page)
}

pub(crate) fn count_with_price(owner: &Owner, filter: &FlightBookingFilter) -> Statement {
    let mut conditions = ConditionBuilder::with_time_range_for_price_index(owner, filter);
    conditions.add("price <", NO_PRICE_SORT_KEY);
    conditions.count()
}

pub(crate) fn select_sorted_by_price(owner: &Owner, filter: &FlightBookingFilter, page: PageRequest) -> Statement {
    let mut conditions = ConditionBuilder::with_time_range(owner, filter);
    // Not the column itself: the databases would take an index by price, whose order that
    // would be. One key beside the id, for each takes time with thousands.
    let order = if filter.descending {
        let (last, first) = (conditions.bind(NO_PRICE_SORT_KEY), conditions.bind(i64::MIN));
        format!("CASE price WHEN {last} THEN {first} ELSE price END DESC, id DESC")
    } else {
        "+price, id".to_owned()
    };
    conditions.page(&order, page)
}

/// With the wanted id at the supplier; the other filters apply too.
pub(crate) fn select_by_supplier_reference(owner: &Owner, filter: &FlightBookingFilter) -> Statement {
    let mut conditions = ConditionBuilder::default();
    let tenant = &owner.tenant;
    conditions.add("supplier_reference =", filter.supplier_reference.as_deref());
    // Compared as something other than the columns: SQLite would take the index of the
    // owner's list, which has more columns and the right order, and read all of it.
    conditions.add("organization || '' =", tenant.organization.as_str());
    conditions.add("mode || '' =", tenant.mode);
    conditions.add("user_id || '' =", owner.user.as_str());
    if let Some(supplier) = &filter.supplier {
        conditions.add("supplier || '' =", supplier.as_str());
    }
    if let Some(status) = filter.status {
        conditions.add("status || '' =", status.as_str());
    }
    conditions.between("+created_at", filter);
    Statement {
        sql: format!(
            "SELECT document FROM flight_booking WHERE {} \
             ORDER BY created_at DESC, id DESC LIMIT 1",
            conditions.text()
        )
        .into(),
        args: conditions.args,
    }
}
