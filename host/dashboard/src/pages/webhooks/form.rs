//! The form of a webhook.

use crate::error::PageError;
use crate::form::{FormFields, FormProblems, own_organization};
use crate::list::ListAddress;
use crate::query::QueryFields;
use host_application::account::viewer::Viewer;
use host_application::console::webhooks::{WebhookFields, WebhookView};
use host_application::webhook::error::WebhookError;
use host_application::webhook::subscription_rules::WebhookProblem;
use host_domain::account::{Permission, is_organization_id};
use host_domain::event::{EventType, Product};
use host_domain::webhook::subscription::WILDCARD_EVENT_TYPE;

/// Products to whose events webhooks can subscribe.
const PRODUCTS: [Product; 2] = [Product::Hotel, Product::Flight];

/// The form of a new webhook or of a change.
pub(super) struct WebhookForm {
    /// Why nothing was stored.
    pub(super) alert: Option<String>,
    /// Path to which the form is sent.
    pub(super) action: String,
    /// Path that leaves the form.
    pub(super) cancel: String,
    pub(super) is_new: bool,
    pub(super) url: String,
    pub(super) description: String,
    pub(super) organization: String,
    /// The organizations to choose from.
    pub(super) organizations: Vec<String>,
    /// The person may name any organization.
    pub(super) is_operator: bool,
    pub(super) products: Vec<FormOption>,
    pub(super) all_events: bool,
    pub(super) events: Vec<FormOption>,
    pub(super) form: FormProblems,
}

/// A choice of the form.
pub(super) struct FormOption {
    pub(super) value: &'static str,
    pub(super) label: &'static str,
    pub(super) is_chosen: bool,
}

impl WebhookForm {
    /// Returns the form of a new webhook as it opens. `readable` are the organizations that the
    /// person may read.
    pub(super) fn empty(viewer: &Viewer, readable: &[String], query: &QueryFields) -> Self {
        let mut form = Self::new(viewer, readable, Product::Hotel);
        let filtered = query.text("organization");
        if !filtered.is_empty() {
            filtered.clone_into(&mut form.organization);
        }
        form
    }

    /// Returns the form of a new webhook as it was sent, with its problems.
    pub(super) fn sent(
        viewer: &Viewer,
        readable: &[String],
        fields: &FormFields,
        problems: FormProblems,
    ) -> Self {
        let product = Product::parse(fields.text("product")).unwrap_or(Product::Hotel);
        let mut form = Self::new(viewer, readable, product);
        fields
            .text("organization")
            .clone_into(&mut form.organization);
        form.fill(&sent_fields(fields), problems)
    }

    /// Returns the form of a change as it opens.
    pub(super) fn of(view: &WebhookView) -> Self {
        let subscription = &view.listed.subscription;
        let fields = WebhookFields {
            url: subscription.url.clone(),
            event_types: subscription.event_types.clone(),
            description: subscription.description.clone().unwrap_or_default(),
        };
        Self::existing(view).fill(&fields, FormProblems::default())
    }

    /// Returns the form of a change as it was sent, with its problems.
    pub(super) fn changed(view: &WebhookView, fields: &FormFields, problems: FormProblems) -> Self {
        Self::existing(view).fill(&all_fields(fields), problems)
    }

    /// Lets the form and the way out of it keep the filter of the list.
    pub(super) fn leading_back_to(self, list: &ListAddress) -> Self {
        Self {
            action: list.add_to(&self.action),
            cancel: list.add_to(&self.cancel),
            ..self
        }
    }

    fn new(viewer: &Viewer, readable: &[String], product: Product) -> Self {
        let managed = viewer.organizations_with(Permission::ManageWebhooks);
        let organizations = managed.unwrap_or_else(|| readable.to_vec());
        let products = PRODUCTS.into_iter().map(|offered| FormOption {
            value: offered.as_str(),
            label: product_label(offered),
            is_chosen: offered == product,
        });
        Self {
            alert: None,
            action: "/webhooks".to_owned(),
            cancel: "/webhooks".to_owned(),
            is_new: true,
            url: String::new(),
            description: String::new(),
            organization: proposed_organization(viewer),
            organizations,
            is_operator: viewer.is_operator(),
            products: products.collect(),
            all_events: true,
            events: event_options(&PRODUCTS),
            form: FormProblems::default(),
        }
    }

    fn existing(view: &WebhookView) -> Self {
        let subscription = &view.listed.subscription;
        let path = format!("/webhooks/{}", subscription.id);
        Self {
            alert: None,
            action: path.clone(),
            cancel: path,
            is_new: false,
            url: String::new(),
            description: String::new(),
            organization: subscription.tenant.organization.clone(),
            organizations: Vec::new(),
            is_operator: false,
            products: Vec::new(),
            all_events: false,
            events: event_options(&[subscription.product]),
            form: FormProblems::default(),
        }
    }

    fn fill(mut self, fields: &WebhookFields, problems: FormProblems) -> Self {
        let is_chosen = |name: &str| fields.event_types.iter().any(|chosen| chosen == name);
        self.all_events = is_chosen(WILDCARD_EVENT_TYPE);
        for event in &mut self.events {
            event.is_chosen = is_chosen(event.value);
        }
        fields.url.clone_into(&mut self.url);
        fields.description.clone_into(&mut self.description);
        if !problems.is_empty() {
            let alert = problems.problem("webhook").map(str::to_owned);
            let general = "Nothing was stored. Correct the marked fields.";
            self.alert = Some(alert.unwrap_or_else(|| general.to_owned()));
        }
        self.form = problems;
        self
    }
}

fn proposed_organization(viewer: &Viewer) -> String {
    let own = own_organization(viewer, Permission::ManageWebhooks);
    own.unwrap_or_default().to_owned()
}

/// Returns the event types of these products, each once.
fn event_options(products: &[Product]) -> Vec<FormOption> {
    let is_of_one = |event_type: &EventType| {
        let mut products = products.iter();
        products.any(|product| EventType::for_product(*product).any(|known| known == *event_type))
    };
    let events = EventType::ALL.into_iter().filter(is_of_one);
    let options = events.map(|event_type| FormOption {
        value: event_type.as_str(),
        label: event_type.as_str(),
        is_chosen: false,
    });
    options.collect()
}

pub(super) const fn product_label(product: Product) -> &'static str {
    match product {
        Product::Hotel => "Hotel",
        Product::Flight => "Flight",
        Product::Watch => "Watch",
    }
}

/// Returns the organization of the form of a new webhook. That of a person with one organization has
/// no field for it.
pub(super) fn sent_organization(viewer: &Viewer, fields: &FormFields) -> String {
    match fields.text("organization").trim() {
        "" => proposed_organization(viewer),
        sent => sent.to_owned(),
    }
}

/// Reads the product of a new webhook. Returns `None` after adding the problems of values that cannot
/// be read, also of the organization.
pub(super) fn new_webhook(
    organization: &str,
    fields: &FormFields,
    problems: &mut FormProblems,
) -> Option<Product> {
    let product = Product::parse(fields.text("product"));
    let product = product.filter(|product| PRODUCTS.contains(product));
    if product.is_none() {
        problems.add("product", "Choose a product.");
    }
    if !is_organization_id(organization) {
        let rule = "Enter 1 to 64 letters, digits, dots, underscores or hyphens.";
        problems.add("organization", rule);
        return None;
    }
    product
}

/// Reads the fields of a new webhook.
pub(super) fn sent_fields(fields: &FormFields) -> WebhookFields {
    let mut sent = all_fields(fields);
    let is_all = |name: &String| name == WILDCARD_EVENT_TYPE;
    // "All" is chosen at first, so events that are chosen beside it are meant.
    if !sent.event_types.iter().all(is_all) {
        sent.event_types.retain(|name| !is_all(name));
    }
    sent
}

/// Reads the fields of a change. If "All" is chosen beside single events, those count that the webhook
/// does not have yet, because the person has just chosen them.
pub(super) fn changed_fields(fields: &FormFields, stored: &[String]) -> WebhookFields {
    if stored.iter().any(|name| name == WILDCARD_EVENT_TYPE) {
        return sent_fields(fields);
    }
    let mut sent = all_fields(fields);
    let is_all = |name: &String| name == WILDCARD_EVENT_TYPE;
    if sent.event_types.iter().any(is_all) {
        sent.event_types.retain(is_all);
    }
    sent
}

fn all_fields(fields: &FormFields) -> WebhookFields {
    WebhookFields {
        url: fields.text("url").trim().to_owned(),
        event_types: fields.all("events").map(str::to_owned).collect(),
        description: fields.text("description").trim().to_owned(),
    }
}

pub(super) fn add_problems(form: &mut FormProblems, problems: &[WebhookProblem]) {
    for problem in problems {
        let (field, text) = match problem {
            WebhookProblem::Url => ("url", "Enter a URL of at most 2,048 characters."),
            WebhookProblem::NoEventType => ("events", "Choose at least one event."),
            WebhookProblem::EventType => ("events", "Choose events of the webhook's product."),
            WebhookProblem::Description => ("description", "Use at most 500 printable characters."),
        };
        form.add(field, text);
    }
}

/// Adds why a webhook is not stored.
///
/// # Errors
/// The failure is not about the form.
pub(super) fn add_refusal(form: &mut FormProblems, error: WebhookError) -> Result<(), PageError> {
    match error {
        WebhookError::UrlNotAllowed(reason) => {
            form.add("url", format!("This URL is not allowed: {reason}."));
            Ok(())
        }
        WebhookError::SubscriptionLimitReached { max } => {
            let text = format!("The organization has {max} webhooks of this product already.");
            form.add("webhook", text);
            Ok(())
        }
        error => Err(error.into()),
    }
}
