//! Contents of the pages of webhooks.

use crate::error::PageError;
use crate::form::FormProblems;
use crate::list::{FilterForm, ListAddress, Pager};
use crate::page::PageContext;
use crate::pages::deliveries::{DeliveryRow, delivery_rows};
use crate::pages::webhooks::form::{WebhookForm, product_label};
use crate::query::{QueryFields, path_with};
use crate::text::{State, TimeText, number};
use askama::Template;
use host_application::account::viewer::Viewer;
use host_application::console::list::ConsoleListRequest;
use host_application::console::webhooks::{
    ConsoleWebhookError, WebhookList, WebhookView, WebhookWithDeliveries,
};
use host_application::webhook::error::WebhookError;
use host_domain::account::Permission;
use host_domain::console::webhook::{HEALTH_COUNT_MAX, ListedSubscription};
use host_domain::event::Product;
use host_domain::time::Timestamp;
use host_domain::webhook::list::SubscriptionScopeFilter;
use host_domain::webhook::subscription::WILDCARD_EVENT_TYPE;
use host_domain::webhook::{ListenSession, Subscription, SubscriptionStatus};

const ALL_EVENTS: &str = "All events";
/// Number of event types that a row of the list names.
const LISTED_EVENTS: usize = 3;

/// Reads the request for the list from a query.
///
/// # Errors
/// [`PageError::NotFound`] if the organization is not an organization's id.
pub(super) fn list_request(
    query: &QueryFields,
) -> Result<ConsoleListRequest<SubscriptionScopeFilter>, PageError> {
    let mut values = query.filter_values();
    let filter = SubscriptionScopeFilter {
        status: values.named("status", SubscriptionStatus::parse),
        text: values.search("q"),
    };
    values.list_request(filter)
}

/// Reads the list from its query, or from that of a page or form which leads back to it.
pub(super) fn list_address(query: &QueryFields) -> ListAddress {
    ListAddress::read("/webhooks", &["q", "status", "organization"], query)
}

fn filter_form(query: &QueryFields, viewer: &Viewer, organizations: &[String]) -> FilterForm {
    let statuses = SubscriptionStatus::ALL.map(|status| (status.as_str(), status_label(status)));
    FilterForm::builder("/webhooks", query)
        .search("URL or description")
        .choice("Status", "status", statuses)
        .organization(viewer.reads_several_organizations(), organizations)
        .build()
}

#[derive(Template)]
#[template(path = "webhooks.html")]
pub(super) struct WebhooksPage {
    pub(super) page: PageContext,
    pub(super) can_create: bool,
    pub(super) create: Option<WebhookForm>,
    pub(super) list: ListAddress,
    pub(super) filter: FilterForm,
    pub(super) pager: Pager,
    /// The organizations that the person may read.
    pub(super) organizations: Vec<String>,
    pub(super) show_organization: bool,
    pub(super) rows: Vec<WebhookRow>,
    /// Programs that receive events without a webhook.
    pub(super) listeners: Vec<ListenerRow>,
}

/// A connection of `stopover listen`.
pub(super) struct ListenerRow {
    pub(super) organization: String,
    pub(super) events: Vec<String>,
    pub(super) since: TimeText,
}

impl ListenerRow {
    fn new(session: ListenSession, now: Timestamp) -> Self {
        let events = session.event_types.iter();
        let mut events: Vec<_> = events.map(|event| event.as_str().to_owned()).collect();
        if events.is_empty() {
            events.push(ALL_EVENTS.to_owned());
        }
        Self {
            organization: session.tenant.organization,
            events,
            since: TimeText::new(session.created_at, now),
        }
    }
}

impl WebhooksPage {
    pub(super) fn new(
        page: PageContext,
        viewer: &Viewer,
        query: &QueryFields,
        WebhookList {
            webhooks: found,
            listeners,
        }: WebhookList,
        now: Timestamp,
    ) -> Self {
        let filter = filter_form(query, viewer, &found.organizations);
        let rows = found.page.items.into_iter();
        Self {
            page: page.titled("Webhooks").about(filter.value("organization")),
            can_create: viewer.may_anywhere(Permission::ManageWebhooks),
            create: None,
            list: list_address(query),
            pager: filter.pager(found.page.next.as_ref()),
            filter,
            show_organization: viewer.reads_several_organizations(),
            organizations: found.organizations,
            rows: rows.map(|view| WebhookRow::new(view.listed, now)).collect(),
            listeners: listeners
                .into_iter()
                .map(|session| ListenerRow::new(session, now))
                .collect(),
        }
    }
}

pub(super) struct WebhookRow {
    pub(super) id: String,
    pub(super) url: String,
    pub(super) description: String,
    pub(super) organization: String,
    pub(super) product: &'static str,
    /// The first event types.
    pub(super) events: Vec<String>,
    /// The number of event types that are not named.
    pub(super) more_events: usize,
    pub(super) state: State,
    pub(super) is_paused: bool,
    pub(super) health: HealthText,
}

impl WebhookRow {
    fn new(listed: ListedSubscription, now: Timestamp) -> Self {
        let health = HealthText::new(&listed, now);
        let subscription = listed.subscription;
        let events = event_names(&subscription);
        Self {
            state: webhook_state(&subscription),
            is_paused: subscription.status == SubscriptionStatus::Paused,
            product: product_label(subscription.product),
            more_events: events.len().saturating_sub(LISTED_EVENTS),
            events: events.into_iter().take(LISTED_EVENTS).collect(),
            id: subscription.id.to_string(),
            url: subscription.url,
            description: subscription.description.unwrap_or_default(),
            organization: subscription.tenant.organization,
            health,
        }
    }
}

/// The state of a receiver.
pub(super) struct HealthText {
    /// Numbers of deliveries; `0` for none.
    pub(super) waiting: String,
    pub(super) failed: String,
    pub(super) has_failed: bool,
    pub(super) last_success: Option<TimeText>,
    pub(super) failing_since: Option<TimeText>,
}

impl HealthText {
    fn new(listed: &ListedSubscription, now: Timestamp) -> Self {
        let time = |at| TimeText::new(at, now);
        Self {
            waiting: bounded_number(listed.waiting),
            failed: bounded_number(listed.failed),
            has_failed: listed.failed > 0,
            last_success: listed.last_success_at.map(time),
            failing_since: listed.subscription.failing_since.map(time),
        }
    }
}

/// Returns a number that is counted up to a maximum.
fn bounded_number(count: u64) -> String {
    let is_bounded = count >= u64::from(HEALTH_COUNT_MAX);
    format!("{}{}", number(count), if is_bounded { "+" } else { "" })
}

fn event_names(subscription: &Subscription) -> Vec<String> {
    let names = subscription.event_types.iter();
    let names = names.map(|name| match name.as_str() {
        WILDCARD_EVENT_TYPE => ALL_EVENTS.to_owned(),
        name => name.to_owned(),
    });
    names.collect()
}

fn webhook_state(subscription: &Subscription) -> State {
    let is_failing = subscription.failing_since.is_some();
    match subscription.status {
        SubscriptionStatus::Active if is_failing => State {
            tone: "bad",
            label: "Failing",
        },
        status => State {
            tone: match status {
                SubscriptionStatus::Active => "good",
                SubscriptionStatus::Paused => "",
                SubscriptionStatus::Disabled => "bad",
            },
            label: status_label(status),
        },
    }
}

const fn status_label(status: SubscriptionStatus) -> &'static str {
    match status {
        SubscriptionStatus::Active => "Active",
        SubscriptionStatus::Paused => "Paused",
        SubscriptionStatus::Disabled => "Disabled",
    }
}

#[derive(Template)]
#[template(path = "webhook.html")]
pub(super) struct WebhookDetailsPage {
    pub(super) page: PageContext,
    /// The list to which the page leads back.
    pub(super) list: ListAddress,
    /// Why nothing was changed.
    pub(super) alert: Option<String>,
    /// The secret that was just made. It is shown once.
    pub(super) secret: Option<String>,
    pub(super) edit: Option<WebhookForm>,
    /// The change to confirm: `rotate`, `delete` or empty.
    pub(super) confirms: &'static str,
    /// The field "Recover since" and its problem.
    pub(super) since: String,
    pub(super) form: FormProblems,
    pub(super) id: String,
    pub(super) url: String,
    pub(super) description: String,
    pub(super) organization: String,
    pub(super) product: &'static str,
    pub(super) is_of_watches: bool,
    pub(super) events: Vec<String>,
    pub(super) state: State,
    pub(super) is_active: bool,
    pub(super) is_disabled: bool,
    pub(super) health: HealthText,
    pub(super) created: TimeText,
    pub(super) changed: TimeText,
    /// Time until which the previous secret signs too.
    pub(super) previous_secret_until: Option<TimeText>,
    pub(super) can_manage: bool,
    pub(super) can_resume: bool,
    pub(super) can_replay: bool,
    pub(super) deliveries: Vec<DeliveryRow>,
    /// Path of the list of all deliveries to this webhook.
    pub(super) all_deliveries: String,
}

impl WebhookDetailsPage {
    pub(super) fn new(
        page: PageContext,
        query: &QueryFields,
        found: WebhookWithDeliveries,
        now: Timestamp,
    ) -> Self {
        let time = |at| TimeText::new(at, now);
        let WebhookView {
            listed,
            can_manage,
            can_resume,
            can_replay,
        } = found.view;
        let health = HealthText::new(&listed, now);
        let subscription = listed.subscription;
        let secret_end = subscription.previous_secret_expires_at;
        let id = subscription.id.to_string();
        Self {
            page: page
                .titled(format!("Webhook {id}"))
                .about(&subscription.tenant.organization),
            list: list_address(query),
            alert: None,
            secret: None,
            edit: None,
            confirms: "",
            since: String::new(),
            form: FormProblems::default(),
            all_deliveries: path_with("/deliveries", &[("webhook", &id)]),
            product: product_label(subscription.product),
            is_of_watches: subscription.product == Product::Watch,
            events: event_names(&subscription),
            state: webhook_state(&subscription),
            is_active: subscription.status == SubscriptionStatus::Active,
            is_disabled: subscription.status == SubscriptionStatus::Disabled,
            health,
            created: time(subscription.created_at),
            changed: time(subscription.updated_at),
            previous_secret_until: secret_end.filter(|end| *end > now).map(time),
            can_manage,
            can_resume,
            can_replay,
            deliveries: delivery_rows(found.deliveries, now),
            id,
            url: subscription.url,
            description: subscription.description.unwrap_or_default(),
            organization: subscription.tenant.organization,
        }
    }
}

/// Returns why a webhook was not changed.
///
/// # Errors
/// The failure has no place on the page.
pub(super) fn change_alert(error: ConsoleWebhookError) -> Result<String, PageError> {
    match error {
        ConsoleWebhookError::Webhook(WebhookError::SubscriptionNotActive) => {
            Ok("The webhook is not active. Resume it first.".to_owned())
        }
        error => Err(error.into()),
    }
}
