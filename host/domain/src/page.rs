//! Pages of lists.

use crate::id::ID_CHARS_MAX;
use crate::time::Timestamp;
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    pub limit: u32,
    pub offset: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The items, at most as many as requested.
    pub items: Vec<T>,
    /// Whether the next page has at least one item.
    pub has_more: bool,
}

/// The position of an item in a list that has the latest items first. Its text form is the time in
/// milliseconds, a dot and the id. Cursors are in the order of time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    pub at: Timestamp,
    /// The id, which orders items of the same time.
    pub id: String,
}

impl Cursor {
    pub fn new(at: Timestamp, id: impl Into<String>) -> Self {
        Self { at, id: id.into() }
    }

    /// Parses the text form. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (at, id) = text.split_once('.')?;
        let is_id_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let is_id = !id.is_empty() && id.len() <= ID_CHARS_MAX && id.bytes().all(is_id_byte);
        let at = at.parse().ok().filter(|_| is_id)?;
        Some(Self::new(Timestamp(at), id))
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at.0, self.id)
    }
}

/// A request for a page of a list that has the latest items first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CursorRequest {
    /// The last item of the previous page. `None` for the first page.
    pub after: Option<Cursor>,
    /// Maximum number of items.
    pub limit: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CursorPage<T> {
    /// The items, at most as many as requested.
    pub items: Vec<T>,
    /// The position after which the next page begins. `None` on the last page.
    pub next: Option<Cursor>,
}

impl<T> CursorPage<T> {
    /// Converts the items.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> CursorPage<U> {
        CursorPage {
            items: self.items.into_iter().map(convert).collect(),
            next: self.next,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_round_trips_through_text() {
        let cursor = Cursor::new(Timestamp(-5), "bkg_1-a");
        assert_eq!(cursor.to_string(), "-5.bkg_1-a");
        assert_eq!(Cursor::parse("-5.bkg_1-a"), Some(cursor));
        let long = format!("1.{}", "a".repeat(ID_CHARS_MAX + 1));
        for text in ["", "1", "1.", ".a", "a.a", "1.a b", "1.ä", "1.a\0", &long] {
            assert_eq!(Cursor::parse(text), None, "{text}");
        }
    }
}
