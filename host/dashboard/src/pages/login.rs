//! `/login`, its second step and `/sign-out`.

use crate::error::PageError;
use crate::form::FormFields;
use crate::guard::client::Client;
use crate::guard::cookie::{expired_cookie, session_cookie, session_token};
use crate::guard::session::SessionToken;
use crate::local_path::LocalPath;
use crate::page::PageContext;
use crate::query::QueryFields;
use crate::render::{redirect, render, render_locked, render_with};
use crate::state::{DashboardSettings, DashboardState};
use askama::Template;
use axum::extract::{FromRef, State};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use host_application::account::oidc::OidcService;
use host_application::account::session::{NewSession, SessionService};
use host_application::account::sign_in::{SecondFactor, SignInError, SignInService, SignInStep};
use host_application::account::viewer::Viewer;
use http::header::SET_COOKIE;
use http::{HeaderMap, StatusCode};
use secrecy::ExposeSecret;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/login", get(show).post(sign_in))
        .route("/login/code", post(enter_code))
        .route("/sign-out", post(sign_out))
}

/// The refusal of a password. It is the same if the account does not exist or is locked.
const REFUSAL: &str =
    "Email or password is wrong. After five failures, sign-in is locked for 15 minutes.";

/// The refusal of a code. It is the same if the account is locked.
const CODE_REFUSAL: &str =
    "The code is wrong or was used before. After five failures, sign-in is locked for 15 minutes.";

const CHALLENGE_ENDED: &str = "The sign-in took too long. Enter your password again.";

#[derive(Template)]
#[template(path = "login.html")]
pub(super) struct LoginPage {
    page: PageContext,
    alert: Option<&'static str>,
    /// The browser has the cookie of a session that has ended.
    has_session_ended: bool,
    email: String,
    next: String,
    has_single_sign_on: bool,
}

impl LoginPage {
    pub(super) fn new(
        page: PageContext,
        oidc: Option<&OidcService>,
        next: &LocalPath,
        alert: Option<&'static str>,
    ) -> Self {
        Self {
            page: page.titled("Sign in"),
            alert,
            has_session_ended: false,
            email: String::new(),
            next: next.as_str().to_owned(),
            has_single_sign_on: oidc.is_some(),
        }
    }
}

#[derive(Template)]
#[template(path = "login_code.html")]
struct CodePage {
    page: PageContext,
    alert: Option<&'static str>,
    challenge: String,
    next: String,
    is_recovery: bool,
}

/// `GET /login`
async fn show(
    State(oidc): State<Option<Arc<OidcService>>>,
    State(settings): State<Arc<DashboardSettings>>,
    page: PageContext,
    viewer: Option<Extension<Arc<Viewer>>>,
    headers: HeaderMap,
    query: QueryFields,
) -> Response {
    let next = LocalPath::parse(query.text("next"));
    if viewer.is_some() {
        return redirect(next.as_str());
    }
    let mut login = LoginPage::new(page, oidc.as_deref(), &next, None);
    login.has_session_ended = session_token(&settings, &headers).is_some();
    render(&login)
}

/// The services of the forms.
#[derive(Clone)]
struct SignInServices {
    oidc: Option<Arc<OidcService>>,
    sign_ins: Arc<SignInService>,
    sessions: Arc<SessionService>,
}

impl FromRef<DashboardState> for SignInServices {
    fn from_ref(state: &DashboardState) -> Self {
        Self {
            oidc: FromRef::from_ref(state),
            sign_ins: FromRef::from_ref(state),
            sessions: FromRef::from_ref(state),
        }
    }
}

/// `POST /login`: asks for a code, or begins a session. A session that is open in this browser ends
/// then.
async fn sign_in(
    State(services): State<SignInServices>,
    State(settings): State<Arc<DashboardSettings>>,
    Client(client): Client,
    earlier: Option<Extension<SessionToken>>,
    page: PageContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    let next = LocalPath::parse(fields.text("next"));
    let (email, password) = (fields.text("email"), fields.secret("password"));
    let refusal = match services
        .sign_ins
        .with_password(email, password, &client)
        .await
    {
        Ok(SignInStep::Session(session)) => {
            end_session(&services.sessions, earlier).await?;
            return Ok(open_session(&settings, &session, &next));
        }
        Ok(SignInStep::CodeRequired { challenge }) => {
            let code_page = CodePage {
                page: page.titled("Sign in"),
                alert: None,
                challenge: challenge.expose_secret().to_owned(),
                next: next.as_str().to_owned(),
                is_recovery: false,
            };
            return Ok(render(&code_page));
        }
        Err(error) => Refusal::new(error)?,
    };
    let mut login = LoginPage::new(page, services.oidc.as_deref(), &next, Some(REFUSAL));
    email.clone_into(&mut login.email);
    Ok(refusal.render(&login))
}

/// `POST /login/code`: begins a session, or asks for a recovery code instead.
async fn enter_code(
    State(services): State<SignInServices>,
    State(settings): State<Arc<DashboardSettings>>,
    Client(client): Client,
    earlier: Option<Extension<SessionToken>>,
    page: PageContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    let next = LocalPath::parse(fields.text("next"));
    let recovery_code = fields.all("recovery_code").next();
    let asks_for_recovery = !fields.text("use_recovery_code").is_empty();
    let mut code_page = CodePage {
        page: page.titled("Sign in"),
        alert: None,
        challenge: fields.text("challenge").to_owned(),
        next: next.as_str().to_owned(),
        is_recovery: asks_for_recovery || recovery_code.is_some(),
    };
    if asks_for_recovery {
        return Ok(render(&code_page));
    }
    let factor = match recovery_code {
        None => SecondFactor::Totp(fields.text("code")),
        Some(code) => SecondFactor::RecoveryCode(code),
    };
    let challenge = fields.secret("challenge");
    let signed_in = services
        .sign_ins
        .with_second_factor(&challenge, factor, &client);
    let refusal = match signed_in.await {
        Ok(session) => {
            end_session(&services.sessions, earlier).await?;
            return Ok(open_session(&settings, &session, &next));
        }
        Err(SignInError::ChallengeEnded) => {
            let page = code_page.page;
            let login =
                LoginPage::new(page, services.oidc.as_deref(), &next, Some(CHALLENGE_ENDED));
            return Ok(render_with(StatusCode::UNAUTHORIZED, &login));
        }
        Err(error) => Refusal::new(error)?,
    };
    code_page.alert = Some(CODE_REFUSAL);
    Ok(refusal.render(&code_page))
}

/// The session that was open in the browser must not outlive the sign-in.
async fn end_session(
    sessions: &SessionService,
    earlier: Option<Extension<SessionToken>>,
) -> Result<(), PageError> {
    if let Some(Extension(SessionToken(token))) = earlier {
        sessions.end(&token).await?;
    }
    Ok(())
}

fn open_session(settings: &DashboardSettings, session: &NewSession, next: &LocalPath) -> Response {
    let mut response = redirect(next.as_str());
    let cookie = session_cookie(settings, &session.token);
    response.headers_mut().insert(SET_COOKIE, cookie);
    response
}

/// A sign-in that was not accepted. The pages say the same in both cases.
enum Refusal {
    Wrong,
    Locked { retry_after_s: u64 },
}

impl Refusal {
    /// # Errors
    /// The page of a failure that the person cannot correct.
    fn new(error: SignInError) -> Result<Self, PageError> {
        match error {
            SignInError::Refused => Ok(Self::Wrong),
            SignInError::Locked { retry_after_s } => Ok(Self::Locked { retry_after_s }),
            SignInError::Busy => Err(PageError::Unavailable),
            SignInError::Storage(failure) => Err(failure.into()),
            SignInError::ChallengeEnded | SignInError::Internal(_) => {
                Err(PageError::internal(error))
            }
        }
    }

    fn render(&self, template: &impl Template) -> Response {
        match self {
            Self::Wrong => render_with(StatusCode::UNAUTHORIZED, template),
            Self::Locked { retry_after_s } => render_locked(template, *retry_after_s),
        }
    }
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
