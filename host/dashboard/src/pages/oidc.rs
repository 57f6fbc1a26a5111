//! `/login/oidc`: single sign-on.

use crate::error::PageError;
use crate::guard::client::Client;
use crate::guard::cookie::{
    challenge_cookie, challenge_token, expired_challenge_cookie, session_cookie,
};
use crate::guard::session::{ForwardPage, arrival};
use crate::local_path::LocalPath;
use crate::page::PageContext;
use crate::pages::login::LoginPage;
use crate::query::QueryFields;
use crate::render::{redirect, render, render_with};
use crate::state::{DashboardSettings, DashboardState};
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use host_application::account::oidc::{OidcCallback, OidcError, OidcService};
use http::header::{ACCEPT, SET_COOKIE};
use http::{HeaderMap, StatusCode};
use std::sync::Arc;

/// Maximum length of a path that is kept during the sign-in. Browsers limit the size of a cookie.
const NEXT_BYTES_MAX: usize = 1000;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/login/oidc", get(begin))
        .route("/login/oidc/callback", get(complete))
}

/// `GET /login/oidc`: leads to the provider, a browser with a page, because the policy of the sign-in
/// forbids its form to be redirected to another site. Other clients are redirected.
async fn begin(
    State(oidc): State<Option<Arc<OidcService>>>,
    State(settings): State<Arc<DashboardSettings>>,
    headers: HeaderMap,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let oidc = oidc.ok_or(PageError::NotFound)?;
    let next = Some(query.text("next")).filter(|next| next.len() <= NEXT_BYTES_MAX);
    let next = LocalPath::parse(next.unwrap_or_default());
    match oidc.begin(next.as_str(), &settings.oidc_callback()).await {
        Ok(begun) => {
            let mut response = match accepts_html(&headers) {
                true => render(&ForwardPage {
                    title: "Single sign-on",
                    heading: "Single sign-on",
                    link: "Continue to your provider",
                    url: &begun.url,
                }),
                false => redirect(&begun.url),
            };
            let cookie = challenge_cookie(&settings, &begun.challenge);
            response.headers_mut().insert(SET_COOKIE, cookie);
            Ok(response)
        }
        Err(error) => refuse(&oidc, page, error),
    }
}

/// Returns whether a client asks for HTML, as browsers do.
fn accepts_html(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// `GET /login/oidc/callback`: the provider sends the person here.
async fn complete(
    State(oidc): State<Option<Arc<OidcService>>>,
    State(settings): State<Arc<DashboardSettings>>,
    Client(client): Client,
    headers: HeaderMap,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let oidc = oidc.ok_or(PageError::NotFound)?;
    let Some(challenge) = challenge_token(&settings, &headers) else {
        return refuse(&oidc, page, OidcError::ChallengeEnded);
    };
    let callback = OidcCallback {
        code: query.text("code"),
        state: query.text("state"),
        issuer: query.some("iss"),
    };
    let redirect_uri = settings.oidc_callback();
    let completed = oidc.complete(callback, &challenge, &redirect_uri, &client);
    let (mut response, session) = match completed.await {
        Ok(signed_in) => {
            let next = LocalPath::parse(&signed_in.next);
            (arrival(&next), Some(signed_in.session))
        }
        Err(error) => (refuse(&oidc, page, error)?, None),
    };
    let cookies = response.headers_mut();
    cookies.append(SET_COOKIE, expired_challenge_cookie(&settings));
    if let Some(session) = session {
        cookies.append(SET_COOKIE, session_cookie(&settings, &session.token));
    }
    Ok(response)
}

/// Returns the sign-in with the reason of a refusal.
///
/// # Errors
/// The page of a failure that the person cannot correct.
fn refuse(oidc: &OidcService, page: PageContext, error: OidcError) -> Result<Response, PageError> {
    let reason = match error {
        OidcError::ChallengeEnded => "The sign-in was declined or took too long. Try again.",
        OidcError::Refused => {
            "Single sign-on failed. Try again, and ask an operator if it remains."
        }
        OidcError::NoEmail => "Your provider names no verified e-mail address.",
        OidcError::NoRole => "Your provider gives you no role here. Ask an operator.",
        OidcError::EmailTaken => {
            "Another account has your address. Sign in with its password, or ask an operator."
        }
        OidcError::Disabled => "Your account is disabled. Ask an operator.",
        OidcError::Unavailable => return Err(PageError::Unavailable),
        OidcError::Storage(failure) => return Err(failure.into()),
        OidcError::Internal(_) => return Err(PageError::internal(error)),
    };
    let login = LoginPage::new(page, Some(oidc), &LocalPath::parse("/"), Some(reason));
    Ok(render_with(StatusCode::UNAUTHORIZED, &login))
}
