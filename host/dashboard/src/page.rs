//! The context of the layout: what every template needs besides its own content.

use crate::local_path::LocalPath;
use crate::nonce::Nonce;
use axum::extract::FromRequestParts;
use host_application::account::viewer::Viewer;
use host_domain::account::Permission;
use host_domain::owner::Mode;
use http::Uri;
use http::request::Parts;
use std::convert::Infallible;
use std::sync::Arc;

/// Context of the layout. It is an extractor. Templates have it as `page`.
#[derive(Debug, Clone)]
pub(crate) struct PageContext {
    /// The text of the title, before "· Stopover".
    pub(crate) title: String,
    /// Nonce of the content security policy, for scripts.
    pub(crate) nonce: Nonce,
    /// Path and query with which a GET opens the page again, without its notice.
    pub(crate) path: String,
    /// The page is the response to a form. To reload it would send the form again.
    pub(crate) is_form_response: bool,
    /// Address of the account, empty before the sign-in.
    pub(crate) email: String,
    /// The organization that the page is about, empty for all that the person may read.
    pub(crate) organization: String,
    pub(crate) is_live: bool,
    /// The change that led to this page, in one sentence.
    pub(crate) notice: Option<&'static str>,
    pub(crate) navigation: Vec<NavigationGroup>,
}

/// Entries of the navigation under one heading.
#[derive(Debug, Clone)]
pub(crate) struct NavigationGroup {
    /// The heading, empty for the first group.
    pub(crate) label: &'static str,
    pub(crate) items: Vec<NavigationItem>,
}

#[derive(Debug, Clone)]
pub(crate) struct NavigationItem {
    pub(crate) label: &'static str,
    pub(crate) path: &'static str,
    /// A name of `components/icon.html`.
    pub(crate) icon: &'static str,
    pub(crate) is_current: bool,
}

/// The navigation: headings with entries, each of which is a label, a path and an icon.
type Navigation = [(
    &'static str,
    &'static [(&'static str, &'static str, &'static str)],
)];

const NAVIGATION: &Navigation = &[
    ("", &[("Overview", "/", "overview")]),
    ("Organization", &[("API keys", "/keys", "key")]),
    ("You", &[("Account", "/account", "account")]),
];

/// Sentences by the query parameter `done`, with which a form redirects to a page. The parameter's
/// own text is never shown.
const NOTICES: &[(&str, &str)] = &[
    (
        "key-revoked",
        "The key is revoked. It stops working within 5 seconds.",
    ),
    (
        "password-changed",
        "The password is changed. All other sessions have ended.",
    ),
    ("session-revoked", "The session has ended."),
];

impl PageContext {
    pub(crate) fn from_parts(parts: &Parts) -> Self {
        let extensions = &parts.extensions;
        let viewer: Option<&Arc<Viewer>> = extensions.get();
        let is_form_response = !parts.method.is_safe();
        let path = if is_form_response {
            page_of_form(parts.uri.path()).to_owned()
        } else {
            path_without_notice(&parts.uri)
        };
        Self {
            title: String::new(),
            nonce: extensions.get().cloned().unwrap_or_default(),
            path: LocalPath::parse(&path).as_str().to_owned(),
            is_form_response,
            email: viewer.map_or_else(String::new, |viewer| viewer.email.to_string()),
            organization: viewer.map_or_else(String::new, |viewer| only_organization(viewer)),
            is_live: viewer.is_some_and(|viewer| viewer.mode == Mode::Live),
            notice: notice(parts.uri.query().unwrap_or_default()),
            navigation: navigation(parts.uri.path()),
        }
    }

    pub(crate) fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the mode of the data that the page shows.
    pub(crate) fn in_mode(mut self, mode: Mode) -> Self {
        self.is_live = mode == Mode::Live;
        self
    }

    /// Sets the organization that a filter names, unless it is empty.
    pub(crate) fn about(mut self, organization: &str) -> Self {
        if !organization.is_empty() {
            organization.clone_into(&mut self.organization);
        }
        self
    }
}

/// Returns the organization that the person may read, if it is the only one.
fn only_organization(viewer: &Viewer) -> String {
    match viewer.organizations_with(Permission::Read).as_deref() {
        Some([only]) => only.clone(),
        Some(_) | None => String::new(),
    }
}

/// Returns the path of the page that has a form, by the path to which the form is sent.
fn page_of_form(path: &str) -> &str {
    match path {
        // These forms are part of the layout.
        "/mode" | "/sign-out" => "/",
        path if path.starts_with("/account/") => "/account",
        path => path.strip_suffix("/revoke").unwrap_or(path),
    }
}

fn path_without_notice(uri: &Uri) -> String {
    let pairs = uri.query().unwrap_or_default().split('&');
    let kept: Vec<&str> = pairs
        .filter(|pair| !pair.is_empty() && !pair.starts_with("done="))
        .collect();
    if kept.is_empty() {
        return uri.path().to_owned();
    }
    format!("{}?{}", uri.path(), kept.join("&"))
}

fn notice(query: &str) -> Option<&'static str> {
    let mut words = query
        .split('&')
        .filter_map(|pair| pair.strip_prefix("done="));
    let word = words.next()?;
    let known = NOTICES.iter().find(|(known, _)| *known == word);
    known.map(|(_, sentence)| *sentence)
}

fn navigation(current: &str) -> Vec<NavigationGroup> {
    let groups = NAVIGATION.iter().map(|(label, items)| NavigationGroup {
        label,
        items: items
            .iter()
            .map(|(label, path, icon)| NavigationItem {
                label,
                path,
                icon,
                is_current: is_within(current, path),
            })
            .collect(),
    });
    groups.collect()
}

/// Returns whether a path is a page or below it.
fn is_within(path: &str, page: &str) -> bool {
    let rest = path.strip_prefix(page);
    rest.is_some_and(|rest| rest.is_empty() || (page != "/" && rest.starts_with('/')))
}

impl<S: Send + Sync> FromRequestParts<S> for PageContext {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self::from_parts(parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_belongs_to_a_page_that_a_get_opens() {
        for (path, page) in [
            ("/mode", "/"),
            ("/sign-out", "/"),
            ("/login", "/login"),
            ("/setup/abc", "/setup/abc"),
            ("/keys", "/keys"),
            ("/keys/key_1/revoke", "/keys/key_1"),
            ("/account/password", "/account"),
            ("/account/sessions/ses_1/revoke", "/account"),
        ] {
            assert_eq!(page_of_form(path), page);
        }
    }
}
