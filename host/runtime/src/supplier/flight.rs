//! Flight calls.

use crate::convert::flight::{self as convert, BookingExpectation, FlightPriceExpectation};
use crate::supplier::call::ExportName;
use crate::supplier::{CallContext, Supplier};
use host_domain::flight::supplier_api::{
    Airline, AirportResponse, AvailableService, BookingReference, BuyRequest, FlightBookRequest,
    FlightCancelRequest, FlightPrebookRequest, FlightPrebookResponse, FlightPriceRequest,
    FlightPriceResponse, FlightSupplierBooking, FlightSupplierQuote,
};
use host_domain::supplier::{BookingLookup, Capability, ChangeError, FindRequest, ReadError};

const fn name(operation: Capability, function: &'static str) -> ExportName {
    ExportName {
        capability: operation,
        function,
    }
}

impl Supplier {
    /// Requests fare offers. All offers of a response have the same currency, each has one journey
    /// for each requested journey, and there are at most as many as requested. The supplier chooses
    /// the currency even if the request names one.
    ///
    /// # Errors
    /// Returns [`ReadError`] if the call fails.
    pub async fn price_flights(
        &self,
        context: &CallContext,
        request: FlightPriceRequest,
    ) -> Result<FlightPriceResponse, ReadError> {
        let function = self.plugin.exports.flight.price.as_ref();
        let expected = FlightPriceExpectation::of(&request);
        let arguments = (convert::price_request(request),);
        let read = |response| convert::price_response(response, expected);
        self.call(
            context,
            name(Capability::FlightPricing, "price"),
            function,
            arguments,
            read,
        )
        .await
    }

    /// Checks a fare again and binds it to passengers. This reserves no seat and charges nothing.
    ///
    /// # Errors
    /// Returns [`ChangeError`] if the call fails.
    pub async fn prebook_flight(
        &self,
        context: &CallContext,
        request: FlightPrebookRequest,
    ) -> Result<FlightPrebookResponse, ChangeError> {
        let booking = self.plugin.exports.flight.booking.as_ref();
        let function = booking.map(|booking| &booking.prebook);
        let (currency, passengers) = (request.total.currency, request.passengers.len());
        let arguments = (convert::prebook_request(request),);
        let read = |response| convert::prebook_response(response, currency, passengers);
        self.call(
            context,
            name(Capability::FlightBooking, "prebook"),
            function,
            arguments,
            read,
        )
        .await
    }

    /// Buys the ticket. The supplier determines the currency of the ticket, which may differ from
    /// that of the request.
    ///
    /// # Errors
    /// Returns [`ChangeError`] if the call fails.
    pub async fn book_flight(
        &self,
        context: &CallContext,
        request: FlightBookRequest,
    ) -> Result<FlightSupplierBooking, ChangeError> {
        let booking = self.plugin.exports.flight.booking.as_ref();
        let function = booking.map(|booking| &booking.book);
        let expected = BookingExpectation::for_book(&request);
        let arguments = (convert::book_request(request),);
        let read = |state| convert::supplier_booking(state, &expected);
        self.call(
            context,
            name(Capability::FlightBooking, "book"),
            function,
            arguments,
            read,
        )
        .await
    }

    /// Reads a booking back by either of its references.
    ///
    /// # Errors
    /// Returns [`ReadError`] if the call fails.
    pub async fn find_flight_booking(
        &self,
        context: &CallContext,
        request: FindRequest,
    ) -> Result<BookingLookup<FlightSupplierBooking>, ReadError> {
        let booking = self.plugin.exports.flight.booking.as_ref();
        let function = booking.map(|booking| &booking.find);
        let expected = BookingExpectation::for_find(&request);
        let arguments = (convert::find_request(request),);
        let read = |response| convert::booking_lookup(response, &expected);
        self.call(
            context,
            name(Capability::FlightBooking, "find"),
            function,
            arguments,
            read,
        )
        .await
    }

    /// Returns the airline's current quote for a cancellation. This moves no money.
    ///
    /// # Errors
    /// Returns [`ReadError`] if the call fails.
    pub async fn quote_flight_cancellation(
        &self,
        context: &CallContext,
        booking: BookingReference,
    ) -> Result<FlightSupplierQuote, ReadError> {
        let cancellation = self.plugin.exports.flight.cancellation.as_ref();
        let function = cancellation.map(|cancellation| &cancellation.quote);
        let arguments = (convert::quote_request(booking),);
        self.call(
            context,
            name(Capability::FlightCancellation, "quote-cancellation"),
            function,
            arguments,
            convert::quote,
        )
        .await
    }

    /// Cancels a ticket.
    ///
    /// # Errors
    /// Returns [`ChangeError`] if the call fails.
    pub async fn cancel_flight(
        &self,
        context: &CallContext,
        request: FlightCancelRequest,
    ) -> Result<FlightSupplierBooking, ChangeError> {
        let cancellation = self.plugin.exports.flight.cancellation.as_ref();
        let function = cancellation.map(|cancellation| &cancellation.cancel);
        let expected = BookingExpectation::for_cancel(&request);
        let arguments = (convert::cancel_request(request),);
        let read = |state| convert::supplier_booking(state, &expected);
        self.call(
            context,
            name(Capability::FlightCancellation, "cancel"),
            function,
            arguments,
            read,
        )
        .await
    }

    /// Lists the services that the airline currently sells for a ticket.
    ///
    /// # Errors
    /// Returns [`ReadError`] if the call fails.
    pub async fn list_flight_services(
        &self,
        context: &CallContext,
        booking: BookingReference,
    ) -> Result<Vec<AvailableService>, ReadError> {
        let services = self.plugin.exports.flight.services.as_ref();
        let function = services.map(|services| &services.list);
        let arguments = (convert::list_request(booking),);
        self.call(
            context,
            name(Capability::FlightServices, "list-services"),
            function,
            arguments,
            convert::available_services,
        )
        .await
    }

    /// Buys services and returns the ticket that contains them.
    ///
    /// # Errors
    /// Returns [`ChangeError`] if the call fails.
    pub async fn buy_flight_services(
        &self,
        context: &CallContext,
        request: BuyRequest,
    ) -> Result<FlightSupplierBooking, ChangeError> {
        let services = self.plugin.exports.flight.services.as_ref();
        let function = services.map(|services| &services.buy);
        let expected = BookingExpectation::for_buy_services(&request);
        let arguments = (convert::purchase_request(request),);
        let read = |state| convert::supplier_booking(state, &expected);
        self.call(
            context,
            name(Capability::FlightServices, "purchase-services"),
            function,
            arguments,
            read,
        )
        .await
    }

    /// Finds airports by name, city or code, in the supplier's order and at most `limit`.
    ///
    /// # Errors
    /// Returns [`ReadError`] if the call fails.
    pub async fn find_airports(
        &self,
        context: &CallContext,
        text: String,
        limit: u16,
    ) -> Result<AirportResponse, ReadError> {
        let reference = self.plugin.exports.flight.reference.as_ref();
        let function = reference.map(|reference| &reference.airports);
        let read = |response| convert::airports(response, limit);
        self.call(
            context,
            name(Capability::FlightReference, "find-airports"),
            function,
            (text, limit),
            read,
        )
        .await
    }

    /// Reads an airline by its IATA code. Airlines that no longer operate are included.
    ///
    /// # Errors
    /// Returns [`ReadError`] if the call fails.
    pub async fn read_airline(
        &self,
        context: &CallContext,
        iata_code: String,
    ) -> Result<Airline, ReadError> {
        let reference = self.plugin.exports.flight.reference.as_ref();
        let function = reference.map(|reference| &reference.airline);
        let expected = iata_code.clone();
        let read = |response| convert::airline(response, &expected);
        self.call(
            context,
            name(Capability::FlightReference, "read-airline"),
            function,
            (iata_code,),
            read,
        )
        .await
    }
}
