//! The context of the layout: what every template needs besides its own content.

use crate::local_path::LocalPath;
use crate::nonce::Nonce;
use axum::extract::FromRequestParts;
use host_application::account::viewer::Viewer;
use host_domain::account::Permission;
use host_domain::owner::Mode;
use http::request::Parts;
use http::{Method, Uri};
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

/// An entry of the navigation: label, path, icon, and the permission without which it is hidden.
type Entry = (&'static str, &'static str, &'static str, Option<Permission>);

/// The navigation: headings with entries.
const NAVIGATION: &[(&str, &[Entry])] = &[
    ("", &[("Overview", "/", "overview", None)]),
    (
        "Traffic",
        &[
            ("Requests", "/requests", "requests", None),
            ("Bookings", "/bookings", "bookings", None),
            ("Unresolved", "/unresolved", "unresolved", None),
        ],
    ),
    (
        "Delivery",
        &[
            ("Webhooks", "/webhooks", "webhooks", None),
            ("Deliveries", "/deliveries", "deliveries", None),
            ("Watches", "/watches", "watches", None),
        ],
    ),
    (
        "Supply",
        &[
            ("Suppliers", "/suppliers", "supplier", None),
            ("Mandates", "/mandates", "mandates", None),
        ],
    ),
    (
        "Organization",
        &[
            ("API keys", "/keys", "key", None),
            ("Members", "/members", "members", None),
            (
                "Audit log",
                "/audit",
                "audit",
                Some(Permission::ReadAuditLog),
            ),
            ("Go-live checklist", "/go-live", "checklist", None),
        ],
    ),
    ("You", &[("Account", "/account", "account", None)]),
];

/// Last parts of the paths of forms that belong to the page at the path before it.
const FORM_SUFFIXES: &[&str] = &[
    "/invitations/revoke",
    "/role",
    "/remove",
    "/accept",
    "/revoke",
    "/reveal",
    "/pause",
    "/resume",
    "/rotate",
    "/delete",
    "/test",
    "/recover",
    "/replay",
    "/cancel",
    "/settle",
    "/withdraw",
    "/retry",
    "/reload",
    "/drain",
    "/undrain",
    "/rank",
    "/verify",
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
    (
        "two-factor-off",
        "Two-factor authentication is off. Your password alone signs you in.",
    ),
    ("member-changed", "The role is changed. It holds at once."),
    (
        "member-removed",
        "The member is removed and sees nothing of the organization any more.",
    ),
    ("invitation-revoked", "The invitation is revoked."),
    (
        "no-invitation",
        "The address has no open invitation, so nothing was revoked.",
    ),
    (
        "watch-canceled",
        "The watch is canceled. Its price is no longer checked.",
    ),
    (
        "watch-not-cancelable",
        "The watch has ended or is buying, so nothing was canceled.",
    ),
    (
        "mandate-revoked",
        "The mandate is revoked. Nothing can be bought under it any more.",
    ),
    (
        "mandate-not-revocable",
        "The mandate was used or has expired, so it was not revoked.",
    ),
    ("webhook-changed", "The webhook is changed."),
    (
        "webhook-paused",
        "The webhook is paused. Its deliveries wait until it is resumed.",
    ),
    (
        "webhook-resumed",
        "The webhook is active. Waiting deliveries are sent now.",
    ),
    ("webhook-deleted", "The webhook is deleted."),
    (
        "webhook-recovered",
        "The deliveries that failed since then are sent again.",
    ),
    ("nothing-to-recover", "No delivery has failed since then."),
    ("test-sent", "The test event is on its way."),
    ("delivery-replayed", "The delivery is sent again."),
    (
        "bulk-replay-stopped",
        "The replay is stopped. Deliveries that it had replayed already are sent.",
    ),
    ("joined", "You have joined the organization."),
    ("outcome-settled", "The decision is applied."),
    (
        "decision-kept",
        "A lookup is under way. The decision is kept and applied when it ends.",
    ),
    (
        "decision-withdrawn",
        "The decision is withdrawn and will not be applied.",
    ),
    (
        "decision-ended",
        "The decision does not wait any more, so nothing was withdrawn.",
    ),
    ("job-retried", "The job is due now."),
    (
        "sample-data",
        "Sample data is being made. Reload the page in a few seconds.",
    ),
    (
        "supplier-reloaded",
        "The plugin is reloaded on this gateway process.",
    ),
    (
        "supplier-drained",
        "The supplier gets no new searches and offers. Other gateway processes follow within seconds.",
    ),
    (
        "supplier-undrained",
        "The supplier gets new requests again. Other gateway processes follow within seconds.",
    ),
    (
        "supplier-ranked",
        "Priority and weight are changed. Other gateway processes follow within seconds.",
    ),
];

impl PageContext {
    pub(crate) fn from_parts(parts: &Parts) -> Self {
        let extensions = &parts.extensions;
        let viewer: Option<&Arc<Viewer>> = extensions.get();
        let nonce = extensions.get().cloned().unwrap_or_default();
        Self::new(&parts.method, &parts.uri, nonce, viewer.map(Arc::as_ref))
    }

    /// Returns the context of a request. `viewer` is `None` before the sign-in.
    pub(crate) fn new(method: &Method, uri: &Uri, nonce: Nonce, viewer: Option<&Viewer>) -> Self {
        let is_form_response = !method.is_safe();
        let path = match is_form_response {
            // A form carries the filter of the list that it belongs to.
            true => page_of_form(uri.path()),
            false => uri.path(),
        };
        let path = with_query_but_notice(path, uri);
        Self {
            title: String::new(),
            nonce,
            path: LocalPath::parse(&path).as_str().to_owned(),
            is_form_response,
            email: viewer.map_or_else(String::new, |viewer| viewer.email.to_string()),
            organization: viewer.map_or_else(String::new, only_organization),
            is_live: viewer.is_some_and(|viewer| viewer.mode == Mode::Live),
            notice: notice(uri.query().unwrap_or_default()),
            navigation: navigation(uri.path(), viewer),
        }
    }

    pub(crate) fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Removes the notice, because the page to which the change led cannot be shown.
    pub(crate) fn without_notice(mut self) -> Self {
        self.notice = None;
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
        "/mode" | "/sign-out" | "/sample-data" => "/",
        "/login/code" => "/login",
        path if path.starts_with("/account/") => "/account",
        path if path.starts_with("/deliveries/replays/") => "/deliveries",
        path => {
            let mut suffixes = FORM_SUFFIXES.iter();
            suffixes
                .find_map(|suffix| path.strip_suffix(suffix))
                .unwrap_or(path)
        }
    }
}

fn with_query_but_notice(path: &str, uri: &Uri) -> String {
    let pairs = uri.query().unwrap_or_default().split('&');
    let kept: Vec<&str> = pairs
        .filter(|pair| !pair.is_empty() && !pair.starts_with("done="))
        .collect();
    if kept.is_empty() {
        return path.to_owned();
    }
    format!("{path}?{}", kept.join("&"))
}

fn notice(query: &str) -> Option<&'static str> {
    let mut words = query
        .split('&')
        .filter_map(|pair| pair.strip_prefix("done="));
    let word = words.next()?;
    let known = NOTICES.iter().find(|(known, _)| *known == word);
    known.map(|(_, sentence)| *sentence)
}

/// Returns the entries that are open to the person.
fn navigation(current: &str, viewer: Option<&Viewer>) -> Vec<NavigationGroup> {
    let is_open = |permission: &Option<Permission>| {
        permission.is_none_or(|needed| viewer.is_some_and(|viewer| viewer.may_anywhere(needed)))
    };
    let groups = NAVIGATION.iter().map(|(label, entries)| NavigationGroup {
        label,
        items: entries
            .iter()
            .filter(|(_, _, _, permission)| is_open(permission))
            .map(|(label, path, icon, _)| NavigationItem {
                label,
                path,
                icon,
                is_current: is_within(current, path),
            })
            .collect(),
    });
    groups.filter(|group| !group.items.is_empty()).collect()
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
            ("/login/code", "/login"),
            ("/setup/abc", "/setup/abc"),
            ("/keys", "/keys"),
            ("/keys/key_1/revoke", "/keys/key_1"),
            ("/members/acme/acc_1/role", "/members/acme/acc_1"),
            ("/members/invitations/revoke", "/members"),
            ("/setup/abc/accept", "/setup/abc"),
            ("/unresolved/settle", "/unresolved"),
            ("/unresolved/withdraw", "/unresolved"),
            ("/deliveries/replay", "/deliveries"),
            ("/deliveries/replays/blk_1/stop", "/deliveries"),
            ("/account/password", "/account"),
            ("/account/sessions/ses_1/revoke", "/account"),
        ] {
            assert_eq!(page_of_form(path), page);
        }
    }
}
