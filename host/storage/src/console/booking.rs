//! Bookings of both kinds across users.

use crate::bounded_search::{
    EXAMINED_ROWS_MAX, NEWEST_FIRST, SearchEnd, continue_at, first_unexamined, read_position,
};
use crate::condition::ConditionBuilder;
use crate::statement::{Row, Statement, statement, text_array};
use crate::{DatabaseError, Store};
use host_domain::booking::BookingStatus;
use host_domain::console::booking::{BookingProduct, BookingScopeFilter};
use host_domain::console::{AnyBooking, TenantScope};
use host_domain::id::BookingId;
use host_domain::page::{CursorPage, CursorRequest};
use host_domain::supplier::SupplierId;

impl Store {
    /// Returns the bookings of a scope that match, newest first. If few match, the page may have
    /// fewer bookings than requested, or none, and be followed by another one.
    pub async fn booking_page(
        &self,
        scope: &TenantScope,
        filter: &BookingScopeFilter,
        page: &CursorRequest,
    ) -> Result<CursorPage<AnyBooking>, DatabaseError> {
        let mut search = BookingSearch::new(scope, filter, page);
        let checked = checked_columns(scope, filter);
        let end = if checked.is_empty() {
            None
        } else {
            let unexamined = self.read_optional(search.first_unexamined(), read_position);
            let unexamined = unexamined.await?;
            unexamined.map(|unexamined| SearchEnd::at(unexamined, page.after.as_ref()))
        };
        if let Some(end) = &end {
            let left = "(created_at, id) >=";
            search.conditions.add_position(left, &end.examined_to);
        }
        for (column, value) in checked {
            // The expression keeps the databases from using another index than that of the list.
            search.conditions.add(&format!("{column} || '' ="), value);
        }
        let found = self.read_cursor_page(
            search.select_page(page),
            page,
            |row| Ok((read_position(row)?, read(row)?)),
            |(position, _)| position.clone(),
        );
        let found = found.await?.map(|(_, booking)| booking);
        Ok(continue_at(found, end))
    }

    /// Returns a booking of any tenant. The caller decides who may see it.
    pub async fn any_booking(&self, id: &BookingId) -> Result<Option<AnyBooking>, DatabaseError> {
        let select = statement!(
            "SELECT 'hotel' AS product, document FROM hotel_booking WHERE id = $1 \
             UNION ALL SELECT 'flight', document FROM flight_booking WHERE id = $1",
            id.as_str(),
        );
        self.read_optional(select, read).await
    }
}

/// A search among the bookings of both kinds.
struct BookingSearch<'a> {
    filter: &'a BookingScopeFilter,
    conditions: ConditionBuilder,
    /// Parameter of the reference of the filter.
    reference: Option<String>,
}

impl<'a> BookingSearch<'a> {
    /// Builds the conditions that an index answers in the order of the list.
    fn new(scope: &TenantScope, filter: &'a BookingScopeFilter, page: &CursorRequest) -> Self {
        let user = filter.user.as_deref();
        let user = user.filter(|_| is_one_organization(scope));
        let mut conditions = if filter.reference.is_some() {
            for_scope_without_index(scope)
        } else if user.is_some() {
            // The list of a user has an index of its own.
            ConditionBuilder::for_scope(scope)
        } else {
            ConditionBuilder::for_scope_list(scope)
        };
        conditions.add_some("user_id =", user);
        conditions.add_some("created_at >=", filter.created_from);
        conditions.add_some("created_at <=", filter.created_to);
        let reference = filter.reference.as_deref();
        let reference = reference.map(|reference| conditions.bind(reference));
        if reference.is_some() {
            let key = "organization = found_organization AND mode = found_mode AND id = found_id";
            conditions.add_text(key.to_owned());
        }
        if let Some(after) = &page.after {
            conditions.add_position("(created_at, id) <", after);
        } else {
            // Without statistics, PostgreSQL reads the order from an index only if a range of it is
            // requested.
            conditions.add("created_at <=", i64::MAX);
        }
        Self {
            filter,
            conditions,
            reference,
        }
    }

    /// Builds the query of the first booking that the search does not examine.
    fn first_unexamined(&self) -> Statement {
        let limit = EXAMINED_ROWS_MAX.saturating_add(1).to_string();
        let rows = self.newest_of_each_kind("created_at, id", &limit);
        let conditions = self.conditions.clone();
        conditions.statement(first_unexamined(&rows, NEWEST_FIRST))
    }

    /// Builds the query of a page, with one booking more than the page has. It finds the bookings in
    /// an index, and reads the documents of those on the page.
    fn select_page(mut self, page: &CursorRequest) -> Statement {
        let limit = self.conditions.bind(page.limit.saturating_add(1));
        let rows = self.newest_of_each_kind("organization, mode, id, created_at", &limit);
        self.conditions.statement(format!(
            "SELECT page.product AS product, page.created_at AS created_at, page.id AS id, \
               COALESCE(h.document, f.document) AS document \
             FROM ({rows} {NEWEST_FIRST} LIMIT {limit}) AS page \
             LEFT JOIN hotel_booking AS h ON page.product = 'hotel' \
               AND h.organization = page.organization AND h.mode = page.mode AND h.id = page.id \
             LEFT JOIN flight_booking AS f ON page.product = 'flight' \
               AND f.organization = page.organization AND f.mode = page.mode AND f.id = page.id \
             {NEWEST_FIRST}"
        ))
    }

    /// Returns the query of at most `limit` bookings of each kind that the filter admits.
    fn newest_of_each_kind(&self, columns: &str, limit: &str) -> String {
        let condition = self.conditions.text();
        let part = |product: BookingProduct| {
            let (name, table) = (product.as_str(), table(product));
            let source = source(table, self.reference.as_deref());
            format!(
                "SELECT * FROM (SELECT '{name}' AS product, {columns} FROM {source} \
                 WHERE {condition} {NEWEST_FIRST} LIMIT {limit}) AS {name}s"
            )
        };
        let wanted = self.filter.product;
        let products = BookingProduct::ALL.into_iter();
        let products = products.filter(|one| wanted.is_none_or(|wanted| wanted == *one));
        let parts = products.map(part).collect::<Vec<_>>().join(" UNION ALL ");
        format!("SELECT * FROM ({parts}) AS merged")
    }
}

fn is_one_organization(scope: &TenantScope) -> bool {
    matches!(scope.organizations.as_deref(), Some([_]))
}

/// Builds the conditions of a scope in a form that no index has, so that the databases read the
/// bookings of a reference by their primary key.
fn for_scope_without_index(scope: &TenantScope) -> ConditionBuilder {
    let mut conditions = ConditionBuilder::default();
    conditions.add("mode || '' =", scope.mode);
    if let Some(organizations) = &scope.organizations {
        let list = text_array(organizations.iter().map(String::as_str));
        let list = conditions.bind(list);
        conditions.add_text(format!("organization || '' {{in {list}}}"));
    }
    conditions
}

/// Returns the columns of the filter that no index begins with, each with its value.
fn checked_columns<'a>(
    scope: &TenantScope,
    filter: &'a BookingScopeFilter,
) -> Vec<(&'static str, &'a str)> {
    let user = filter.user.as_deref();
    let columns = [
        ("status", filter.status.map(BookingStatus::as_str)),
        ("supplier", filter.supplier.as_ref().map(SupplierId::as_str)),
        ("user_id", user.filter(|_| !is_one_organization(scope))),
    ];
    let requested = columns.into_iter();
    let requested = requested.filter_map(|(column, value)| Some((column, value?)));
    requested.collect()
}

const fn table(product: BookingProduct) -> &'static str {
    match product {
        BookingProduct::Hotel => "hotel_booking",
        BookingProduct::Flight => "flight_booking",
    }
}

/// Returns the table, or its bookings with a reference. `CROSS JOIN` lets SQLite begin with the
/// reference, and not with the order of the list.
fn source(table: &str, reference: Option<&str>) -> String {
    let Some(reference) = reference else {
        return table.to_owned();
    };
    let conditions = [
        "id =",
        "supplier_reference =",
        "reference_id IS NOT NULL AND '' || reference_id =",
    ];
    let found = conditions.map(|condition| {
        format!(
            "SELECT organization AS found_organization, mode AS found_mode, id AS found_id \
             FROM {table} WHERE {condition} {reference}"
        )
    });
    format!("({}) AS found CROSS JOIN {table}", found.join(" UNION "))
}

fn read(row: &Row) -> Result<AnyBooking, DatabaseError> {
    Ok(match row.enum_value("product", BookingProduct::parse)? {
        BookingProduct::Hotel => AnyBooking::Hotel(Box::new(row.json("document")?)),
        BookingProduct::Flight => AnyBooking::Flight(Box::new(row.json("document")?)),
    })
}
