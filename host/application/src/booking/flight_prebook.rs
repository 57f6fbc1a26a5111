//! Turns a fare into a booking: prices it again for the passengers and binds it.

use crate::base::Base;
use crate::booking::passenger_secrets::PassengerSecrets;
use crate::booking::prebook_call::{BoundOffer, PrebookCall, PrebookContext};
use crate::offers::terms::FlightOfferTerms;
use crate::sealer::SealError;
use crate::supplier::directory::SupplierDirectory;
use futures::FutureExt;
use host_domain::booking::PaymentCollector;
use host_domain::flight::booking::{Booking, Event, State};
use host_domain::flight::passenger::PassengerContact;
use host_domain::flight::supplier_api::{PrebookRequest, PrebookResponse};
use host_domain::flight::{FareCondition, FareConditions, Passenger};
use host_domain::id::BookingId;
use host_domain::owner::Owner;
use host_runtime::Supplier;
use host_storage::IdempotencyKey;
use tokio::time::Instant;

/// The operation that prebook keys belong to.
const OPERATION: &str = "flight_prebook";

/// A caller's request to bind a fare.
#[derive(Debug, Clone)]
pub struct PrebookFlightCommand {
    pub owner: Owner,
    pub key: String,
    /// Fingerprint of the parsed request.
    pub fingerprint: String,
    pub offer: FlightOfferTerms,
    pub reference_id: Option<String>,
    pub contact: PassengerContact,
    /// The passengers, each with the position in the request.
    pub passengers: Vec<(u8, Passenger)>,
    pub use_payment_sdk: bool,
    pub request_id: String,
    pub deadline: Instant,
}

impl PrebookFlightCommand {
    /// Puts the passengers in the order in which they were priced, because suppliers identify them
    /// by that order.
    pub fn sort_passengers(&mut self) {
        self.passengers
            .sort_by_key(|(_, passenger)| passenger.passenger_type);
    }

    /// Returns the context of the prebook.
    pub fn to_context(&self) -> PrebookContext {
        PrebookContext {
            key: IdempotencyKey {
                owner: self.owner.clone(),
                operation: OPERATION.to_owned(),
                key: self.key.clone(),
            },
            fingerprint: self.fingerprint.clone(),
            expires_at: self.offer.expires_at,
            use_payment_sdk: self.use_payment_sdk,
            request_id: self.request_id.clone(),
            deadline: self.deadline,
        }
    }
}

/// Returns the call that binds a fare for the passengers of a command.
pub fn prebook_call(command: &PrebookFlightCommand) -> PrebookCall<Booking> {
    let passengers = command.passengers.iter();
    let passengers = passengers.map(|(_, passenger)| passenger.clone()).collect();
    Box::new(|supplier: Supplier, context, booking: Booking| {
        async move {
            let request = prebook_request(&booking, passengers);
            let response = supplier.prebook_flight(&context, request).await?;
            Ok(to_bound_offer(response))
        }
        .boxed()
    })
}

/// Creates the booking of a command.
///
/// # Errors
/// The passengers' secret data cannot be sealed.
pub fn new_booking(
    base: &Base,
    passenger_secrets: &PassengerSecrets,
    suppliers: &SupplierDirectory,
    command: &PrebookFlightCommand,
    payment_collector: PaymentCollector,
) -> Result<Booking, SealError> {
    let now = base.now();
    let id = BookingId::from_bits(base.ids.generate());
    let (passengers, sealed_passenger_data) =
        passenger_secrets.seal(&command.owner, &id, &command.passengers)?;
    let offer = &command.offer;
    Ok(Booking {
        id,
        owner: command.owner.clone(),
        version: 1,
        supplier: offer.supplier.clone(),
        reference_id: command.reference_id.clone(),
        supplier_offer: offer.supplier_offer.clone(),
        exclusive_key: exclusive_key(suppliers, offer),
        supplier_prebook: None,
        supplier_reference: None,
        airline_pnr: None,
        contact: command.contact.clone(),
        travellers: offer.travellers.clone(),
        passengers,
        sealed_passenger_data,
        offered_total: offer.total,
        ticket_total: None,
        fare: None,
        fare_tax: None,
        fare_conditions: UNKNOWN_FARE_CONDITIONS,
        journeys: Vec::new(),
        services: Vec::new(),
        purchases: Vec::new(),
        changes: Vec::new(),
        id_sequence: 0,
        use_payment_sdk: command.use_payment_sdk,
        payment_collector,
        offer_expires_at: offer.expires_at,
        state: State::Created,
        payments: Vec::new(),
        cancellation_count: 0,
        cancellation: None,
        failure: None,
        created_at: now,
        updated_at: now,
        confirmed_at: None,
        canceled_at: None,
    })
}

/// Returns the key that only one unfinished booking may hold. Returns `None` if the supplier
/// does not limit an offer to one booking.
fn exclusive_key(suppliers: &SupplierDirectory, offer: &FlightOfferTerms) -> Option<String> {
    let supplier = suppliers.loaded(&offer.supplier)?;
    let is_exclusive = supplier.info().description.one_booking_per_offer;
    let key = offer.exclusive_key.clone();
    is_exclusive.then(|| key.unwrap_or_else(|| offer.supplier_offer.clone()))
}

/// Fare conditions before the fare is bound, when nothing is known about them.
const UNKNOWN_FARE_CONDITIONS: FareConditions = {
    let unknown = FareCondition {
        allowed: None,
        penalty: None,
    };
    FareConditions {
        refund: unknown,
        change: unknown,
    }
};

fn to_bound_offer(bound: PrebookResponse) -> BoundOffer<Event> {
    BoundOffer {
        total: bound.total,
        matches_request: true,
        expires_at: bound.expires_at,
        checkout: bound.checkout.clone(),
        into_event: Box::new(|expires_at, payment| Event::PrebookConfirmed {
            bound: Box::new(bound),
            expires_at,
            payment,
        }),
    }
}

fn prebook_request(booking: &Booking, passengers: Vec<Passenger>) -> PrebookRequest {
    PrebookRequest {
        client_reference: booking.id.to_string(),
        supplier_offer: booking.supplier_offer.clone(),
        total: booking.offered_total,
        contact: booking.contact.clone(),
        passengers,
        use_payment_sdk: booking.use_payment_sdk,
    }
}
