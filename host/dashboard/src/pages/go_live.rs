//! `/go-live`: what an integration has shown to work, and what is left.

use crate::error::PageError;
use crate::guard::session::SignedIn;
use crate::list::FilterForm;
use crate::page::PageContext;
use crate::query::QueryFields;
use crate::render::render;
use crate::state::DashboardState;
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use host_application::account::viewer::Viewer;
use host_application::console::go_live::GoLiveService;
use host_domain::account::Permission;
use host_domain::console::go_live::GoLiveStep;
use std::sync::Arc;

pub(crate) fn routes() -> Router<DashboardState> {
    Router::new().route("/go-live", get(show))
}

#[derive(Template)]
#[template(path = "go_live.html")]
struct GoLivePage {
    page: PageContext,
    filter: FilterForm,
    done: usize,
    items: Vec<ChecklistItem>,
}

struct ChecklistItem {
    is_done: bool,
    text: StepText,
}

/// A step in words.
struct StepText {
    title: &'static str,
    /// Instruction for the step, with its reason.
    detail: &'static str,
    /// Page where the step is done or its results are.
    path: &'static str,
    /// Text of the link to that page.
    link: &'static str,
}

/// `GET /go-live`
async fn show(
    State(service): State<Arc<GoLiveService>>,
    SignedIn(viewer): SignedIn,
    page: PageContext,
    query: QueryFields,
) -> Result<Response, PageError> {
    let request = query.list_request(())?;
    let organization = request.organization.as_deref();
    let checklist = service.read(&viewer, organization).await?;
    let filter = FilterForm::builder("/go-live", &query)
        .organization(
            viewer.reads_several_organizations(),
            &checklist.organizations,
        )
        .build();
    let steps = checklist.steps.into_iter();
    let items: Vec<_> = steps
        .map(|(step, is_done)| ChecklistItem {
            is_done,
            text: step_text(step, &viewer),
        })
        .collect();
    Ok(render(&GoLivePage {
        page: page
            .titled("Go-live checklist")
            .about(organization.unwrap_or_default()),
        filter,
        done: items.iter().filter(|item| item.is_done).count(),
        items,
    }))
}

fn step_text(step: GoLiveStep, viewer: &Viewer) -> StepText {
    let live_key_page = if viewer.may_anywhere(Permission::ManageLiveKeys) {
        ("/keys?create=1", "Create a key")
    } else {
        ("/keys", "API keys")
    };
    let (title, detail, path, link) = match step {
        GoLiveStep::TestKey => (
            "Create a test key",
            "Test keys reach the sandbox only, so everything can be tried.",
            "/keys",
            "API keys",
        ),
        GoLiveStep::FirstCall => (
            "Call the API",
            "Send a request with the test key in the header x-api-key.",
            "/requests",
            "Requests",
        ),
        GoLiveStep::Booking => (
            "Make a booking",
            "Search, price, prebook and book in test mode until a supplier confirms.",
            "/bookings",
            "Bookings",
        ),
        GoLiveStep::Cancellation => (
            "Cancel a booking",
            "Read the cancellation quote first, and check the refund.",
            "/bookings",
            "Bookings",
        ),
        GoLiveStep::UnknownOutcome => (
            "Live through an unknown outcome",
            "Let a sandbox supplier time out. Your program must wait for the outcome and must not book again.",
            "/unresolved",
            "Unresolved",
        ),
        GoLiveStep::Webhook => (
            "Receive a webhook",
            "Subscribe to events, verify their signatures, and answer with a status of 200 to 299.",
            "/webhooks",
            "Webhooks",
        ),
        GoLiveStep::TwoFactor => (
            "Turn on two-factor authentication",
            "Every admin with a password needs it, because admins create live keys.",
            "/account",
            "Account",
        ),
        GoLiveStep::LiveKey => (
            "Create a live key that expires",
            "An expiry limits the harm of a leaked key. Replace the key before it expires.",
            live_key_page.0,
            live_key_page.1,
        ),
    };
    StepText {
        title,
        detail,
        path,
        link,
    }
}
