//! Parameters of the admin listener's queries.

use crate::error_code::ErrorCode;
use crate::problem::ApiError;

/// Parses a parameter.
pub(super) fn parse<T>(
    text: Option<String>,
    name: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, ApiError> {
    let Some(text) = text else { return Ok(None) };
    let value = parse(&text).ok_or_else(|| {
        ApiError::from(ErrorCode::ValidationFailed).with_detail(format!("`{name}` is not valid"))
    });
    value.map(Some)
}
