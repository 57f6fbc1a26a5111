//! Lists of flight bookings, filtered and ordered, and how long they are. A page
//! is one stretch of one index, and what is passed over is not read.

use crate::flight::{UNPRICED, price, read};
use crate::statement::{Row, Statement, Value};
use crate::{DatabaseError, Listed, Page, Store};
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
pub(crate) const FEW: u64 = 4000;

/// The length of a list for which both ways to a page take as long; see [`few_for`].
const LONG: u64 = 100_000;

/// The most that are put in the order of their price afterwards. Of more, the page is
/// found by walking along the prices of all, which passes over as many between two of
/// them as there are to one of them: for a page `n` deep in `m` of a list of `l`, over
/// `n * l / m`, against `m` that are put in order.
pub(crate) fn few_for(page: Page) -> u64 {
    let depth = page.offset.saturating_add(u64::from(page.limit));
    FEW.max(depth.saturating_mul(LONG).isqrt())
}

impl Store {
    /// An owner's bookings.
    ///
    /// # Errors
    /// The database's.
    pub async fn flight_bookings(
        &self,
        owner: &Owner,
        filter: &FlightBookingFilter,
        page: Page,
    ) -> Result<Listed<Booking>, DatabaseError> {
        let rows = if filter.supplier_reference.is_some() {
            let found = self.rows(referred(owner, filter)).await?;
            let offset = usize::try_from(page.offset).unwrap_or(usize::MAX);
            found.into_iter().skip(offset).collect()
        } else {
            match filter.sort {
                FlightBookingSort::CreatedAt => self.rows(by_time(owner, filter, page)).await?,
                FlightBookingSort::TotalAmount => self.by_price(owner, filter, page).await?,
            }
        };
        let mut items: Vec<Booking> = rows.iter().map(read).collect::<Result<_, _>>()?;
        items.sort_by(|one, other| filter.compare(one, other));
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let has_more = items.len() > limit;
        items.truncate(limit);
        Ok(Listed { items, has_more })
    }

    /// How many bookings the list would have without paging.
    ///
    /// # Errors
    /// The database's.
    pub async fn count_flight_bookings(
        &self,
        owner: &Owner,
        filter: &FlightBookingFilter,
    ) -> Result<u64, DatabaseError> {
        if filter.supplier_reference.is_some() {
            let found = self.rows(referred(owner, filter)).await?;
            return Ok(u64::try_from(found.len()).unwrap_or(u64::MAX));
        }
        let Some(row) = self.row(whole(owner, filter)).await? else {
            return Ok(0);
        };
        let whole = row.int("number")?;
        let ends = row.at_if("first")?.zip(row.at_if("last")?);
        let number = match (filter.is_timed(), ends) {
            (false, _) | (true, None) => whole,
            (true, Some((first, last))) if filter.takes_most(first, last) => {
                let outside = self.number(outside(owner, filter)).await?;
                whole.saturating_sub(outside).max(0)
            }
            (true, Some(_)) => self.number(inside(owner, filter)).await?,
        };
        Ok(number.unsigned_abs())
    }

    async fn by_price(
        &self,
        owner: &Owner,
        filter: &FlightBookingFilter,
        page: Page,
    ) -> Result<Vec<Row>, DatabaseError> {
        if filter.is_timed() {
            let at_most = few_for(page);
            let number = self.number(bounded(owner, filter, at_most)).await?;
            if number.unsigned_abs() <= at_most {
                return self.rows(few_by_price(owner, filter, page)).await;
            }
        }
        self.along_prices(owner, filter, page).await
    }

    /// Those with a price, then those without.
    pub(crate) async fn along_prices(
        &self,
        owner: &Owner,
        filter: &FlightBookingFilter,
        page: Page,
    ) -> Result<Vec<Row>, DatabaseError> {
        if !filter.descending {
            return self.rows(cheapest(owner, filter, page)).await;
        }
        let mut rows = self.rows(dearest(owner, filter, page)).await?;
        let have = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        if have <= page.limit {
            let offset = if have > 0 || page.offset == 0 {
                0
            } else {
                let priced = self.number(priced(owner, filter)).await?;
                page.offset.saturating_sub(priced.unsigned_abs())
            };
            let rest = Page {
                limit: page.limit.saturating_sub(have),
                offset,
            };
            rows.extend(self.rows(unpriced(owner, filter, rest)).await?);
        }
        Ok(rows)
    }

    async fn number(&self, count: Statement) -> Result<i64, DatabaseError> {
        let row = self.row(count).await?;
        row.map_or(Ok(0), |row| row.int("number"))
    }
}

impl FlightBookingFilter {
    const fn is_timed(&self) -> bool {
        self.created_from.is_some() || self.created_to.is_some()
    }

    /// Whether most of what was made between two instants, if it was made evenly,
    /// was made in the time that is asked for.
    pub(crate) fn takes_most(&self, first: Timestamp, last: Timestamp) -> bool {
        let from = self.created_from.map_or(first, |from| from.max(first));
        let to = self.created_to.map_or(last, |to| to.min(last));
        to.since(from).saturating_mul(2) > last.since(first)
    }

    fn compare(&self, one: &Booking, other: &Booking) -> Ordering {
        let (first, order) = match self.sort {
            FlightBookingSort::CreatedAt => {
                (Ordering::Equal, one.created_at.cmp(&other.created_at))
            }
            FlightBookingSort::TotalAmount => {
                let (one, other) = (price(one), price(other));
                let priced = (one == UNPRICED).cmp(&(other == UNPRICED));
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
struct Conditions {
    texts: Vec<String>,
    args: Vec<Value>,
}

impl Conditions {
    /// The owner's, with the filters that an index begins with.
    fn of(owner: &Owner, filter: &FlightBookingFilter) -> Self {
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
    fn timed(owner: &Owner, filter: &FlightBookingFilter) -> Self {
        let mut conditions = Self::of(owner, filter);
        conditions.between("created_at", filter);
        conditions
    }

    /// The same in an index by price: the plus keeps the databases from taking one
    /// by time instead, and putting all that they find there in order.
    fn timed_by_price(owner: &Owner, filter: &FlightBookingFilter) -> Self {
        let mut conditions = Self::of(owner, filter);
        conditions.between("+created_at", filter);
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

    fn bind(&mut self, value: impl Into<Value>) -> String {
        self.args.push(value.into());
        format!("${}", self.args.len())
    }

    fn text(&self) -> String {
        self.texts.join(" AND ")
    }

    /// A page of what meets the conditions.
    fn page(self, order: &str, page: Page) -> Statement {
        let ids = format!(
            "SELECT organization, mode, id FROM flight_booking WHERE {} ORDER BY {order}",
            self.text()
        );
        self.documents(&ids, page)
    }

    /// A page of bookings: first its ids, which are in an index, then the documents
    /// of those alone, in no order. One more than wanted.
    fn documents(mut self, ids: &str, page: Page) -> Statement {
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

pub(crate) fn by_time(owner: &Owner, filter: &FlightBookingFilter, page: Page) -> Statement {
    let order = if filter.descending {
        "created_at DESC, id DESC"
    } else {
        "created_at, id"
    };
    Conditions::timed(owner, filter).page(order, page)
}

pub(crate) fn cheapest(owner: &Owner, filter: &FlightBookingFilter, page: Page) -> Statement {
    Conditions::timed_by_price(owner, filter).page("price, id", page)
}

pub(crate) fn dearest(owner: &Owner, filter: &FlightBookingFilter, page: Page) -> Statement {
    let mut conditions = Conditions::timed_by_price(owner, filter);
    conditions.add("price <", UNPRICED);
    conditions.page("price DESC, id DESC", page)
}

pub(crate) fn unpriced(owner: &Owner, filter: &FlightBookingFilter, page: Page) -> Statement {
    let mut conditions = Conditions::timed_by_price(owner, filter);
    conditions.add("price =", UNPRICED);
    conditions.page("price DESC, id DESC", page)
}

pub(crate) fn priced(owner: &Owner, filter: &FlightBookingFilter) -> Statement {
    let mut conditions = Conditions::timed_by_price(owner, filter);
    conditions.add("price <", UNPRICED);
    conditions.count()
}

/// How many are in time; of more than so many, one more is counted.
pub(crate) fn bounded(owner: &Owner, filter: &FlightBookingFilter, at_most: u64) -> Statement {
    let mut conditions = Conditions::timed(owner, filter);
    let limit = conditions.bind(at_most.saturating_add(1));
    Statement {
        sql: format!(
            "SELECT COUNT(*) AS number FROM \
             (SELECT created_at FROM flight_booking WHERE {} LIMIT {limit}) AS bounded",
            conditions.text()
        )
        .into(),
        args: conditions.args,
    }
}

pub(crate) fn few_by_price(owner: &Owner, filter: &FlightBookingFilter, page: Page) -> Statement {
    let mut conditions = Conditions::timed(owner, filter);
    // The plus keeps the databases from an index by price, whose order it would be.
    let order = if filter.descending {
        let last = conditions.bind(UNPRICED);
        format!("price = {last}, +price DESC, id DESC")
    } else {
        "+price, id".to_owned()
    };
    conditions.page(&order, page)
}

/// With the wanted id at the supplier; the other filters apply too.
pub(crate) fn referred(owner: &Owner, filter: &FlightBookingFilter) -> Statement {
    let mut conditions = Conditions::default();
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

/// How many there are at all times, and when the first and the last was made.
pub(crate) fn whole(owner: &Owner, filter: &FlightBookingFilter) -> Statement {
    let conditions = Conditions::of(owner, filter);
    let text = conditions.text();
    let staying = format!(
        "(SELECT CAST(COALESCE(SUM(number), 0) AS BIGINT) FROM flight_booking_count WHERE {text})"
    );
    let passing = |more: &str| format!("(SELECT COUNT(*) FROM flight_booking WHERE {text}{more})");
    let number = match filter.status {
        Some(status) if stays(status) => staying,
        Some(_) => passing(""),
        None => {
            // One by one: a plan that PostgreSQL makes for owners of few bookings would
            // look for any of them by going through all, and is kept for the others.
            let passed = Status::ALL.into_iter().filter(|status| !stays(*status));
            let each =
                passed.map(|status| passing(&format!(" AND status = '{}'", status.as_str())));
            format!("{staying} + {}", each.collect::<Vec<_>>().join(" + "))
        }
    };
    let end = |order: &str| {
        format!(
            "(SELECT created_at FROM flight_booking WHERE {text} ORDER BY created_at {order} LIMIT 1)"
        )
    };
    Statement {
        sql: format!(
            "SELECT {number} AS number, {} AS first, {} AS last",
            end("ASC"),
            end("DESC")
        )
        .into(),
        args: conditions.args,
    }
}

pub(crate) fn inside(owner: &Owner, filter: &FlightBookingFilter) -> Statement {
    Conditions::timed(owner, filter).count()
}

/// How many were made before or after the time that is asked for.
pub(crate) fn outside(owner: &Owner, filter: &FlightBookingFilter) -> Statement {
    let mut conditions = Conditions::of(owner, filter);
    let text = conditions.text();
    let ends = [("<", filter.created_from), (">", filter.created_to)];
    let mut numbers = vec!["0".to_owned()];
    for (beyond, end) in ends {
        if let Some(end) = end {
            let end = conditions.bind(end);
            numbers.push(format!(
                "(SELECT COUNT(*) FROM flight_booking WHERE {text} AND created_at {beyond} {end})"
            ));
        }
    }
    Statement {
        sql: format!("SELECT {} AS number", numbers.join(" + ")).into(),
        args: conditions.args,
    }
}

/// Whether bookings stay in a status for long, so that the database keeps their
/// number; its triggers name the same ones.
pub(crate) const fn stays(status: Status) -> bool {
    match status {
        Status::Confirmed | Status::Canceled | Status::Failed | Status::Expired => true,
        Status::Created
        | Status::PrebookInProgress
        | Status::ReadyForComplete
        | Status::CompleteInProgress
        | Status::CancelInProgress => false,
    }
}
