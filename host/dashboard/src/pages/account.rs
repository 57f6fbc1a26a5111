//! `/account`: the person's own password, second factor and sessions.

mod two_factor;
mod view;

use crate::error::PageError;
use crate::form::{FormFields, FormProblems};
use crate::guard::client::Client;
use crate::guard::cookie::session_cookie;
use crate::guard::session::SignedIn;
use crate::page::PageContext;
use crate::pages::account::view::{TwoFactorView, account_page, current_password_text};
use crate::pages::setup::password_text;
use crate::path_text::IdInPath;
use crate::query::QueryFields;
use crate::render::{redirect, render, render_locked, render_with};
use crate::state::{DashboardSettings, DashboardState};
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use host_application::account::password_change::ChangePasswordError;
use host_application::account::session::SessionService;
use host_domain::id::SessionId;
use http::StatusCode;
use http::header::SET_COOKIE;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/account", get(show))
        .route("/account/password", post(change_password))
        .route("/account/two-factor", post(two_factor::begin))
        .route("/account/two-factor/confirm", post(two_factor::confirm))
        .route(
            "/account/two-factor/recovery-codes",
            post(two_factor::replace_recovery_codes),
        )
        .route("/account/two-factor/turn-off", post(two_factor::turn_off))
        .route("/account/sessions/{id}/revoke", post(revoke_session))
}

/// `GET /account`; with `?confirm=turn-off` or `?confirm=recovery-codes` the page asks for the
/// password that turns the second factor off or replaces the recovery codes.
async fn show(
    State(state): State<DashboardState>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let mut account = account_page(&state, &viewer, page).await?;
    let is_on = matches!(account.two_factor, TwoFactorView::On { .. });
    if is_on && query.confirms("turn-off") {
        account.two_factor = TwoFactorView::TurningOff;
    } else if is_on && query.confirms("recovery-codes") {
        account.two_factor = TwoFactorView::ReplacingRecoveryCodes;
    }
    Ok(render(&account))
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
    let mut account = account_page(&state, &viewer, page).await?;
    account.alert = Some("The password was not changed. Correct the marked fields.");
    account.form = form;
    Ok(match locked_for_s {
        Some(seconds) => render_locked(&account, seconds),
        None => render_with(StatusCode::UNPROCESSABLE_ENTITY, &account),
    })
}

/// `POST /account/sessions/{id}/revoke`
async fn revoke_session(
    State(sessions): State<Arc<SessionService>>,
    SignedIn(viewer): SignedIn,
    IdInPath(id): IdInPath<SessionId>,
) -> Result<Response, PageError> {
    if !sessions.revoke(&viewer, &id).await? {
        return Err(PageError::NotFound);
    }
    Ok(redirect("/account?done=session-revoked"))
}
