//! Turns a fare into a booking: prices it again for the passengers and binds it.

use crate::base::Base;
use crate::booking::passenger_secrets::{PassengerSecrets, call_context_with_documents};
use crate::booking::prebook_call::{
    BoundOffer, OfferBinding, PrebookCall, PrebookContext, PrebookParameters,
};
use crate::offers::terms::FlightOfferTerms;
use crate::sealer::SealError;
use crate::supplier::directory::SupplierDirectory;
use futures::FutureExt;
use host_domain::booking::PaymentCollector;
use host_domain::flight::booking::{FlightBooking, FlightBookingDetails};
use host_domain::flight::passenger::PassengerContact;
use host_domain::flight::supplier_api::{FlightPrebookRequest, FlightPrebookResponse};
use host_domain::flight::{FareConditions, Passenger, TicketDetails};
use host_domain::id::BookingId;
use host_runtime::Supplier;
use std::sync::Arc;

const OPERATION: &str = "flight_prebook";

#[derive(Debug, Clone)]
pub struct PrebookFlightCommand {
    pub parameters: PrebookParameters,
    pub offer: FlightOfferTerms,
    pub contact: PassengerContact,
    /// The passengers, each with the position in the request.
    pub passengers: Vec<(u8, Passenger)>,
}

impl PrebookFlightCommand {
    pub fn to_context(&self) -> PrebookContext {
        let expires_at = self.offer.expires_at;
        self.parameters.to_context(OPERATION, expires_at)
    }
}

pub fn prebook_call(command: &PrebookFlightCommand) -> PrebookCall<FlightBookingDetails> {
    let passengers = command.passengers.iter();
    let passengers: Vec<Passenger> = passengers.map(|(_, passenger)| passenger.clone()).collect();
    Arc::new(move |supplier: Supplier, context, booking: FlightBooking| {
        let context = call_context_with_documents(&context, &passengers);
        let request = prebook_request(&booking, passengers.clone());
        async move {
            let response = supplier.prebook_flight(&context, request).await?;
            Ok(to_bound_offer(response))
        }
        .boxed()
    })
}

pub fn new_booking(
    base: &Base,
    passenger_secrets: &PassengerSecrets,
    suppliers: &SupplierDirectory,
    command: &PrebookFlightCommand,
    payment_collector: PaymentCollector,
) -> Result<FlightBooking, SealError> {
    let now = base.now();
    let id = BookingId::from_bits(base.ids.generate());
    let (passengers, sealed_passenger_data) =
        passenger_secrets.seal(&command.parameters.owner, &id, &command.passengers)?;
    let offer = &command.offer;
    let details = FlightBookingDetails {
        exclusive_key: exclusive_key(suppliers, offer),
        airline_pnr: None,
        contact: command.contact.clone(),
        travellers: offer.travellers.clone(),
        passengers,
        sealed_passenger_data,
        offered_total: offer.total,
        ticket_total: None,
        fare: None,
        fare_tax: None,
        fare_conditions: FareConditions::default(),
        ticket: TicketDetails::default(),
        journeys: Vec::new(),
        services: Vec::new(),
        purchases: Vec::new(),
        changes: Vec::new(),
        id_sequence: 0,
        cancellation_count: 0,
        cancellation: None,
    };
    let binding = OfferBinding {
        supplier: &offer.supplier,
        supplier_offer: &offer.supplier_offer,
        expires_at: offer.expires_at,
        payment_collector,
    };
    Ok(command.parameters.new_booking(id, &binding, details, now))
}

/// Returns the key that only one unfinished booking may hold, if the supplier sets this limit.
fn exclusive_key(suppliers: &SupplierDirectory, offer: &FlightOfferTerms) -> Option<String> {
    let supplier = suppliers.loaded(&offer.supplier)?;
    let is_exclusive = supplier.info().description.one_booking_per_offer;
    let key = offer.exclusive_key.clone();
    is_exclusive.then(|| key.unwrap_or_else(|| offer.supplier_offer.clone()))
}

fn to_bound_offer(bound: FlightPrebookResponse) -> BoundOffer<FlightBookingDetails> {
    BoundOffer {
        total: bound.total,
        matches_request: true,
        unsellable: None,
        expires_at: bound.expires_at,
        checkout: bound.checkout.clone(),
        response: Box::new(bound),
    }
}

fn prebook_request(booking: &FlightBooking, passengers: Vec<Passenger>) -> FlightPrebookRequest {
    FlightPrebookRequest {
        client_reference: booking.id.to_string(),
        supplier_offer: booking.supplier_offer.clone(),
        total: booking.details.offered_total,
        contact: booking.details.contact.clone(),
        passengers,
        use_payment_sdk: booking.use_payment_sdk,
    }
}
