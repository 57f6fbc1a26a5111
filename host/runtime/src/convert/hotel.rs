//! Conversion of hotel searches, offers, bookings and cancellations.

use super::error::{booking_status, checkout};
use super::{
    ConvertResult, ExpectedReferences, currency, display_list, display_number, ensure_unique,
    expected_currency, instant, invalid, list, location, money, money_with_currency, optional,
    optional_instant, optional_money, positive_money, same_currency, same_variant, text, valid_if,
};
use crate::bindings::exports::stopover::supplier::{
    hotel_booking, hotel_cancellation, hotel_places, hotel_pricing, hotel_search,
};
use crate::bindings::stopover::supplier::{hotel_types as wire, types};
use host_domain::hotel::supplier_api::{
    HotelAppliedFilters, HotelBookRequest, HotelCancelRequest, HotelCancellationAmounts,
    HotelOffer, HotelOffers, HotelPrebookRequest, HotelPrebookResponse, HotelPriceRequest,
    HotelPriceResponse, HotelSupplierBooking, HotelSupplierQuote, Place, PlaceQuery, SearchRequest,
    SearchResponse, SearchSort, SupplierHotel, SupplierRoom,
};
use host_domain::hotel::{
    Board, CancellationPolicy, Contact, Guest, GuestType, HotelSummary, Loyalty, Penalty,
    Promotion, Restriction, RoomRate, Stay,
};
use host_domain::money::Currency;
use host_domain::supplier::{BookingLookup, FindRequest, SupplierBookingStatus};

const PENALTIES_MAX: usize = 60;
const RESTRICTIONS_MAX: usize = 20;
const PROMOTIONS_MAX: usize = 30;
const ROOMS_MAX: usize = 32;
const ALTERNATIVES_MAX: usize = 20;
const RADIUS_M_MAX: f64 = 20_100_000.0;

// Requests.

pub(crate) fn place_query(query: PlaceQuery) -> hotel_places::PlaceQuery {
    hotel_places::PlaceQuery {
        text: query.text,
        country: query.country,
        language: None,
        limit: query.limit,
    }
}

fn stay(stay: Stay) -> wire::Stay {
    wire::Stay {
        check_in: stay.check_in.to_string(),
        check_out: stay.check_out.to_string(),
        occupancies: (stay.occupancies.into_iter())
            .map(|occupancy| wire::Occupancy {
                adults: occupancy.adults,
                children: occupancy.children,
            })
            .collect(),
        guest_nationality: stay.guest_nationality,
        guest_residence: stay.guest_residence,
        currency: stay.currency.code().to_owned(),
    }
}

pub(crate) fn search_request(request: SearchRequest) -> hotel_search::SearchRequest {
    let filters = request.filters;
    hotel_search::SearchRequest {
        area: hotel_search::Area {
            center: types::Location {
                latitude: request.center.latitude,
                longitude: request.center.longitude,
            },
            radius_m: request.radius_m,
            supplier_place_id: request.supplier_place_id,
        },
        stay: stay(request.stay),
        filters: hotel_search::Filters {
            min_star_rating: filters.min_star_rating,
            min_guest_rating: filters.min_guest_rating,
            refundable: filters.refundable,
            boards: filters.boards.into_iter().map(board_to_wire).collect(),
            max_total: filters.max_total.map(|total| total.minor),
        },
        sort: same_variant!(request.sort, SearchSort => hotel_search::Sort, [
            Distance, Total, GuestRating, StarRating,
        ]),
        limit: request.limit,
    }
}

const fn board_to_wire(board: Board) -> types::Board {
    same_variant!(board, Board => types::Board, [
        RoomOnly, BedAndBreakfast, HalfBoard, FullBoard, AllInclusive, Other,
    ])
}

pub(crate) fn price_request(request: HotelPriceRequest) -> hotel_pricing::PriceRequest {
    hotel_pricing::PriceRequest {
        supplier_hotel_ids: request.supplier_hotel_ids,
        stay: stay(request.stay),
        max_offers_per_hotel: request.max_offers_per_hotel,
    }
}

fn contact(contact: Contact) -> types::Contact {
    types::Contact {
        first_name: contact.first_name,
        last_name: contact.last_name,
        email: contact.email,
        phone: contact.phone,
    }
}

fn rooms(rooms: Vec<Vec<Guest>>) -> Vec<wire::RoomGuests> {
    rooms
        .into_iter()
        .map(|guests| wire::RoomGuests {
            guests: guests.into_iter().map(guest).collect(),
        })
        .collect()
}

fn guest(guest: Guest) -> wire::Guest {
    wire::Guest {
        first_name: guest.first_name,
        last_name: guest.last_name,
        guest_type: match guest.guest_type {
            GuestType::Adult => wire::GuestType::Adult,
            GuestType::Child => wire::GuestType::Child,
        },
        is_lead: guest.is_lead,
        age: guest.age,
    }
}

pub(crate) fn prebook_request(request: HotelPrebookRequest) -> hotel_booking::PrebookRequest {
    hotel_booking::PrebookRequest {
        client_reference: request.client_reference,
        supplier_hotel_id: request.supplier_hotel_id,
        supplier_offer: request.supplier_offer,
        stay: stay(request.stay),
        total: request.total.minor,
        contact: contact(request.contact),
        rooms: rooms(request.rooms),
        use_payment_sdk: request.use_payment_sdk,
    }
}

pub(crate) fn book_request(request: HotelBookRequest) -> hotel_booking::BookRequest {
    hotel_booking::BookRequest {
        client_reference: request.client_reference,
        supplier_prebook: request.supplier_prebook,
        supplier_hotel_id: request.supplier_hotel_id,
        stay: stay(request.stay),
        currency: request.total.currency.code().to_owned(),
        total: request.total.minor,
        contact: contact(request.contact),
        rooms: rooms(request.rooms),
    }
}

pub(crate) fn find_request(request: FindRequest) -> hotel_booking::FindRequest {
    hotel_booking::FindRequest {
        client_reference: request.client_reference,
        supplier_reference: request.supplier_reference,
        supplier_prebook: request.supplier_prebook,
    }
}

pub(crate) fn cancel_request(request: HotelCancelRequest) -> hotel_cancellation::CancelRequest {
    let rooms = request
        .rooms
        .into_iter()
        .map(|room| hotel_cancellation::RoomReference {
            position: room.position,
            supplier_room_reference: room.supplier_room_reference,
        });
    hotel_cancellation::CancelRequest {
        client_reference: request.client_reference,
        booking_client_reference: request.booking_client_reference,
        supplier_reference: request.supplier_reference,
        rooms: rooms.collect(),
    }
}

// Responses.

pub(crate) fn places(places: Vec<hotel_places::Place>, limit: u16) -> ConvertResult<Vec<Place>> {
    list("places", places, usize::from(limit), |place| {
        Ok(Place {
            supplier_place_id: text::opaque("places.supplier-place-id", place.supplier_place_id)?,
            name: text::display_line(place.name),
            address: text::display_line(place.address),
            location: location("places.location", place.location)?,
            suggested_radius: display_number(place.suggested_radius, 1.0, RADIUS_M_MAX),
            country: text::country(place.country),
            city: text::optional_display(place.city, text::LINE_CHARS),
            types: display_list(place.types, ALTERNATIVES_MAX, text::display_line),
            alternatives: display_list(place.alternatives, ALTERNATIVES_MAX, |a| {
                (text::display_line(a.name), text::display_line(a.address))
            }),
        })
    })
}

pub(crate) fn search_response(
    response: hotel_search::SearchResponse,
    expected: Currency,
    limit: u16,
) -> ConvertResult<SearchResponse> {
    use hotel_search::AppliedFilters as Flags;
    let currency = same_currency("currency", &response.currency, expected)?;
    let applied = |flag| response.applied.contains(flag);
    Ok(SearchResponse {
        applied: HotelAppliedFilters {
            min_star_rating: applied(Flags::MIN_STAR_RATING),
            min_guest_rating: applied(Flags::MIN_GUEST_RATING),
            refundable: applied(Flags::REFUNDABLE),
            boards: applied(Flags::BOARDS),
            max_total: applied(Flags::MAX_TOTAL),
            sort: applied(Flags::SORT),
        },
        truncated: response.truncated,
        hotels: list("hotels", response.hotels, usize::from(limit), |hotel| {
            Ok(SupplierHotel {
                supplier_hotel_id: text::reference(
                    "hotels.supplier-hotel-id",
                    hotel.supplier_hotel_id,
                )?,
                name: text::display_line(hotel.name),
                address: text::display_line(hotel.address),
                location: location("hotels.location", hotel.location)?,
                star_rating: display_number(hotel.star_rating, 0.0, 5.0),
                guest_rating: display_number(hotel.guest_rating, 0.0, 10.0),
                lowest_total: optional(hotel.lowest_total, |minor| {
                    positive_money("hotels.lowest-total", minor, currency)
                })?,
                main_image: text::url(hotel.main_image),
            })
        })?,
    })
}

/// Converts offers of the requested hotels, each of which may occur once.
pub(crate) fn price_response(
    response: hotel_pricing::PriceResponse,
    request: HotelPriceRequest,
) -> ConvertResult<HotelPriceResponse> {
    let currency = same_currency("currency", &response.currency, request.stay.currency)?;
    let rooms = request.stay.occupancies.len();
    let offers_max = usize::from(request.max_offers_per_hotel);
    let mut ids = request.supplier_hotel_ids;
    let hotels = list("hotels", response.hotels, ids.len(), |found| {
        let hotel = hotel_summary(found.hotel)?;
        let Some(position) = ids.iter().position(|id| *id == hotel.supplier_hotel_id) else {
            return invalid("hotels.supplier-hotel-id", "not asked for, or twice");
        };
        ids.swap_remove(position);
        let offers = list("hotels.offers", found.offers, offers_max, |found| {
            offer(found, currency, rooms)
        })?;
        Ok(HotelOffers { hotel, offers })
    })?;
    Ok(HotelPriceResponse { currency, hotels })
}

fn offer(
    offer: hotel_pricing::Offer,
    currency: Currency,
    rooms: usize,
) -> ConvertResult<HotelOffer> {
    Ok(HotelOffer {
        supplier_offer: text::opaque("offers.supplier-offer", offer.supplier_offer)?,
        total: positive_money("offers.total", offer.total, currency)?,
        rooms: room_rates(offer.rooms, currency, rooms)?,
        policy: policy(offer.policy)?,
        promotions: promotions(offer.promotions, currency, rooms)?,
        loyalty: offer.loyalty.map(loyalty),
        expires_at: optional_instant("offers.expires-at", offer.expires_at)?,
    })
}

fn hotel_summary(hotel: wire::HotelSummary) -> ConvertResult<HotelSummary> {
    Ok(HotelSummary {
        supplier_hotel_id: text::reference("hotel.supplier-hotel-id", hotel.supplier_hotel_id)?,
        name: text::display_line(hotel.name),
        address: text::display_line(hotel.address),
        location: optional(hotel.location, |at| location("hotel.location", at))?,
        time_zone: text::time_zone(hotel.time_zone),
    })
}

fn room_rates(
    rates: Vec<wire::RoomRate>,
    currency: Currency,
    rooms: usize,
) -> ConvertResult<Vec<RoomRate>> {
    if rates.len() != rooms {
        return invalid("rooms", "not one a requested room");
    }
    rates
        .into_iter()
        .map(|rate| {
            Ok(RoomRate {
                name: text::display_line(rate.name),
                board: board(rate.board),
                board_name: text::display_line(rate.board_name),
                total: money("rooms.total", rate.total, currency)?,
                due_at_property: optional(rate.due_at_property, |due| {
                    money_with_currency("rooms.due-at-property", &due)
                })?,
                policy: policy(rate.policy)?,
            })
        })
        .collect()
}

const fn board(board: types::Board) -> Board {
    same_variant!(board, types::Board => Board, [
        RoomOnly, BedAndBreakfast, HalfBoard, FullBoard, AllInclusive, Other,
    ])
}

fn policy(policy: wire::CancellationPolicy) -> ConvertResult<CancellationPolicy> {
    let mut penalties = list(
        "policy.penalties",
        policy.penalties,
        PENALTIES_MAX,
        |penalty| {
            let currency = currency("policy.penalties.currency", &penalty.currency)?;
            Ok(Penalty {
                from: instant("policy.penalties.start", penalty.start)?,
                amount: money("policy.penalties.amount", penalty.amount, currency)?,
            })
        },
    )?;
    penalties.sort_by_key(|penalty| penalty.from);
    let restrictions = list(
        "policy.restrictions",
        policy.restrictions,
        RESTRICTIONS_MAX,
        |restriction| {
            Ok(Restriction {
                code: text::reference("policy.restrictions.code", restriction.code)?,
                description: text::display_line(restriction.description),
                active_from: optional_instant(
                    "policy.restrictions.active-from",
                    restriction.active_from,
                )?,
                active_until: optional_instant(
                    "policy.restrictions.active-until",
                    restriction.active_until,
                )?,
            })
        },
    )?;
    let free_until = optional_instant("policy.free-until", policy.free_until)?;
    Ok(CancellationPolicy {
        refundable: policy.refundable,
        free_until,
        penalties,
        restrictions,
    })
}

fn promotions(
    promotions: Vec<wire::Promotion>,
    currency: Currency,
    rooms: usize,
) -> ConvertResult<Vec<Promotion>> {
    list("promotions", promotions, PROMOTIONS_MAX, |promotion| {
        if promotion.room_positions.len() > rooms
            || promotion
                .room_positions
                .iter()
                .any(|at| usize::from(*at) >= rooms)
        {
            return invalid("promotions.room-positions", "not a requested room");
        }
        Ok(Promotion {
            name: text::display_line(promotion.name),
            description: text::optional_display(promotion.description, text::LINE_CHARS),
            amount: optional_money("promotions.amount", promotion.amount, currency)?,
            room_positions: promotion.room_positions,
        })
    })
}

fn loyalty(loyalty: wire::Loyalty) -> Loyalty {
    Loyalty {
        program: text::display_line(loyalty.program),
        membership_number: text::optional_display(loyalty.membership_number, text::LINE_CHARS),
        points_estimate: loyalty.points_estimate,
    }
}

pub(crate) fn prebook_response(
    response: hotel_booking::PrebookResponse,
    expected: Currency,
    rooms: usize,
) -> ConvertResult<HotelPrebookResponse> {
    let currency = same_currency("currency", &response.currency, expected)?;
    Ok(HotelPrebookResponse {
        supplier_prebook: text::opaque("supplier-prebook", response.supplier_prebook)?,
        total: positive_money("total", response.total, currency)?,
        hotel: hotel_summary(response.hotel)?,
        rooms: room_rates(response.rooms, currency, rooms)?,
        policy: policy(response.policy)?,
        promotions: promotions(response.promotions, currency, rooms)?,
        loyalty: response.loyalty.map(loyalty),
        expires_at: optional_instant("expires-at", response.expires_at)?,
        checkout: optional(response.checkout, checkout)?,
    })
}

/// The booking that a response must refer to.
pub(crate) struct HotelBookingExpectation {
    pub(super) references: ExpectedReferences,
    /// The currency of the booking, if it is known.
    pub(super) currency: Option<Currency>,
    /// The number of rooms, if it is known.
    pub(super) rooms: Option<usize>,
}

impl HotelBookingExpectation {
    pub(crate) fn for_book(request: &HotelBookRequest) -> Self {
        Self {
            references: ExpectedReferences::new(&request.client_reference, None),
            currency: Some(request.total.currency),
            rooms: Some(request.rooms.len()),
        }
    }

    pub(crate) fn for_find(request: &FindRequest) -> Self {
        Self {
            references: request.into(),
            currency: None,
            rooms: None,
        }
    }

    pub(crate) fn for_cancel(request: &HotelCancelRequest, currency: Currency) -> Self {
        let reference = Some(request.supplier_reference.as_str());
        Self {
            references: ExpectedReferences::new(&request.booking_client_reference, reference),
            currency: Some(currency),
            rooms: None,
        }
    }

    /// Checks the rooms of a booking. A confirmed booking contains every requested room.
    fn check_rooms(
        &self,
        status: &SupplierBookingStatus,
        rooms: &[SupplierRoom],
    ) -> ConvertResult<()> {
        let Some(requested) = self.rooms else {
            return Ok(());
        };
        if rooms
            .iter()
            .any(|room| usize::from(room.position) >= requested)
        {
            return invalid("rooms.position", "not a requested room");
        }
        let is_complete = rooms.len() == requested || *status != SupplierBookingStatus::Confirmed;
        valid_if(is_complete, (), "rooms", "not all requested rooms")
    }
}

pub(crate) fn supplier_booking(
    state: wire::SupplierBooking,
    expected: &HotelBookingExpectation,
) -> ConvertResult<HotelSupplierBooking> {
    let currency = expected_currency(&state.currency, expected.currency)?;
    let status = booking_status(state.status)?;
    let supplier_reference = text::reference("supplier-reference", state.supplier_reference)?;
    let client_reference = text::optional_reference("client-reference", state.client_reference)?;
    let references = &expected.references;
    references.check(&supplier_reference, client_reference.as_deref())?;
    let mut rooms = list("rooms", state.rooms, ROOMS_MAX, booked_room)?;
    rooms.sort_by_key(|room| room.position);
    ensure_unique("rooms.position", rooms.iter().map(|room| room.position))?;
    expected.check_rooms(&status, &rooms)?;
    Ok(HotelSupplierBooking {
        status,
        supplier_reference,
        client_reference,
        total: money("total", state.total, currency)?,
        hotel_confirmation_code: text::optional_display(
            state.hotel_confirmation_code,
            text::LINE_CHARS,
        ),
        remarks: text::optional_display(state.remarks, text::TEXT_CHARS),
        rooms,
        policy: optional(state.policy, policy)?,
        cancellation: optional(state.cancellation, cancellation)?,
    })
}

fn booked_room(room: wire::SupplierRoom) -> ConvertResult<SupplierRoom> {
    if usize::from(room.position) >= ROOMS_MAX {
        return invalid("rooms.position", "out of range");
    }
    Ok(SupplierRoom {
        position: room.position,
        supplier_room_reference: text::optional_reference(
            "rooms.supplier-room-reference",
            room.supplier_room_reference,
        )?,
        hotel_confirmation_code: text::optional_display(
            room.hotel_confirmation_code,
            text::LINE_CHARS,
        ),
        canceled: room.canceled,
    })
}

fn cancellation(amounts: wire::CancellationAmounts) -> ConvertResult<HotelCancellationAmounts> {
    let currency = currency("cancellation.currency", &amounts.currency)?;
    Ok(HotelCancellationAmounts {
        fee: money("cancellation.fee", amounts.fee, currency)?,
        refund: optional_money("cancellation.refund", amounts.refund, currency)?,
        supplier_reference: text::optional_reference(
            "cancellation.supplier-reference",
            amounts.supplier_reference,
        )?,
    })
}

pub(crate) fn booking_lookup(
    lookup: hotel_booking::BookingLookup,
    expected: &HotelBookingExpectation,
) -> ConvertResult<BookingLookup<HotelSupplierBooking>> {
    Ok(match lookup {
        hotel_booking::BookingLookup::Found(state) => {
            BookingLookup::Found(Box::new(supplier_booking(state, expected)?))
        }
        hotel_booking::BookingLookup::NotFound => BookingLookup::NotFound,
    })
}

pub(crate) fn quote(quote: hotel_cancellation::Quote) -> ConvertResult<HotelSupplierQuote> {
    Ok(match quote {
        hotel_cancellation::Quote::Preview(preview) => {
            let currency = currency("preview.currency", &preview.currency)?;
            HotelSupplierQuote::Preview {
                fee: money("preview.fee", preview.fee, currency)?,
                refund: optional_money("preview.refund", preview.refund, currency)?,
                free_until: optional_instant("preview.free-until", preview.free_until)?,
            }
        }
        hotel_cancellation::Quote::Policy(terms) => {
            HotelSupplierQuote::Policy(optional(terms, policy)?)
        }
    })
}
