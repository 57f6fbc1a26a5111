//! Filtered and sorted lists of flight bookings. A page is one contiguous range of one index;
//! documents of skipped rows are not read.

use crate::booking::read;
use crate::condition::ConditionBuilder;
use crate::flight::{NO_PRICE_SORT_KEY, price_sort_key};
use crate::statement::{Row, Statement};
use crate::{DatabaseError, Store};
use host_domain::booking::BookingStatus;
use host_domain::flight::booking::FlightBooking;
use host_domain::flight::list::{FlightBookingFilter, FlightBookingSort};
use host_domain::owner::Owner;
use host_domain::page::{Page, PageRequest};
use host_domain::supplier::SupplierId;
use std::cmp::Ordering;

/// Number of bookings in the requested time range up to which they are always sorted by price in
/// the query. Both methods are cheap then, whatever the page.
const SORT_IN_QUERY_MIN: u64 = 4000;

/// Maximum number of matching rows that are sorted by price in the query. For more, the price index
/// of all `whole` rows is scanned instead. To reach depth `n` among `m` matches of `l` rows, the
/// scan reads about `n * l / m` entries, against `m` rows to sort.
fn sort_in_query_limit(page: PageRequest, whole: u64) -> u64 {
    let depth = page.offset.saturating_add(u64::from(page.limit));
    SORT_IN_QUERY_MIN.max(depth.saturating_mul(whole).isqrt())
}

impl Store {
    /// Returns a page of an owner's bookings, and the number of bookings on all pages.
    pub async fn flight_bookings(
        &self,
        owner: &Owner,
        filter: &FlightBookingFilter,
        page: PageRequest,
    ) -> Result<(Page<FlightBooking>, u64), DatabaseError> {
        let (rows, total) = if filter.supplier_reference.is_some() {
            let select = select_by_supplier_reference(owner, filter);
            let found = self.fetch_all(select).await?;
            let total = u64::try_from(found.len()).unwrap_or(u64::MAX);
            let offset = usize::try_from(page.offset).unwrap_or(usize::MAX);
            (found.into_iter().skip(offset).collect(), total)
        } else {
            let counts = self.flight_booking_counts(owner, filter).await?;
            let few = sort_in_query_limit(page, counts.total_all_time);
            let is_few = filter.has_time_range() && counts.total <= few;
            let rows = match filter.sort {
                FlightBookingSort::CreatedAt => self.fetch_all(by_time(owner, filter, page)).await,
                FlightBookingSort::TotalAmount if is_few => {
                    let select = select_sorted_by_price(owner, filter, page);
                    self.fetch_all(select).await
                }
                FlightBookingSort::TotalAmount => {
                    self.page_by_price_index(owner, filter, page).await
                }
            };
            (rows?, counts.total)
        };
        let mut items: Vec<FlightBooking> = rows.iter().map(read).collect::<Result<_, _>>()?;
        items.sort_by(|one, other| compare(filter, one, other));
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let has_more = items.len() > limit;
        items.truncate(limit);
        Ok((Page { items, has_more }, total))
    }

    /// Reads a page with the price index: bookings with a price, then those without.
    pub(crate) async fn page_by_price_index(
        &self,
        owner: &Owner,
        filter: &FlightBookingFilter,
        page: PageRequest,
    ) -> Result<Vec<Row>, DatabaseError> {
        if !filter.descending {
            let select = select_cheapest_first(owner, filter, page);
            return self.fetch_all(select).await;
        }
        let select = select_most_expensive_first(owner, filter, page);
        let mut rows = self.fetch_all(select).await?;
        let have = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        if have <= page.limit {
            let offset = if have > 0 || page.offset == 0 {
                0
            } else {
                let priced = self.read_count(count_with_price(owner, filter)).await?;
                page.offset.saturating_sub(priced)
            };
            let rest = PageRequest {
                limit: page.limit.saturating_sub(have),
                offset,
            };
            let select = select_without_price(owner, filter, rest);
            rows.extend(self.fetch_all(select).await?);
        }
        Ok(rows)
    }
}

/// Compares two bookings in the order of the filter.
fn compare(filter: &FlightBookingFilter, one: &FlightBooking, other: &FlightBooking) -> Ordering {
    let (first, order) = match filter.sort {
        FlightBookingSort::CreatedAt => (Ordering::Equal, one.created_at.cmp(&other.created_at)),
        FlightBookingSort::TotalAmount => {
            let (one, other) = (price_sort_key(one), price_sort_key(other));
            let priced = (one == NO_PRICE_SORT_KEY).cmp(&(other == NO_PRICE_SORT_KEY));
            (priced, one.cmp(&other))
        }
    };
    let order = order.then_with(|| one.id.cmp(&other.id));
    first.then(if filter.descending {
        order.reverse()
    } else {
        order
    })
}

impl ConditionBuilder {
    /// Builds the conditions for the owner and for the filters that an index begins with.
    pub(crate) fn for_facets(owner: &Owner, filter: &FlightBookingFilter) -> Self {
        let mut conditions = Self::for_owner("", owner);
        let supplier = filter.supplier.as_ref().map(SupplierId::as_str);
        conditions.add_some("supplier =", supplier);
        conditions.add_some("status =", filter.status.map(BookingStatus::as_str));
        conditions
    }

    /// Adds the requested time range to the conditions of [`for_facets`](Self::for_facets).
    fn with_time_range(owner: &Owner, filter: &FlightBookingFilter) -> Self {
        let mut conditions = Self::for_facets(owner, filter);
        conditions.add_some("created_at >=", filter.created_from);
        conditions.add_some("created_at <=", filter.created_to);
        conditions
    }

    /// Adds the time range for a scan of the price index. The unary `+` and `+ 0` stop the
    /// databases from using a time index and sorting its result. The two bounds are written
    /// differently because PostgreSQL would otherwise estimate the range as so selective that it
    /// sorts everything.
    fn with_time_range_for_price_index(owner: &Owner, filter: &FlightBookingFilter) -> Self {
        let mut conditions = Self::for_facets(owner, filter);
        conditions.add_some("+created_at >=", filter.created_from);
        conditions.add_some("created_at + 0 <=", filter.created_to);
        conditions
    }

    /// Builds the query for a page of the bookings that meet the conditions. It first selects the
    /// ids, which an index contains, and then reads the documents of those rows alone, in no
    /// particular order. It reads one row more than the page has.
    fn page(mut self, order: &str, page: PageRequest) -> Statement {
        let (condition, limit) = (self.text(), self.limit(page));
        self.statement(format!(
            "SELECT booking.document FROM (SELECT organization, mode, id FROM flight_booking \
             WHERE {condition} ORDER BY {order} {limit}) AS page \
             JOIN flight_booking AS booking ON booking.organization = page.organization \
             AND booking.mode = page.mode AND booking.id = page.id"
        ))
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

pub(crate) fn select_cheapest_first(
    owner: &Owner,
    filter: &FlightBookingFilter,
    page: PageRequest,
) -> Statement {
    ConditionBuilder::with_time_range_for_price_index(owner, filter)
        .page("price_sort_key, id", page)
}

pub(crate) fn select_most_expensive_first(
    owner: &Owner,
    filter: &FlightBookingFilter,
    page: PageRequest,
) -> Statement {
    let mut conditions = ConditionBuilder::with_time_range_for_price_index(owner, filter);
    conditions.add("price_sort_key <", NO_PRICE_SORT_KEY);
    conditions.page("price_sort_key DESC, id DESC", page)
}

pub(crate) fn select_without_price(
    owner: &Owner,
    filter: &FlightBookingFilter,
    page: PageRequest,
) -> Statement {
    let mut conditions = ConditionBuilder::with_time_range_for_price_index(owner, filter);
    conditions.add("price_sort_key =", NO_PRICE_SORT_KEY);
    conditions.page("price_sort_key DESC, id DESC", page)
}

pub(crate) fn count_with_price(owner: &Owner, filter: &FlightBookingFilter) -> Statement {
    let mut conditions = ConditionBuilder::with_time_range_for_price_index(owner, filter);
    conditions.add("price_sort_key <", NO_PRICE_SORT_KEY);
    conditions.count("flight_booking")
}

pub(crate) fn select_sorted_by_price(
    owner: &Owner,
    filter: &FlightBookingFilter,
    page: PageRequest,
) -> Statement {
    let mut conditions = ConditionBuilder::with_time_range(owner, filter);
    // An expression instead of the column keeps the databases from scanning the price index, which
    // has this order. It is one sort key beside the id, because each key costs time for thousands
    // of rows.
    let order = if filter.descending {
        let (last, first) = (
            conditions.bind(NO_PRICE_SORT_KEY),
            conditions.bind(i64::MIN),
        );
        format!(
            "CASE price_sort_key WHEN {last} THEN {first} ELSE price_sort_key END DESC, id DESC"
        )
    } else {
        "+price_sort_key, id".to_owned()
    };
    conditions.page(&order, page)
}

/// Selects the booking with the requested id at the supplier. The other filters apply too.
pub(crate) fn select_by_supplier_reference(
    owner: &Owner,
    filter: &FlightBookingFilter,
) -> Statement {
    let mut conditions = ConditionBuilder::default();
    let tenant = &owner.tenant;
    conditions.add("supplier_reference =", filter.supplier_reference.as_deref());
    // The columns are compared as expressions. Otherwise SQLite would choose the index of the
    // owner's list, which has more of the columns and the right order, and read all of it.
    conditions.add("organization || '' =", tenant.organization.as_str());
    conditions.add("mode || '' =", tenant.mode);
    conditions.add("user_id || '' =", owner.user.as_str());
    let supplier = filter.supplier.as_ref().map(SupplierId::as_str);
    conditions.add_some("supplier || '' =", supplier);
    conditions.add_some("status || '' =", filter.status.map(BookingStatus::as_str));
    conditions.add_some("+created_at >=", filter.created_from);
    conditions.add_some("+created_at <=", filter.created_to);
    let condition = conditions.text();
    conditions.statement(format!(
        "SELECT document FROM flight_booking WHERE {condition} \
         ORDER BY created_at DESC, id DESC LIMIT 1"
    ))
}
