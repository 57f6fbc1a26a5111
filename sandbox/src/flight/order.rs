//! Orders of both suppliers: placing and reading them.

use std::collections::HashMap;

use crate::{
    clock::SECOND_MS,
    flight::{
        fare::FareSelection,
        itinerary::Segment,
        problem::FlightError,
        scenario::Scenario,
        tables::{Order, OrderState},
    },
    ledger::{Entry, EntryKind},
    request::Call,
    state::{Record, SandboxRecords, ScheduledChange, ScheduledSubject},
};

/// Time after which a pending decision is made.
pub(super) const DECISION_MS: i64 = 2 * SECOND_MS;

impl Record for Order {
    const TABLE: &'static str = "flight_order";

    fn id(&self) -> &str {
        &self.id
    }

    fn table(records: &mut SandboxRecords) -> &mut HashMap<String, Self> {
        &mut records.flight.orders
    }

    fn index(&self, records: &mut SandboxRecords) {
        let key = (self.account.clone(), self.client_ref.clone());
        records.flight.by_client_ref.insert(key, self.id.clone());
        (records.flight.by_offer).insert(self.offer.clone(), self.id.clone());
        if let Some(at) = self.due {
            let of = ScheduledSubject::FlightOrder(self.id.clone());
            records.schedule(ScheduledChange { at, of });
        }
    }
}

impl Order {
    /// Returns a ledger entry about this order at the current time.
    pub(super) fn entry(
        &self,
        records: &SandboxRecords,
        kind: EntryKind,
        client_ref: &str,
        amount: i64,
    ) -> Entry {
        Entry {
            at: records.now(),
            kind,
            supplier: self.account.clone(),
            client_reference: client_ref.to_owned(),
            reference: self.id.clone(),
            amount,
            currency: self.choice.currency,
        }
    }
}

/// A change that the airline made after ticketing.
pub(super) struct Change {
    pub(super) id: String,
    pub(super) detected_at: i64,
    pub(super) removed: Segment,
    pub(super) added: Segment,
}

/// Returns the airline's changes of a ticketed order. They exist on one route only.
pub(super) fn changes(order: &Order) -> Result<Vec<Change>, FlightError> {
    let (Scenario::AirlineChange, Some(detected_at)) = (order.scenario(), order.ticketed_at) else {
        return Ok(Vec::new());
    };
    let fare = order.choice.fare()?;
    let changed = (fare.itineraries.first()).and_then(|itinerary| itinerary.segments.last());
    Ok(changed
        .map(|segment| Change {
            id: format!("{}-change-1", order.id),
            detected_at,
            removed: segment.clone(),
            added: segment.rescheduled(),
        })
        .into_iter()
        .collect())
}

/// Parameters of an order. The supplier's module has already validated them.
pub(super) struct PlaceOrder<'a> {
    pub(super) account: &'a str,
    pub(super) client_ref: &'a str,
    pub(super) offer: String,
    pub(super) choice: FareSelection,
    pub(super) total: i64,
}

pub(super) fn place(
    records: &mut SandboxRecords,
    order_request: PlaceOrder<'_>,
) -> Result<Order, FlightError> {
    let scenario = order_request.choice.scenario();
    if scenario == Scenario::BookRefused {
        return Err(FlightError::RejectedByAirline);
    }
    let is_pending = matches!(
        scenario,
        Scenario::BookPending | Scenario::BookPendingRefused
    );
    let order = Order {
        id: records.reference("FLT-"),
        account: order_request.account.to_owned(),
        client_ref: order_request.client_ref.to_owned(),
        offer: order_request.offer,
        choice: order_request.choice,
        state: OrderState::Pending,
        fare_total: order_request.total,
        bags: Vec::new(),
        locator: None,
        cancellation: None,
        cancelling: None,
        created_at: records.now(),
        ticketed_at: None,
        due: is_pending.then(|| records.now() + DECISION_MS),
    };
    if is_pending {
        records.save(order.clone());
        return Ok(order);
    }
    Ok(ticket(records, order))
}

pub(super) fn ticket(records: &mut SandboxRecords, mut order: Order) -> Order {
    order.state = OrderState::Ticketed;
    order.ticketed_at = Some(records.now());
    order.locator = Some(locator(records.number()));
    let entry = order.entry(
        records,
        EntryKind::Booking,
        &order.client_ref,
        order.fare_total,
    );
    records.record(entry);
    records.save(order.clone());
    order
}

/// Returns a record locator of six letters and digits without easily confused characters.
fn locator(number: i64) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    // An odd factor makes consecutive numbers look different and keeps all of them distinct.
    let mut rest = number.wrapping_mul(387_420_489).rem_euclid(1 << 30);
    let mut locator = String::new();
    for _ in 0..6 {
        let position = usize::try_from(rest % 32).unwrap_or_default();
        locator.push(char::from(ALPHABET.get(position).copied().unwrap_or(b'A')));
        rest /= 32;
    }
    locator
}

/// Returns the order that a call names, if it belongs to the caller's account.
pub(super) fn requested_order(records: &SandboxRecords, call: &Call) -> Result<Order, FlightError> {
    (records.flight.orders.get(&call.id))
        .filter(|order| order.account == call.account)
        .cloned()
        .ok_or(FlightError::NotFound)
}

pub(super) fn by_client_ref(
    records: &SandboxRecords,
    account: &str,
    client_ref: &str,
) -> Option<Order> {
    let key = (account.to_owned(), client_ref.to_owned());
    let id = records.flight.by_client_ref.get(&key)?;
    records.flight.orders.get(id).cloned()
}

/// Reads an order by the supplier's reference. Returns `None` if it never gets a response.
pub(super) async fn read(call: &Call) -> Result<Option<Order>, FlightError> {
    let order = call
        .transact(|records| requested_order(records, call))
        .await??;
    Ok(Some(order).filter(Order::is_readable))
}

/// Reads orders by the caller's reference. Returns `None` if they never get a response.
pub(super) async fn find(call: &Call, client_ref: &str) -> Result<Option<Vec<Order>>, FlightError> {
    let found = call
        .transact(|records| by_client_ref(records, call.account, client_ref))
        .await?;
    let is_readable = found.as_ref().is_none_or(Order::is_readable);
    Ok(is_readable.then(|| found.into_iter().collect()))
}
