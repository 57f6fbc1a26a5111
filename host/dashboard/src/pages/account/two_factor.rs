//! Forms of `/account` that set up two-factor authentication, replace its recovery codes and turn it
//! off.

use crate::error::PageError;
use crate::form::FormFields;
use crate::guard::client::Client;
use crate::guard::session::SignedIn;
use crate::page::PageContext;
use crate::pages::account::view::{
    AccountPage, TwoFactorView, account_page, current_password_text,
};
use crate::render::{redirect, render, render_locked, render_with};
use crate::state::DashboardState;
use axum::extract::State;
use axum::response::Response;
use host_application::account::password_change::ChangePasswordError;
use host_application::account::two_factor::TwoFactorError;
use host_application::account::viewer::Viewer;
use http::StatusCode;
use secrecy::{ExposeSecret, SecretString};

const NOT_CHANGED: &str = "Two-factor authentication was not changed. Correct the marked field.";

/// `POST /account/two-factor`: shows a new secret, after a sign-in that is not recent only with the
/// current password.
pub(super) async fn begin(
    State(state): State<DashboardState>,
    SignedIn(viewer): SignedIn,
    Client(client): Client,
    page: PageContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    let two_factor = &state.application.accounts.two_factor;
    let begun = match fields.all("current_password").next() {
        Some(_) => {
            let password = fields.secret("current_password");
            let begun = two_factor.begin_with_password(&viewer, password, &client);
            begun.await
        }
        None => two_factor.begin(&viewer).await,
    };
    let step = match begun {
        Ok(enrolment) => enrolment.into(),
        Err(TwoFactorError::PasswordRequired) => TwoFactorView::Beginning,
        Err(TwoFactorError::Password(error)) => {
            let step = TwoFactorView::Beginning;
            return password_refused(&state, &viewer, page, step, error).await;
        }
        Err(error) => return shown_again(error),
    };
    Ok(render(&account_step(&state, &viewer, page, step).await?))
}

/// `POST /account/two-factor/confirm`: shows the recovery codes, or the same secret again.
pub(super) async fn confirm(
    State(state): State<DashboardState>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    let two_factor = &state.application.accounts.two_factor;
    let (token, code) = (fields.secret("enrolment"), fields.text("code"));
    match two_factor.confirm(&viewer, &token, code).await {
        Ok(codes) => {
            let step = recovery_codes(&codes, false);
            let account = account_step(&state, &viewer, page, step).await?;
            Ok(render(&account))
        }
        Err(TwoFactorError::WrongCode) => {
            let enrolment = match two_factor.resume(&viewer, &token) {
                Ok(enrolment) => enrolment,
                Err(error) => return shown_again(error),
            };
            let mut account = account_step(&state, &viewer, page, enrolment.into()).await?;
            let problem = "The code is wrong. Enter the one that the app shows now.";
            account.form.add("code", problem);
            account.alert = Some(NOT_CHANGED);
            Ok(render_with(StatusCode::UNPROCESSABLE_ENTITY, &account))
        }
        Err(error) => shown_again(error),
    }
}

/// `POST /account/two-factor/recovery-codes`: replaces the recovery codes and shows the new ones.
pub(super) async fn replace_recovery_codes(
    State(state): State<DashboardState>,
    SignedIn(viewer): SignedIn,
    Client(client): Client,
    page: PageContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    let two_factor = &state.application.accounts.two_factor;
    let password = fields.secret("current_password");
    let replaced = two_factor.replace_recovery_codes(&viewer, password, &client);
    match replaced.await {
        Ok(codes) => {
            let step = recovery_codes(&codes, true);
            Ok(render(&account_step(&state, &viewer, page, step).await?))
        }
        Err(TwoFactorError::Password(error)) => {
            let step = TwoFactorView::ReplacingRecoveryCodes;
            password_refused(&state, &viewer, page, step, error).await
        }
        Err(error) => shown_again(error),
    }
}

/// `POST /account/two-factor/turn-off`
pub(super) async fn turn_off(
    State(state): State<DashboardState>,
    SignedIn(viewer): SignedIn,
    Client(client): Client,
    page: PageContext,
    fields: FormFields,
) -> Result<Response, PageError> {
    let two_factor = &state.application.accounts.two_factor;
    let password = fields.secret("current_password");
    match two_factor.turn_off(&viewer, password, &client).await {
        Ok(()) => Ok(redirect("/account?done=two-factor-off")),
        Err(error) => {
            let step = TwoFactorView::TurningOff;
            password_refused(&state, &viewer, page, step, error).await
        }
    }
}

fn recovery_codes(codes: &[SecretString], is_replacement: bool) -> TwoFactorView {
    let codes = codes.iter().map(|code| code.expose_secret().to_owned());
    TwoFactorView::RecoveryCodes {
        codes: codes.collect(),
        is_replacement,
    }
}

/// Asks again for the current password, which was not accepted.
async fn password_refused(
    state: &DashboardState,
    viewer: &Viewer,
    page: PageContext,
    step: TwoFactorView,
    error: ChangePasswordError,
) -> Result<Response, PageError> {
    let locked_for_s = match error {
        ChangePasswordError::Locked { retry_after_s } => Some(retry_after_s),
        _ => None,
    };
    let mut account = account_step(state, viewer, page, step).await?;
    let problem = current_password_text(error)?;
    account.form.add("current_password", problem);
    account.alert = Some(NOT_CHANGED);
    Ok(match locked_for_s {
        Some(seconds) => render_locked(&account, seconds),
        None => render_with(StatusCode::UNPROCESSABLE_ENTITY, &account),
    })
}

async fn account_step(
    state: &DashboardState,
    viewer: &Viewer,
    page: PageContext,
    step: TwoFactorView,
) -> Result<AccountPage, PageError> {
    let mut account = account_page(state, viewer, page).await?;
    account.two_factor = step;
    Ok(account)
}

/// Returns to the account if another page of the person was faster, or the session is another one.
fn shown_again(error: TwoFactorError) -> Result<Response, PageError> {
    match error {
        TwoFactorError::NotAvailable | TwoFactorError::UnknownEnrolment => Ok(redirect("/account")),
        TwoFactorError::Storage(failure) => Err(failure.into()),
        TwoFactorError::WrongCode
        | TwoFactorError::PasswordRequired
        | TwoFactorError::Password(_)
        | TwoFactorError::Internal(_) => Err(PageError::internal(error)),
    }
}
