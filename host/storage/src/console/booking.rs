//! Bookings of both kinds across users.

use crate::condition::ConditionBuilder;
use crate::statement::{Row, Statement, statement, text_array};
use crate::{DatabaseError, Store};
use host_domain::booking::BookingStatus;
use host_domain::console::booking::{BookingProduct, BookingScopeFilter};
use host_domain::console::{AnyBooking, TenantScope};
use host_domain::id::BookingId;
use host_domain::page::{Cursor, CursorPage, CursorRequest};
use host_domain::supplier::SupplierId;

/// Maximum number of bookings that a page looks through for those that match. It bounds the time of
/// a filter that few bookings match.
const EXAMINED_MAX: u32 = 5_000;

impl Store {
    /// Returns the bookings of a scope that match, newest first. If few match, the page may have
    /// fewer bookings than requested: it ends at the last booking that was looked at.
    pub async fn booking_page(
        &self,
        scope: &TenantScope,
        filter: &BookingScopeFilter,
        page: &CursorRequest,
    ) -> Result<CursorPage<AnyBooking>, DatabaseError> {
        let rows = self.fetch_all(select_page(scope, filter, page)).await?;
        let (mut items, mut examined_until) = (Vec::with_capacity(rows.len()), None);
        for row in &rows {
            let cursor = Cursor::new(row.timestamp("created_at")?, row.get::<String>("id")?);
            match row.get::<Option<String>>("product")? {
                Some(_) => items.push((cursor, read(row)?)),
                None => examined_until = Some(cursor),
            }
        }
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let has_more = items.len() > limit;
        items.truncate(limit);
        let last = items.last().map(|(cursor, _)| cursor.clone());
        Ok(CursorPage {
            items: items.into_iter().map(|(_, booking)| booking).collect(),
            next: if has_more { last } else { examined_until },
        })
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

/// Builds the query of a page, with one booking more than the page has. It looks through the newest
/// bookings of the scope in an index, and reads the documents of those that match. A row without a
/// product is the last booking that it looked at.
fn select_page(
    scope: &TenantScope,
    filter: &BookingScopeFilter,
    page: &CursorRequest,
) -> Statement {
    let is_one_organization = matches!(scope.organizations.as_deref(), Some([_]));
    let mut conditions = if filter.reference.is_some() {
        for_scope_without_index(scope)
    } else if filter.user.is_some() && is_one_organization {
        // The list of a user has an index of its own.
        ConditionBuilder::for_scope(scope)
    } else {
        ConditionBuilder::for_scope_list(scope)
    };
    let user = filter.user.as_deref();
    conditions.add_some("user_id =", user.filter(|_| is_one_organization));
    conditions.add_some("created_at >=", filter.created_from);
    conditions.add_some("created_at <=", filter.created_to);
    let reference = filter.reference.as_deref();
    let reference = reference.map(|reference| conditions.bind(reference));
    if reference.is_some() {
        let key = "organization = found_organization AND mode = found_mode AND id = found_id";
        conditions.add_text(key.to_owned());
    }
    let matching = matching(&mut conditions, filter, is_one_organization);
    let limit = conditions.bind(page.limit.saturating_add(1));
    let examined = if matching.is_empty() {
        limit.clone()
    } else {
        conditions.bind(EXAMINED_MAX)
    };
    let order = cursor_order(&mut conditions, page, &examined);
    let condition = conditions.text();
    let part = |product: BookingProduct| {
        let (name, table) = (product.as_str(), table(product));
        let source = source(table, reference.as_deref());
        format!(
            "SELECT * FROM (SELECT '{name}' AS product, organization, mode, id, user_id, status, \
             supplier, created_at FROM {source} WHERE {condition} {order}) AS {name}s"
        )
    };
    let products = BookingProduct::ALL.into_iter();
    let products = products.filter(|one| filter.product.is_none_or(|wanted| wanted == *one));
    let parts = products.map(part).collect::<Vec<_>>().join(" UNION ALL ");
    let (found, last) = if matching.is_empty() {
        (String::new(), String::new())
    } else {
        let last = format!(
            " UNION ALL SELECT NULL, created_at, id, NULL FROM \
             (SELECT created_at, id FROM examined ORDER BY created_at, id LIMIT 1) AS last \
             WHERE (SELECT COUNT(*) FROM examined) >= {examined}"
        );
        (format!("WHERE {}", matching.join(" AND ")), last)
    };
    conditions.statement(format!(
        "WITH examined AS MATERIALIZED (SELECT * FROM ({parts}) AS merged \
           ORDER BY created_at DESC, id DESC LIMIT {examined}) \
         SELECT page.product AS product, page.created_at AS created_at, page.id AS id, \
           COALESCE(h.document, f.document) AS document \
         FROM (SELECT * FROM examined {found} \
           ORDER BY created_at DESC, id DESC LIMIT {limit}) AS page \
         LEFT JOIN hotel_booking AS h ON page.product = 'hotel' \
           AND h.organization = page.organization AND h.mode = page.mode AND h.id = page.id \
         LEFT JOIN flight_booking AS f ON page.product = 'flight' \
           AND f.organization = page.organization AND f.mode = page.mode AND f.id = page.id{last} \
         ORDER BY created_at DESC, id DESC"
    ))
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

/// Returns the conditions that no index begins with.
fn matching(
    conditions: &mut ConditionBuilder,
    filter: &BookingScopeFilter,
    is_one_organization: bool,
) -> Vec<String> {
    let user = filter.user.as_deref();
    let columns = [
        ("status", filter.status.map(BookingStatus::as_str)),
        ("supplier", filter.supplier.as_ref().map(SupplierId::as_str)),
        ("user_id", user.filter(|_| !is_one_organization)),
    ];
    let requested = columns
        .into_iter()
        .filter_map(|(column, value)| Some((column, value?)));
    requested
        .map(|(column, value)| format!("{column} = {}", conditions.bind(value)))
        .collect()
}

/// Returns the order of one of the two tables, from the position of the page. It has to be added
/// after the arguments of the outer query are bound.
fn cursor_order(conditions: &mut ConditionBuilder, page: &CursorRequest, limit: &str) -> String {
    if let Some(after) = &page.after {
        let (at, id) = (
            conditions.bind(after.at),
            conditions.bind(after.id.as_str()),
        );
        conditions.add_text(format!("(created_at, id) < ({at}, {id})"));
    } else {
        // Without statistics, PostgreSQL reads the order from an index only if a range of it is
        // requested.
        conditions.add("created_at <=", i64::MAX);
    }
    format!("ORDER BY created_at DESC, id DESC LIMIT {limit}")
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
