//! The state of the market: records in memory, every change handed to the
//! journal, and the rule that no answer leaves before what it shows is on disk.
//! Knows the kinds of records there are, not what suppliers do with them.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};
use tokio_util::sync::CancellationToken;

use crate::{
    card,
    clock::Clock,
    flight, hotel,
    journal::{Broken, Change, Journal, Stored},
    ledger,
};

/// Something that is kept by id.
pub(crate) trait Record: Serialize + DeserializeOwned + Clone {
    const SHELF: &'static str;
    fn id(&self) -> &str;
    fn shelf(world: &mut World) -> &mut HashMap<String, Self>;
    /// Called with every new version, and at start: look-ups and due times.
    fn index(&self, _world: &mut World) {}
}

/// What something waits for, ordered by the instant at which it happens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Due {
    pub(crate) at: i64,
    pub(crate) of: DueOf,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DueOf {
    HotelBooking(String),
    FlightOrder(String),
}

/// Everything that the sandbox knows.
#[derive(Default)]
pub(crate) struct World {
    now: i64,
    /// Number of the last group handed to the journal.
    groups: u64,
    changes: Vec<Change>,
    due: BTreeSet<Due>,
    pub(crate) ledger: Vec<ledger::Entry>,
    pub(crate) hotel: hotel::Shelves,
    pub(crate) flight: flight::Shelves,
    pub(crate) card: card::Shelves,
    /// Counters and switches by name.
    settings: HashMap<String, i64>,
}

const SETTING_SHELF: &str = "setting";
/// The number behind the last reference given out.
const COUNTER: &str = "counter";

impl World {
    /// Puts the stored records back in place.
    pub(crate) fn restore(stored: Vec<Stored>) -> Result<Self, serde_json::Error> {
        let mut world = Self::default();
        for record in &stored {
            match record.shelf.as_str() {
                ledger::SHELF => world.ledger.push(serde_json::from_str(&record.body)?),
                SETTING_SHELF => {
                    let value = serde_json::from_str(&record.body)?;
                    world.settings.insert(record.id.clone(), value);
                }
                hotel::Prebook::SHELF => world.put_back::<hotel::Prebook>(&record.body)?,
                hotel::Booking::SHELF => world.put_back::<hotel::Booking>(&record.body)?,
                flight::Prebook::SHELF => world.put_back::<flight::Prebook>(&record.body)?,
                flight::Order::SHELF => world.put_back::<flight::Order>(&record.body)?,
                card::Payment::SHELF => world.put_back::<card::Payment>(&record.body)?,
                card::Refund::SHELF => world.put_back::<card::Refund>(&record.body)?,
                other => tracing::warn!(shelf = other, "a record of an unknown kind is ignored"),
            }
        }
        Ok(world)
    }

    fn put_back<R: Record>(&mut self, body: &str) -> Result<(), serde_json::Error> {
        let record: R = serde_json::from_str(body)?;
        record.index(self);
        R::shelf(self).insert(record.id().to_owned(), record);
        Ok(())
    }

    /// The instant of this turn, milliseconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        self.now
    }

    /// Keeps a new version of a record.
    pub(crate) fn save<R: Record>(&mut self, record: R) {
        self.remember(R::SHELF, record.id().to_owned(), &record);
        record.index(self);
        R::shelf(self).insert(record.id().to_owned(), record);
    }

    pub(crate) fn remember(&mut self, shelf: &'static str, id: String, body: &impl Serialize) {
        match serde_json::to_string(body) {
            Ok(body) => self.changes.push(Change { shelf, id, body }),
            Err(error) => tracing::error!(%error, shelf, "a record cannot be written as JSON"),
        }
    }

    /// A reference that was never given out before.
    pub(crate) fn reference(&mut self, prefix: &str) -> String {
        let number = self.number();
        format!("{prefix}{number}")
    }

    /// A number that was never given out before.
    pub(crate) fn number(&mut self) -> i64 {
        let number = self.setting(COUNTER).unwrap_or(100_000) + 1;
        self.set(COUNTER, number);
        number
    }

    pub(crate) fn setting(&self, name: &str) -> Option<i64> {
        self.settings.get(name).copied()
    }

    pub(crate) fn set(&mut self, name: &str, value: i64) {
        self.remember(SETTING_SHELF, name.to_owned(), &value);
        self.settings.insert(name.to_owned(), value);
    }

    pub(crate) fn schedule(&mut self, due: Due) {
        self.due.insert(due);
    }

    /// Lets everything happen that is due, each at its own instant.
    fn settle(&mut self, now: i64) {
        while let Some(due) = self.due.first().filter(|due| due.at <= now).cloned() {
            self.due.remove(&due);
            self.now = due.at;
            match &due.of {
                DueOf::HotelBooking(id) => hotel::fall_due(self, id),
                DueOf::FlightOrder(id) => flight::fall_due(self, id),
            }
        }
        self.now = now;
    }
}

/// What every handler works with.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

struct Shared {
    world: Mutex<World>,
    journal: Journal,
    clock: Clock,
    base_url: String,
    stopping: CancellationToken,
}

impl App {
    pub(crate) fn new(
        world: World,
        journal: Journal,
        clock: Clock,
        base_url: String,
        stopping: CancellationToken,
    ) -> Self {
        Self(Arc::new(Shared {
            world: Mutex::new(world),
            journal,
            clock,
            base_url,
            stopping,
        }))
    }

    /// `http://address:port`, where this sandbox itself is reached.
    pub(crate) fn base_url(&self) -> &str {
        &self.0.base_url
    }

    /// Acts on the state, alone, and returns once everything seen or changed is on disk.
    pub(crate) async fn turn<T>(&self, act: impl FnOnce(&mut World) -> T) -> Result<T, Broken> {
        let (outcome, group) = self.act(act);
        self.0.journal.wait(group).await?;
        Ok(outcome)
    }

    fn act<T>(&self, act: impl FnOnce(&mut World) -> T) -> (T, u64) {
        let mut world = self.0.world.lock().unwrap_or_else(PoisonError::into_inner);
        world.settle((self.0.clock)());
        let outcome = act(&mut world);
        if !world.changes.is_empty() {
            world.groups += 1;
            let changes = std::mem::take(&mut world.changes);
            self.0.journal.append(world.groups, changes);
        }
        (outcome, world.groups)
    }

    /// Waits, unless the sandbox stops first.
    #[expect(
        clippy::disallowed_methods,
        reason = "slow answers are what some scenarios are for"
    )]
    pub(crate) async fn pace(&self, wait: Duration) {
        if !wait.is_zero() {
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.0.stopping.cancelled() => {}
            }
        }
    }
}
