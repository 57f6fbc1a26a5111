//! Purchases of services, such as bags, for an issued ticket.

use crate::booking::Notifications;
use crate::event::EventType;
use crate::flight::booking::{
    BookedService, FlightBooking, FlightBookingDetails, FlightEvent, ServicePurchase,
    ServicePurchaseState, ServiceStatus,
};
use crate::flight::supplier_api::{FlightSupplierBooking, SupplierService};
use crate::id::PaymentId;
use crate::payment::{Payment, PaymentState};
use crate::remote_call::RemoteCall;
use crate::time::Timestamp;

impl FlightBookingDetails {
    pub(super) fn purchase_for_payment(&self, payment: &PaymentId) -> Option<&ServicePurchase> {
        let mut purchases = self.purchases.iter();
        purchases.find(|purchase| purchase.payment == *payment)
    }
}

impl FlightBooking {
    pub(super) fn begin_purchase(
        &mut self,
        purchase: ServicePurchase,
        services: Vec<BookedService>,
        payment: Payment,
    ) {
        self.details.services.extend(services);
        self.details.purchases.push(purchase);
        self.payments.push(payment);
    }

    /// Applies an event to the purchase in progress. Returns `None` if there is none or the event
    /// does not fit.
    pub(super) fn apply_purchase_event(
        &mut self,
        event: FlightEvent,
        now: Timestamp,
        notifications: &mut Notifications,
    ) -> Option<()> {
        let mut purchases = self.details.purchases.iter();
        let at = purchases.position(|p| p.call().is_some())?;
        let purchase = self.details.purchases.get(at)?.clone();
        let ServicePurchaseState::InProgress { call } = purchase.state.clone() else {
            return None;
        };
        let state = match (call, event) {
            (call @ RemoteCall::Pending { .. }, FlightEvent::PurchaseSent { next_at })
                if self.is_authorized(&purchase.payment) =>
            {
                ServicePurchaseState::InProgress {
                    call: call.mark_sent(now, next_at),
                }
            }
            (RemoteCall::Pending { .. }, _) => return None,
            (call, FlightEvent::PurchaseUnresolved { next_at, absence }) => {
                ServicePurchaseState::InProgress {
                    call: call.mark_unresolved(now, next_at).record_absence(absence),
                }
            }
            (call @ RemoteCall::Sent { .. }, FlightEvent::PurchaseResendScheduled { at }) => {
                ServicePurchaseState::InProgress {
                    call: call.schedule_resend(at),
                }
            }
            (_, FlightEvent::PurchaseSucceeded(supplier_booking)) => {
                self.merge_supplier_booking(&supplier_booking, notifications);
                self.confirm_services(&purchase, &supplier_booking);
                self.with_payment(&purchase.payment, |payment| payment.begin_capture(now));
                notifications.push_booking_event(EventType::FlightBookingServicesAdded);
                ServicePurchaseState::Succeeded
            }
            (_, FlightEvent::PurchaseRefused(failure)) => {
                self.fail_purchase(&purchase, now);
                self.details.purchases.get_mut(at)?.failure = Some(failure);
                ServicePurchaseState::Refused
            }
            (_, FlightEvent::PurchaseNotSent) => {
                self.fail_purchase(&purchase, now);
                ServicePurchaseState::NotSent
            }
            _ => return None,
        };
        self.details.purchases.get_mut(at)?.state = state;
        Some(())
    }

    /// Records that nothing of a purchase was bought: its services failed and its payment is
    /// voided.
    fn fail_purchase(&mut self, purchase: &ServicePurchase, now: Timestamp) {
        let services = self.details.services.iter_mut();
        services
            .filter(|service| purchase.services.contains(&service.id))
            .for_each(|service| service.status = ServiceStatus::Failed);
        self.with_payment(&purchase.payment, |payment| payment.begin_void(now));
    }

    fn is_authorized(&self, payment: &PaymentId) -> bool {
        let mut payments = self.payments.iter();
        payments.any(|known| known.id == *payment && known.state == PaymentState::Authorized)
    }

    fn with_payment(&mut self, id: &PaymentId, change: impl FnOnce(&mut Payment)) {
        if let Some(payment) = self.payments.iter_mut().find(|known| known.id == *id) {
            change(payment);
        }
    }

    /// Ends the purchase that a failed payment would have paid, if it was not sent yet.
    pub(super) fn decline_purchase(&mut self, payment: &PaymentId, now: Timestamp) {
        let Some(purchase) = self.details.purchase_for_payment(payment).cloned() else {
            return;
        };
        if matches!(purchase.call(), Some(RemoteCall::Pending { .. })) {
            self.fail_purchase(&purchase, now);
            let mut purchases = self.details.purchases.iter_mut();
            if let Some(declined) = purchases.find(|known| known.id == purchase.id) {
                declined.state = ServicePurchaseState::Declined;
            }
        }
    }

    /// Returns whether all services of a purchase are on the ticket.
    pub fn is_on_ticket(
        &self,
        purchase: &ServicePurchase,
        supplier_booking: &FlightSupplierBooking,
    ) -> bool {
        let mut free = self.unassigned_services(supplier_booking);
        let services = self.details.services.iter();
        let mut wanted = services.filter(|service| purchase.services.contains(&service.id));
        wanted.all(|service| {
            let mut left = service.quantity;
            free.retain(|on_ticket| {
                let takes = left > 0 && service.matches(on_ticket);
                if takes {
                    left = left.saturating_sub(on_ticket.quantity);
                }
                !takes
            });
            left == 0
        })
    }

    /// Returns the services on the ticket that are not assigned to another purchase.
    fn unassigned_services<'a>(
        &self,
        supplier_booking: &'a FlightSupplierBooking,
    ) -> Vec<&'a SupplierService> {
        let claimed = |on_ticket: &&SupplierService| {
            self.details.services.iter().any(|service| {
                service.status != ServiceStatus::Pending
                    && service.supplier_ticket_service_id.as_deref()
                        == Some(&on_ticket.supplier_service_id)
            })
        };
        let services = supplier_booking.services.iter();
        services.filter(|s| !claimed(s)).collect()
    }

    /// Marks the services of a purchase as confirmed and stores their ids on the ticket.
    fn confirm_services(
        &mut self,
        purchase: &ServicePurchase,
        supplier_booking: &FlightSupplierBooking,
    ) {
        let found: Vec<(usize, Option<String>)> = {
            let mut free = self.unassigned_services(supplier_booking);
            let bought = self.details.services.iter().enumerate();
            bought
                .filter(|(_, service)| purchase.services.contains(&service.id))
                .map(|(at, service)| {
                    let place = free.iter().position(|on_ticket| service.matches(on_ticket));
                    let id = place.map(|place| free.remove(place).supplier_service_id.clone());
                    (at, id)
                })
                .collect()
        };
        for (at, on_ticket_as) in found {
            if let Some(service) = self.details.services.get_mut(at) {
                service.status = ServiceStatus::Confirmed;
                service.supplier_ticket_service_id = on_ticket_as;
            }
        }
    }
}
