//! Lists whose filter no index serves. A page examines a limited number of rows in the order of an
//! index, and the next page continues there. Two statements read such a page: the first one finds
//! the row at which the page ends, the second one reads the matching rows before it.

use host_domain::page::{Cursor, CursorPage};

/// Maximum number of rows that a page examines. It bounds the time of a filter that few rows match.
pub(crate) const EXAMINED_ROWS_MAX: u32 = 5_000;

/// The order of most lists.
pub(crate) const NEWEST_FIRST: &str = "ORDER BY created_at DESC, id DESC";

/// Texts that follow and precede each id.
pub(crate) const AFTER_ALL_IDS: &str = "z";
pub(crate) const BEFORE_ALL_IDS: &str = "-";

/// The end of a page that does not examine all rows.
pub(crate) struct SearchEnd {
    /// The page examines no row that follows this position.
    pub(crate) examined_to: Cursor,
    next: Cursor,
}

impl SearchEnd {
    /// Returns the end of the page after the position `after`, of which `unexamined` is the first row
    /// beyond [`EXAMINED_ROWS_MAX`]. That row may belong to another organization, so the next page
    /// begins at its time, and not at its id.
    pub(crate) fn at(unexamined: Cursor, after: Option<&Cursor>) -> Self {
        let at = unexamined.at;
        if after.is_some_and(|after| after.at == at) {
            // More rows have this time than one page examines. The list omits those that remain.
            Self {
                examined_to: unexamined,
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
pub(crate) fn continue_at<T>(page: CursorPage<T>, end: Option<SearchEnd>) -> CursorPage<T> {
    CursorPage {
        next: page.next.or(end.map(|end| end.next)),
        ..page
    }
}

/// Builds the query of the first row that a page does not examine, from the query of its rows,
/// which `order` puts in order.
pub(crate) fn first_unexamined(rows: &str, order: &str) -> String {
    format!("{rows} {order} LIMIT 1 OFFSET {EXAMINED_ROWS_MAX}")
}
