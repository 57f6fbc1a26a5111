//! Flight calls. A read that fails returns [`ReadError`], a change [`ChangeError`]. Of two versions of
//! a function, the newer one is called.

use crate::convert::flight::{self as convert, BookingExpectation};
use crate::supplier::{CallContext, Supplier};
use host_domain::flight::supplier_api::{
    Airline, AirportResponse, AvailableService, BookingReference, BuyRequest, FlightBookRequest,
    FlightCancelRequest, FlightPrebookRequest, FlightPrebookResponse, FlightPriceRequest,
    FlightPriceResponse, FlightSupplierBooking, FlightSupplierQuote,
};
use host_domain::money::Currency;
use host_domain::supplier::{BookingLookup, ChangeError, FindRequest, ReadError};

impl Supplier {
    /// Requests fare offers. All offers of a response have the same currency, each has one journey
    /// for each requested journey, and there are at most as many as requested. The supplier chooses
    /// the currency even if the request names one.
    pub async fn price_flights(
        &self,
        context: &CallContext,
        request: FlightPriceRequest,
    ) -> Result<FlightPriceResponse, ReadError> {
        let exports = &self.plugin.exports.flight;
        let requested = request.clone();
        let arguments = (convert::price_request(request),);
        let now = self.now();
        if exports.detailed_price.is_exported() {
            let function = &exports.detailed_price;
            let read = |response, dropped: &mut _| {
                convert::detailed_price_response(response, &requested, now, dropped)
            };
            return self.call_dropping(context, function, arguments, read).await;
        }
        let function = &exports.price;
        let read =
            |response, dropped: &mut _| convert::price_response(response, &requested, now, dropped);
        self.call_dropping(context, function, arguments, read).await
    }

    /// Checks a fare again and binds it to passengers. This reserves no seat and charges nothing.
    pub async fn prebook_flight(
        &self,
        context: &CallContext,
        request: FlightPrebookRequest,
    ) -> Result<FlightPrebookResponse, ChangeError> {
        let exports = &self.plugin.exports.flight;
        let expected = self.prebook_expectation(request.total.currency);
        let passengers = request.passengers.len();
        let arguments = (convert::prebook_request(request),);
        if exports.detailed_prebook.is_exported() {
            let function = &exports.detailed_prebook;
            let read = |response, dropped: &mut _| {
                convert::detailed_prebook_response(response, expected, passengers, dropped)
            };
            return self.call_dropping(context, function, arguments, read).await;
        }
        let function = &exports.prebook;
        let read = |response, dropped: &mut _| {
            convert::prebook_response(response, expected, passengers, dropped)
        };
        self.call_dropping(context, function, arguments, read).await
    }

    /// Buys the ticket, in the currency of the request.
    pub async fn book_flight(
        &self,
        context: &CallContext,
        request: FlightBookRequest,
    ) -> Result<FlightSupplierBooking, ChangeError> {
        let exports = &self.plugin.exports.flight;
        let expected = BookingExpectation::for_book(&request);
        let arguments = (convert::book_request(request),);
        if exports.detailed_book.is_exported() {
            let function = &exports.detailed_book;
            let read =
                |state, dropped: &mut _| convert::detailed_booking(state, &expected, dropped);
            return self.call_dropping(context, function, arguments, read).await;
        }
        let function = &exports.book;
        let read = |state, dropped: &mut _| convert::supplier_booking(state, &expected, dropped);
        self.call_dropping(context, function, arguments, read).await
    }

    /// Reads a booking back by either of its references. It must be in the `currency`, if one is given.
    pub async fn find_flight_booking(
        &self,
        context: &CallContext,
        request: FindRequest,
        currency: Option<Currency>,
    ) -> Result<BookingLookup<FlightSupplierBooking>, ReadError> {
        let exports = &self.plugin.exports.flight;
        let expected = BookingExpectation::for_find(&request, currency);
        let arguments = (convert::find_request(request),);
        if exports.detailed_find.is_exported() {
            let function = &exports.detailed_find;
            let read = |lookup, dropped: &mut _| {
                convert::detailed_booking_lookup(lookup, &expected, dropped)
            };
            return self.call_lookup(context, function, arguments, read).await;
        }
        let function = &exports.find;
        let read =
            |response, dropped: &mut _| convert::booking_lookup(response, &expected, dropped);
        self.call_lookup(context, function, arguments, read).await
    }

    /// Returns the airline's current quote for a cancellation. This moves no money.
    pub async fn quote_flight_cancellation(
        &self,
        context: &CallContext,
        booking: BookingReference,
    ) -> Result<FlightSupplierQuote, ReadError> {
        let function = &self.plugin.exports.flight.quote;
        let arguments = (convert::quote_request(booking),);
        self.call(context, function, arguments, convert::quote)
            .await
    }

    /// Cancels a ticket that is in the `currency`.
    pub async fn cancel_flight(
        &self,
        context: &CallContext,
        request: FlightCancelRequest,
        currency: Currency,
    ) -> Result<FlightSupplierBooking, ChangeError> {
        let function = &self.plugin.exports.flight.cancel;
        let expected = BookingExpectation::for_change(
            &request.booking_client_reference,
            &request.supplier_reference,
            currency,
        );
        let arguments = (convert::cancel_request(request),);
        let read = |state, dropped: &mut _| convert::supplier_booking(state, &expected, dropped);
        self.call_dropping(context, function, arguments, read).await
    }

    /// Lists the services that the airline currently sells for a ticket.
    pub async fn list_flight_services(
        &self,
        context: &CallContext,
        booking: BookingReference,
    ) -> Result<Vec<AvailableService>, ReadError> {
        let function = &self.plugin.exports.flight.list_services;
        let arguments = (convert::list_request(booking),);
        let read = |available, dropped: &mut _| convert::available_services(available, dropped);
        self.call_dropping(context, function, arguments, read).await
    }

    /// Buys services and returns the ticket that contains them, which is in the `currency`.
    pub async fn buy_flight_services(
        &self,
        context: &CallContext,
        request: BuyRequest,
        currency: Currency,
    ) -> Result<FlightSupplierBooking, ChangeError> {
        let function = &self.plugin.exports.flight.buy_services;
        let expected = BookingExpectation::for_change(
            &request.booking_client_reference,
            &request.supplier_reference,
            currency,
        );
        let arguments = (convert::purchase_request(request),);
        let read = |state, dropped: &mut _| convert::supplier_booking(state, &expected, dropped);
        self.call_dropping(context, function, arguments, read).await
    }

    /// Finds airports by name, city or code, in the supplier's order and at most `limit`.
    pub async fn find_airports(
        &self,
        context: &CallContext,
        text: String,
        limit: u16,
    ) -> Result<AirportResponse, ReadError> {
        let function = &self.plugin.exports.flight.find_airports;
        let read = |response, dropped: &mut _| convert::airports(response, limit, dropped);
        self.call_dropping(context, function, (text, limit), read)
            .await
    }

    /// Reads an airline by its IATA code. Airlines that no longer operate are included.
    pub async fn read_airline(
        &self,
        context: &CallContext,
        iata_code: String,
    ) -> Result<Airline, ReadError> {
        let function = &self.plugin.exports.flight.read_airline;
        let expected = iata_code.clone();
        let read = |response| convert::airline(response, &expected);
        self.call(context, function, (iata_code,), read).await
    }
}
