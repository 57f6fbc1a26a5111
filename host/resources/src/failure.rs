//! JSON resource of failures.

use serde::Serialize;
use utoipa::ToSchema;

/// The reason why an operation failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FailureResource {
    /// Stable, machine-readable code.
    #[schema(example = "book_failed")]
    code: String,
    /// Explanation in one sentence.
    description: String,
}

pub fn failure(failure: &host_domain::booking::Failure) -> FailureResource {
    FailureResource {
        code: failure.code.clone(),
        description: failure.description.clone(),
    }
}
