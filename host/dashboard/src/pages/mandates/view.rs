//! Contents of the pages of mandates.

use crate::error::PageError;
use crate::list::{FilterForm, Pager};
use crate::page::PageContext;
use crate::query::QueryFields;
use crate::text::{State, TimeText, day, money};
use askama::Template;
use host_application::account::viewer::Viewer;
use host_application::console::list::{ConsoleList, ConsoleListRequest};
use host_application::console::mandates::MandateView;
use host_domain::console::watch::MandateScopeFilter;
use host_domain::mandate::{MandateScope, MandateState, MandateStatus};
use host_domain::time::Timestamp;

/// Reads the request for the list from a query.
///
/// # Errors
/// [`PageError::NotFound`] if the organization is not an organization's id.
pub(super) fn list_request(
    query: &QueryFields,
) -> Result<ConsoleListRequest<MandateScopeFilter>, PageError> {
    let mut values = query.filter_values();
    let filter = MandateScopeFilter {
        status: values.named("status", MandateStatus::parse),
        user: values.search("user"),
    };
    values.list_request(filter)
}

fn filter_form(query: &QueryFields, viewer: &Viewer, organizations: &[String]) -> FilterForm {
    let statuses = MandateStatus::ALL.map(|status| (status.as_str(), mandate_state(status).label));
    FilterForm::builder("/mandates", query)
        .choice("Status", "status", statuses)
        .text("User", "user")
        .organization(viewer.reads_several_organizations(), organizations)
        .build()
}

#[derive(Template)]
#[template(path = "mandates.html")]
pub(super) struct MandatesPage {
    page: PageContext,
    filter: FilterForm,
    pager: Pager,
    show_organization: bool,
    rows: Vec<MandateRow>,
}

/// A mandate in words.
struct MandateRow {
    id: String,
    organization: String,
    user: String,
    state: State,
    is_ended: bool,
    /// The most that may be paid.
    cap: String,
    /// The amount that was paid or is held, empty if there is none.
    used: String,
    /// The amount of a purchase that was not paid, empty if there is none.
    released: String,
    used_at: Option<TimeText>,
    booking: Option<String>,
    expires: TimeText,
    created: TimeText,
    can_revoke: bool,
}

impl MandatesPage {
    /// Returns whether a row has the button that opens the dialog.
    fn can_revoke_any(&self) -> bool {
        self.rows.iter().any(|row| row.can_revoke)
    }

    pub(super) fn new(
        page: PageContext,
        viewer: &Viewer,
        query: &QueryFields,
        found: ConsoleList<MandateView>,
        now: Timestamp,
    ) -> Self {
        let filter = filter_form(query, viewer, &found.organizations);
        let rows = found.page.items.iter();
        Self {
            page: page.titled("Mandates").about(filter.value("organization")),
            pager: filter.pager(found.page.next.as_ref()),
            filter,
            show_organization: viewer.reads_several_organizations(),
            rows: rows.map(|mandate| MandateRow::new(mandate, now)).collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "mandate.html")]
pub(super) struct MandatePage {
    page: PageContext,
    mandate: MandateRow,
    /// Purchase that the mandate permits.
    scope: String,
    watch: Option<String>,
    instrument: String,
    is_confirming: bool,
}

impl MandatePage {
    pub(super) fn new(
        page: PageContext,
        found: MandateView,
        is_confirming: bool,
        now: Timestamp,
    ) -> Self {
        let terms = &found.mandate.terms;
        let (scope, watch) = match &terms.scope {
            MandateScope::Any => ("Any purchase".to_owned(), None),
            MandateScope::HotelWatch {
                watch_id,
                hotel_id,
                check_in,
                check_out,
            } => {
                let dates = format!("{} – {}", day(*check_in), day(*check_out));
                let scope = format!("A stay at {hotel_id}, {dates}");
                (scope, Some(watch_id.to_string()))
            }
        };
        Self {
            page: page
                .titled(format!("Mandate {}", terms.id))
                .about(&terms.owner.tenant.organization),
            mandate: MandateRow::new(&found, now),
            scope,
            watch,
            instrument: terms.instrument.to_string(),
            is_confirming: is_confirming && found.can_revoke,
        }
    }
}

impl MandateRow {
    fn new(found: &MandateView, now: Timestamp) -> Self {
        let terms = &found.mandate.terms;
        let time = |at| TimeText::new(at, now);
        let booking = match &found.mandate.state {
            MandateState::Active | MandateState::Revoked => None,
            MandateState::Consumed { booking, .. } => Some(booking.to_string()),
        };
        let amount = |is_shown: bool| match found.used {
            Some(used) if is_shown => money(used.amount),
            _ => String::new(),
        };
        Self {
            id: terms.id.to_string(),
            organization: terms.owner.tenant.organization.clone(),
            user: terms.owner.user.clone(),
            state: match found.is_released {
                true => State {
                    tone: "",
                    label: "Consumed, not charged",
                },
                false => mandate_state(found.status),
            },
            is_ended: found.status != MandateStatus::Active,
            cap: money(terms.amount),
            used: amount(!found.is_released),
            released: amount(found.is_released),
            used_at: found.used.map(|used| time(used.at)),
            booking,
            expires: time(terms.expires_at),
            created: time(terms.created_at),
            can_revoke: found.can_revoke,
        }
    }
}

const fn mandate_state(status: MandateStatus) -> State {
    let (tone, label) = match status {
        MandateStatus::Active => ("good", "Active"),
        MandateStatus::Consumed => ("", "Consumed"),
        MandateStatus::Revoked => ("", "Revoked"),
        MandateStatus::Expired => ("", "Expired"),
    };
    State { tone, label }
}
