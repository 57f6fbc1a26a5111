//! Helpers that the tests of all interpretations share.

use super::{InterpretContext, ScheduleContext, SupplierGuarantees};
use crate::booking::aggregate::BookingAggregate;
use crate::id_generator::IdGenerator;
use host_domain::booking::{Booking, BookingState, PaymentCollector};
use host_domain::flight::booking::{FlightBookedState, FlightBooking, FlightBookingDetails};
use host_domain::flight::passenger::{PassengerContact, Travellers};
use host_domain::flight::{FareConditions, supplier_api as flight_api};
use host_domain::hotel::booking::{
    CancelableState, HotelBookedState, HotelBooking, HotelBookingDetails,
};
use host_domain::hotel::supplier_api as hotel_api;
use host_domain::hotel::types::{Contact, HotelSummary, Occupancy, Stay};
use host_domain::id::{BookingId, CancellationId, HotelId};
use host_domain::money::{Currency, Money};
use host_domain::owner::{Mode, Owner, Tenant};
use host_domain::remote_call::{BackoffSchedule, RemoteCall};
use host_domain::supplier::{
    ChangeError, Refusal, RefusalReason, SupplierBookingStatus, SupplierId,
};
use host_domain::time::{Date, Timestamp};

pub(super) const NOW: Timestamp = Timestamp(10_000);

pub(super) fn euros(minor: i64) -> Money {
    Money::new(minor, Currency::parse("EUR").unwrap())
}

pub(super) fn sent(since: i64) -> RemoteCall {
    RemoteCall::pending(Timestamp(since)).mark_sent(Timestamp(since), Timestamp(since + 5000))
}

/// A call that was sent and ended without a response.
pub(super) fn lost(since: i64, at: i64) -> RemoteCall {
    sent(since).mark_unresolved(Timestamp(at), Timestamp(at + 5000))
}

/// A call that was resent as the same call.
pub(super) fn repeated(first: i64, again: i64) -> RemoteCall {
    let call = sent(first).schedule_resend(Timestamp(again));
    call.mark_sent(Timestamp(again), Timestamp(again + 5000))
}

pub(super) fn pending(since: i64) -> RemoteCall {
    sent(since).mark_accepted(Timestamp(since), Timestamp(since + 5000))
}

pub(super) fn refusal(reason: RefusalReason) -> Refusal {
    Refusal {
        reason,
        supplier_code: None,
        message: "no".into(),
    }
}

struct SameId;

impl IdGenerator for SameId {
    fn generate(&self) -> u128 {
        1
    }
}

/// Calls `with` with the schedules at [`NOW`].
pub(super) fn scheduled<T>(with: impl FnOnce(ScheduleContext<'_>) -> T) -> T {
    with(ScheduleContext {
        now: NOW,
        requested_at: NOW,
        reconcile: &BackoffSchedule::new(vec![5, 15]),
        capture_retry: &BackoffSchedule::new(vec![30]),
    })
}

pub(super) fn interpret<T>(with: impl FnOnce(&InterpretContext<'_>) -> T) -> T {
    interpret_with(consistent(None), with)
}

pub(super) fn interpret_with<T>(
    guarantees: SupplierGuarantees,
    with: impl FnOnce(&InterpretContext<'_>) -> T,
) -> T {
    scheduled(|schedules| {
        with(&InterpretContext {
            schedules,
            guarantees,
            ids: &SameId,
        })
    })
}

pub(super) fn refused(reason: RefusalReason) -> ChangeError {
    ChangeError::Refused(refusal(reason))
}

pub(super) fn unknown() -> ChangeError {
    ChangeError::Unknown("cut".into())
}

/// Errors after which nothing can have arrived.
pub(super) fn unsent() -> [ChangeError; 3] {
    [
        ChangeError::NotSent("refused".into()),
        ChangeError::RateLimited {
            retry_after_s: None,
        },
        ChangeError::Overloaded,
    ]
}

/// Guarantees of a supplier whose reads are consistent after this delay, or never.
pub(super) fn consistent(after_ms: Option<u32>) -> SupplierGuarantees {
    SupplierGuarantees {
        reads_consistent_after_ms: after_ms,
        supports_idempotent_retry: false,
    }
}

/// Guarantees of a supplier that returns the first result for a resent reference.
pub(super) const REPEATABLE: SupplierGuarantees = SupplierGuarantees {
    reads_consistent_after_ms: None,
    supports_idempotent_retry: true,
};

fn booking<K: BookingAggregate>(
    supplier_reference: Option<String>,
    state: BookingState<K::BookedState>,
    details: K,
) -> Booking<K> {
    Booking {
        id: BookingId::from_bits(1),
        owner: Owner {
            tenant: Tenant {
                organization: "demo".into(),
                mode: Mode::Test,
            },
            user: "org".into(),
        },
        version: 1,
        supplier: SupplierId::parse("SANDBOX").unwrap(),
        reference_id: None,
        supplier_offer: "o".into(),
        supplier_prebook: Some("p".into()),
        supplier_reference,
        use_payment_sdk: false,
        payment_collector: PaymentCollector::Gateway,
        offer_expires_at: Timestamp(1_000_000),
        state,
        payments: vec![],
        failure: None,
        created_at: Timestamp(0),
        updated_at: Timestamp(0),
        confirmed_at: None,
        canceled_at: None,
        details,
    }
}

pub(super) trait SampleKind: BookingAggregate {
    fn completing(book: RemoteCall) -> Booking<Self> {
        Self::sample(BookingState::CompleteInProgress { book })
    }
    fn canceling(cancel: RemoteCall) -> Booking<Self>;
    fn confirmed(refresh: Option<RemoteCall>) -> Booking<Self>;
    fn sample(state: BookingState<Self::BookedState>) -> Booking<Self>;
    fn reported(status: SupplierBookingStatus) -> Self::SupplierBooking;
}

impl SampleKind for HotelBookingDetails {
    fn canceling(cancel: RemoteCall) -> HotelBooking {
        Self::sample(BookingState::Booked(HotelBookedState::CancelInProgress {
            previous: CancelableState::Confirmed,
            cancellation: CancellationId::from_bits(1),
            cancel,
        }))
    }

    fn confirmed(refresh: Option<RemoteCall>) -> HotelBooking {
        Self::sample(BookingState::Booked(HotelBookedState::Confirmed {
            refresh,
        }))
    }

    fn sample(state: BookingState<HotelBookedState>) -> HotelBooking {
        let date = |day| Date::new(2027, 1, day).unwrap();
        let details = HotelBookingDetails {
            hotel_id: HotelId::from_bits(1),
            hotel: HotelSummary {
                supplier_hotel_id: "OK".into(),
                name: "H".into(),
                address: "A".into(),
                location: None,
                time_zone: None,
            },
            stay: Stay {
                check_in: date(1),
                check_out: date(2),
                occupancies: vec![Occupancy {
                    adults: 1,
                    children: vec![],
                }],
                guest_nationality: "DE".into(),
                guest_residence: None,
                currency: Currency::parse("EUR").unwrap(),
            },
            contact: Contact {
                first_name: "A".into(),
                last_name: "L".into(),
                email: "a@example.org".into(),
                phone: "+491".into(),
            },
            rooms: vec![],
            total: euros(100),
            policy: None,
            promotions: vec![],
            loyalty: None,
            hotel_confirmation_code: None,
            hotel_remarks: None,
            cancellations: vec![],
        };
        booking(None, state, details)
    }

    fn reported(status: SupplierBookingStatus) -> hotel_api::HotelSupplierBooking {
        hotel_api::HotelSupplierBooking {
            status,
            supplier_reference: "S1".into(),
            client_reference: None,
            total: euros(100),
            hotel_confirmation_code: None,
            remarks: None,
            rooms: vec![],
            policy: None,
            cancellation: None,
        }
    }
}

impl SampleKind for FlightBookingDetails {
    fn canceling(cancel: RemoteCall) -> FlightBooking {
        Self::sample(BookingState::Booked(FlightBookedState::CancelInProgress {
            cancel,
        }))
    }

    fn confirmed(refresh: Option<RemoteCall>) -> FlightBooking {
        Self::sample(BookingState::Booked(FlightBookedState::Confirmed {
            refresh,
        }))
    }

    fn sample(state: BookingState<FlightBookedState>) -> FlightBooking {
        let details = FlightBookingDetails {
            exclusive_key: None,
            airline_pnr: None,
            contact: PassengerContact {
                email: "a@example.org".into(),
                phone: "+4912345678".into(),
            },
            travellers: Travellers {
                adults: 1,
                children: vec![],
                infants: 0,
            },
            passengers: vec![],
            sealed_passenger_data: None,
            offered_total: euros(100),
            ticket_total: Some(euros(100)),
            fare: None,
            fare_tax: None,
            fare_conditions: FareConditions::default(),
            journeys: vec![],
            services: vec![],
            purchases: vec![],
            changes: vec![],
            id_sequence: 0,
            cancellation_count: 1,
            cancellation: None,
        };
        booking(Some("S1".into()), state, details)
    }

    fn reported(status: SupplierBookingStatus) -> flight_api::FlightSupplierBooking {
        flight_api::FlightSupplierBooking {
            status,
            supplier_reference: "S1".into(),
            client_reference: None,
            airline_pnr: None,
            total: euros(100),
            fare: None,
            fare_tax: None,
            journeys: vec![],
            services: vec![],
            changes: vec![],
            cancellation: None,
        }
    }
}
