//! Tests of the storage layer. Most of them run once for SQLite and once for PostgreSQL.

mod account;
mod attempt;
mod audit;
mod batch;
mod booking;
mod catalog;
mod console;
mod console_booking;
mod console_watch;
mod customer;
mod database;
mod flight;
mod flight_list;
mod group;
mod idempotency;
mod job;
mod mandate;
mod member;
mod outage;
mod plan;
mod recording;
mod schema;
mod settlement;
mod sqlite;
mod supplier_event;
mod supplier_override;
mod watch;
mod webhook;
mod write;

use crate::booking::{BookingTable, ReadBooking, SearchColumns};
use crate::event::read_outbox;
use crate::statement::statement;
use crate::{
    BookingHistoryEntry, Conflict, NewAttempt, OutboxEvent, Store, StoreOptions, UnitOfWork,
};
use database::TestStore;
use futures::future::join_all;
use host_domain::booking::{Booking, BookingKind, BookingState, PaymentCollector};
use host_domain::hotel::booking::{HotelBooking, HotelBookingDetails};
use host_domain::hotel::types::{Contact, HotelSummary, Location, Occupancy, Stay};
use host_domain::id::{AttemptId, BookingId, HotelId, InstrumentId};
use host_domain::money::{Currency, Money};
use host_domain::owner::{Mode, Owner, Tenant};
use host_domain::page::PageRequest;
use host_domain::supplier::SupplierId;
use host_domain::time::{Date, Timestamp};

/// Generates a test for each function on each of the two databases.
macro_rules! on_both_databases {
    ($($name:ident),* $(,)?) => {
        test_support::on_both_databases! { $crate::tests::database::TestStore: $($name),* }
    };
}
pub(crate) use on_both_databases;

const NOW: Timestamp = Timestamp(1_800_000_000_000);

const LEASE_MS: i64 = 60_000;

const ALL: PageRequest = page(100, 0);

const fn page(limit: u32, offset: u64) -> PageRequest {
    PageRequest { limit, offset }
}

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

/// Returns owners that differ in the user, the mode or the organization.
fn other_owners() -> [Owner; 3] {
    let mut others = [owner(), owner(), owner()];
    others[0].user = "another".into();
    others[1].tenant.mode = Mode::Live;
    others[2].tenant.organization = "another".into();
    others
}

fn supplier() -> SupplierId {
    SupplierId::parse("SUPPLIER_A").unwrap()
}

fn other_supplier() -> SupplierId {
    SupplierId::parse("SUPPLIER_B").unwrap()
}

fn euros(minor: i64) -> Money {
    Money::new(minor, Currency::parse("EUR").unwrap())
}

/// Builds the ids of numbered items.
fn ids<I>(id: fn(u128) -> I, numbers: impl IntoIterator<Item = impl Into<u128>>) -> Vec<I> {
    let numbers = numbers.into_iter();
    numbers.map(|number| id(number.into())).collect()
}

/// Builds a booking of either kind. `number` determines its id and its creation time.
fn booking_of<K: BookingKind>(number: u32, details: K) -> Booking<K> {
    let at = NOW.plus_ms(i64::from(number));
    Booking {
        id: BookingId::from_bits(u128::from(number)),
        owner: owner(),
        version: 1,
        supplier: supplier(),
        reference_id: None,
        supplier_offer: format!("offer {number}"),
        supplier_prebook: None,
        supplier_reference: None,
        use_payment_sdk: false,
        payment_collector: PaymentCollector::Gateway,
        offer_expires_at: NOW,
        state: BookingState::Created,
        payments: vec![],
        failure: None,
        created_at: at,
        updated_at: at,
        confirmed_at: None,
        canceled_at: None,
        details,
    }
}

fn booking(number: u32) -> HotelBooking {
    let details = HotelBookingDetails {
        hotel_id: HotelId::from_bits(1),
        hotel: HotelSummary {
            supplier_hotel_id: "H1".into(),
            name: "Hotel".into(),
            address: "1 Road".into(),
            location: Some(LOCATION),
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
            first_name: "Zoë \u{0} \"quoted\"".into(),
            last_name: "O'Brien".into(),
            email: "a@example.org".into(),
            phone: "+4912345678".into(),
        },
        rooms: vec![],
        total: euros(10_000),
        policy: None,
        promotions: vec![],
        loyalty: None,
        hotel_confirmation_code: None,
        hotel_remarks: None,
        cancellations: vec![],
    };
    booking_of(number, details)
}

/// A location whose coordinates need every digit of a double.
const LOCATION: Location = Location {
    latitude: 47.123_456_789_012_345,
    longitude: -0.1,
};

/// Returns the booking after one transition.
fn moved<K: BookingKind>(booking: &Booking<K>, state: BookingState<K::BookedState>) -> Booking<K> {
    Booking {
        version: booking.version + 1,
        state,
        updated_at: booking.updated_at.plus_ms(1),
        ..booking.clone()
    }
}

/// A booking that was read at a version, and all of whose columns have changed since.
fn read_at(version: i64) -> ReadBooking {
    ReadBooking {
        version,
        columns: SearchColumns(Vec::new()),
    }
}

fn inserting<K: BookingTable>(booking: &Booking<K>) -> UnitOfWork {
    unit(|write| write.insert_booking(booking))
}

fn updating<K: BookingTable>(booking: &Booking<K>) -> UnitOfWork {
    unit(|write| write.update_booking(booking, &read_at(booking.version - 1)))
}

async fn stored_booking<K: BookingTable>(store: &Store, id: &BookingId) -> Option<Booking<K>> {
    store.booking_unscoped(id).await.unwrap()
}

async fn stored(store: &Store, id: &BookingId) -> Option<HotelBooking> {
    stored_booking(store, id).await
}

/// Builds an entry of a booking's history. Its event and its request distinguish it from others.
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

/// Returns a booking's history, oldest first.
async fn history(store: &Store, id: &BookingId) -> Vec<BookingHistoryEntry> {
    let select = statement!(
        "SELECT * FROM booking_history WHERE booking_id = $1 ORDER BY sequence",
        id.as_str(),
    );
    let entries = store.read_all(select, |row| {
        Ok(BookingHistoryEntry {
            booking_id: row.parsed("booking_id", BookingId::parse)?,
            sequence: row.get("sequence")?,
            event: row.get("event")?,
            from_status: row.get("from_status")?,
            to_status: row.get("to_status")?,
            reason: row.get("reason")?,
            request_id: row.get("request_id")?,
            occurred_at: row.timestamp("occurred_at")?,
        })
    });
    entries.await.unwrap()
}

/// Returns the events of a booking, oldest first.
async fn outbox_events(store: &Store, id: &BookingId) -> Vec<OutboxEvent> {
    let select = statement!(
        "SELECT * FROM outbox WHERE booking_id = $1 ORDER BY created_at, id",
        id.as_str(),
    );
    store.read_all(select, read_outbox).await.unwrap()
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

/// Commits a unit of work and returns the precondition that failed. Returns `None` if it was
/// committed.
async fn conflict(store: &Store, write: UnitOfWork) -> Option<Conflict> {
    match store.commit(write).await {
        Ok(()) => None,
        Err(error) => Some(error.conflict().unwrap()),
    }
}

/// Runs `work` several times at once, alternately on two stores. Passes the number of the run.
async fn on_two_stores<T>(
    db: &TestStore,
    runs: usize,
    work: impl AsyncFn(&Store, usize) -> T,
) -> Vec<T> {
    let other = db.second_store().await;
    let results = (0..runs).map(|number| {
        let store = if number % 2 == 0 { &db.store } else { &other };
        work(store, number)
    });
    let results = join_all(results).await;
    other.close().await;
    results
}

/// Commits units of work concurrently on two stores. Checks that one is stored and that the others
/// fail with `expected`. Returns the number of the stored one.
async fn one_is_stored(db: &TestStore, writes: Vec<UnitOfWork>, expected: Conflict) -> usize {
    let results = on_two_stores(db, writes.len(), async |store: &Store, number| {
        conflict(store, writes[number].clone()).await
    })
    .await;
    let is_stored = |number: &usize| results[*number].is_none();
    let stored: Vec<usize> = (0..results.len()).filter(is_stored).collect();
    assert_eq!(stored.len(), 1, "{results:?}");
    let mut failed = results.iter().flatten();
    assert!(failed.all(|conflict| *conflict == expected), "{results:?}");
    stored[0]
}
