//! Submitted forms and what is wrong with their fields.

use crate::error::PageError;
use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use host_application::account::viewer::Viewer;
use host_domain::account::{AccountRole, Permission};
use secrecy::SecretString;
use url::form_urlencoded;

/// Maximum size of a form.
pub(crate) const BODY_BYTES_MAX: usize = 64 * 1024;

/// The fields of a form, in order. A name may occur several times. It is an extractor, which refuses
/// a NUL character: PostgreSQL stores none, and no person can type it.
pub(crate) struct FormFields(Vec<(String, String)>);

impl FormFields {
    /// Returns the first value of a field, or an empty text.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// Returns all values of a field, such as the checked ones of several boxes.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let fields = self.0.iter().filter(move |(known, _)| known == name);
        fields.map(|(_, value)| value.as_str())
    }

    /// Returns the first value of a field that must not be printed.
    pub(crate) fn secret(&self, name: &str) -> SecretString {
        self.text(name).into()
    }
}

impl<S: Send + Sync> FromRequest<S> for FormFields {
    type Rejection = PageError;

    async fn from_request(request: Request, _state: &S) -> Result<Self, PageError> {
        let body = to_bytes(request.into_body(), BODY_BYTES_MAX).await;
        let body = body.map_err(|_| PageError::BodyTooLarge)?;
        let fields = form_urlencoded::parse(&body).into_owned();
        let fields: Vec<(String, String)> = fields.collect();
        match fields.iter().any(|(_, value)| value.contains('\0')) {
            true => Err(PageError::NulCharacter),
            false => Ok(Self(fields)),
        }
    }
}

/// Returns the organization that a form proposes: the first in which the person may do something by
/// a role of the organization. The form of a person with one organization has no field for it.
pub(crate) fn own_organization(viewer: &Viewer, permission: Permission) -> Option<&str> {
    viewer.roles.iter().find_map(|role| match role {
        AccountRole::Operator => None,
        AccountRole::Organization { organization, .. } => role
            .permits(permission, organization)
            .then_some(organization.as_str()),
    })
}

/// Problems of a form's fields, shown beside them. Templates have it as `form`.
#[derive(Debug, Clone, Default)]
pub(crate) struct FormProblems(Vec<(&'static str, String)>);

impl FormProblems {
    pub(crate) fn add(&mut self, field: &'static str, problem: impl Into<String>) {
        self.0.push((field, problem.into()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the first problem of a field.
    pub(crate) fn problem(&self, field: &str) -> Option<&str> {
        let problem = self.0.iter().find(|(known, _)| *known == field);
        problem.map(|(_, text)| text.as_str())
    }
}
