//! `/setup/{token}`: sets up an account with the link that an operator or an admin made, or adds an
//! account to an organization.

use crate::error::PageError;
use crate::form::{FormFields, FormProblems};
use crate::guard::client::Client;
use crate::guard::cookie::session_cookie;
use crate::page::PageContext;
use crate::path_text::PathText;
use crate::query::path_with;
use crate::render::{redirect, render, render_with};
use crate::state::{DashboardSettings, DashboardState};
use crate::text;
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use host_application::account::setup::{LinkDescription, SetupError, SetupService};
use host_application::account::viewer::Viewer;
use host_domain::account::PasswordProblem;
use http::StatusCode;
use http::header::SET_COOKIE;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new()
        .route("/setup/{token}", get(show).post(complete))
        .route("/setup/{token}/accept", post(accept))
}

#[derive(Template)]
#[template(path = "setup.html")]
struct SetupPage {
    page: PageContext,
    token: String,
    alert: Option<String>,
    email: String,
    /// The link was made for this address.
    is_email_fixed: bool,
    roles: Vec<String>,
    form: FormProblems,
}

impl SetupPage {
    fn new(page: PageContext, token: String, link: LinkDescription) -> Self {
        Self {
            page: page.titled("Set up your account"),
            token,
            alert: None,
            is_email_fixed: link.email.is_some(),
            email: link.email.map_or_else(String::new, String::from),
            roles: link.roles.iter().map(text::role).collect(),
            form: FormProblems::default(),
        }
    }
}

/// The page of an invitation for a person who has an account.
#[derive(Template)]
#[template(path = "join.html")]
struct JoinPage {
    page: PageContext,
    token: String,
    email: String,
    organization: String,
    roles: Vec<String>,
    sign_in: String,
    is_invited: bool,
    viewer: Option<String>,
}

/// `GET /setup/{token}`
async fn show(
    State(setup): State<Arc<SetupService>>,
    PathText(token): PathText,
    viewer: Option<Extension<Arc<Viewer>>>,
    page: PageContext,
) -> Result<Response, PageError> {
    let link = setup.describe(&token).await.map_err(page_error)?;
    if let Some(organization) = link.joins {
        let path = page.path.clone();
        let email = link.email.map_or_else(String::new, String::from);
        let viewer = viewer.map(|Extension(viewer)| viewer.email.to_string());
        return Ok(render(&JoinPage {
            page: page.titled(format!("Join {organization}")),
            token,
            is_invited: viewer.as_ref() == Some(&email),
            email,
            organization,
            roles: link.roles.iter().map(text::role).collect(),
            sign_in: path_with("/login", &[("next", &path)]),
            viewer,
        }));
    }
    let setup_page = SetupPage::new(page, token, link);
    Ok(render(&setup_page))
}

/// `POST /setup/{token}`
async fn complete(
    State(setup): State<Arc<SetupService>>,
    State(settings): State<Arc<DashboardSettings>>,
    PathText(token): PathText,
    Client(client): Client,
    page: PageContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    let link = setup.describe(&token).await.map_err(page_error)?;
    if link.joins.is_some() {
        return Ok(redirect(&page.path));
    }
    let mut form = FormProblems::default();
    if fields.text("password") != fields.text("repeat_password") {
        form.add("repeat_password", "The two passwords differ.");
    } else {
        let (email, password) = (fields.text("email"), fields.secret("password"));
        match setup.complete(&token, email, password, &client).await {
            Ok(session) => {
                let mut response = redirect("/");
                let cookie = session_cookie(&settings, &session.token);
                response.headers_mut().insert(SET_COOKIE, cookie);
                return Ok(response);
            }
            Err(SetupError::Email(_)) => {
                form.add("email", "Enter a complete address, e.g. ada@example.com.");
            }
            Err(SetupError::EmailTaken) => {
                form.add("email", "An account with this address exists.");
            }
            Err(SetupError::Password(problem)) => form.add("password", password_text(problem)),
            Err(error) => return Err(page_error(error)),
        }
    }
    let mut setup_page = SetupPage::new(page, token, link);
    if !setup_page.is_email_fixed {
        setup_page.email = fields.text("email").to_owned();
    }
    setup_page.alert = Some("The account was not created. Correct the marked fields.".to_owned());
    setup_page.form = form;
    Ok(render_with(StatusCode::UNPROCESSABLE_ENTITY, &setup_page))
}

/// `POST /setup/{token}/accept`
async fn accept(
    State(setup): State<Arc<SetupService>>,
    PathText(token): PathText,
    viewer: Option<Extension<Arc<Viewer>>>,
    page: PageContext,
) -> Result<Response, PageError> {
    // The page of the link says which account has to sign in.
    let Some(Extension(viewer)) = viewer else {
        return Ok(redirect(&page.path));
    };
    match setup.accept(&token, &viewer).await {
        Ok(()) => Ok(redirect("/?done=joined")),
        Err(SetupError::OtherAccount) => Ok(redirect(&page.path)),
        Err(error) => Err(page_error(error)),
    }
}

/// Returns what is wrong with a new password.
pub(super) fn password_text(problem: PasswordProblem) -> &'static str {
    match problem {
        PasswordProblem::TooShort => "Use at least 12 characters.",
        PasswordProblem::TooLong => "Use at most 128 characters.",
        PasswordProblem::EqualsEmail => "Use something else than your address.",
        PasswordProblem::TooCommon => "This is a common password. Choose another one.",
    }
}

fn page_error(error: SetupError) -> PageError {
    match error {
        SetupError::NotFound => PageError::NotFound,
        SetupError::Busy => PageError::Unavailable,
        SetupError::Storage(failure) => failure.into(),
        SetupError::Email(_)
        | SetupError::EmailTaken
        | SetupError::OtherAccount
        | SetupError::Password(_)
        | SetupError::Internal(_) => PageError::internal(error),
    }
}
