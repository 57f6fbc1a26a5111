//! Query parameters.

use crate::extract::RequestReader;
use crate::problem::ViolationLocation;
use crate::validation::escape;

/// Maximum number of query parameters. Requests with more are rejected without reading them.
const PARAMETERS_MAX: usize = 100;

impl RequestReader<'_> {
    /// Adds violations for all query parameters, for operations that accept none.
    pub(super) fn reject_query_parameters(&mut self) {
        for (name, _) in self.query_parameters() {
            let pointer = format!("/{}", escape(&name));
            let detail = "there is no such parameter";
            self.report(ViolationLocation::Query, &pointer, "unknown_field", detail);
        }
    }

    /// Returns the decoded names and values of the query. Too many parameters are a violation.
    pub(super) fn query_parameters(&mut self) -> Vec<(String, String)> {
        let query = self.uri.query().unwrap_or_default();
        let mut parameters = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            if parameters.len() == PARAMETERS_MAX {
                let detail = format!("at most {PARAMETERS_MAX} parameters");
                self.report(ViolationLocation::Query, "", "too_many", detail);
                return Vec::new();
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match (decode_form(name), decode_form(value)) {
                (Some(name), Some(value)) => parameters.push((name, value)),
                _ => self.report(
                    ViolationLocation::Query,
                    "",
                    "format",
                    "not percent-encoded UTF-8",
                ),
            }
        }
        parameters
    }
}

/// Decodes `application/x-www-form-urlencoded` text. Returns `None` if it is not UTF-8.
fn decode_form(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}
