//! The parts of a simulated hotel or flight booking that its production flows do not provide.

use super::actor_action::ActorAction;
use super::external_systems::ExternalSystems;
use super::invariants::Checks;
use super::order::Order;
use super::remote_call::Request;
use super::scenario::BookingScenario;
use crate::sample::{euros, owner};
use crate::seeded_random::Random;
use anyhow::{Result, ensure};
use host_application::booking::aggregate::BookingAggregate;
use host_domain::booking::{Booking, BookingEvent, BookingState, BookingStatus, PaymentCollector};
use host_domain::event::EventType;
use host_domain::id::BookingId;
use host_domain::supplier::{SupplierBookingStatus, SupplierId};
use host_domain::time::Timestamp;

/// A kind of booking that can be simulated.
pub(super) trait SimulatedBooking: BookingAggregate {
    /// Id of the supplier.
    const SUPPLIER: &'static str;
    const CONFIRMED: EventType;
    const CANCELED: EventType;

    /// Returns the fields of a new booking.
    fn new_details(scenario: &BookingScenario) -> Self;
    /// Returns the supplier's response to the prebook.
    fn prebook_response(scenario: &BookingScenario) -> Self::PrebookResponse;
    /// Returns an order as the supplier reports it.
    fn reported(order: Order) -> Self::SupplierBooking;
    /// Returns the simulated request of a production request.
    fn simulated_request(request: Self::ChangeRequest) -> Request;
    /// Returns the event of a client's request, or `None` if the request is currently not possible.
    fn requested_event(
        booking: &Booking<Self>,
        action: ActorAction,
        random: &Random,
        scenario: &BookingScenario,
        now: Timestamp,
    ) -> Option<BookingEvent<Self>>;
    /// Returns whether the supplier has executed the call whose outcome is unknown.
    fn is_done(booking: &Booking<Self>, step: &str, order: Option<&Order>) -> Option<bool>;
    /// Checks what only this kind of booking has, at the end of the scenario.
    fn check_end(
        booking: &Booking<Self>,
        external: &ExternalSystems<'_>,
        checks: &Checks,
    ) -> Result<()>;
}

/// Creates a booking that the gateway accepted.
pub(super) fn new_booking<K: SimulatedBooking>(
    id: BookingId,
    scenario: &BookingScenario,
    now: Timestamp,
) -> Booking<K> {
    Booking {
        id,
        owner: owner("demo", "org"),
        version: 1,
        supplier: SupplierId::parse(K::SUPPLIER).unwrap(),
        reference_id: None,
        supplier_offer: "offer".to_owned(),
        supplier_prebook: None,
        supplier_reference: None,
        use_payment_sdk: scenario.pays_in_browser,
        payment_collector: scenario.payment_collector,
        offer_expires_at: now.plus_s(1800),
        state: BookingState::Created,
        payments: Vec::new(),
        failure: None,
        created_at: now,
        updated_at: now,
        confirmed_at: None,
        canceled_at: None,
        details: K::new_details(scenario),
    }
}

/// Checks, at the end of a scenario, that status and money agree with the supplier.
pub(super) fn check_agreement<K: SimulatedBooking>(
    booking: &Booking<K>,
    external: &ExternalSystems<'_>,
    checks: &Checks,
) -> Result<()> {
    let status = external.actual_order().map(|order| &order.status);
    let agrees = match booking.status() {
        BookingStatus::Confirmed => status == Some(&SupplierBookingStatus::Confirmed),
        BookingStatus::PartiallyCanceled => {
            status == Some(&SupplierBookingStatus::PartiallyCanceled)
        }
        BookingStatus::Canceled => status == Some(&SupplierBookingStatus::Canceled),
        // Every booking that the supplier made after all was listed, and the operator cancelled it.
        BookingStatus::Failed if checks.has_orphan => {
            status == Some(&SupplierBookingStatus::Canceled)
        }
        BookingStatus::Failed => matches!(status, None | Some(SupplierBookingStatus::Failed(_))),
        BookingStatus::Expired => status.is_none(),
        _ => false,
    };
    ensure!(agrees, "{:?} here, {status:?} there", booking.status());
    if booking.payment_collector == PaymentCollector::Gateway {
        let retained = external
            .actual_order()
            .map_or(euros(0), |order| order.retained);
        checks.check_money(booking, external, retained)?;
    }
    Ok(())
}

/// Checks, at the end of a scenario, that the end of the booking was published once.
pub(super) fn check_events<K: SimulatedBooking>(
    booking: &Booking<K>,
    checks: &Checks,
) -> Result<()> {
    let status = booking.status();
    let was_prebooked = booking.supplier_prebook.is_some();
    checks.check_published_once(K::EVENT_TYPES.created, was_prebooked)?;
    checks.check_published_once(K::EVENT_TYPES.expired, status == BookingStatus::Expired)?;
    let has_failed = status == BookingStatus::Failed && was_prebooked;
    checks.check_published_once(K::EVENT_TYPES.failed, has_failed)?;
    checks.check_published_once(K::CONFIRMED, booking.confirmed_at.is_some())?;
    checks.check_published_once(K::CANCELED, status == BookingStatus::Canceled)
}
