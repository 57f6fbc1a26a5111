//! Parameters of a list's query.

use axum::extract::FromRequestParts;
use http::request::Parts;
use std::convert::Infallible;
use url::form_urlencoded;

/// The parameters of the query. It is an extractor. Unknown parameters are ignored.
pub(crate) struct QueryFields(Vec<(String, String)>);

impl QueryFields {
    /// Returns the first value of a parameter without the spaces around it, or an empty text.
    pub(crate) fn text(&self, name: &str) -> &str {
        let field = self.0.iter().find(|(known, _)| known == name);
        field.map_or("", |(_, value)| value.trim())
    }

    /// Returns the first value of a parameter unless it is empty.
    pub(crate) fn some(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for QueryFields {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let query = parts.uri.query().unwrap_or_default().as_bytes();
        Ok(Self(form_urlencoded::parse(query).into_owned().collect()))
    }
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
