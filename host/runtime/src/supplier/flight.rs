//! Flight operations.

use crate::convert::flight::{self as convert, BookingExpectation, PriceExpectation};
use crate::supplier::call::ExportName;
use crate::supplier::{CallContext, Supplier};
use host_domain::flight::supply::{
    Airline, AirportResponse, AvailableService, BookRequest, BookingReference, SupplierBooking,
    BuyRequest, CancelRequest, FindRequest, BookingLookup, PrebookRequest, PrebookResponse, PriceResponse,
    PriceRequest, SupplierQuote,
};
use host_domain::supplier::{ChangeError, Capability, ReadError};

const fn name(operation: Capability, function: &'static str) -> ExportName {
    ExportName {
        capability: operation,
        function,
    }
}

impl Supplier {
    /// Fares: all in one currency, one journey a leg, at most as many as asked
    /// for. The currency is the supplier's choice, also where one was asked for.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn price_flights(
        &self,
        context: &CallContext,
        request: PriceRequest,
    ) -> Result<PriceResponse, ReadError> {
        let function = self.plugin.exports.flight.price.as_ref();
        let asked = PriceExpectation::of(&request);
        let arguments = (convert::price_request(request),);
        let read = |answer| convert::price_answer(answer, asked);
        self.call(
            context,
            name(Capability::FlightPricing, "price"),
            function,
            arguments,
            read,
        )
        .await
    }

    /// Re-checks a fare and binds it to passengers; holds no seat and charges nothing.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub async fn prebook_flight(
        &self,
        context: &CallContext,
        request: PrebookRequest,
    ) -> Result<PrebookResponse, ChangeError> {
        let booking = self.plugin.exports.flight.booking.as_ref();
        let function = booking.map(|booking| &booking.prebook);
        let (currency, passengers) = (request.total.currency, request.passengers.len());
        let arguments = (convert::prebook_request(request),);
        let read = |answer| convert::prebooked(answer, currency, passengers);
        self.call(
            context,
            name(Capability::FlightBooking, "prebook"),
            function,
            arguments,
            read,
        )
        .await
    }

    /// Buys the ticket. Its currency is the supplier's word, and may be another
    /// than that of the request.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub async fn book_flight(
        &self,
        context: &CallContext,
        request: BookRequest,
    ) -> Result<SupplierBooking, ChangeError> {
        let booking = self.plugin.exports.flight.booking.as_ref();
        let function = booking.map(|booking| &booking.book);
        let asked = BookingExpectation::for_book(&request);
        let arguments = (convert::book_request(request),);
        let read = |state| convert::supplier_booking(state, &asked);
        self.call(
            context,
            name(Capability::FlightBooking, "book"),
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
    pub async fn find_flight_booking(
        &self,
        context: &CallContext,
        request: FindRequest,
    ) -> Result<BookingLookup, ReadError> {
        let booking = self.plugin.exports.flight.booking.as_ref();
        let function = booking.map(|booking| &booking.find);
        let asked = BookingExpectation::for_find(&request);
        let arguments = (convert::find_request(request),);
        let read = |answer| convert::booking_lookup(answer, &asked);
        self.call(
            context,
            name(Capability::FlightBooking, "find"),
            function,
            arguments,
            read,
        )
        .await
    }

    /// What cancelling would cost now, by the airline. Moves no money.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn quote_flight_cancellation(
        &self,
        context: &CallContext,
        booking: BookingReference,
    ) -> Result<SupplierQuote, ReadError> {
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

    /// Ends a ticket.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub async fn cancel_flight(
        &self,
        context: &CallContext,
        request: CancelRequest,
    ) -> Result<SupplierBooking, ChangeError> {
        let cancellation = self.plugin.exports.flight.cancellation.as_ref();
        let function = cancellation.map(|cancellation| &cancellation.cancel);
        let asked = BookingExpectation::for_cancel(&request);
        let arguments = (convert::cancel_request(request),);
        let read = |state| convert::supplier_booking(state, &asked);
        self.call(
            context,
            name(Capability::FlightCancellation, "cancel"),
            function,
            arguments,
            read,
        )
        .await
    }

    /// Extras that the airline sells on a ticket now.
    ///
    /// # Errors
    /// [`ReadError`].
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

    /// Buys extras; answers the ticket with them on it.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub async fn buy_flight_services(
        &self,
        context: &CallContext,
        request: BuyRequest,
    ) -> Result<SupplierBooking, ChangeError> {
        let services = self.plugin.exports.flight.services.as_ref();
        let function = services.map(|services| &services.buy);
        let asked = BookingExpectation::for_buy_services(&request);
        let arguments = (convert::buy_request(request),);
        let read = |state| convert::supplier_booking(state, &asked);
        self.call(
            context,
            name(Capability::FlightServices, "buy-services"),
            function,
            arguments,
            read,
        )
        .await
    }

    /// Airports by name, city or code, in the supplier's order, at most as many
    /// as asked for.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn find_airports(
        &self,
        context: &CallContext,
        text: String,
        limit: u16,
    ) -> Result<AirportResponse, ReadError> {
        let reference = self.plugin.exports.flight.reference.as_ref();
        let function = reference.map(|reference| &reference.airports);
        let read = |answer| convert::airports(answer, limit);
        self.call(
            context,
            name(Capability::FlightReference, "find-airports"),
            function,
            (text, limit),
            read,
        )
        .await
    }

    /// An airline by its IATA code, also one that no longer flies.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn read_airline(
        &self,
        context: &CallContext,
        iata_code: String,
    ) -> Result<Airline, ReadError> {
        let reference = self.plugin.exports.flight.reference.as_ref();
        let function = reference.map(|reference| &reference.airline);
        let asked = iata_code.clone();
        let read = |answer| convert::airline(answer, &asked);
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
