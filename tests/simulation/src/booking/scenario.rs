//! Parameters of a booking scenario: the guarantees and prices of its supplier and processor.

use super::CALL_MAX_MS;
use crate::sample::euros;
use crate::seeded_random::Random;
use host_application::booking::interpret::SupplierGuarantees;
use host_domain::booking::PaymentCollector;
use host_domain::money::Money;
use host_domain::supplier::SupplierId;

/// The parameters of a booking scenario.
#[derive(Debug)]
pub(super) struct BookingScenario {
    pub(super) is_flight: bool,
    pub(super) supplier: SupplierGuarantees,
    pub(super) processor: SupplierGuarantees,
    /// Whether the supplier may book hours after the time that its adapter declares.
    pub(super) books_late: bool,
    pub(super) payment_collector: PaymentCollector,
    pub(super) pays_in_browser: bool,
    /// Price and cancellation fee (by the stored terms) of each room, or of the ticket.
    pub(super) rooms: Vec<(i64, i64)>,
    /// Price of a bag.
    pub(super) bag: i64,
    /// Whether the supplier reports the fee of a cancellation.
    pub(super) reports_amounts: bool,
    /// Percentage of calls that fail.
    pub(super) fault_percent: i64,
    /// Percentage of effects that reads show late.
    pub(super) late_reads: i64,
    /// Whether the supplier cancels a room of every booking of several rooms before the gateway has
    /// read the booking.
    pub(super) always_loses_room: bool,
    /// Percentage of refreshes that meet a copy of the order in which that room is still booked.
    pub(super) outdated_refreshes: i64,
    /// Percentage of resends that are refused although the call was executed.
    pub(super) refused_resends: i64,
}

impl BookingScenario {
    pub(super) fn draw(random: &Random, is_flight: bool) -> Self {
        let guarantees = || SupplierGuarantees {
            reads_consistent_after_ms: random.one_of(&[None, Some(0), Some(2_000), Some(300_000)]),
            call_ms_max: CALL_MAX_MS.unsigned_abs(),
            supports_idempotent_resend: random.percent(50),
        };
        let supplier = guarantees();
        let mut processor = guarantees();
        // Without any guarantee, the outcome of a payment could never be determined.
        processor.supports_idempotent_resend |= processor.reads_consistent_after_ms.is_none();
        let by_supplier = random.percent(15);
        let rooms = if is_flight { 1 } else { random.between(1, 3) };
        let room = |_| {
            let price = random.between(5_000, 20_000);
            (price, random.one_of(&[0, price, random.between(0, price)]))
        };
        Self {
            is_flight,
            supplier,
            processor,
            books_late: random.percent(25),
            payment_collector: if by_supplier {
                PaymentCollector::Supplier
            } else {
                PaymentCollector::Gateway
            },
            pays_in_browser: !by_supplier && random.percent(25),
            rooms: (0..rooms).map(room).collect(),
            bag: random.between(1_000, 6_000),
            reports_amounts: random.percent(70),
            fault_percent: random.one_of(&[0, 10, 30, 60]),
            late_reads: 30,
            always_loses_room: false,
            outdated_refreshes: 50,
            refused_resends: 20,
        }
    }

    /// Returns a scenario of a hotel whose supplier books late and whose calls often fail. The
    /// gateway never sends the same call again, and it takes "not found" as proof.
    pub(super) fn draw_late(random: &Random) -> Self {
        let supplier = SupplierGuarantees {
            reads_consistent_after_ms: random.one_of(&[Some(0), Some(2_000)]),
            call_ms_max: CALL_MAX_MS.unsigned_abs(),
            supports_idempotent_resend: false,
        };
        Self {
            supplier,
            books_late: true,
            payment_collector: PaymentCollector::Gateway,
            fault_percent: 60,
            ..Self::draw(random, false)
        }
    }

    /// Returns a scenario of a hotel that loses a room.
    pub(super) fn draw_lost_room(random: &Random) -> Self {
        Self {
            always_loses_room: true,
            ..Self::draw(random, false)
        }
    }

    /// Returns a scenario in which calls often fail, reads show their effects after the first
    /// lookup, and most resends are refused. Reads of payments are consistent in the end: no
    /// operator resolves them here.
    pub(super) fn draw_refused_resends(random: &Random, is_flight: bool) -> Self {
        let drawn = Self::draw(random, is_flight);
        let idempotent = |reads_consistent_after_ms| SupplierGuarantees {
            reads_consistent_after_ms,
            supports_idempotent_resend: true,
            ..drawn.supplier
        };
        Self {
            supplier: idempotent(random.one_of(&[None, Some(300_000)])),
            processor: idempotent(Some(300_000)),
            fault_percent: 60,
            late_reads: 90,
            refused_resends: 80,
            ..drawn
        }
    }

    pub(super) fn offered(&self) -> Money {
        euros(self.rooms.iter().map(|(price, _)| price).sum())
    }

    /// Returns whether the supplier cancels a room before the gateway has read the booking. It
    /// follows from the price, so that it changes no other draw of a seed.
    pub(super) fn loses_room(&self) -> bool {
        let is_drawn = self.always_loses_room || self.offered().minor % 4 == 0;
        is_drawn && self.rooms.len() > 1
    }

    /// Returns the fee of cancelling everything by the stored terms.
    pub(super) fn fees(&self) -> i64 {
        self.rooms.iter().map(|(_, fee)| fee).sum()
    }

    pub(super) fn is_paid_at_checkout(&self) -> bool {
        self.payment_collector == PaymentCollector::Supplier
    }
}

pub(super) fn cards() -> SupplierId {
    SupplierId::parse("CARDS").unwrap()
}
