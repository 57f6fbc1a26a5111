//! Bookings of both kinds across users.

use crate::bounded_search::{
    EXAMINED_ROWS_MAX, NEWEST_FIRST, RangesEnd, last_of_range, page_of_examined,
};
use crate::condition::{ConditionBuilder, ordered_parts};
use crate::statement::{Row, Statement, statement, text_array, union_all};
use crate::{DatabaseError, Store};
use host_domain::booking::BookingStatus;
use host_domain::console::booking::{AnyBookingKind, BookingScopeFilter};
use host_domain::console::{AnyBooking, TenantScope};
use host_domain::id::BookingId;
use host_domain::page::{Cursor, CursorPage, CursorRequest};
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;

impl Store {
    /// Returns the bookings of a scope that match, newest first. If no index has the filter, or not
    /// all organizations of the scope in order, a limited number of bookings is examined. The page
    /// may then have fewer bookings than requested, or none, and be followed by another one.
    pub async fn booking_page(
        &self,
        scope: &TenantScope,
        filter: &BookingScopeFilter,
        page: &CursorRequest,
    ) -> Result<CursorPage<AnyBooking>, DatabaseError> {
        let rows = self.fetch_all(select_page(scope, filter, page)).await?;
        let (mut found, mut end) = (Vec::with_capacity(rows.len()), None);
        for row in &rows {
            let cursor = Cursor::new(row.timestamp("created_at")?, row.get::<String>("id")?);
            match row.get::<Option<String>>("kind")? {
                Some(_) => found.push((cursor, read(row)?)),
                None => end = Some(cursor),
            }
        }
        Ok(page_of_examined(found, end, page))
    }

    /// Returns a booking of any tenant. The caller decides who may see it.
    pub async fn booking_of_either_kind_unscoped(
        &self,
        id: &BookingId,
    ) -> Result<Option<AnyBooking>, DatabaseError> {
        let select = statement!(
            "SELECT 'hotel' AS kind, document FROM hotel_booking WHERE id = $1 \
             UNION ALL SELECT 'flight', document FROM flight_booking WHERE id = $1",
            id.as_str(),
        );
        self.read_optional(select, read).await
    }

    /// Returns the bookings of any tenant that exist, in no order. The caller decides who may see
    /// them.
    pub async fn bookings_of_either_kind_unscoped(
        &self,
        ids: &[&BookingId],
    ) -> Result<Vec<AnyBooking>, DatabaseError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let select = statement!(
            "SELECT 'hotel' AS kind, document FROM hotel_booking WHERE id {in $1} \
             UNION ALL SELECT 'flight', document FROM flight_booking WHERE id {in $1}",
            text_array(ids.iter().map(|id| id.as_str())),
        );
        self.read_all(select, read).await
    }
}

/// Builds the query of a page, with one booking more than the page has. It reads the newest matching
/// bookings in an index, and then the documents of those on the page. A row without a kind is the
/// last examined booking.
fn select_page(
    scope: &TenantScope,
    filter: &BookingScopeFilter,
    page: &CursorRequest,
) -> Statement {
    let mut search = BookingSearch::new(scope, filter, page);
    let limit = search.conditions.bind(page.limit.saturating_add(1));
    let end = search.end();
    let parts = search.parts(|search, (kind, source, range)| {
        let matching = search.matching.iter().map(String::as_str);
        let condition: Vec<&str> = [range]
            .into_iter()
            .chain(matching)
            .chain(end.condition)
            .collect();
        format!(
            "SELECT '{}' AS kind, organization, mode, id, created_at FROM {source} \
             WHERE {} {NEWEST_FIRST} LIMIT {limit}",
            kind.as_str(),
            condition.join(" AND ")
        )
    });
    search.conditions.statement(format!(
        "{}SELECT page.kind AS kind, page.created_at AS created_at, page.id AS id, \
           COALESCE(h.document, f.document) AS document \
         FROM (SELECT * FROM ({parts}) AS merged {NEWEST_FIRST} LIMIT {limit}) AS page \
         LEFT JOIN hotel_booking AS h ON page.kind = 'hotel' \
           AND h.organization = page.organization AND h.mode = page.mode AND h.id = page.id \
         LEFT JOIN flight_booking AS f ON page.kind = 'flight' \
           AND f.organization = page.organization AND f.mode = page.mode AND f.id = page.id{} \
         {NEWEST_FIRST}",
        end.definition, end.row
    ))
}

/// A search among the bookings of a scope.
struct BookingSearch {
    conditions: ConditionBuilder,
    kinds: Vec<AnyBookingKind>,
    reference: Option<String>,
    /// Conditions that an index answers in the order of the list, one for each range of it.
    ranges: Vec<String>,
    /// Conditions that no index begins with.
    matching: Vec<String>,
}

impl BookingSearch {
    fn new(scope: &TenantScope, filter: &BookingScopeFilter, page: &CursorRequest) -> Self {
        let mut conditions = ConditionBuilder::default();
        let mut matching = Vec::new();
        let columns = [
            ("status", filter.status.map(BookingStatus::as_str)),
            ("supplier", filter.supplier.as_ref().map(SupplierId::as_str)),
        ];
        for (column, value) in columns {
            matching.extend(value.map(|value| format!("{column} = {}", conditions.bind(value))));
        }
        let user = filter.user.as_deref().map(|user| conditions.bind(user));
        let user = user.map(|user| format!("user_id = {user}"));
        let mut ranges = if filter.reference.is_some() {
            // The databases read the bookings of a reference by their primary key.
            matching.extend(user);
            let scope = conditions.bind_scope_without_index(scope);
            let key = "organization = found_organization AND mode = found_mode AND id = found_id";
            vec![format!("{scope} AND {key}")]
        } else {
            ranges_of_scope(&mut conditions, scope, user, &mut matching)
        };
        let position = position(&mut conditions, filter, page);
        for range in &mut ranges {
            range.push_str(&position);
        }
        Self {
            kinds: match filter.kind {
                Some(kind) => vec![kind],
                None => AnyBookingKind::ALL.to_vec(),
            },
            reference: filter
                .reference
                .as_deref()
                .map(|text| conditions.bind(text)),
            conditions,
            ranges,
            matching,
        }
    }

    /// Returns the queries of all tables and ranges as one.
    fn parts(&self, part: impl Fn(&Self, (AnyBookingKind, &str, &str)) -> String) -> String {
        let mut parts = Vec::new();
        for kind in &self.kinds {
            let source = source(table(*kind), self.reference.as_deref());
            for range in &self.ranges {
                parts.push(part(self, (*kind, source.as_str(), range.as_str())));
            }
        }
        union_all(&parts)
    }

    /// Returns the end of a search for which no index has all conditions: the latest of the last
    /// bookings of the ranges.
    fn end(&mut self) -> RangesEnd {
        if self.matching.is_empty() || self.reference.is_some() {
            return RangesEnd::default();
        }
        let skipped = self.conditions.bind(EXAMINED_ROWS_MAX - 1);
        let parts = self.parts(|_, (kind, _, range)| last_of_range(table(kind), range, &skipped));
        let row = " UNION ALL SELECT NULL, created_at, id, NULL FROM last";
        RangesEnd::at_last_examined(&parts, row)
    }
}

/// Returns the ranges of a scope. The bookings of a user in an organization have an index of their
/// own.
fn ranges_of_scope(
    conditions: &mut ConditionBuilder,
    scope: &TenantScope,
    user: Option<String>,
    matching: &mut Vec<String>,
) -> Vec<String> {
    let mut ranges = Vec::new();
    for part in ordered_parts(scope) {
        let user = user.as_deref();
        ranges.push(match (user, part.organizations.as_deref()) {
            (Some(user), Some([organization])) => {
                let organization = conditions.bind(organization.as_str());
                let mode = conditions.bind(part.mode);
                format!("{user} AND organization = {organization} AND mode = {mode}")
            }
            (user, _) => {
                matching.extend(user.map(str::to_owned));
                let (range, in_scope) = conditions.bind_ordered_part(&part);
                matching.extend(in_scope);
                range
            }
        });
    }
    ranges
}

/// Returns the conditions of the times and of the position of the page.
fn position(
    conditions: &mut ConditionBuilder,
    filter: &BookingScopeFilter,
    page: &CursorRequest,
) -> String {
    let mut text = String::new();
    if let Some(from) = filter.created_from {
        text.push_str(&format!(" AND created_at >= {}", conditions.bind(from)));
    }
    // Only one condition limits the range from above, because SQLite would begin at either of two.
    let to = filter.created_to;
    match page.after.as_ref() {
        Some(after) if to.is_none_or(|to| after.at <= to) => {
            let at = conditions.bind(after.at);
            let id = conditions.bind(after.id.as_str());
            text.push_str(&format!(" AND (created_at, id) < ({at}, {id})"));
        }
        // Without statistics, PostgreSQL reads the order from an index only if a range of it is
        // requested.
        _ => {
            let last = conditions.bind(to.unwrap_or(Timestamp(i64::MAX)));
            text.push_str(&format!(" AND created_at <= {last}"));
        }
    }
    text
}

const fn table(kind: AnyBookingKind) -> &'static str {
    match kind {
        AnyBookingKind::Hotel => "hotel_booking",
        AnyBookingKind::Flight => "flight_booking",
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
    Ok(match row.enum_value("kind", AnyBookingKind::parse)? {
        AnyBookingKind::Hotel => AnyBooking::Hotel(Box::new(row.json("document")?)),
        AnyBookingKind::Flight => AnyBooking::Flight(Box::new(row.json("document")?)),
    })
}
