//! Conversion of requests to hotel suppliers.

use crate::bindings::exports::stopover::supplier::{
    hotel_booking, hotel_cancellation, hotel_places, hotel_pricing, hotel_search,
};
use crate::bindings::stopover::supplier::{hotel_types as wire, types};
use crate::convert::same_variant;
use host_domain::hotel::supplier_api::{
    HotelBookRequest, HotelCancelRequest, HotelPrebookRequest, HotelPriceRequest, PlaceQuery,
    SearchRequest, SearchSort,
};
use host_domain::hotel::{Board, Contact, Guest, GuestType, Stay};
use host_domain::supplier::FindRequest;

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
            boards: filters.boards.into_iter().map(board).collect(),
            max_total: filters.max_total.map(|total| total.minor),
        },
        sort: same_variant!(request.sort, SearchSort => hotel_search::Sort, [
            Distance, Total, GuestRating, StarRating,
        ]),
        limit: request.limit,
    }
}

const fn board(board: Board) -> types::Board {
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
