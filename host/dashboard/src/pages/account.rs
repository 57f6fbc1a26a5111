//! `/account`: the person's own password and sessions.

use crate::error::PageError;
use crate::form::{FormFields, FormProblems};
use crate::guard::client::Client;
use crate::guard::cookie::session_cookie;
use crate::guard::session::SignedIn;
use crate::page::PageContext;
use crate::pages::setup::password_text;
use crate::path_text::PathText;
use crate::render::{redirect, render_locked, render_with};
use crate::state::{DashboardSettings, DashboardState};
use crate::text::{self, TimeText};
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use host_application::account::password_change::ChangePasswordError;
use host_application::account::session::{SessionService, SessionSummary};
use host_application::account::viewer::Viewer;
use host_domain::id::SessionId;
use host_domain::time::{Clock, Timestamp};
use http::StatusCode;
use http::header::SET_COOKIE;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/account", get(show))
        .route("/account/password", post(change_password))
        .route("/account/sessions/{id}/revoke", post(revoke_session))
}

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    page: PageContext,
    roles: Vec<String>,
    has_password: bool,
    alert: Option<String>,
    form: FormProblems,
    sessions: Vec<SessionRow>,
}

struct SessionRow {
    id: String,
    device: String,
    address: String,
    user_agent: String,
    is_current: bool,
    signed_in: TimeText,
    seen: TimeText,
}

impl SessionRow {
    fn new(session: SessionSummary, viewer: &Viewer, now: Timestamp) -> Self {
        Self {
            is_current: session.id == viewer.session,
            id: session.id.to_string(),
            device: device(&session.user_agent),
            address: session.address,
            user_agent: session.user_agent,
            signed_in: TimeText::new(session.created_at, now),
            seen: TimeText::new(session.seen_at, now),
        }
    }
}

/// Builds the page; `form` has the problems of the password's form.
async fn account_page(
    sessions: &SessionService,
    clock: &dyn Clock,
    viewer: &Viewer,
    page: PageContext,
    form: FormProblems,
) -> Result<AccountPage, PageError> {
    let (list, now) = (sessions.list(viewer).await?, clock.now());
    let alert = "The password was not changed. Correct the marked fields.";
    Ok(AccountPage {
        page: page.titled("Account"),
        roles: viewer.roles.iter().map(text::role).collect(),
        has_password: true,
        alert: (!form.is_empty()).then(|| alert.to_owned()),
        form,
        sessions: list
            .into_iter()
            .map(|session| SessionRow::new(session, viewer, now))
            .collect(),
    })
}

/// `GET /account`
async fn show(
    State(sessions): State<Arc<SessionService>>,
    State(clock): State<Arc<dyn Clock>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
) -> Result<Response, PageError> {
    let form = FormProblems::default();
    let account = account_page(&sessions, clock.as_ref(), &viewer, page, form).await?;
    Ok(render_with(StatusCode::OK, &account))
}

/// `POST /account/password`: ends all sessions and begins a new one for this browser.
async fn change_password(
    State(state): State<DashboardState>,
    State(settings): State<Arc<DashboardSettings>>,
    SignedIn(viewer): SignedIn,
    Client(client): Client,
    page: PageContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    let accounts = &state.application.accounts;
    let (mut form, mut locked_for_s) = (FormProblems::default(), None);
    if fields.text("new_password") != fields.text("repeat_password") {
        form.add("repeat_password", "The two passwords differ.");
    } else {
        let (current, new) = (
            fields.secret("current_password"),
            fields.secret("new_password"),
        );
        let change = accounts.passwords.change(&viewer, current, new, &client);
        match change.await {
            Ok(session) => {
                let mut response = redirect("/account?done=password-changed");
                let cookie = session_cookie(&settings, &session.token);
                response.headers_mut().insert(SET_COOKIE, cookie);
                return Ok(response);
            }
            Err(ChangePasswordError::Password(problem)) => {
                form.add("new_password", password_text(problem));
            }
            Err(error) => {
                if let ChangePasswordError::Locked { retry_after_s } = error {
                    locked_for_s = Some(retry_after_s);
                }
                form.add("current_password", current_password_text(error)?);
            }
        }
    }
    let clock = state.application.clock.as_ref();
    let account = account_page(&accounts.sessions, clock, &viewer, page, form).await?;
    Ok(match locked_for_s {
        Some(seconds) => render_locked(&account, seconds),
        None => render_with(StatusCode::UNPROCESSABLE_ENTITY, &account),
    })
}

/// `POST /account/sessions/{id}/revoke`
async fn revoke_session(
    State(sessions): State<Arc<SessionService>>,
    SignedIn(viewer): SignedIn,
    PathText(id): PathText,
) -> Result<Response, PageError> {
    let id = SessionId::parse(&id).map_err(|_| PageError::NotFound)?;
    if !sessions.revoke(&viewer, &id).await? {
        return Err(PageError::NotFound);
    }
    Ok(redirect("/account?done=session-revoked"))
}

/// Returns why the current password was not accepted.
///
/// # Errors
/// The page of a failure that the person cannot correct.
fn current_password_text(error: ChangePasswordError) -> Result<&'static str, PageError> {
    match error {
        ChangePasswordError::WrongPassword => Ok("The password is wrong."),
        ChangePasswordError::Locked { .. } => {
            Ok("Too many wrong passwords. Try again in 15 minutes.")
        }
        ChangePasswordError::Busy => Err(PageError::Unavailable),
        ChangePasswordError::Storage(failure) => Err(failure.into()),
        ChangePasswordError::Password(_) | ChangePasswordError::Internal(_) => {
            Err(PageError::internal(error))
        }
    }
}

/// Programs and systems by the text that identifies them in a user agent. The first match counts,
/// because later ones occur in the text of earlier ones too.
const PROGRAMS: [(&str, &str); 6] = [
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
];
const SYSTEMS: [(&str, &str); 6] = [
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

/// Returns a short form of a user agent, e.g. `Firefox on Linux`.
fn device(user_agent: &str) -> String {
    let find = |known: &[(&str, &'static str)]| {
        let found = known.iter().find(|(text, _)| user_agent.contains(text));
        found.map(|(_, name)| *name)
    };
    match (find(&PROGRAMS), find(&SYSTEMS)) {
        (Some(program), Some(system)) => format!("{program} on {system}"),
        (Some(name), None) | (None, Some(name)) => name.to_owned(),
        (None, None) => "Unknown program".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_names_program_and_system() {
        for (user_agent, expected) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
                "Firefox on Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            ("curl/8.5.0", "curl"),
            ("", "Unknown program"),
        ] {
            assert_eq!(device(user_agent), expected);
        }
    }
}
