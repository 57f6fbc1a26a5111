//! Contents of the page of the audit log.

use crate::error::PageError;
use crate::list::{FilterForm, ListAddress, Pager};
use crate::page::PageContext;
use crate::query::QueryFields;
use crate::text::{TimeText, words};
use askama::Template;
use host_application::account::viewer::Viewer;
use host_application::audit::entry::{AuditEntry, AuditTarget, RecordedChange};
use host_application::audit::service::AuditRow;
use host_application::console::audit::{AuditVerification, ConsoleAuditList};
use host_application::console::list::ConsoleListRequest;
use host_domain::audit::{AccessChannel, ActorKind, AuditAction, AuditFilter};
use host_domain::time::Timestamp;
use serde_json::Value;
use std::collections::BTreeSet;

/// Reads the request for the list from a query.
///
/// # Errors
/// [`PageError::NotFound`] if the organization is not an organization's id.
pub(super) fn list_request(
    query: &QueryFields,
) -> Result<ConsoleListRequest<AuditFilter>, PageError> {
    let mut values = query.filter_values();
    let filter = AuditFilter {
        actor: values.search("actor"),
        action: values.named("action", AuditAction::parse),
        target: values.search("q"),
        from: values.time("from"),
        until: values.last_moment("to").map(|at| at.plus_ms(1)),
    };
    values.list_request(filter)
}

/// The filters of the list and of the export.
const FILTERS: [&str; 6] = ["q", "actor", "action", "from", "to", "organization"];

/// Returns the form that filters the log.
fn filter_form(query: &QueryFields, viewer: &Viewer, organizations: &[String]) -> FilterForm {
    let actions = AuditAction::ALL.map(|action| (action.as_str(), action_text(action.as_str())));
    FilterForm::builder("/audit", query)
        .search("Id of what was changed")
        .text("Actor", "actor")
        .choice("Action", "action", actions)
        .period()
        .organization(viewer.reads_several_organizations(), organizations)
        .build()
}

#[derive(Template)]
#[template(path = "audit.html")]
pub(super) struct AuditPage {
    pub(super) page: PageContext,
    pub(super) verification: Option<VerificationText>,
    pub(super) filter: FilterForm,
    pub(super) pager: Pager,
    /// Path to which the form "Verify chain" is sent.
    pub(super) verify_path: String,
    pub(super) export_path: String,
    pub(super) shows_organization: bool,
    pub(super) head_hash: String,
    pub(super) rows: Vec<AuditRowText>,
}

impl AuditPage {
    pub(super) fn new(
        page: PageContext,
        viewer: &Viewer,
        query: &QueryFields,
        found: ConsoleAuditList,
        now: Timestamp,
    ) -> Self {
        let ConsoleAuditList { list, head } = found;
        let filter = filter_form(query, viewer, &list.organizations);
        let list_address = ListAddress::read("/audit", &FILTERS, query);
        let rows = list.page.items.into_iter();
        Self {
            page: page.titled("Audit log").about(filter.value("organization")),
            verification: None,
            verify_path: list_address.add_to("/audit/verify"),
            export_path: filter.path_of_all("/audit/export"),
            pager: filter.pager(list.page.next.as_ref()),
            filter,
            shows_organization: viewer.reads_several_organizations(),
            head_hash: head.hash,
            rows: rows.map(|row| AuditRowText::new(row, now)).collect(),
        }
    }
}

/// The result of a verification.
pub(super) struct VerificationText {
    pub(super) is_intact: bool,
    pub(super) text: String,
}

impl From<AuditVerification> for VerificationText {
    fn from(verification: AuditVerification) -> Self {
        match verification {
            AuditVerification::Intact { head } => Self {
                is_intact: true,
                text: match head {
                    Some(head) => format!(
                        "The chain is intact. The hash of its last entry is {}.",
                        head.hash
                    ),
                    None => "The chain is intact, as verified within the last minute.".to_owned(),
                },
            },
            AuditVerification::Broken { sequence } => {
                let place = sequence.map_or_else(String::new, |at| format!(" at entry {at}"));
                Self {
                    is_intact: false,
                    text: format!(
                        "The chain is broken{place}: somebody changed, added or removed an entry \
                         in the database. Compare with an earlier export or backup."
                    ),
                }
            }
        }
    }
}

/// An entry of the log.
pub(super) struct AuditRowText {
    pub(super) sequence: i64,
    pub(super) hash: String,
    /// `None` if the stored entry cannot be read.
    pub(super) entry: Option<AuditEntryText>,
}

pub(super) struct AuditEntryText {
    pub(super) time: TimeText,
    /// The name of the actor, or its kind if it has none.
    pub(super) actor: String,
    /// Channel and address of the actor.
    pub(super) source: String,
    pub(super) action: String,
    pub(super) target: String,
    /// Path of the target's page, empty if it has none.
    pub(super) target_path: String,
    /// Empty if the change concerns the whole installation.
    pub(super) organization: String,
    pub(super) changes: Vec<ChangeText>,
}

/// A property before and after the change. A text is empty if there was no property.
pub(super) struct ChangeText {
    pub(super) name: String,
    pub(super) before: String,
    pub(super) after: String,
}

impl AuditRowText {
    fn new(row: AuditRow, now: Timestamp) -> Self {
        Self {
            sequence: row.sequence,
            hash: row.hash,
            entry: row.entry.map(|entry| AuditEntryText::new(entry, now)),
        }
    }
}

impl AuditEntryText {
    fn new(entry: AuditEntry, now: Timestamp) -> Self {
        let change = entry.change;
        let at = Timestamp::parse(&change.at).unwrap_or(Timestamp(0));
        Self {
            time: TimeText::new(at, now),
            actor: actor(&change),
            source: source(&change),
            action: action_text(&change.action),
            target_path: target_path(&change.target),
            target: change.target.id,
            organization: change.organization.unwrap_or_default(),
            changes: changes(&change.before, &change.after),
        }
    }
}

/// Returns the name of an action in words.
fn action_text(name: &str) -> String {
    words(name).replace("Api", "API").replace("totp", "TOTP")
}

fn actor(change: &RecordedChange) -> String {
    if !change.actor.name.is_empty() {
        return change.actor.name.clone();
    }
    let kind = match change.actor.kind {
        ActorKind::Account => "Account",
        ActorKind::AdminToken => "Admin listener",
        ActorKind::ApiKey => "API key",
        ActorKind::Cli => "Command line",
        ActorKind::System => "Gateway",
    };
    kind.to_owned()
}

fn source(change: &RecordedChange) -> String {
    let via = match change.source.via {
        AccessChannel::Api => "API",
        AccessChannel::Dashboard => "Dashboard",
        AccessChannel::Admin => "Admin listener",
        AccessChannel::Cli => "Command line",
        AccessChannel::Background => "Background task",
    };
    let address = change.source.address;
    address.map_or_else(|| via.to_owned(), |address| format!("{via}, {address}"))
}

/// Returns the path of a page about a target.
fn target_path(target: &AuditTarget) -> String {
    let pages = match target.kind.as_str() {
        "api_key" => "keys",
        "webhook" => "webhooks",
        "delivery" => "deliveries",
        "event" => "events",
        "watch" => "watches",
        "mandate" => "mandates",
        "booking" => "bookings",
        "supplier" => "suppliers",
        _ => return String::new(),
    };
    format!("/{pages}/{}", target.id)
}

/// Returns the properties that differ, by name.
fn changes(before: &Value, after: &Value) -> Vec<ChangeText> {
    let members = [before, after].into_iter().filter_map(Value::as_object);
    let names: BTreeSet<&String> = members.flat_map(|members| members.keys()).collect();
    let differing = names
        .into_iter()
        .filter(|name| before.get(name.as_str()) != after.get(name.as_str()));
    let texts = differing.map(|name| ChangeText {
        name: words(name),
        before: value_text(before.get(name)),
        after: value_text(after.get(name)),
    });
    texts.collect()
}

/// Returns a value in words, or an empty text if there is none.
fn value_text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => {
            let items = items.iter().map(|item| value_text(Some(item)));
            items.collect::<Vec<String>>().join(", ")
        }
        Some(Value::Object(members)) => {
            let members = members.values().map(|item| value_text(Some(item)));
            members.collect::<Vec<String>>().join(" ")
        }
        Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_properties_that_differ_are_shown() {
        let before = json!({ "name": "a", "scopes": ["read"], "expires_at": null });
        let after = json!({ "name": "a", "scopes": ["read", "book"], "expires_at": "2027" });
        let shown = |before: &Value, after: &Value| -> Vec<String> {
            let changes = changes(before, after).into_iter();
            changes
                .map(|change| format!("{}: {} > {}", change.name, change.before, change.after))
                .collect()
        };
        assert_eq!(
            shown(&before, &after),
            ["Expires at:  > 2027", "Scopes: read > read, book"]
        );
        assert_eq!(shown(&Value::Null, &json!({ "name": "a" })), ["Name:  > a"]);
        assert!(shown(&Value::Null, &Value::Null).is_empty());
    }
}
