//! Hotel operations.

use crate::bindings::exports::stopover::supplier::{hotel_cancellation, hotel_weather};
use crate::convert;
use crate::convert::hotel::Priced;
use crate::supplier::call::Name;
use crate::supplier::{CallContext, Supplier};
use host_domain::hotel::Location;
use host_domain::hotel::content::{Details, HotelPrices, Reviews, WeatherDay};
use host_domain::hotel::supply::{
    BookRequest, BookingState, CancelRequest, FindRequest, Found, Place, PlaceQuery,
    PrebookRequest, Prebooked, PriceAnswer, PriceRequest, SearchAnswer, SearchRequest,
    SupplierQuote,
};
use host_domain::money::Currency;
use host_domain::supplier::{ChangeError, Operation, ReadError};
use host_domain::time::Date;

const fn name(operation: Operation, function: &'static str) -> Name {
    Name {
        operation,
        function,
    }
}

impl Supplier {
    /// Places by name, at most as many as asked for.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn find_places(
        &self,
        context: &CallContext,
        query: PlaceQuery,
    ) -> Result<Vec<Place>, ReadError> {
        let function = self.plugin.exports.places.as_ref();
        let limit = query.limit;
        let arguments = (convert::hotel::place_query(query),);
        self.call(
            context,
            name(Operation::HotelPlaces, "find-places"),
            function,
            arguments,
            |places| convert::hotel::places(places, limit),
        )
        .await
    }

    /// Hotels of an area, at most as many as asked for.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn search_hotels(
        &self,
        context: &CallContext,
        request: SearchRequest,
    ) -> Result<SearchAnswer, ReadError> {
        let function = self.plugin.exports.search.as_ref();
        let (currency, limit) = (request.stay.currency, request.limit);
        let arguments = (convert::hotel::search_request(request),);
        let read = |answer| convert::hotel::search_answer(answer, currency, limit);
        self.call(
            context,
            name(Operation::HotelSearch, "search"),
            function,
            arguments,
            read,
        )
        .await
    }

    /// Offers of named hotels: only of these, in the currency asked for, one rate
    /// a room, at most as many as asked for.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn price_hotels(
        &self,
        context: &CallContext,
        request: PriceRequest,
    ) -> Result<PriceAnswer, ReadError> {
        let function = self.plugin.exports.price.as_ref();
        let asked = Priced::of(&request);
        let arguments = (convert::hotel::price_request(request),);
        let read = |answer| convert::hotel::price_answer(answer, asked);
        self.call(
            context,
            name(Operation::HotelPricing, "price"),
            function,
            arguments,
            read,
        )
        .await
    }

    /// Re-checks an offer and binds it; holds nothing and charges nothing.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub async fn prebook_hotel(
        &self,
        context: &CallContext,
        request: PrebookRequest,
    ) -> Result<Prebooked, ChangeError> {
        let function = self
            .plugin
            .exports
            .booking
            .as_ref()
            .map(|booking| &booking.prebook);
        let (currency, rooms) = (request.total.currency, request.stay.occupancies.len());
        let arguments = (convert::hotel::prebook_request(request),);
        let read = |answer| convert::hotel::prebooked(answer, currency, rooms);
        self.call(
            context,
            name(Operation::HotelBooking, "prebook"),
            function,
            arguments,
            read,
        )
        .await
    }

    /// Books what was bound.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub async fn book_hotel(
        &self,
        context: &CallContext,
        request: BookRequest,
    ) -> Result<BookingState, ChangeError> {
        let function = self
            .plugin
            .exports
            .booking
            .as_ref()
            .map(|booking| &booking.book);
        let currency = request.total.currency;
        let arguments = (convert::hotel::book_request(request),);
        let read = |state| convert::hotel::booking_state(state, Some(currency));
        self.call(
            context,
            name(Operation::HotelBooking, "book"),
            function,
            arguments,
            read,
        )
        .await
    }

    /// Reads a booking back, by either reference.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn find_hotel_booking(
        &self,
        context: &CallContext,
        request: FindRequest,
    ) -> Result<Found, ReadError> {
        let function = self
            .plugin
            .exports
            .booking
            .as_ref()
            .map(|booking| &booking.find);
        let arguments = (convert::hotel::find_request(request),);
        self.call(
            context,
            name(Operation::HotelBooking, "find"),
            function,
            arguments,
            convert::hotel::found,
        )
        .await
    }

    /// What cancelling would cost now.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn quote_hotel_cancellation(
        &self,
        context: &CallContext,
        supplier_reference: String,
        client_reference: String,
    ) -> Result<SupplierQuote, ReadError> {
        let function = self
            .plugin
            .exports
            .cancellation
            .as_ref()
            .map(|cancellation| &cancellation.quote);
        let arguments = (hotel_cancellation::QuoteRequest {
            supplier_reference,
            client_reference,
        },);
        self.call(
            context,
            name(Operation::HotelCancellation, "quote-cancellation"),
            function,
            arguments,
            convert::hotel::quote,
        )
        .await
    }

    /// Ends a booking, or releases rooms. `currency`: that of the booking.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub async fn cancel_hotel(
        &self,
        context: &CallContext,
        request: CancelRequest,
        currency: Currency,
    ) -> Result<BookingState, ChangeError> {
        let function = self
            .plugin
            .exports
            .cancellation
            .as_ref()
            .map(|cancellation| &cancellation.cancel);
        let arguments = (convert::hotel::cancel_request(request),);
        let read = |state| convert::hotel::booking_state(state, Some(currency));
        self.call(
            context,
            name(Operation::HotelCancellation, "cancel"),
            function,
            arguments,
            read,
        )
        .await
    }

    /// What a hotel is.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn read_hotel_details(
        &self,
        context: &CallContext,
        supplier_hotel_id: String,
    ) -> Result<Details, ReadError> {
        let function = self
            .plugin
            .exports
            .content
            .as_ref()
            .map(|content| &content.details);
        self.call(
            context,
            name(Operation::HotelContent, "read-details"),
            function,
            (supplier_hotel_id,),
            convert::content::details,
        )
        .await
    }

    /// What guests say of a hotel.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn read_hotel_reviews(
        &self,
        context: &CallContext,
        supplier_hotel_id: String,
        limit: u16,
    ) -> Result<Reviews, ReadError> {
        let function = self
            .plugin
            .exports
            .content
            .as_ref()
            .map(|content| &content.reviews);
        let read = |reviews| convert::content::reviews(reviews, limit);
        self.call(
            context,
            name(Operation::HotelContent, "read-reviews"),
            function,
            (supplier_hotel_id, limit),
            read,
        )
        .await
    }

    /// Weather of the days of a range, both ends included.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn forecast_weather(
        &self,
        context: &CallContext,
        place: Location,
        start: Date,
        end: Date,
    ) -> Result<Vec<WeatherDay>, ReadError> {
        let function = self.plugin.exports.forecast.as_ref();
        let place = hotel_weather::Location {
            latitude: place.latitude,
            longitude: place.longitude,
        };
        let arguments = (place, start.to_string(), end.to_string());
        let read = |days| convert::content::forecast(days, start, end);
        self.call(
            context,
            name(Operation::HotelWeather, "forecast"),
            function,
            arguments,
            read,
        )
        .await
    }

    /// Average nightly prices of hotels over the days of a range, both ends included.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn read_hotel_prices(
        &self,
        context: &CallContext,
        supplier_hotel_ids: Vec<String>,
        start: Date,
        end: Date,
    ) -> Result<Vec<HotelPrices>, ReadError> {
        let function = self.plugin.exports.prices.as_ref();
        let asked = supplier_hotel_ids.clone();
        let arguments = (supplier_hotel_ids, start.to_string(), end.to_string());
        let read = |answer| convert::content::prices(answer, &asked, start, end);
        self.call(
            context,
            name(Operation::HotelPriceCalendar, "read-prices"),
            function,
            arguments,
            read,
        )
        .await
    }
}
