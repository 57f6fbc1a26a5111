//! What a booking means that the supplier shows as cancelled before the gateway knew of it.

use super::*;
use host_domain::flight::supplier_api::FlightCancellationAmounts;
use host_domain::hotel::supplier_api::HotelCancellationAmounts;

/// The amounts that a supplier states of a cancellation.
#[derive(Debug, Clone, Copy)]
enum Stated {
    Nothing,
    Unreadable,
    /// Fee and refund in minor units.
    Amounts(i64, i64),
}

/// Creates a cancelled booking as a supplier reports it.
trait Canceled: SampleKind {
    fn canceled(stated: Stated) -> Self::SupplierBooking;
}

macro_rules! canceled_booking {
    ($kind:ty, $amounts:ident, $refund:expr) => {
        impl Canceled for $kind {
            fn canceled(stated: Stated) -> Self::SupplierBooking {
                let mut booking = Self::reported(Status::Canceled);
                match stated {
                    Stated::Nothing => {}
                    Stated::Unreadable => booking.has_unreadable_amounts = true,
                    Stated::Amounts(fee, refund) => {
                        booking.cancellation = Some($amounts {
                            fee: euros(fee),
                            refund: $refund(euros(refund)),
                            supplier_reference: None,
                        });
                    }
                }
                booking
            }
        }
    };
}

canceled_booking!(HotelBookingDetails, HotelCancellationAmounts, Some);
canceled_booking!(
    FlightBookingDetails,
    FlightCancellationAmounts,
    std::convert::identity
);

on_both_kinds![
    response_that_shows_a_canceled_booking_refuses_nothing,
    lookup_of_a_canceled_booking_fails_it_only_if_nothing_is_charged,
];

mod check {
    use super::*;

    const CASES: [(Stated, bool); 5] = [
        (Stated::Nothing, true),
        (Stated::Amounts(0, 100), true),
        (Stated::Amounts(40, 60), false),
        (Stated::Amounts(0, 0), false),
        (Stated::Unreadable, false),
    ];

    pub(super) fn response_that_shows_a_canceled_booking_refuses_nothing<K: Canceled>() {
        let booking = K::completing(sent(9_000));
        for (stated, _) in CASES {
            let response = Ok(K::canceled(stated));
            let shown = interpret(|context| book_response(&booking, response, context));
            let unresolved = ("book_unresolved", CallOutcome::Unknown);
            assert_eq!(named(&shown), unresolved, "{stated:?}");
            assert_eq!(shown.reference.as_deref(), Some("S1"));
        }
    }

    pub(super) fn lookup_of_a_canceled_booking_fails_it_only_if_nothing_is_charged<K: Canceled>() {
        let completing = K::completing(sent(9_000));
        let absence = Some(AbsenceRecheck {
            failed_at: Timestamp(NOW.0 - 600_000),
            due_at: Some(NOW),
            orphan: None,
        });
        let failed = K::sample(BookingState::Failed { absence });
        for (stated, is_free) in CASES {
            let found = || Ok(BookingLookup::Found(Box::new(K::canceled(stated))));
            let lookup = interpret(|context| book_lookup(&completing, found(), context));
            let recheck = interpret(|context| absence_recheck(&failed, found(), context));
            let expected = match is_free {
                true => [
                    ("book_refused", CallOutcome::Refused),
                    ("absence_rechecked", CallOutcome::Refused),
                ],
                false => [
                    ("book_unresolved", CallOutcome::Unknown),
                    ("orphan_found", CallOutcome::Unknown),
                ],
            };
            assert_eq!([named(&lookup), named(&recheck)], expected, "{stated:?}");
        }
    }
}
