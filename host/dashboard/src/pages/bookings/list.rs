//! The list of bookings.

use crate::error::PageError;
use crate::list::{FilterForm, Pager};
use crate::page::PageContext;
use crate::query::{QueryFields, parse_supplier};
use crate::text::{State, TimeText, booking_state, day, money};
use askama::Template;
use host_application::account::viewer::Viewer;
use host_application::console::bookings::BookingList;
use host_application::console::list::ConsoleListRequest;
use host_domain::booking::BookingStatus;
use host_domain::console::AnyBooking;
use host_domain::console::booking::{AnyBookingKind, BookingScopeFilter};
use host_domain::flight::FlightBooking;
use host_domain::hotel::HotelBooking;
use host_domain::time::Timestamp;

/// Reads the request for the list from a query.
///
/// # Errors
/// [`PageError::NotFound`] if the organization is not an organization's id.
pub(super) fn list_request(
    query: &QueryFields,
) -> Result<ConsoleListRequest<BookingScopeFilter>, PageError> {
    let mut values = query.filter_values();
    let filter = BookingScopeFilter {
        kind: values.named("kind", AnyBookingKind::parse),
        status: values.named("status", BookingStatus::parse),
        supplier: values.parsed("supplier", parse_supplier),
        user: values.search("user"),
        reference: values.search("q"),
        created_from: values.time("from"),
        created_to: values.last_moment("to"),
    };
    values.list_request(filter)
}

/// Returns the form that filters the bookings.
fn filter_form(query: &QueryFields, viewer: &Viewer, found: &BookingList) -> FilterForm {
    let statuses = BookingStatus::ALL.map(|status| (status.as_str(), booking_state(status).label));
    let kinds = AnyBookingKind::ALL.map(|kind| (kind.as_str(), kind_name(kind)));
    let sent = parse_supplier(query.text("supplier"));
    let sent_text = match &sent {
        Some(supplier) => supplier.to_string(),
        None => query.text("supplier").to_owned(),
    };
    let mut suppliers = found.suppliers.clone();
    // A supplier that is no longer configured has bookings too.
    suppliers.extend(sent.filter(|sent| !found.suppliers.contains(sent)));
    let suppliers = suppliers.iter().map(|id| (id.as_str(), id.as_str()));
    FilterForm::builder("/bookings", query)
        .search("Booking id, supplier's or client's reference")
        .choice("Status", "status", statuses)
        .choice("Kind", "kind", kinds)
        .choice_of("Supplier", "supplier", sent_text, suppliers)
        .text("User", "user")
        .period()
        .organization(
            viewer.reads_several_organizations(),
            &found.list.organizations,
        )
        .build()
}

#[derive(Template)]
#[template(path = "bookings.html")]
pub(super) struct BookingsPage {
    page: PageContext,
    filter: FilterForm,
    pager: Pager,
    show_organization: bool,
    rows: Vec<BookingRow>,
}

/// A booking of the list.
struct BookingRow {
    id: String,
    organization: String,
    user: String,
    /// The hotel or the route.
    title: String,
    /// The dates of travel, empty before they are known.
    dates: String,
    kind: &'static str,
    state: State,
    supplier: String,
    /// Empty before the price is known.
    total: String,
    created: TimeText,
}

impl BookingsPage {
    pub(super) fn new(
        page: PageContext,
        viewer: &Viewer,
        query: &QueryFields,
        found: BookingList,
        now: Timestamp,
    ) -> Self {
        let filter = filter_form(query, viewer, &found);
        let list = found.list;
        let rows = list.page.items.iter();
        Self {
            page: page.titled("Bookings").about(filter.value("organization")),
            pager: filter.search_pager(&list, now),
            filter,
            show_organization: viewer.reads_several_organizations(),
            rows: rows.map(|booking| BookingRow::new(booking, now)).collect(),
        }
    }
}

impl BookingRow {
    fn new(booking: &AnyBooking, now: Timestamp) -> Self {
        let (title, dates) = title_and_dates(booking);
        let owner = booking.owner();
        let (id, supplier, created_at) = match booking {
            AnyBooking::Hotel(hotel) => (&hotel.id, &hotel.supplier, hotel.created_at),
            AnyBooking::Flight(flight) => (&flight.id, &flight.supplier, flight.created_at),
        };
        let (kind, total) = match booking {
            AnyBooking::Hotel(hotel) => (AnyBookingKind::Hotel, Some(hotel.details.total)),
            AnyBooking::Flight(flight) => (AnyBookingKind::Flight, flight.total()),
        };
        Self {
            id: id.to_string(),
            organization: owner.tenant.organization.clone(),
            user: owner.user.clone(),
            title,
            dates,
            kind: kind_name(kind),
            state: booking_state(booking.status()),
            supplier: supplier.to_string(),
            total: total.map_or_else(String::new, money),
            created: TimeText::new(created_at, now),
        }
    }
}

pub(super) const fn kind_name(kind: AnyBookingKind) -> &'static str {
    match kind {
        AnyBookingKind::Hotel => "Hotel",
        AnyBookingKind::Flight => "Flight",
    }
}

/// Returns the hotel or the route of a booking, and the dates of travel, empty before they are known.
pub(in crate::pages) fn title_and_dates(booking: &AnyBooking) -> (String, String) {
    match booking {
        AnyBooking::Hotel(booking) => (booking.details.hotel.name.clone(), stay_dates(booking)),
        AnyBooking::Flight(booking) => (route(booking), flight_dates(booking)),
    }
}

fn stay_dates(booking: &HotelBooking) -> String {
    let stay = &booking.details.stay;
    format!("{} – {}", day(stay.check_in), day(stay.check_out))
}

/// Returns the route of all journeys, such as `LHR → JFK → LHR`.
fn route(booking: &FlightBooking) -> String {
    let mut stops: Vec<&str> = Vec::new();
    for journey in &booking.details.journeys {
        let journey = &journey.journey;
        if stops.last() != Some(&journey.origin.as_str()) {
            stops.push(&journey.origin);
        }
        stops.push(&journey.destination);
    }
    if stops.is_empty() {
        return kind_name(AnyBookingKind::Flight).to_owned();
    }
    stops.join(" → ")
}

/// Returns the local dates of the first and the last departure.
fn flight_dates(booking: &FlightBooking) -> String {
    let departures = booking.details.journeys.iter();
    let mut dates = departures.filter_map(|journey| local_day(&journey.journey.departure_time));
    match (dates.next(), dates.next_back()) {
        (None, _) => String::new(),
        (Some(only), None) => only,
        (Some(first), Some(last)) => format!("{first} – {last}"),
    }
}

/// Returns the day of a local time `YYYY-MM-DDTHH:MM`.
pub(super) fn local_day(time: &str) -> Option<String> {
    time.get(..10)?.parse().ok().map(day)
}
