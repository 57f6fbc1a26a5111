//! `/login` and `/sign-out`.

use crate::error::PageError;
use crate::form::FormFields;
use crate::guard::client::Client;
use crate::guard::cookie::{expired_cookie, session_cookie};
use crate::guard::session::SessionToken;
use crate::local_path::LocalPath;
use crate::page::PageContext;
use crate::query::QueryFields;
use crate::render::{redirect, render, render_locked, render_with};
use crate::state::{DashboardSettings, DashboardState};
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use host_application::account::session::SessionService;
use host_application::account::sign_in::{SignInError, SignInService};
use host_application::account::viewer::Viewer;
use http::StatusCode;
use http::header::SET_COOKIE;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/login", get(show).post(sign_in))
        .route("/sign-out", post(sign_out))
}

/// The refusal. It does not tell whether the account exists, or whether it is locked.
const REFUSAL: &str =
    "Email or password is wrong. After five failures, sign-in is locked for 15 minutes.";

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage {
    page: PageContext,
    alert: Option<String>,
    email: String,
    next: String,
}

/// `GET /login`
async fn show(
    page: PageContext,
    viewer: Option<Extension<Arc<Viewer>>>,
    query: QueryFields,
) -> Response {
    let next = LocalPath::parse(query.text("next"));
    if viewer.is_some() {
        return redirect(next.as_str());
    }
    let login = LoginPage {
        page: page.titled("Sign in"),
        alert: None,
        email: String::new(),
        next: next.as_str().to_owned(),
    };
    render(&login)
}

/// `POST /login`: a session that is open in this browser ends.
async fn sign_in(
    State(sign_ins): State<Arc<SignInService>>,
    State(sessions): State<Arc<SessionService>>,
    State(settings): State<Arc<DashboardSettings>>,
    Client(client): Client,
    earlier: Option<Extension<SessionToken>>,
    page: PageContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    let next = LocalPath::parse(fields.text("next"));
    let (email, password) = (fields.text("email"), fields.secret("password"));
    let locked_for_s = match sign_ins.with_password(email, password, &client).await {
        Ok(session) => {
            if let Some(Extension(SessionToken(token))) = earlier {
                sessions.end(&token).await?;
            }
            let mut response = redirect(next.as_str());
            let cookie = session_cookie(&settings, &session.token);
            response.headers_mut().insert(SET_COOKIE, cookie);
            return Ok(response);
        }
        Err(SignInError::Refused) => None,
        Err(SignInError::Locked { retry_after_s }) => Some(retry_after_s),
        Err(SignInError::Busy) => return Err(PageError::Unavailable),
        Err(SignInError::Storage(failure)) => return Err(failure.into()),
        Err(error @ SignInError::Internal(_)) => return Err(PageError::internal(error)),
    };
    let login = LoginPage {
        page: page.titled("Sign in"),
        alert: Some(REFUSAL.to_owned()),
        email: email.to_owned(),
        next: next.as_str().to_owned(),
    };
    Ok(match locked_for_s {
        Some(seconds) => render_locked(&login, seconds),
        None => render_with(StatusCode::UNAUTHORIZED, &login),
    })
}

/// `POST /sign-out`
async fn sign_out(
    State(sessions): State<Arc<SessionService>>,
    State(settings): State<Arc<DashboardSettings>>,
    SessionToken(token): SessionToken,
) -> Result<Response, PageError> {
    sessions.end(&token).await?;
    let mut response = redirect("/login");
    let cookie = expired_cookie(&settings);
    response.headers_mut().insert(SET_COOKIE, cookie);
    Ok(response)
}
