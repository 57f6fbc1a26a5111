//! Merges data of a supplier's booking into the stored booking: journeys keep their ids, services
//! are matched, and airline changes are recorded once.

use crate::booking::{Notifications, PaymentCollector};
use crate::event::EventType;
use crate::flight::booking::{
    BookedChange, BookedJourney, Booking, Cancellation, RefundBreakdown, RefundedBy,
    ServicePurchase, ServiceStatus,
};
use crate::flight::itinerary::{Journey, Segment};
use crate::flight::supplier_api::{SupplierBooking, SupplierService};
use crate::id::{AirlineChangeId, JourneyId, RefundId, SegmentId};
use crate::money::Money;
use crate::time::{Date, Timestamp};

/// Offset of the earliest time zone (UTC+14), in seconds. A day begins there this much earlier than
/// in UTC.
const FIRST_ZONE_S: i64 = 14 * 60 * 60;

impl Booking {
    /// Allocates an id for a new part of the booking.
    fn allocate_id<T>(&mut self, id: impl FnOnce(&str, u32) -> T) -> T {
        self.id_sequence = self.id_sequence.saturating_add(1);
        id(self.id.as_str(), self.id_sequence)
    }

    /// Returns the ids of the segments that have the given supplier ids.
    #[must_use]
    pub fn segment_ids(&self, supplier_segment_ids: &[String]) -> Vec<SegmentId> {
        let segments = self.segments();
        segments
            .filter(|(_, segment)| supplier_segment_ids.contains(&segment.supplier_segment_id))
            .map(|(id, _)| id.clone())
            .collect()
    }

    /// Returns all segments with their ids.
    pub fn segments(&self) -> impl Iterator<Item = (&SegmentId, &Segment)> {
        self.journeys
            .iter()
            .flat_map(|booked| booked.segment_ids.iter().zip(&booked.journey.segments))
    }

    /// Replaces the journeys by those currently scheduled. A segment of the same flight keeps its
    /// id and the known data of its passengers.
    pub(super) fn merge_journeys(&mut self, journeys: Vec<Journey>) {
        if journeys.is_empty() {
            return;
        }
        let before = std::mem::take(&mut self.journeys);
        for (at, mut journey) in journeys.into_iter().enumerate() {
            let known = before.get(at);
            let id = match known {
                Some(known) => known.id.clone(),
                None => self.allocate_id(JourneyId::of),
            };
            let mut segment_ids = Vec::with_capacity(journey.segments.len());
            for segment in &mut journey.segments {
                let flown = before
                    .iter()
                    .flat_map(|booked| booked.segment_ids.iter().zip(&booked.journey.segments));
                let same = flown
                    .into_iter()
                    .find(|(_, known)| is_same_segment(known, segment));
                segment_ids.push(match same {
                    Some((id, known)) => {
                        if segment.passengers.is_empty() {
                            segment.passengers.clone_from(&known.passengers);
                        }
                        id.clone()
                    }
                    None => self.allocate_id(SegmentId::of),
                });
            }
            if journey.fare_brand.is_none() {
                journey.fare_brand = known.and_then(|known| known.journey.fare_brand.clone());
            }
            self.journeys.push(BookedJourney {
                id,
                segment_ids,
                journey,
            });
        }
    }

    /// Merges the booking as the supplier reports it. Adds a notification for each new or changed
    /// airline change.
    pub(super) fn merge_supplier_booking(
        &mut self,
        state: &SupplierBooking,
        told: &mut Notifications,
    ) {
        self.supplier_reference = Some(state.supplier_reference.clone());
        if state.airline_pnr.is_some() {
            self.airline_pnr.clone_from(&state.airline_pnr);
        }
        self.merge_journeys(state.journeys.clone());
        for change in &state.changes {
            let known = self
                .changes
                .iter_mut()
                .find(|known| known.change.supplier_change_id == change.supplier_change_id);
            match known {
                Some(known) if known.change == *change => continue,
                Some(known) => known.change = change.clone(),
                None => {
                    let id = self.allocate_id(AirlineChangeId::of);
                    self.changes.push(BookedChange {
                        id,
                        change: change.clone(),
                    });
                }
            }
            told.push_booking_event(EventType::FlightBookingAirlineChange);
        }
    }

    /// Returns whether all services of a purchase are on the ticket.
    #[must_use]
    pub fn is_on_ticket(&self, purchase: &ServicePurchase, state: &SupplierBooking) -> bool {
        let mut free = self.unassigned_services(state);
        let mut wanted = self
            .services
            .iter()
            .filter(|service| purchase.services.contains(&service.id));
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
    fn unassigned_services<'a>(&self, state: &'a SupplierBooking) -> Vec<&'a SupplierService> {
        let claimed = |on_ticket: &&SupplierService| {
            self.services.iter().any(|service| {
                service.status != ServiceStatus::Pending
                    && service.supplier_ticket_service_id.as_deref()
                        == Some(&on_ticket.supplier_service_id)
            })
        };
        state.services.iter().filter(|s| !claimed(s)).collect()
    }

    /// Marks the services of a purchase as confirmed and stores their ids on the ticket.
    pub(super) fn confirm_services(&mut self, purchase: &ServicePurchase, state: &SupplierBooking) {
        let found: Vec<(usize, Option<String>)> = {
            let mut free = self.unassigned_services(state);
            let bought = self.services.iter().enumerate();
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
            if let Some(service) = self.services.get_mut(at) {
                service.status = ServiceStatus::Confirmed;
                service.supplier_ticket_service_id = on_ticket_as;
            }
        }
    }

    /// Completes a cancellation. Fee and refund come from the supplier; if it reports none, from
    /// the fare's `terms` where these apply.
    ///
    /// If neither gives an amount, the refund stays undecided until an operator sets it. Refunding
    /// money that the gateway does not get back is a loss; keeping it means keeping the customer's
    /// money.
    pub(super) fn complete_cancellation(
        &mut self,
        state: &SupplierBooking,
        terms: Option<(Money, Money)>,
        now: Timestamp,
    ) {
        let paid = self.total_paid();
        let said = state.cancellation.as_ref();
        let readable = said.filter(|amounts| {
            amounts.refund.currency == paid.currency && amounts.fee.currency == paid.currency
        });
        let returned = match (readable, terms) {
            (Some(amounts), _) => {
                let refund = amounts.refund.at_most(paid);
                Some(self.start_refunds(amounts.fee, refund, true, now))
            }
            (None, Some((fee, refund))) => Some(self.start_refunds(fee, refund, false, now)),
            (None, None) => None,
        };
        for service in &mut self.services {
            if service.status == ServiceStatus::Confirmed {
                service.status = ServiceStatus::Canceled;
            }
        }
        self.cancellation = Some(Cancellation {
            refunded_by: match self.payment_collector {
                PaymentCollector::Gateway => RefundedBy::Service,
                PaymentCollector::Supplier => RefundedBy::Supplier,
            },
            refund: returned,
            supplier_reference: said.and_then(|amounts| amounts.supplier_reference.clone()),
        });
        self.failure = None;
        self.canceled_at = Some(now);
    }

    /// Returns fee and refund under the fare's terms if the ticket is cancelled now. Returns `None`
    /// if the terms do not decide.
    ///
    /// Terms apply only before departure, and departure times carry no UTC offset. They therefore
    /// no longer apply once the departure date has begun in the earliest time zone (UTC+14).
    pub(super) fn refund_by_fare_terms(&self, now: Timestamp) -> Option<(Money, Money)> {
        let (_, first) = self.segments().next()?;
        let departs: Date = first.departure_time.get(..10)?.parse().ok()?;
        let today = now.plus_s(FIRST_ZONE_S).date_utc();
        self.estimate_refund().ok().filter(|_| today < departs)
    }

    /// Applies an operator's refund amount to a cancellation whose refund is undecided. Returns
    /// `None` if the refund is already decided, the currency differs, or the amount is not between
    /// 0 and the total paid.
    pub(super) fn decide_refund(&mut self, refund: Money, now: Timestamp) -> Option<()> {
        let paid = self.total_paid();
        let fits = refund.currency == paid.currency && (0..=paid.minor).contains(&refund.minor);
        if !self.is_refund_undecided() || !fits {
            return None;
        }
        let fee = paid.less(refund);
        let returned = self.start_refunds(fee, refund, true, now);
        self.cancellation.as_mut()?.refund = Some(returned);
        Some(())
    }

    /// Starts the refunds of a cancellation. If the supplier collected the payment, it refunds the
    /// payer itself. That refund is recorded only if the supplier or an operator stated the amount.
    fn start_refunds(
        &mut self,
        fee: Money,
        refund: Money,
        is_said: bool,
        now: Timestamp,
    ) -> RefundBreakdown {
        let mut returned = RefundBreakdown {
            fee,
            refund_amount: Money::zero(refund.currency),
            refund_to: Vec::new(),
        };
        let mut refunds = self.payments.iter().map(|p| p.refunds.len()).sum::<usize>();
        for (id, share) in self.allocate_refund(refund) {
            refunds = refunds.saturating_add(1);
            let refund = RefundId::of(self.id.as_str(), u32::try_from(refunds).unwrap_or(u32::MAX));
            let Some(payment) = self.payments.iter_mut().find(|p| p.id == id) else {
                continue;
            };
            let back = match self.payment_collector {
                PaymentCollector::Gateway => payment.begin_refund(refund, share, now),
                PaymentCollector::Supplier if is_said => {
                    payment.record_supplier_refund(refund, share)
                }
                PaymentCollector::Supplier => share,
            };
            let sum = returned.refund_amount.plus(back);
            returned.refund_amount = sum.unwrap_or(returned.refund_amount);
            returned.refund_to.push(id);
        }
        returned
    }

    /// Returns the price of the ticket and its services.
    fn total_paid(&self) -> Money {
        self.total()
            .unwrap_or(Money::zero(self.offered_total.currency))
    }

    /// Makes waiting refunds due at `now`. Returns whether any due time changed.
    pub(super) fn expedite_refunds(&mut self, now: Timestamp) -> bool {
        let mut any = false;
        for payment in &mut self.payments {
            any |= payment.expedite_refunds(now);
        }
        any
    }
}

fn is_same_segment(known: &Segment, segment: &Segment) -> bool {
    if !segment.supplier_segment_id.is_empty() && !known.supplier_segment_id.is_empty() {
        return known.supplier_segment_id == segment.supplier_segment_id;
    }
    let flight = |s: &Segment| {
        (
            s.origin.clone(),
            s.destination.clone(),
            s.marketing_flight.clone(),
            s.departure_time.get(..10).map(str::to_owned),
        )
    };
    flight(known) == flight(segment)
}
