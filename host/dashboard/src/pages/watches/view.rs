//! Contents of the pages of watches.

use crate::error::PageError;
use crate::list::{FilterForm, Pager};
use crate::page::PageContext;
use crate::query::QueryFields;
use crate::sparkline::Sparkline;
use crate::text::{State, TimeText, count, day, money, words};
use askama::Template;
use host_application::account::viewer::Viewer;
use host_application::console::list::{ConsoleList, ConsoleListRequest};
use host_application::console::watches::WatchView;
use host_domain::console::watch::WatchScopeFilter;
use host_domain::hotel::Stay;
use host_domain::money::Money;
use host_domain::time::Timestamp;
use host_domain::watch::{Area, ObservedPrice, WatchState, WatchStatus, WatchTarget};

/// Reads the request for the list from a query.
///
/// # Errors
/// [`PageError::NotFound`] if the organization is not an organization's id.
pub(super) fn list_request(
    query: &QueryFields,
) -> Result<ConsoleListRequest<WatchScopeFilter>, PageError> {
    let mut values = query.filter_values();
    let filter = WatchScopeFilter {
        status: values.named("status", WatchStatus::parse),
        user: values.search("user"),
    };
    values.list_request(filter)
}

fn filter_form(query: &QueryFields, viewer: &Viewer, organizations: &[String]) -> FilterForm {
    let statuses = WatchStatus::ALL.map(|status| (status.as_str(), watch_state(status).label));
    FilterForm::builder("/watches", query)
        .choice("Status", "status", statuses)
        .text("User", "user")
        .organization(viewer.reads_several_organizations(), organizations)
        .build()
}

#[derive(Template)]
#[template(path = "watches.html")]
pub(super) struct WatchesPage {
    page: PageContext,
    filter: FilterForm,
    pager: Pager,
    show_organization: bool,
    rows: Vec<WatchRow>,
}

/// A watch in words.
struct WatchRow {
    id: String,
    organization: String,
    user: String,
    /// The hotel, or the area of a trip.
    title: String,
    dates: String,
    state: State,
    is_ended: bool,
    /// The price from which on the watch reports.
    cap: String,
    /// The last price, empty before the first check.
    last_price: String,
    last_checked: Option<TimeText>,
    next_check: Option<TimeText>,
    sparkline: Option<Sparkline>,
    created: TimeText,
    can_cancel: bool,
}

impl WatchesPage {
    /// Returns whether a row has the button that opens the dialog.
    fn can_cancel_any(&self) -> bool {
        self.rows.iter().any(|row| row.can_cancel)
    }

    pub(super) fn new(
        page: PageContext,
        viewer: &Viewer,
        query: &QueryFields,
        found: ConsoleList<WatchView>,
        now: Timestamp,
    ) -> Self {
        let filter = filter_form(query, viewer, &found.organizations);
        let rows = found.page.items.iter();
        Self {
            page: page.titled("Watches").about(filter.value("organization")),
            pager: filter.pager(found.page.next.as_ref()),
            filter,
            show_organization: viewer.reads_several_organizations(),
            rows: rows.map(|watch| WatchRow::new(watch, now)).collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "watch.html")]
pub(super) struct WatchPage {
    page: PageContext,
    watch: WatchRow,
    people: String,
    /// Action of the watch when the price is reached.
    purchase: &'static str,
    mandate: Option<String>,
    booking: Option<String>,
    failure: String,
    expires: TimeText,
    /// The latest first.
    prices: Vec<PriceRow>,
    is_confirming: bool,
}

struct PriceRow {
    at: TimeText,
    price: String,
    /// Whether the price reaches the cap.
    is_reached: bool,
}

impl WatchPage {
    pub(super) fn new(
        page: PageContext,
        found: WatchView,
        is_confirming: bool,
        now: Timestamp,
    ) -> Self {
        let row = WatchRow::new(&found, now);
        let watch = found.watch;
        let purchase = match (&watch.auto_book, watch.is_armed()) {
            (None, _) => "Reports the price",
            (Some(_), false) => "Waits for the consent to buy",
            (Some(_), true) => "Buys at the cap",
        };
        let failure = match &watch.state {
            WatchState::PurchaseFailed { reason, .. } => words(reason.as_str()),
            WatchState::Active
            | WatchState::Triggered
            | WatchState::Purchasing { .. }
            | WatchState::Purchased { .. }
            | WatchState::Expired
            | WatchState::Canceled => String::new(),
        };
        let prices = found.prices.iter().rev();
        Self {
            page: page
                .titled(format!("Watch {}", watch.id))
                .about(&watch.owner.tenant.organization),
            people: people(&watch.query.stay),
            purchase,
            mandate: watch.mandate_id.as_ref().map(ToString::to_string),
            booking: watch.booking_id().map(ToString::to_string),
            failure,
            expires: TimeText::new(watch.expires_at, now),
            prices: prices
                .map(|price| PriceRow {
                    at: TimeText::new(price.observed_at, now),
                    price: price_text(price.total),
                    is_reached: price.total.is_some_and(|t| watch.trigger.is_met_by(t)),
                })
                .collect(),
            is_confirming: is_confirming && found.can_cancel,
            watch: row,
        }
    }
}

impl WatchRow {
    fn new(found: &WatchView, now: Timestamp) -> Self {
        let watch = &found.watch;
        let stay = &watch.query.stay;
        let time = |at| TimeText::new(at, now);
        let observed = found.last_observed;
        Self {
            id: watch.id.to_string(),
            organization: watch.owner.tenant.organization.clone(),
            user: watch.owner.user.clone(),
            title: title(found),
            dates: format!("{} – {}", day(stay.check_in), day(stay.check_out)),
            state: watch_state(watch.status()),
            is_ended: !watch.status().is_open(),
            cap: money(watch.trigger.amount()),
            last_price: observed.map_or_else(String::new, |price| price_text(price.total)),
            last_checked: observed.map(|price| time(price.observed_at)),
            next_check: found.next_check_at.map(time),
            sparkline: sparkline(&found.prices),
            created: time(watch.created_at),
            can_cancel: found.can_cancel,
        }
    }
}

const fn watch_state(status: WatchStatus) -> State {
    let (tone, label) = match status {
        WatchStatus::Active => ("wait", "Active"),
        WatchStatus::Triggered => ("good", "Triggered"),
        WatchStatus::Purchasing => ("wait", "Purchasing"),
        WatchStatus::Purchased => ("good", "Purchased"),
        WatchStatus::PurchaseFailed => ("bad", "Purchase failed"),
        WatchStatus::Expired => ("", "Expired"),
        WatchStatus::Canceled => ("", "Canceled"),
    };
    State { tone, label }
}

fn title(found: &WatchView) -> String {
    match &found.watch.query.target {
        WatchTarget::Hotel { hotel_id } => {
            let name = found.hotel_name.clone();
            name.unwrap_or_else(|| format!("Hotel {hotel_id}"))
        }
        WatchTarget::Trip { area, .. } => match area {
            Area::Place(place) => format!("Hotels of place {place}"),
            Area::Around { center, radius_m } => format!(
                "Hotels within {radius_m} m of {:.4}, {:.4}",
                center.latitude, center.longitude
            ),
        },
    }
}

fn price_text(total: Option<Money>) -> String {
    total.map_or_else(|| "not available".to_owned(), money)
}

/// Returns the people of all rooms.
fn people(stay: &Stay) -> String {
    let rooms = &stay.occupancies;
    let adults = rooms.iter().map(|room| usize::from(room.adults)).sum();
    let children: usize = rooms.iter().map(|room| room.children.len()).sum();
    let mut parts = vec![count(rooms.len(), "room"), count(adults, "adult")];
    match children {
        0 => {}
        1 => parts.push("1 child".to_owned()),
        more => parts.push(format!("{more} children")),
    }
    parts.join(", ")
}

/// Draws the prices, without the times at which nothing was available.
fn sparkline(prices: &[ObservedPrice]) -> Option<Sparkline> {
    let totals: Vec<Money> = prices.iter().filter_map(|price| price.total).collect();
    let least = totals.iter().min_by_key(|total| total.minor)?;
    let most = totals.iter().max_by_key(|total| total.minor)?;
    let summary = format!("Prices from {} to {}", money(*least), money(*most));
    // Amounts are far below 2^53 in practice, and the drawing is coarse.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a drawing needs no exact amounts"
    )]
    let values: Vec<f64> = totals.iter().map(|total| total.minor as f64).collect();
    Sparkline::new(&values, summary)
}
