//! Conversion of hotel searches, offers, bookings and cancellations.

mod details;
mod policy;
mod request;
mod texts;

pub(crate) use details::{
    detailed_booking, detailed_booking_lookup, detailed_prebook_response, detailed_price_request,
    detailed_price_response,
};

pub(crate) use request::{
    book_request, cancel_request, find_request, place_query, prebook_request, price_request,
    search_request,
};

use self::details::add_offer_details;
use self::policy::{PolicyContext, check_rooms_total, policy, room_policy};
use self::texts::{booking_texts, prebook_texts};
use super::dropped::DroppedItems;
use super::error::{booking_status, optional_checkout};
use super::{
    ConvertResult, ExpectedReferences, PrebookExpectation, currency, display_list, display_number,
    ensure_unique, expected_currency, expiry, invalid, list, location, money, money_with_currency,
    optional, optional_instant, optional_money, positive_money, same_currency, same_variant, text,
    valid_if, valid_items,
};
use crate::bindings::exports::stopover::supplier::{
    hotel_booking, hotel_cancellation, hotel_places, hotel_pricing, hotel_search,
};
use crate::bindings::stopover::supplier::{hotel_types as wire, types};
use crate::bindings::v1_1::stopover::supplier::hotel_details::OfferDetails;
use host_domain::hotel::supplier_api::{
    HotelAppliedFilters, HotelBookRequest, HotelCancelRequest, HotelCancellationAmounts,
    HotelFindExpectation, HotelOffer, HotelOfferDetails, HotelOffers, HotelPrebookResponse,
    HotelPriceRequest, HotelPriceResponse, HotelSupplierBooking, HotelSupplierQuote, Place,
    SearchResponse, SupplierHotel, SupplierRoom,
};
use host_domain::hotel::{Board, HotelSummary, Loyalty, Promotion, RoomDetails, RoomRate};
use host_domain::money::{Currency, Money};
use host_domain::supplier::{BookingLookup, FindRequest, SupplierBookingStatus};
use host_domain::time::Timestamp;

const PROMOTIONS_MAX: usize = 30;
const ROOMS_MAX: usize = 32;
const ALTERNATIVES_MAX: usize = 20;
const RADIUS_M_MAX: f64 = 20_100_000.0;

pub(crate) fn places(
    places: Vec<hotel_places::Place>,
    limit: u16,
    dropped: &mut DroppedItems,
) -> ConvertResult<Vec<Place>> {
    valid_items("places", places, usize::from(limit), dropped, |place| {
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
    dropped: &mut DroppedItems,
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
        hotels: valid_items(
            "hotels",
            response.hotels,
            usize::from(limit),
            dropped,
            |hotel| found_hotel(hotel, currency),
        )?,
    })
}

fn found_hotel(
    hotel: hotel_search::SupplierHotel,
    currency: Currency,
) -> ConvertResult<SupplierHotel> {
    Ok(SupplierHotel {
        supplier_hotel_id: text::reference("hotels.supplier-hotel-id", hotel.supplier_hotel_id)?,
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
}

pub(crate) fn price_response(
    response: hotel_pricing::PriceResponse,
    request: HotelPriceRequest,
    now: Timestamp,
    dropped: &mut DroppedItems,
) -> ConvertResult<HotelPriceResponse> {
    priced_hotels(
        &response.currency,
        response.hotels,
        request,
        now,
        dropped,
        |found| (found.hotel, found.offers),
        |found| (found, None),
    )
}

/// Converts offers of the requested hotels, each of which may occur once. `hotel_parts` and
/// `offer_parts` take apart the hotels and offers of a version of the interface.
fn priced_hotels<H, O>(
    currency: &str,
    hotels: Vec<H>,
    request: HotelPriceRequest,
    now: Timestamp,
    dropped: &mut DroppedItems,
    hotel_parts: impl Fn(H) -> (wire::HotelSummary, Vec<O>),
    offer_parts: impl Fn(O) -> (hotel_pricing::Offer, Option<OfferDetails>),
) -> ConvertResult<HotelPriceResponse> {
    let currency = same_currency("currency", currency, request.stay.currency)?;
    let rooms = request.stay.occupancies.len();
    let offers_max = usize::from(request.max_offers_per_hotel);
    let mut ids = request.supplier_hotel_ids;
    let hotels = list("hotels", hotels, ids.len(), |found| {
        let (hotel, found) = hotel_parts(found);
        let id = &hotel.supplier_hotel_id;
        let Some(position) = ids.iter().position(|asked| asked == id) else {
            return invalid("hotels.supplier-hotel-id", "not asked for, or twice");
        };
        ids.swap_remove(position);
        let Some(hotel) = dropped.keep(hotel_summary(hotel)) else {
            return Ok(None);
        };
        let mut offers = Vec::with_capacity(found.len().min(offers_max));
        list("hotels.offers", found, offers_max, |found| {
            let (found, details) = offer_parts(found);
            let Some(mut offer) = dropped.keep(offer(found, currency, rooms, now)) else {
                return Ok(());
            };
            if let Some(details) = details {
                let (rooms, policy) = (&mut offer.rooms, &mut offer.policy);
                offer.details = add_offer_details(details, rooms, policy, dropped);
            }
            offers.push(offer);
            Ok(())
        })?;
        Ok(Some(HotelOffers { hotel, offers }))
    })?;
    let hotels: Vec<HotelOffers> = hotels.into_iter().flatten().collect();
    let has_offers = hotels.iter().any(|hotel| !hotel.offers.is_empty());
    dropped.check_remaining(has_offers)?;
    Ok(HotelPriceResponse { currency, hotels })
}

fn offer(
    offer: hotel_pricing::Offer,
    currency: Currency,
    rooms: usize,
    now: Timestamp,
) -> ConvertResult<HotelOffer> {
    let total = positive_money("offers.total", offer.total, currency)?;
    let context = PolicyContext {
        now,
        total: Some(total),
        rooms,
    };
    Ok(HotelOffer {
        supplier_offer: text::opaque("offers.supplier-offer", offer.supplier_offer)?,
        total,
        rooms: room_rates(offer.rooms, total, context)?,
        policy: policy(offer.policy, context)?,
        promotions: promotions(offer.promotions, currency, rooms)?,
        loyalty: offer.loyalty.map(loyalty),
        expires_at: expiry("offers.expires-at", offer.expires_at, now)?,
        details: HotelOfferDetails::default(),
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

/// Converts the rooms of an offer. There is one for each requested room, and their totals add up to
/// `total`.
fn room_rates(
    rates: Vec<wire::RoomRate>,
    total: Money,
    context: PolicyContext,
) -> ConvertResult<Vec<RoomRate>> {
    if rates.len() != context.rooms {
        return invalid("rooms", "not one a requested room");
    }
    let rates = rates
        .into_iter()
        .map(|rate| room_rate(rate, total.currency, context))
        .collect::<ConvertResult<Vec<_>>>()?;
    check_rooms_total(&rates, total)?;
    Ok(rates)
}

fn room_rate(
    rate: wire::RoomRate,
    currency: Currency,
    context: PolicyContext,
) -> ConvertResult<RoomRate> {
    let total = money("rooms.total", rate.total, currency)?;
    Ok(RoomRate {
        name: text::display_line(rate.name),
        board: board(rate.board),
        board_name: text::display_line(rate.board_name),
        total,
        due_at_property: optional(rate.due_at_property, |due| {
            money_with_currency("rooms.due-at-property", &due)
        })?,
        policy: room_policy(rate.policy, total, context)?,
        details: RoomDetails::default(),
    })
}

const fn board(board: types::Board) -> Board {
    same_variant!(board, types::Board => Board, [
        RoomOnly, BedAndBreakfast, HalfBoard, FullBoard, AllInclusive, Other,
    ])
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
    expected: PrebookExpectation,
    rooms: usize,
    dropped: &mut DroppedItems,
) -> ConvertResult<HotelPrebookResponse> {
    let mut prebook = bound_offer(response, expected, rooms)?;
    prebook_texts(&mut prebook).fit(dropped);
    Ok(prebook)
}

fn bound_offer(
    response: hotel_booking::PrebookResponse,
    expected: PrebookExpectation,
    rooms: usize,
) -> ConvertResult<HotelPrebookResponse> {
    let currency = same_currency("currency", &response.currency, expected.currency)?;
    let total = positive_money("total", response.total, currency)?;
    let now = expected.now;
    let context = PolicyContext {
        now,
        total: Some(total),
        rooms,
    };
    Ok(HotelPrebookResponse {
        supplier_prebook: text::opaque("supplier-prebook", response.supplier_prebook)?,
        total,
        hotel: hotel_summary(response.hotel)?,
        rooms: room_rates(response.rooms, total, context)?,
        policy: policy(response.policy, context)?,
        promotions: promotions(response.promotions, currency, rooms)?,
        loyalty: response.loyalty.map(loyalty),
        expires_at: expiry("expires-at", response.expires_at, now)?,
        checkout: optional_checkout(response.checkout, expected.collects_payment)?,
        details: HotelOfferDetails::default(),
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

    pub(crate) fn for_find(request: &FindRequest, expected: HotelFindExpectation) -> Self {
        Self {
            references: request.into(),
            currency: expected.currency,
            rooms: expected.rooms,
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

    /// Checks the rooms of a booking. A booking that is cancelled in part names a cancelled room. A
    /// confirmed booking contains every requested room.
    fn check_rooms(
        &self,
        status: &SupplierBookingStatus,
        rooms: &[SupplierRoom],
    ) -> ConvertResult<()> {
        let is_in_part = *status == SupplierBookingStatus::PartiallyCanceled;
        if is_in_part && rooms.iter().all(|room| !room.canceled) {
            return invalid("rooms.canceled", "no room of a partially cancelled booking");
        }
        let Some(requested) = self.rooms else {
            return Ok(());
        };
        if rooms
            .iter()
            .any(|room| usize::from(room.position) >= requested)
        {
            return invalid("rooms.position", "not a requested room");
        }
        let is_booked = is_in_part || *status == SupplierBookingStatus::Confirmed;
        let is_complete = rooms.len() == requested || !is_booked;
        valid_if(is_complete, (), "rooms", "not all requested rooms")
    }
}

/// Converts a booking. Its policy, the amounts of its cancellation and the references of its rooms are
/// left out if they are invalid, because the booking exists whatever they are.
pub(crate) fn supplier_booking(
    state: wire::SupplierBooking,
    expected: &HotelBookingExpectation,
    now: Timestamp,
    dropped: &mut DroppedItems,
) -> ConvertResult<HotelSupplierBooking> {
    let currency = expected_currency(&state.currency, expected.currency)?;
    let status = booking_status(state.status)?;
    let supplier_reference = text::reference("supplier-reference", state.supplier_reference)?;
    let client_reference = text::optional_reference("client-reference", state.client_reference)?;
    let references = &expected.references;
    references.check(&supplier_reference, client_reference.as_deref())?;
    let total = money("total", state.total, currency)?;
    let mut rooms = list("rooms", state.rooms, ROOMS_MAX, |room| {
        booked_room(room, dropped)
    })?;
    rooms.sort_by_key(|room| room.position);
    ensure_unique("rooms.position", rooms.iter().map(|room| room.position))?;
    expected.check_rooms(&status, &rooms)?;
    let context = PolicyContext {
        now,
        total: is_booked_completely(&status).then_some(total),
        rooms: rooms.len(),
    };
    let policy = (state.policy).and_then(|terms| dropped.keep(policy(terms, context)));
    let has_amounts = state.cancellation.is_some();
    let amounts = (state.cancellation).and_then(|amounts| dropped.keep(cancellation(amounts)));
    let mut booking = HotelSupplierBooking {
        status,
        supplier_reference,
        client_reference,
        total,
        hotel_confirmation_code: text::optional_display(
            state.hotel_confirmation_code,
            text::LINE_CHARS,
        ),
        remarks: text::optional_display(state.remarks, text::TEXT_CHARS),
        rooms,
        policy,
        has_unreadable_amounts: has_amounts && amounts.is_none(),
        cancellation: amounts,
    };
    booking_texts(&mut booking).fit(dropped);
    Ok(booking)
}

/// Returns whether the total of a booking is that of all its rooms. The total of a booking that is
/// cancelled, even in part, may be smaller than the penalties of its policy.
const fn is_booked_completely(status: &SupplierBookingStatus) -> bool {
    match status {
        SupplierBookingStatus::Pending | SupplierBookingStatus::Confirmed => true,
        SupplierBookingStatus::PartiallyCanceled
        | SupplierBookingStatus::CancelPending
        | SupplierBookingStatus::Canceled
        | SupplierBookingStatus::Failed(_) => false,
    }
}

fn booked_room(
    room: wire::SupplierRoom,
    dropped: &mut DroppedItems,
) -> ConvertResult<SupplierRoom> {
    if usize::from(room.position) >= ROOMS_MAX {
        return invalid("rooms.position", "out of range");
    }
    let supplier_room_reference = text::optional_reference(
        "rooms.supplier-room-reference",
        room.supplier_room_reference,
    );
    Ok(SupplierRoom {
        position: room.position,
        supplier_room_reference: dropped.keep(supplier_room_reference).flatten(),
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
    now: Timestamp,
    dropped: &mut DroppedItems,
) -> ConvertResult<BookingLookup<HotelSupplierBooking>> {
    Ok(match lookup {
        hotel_booking::BookingLookup::Found(state) => {
            let state = supplier_booking(state, expected, now, dropped)?;
            BookingLookup::Found(Box::new(state))
        }
        hotel_booking::BookingLookup::NotFound => BookingLookup::NotFound,
    })
}

/// Converts a quote for a booking of so many rooms with this total. A policy that is invalid is left
/// out: it would be stored, and a cancellation would charge it.
pub(crate) fn quote(
    quote: hotel_cancellation::Quote,
    (total, rooms): (Money, usize),
    now: Timestamp,
    dropped: &mut DroppedItems,
) -> ConvertResult<HotelSupplierQuote> {
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
            let context = PolicyContext {
                now,
                total: Some(total),
                rooms,
            };
            let terms = terms.and_then(|terms| dropped.keep(policy(terms, context)));
            HotelSupplierQuote::Policy(terms)
        }
    })
}

#[cfg(test)]
mod tests;
