//! The page of a booking.

use crate::page::PageContext;
use crate::pages::bookings::fact::Fact;
use crate::pages::bookings::list::{kind_name, local_day};
use crate::pages::bookings::money::{MoneyText, PolicyText};
use crate::pages::bookings::timeline::timeline_event;
use crate::text::{State, TimeText, booking_state, count, day, words};
use crate::timeline::{TimelineItem, timeline_items};
use askama::Template;
use host_application::booking::engine::DECIDE_REFUND_STEP;
use host_application::booking::reader::TIMELINE_MAX;
use host_application::console::booking_people::{AgeGroup, BookingPeople, Traveller};
use host_application::console::bookings::BookingDetails;
use host_domain::booking::{Booking, BookingKind, Failure};
use host_domain::console::AnyBooking;
use host_domain::console::booking::{AnyBookingKind, TimelineContent, TimelineEntry};
use host_domain::flight::FlightBooking;
use host_domain::flight::booking::{BookedJourney, BookedService, ServiceStatus};
use host_domain::flight::itinerary::Segment;
use host_domain::hotel::HotelBooking;
use host_domain::hotel::booking::Room;
use host_domain::time::Timestamp;

#[derive(Template)]
#[template(path = "booking.html")]
pub(super) struct BookingPage {
    page: PageContext,
    id: String,
    state: State,
    kind: &'static str,
    created: TimeText,
    /// Why the booking failed, or why a cancellation was refused.
    failure: String,
    /// The link to the page where an unknown outcome or a refund is decided, if one is open.
    unresolved: Option<SettleLink>,
    trip_title: &'static str,
    trip: Vec<Fact>,
    references: Vec<Fact>,
    money: MoneyText,
    policy: PolicyText,
    people: PeopleText,
    can_reveal: bool,
    timeline: Vec<TimelineItem>,
    is_timeline_cut: bool,
}

struct SettleLink {
    path: String,
    label: &'static str,
}

/// The people, masked or not.
struct PeopleText {
    is_masked: bool,
    contact: String,
    email: String,
    phone: String,
    travellers: Vec<TravellerText>,
}

struct TravellerText {
    name: String,
    detail: String,
}

impl BookingPage {
    pub(super) fn new(page: PageContext, found: BookingDetails, now: Timestamp) -> Self {
        let mut built = match &found.booking {
            AnyBooking::Hotel(booking) => Self::from_hotel(page, booking, now),
            AnyBooking::Flight(booking) => Self::from_flight(page, booking, now),
        };
        let timeline = found.timeline;
        built.people = PeopleText::from(found.people);
        built.can_reveal = found.can_reveal;
        built.unresolved = settle_link(&timeline, &built.id);
        built.is_timeline_cut = u32::try_from(timeline.len()).is_ok_and(|n| n >= TIMELINE_MAX);
        let id = match &found.booking {
            AnyBooking::Hotel(booking) => &booking.id,
            AnyBooking::Flight(booking) => &booking.id,
        };
        let events = timeline.into_iter();
        built.timeline = timeline_items(events.map(|entry| timeline_event(entry, id)));
        built
    }

    /// Returns the page with what both kinds of bookings have.
    fn common<K: BookingKind>(page: PageContext, booking: &Booking<K>, now: Timestamp) -> Self {
        let organization = &booking.owner.tenant.organization;
        Self {
            page: page
                .titled(format!("Booking {}", booking.id))
                .about(organization),
            id: booking.id.to_string(),
            state: booking_state(booking.status()),
            kind: "",
            created: TimeText::new(booking.created_at, now),
            failure: booking.failure.as_ref().map_or_else(String::new, failure),
            unresolved: None,
            trip_title: "",
            trip: Vec::new(),
            references: vec![
                Fact::code("Id", Some(booking.id.as_str())),
                Fact::text("Organization", organization),
                Fact::text("User", &booking.owner.user),
                Fact::text("Supplier", booking.supplier.as_str()),
                Fact::code("Supplier's id", booking.supplier_reference.as_deref()),
                Fact::code("Client's reference", booking.reference_id.as_deref()),
            ],
            money: MoneyText::new(booking),
            policy: PolicyText::default(),
            people: PeopleText::default(),
            can_reveal: false,
            timeline: Vec::new(),
            is_timeline_cut: false,
        }
    }

    fn from_hotel(page: PageContext, booking: &HotelBooking, now: Timestamp) -> Self {
        let mut built = Self::common(page, booking, now);
        let (details, stay) = (&booking.details, &booking.details.stay);
        let nights = stay
            .check_in
            .until(stay.check_out)
            .map_or(0, |span| span.get_days());
        let nights = usize::try_from(nights).unwrap_or_default();
        built.kind = kind_name(AnyBookingKind::Hotel);
        built.trip_title = "Stay";
        built.trip = vec![
            Fact::text("Hotel", &details.hotel.name),
            Fact::text("Address", &details.hotel.address),
            Fact::text("Check-in", day(stay.check_in)),
            Fact::text(
                "Check-out",
                format!("{}, {}", day(stay.check_out), count(nights, "night")),
            ),
        ];
        built.trip.extend(rooms(&details.rooms));
        let code = details.hotel_confirmation_code.as_deref();
        built
            .references
            .push(Fact::code("Hotel's confirmation", code));
        built.money.add_hotel(booking);
        built.policy = PolicyText::of_hotel(booking, now);
        built
    }

    fn from_flight(page: PageContext, booking: &FlightBooking, now: Timestamp) -> Self {
        let mut built = Self::common(page, booking, now);
        let details = &booking.details;
        built.kind = kind_name(AnyBookingKind::Flight);
        built.trip_title = "Flights";
        built.trip = details.journeys.iter().flat_map(journey).collect();
        built.trip.extend(details.services.iter().map(service));
        let pnr = details.airline_pnr.as_deref();
        built.references.push(Fact::code("Record locator", pnr));
        built.money.add_flight(booking);
        built.policy = PolicyText::of_flight(booking);
        built
    }
}

fn failure(failure: &Failure) -> String {
    format!("{} ({})", failure.description, failure.code)
}

/// Returns the link to the open outcomes of a booking, if the timeline has one.
fn settle_link(timeline: &[TimelineEntry], booking: &str) -> Option<SettleLink> {
    let open = timeline.iter().filter_map(|entry| match &entry.content {
        TimelineContent::Call(call) if call.is_open => Some(call),
        _ => None,
    });
    let mut open = open.peekable();
    open.peek()?;
    let is_refund = open.all(|call| call.step == DECIDE_REFUND_STEP);
    Some(SettleLink {
        path: format!("/unresolved?booking={booking}"),
        label: match is_refund {
            true => "Decide the refund",
            false => "Settle the unknown outcome",
        },
    })
}

fn rooms(rooms: &[Room]) -> impl Iterator<Item = Fact> {
    let is_only = rooms.len() == 1;
    rooms.iter().enumerate().map(move |(position, room)| {
        let label = if is_only {
            "Room".to_owned()
        } else {
            format!("Room {}", position + 1)
        };
        let mut parts = vec![
            room.name.clone(),
            room.board_name.clone(),
            occupancy(room.adults, &room.children),
        ];
        if room.canceled_at.is_some() {
            parts.push("canceled".to_owned());
        }
        parts.retain(|part| !part.is_empty());
        Fact::text(label, parts.join(" · "))
    })
}

/// Returns the people of a room, such as `2 adults, 1 child (7)`.
fn occupancy(adults: u8, children: &[u8]) -> String {
    let adults = count(usize::from(adults), "adult");
    if children.is_empty() {
        return adults;
    }
    let ages: Vec<String> = children.iter().map(u8::to_string).collect();
    let noun = if children.len() == 1 {
        "child"
    } else {
        "children"
    };
    format!("{adults}, {} {noun} ({})", children.len(), ages.join(", "))
}

fn journey(journey: &BookedJourney) -> impl Iterator<Item = Fact> {
    let journey = &journey.journey;
    let route = format!("{} → {}", journey.origin, journey.destination);
    let brand = journey.fare_brand.clone().unwrap_or_default();
    let head = Fact::text(words(direction(journey.direction)), join(&[route, brand]));
    let segments = journey.segments.iter().map(segment);
    std::iter::once(head).chain(segments)
}

const fn direction(direction: host_domain::flight::Direction) -> &'static str {
    match direction {
        host_domain::flight::Direction::Outbound => "outbound",
        host_domain::flight::Direction::Inbound => "return",
        host_domain::flight::Direction::MultiCity => "journey",
    }
}

/// Returns a flight with its local times.
fn segment(segment: &Segment) -> Fact {
    let clock = |time: &str| time.get(11..16).unwrap_or_default().to_owned();
    let departure = format!("{} {}", segment.origin, clock(&segment.departure_time));
    let arrival = format!("{} {}", segment.destination, clock(&segment.arrival_time));
    let date = local_day(&segment.departure_time).unwrap_or_default();
    let times = format!("{departure} – {arrival}");
    Fact::text(&segment.marketing_flight, join(&[date, times]))
}

fn service(service: &BookedService) -> Fact {
    let status = match service.status {
        ServiceStatus::Pending => "being bought",
        ServiceStatus::Confirmed => "bought",
        ServiceStatus::Failed => "not bought",
        ServiceStatus::Canceled => "canceled",
    };
    let passenger = format!("passenger {}", usize::from(service.passenger) + 1);
    let kind = match service.baggage {
        Some(_) => "Bag",
        None => "Service",
    };
    let number = format!("{} ×", service.quantity);
    Fact::text(kind, join(&[number, passenger, status.to_owned()]))
}

/// Joins those parts that are not empty.
fn join(parts: &[String]) -> String {
    let parts = parts.iter().filter(|part| !part.is_empty());
    parts.map(String::as_str).collect::<Vec<_>>().join(" · ")
}

impl Default for PeopleText {
    fn default() -> Self {
        Self {
            is_masked: true,
            contact: String::new(),
            email: String::new(),
            phone: String::new(),
            travellers: Vec::new(),
        }
    }
}

impl From<BookingPeople> for PeopleText {
    fn from(people: BookingPeople) -> Self {
        Self {
            is_masked: people.is_masked,
            contact: people.contact_name.unwrap_or_default(),
            email: people.email,
            phone: people.phone,
            travellers: people.travellers.into_iter().map(traveller).collect(),
        }
    }
}

fn traveller(traveller: Traveller) -> TravellerText {
    let group = match traveller.group {
        AgeGroup::Adult => "Adult",
        AgeGroup::Child => "Child",
        AgeGroup::Infant => "Infant",
    };
    let room = traveller.room.map(|room| format!("room {}", room + 1));
    let age = traveller.age.map(|age| format!("{age} years"));
    let born = traveller
        .date_of_birth
        .map(|date| format!("born {}", day(date)));
    let lead = traveller.is_lead.then(|| "lead guest".to_owned());
    let parts = [
        Some(group.to_owned()),
        room,
        age,
        born,
        traveller.nationality,
        lead,
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    TravellerText {
        name: traveller.name,
        detail: join(&parts),
    }
}
