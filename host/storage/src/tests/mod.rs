//! Tests of the storage layer. Most of them run once for SQLite and once for PostgreSQL.

mod attempt;
mod batch;
mod catalog;
mod customer;
mod database;
mod flight;
mod flight_list;
mod group;
mod hotel;
mod idempotency;
mod job;
mod mandate;
mod outage;
mod plan;
mod reference;
mod schema;
mod supplier_event;
mod watch;
mod webhook;
mod write;

use crate::{BookingHistoryEntry, Conflict, NewAttempt, Store, StoreOptions, UnitOfWork};
use database::TestDatabase;
use futures::future::join_all;
use host_domain::booking::{BookingState, PaymentCollector};
use host_domain::hotel::booking::{HotelBookedState, HotelBooking, HotelBookingDetails, Room};
use host_domain::hotel::types::{
    Board, CancellationPolicy, Contact, Guest, GuestType, HotelSummary, Location, Occupancy,
    Penalty, Stay,
};
use host_domain::id::{AttemptId, BookingId, GuestId, HotelId, InstrumentId, PaymentId, RoomId};
use host_domain::money::{Currency, Money};
use host_domain::owner::{Mode, Owner, Tenant};
use host_domain::payment::{Card, CardBrand, Funding, Instrument, Payment, Wallet};
use host_domain::supplier::SupplierId;
use host_domain::time::{Date, Timestamp};

/// Generates a test for each function on each of the two databases.
macro_rules! on_both_databases {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $name() {
                let database = $crate::tests::database::TestDatabase::sqlite().await;
                super::$name(&database).await;
                database.remove().await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $name() {
                let database = $crate::tests::database::TestDatabase::postgres().await;
                super::$name(&database).await;
                database.remove().await;
            })*
        }
    };
}
pub(crate) use on_both_databases;

const NOW: Timestamp = Timestamp(1_800_000_000_000);

fn tenant() -> Tenant {
    Tenant {
        organization: "demo".into(),
        mode: Mode::Test,
    }
}

fn owner() -> Owner {
    Owner {
        tenant: tenant(),
        user: Owner::ORGANIZATION_USER.into(),
    }
}

fn supplier() -> SupplierId {
    SupplierId::parse("SUPPLIER_A").unwrap()
}

fn euros(minor: i64) -> Money {
    Money::new(minor, Currency::parse("EUR").unwrap())
}

fn card() -> Card {
    Card {
        brand: CardBrand::Visa,
        last4: "4242".into(),
        funding: Funding::Credit,
        wallet: Some(Wallet::ApplePay),
        expires: Some("2029-10".into()),
    }
}

fn policy() -> CancellationPolicy {
    CancellationPolicy {
        refundable: true,
        free_until: Some(NOW),
        penalties: vec![Penalty {
            from: NOW,
            amount: euros(10_000),
        }],
        restrictions: vec![],
    }
}

fn room() -> Room {
    let guest = Guest {
        first_name: "Zoë \u{0} \"quoted\"".into(),
        last_name: "O'Brien".into(),
        guest_type: GuestType::Adult,
        is_lead: true,
        age: None,
    };
    Room {
        id: RoomId::from_bits(1),
        name: "Doppelzimmer – groß".into(),
        board: Board::RoomOnly,
        board_name: "Room only".into(),
        adults: 1,
        children: vec![3],
        total: euros(10_000),
        due_at_property: None,
        policy: Some(policy()),
        supplier_reference: None,
        hotel_confirmation_code: None,
        canceled_at: None,
        guests: vec![(GuestId::from_bits(1), guest)],
    }
}

fn payment() -> Payment {
    let instrument = Instrument {
        id: InstrumentId::from_bits(1),
        processor: SupplierId::parse("CARDS").unwrap(),
        token: "tok".into(),
        card: Some(card()),
        created_at: NOW,
    };
    let processor = instrument.processor.clone();
    let id = PaymentId::from_bits(1);
    Payment::new_authorization(id, euros(10_000), processor, &instrument, NOW)
}

/// Builds a complete booking. `number` determines its id and its creation time.
fn booking(number: u32) -> HotelBooking {
    let at = NOW.plus_ms(i64::from(number));
    HotelBooking {
        id: BookingId::from_bits(u128::from(number)),
        owner: owner(),
        version: 1,
        supplier: supplier(),
        reference_id: None,
        supplier_offer: "offer".into(),
        supplier_prebook: None,
        supplier_reference: None,
        use_payment_sdk: false,
        payment_collector: PaymentCollector::Gateway,
        offer_expires_at: NOW,
        state: BookingState::Created,
        payments: vec![payment()],
        failure: None,
        created_at: at,
        updated_at: at,
        confirmed_at: None,
        canceled_at: None,
        details: HotelBookingDetails {
            hotel_id: HotelId::from_bits(1),
            hotel: HotelSummary {
                supplier_hotel_id: "H1".into(),
                name: "Hotel".into(),
                address: "1 Road".into(),
                location: Some(Location {
                    latitude: 47.123_456_789_012_345,
                    longitude: -0.1,
                }),
                time_zone: Some("Europe/Zurich".into()),
            },
            stay: Stay {
                check_in: Date::new(2027, 1, 1).unwrap(),
                check_out: Date::new(2027, 1, 2).unwrap(),
                occupancies: vec![Occupancy {
                    adults: 1,
                    children: vec![3],
                }],
                guest_nationality: "DE".into(),
                guest_residence: None,
                currency: Currency::parse("EUR").unwrap(),
            },
            contact: Contact {
                first_name: "Ada".into(),
                last_name: "L".into(),
                email: "a@example.org".into(),
                phone: "+4912345678".into(),
            },
            rooms: vec![room()],
            total: euros(10_000),
            policy: Some(policy()),
            promotions: vec![],
            loyalty: None,
            hotel_confirmation_code: None,
            hotel_remarks: None,
            cancellations: vec![],
        },
    }
}

/// Returns the booking after one transition.
fn moved(booking: &HotelBooking, state: BookingState<HotelBookedState>) -> HotelBooking {
    let mut moved = booking.clone();
    moved.version += 1;
    moved.state = state;
    moved.updated_at = moved.updated_at.plus_ms(1);
    moved
}

fn inserting(booking: &HotelBooking) -> UnitOfWork {
    unit(|write| write.insert_booking(booking))
}

fn updating(booking: &HotelBooking) -> UnitOfWork {
    unit(|write| write.update_booking(booking, booking.version - 1))
}

/// Builds an entry of a booking's history. Its event and its request tell it from others.
fn history_entry(booking: &HotelBooking, sequence: i64) -> BookingHistoryEntry {
    BookingHistoryEntry {
        booking_id: booking.id.clone(),
        sequence,
        event: format!("made {sequence}"),
        from_status: None,
        to_status: booking.status().as_str().to_owned(),
        reason: None,
        request_id: Some(booking.id.to_string()),
        occurred_at: booking.updated_at,
    }
}

fn new_attempt(id: AttemptId, booking: &BookingId, client_reference: &str) -> NewAttempt {
    NewAttempt {
        id,
        booking_id: booking.clone(),
        step: "book".into(),
        target: supplier(),
        client_reference: client_reference.into(),
        plugin_digest: "sha256:plugin".into(),
        request_digest: "sha256:request".into(),
    }
}

/// Builds a unit of work with the time `NOW`.
fn unit(fill: impl FnOnce(&mut UnitOfWork) -> &mut UnitOfWork) -> UnitOfWork {
    unit_at(NOW, fill)
}

fn unit_at(now: Timestamp, fill: impl FnOnce(&mut UnitOfWork) -> &mut UnitOfWork) -> UnitOfWork {
    let mut write = UnitOfWork::new(now);
    fill(&mut write);
    write
}

/// Commits a unit of work with the time `NOW`.
async fn commit(store: &Store, fill: impl FnOnce(&mut UnitOfWork) -> &mut UnitOfWork) {
    store.commit(unit(fill)).await.unwrap();
}

/// Saves items, some of them twice, and checks that each keeps the id that it got first. `save` gets
/// the number of each item with a candidate, and returns the ids in the same order.
async fn first_ids_are_kept<I: PartialEq + std::fmt::Debug>(
    id: fn(u128) -> I,
    save: impl AsyncFn(Mode, Vec<(u32, u32)>) -> Vec<I>,
) {
    let ids = |numbers: &[u32]| -> Vec<I> { numbers.iter().map(|n| id((*n).into())).collect() };
    assert_eq!(save(Mode::Test, vec![]).await, []);
    let first = vec![(1, 1), (2, 2)];
    assert_eq!(save(Mode::Test, first).await, ids(&[1, 2]));
    let second = vec![(3, 13), (2, 12), (1, 11), (3, 14)];
    assert_eq!(save(Mode::Test, second).await, ids(&[13, 2, 1, 13]));
    let many = (0..200).map(|n| (n, n + 1000)).collect();
    let expected: Vec<u32> = (0..200)
        .map(|n| match n {
            1 | 2 => n,
            3 => 13,
            _ => n + 1000,
        })
        .collect();
    assert_eq!(save(Mode::Test, many).await, ids(&expected));
    // The other mode has items of its own.
    assert_eq!(save(Mode::Live, vec![(1, 77)]).await, ids(&[77]));
}

/// Lets 16 callers on two stores save the same 50 items at once, some in reverse order, and checks
/// that all receive the same ids. `save` gets the number of each item with a candidate.
async fn concurrent_saves_return_one_id<I: PartialEq>(
    db: &TestDatabase,
    save: impl AsyncFn(&Store, Vec<(u32, u32)>) -> Vec<I>,
) {
    let other = db.second_store().await;
    let callers = (0..16_u32).map(|caller| {
        let store = if caller % 2 == 0 { &db.store } else { &other };
        let mut items: Vec<_> = (0..50).map(|n| (n, caller * 100 + n)).collect();
        let is_reversed = caller % 3 == 0;
        if is_reversed {
            items.reverse();
        }
        let saving = save(store, items);
        async move {
            let mut ids = saving.await;
            if is_reversed {
                ids.reverse();
            }
            ids
        }
    });
    let mut results = join_all(callers).await;
    results.dedup();
    assert_eq!(results.len(), 1);
    other.close().await;
}

/// Commits a unit of work and returns the precondition that failed. Returns `None` if it was
/// committed.
async fn conflict(store: &Store, write: UnitOfWork) -> Option<Conflict> {
    match store.commit(write).await {
        Ok(()) => None,
        Err(error) => Some(error.conflict().unwrap()),
    }
}
