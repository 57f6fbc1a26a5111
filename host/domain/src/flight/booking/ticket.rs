//! What a supplier tells of a ticket, taken over into the booking: journeys
//! keep their ids, extras are recognised, changes are counted once.

use crate::booking::{PaymentCollector, Notifications};
use crate::event::EventType;
use crate::flight::booking::{
    BookedChange, BookedJourney, Booking, Cancellation, ServicePurchase, RefundedBy, RefundBreakdown,
    ServiceStatus,
};
use crate::flight::itinerary::{Journey, Segment};
use crate::flight::supply::{SupplierBooking, SupplierService};
use crate::id::{AirlineChangeId, JourneyId, RefundId, SegmentId};
use crate::money::Money;
use crate::time::{Date, Timestamp};

/// A day begins so much earlier than in UTC where it begins first.
const FIRST_ZONE_S: i64 = 14 * 60 * 60;

impl Booking {
    /// An id for a part that has none yet.
    fn allocate_id<T>(&mut self, id: impl FnOnce(&str, u32) -> T) -> T {
        self.id_sequence = self.id_sequence.saturating_add(1);
        id(self.id.as_str(), self.id_sequence)
    }

    /// The segments that these ids of the supplier's mean.
    #[must_use]
    pub fn segment_ids(&self, supplier_segment_ids: &[String]) -> Vec<SegmentId> {
        let segments = self.segments();
        segments
            .filter(|(_, segment)| supplier_segment_ids.contains(&segment.supplier_segment_id))
            .map(|(id, _)| id.clone())
            .collect()
    }

    /// Every segment with its id.
    pub fn segments(&self) -> impl Iterator<Item = (&SegmentId, &Segment)> {
        self.journeys
            .iter()
            .flat_map(|booked| booked.segment_ids.iter().zip(&booked.journey.segments))
    }

    /// Takes over the journeys as they are flown now. A segment that is the
    /// same flight keeps its id, and what is known of its passengers.
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
                let same = flown.into_iter().find(|(_, known)| is_same_segment(known, segment));
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

    /// Takes over what the supplier tells of a ticket.
    pub(super) fn merge_supplier_booking(&mut self, state: &SupplierBooking, told: &mut Notifications) {
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

    /// Whether everything of a purchase is on the ticket.
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

    /// What is on the ticket and is not known to be another purchase's.
    fn unassigned_services<'a>(&self, state: &'a SupplierBooking) -> Vec<&'a SupplierService> {
        let claimed = |on_ticket: &&SupplierService| {
            self.services.iter().any(|service| {
                service.status != ServiceStatus::Pending
                    && service.supplier_ticket_service_id.as_deref() == Some(&on_ticket.supplier_service_id)
            })
        };
        state.services.iter().filter(|s| !claimed(s)).collect()
    }

    /// The extras of a purchase are on the ticket.
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

    /// The ticket is released: fee and refund by the supplier's word, else by the fare's
    /// `terms` where those decide. Where nobody says, the refund is held: what is given
    /// back without being got back is lost, and what is kept is somebody else's.
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

    /// Fee and refund of a ticket that is given back now, where the fare's terms decide
    /// it. They are about the time before departure, and local times have no offset: on
    /// the day of departure, wherever that has begun, they decide nothing any more.
    pub(super) fn refund_by_fare_terms(&self, now: Timestamp) -> Option<(Money, Money)> {
        let (_, first) = self.segments().next()?;
        let departs: Date = first.departure_time.get(..10)?.parse().ok()?;
        let today = now.plus_s(FIRST_ZONE_S).date_utc();
        self.estimate_refund().ok().filter(|_| today < departs)
    }

    /// An operator says how much a cancellation gives back that nobody could tell. None
    /// when that was told, or it is not a part of what was paid.
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

    /// Gives back a part of what was paid. What the supplier took it gives back itself,
    /// which is noted once it `is_said`.
    fn start_refunds(&mut self, fee: Money, refund: Money, is_said: bool, now: Timestamp) -> RefundBreakdown {
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
                PaymentCollector::Supplier if is_said => payment.record_supplier_refund(refund, share),
                PaymentCollector::Supplier => share,
            };
            let sum = returned.refund_amount.plus(back);
            returned.refund_amount = sum.unwrap_or(returned.refund_amount);
            returned.refund_to.push(id);
        }
        returned
    }

    /// What the ticket and its extras cost.
    fn total_paid(&self) -> Money {
        self.total().unwrap_or(Money::zero(self.offered_total.currency))
    }

    /// Refunds that wait for their next try are tried now; whether there were any.
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
