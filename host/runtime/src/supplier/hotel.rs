//! Hotel calls. A read that fails returns [`ReadError`], a change [`ChangeError`]. Of two versions of
//! a function, the newer one is called.

use crate::bindings::exports::stopover::supplier::{hotel_cancellation, hotel_weather};
use crate::convert;
use crate::convert::hotel::HotelBookingExpectation;
use crate::supplier::{CallContext, Supplier};
use host_domain::hotel::Location;
use host_domain::hotel::content::{HotelDetails, HotelPriceCalendar, Reviews, WeatherDay};
use host_domain::hotel::supplier_api::{
    HotelBookRequest, HotelCancelRequest, HotelFindExpectation, HotelPrebookRequest,
    HotelPrebookResponse, HotelPriceRequest, HotelPriceResponse, HotelSupplierBooking,
    HotelSupplierQuote, Place, PlaceQuery, SearchRequest, SearchResponse,
};
use host_domain::money::{Currency, Money};
use host_domain::supplier::{BookingLookup, ChangeError, FindRequest, ReadError};
use host_domain::time::Date;

impl Supplier {
    /// Finds places by name, at most as many as requested.
    pub async fn find_places(
        &self,
        context: &CallContext,
        query: PlaceQuery,
    ) -> Result<Vec<Place>, ReadError> {
        let function = &self.plugin.exports.hotel.find_places;
        let limit = query.limit;
        let arguments = (convert::hotel::place_query(query),);
        let read = |places, dropped: &mut _| convert::hotel::places(places, limit, dropped);
        self.call_dropping(context, function, arguments, read).await
    }

    /// Searches the hotels of an area, at most as many as requested.
    pub async fn search_hotels(
        &self,
        context: &CallContext,
        request: SearchRequest,
    ) -> Result<SearchResponse, ReadError> {
        let function = &self.plugin.exports.hotel.search;
        let (currency, limit) = (request.stay.currency, request.limit);
        let arguments = (convert::hotel::search_request(request),);
        let read = |response, dropped: &mut _| {
            convert::hotel::search_response(response, currency, limit, dropped)
        };
        self.call_dropping(context, function, arguments, read).await
    }

    /// Requests offers of the given hotels. Offers are only for these hotels, in the requested
    /// currency, with one rate for each room, and at most as many as requested.
    pub async fn price_hotels(
        &self,
        context: &CallContext,
        request: HotelPriceRequest,
    ) -> Result<HotelPriceResponse, ReadError> {
        let exports = &self.plugin.exports.hotel;
        let requested = request.clone();
        let now = self.now();
        if exports.detailed_price.is_exported() {
            let function = &exports.detailed_price;
            let arguments = (convert::hotel::detailed_price_request(request),);
            let read = |response, dropped: &mut _| {
                convert::hotel::detailed_price_response(response, requested, now, dropped)
            };
            return self.call_dropping(context, function, arguments, read).await;
        }
        let function = &exports.price;
        let arguments = (convert::hotel::price_request(request),);
        let read = |response, dropped: &mut _| {
            convert::hotel::price_response(response, requested, now, dropped)
        };
        self.call_dropping(context, function, arguments, read).await
    }

    /// Checks an offer again and binds it. This reserves nothing and charges nothing.
    pub async fn prebook_hotel(
        &self,
        context: &CallContext,
        request: HotelPrebookRequest,
    ) -> Result<HotelPrebookResponse, ChangeError> {
        let exports = &self.plugin.exports.hotel;
        let expected = self.prebook_expectation(request.total.currency);
        let rooms = request.stay.occupancies.len();
        let arguments = (convert::hotel::prebook_request(request),);
        if exports.detailed_prebook.is_exported() {
            let function = &exports.detailed_prebook;
            let read = |response, dropped: &mut _| {
                convert::hotel::detailed_prebook_response(response, expected, rooms, dropped)
            };
            return self.call_dropping(context, function, arguments, read).await;
        }
        let function = &exports.prebook;
        let read = |response, dropped: &mut _| {
            convert::hotel::prebook_response(response, expected, rooms, dropped)
        };
        self.call_dropping(context, function, arguments, read).await
    }

    /// Books a bound offer.
    pub async fn book_hotel(
        &self,
        context: &CallContext,
        request: HotelBookRequest,
    ) -> Result<HotelSupplierBooking, ChangeError> {
        let exports = &self.plugin.exports.hotel;
        let expected = HotelBookingExpectation::for_book(&request);
        let arguments = (convert::hotel::book_request(request),);
        let now = self.now();
        if exports.detailed_book.is_exported() {
            let function = &exports.detailed_book;
            let read = |state, dropped: &mut _| {
                convert::hotel::detailed_booking(state, &expected, now, dropped)
            };
            return self.call_dropping(context, function, arguments, read).await;
        }
        let function = &exports.book;
        let read = |state, dropped: &mut _| {
            convert::hotel::supplier_booking(state, &expected, now, dropped)
        };
        self.call_dropping(context, function, arguments, read).await
    }

    /// Reads a booking back by either of its references.
    pub async fn find_hotel_booking(
        &self,
        context: &CallContext,
        request: FindRequest,
        expected: HotelFindExpectation,
    ) -> Result<BookingLookup<HotelSupplierBooking>, ReadError> {
        let exports = &self.plugin.exports.hotel;
        let expected = HotelBookingExpectation::for_find(&request, expected);
        let arguments = (convert::hotel::find_request(request),);
        let now = self.now();
        if exports.detailed_find.is_exported() {
            let function = &exports.detailed_find;
            let read = |lookup, dropped: &mut _| {
                convert::hotel::detailed_booking_lookup(lookup, &expected, now, dropped)
            };
            return self.call_lookup(context, function, arguments, read).await;
        }
        let function = &exports.find;
        let read = |lookup, dropped: &mut _| {
            convert::hotel::booking_lookup(lookup, &expected, now, dropped)
        };
        self.call_lookup(context, function, arguments, read).await
    }

    /// Returns the supplier's current quote for the cancellation of a booking of so many rooms.
    /// `total` is what the whole booking cost, cancelled rooms included. No penalty is above it.
    pub async fn quote_hotel_cancellation(
        &self,
        context: &CallContext,
        supplier_reference: String,
        client_reference: String,
        (total, rooms): (Money, usize),
    ) -> Result<HotelSupplierQuote, ReadError> {
        let function = &self.plugin.exports.hotel.quote;
        let arguments = (hotel_cancellation::QuoteRequest {
            supplier_reference,
            client_reference,
        },);
        let now = self.now();
        let read =
            |quote, dropped: &mut _| convert::hotel::quote(quote, (total, rooms), now, dropped);
        self.call_dropping(context, function, arguments, read).await
    }

    /// Cancels a booking or some of its rooms. `currency` is the currency of the booking.
    pub async fn cancel_hotel(
        &self,
        context: &CallContext,
        request: HotelCancelRequest,
        currency: Currency,
    ) -> Result<HotelSupplierBooking, ChangeError> {
        let function = &self.plugin.exports.hotel.cancel;
        let expected = HotelBookingExpectation::for_cancel(&request, currency);
        let arguments = (convert::hotel::cancel_request(request),);
        let now = self.now();
        let read = |state, dropped: &mut _| {
            convert::hotel::supplier_booking(state, &expected, now, dropped)
        };
        self.call_dropping(context, function, arguments, read).await
    }

    /// Reads the details of a hotel.
    pub async fn read_hotel_details(
        &self,
        context: &CallContext,
        supplier_hotel_id: String,
    ) -> Result<HotelDetails, ReadError> {
        let function = &self.plugin.exports.hotel.details;
        self.call(
            context,
            function,
            (supplier_hotel_id,),
            convert::content::details,
        )
        .await
    }

    /// Reads guest reviews of a hotel.
    pub async fn read_hotel_reviews(
        &self,
        context: &CallContext,
        supplier_hotel_id: String,
        limit: u16,
    ) -> Result<Reviews, ReadError> {
        let function = &self.plugin.exports.hotel.reviews;
        let read = |reviews| convert::content::reviews(reviews, limit);
        self.call(context, function, (supplier_hotel_id, limit), read)
            .await
    }

    /// Returns the weather forecast of a range of days, both ends included.
    pub async fn forecast_weather(
        &self,
        context: &CallContext,
        place: Location,
        start: Date,
        end: Date,
    ) -> Result<Vec<WeatherDay>, ReadError> {
        let function = &self.plugin.exports.hotel.forecast;
        let place = hotel_weather::Location {
            latitude: place.latitude,
            longitude: place.longitude,
        };
        let arguments = (place, start.to_string(), end.to_string());
        let read = |days, dropped: &mut _| convert::content::forecast(days, start, end, dropped);
        self.call_dropping(context, function, arguments, read).await
    }

    /// Returns the average nightly prices of hotels in a range of days, both ends included.
    pub async fn read_hotel_price_calendar(
        &self,
        context: &CallContext,
        supplier_hotel_ids: Vec<String>,
        start: Date,
        end: Date,
    ) -> Result<Vec<HotelPriceCalendar>, ReadError> {
        let function = &self.plugin.exports.hotel.prices;
        let expected = supplier_hotel_ids.clone();
        let arguments = (supplier_hotel_ids, start.to_string(), end.to_string());
        let read = |response, dropped: &mut _| {
            convert::content::prices(response, &expected, start, end, dropped)
        };
        self.call_dropping(context, function, arguments, read).await
    }
}
