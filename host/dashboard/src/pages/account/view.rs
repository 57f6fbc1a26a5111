//! Contents of the account's page, and how they are read.

use crate::error::PageError;
use crate::form::FormProblems;
use crate::page::PageContext;
use crate::qr_code::QrCodeDrawing;
use crate::state::DashboardState;
use crate::text::{self, TimeText};
use askama::Template;
use host_application::account::password_change::ChangePasswordError;
use host_application::account::session::SessionSummary;
use host_application::account::two_factor::TotpEnrolment;
use host_application::account::viewer::Viewer;
use host_domain::id::SessionId;
use host_domain::time::Timestamp;
use secrecy::ExposeSecret;

#[derive(Template)]
#[template(path = "account.html")]
pub(super) struct AccountPage {
    pub(super) page: PageContext,
    pub(super) roles: Vec<String>,
    pub(super) has_password: bool,
    pub(super) two_factor: TwoFactorView,
    pub(super) alert: Option<&'static str>,
    pub(super) form: FormProblems,
    pub(super) sessions: Vec<SessionRow>,
}

impl AccountPage {
    pub(super) fn new(
        page: PageContext,
        viewer: &Viewer,
        sessions: Vec<SessionSummary>,
        now: Timestamp,
    ) -> Self {
        Self {
            page: page.titled("Account"),
            roles: viewer.roles.iter().map(text::role).collect(),
            has_password: false,
            two_factor: TwoFactorView::Unavailable,
            alert: None,
            form: FormProblems::default(),
            sessions: sessions
                .into_iter()
                .map(|session| SessionRow::new(session, &viewer.session, now))
                .collect(),
        }
    }

    /// Returns whether the page shows one form only, which is a step of the set-up.
    pub(super) fn is_step(&self) -> bool {
        match self.two_factor {
            TwoFactorView::Unavailable | TwoFactorView::Off | TwoFactorView::On { .. } => false,
            TwoFactorView::Beginning
            | TwoFactorView::Enrolling { .. }
            | TwoFactorView::RecoveryCodes { .. }
            | TwoFactorView::ReplacingRecoveryCodes
            | TwoFactorView::TurningOff => true,
        }
    }
}

/// Builds the page with the person's sessions and the state of the second factor.
pub(super) async fn account_page(
    state: &DashboardState,
    viewer: &Viewer,
    page: PageContext,
) -> Result<AccountPage, PageError> {
    let accounts = &state.application.accounts;
    let (methods, sessions) = futures::try_join!(
        accounts.two_factor.methods(viewer),
        accounts.sessions.list(viewer),
    )?;
    let now = state.application.clock.now();
    let mut account = AccountPage::new(page, viewer, sessions, now);
    account.has_password = methods.has_password;
    account.two_factor = match (methods.has_password, methods.has_totp) {
        (true, true) => TwoFactorView::On {
            recovery_codes: methods.recovery_codes,
        },
        (true, false) => TwoFactorView::Off,
        (false, _) => TwoFactorView::Unavailable,
    };
    Ok(account)
}

/// Returns why the current password was not accepted.
///
/// # Errors
/// The page of a failure that the person cannot correct.
pub(super) fn current_password_text(error: ChangePasswordError) -> Result<&'static str, PageError> {
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

/// State of two-factor authentication on the page.
pub(super) enum TwoFactorView {
    /// The account has no password. Its provider may require a second factor.
    Unavailable,
    Off,
    On {
        /// Number of unused recovery codes.
        recovery_codes: i64,
    },
    /// The page asks for the current password, because the sign-in was not recent.
    Beginning,
    /// A code of the authenticator app has to confirm the set-up.
    Enrolling {
        secret: String,
        qr_code: Option<QrCodeDrawing>,
        /// The sealed secret, which the form sends back.
        enrolment: String,
    },
    /// New recovery codes. They are shown once.
    RecoveryCodes {
        codes: Vec<String>,
        /// Whether they replace earlier ones.
        is_replacement: bool,
    },
    /// The form to replace the recovery codes, with the field for the current password, is open.
    ReplacingRecoveryCodes,
    /// The form to turn it off, with the field for the current password, is open.
    TurningOff,
}

impl From<TotpEnrolment> for TwoFactorView {
    fn from(enrolment: TotpEnrolment) -> Self {
        Self::Enrolling {
            secret: enrolment.secret.expose_secret().to_owned(),
            qr_code: QrCodeDrawing::new(enrolment.uri.expose_secret()),
            enrolment: enrolment.token.expose_secret().to_owned(),
        }
    }
}

pub(super) struct SessionRow {
    pub(super) id: String,
    pub(super) device: String,
    pub(super) address: String,
    pub(super) user_agent: String,
    pub(super) is_current: bool,
    pub(super) signed_in: TimeText,
    pub(super) seen: TimeText,
}

impl SessionRow {
    fn new(session: SessionSummary, current: &SessionId, now: Timestamp) -> Self {
        Self {
            is_current: session.id == *current,
            id: session.id.to_string(),
            device: device(&session.user_agent),
            address: session.address,
            user_agent: session.user_agent,
            signed_in: TimeText::new(session.created_at, now),
            seen: TimeText::new(session.seen_at, now),
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
