//! Lists whose filter no index serves. A page examines a limited number of rows in the order of an
//! index, and the next page continues there. The row at which the page ends is found first, and then
//! the matching rows before it are read. A list that reads one range of an index does so with two
//! statements, [`first_unexamined`] being the first. A list that reads several ranges does so with
//! one, which has the parts of a [`RangesEnd`].

use host_domain::page::{Cursor, CursorPage, CursorRequest};

/// Maximum number of rows of a range that a page examines. It bounds the time of a filter that few
/// rows match.
pub(crate) const EXAMINED_ROWS_MAX: u32 = 5_000;

/// The order of most lists.
pub(crate) const NEWEST_FIRST: &str = "ORDER BY created_at DESC, id DESC";

/// Texts that follow and precede each id.
pub(crate) const AFTER_ALL_IDS: &str = "z";
pub(crate) const BEFORE_ALL_IDS: &str = "-";

/// The end of a page that does not examine all rows.
pub(crate) struct PageEnd {
    /// The page examines no row that follows this position.
    pub(crate) examined_to: Cursor,
    next: Cursor,
}

impl PageEnd {
    /// Returns the end of the page after the position `after`, at the last row that was examined or
    /// the first that was not. That row may belong to another organization, so the next page begins
    /// at its time, and not at its id.
    pub(crate) fn at(row: Cursor, after: Option<&Cursor>) -> Self {
        let at = row.at;
        if after.is_some_and(|after| after.at == at) {
            // More rows have this time than one page examines. The list omits those that remain.
            Self {
                examined_to: row,
                next: Cursor::new(at, BEFORE_ALL_IDS),
            }
        } else {
            // The next page examines all rows of this time, so this one omits them.
            Self {
                examined_to: Cursor::new(at, AFTER_ALL_IDS),
                next: Cursor::new(at, AFTER_ALL_IDS),
            }
        }
    }
}

/// Lets the next page begin where the search ended, unless a further row of this page matches.
pub(crate) fn continue_at<T>(page: CursorPage<T>, end: Option<PageEnd>) -> CursorPage<T> {
    CursorPage {
        next: page.next.or(end.map(|end| end.next)),
        ..page
    }
}

/// Returns the page of the matching rows, of which there is at most one more than the page has. They
/// were examined up to the row `end`, or all if there is none.
pub(crate) fn page_of_examined<T>(
    mut rows: Vec<(Cursor, T)>,
    end: Option<Cursor>,
    page: &CursorRequest,
) -> CursorPage<T> {
    let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    let last = rows.last().map(|(cursor, _)| cursor.clone());
    let next = match end {
        _ if has_more => last,
        None => None,
        Some(end) if last.as_ref() == Some(&end) => last,
        Some(end) => {
            let end = PageEnd::at(end, page.after.as_ref());
            rows.retain(|(cursor, _)| *cursor >= end.examined_to);
            Some(end.next)
        }
    };
    CursorPage {
        items: rows.into_iter().map(|(_, item)| item).collect(),
        next,
    }
}

/// Builds the query of the first row that a page does not examine, from the query of its rows,
/// which `order` puts in order.
pub(crate) fn first_unexamined(rows: &str, order: &str) -> String {
    format!("{rows} {order} LIMIT 1 OFFSET {EXAMINED_ROWS_MAX}")
}

/// The condition of the rows up to the one that [`last_examined`] finds, or of all rows if it finds
/// none.
const UP_TO_LAST_EXAMINED: &str = "(created_at, id) >= \
    (COALESCE((SELECT created_at FROM last), 0), COALESCE((SELECT id FROM last), ''))";

/// The end of a page that examines several ranges with one query, as parts of this query.
#[derive(Default)]
pub(crate) struct RangesEnd {
    /// The common table expression with the last examined row. Empty if all rows are examined.
    pub(crate) definition: String,
    /// The condition of the examined rows. `None` if all rows are examined.
    pub(crate) condition: Option<&'static str>,
    /// The part that returns the last examined row. Empty if all rows are examined.
    pub(crate) row: &'static str,
}

impl RangesEnd {
    /// Returns the end at the last row that the page examines. `parts` are the queries of the last
    /// rows of the ranges, each built by [`last_of_range`]. `row` selects a row of the query from
    /// `last`.
    pub(crate) fn at_last_examined(parts: &str, row: &'static str) -> Self {
        Self {
            definition: last_examined(parts),
            condition: Some(UP_TO_LAST_EXAMINED),
            row,
        }
    }
}

/// Builds the query of the last row of a range that a page examines. `skipped` is the parameter with
/// the number of rows before it.
pub(crate) fn last_of_range(table: &str, range: &str, skipped: &str) -> String {
    format!(
        "SELECT created_at, id FROM {table} WHERE {range} {NEWEST_FIRST} LIMIT 1 OFFSET {skipped}"
    )
}

/// Builds the common table expression `last` with the newest of the last rows of all ranges, which
/// `parts` are the queries of.
fn last_examined(parts: &str) -> String {
    format!(
        "WITH last AS MATERIALIZED (SELECT created_at, id FROM ({parts}) AS ends \
         {NEWEST_FIRST} LIMIT 1) "
    )
}
