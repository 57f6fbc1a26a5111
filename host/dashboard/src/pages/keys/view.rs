//! Contents of the pages of API keys, and the fields of their form.

use crate::error::PageError;
use crate::form::{FormFields, FormProblems, own_organization};
use crate::list::{FilterForm, ListAddress, Pager};
use crate::page::PageContext;
use crate::query::QueryFields;
use crate::text::{State, TimeText};
use askama::Template;
use host_application::account::viewer::Viewer;
use host_application::api_key::service::{ApiKeyProblem, NewApiKey, parse_expiry};
use host_application::console::keys::{ApiKeyList, ApiKeyView};
use host_application::console::list::ConsoleListRequest;
use host_application::context::ApiKeyScope;
use host_domain::account::Permission;
use host_domain::console::{ApiKeyFilter, ApiKeyStatus};
use host_domain::id::KeyId;
use host_domain::owner::{Mode, Tenant};
use host_domain::time::Timestamp;

/// Reads the request for the list from a query.
///
/// # Errors
/// [`PageError::NotFound`] if the organization is not an organization's id.
pub(super) fn list_request(
    query: &QueryFields,
) -> Result<ConsoleListRequest<ApiKeyFilter>, PageError> {
    let mut values = query.filter_values();
    let filter = ApiKeyFilter {
        text: values.search("q"),
        status: values.named("status", ApiKeyStatus::parse),
    };
    values.list_request(filter)
}

/// Reads the list from its query, or from that of a page or form which leads back to it.
pub(super) fn list_address(query: &QueryFields) -> ListAddress {
    ListAddress::read("/keys", &["q", "status", "organization"], query)
}

/// Returns the form that filters the keys.
fn filter_form(query: &QueryFields, viewer: &Viewer, organizations: &[String]) -> FilterForm {
    let statuses = ApiKeyStatus::ALL.map(|status| (status.as_str(), key_state(status).label));
    FilterForm::builder("/keys", query)
        .search("Name or last characters")
        .choice("Status", "status", statuses)
        .organization(viewer.reads_several_organizations(), organizations)
        .build()
}

#[derive(Template)]
#[template(path = "keys.html")]
pub(super) struct KeysPage {
    pub(super) page: PageContext,
    pub(super) can_create: bool,
    pub(super) new_key: Option<NewKeyText>,
    pub(super) create: Option<KeyForm>,
    pub(super) list: ListAddress,
    pub(super) filter: FilterForm,
    pub(super) pager: Pager,
    /// The organizations that the person may read.
    pub(super) organizations: Vec<String>,
    pub(super) show_organization: bool,
    pub(super) count: u64,
    pub(super) rows: Vec<KeyRow>,
}

impl KeysPage {
    /// Returns whether a row has the button that opens the dialog.
    fn can_revoke_any(&self) -> bool {
        self.rows.iter().any(|row| row.can_revoke)
    }

    pub(super) fn new(
        page: PageContext,
        viewer: &Viewer,
        query: &QueryFields,
        found: ApiKeyList,
        now: Timestamp,
    ) -> Self {
        let ApiKeyList { list, total } = found;
        let filter = filter_form(query, viewer, &list.organizations);
        Self {
            page: page.titled("API keys").about(filter.value("organization")),
            can_create: match filter.value("organization") {
                "" => viewer.may_anywhere(Permission::ManageTestKeys),
                named => viewer.require(Permission::ManageTestKeys, named).is_ok(),
            },
            new_key: None,
            create: None,
            list: list_address(query),
            pager: filter.pager(list.page.next.as_ref()),
            filter,
            organizations: list.organizations,
            show_organization: viewer.reads_several_organizations(),
            count: total,
            rows: list
                .page
                .items
                .into_iter()
                .map(|key| KeyRow::new(key, now))
                .collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "key.html")]
pub(super) struct KeyPage {
    pub(super) page: PageContext,
    /// The list to which the page leads back.
    pub(super) list: ListAddress,
    pub(super) key: KeyRow,
    pub(super) mode: &'static str,
    pub(super) revoked: Option<TimeText>,
    pub(super) is_confirming: bool,
}

/// The key that was just created. It is shown once.
pub(super) struct NewKeyText {
    pub(super) name: String,
    pub(super) key: String,
    /// The mode of the key, if the session has the other one.
    pub(super) other_mode: Option<Mode>,
}

pub(super) struct KeyRow {
    pub(super) id: String,
    /// The name, or the id of a key without one.
    pub(super) label: String,
    pub(super) organization: String,
    pub(super) masked_key: String,
    pub(super) state: State,
    pub(super) is_ended: bool,
    pub(super) can_revoke: bool,
    pub(super) scopes: Vec<String>,
    pub(super) created: TimeText,
    pub(super) last_used: Option<TimeText>,
    pub(super) expires: Option<TimeText>,
}

impl KeyRow {
    pub(super) fn new(view: ApiKeyView, now: Timestamp) -> Self {
        let key = view.key;
        let time = |at| TimeText::new(at, now);
        Self {
            label: key_label(&key.id, key.name),
            id: key.id.to_string(),
            organization: key.tenant.organization,
            masked_key: key.masked_key,
            state: key_state(view.status),
            is_ended: view.status != ApiKeyStatus::Active,
            can_revoke: view.can_revoke,
            scopes: key.scopes,
            created: time(key.created_at),
            last_used: key.last_used_at.map(time),
            expires: key.expires_at.map(time),
        }
    }
}

fn key_state(status: ApiKeyStatus) -> State {
    let (tone, label) = match status {
        ApiKeyStatus::Active => ("good", "Active"),
        ApiKeyStatus::Expired => ("bad", "Expired"),
        ApiKeyStatus::Revoked => ("", "Revoked"),
    };
    State { tone, label }
}

/// Returns the name of a key, or its id if it has none.
pub(in crate::pages) fn key_label(id: &KeyId, name: String) -> String {
    if name.trim().is_empty() {
        return id.to_string();
    }
    name
}

/// The form of a new key.
pub(super) struct KeyForm {
    pub(super) alert: Option<String>,
    pub(super) name: String,
    pub(super) expires: String,
    pub(super) organization: String,
    /// The organizations in which the person may create keys, as far as they are known.
    pub(super) organizations: Vec<String>,
    /// The person may name any organization.
    pub(super) is_operator: bool,
    pub(super) modes: Vec<Choice>,
    pub(super) scopes: Vec<Choice>,
    pub(super) form: FormProblems,
}

/// An option of a form.
pub(super) struct Choice {
    pub(super) value: &'static str,
    pub(super) label: &'static str,
    pub(super) hint: &'static str,
    pub(super) is_chosen: bool,
}

impl KeyForm {
    /// Returns the form as it opens. `readable` are the organizations that the person may read.
    pub(super) fn empty(viewer: &Viewer, readable: Vec<String>, filtered: &str) -> Self {
        let is_default = |scope: ApiKeyScope| ApiKeyScope::DEFAULT.contains(&scope);
        let mut form = Self::new(viewer, readable, viewer.mode, is_default);
        form.organization = proposed_organization(viewer, filtered);
        form
    }

    /// Returns the form as it was sent, with its problems.
    pub(super) fn sent(
        viewer: &Viewer,
        readable: Vec<String>,
        fields: &FormFields,
        problems: FormProblems,
    ) -> Self {
        let mode = Mode::parse(fields.text("mode")).unwrap_or(viewer.mode);
        let is_sent = |scope: ApiKeyScope| fields.all("scopes").any(|name| name == scope.as_str());
        let alert = "The key was not created. Correct the marked fields.";
        Self {
            alert: Some(alert.to_owned()),
            name: fields.text("name").to_owned(),
            expires: fields.text("expires").to_owned(),
            organization: fields.text("organization").to_owned(),
            form: problems,
            ..Self::new(viewer, readable, mode, is_sent)
        }
    }

    fn new(
        viewer: &Viewer,
        readable: Vec<String>,
        mode: Mode,
        is_chosen: impl Fn(ApiKeyScope) -> bool,
    ) -> Self {
        let modes = Mode::ALL.into_iter();
        let modes = modes.filter(|mode| viewer.may_anywhere(Permission::manage_keys(*mode)));
        let organizations = viewer.organizations_with(Permission::ManageTestKeys);
        Self {
            alert: None,
            name: String::new(),
            expires: String::new(),
            organization: String::new(),
            organizations: organizations.unwrap_or(readable),
            is_operator: viewer.is_operator(),
            modes: modes.map(|offered| mode_choice(offered, mode)).collect(),
            scopes: ApiKeyScope::ALL
                .into_iter()
                .map(|scope| scope_choice(scope, is_chosen(scope)))
                .collect(),
            form: FormProblems::default(),
        }
    }
}

/// Returns the organization that the form proposes: the filtered one, else one in which the person
/// may create keys, else one in which the person has a role.
fn proposed_organization(viewer: &Viewer, filtered: &str) -> String {
    if !filtered.is_empty() {
        return filtered.to_owned();
    }
    let own = own_organization(viewer, Permission::ManageTestKeys);
    let proposed = own.or_else(|| own_organization(viewer, Permission::Read));
    proposed.unwrap_or_default().to_owned()
}

fn mode_choice(mode: Mode, chosen: Mode) -> Choice {
    Choice {
        value: mode.as_str(),
        label: match mode {
            Mode::Test => "Test",
            Mode::Live => "Live",
        },
        hint: "",
        is_chosen: mode == chosen,
    }
}

fn scope_choice(scope: ApiKeyScope, is_chosen: bool) -> Choice {
    Choice {
        value: scope.as_str(),
        label: scope.as_str(),
        hint: match scope {
            ApiKeyScope::Read => "Search, price, read and list",
            ApiKeyScope::Book => "Prebook, book, cancel, pay, watch",
            ApiKeyScope::Webhooks => "Manage webhook subscriptions",
            ApiKeyScope::Admin => "Reserved, permits nothing yet",
        },
        is_chosen,
    }
}

/// Checks whether the person may create keys in the organization of a form, before its other fields
/// are judged.
///
/// # Errors
/// [`PageError::Forbidden`], or [`PageError::NotFound`] if the organization is somebody else's.
pub(super) fn check_organization(viewer: &Viewer, fields: &FormFields) -> Result<(), PageError> {
    if !viewer.may_anywhere(Permission::ManageTestKeys) {
        return Err(PageError::Forbidden);
    }
    let mode = Mode::parse(fields.text("mode")).unwrap_or(Mode::Test);
    let organization = sent_organization(viewer, fields);
    Ok(viewer.require(Permission::manage_keys(mode), &organization)?)
}

/// Returns the organization of a form. That of a person with one organization has no field for it.
fn sent_organization(viewer: &Viewer, fields: &FormFields) -> String {
    match fields.text("organization").trim() {
        "" if !viewer.is_operator() => proposed_organization(viewer, ""),
        sent => sent.to_owned(),
    }
}

/// Reads the form of a new key. Returns `None` after adding the problems of values that cannot be
/// read.
pub(super) fn new_key(
    viewer: &Viewer,
    fields: &FormFields,
    problems: &mut FormProblems,
) -> Option<NewApiKey> {
    let mode = Mode::parse(fields.text("mode"));
    if mode.is_none() {
        problems.add("mode", "Choose a mode.");
    }
    let scopes: Option<Vec<_>> = fields.all("scopes").map(ApiKeyScope::from_name).collect();
    if scopes.is_none() {
        problems.add("scopes", "Choose scopes of the list.");
    }
    let expires = fields.text("expires").trim();
    let expires_at = parse_expiry(expires);
    if !expires.is_empty() && expires_at.is_none() {
        problems.add("expires", "Enter a date, e.g. 2027-01-31.");
    }
    let organization = sent_organization(viewer, fields);
    if !problems.is_empty() {
        return None;
    }
    Some(NewApiKey {
        tenant: Tenant {
            organization,
            mode: mode?,
        },
        name: fields.text("name").trim().to_owned(),
        scopes: scopes?,
        expires_at,
    })
}

pub(super) fn add_problems(form: &mut FormProblems, problems: &[ApiKeyProblem]) {
    for problem in problems {
        let (field, text) = match problem {
            ApiKeyProblem::Organization => (
                "organization",
                "Enter 1 to 64 letters, digits, dots, underscores or hyphens.",
            ),
            ApiKeyProblem::Name => ("name", "Use at most 100 characters, all printable."),
            ApiKeyProblem::NoScope => ("scopes", "Choose at least one scope."),
            ApiKeyProblem::ExpiryPassed => ("expires", "The date is in the past."),
        };
        form.add(field, text);
    }
}
