//! Parameters of a list's query.

use crate::error::PageError;
use axum::extract::FromRequestParts;
use host_application::console::list::ConsoleListRequest;
use host_domain::account::is_organization_id;
use host_domain::page::Cursor;
use host_domain::supplier::SupplierId;
use host_domain::time::Timestamp;
use http::request::Parts;
use std::convert::Infallible;
use url::form_urlencoded;

/// Maximum number of characters of a search, which is that of a request's id. Databases limit the
/// length of a pattern.
const SEARCH_CHARS_MAX: usize = 128;

/// The text in the place of bytes that are not UTF-8.
const REPLACEMENT: &str = "\u{FFFD}";

/// The parameters of the query. It is an extractor. Unknown parameters are ignored.
#[derive(Default)]
pub(crate) struct QueryFields(Vec<(String, String)>);

impl QueryFields {
    /// Parses a query. A NUL character, on which PostgreSQL fails, is replaced as bytes are that are
    /// not UTF-8, so that nothing matches the value.
    pub(crate) fn parse(query: &str) -> Self {
        let fields = form_urlencoded::parse(query.as_bytes()).into_owned();
        let fields = fields.map(|(name, value)| (name, value.replace('\0', REPLACEMENT)));
        Self(fields.collect())
    }

    /// Returns the first value of a parameter without the spaces around it, or an empty text.
    pub(crate) fn text(&self, name: &str) -> &str {
        let field = self.0.iter().find(|(known, _)| known == name);
        field.map_or("", |(_, value)| value.trim())
    }

    /// Returns the first value of a parameter unless it is empty.
    pub(crate) fn some(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// Returns whether the page has to ask before a change, such as `revoke`.
    pub(crate) fn confirms(&self, change: &str) -> bool {
        self.text("confirm") == change
    }

    /// Returns the beginning of a text to search for, without control characters, which no name has.
    pub(crate) fn search(&self, name: &str) -> Option<String> {
        let is_printable = |c: &char| !c.is_control() && *c != char::REPLACEMENT_CHARACTER;
        let printable = self.text(name).chars().filter(is_printable);
        let text: String = printable.take(SEARCH_CHARS_MAX).collect();
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Returns a point in time, as [`parse_time`] reads it.
    pub(crate) fn time(&self, name: &str) -> Option<Timestamp> {
        parse_time(self.text(name))
    }

    /// Returns the last moment of the time up to which a list goes: of the day if there is a date only,
    /// of the minute, or of the second.
    pub(crate) fn last_moment(&self, name: &str) -> Option<Timestamp> {
        let text = self.text(name);
        let latest = match text.len() {
            10 => format!("{text}T23:59:59.999Z"),
            16 => format!("{text}:59.999Z"),
            19 => format!("{text}.999Z"),
            _ => return parse_time(text),
        };
        Timestamp::parse(&latest)
    }

    /// Returns the request for a list with this filter. A position that does not exist is ignored.
    ///
    /// # Errors
    /// [`PageError::NotFound`] if the organization is not an organization's id.
    pub(crate) fn list_request<F>(&self, filter: F) -> Result<ConsoleListRequest<F>, PageError> {
        let organization = self.some("organization");
        if organization.is_some_and(|id| !is_organization_id(id)) {
            return Err(PageError::NotFound);
        }
        Ok(ConsoleListRequest {
            organization: organization.map(str::to_owned),
            filter,
            after: Cursor::parse(self.text("after")),
            matches_nothing: false,
        })
    }

    /// Begins to read a filter.
    pub(crate) fn filter_values(&self) -> FilterValues<'_> {
        FilterValues {
            query: self,
            has_impossible: false,
        }
    }
}

/// The values of a filter. Nothing matches a filter with a value that cannot exist, and its field
/// states the problem.
pub(crate) struct FilterValues<'a> {
    query: &'a QueryFields,
    has_impossible: bool,
}

impl FilterValues<'_> {
    /// Returns the value of a parameter, or `None` if it is absent or cannot exist.
    pub(crate) fn parsed<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = parse(self.query.some(name)?);
        self.has_impossible |= value.is_none();
        value
    }

    /// Returns the value of a parameter as [`Self::parsed`] does, for a `parse` that knows names which
    /// are all in upper case or all in lower case. The parameter may have either.
    pub(crate) fn named<T>(&mut self, name: &str, parse: fn(&str) -> Option<T>) -> Option<T> {
        self.parsed(name, |text| {
            let upper = parse(&text.to_ascii_uppercase());
            upper.or_else(|| parse(&text.to_ascii_lowercase()))
        })
    }

    /// Returns the text of a parameter, as [`QueryFields::search`] does.
    pub(crate) fn search(&self, name: &str) -> Option<String> {
        self.query.search(name)
    }

    /// Returns a point in time, as [`QueryFields::time`] does.
    pub(crate) fn time(&mut self, name: &str) -> Option<Timestamp> {
        let query = self.query;
        self.parsed(name, |_| query.time(name))
    }

    /// Returns the end of a period, as [`QueryFields::last_moment`] does.
    pub(crate) fn last_moment(&mut self, name: &str) -> Option<Timestamp> {
        let query = self.query;
        self.parsed(name, |_| query.last_moment(name))
    }

    /// Returns the request for a list with the filter that was read.
    ///
    /// # Errors
    /// As of [`QueryFields::list_request`].
    pub(crate) fn list_request<F>(self, filter: F) -> Result<ConsoleListRequest<F>, PageError> {
        Ok(ConsoleListRequest {
            matches_nothing: self.has_impossible,
            ..self.query.list_request(filter)?
        })
    }
}

/// Parses the name of a supplier, in upper or lower case.
pub(crate) fn parse_supplier(text: &str) -> Option<SupplierId> {
    SupplierId::parse(&text.to_ascii_uppercase()).ok()
}

impl<S: Send + Sync> FromRequestParts<S> for QueryFields {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default()))
    }
}

/// Parses a point in time: RFC 3339, or a date with or without a time, in UTC.
pub(crate) fn parse_time(text: &str) -> Option<Timestamp> {
    let zoned = match text.len() {
        // 2026-11-26
        10 => format!("{text}T00:00:00Z"),
        // 2026-11-26T05:00
        16 => format!("{text}:00Z"),
        // 2026-11-26T05:00:00
        19 => format!("{text}Z"),
        _ => text.to_owned(),
    };
    Timestamp::parse(&zoned)
}

/// Returns a path with those parameters that are not empty.
pub(crate) fn path_with(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in parameters.iter().filter(|(_, value)| !value.is_empty()) {
        query.append_pair(name, value);
    }
    match query.finish().as_str() {
        "" => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_up_to_a_date_or_minute_has_all_of_it() {
        for (text, expected) in [
            ("2026-11-26", Some("2026-11-26T23:59:59.999Z")),
            ("2026-11-26T05:07", Some("2026-11-26T05:07:59.999Z")),
            ("2026-11-26T23:59:59", Some("2026-11-26T23:59:59.999Z")),
            ("2026-11-26T05:07:09Z", Some("2026-11-26T05:07:09.000Z")),
            ("2026-13-26", None),
        ] {
            let query = QueryFields::parse(&path_with("", &[("to", text)])[1..]);
            let found = query.last_moment("to").map(|at| at.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn search_takes_the_longest_id_of_a_request() {
        let id = "r".repeat(128);
        let query = QueryFields::parse(&format!("q={id}x"));
        assert_eq!(query.search("q"), Some(id));
    }

    #[test]
    fn nul_character_is_no_part_of_any_value() {
        let query = QueryFields::parse("after=1.a%00&q=%00&organization=%00");
        assert_eq!(query.text("after"), "1.a\u{FFFD}");
        assert_eq!(query.search("q"), None);
        assert!(query.list_request(()).is_err());
    }

    #[test]
    fn time_is_read_in_each_form() {
        for (text, expected) in [
            ("2026-11-26", Some("2026-11-26T00:00:00.000Z")),
            ("2026-11-26T05:07", Some("2026-11-26T05:07:00.000Z")),
            ("2026-11-26T05:07:09", Some("2026-11-26T05:07:09.000Z")),
            ("2026-11-26T05:07:09Z", Some("2026-11-26T05:07:09.000Z")),
            (
                "2026-11-26T05:07:09.5+01:00",
                Some("2026-11-26T04:07:09.500Z"),
            ),
            ("26.11.2026", None),
            ("2026-13-26", None),
            ("yesterday", None),
        ] {
            let query = QueryFields::parse(&path_with("", &[("from", text)])[1..]);
            let found = query.time("from").map(|at| at.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
