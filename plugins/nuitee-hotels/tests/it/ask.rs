//! Requests as the gateway makes them, and mock gateways with responses.

use nuitee_hotels::NuiteeHotels;
use stopover_sdk::detailed_hotel_booking::{
    DetailedBooking, DetailedBookingLookup, DetailedPrebookResponse,
};
use stopover_sdk::detailed_hotel_pricing::{DetailedPriceRequest, DetailedPriceResponse};
use stopover_sdk::hotel_booking::{
    BookRequest, BookingLookup, FindRequest, PrebookRequest, PrebookResponse,
};
use stopover_sdk::hotel_cancellation::{CancelRequest, Quote, QuoteRequest};
use stopover_sdk::hotel_content::HotelDetails;
use stopover_sdk::hotel_pricing::{HotelOffers, PriceRequest, PriceResponse};
use stopover_sdk::testing::{self, MockGateway};
use stopover_sdk::types::Contact;
use stopover_sdk::types::hotel::{Guest, GuestType, Occupancy, RoomGuests, Stay, SupplierBooking};
use stopover_sdk::{
    ChangeError, DetailedHotelBooking, DetailedHotelPricing, HotelCancellation, HotelContent,
    ReadError,
};

pub(crate) fn fixture(name: &str) -> String {
    testing::read_fixture(env!("CARGO_MANIFEST_DIR"), name)
}

/// Creates a mock gateway whose responses are these fixtures.
pub(crate) fn fixtures(names: &[&str]) -> MockGateway {
    let respond = |gateway: MockGateway, name: &&str| gateway.respond_with(200, fixture(name));
    names.iter().fold(MockGateway::new(), respond)
}

/// Returns method, host and path of every request.
pub(crate) fn sent(gateway: &MockGateway) -> Vec<String> {
    gateway.request_lines("https://")
}

/// Returns a stay of two nights in two rooms, priced in euros.
pub(crate) fn stay() -> Stay {
    let room = |adults, children: &[u8]| Occupancy {
        adults,
        children: children.to_vec(),
    };
    Stay {
        check_in: "2027-06-01".to_owned(),
        check_out: "2027-06-03".to_owned(),
        occupancies: vec![room(2, &[]), room(1, &[7])],
        guest_nationality: "FR".to_owned(),
        guest_residence: None,
        currency: "EUR".to_owned(),
    }
}

pub(crate) fn price_request() -> PriceRequest {
    PriceRequest {
        supplier_hotel_ids: vec!["lpown2".to_owned(), "lpown1".to_owned()],
        stay: stay(),
        max_offers_per_hotel: 25,
    }
}

pub(crate) fn price(gateway: &MockGateway) -> Result<PriceResponse, ReadError> {
    price_of(gateway, price_request())
}

/// Returns the response without details.
pub(crate) fn price_of(
    gateway: &MockGateway,
    request: PriceRequest,
) -> Result<PriceResponse, ReadError> {
    let response = detailed_price(gateway, request, false)?;
    let hotels = response.hotels.into_iter().map(|found| HotelOffers {
        hotel: found.hotel,
        offers: found.offers.into_iter().map(|found| found.offer).collect(),
    });
    Ok(PriceResponse {
        currency: response.currency,
        hotels: hotels.collect(),
    })
}

pub(crate) fn detailed_price(
    gateway: &MockGateway,
    request: PriceRequest,
    include_package_rates: bool,
) -> Result<DetailedPriceResponse, ReadError> {
    let request = DetailedPriceRequest {
        request,
        include_package_rates,
    };
    gateway.run(|| NuiteeHotels::price(request))
}

pub(crate) fn prebook_request() -> PrebookRequest {
    PrebookRequest {
        client_reference: "bkg_own_1-p1".to_owned(),
        supplier_hotel_id: "lpown1".to_owned(),
        supplier_offer: "OFFER-SEA".to_owned(),
        stay: stay(),
        total: 46050,
        contact: contact(),
        rooms: rooms(),
        use_payment_sdk: false,
    }
}

pub(crate) fn prebook(gateway: &MockGateway) -> Result<PrebookResponse, ChangeError> {
    detailed_prebook(gateway, prebook_request()).map(|bound| bound.prebook)
}

pub(crate) fn detailed_prebook(
    gateway: &MockGateway,
    request: PrebookRequest,
) -> Result<DetailedPrebookResponse, ChangeError> {
    gateway.run(|| NuiteeHotels::prebook(request))
}

pub(crate) fn book_request() -> BookRequest {
    BookRequest {
        client_reference: "bkg_own_1".to_owned(),
        supplier_prebook: r#"{"prebook_id":"PB-OWN-1"}"#.to_owned(),
        supplier_hotel_id: "lpown1".to_owned(),
        stay: stay(),
        currency: "EUR".to_owned(),
        total: 46050,
        contact: contact(),
        rooms: rooms(),
    }
}

pub(crate) fn book(gateway: &MockGateway) -> Result<SupplierBooking, ChangeError> {
    book_of(gateway, book_request())
}

/// Returns the booking without details.
pub(crate) fn book_of(
    gateway: &MockGateway,
    request: BookRequest,
) -> Result<SupplierBooking, ChangeError> {
    let booking = gateway.run(|| NuiteeHotels::book(request));
    booking.map(|found| found.booking)
}

pub(crate) fn detailed_book(gateway: &MockGateway) -> Result<DetailedBooking, ChangeError> {
    gateway.run(|| NuiteeHotels::book(book_request()))
}

pub(crate) fn find(gateway: &MockGateway, id: Option<&str>) -> Result<BookingLookup, ReadError> {
    let request = FindRequest {
        client_reference: "bkg_own_1".to_owned(),
        supplier_reference: id.map(str::to_owned),
        supplier_prebook: None,
    };
    find_of(gateway, request)
}

/// Returns the booking without details.
pub(crate) fn find_of(
    gateway: &MockGateway,
    request: FindRequest,
) -> Result<BookingLookup, ReadError> {
    let found = gateway.run(|| NuiteeHotels::find(request))?;
    Ok(match found {
        DetailedBookingLookup::Found(found) => BookingLookup::Found(found.booking),
        DetailedBookingLookup::NotFound => BookingLookup::NotFound,
    })
}

/// Returns the booking that a response has.
pub(crate) fn found(document: &str) -> SupplierBooking {
    let gateway = MockGateway::with_responses(&[(200, document)]);
    match find(&gateway, Some("BK-OWN-1")) {
        Ok(BookingLookup::Found(state)) => state,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn quote(gateway: &MockGateway) -> Result<Quote, ReadError> {
    let request = QuoteRequest {
        supplier_reference: "BK-OWN-1".to_owned(),
        client_reference: "bkg_own_1".to_owned(),
    };
    gateway.run(|| NuiteeHotels::quote_cancellation(request))
}

pub(crate) fn cancel_request() -> CancelRequest {
    CancelRequest {
        client_reference: "bkg_own_1-c1".to_owned(),
        booking_client_reference: "bkg_own_1".to_owned(),
        supplier_reference: "BK-OWN-1".to_owned(),
        rooms: vec![],
    }
}

pub(crate) fn cancel(gateway: &MockGateway) -> Result<SupplierBooking, ChangeError> {
    gateway.run(|| NuiteeHotels::cancel(cancel_request()))
}

pub(crate) fn details(gateway: &MockGateway) -> Result<HotelDetails, ReadError> {
    gateway.run(|| NuiteeHotels::read_details("lpown1".to_owned()))
}

fn contact() -> Contact {
    Contact {
        first_name: "Ana".to_owned(),
        last_name: "Payer".to_owned(),
        email: "ana@guest.example".to_owned(),
        phone: "+33100000000".to_owned(),
    }
}

/// Returns the guests. The lead guest of the first room is not its first guest.
fn rooms() -> Vec<RoomGuests> {
    let guest = |name: &str, is_lead, age: Option<u8>| Guest {
        first_name: name.to_owned(),
        last_name: "Guest".to_owned(),
        guest_type: age.map_or(GuestType::Adult, |_| GuestType::Child),
        is_lead,
        age,
    };
    let rooms = [
        [guest("Bo", false, None), guest("Cy", true, None)],
        [guest("Di", true, None), guest("Ed", false, Some(7))],
    ];
    let rooms = rooms.map(|guests| RoomGuests {
        guests: guests.to_vec(),
    });
    rooms.to_vec()
}
