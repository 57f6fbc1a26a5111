//! Users of a watch scenario: the owner creates the watch, confirms the purchase and cancels.

use super::database::WriteOperation;
use super::{START, Simulation};
use anyhow::Result;
use host_application::id_generator::IdGenerator;
use host_application::watch::service::mandate_for;
use host_domain::id::{MandateId, WatchId};
use host_domain::mandate::{Mandate, MandateEvent, MandateTerms};
use host_domain::time::Timestamp;
use host_domain::watch::{Trigger, Watch, WatchTransitionEvent};

const MINUTE_MS: i64 = 60_000;
/// Maximum number of retries after conflicting writes.
const CONFLICT_RETRIES_MAX: u32 = 8;

/// A user's request for the watch with the given number.
#[derive(Debug, Clone, Copy)]
pub(super) enum UserAction {
    Create(usize),
    Confirm(usize),
    Cancel(usize),
    Revoke(usize),
    DeleteInstrument(usize),
}

impl Simulation<'_> {
    /// Schedules the requests of all users.
    pub(super) fn schedule_actors(&mut self) {
        let scenario = self.scenario;
        for (number, planned) in scenario.watches.iter().enumerate() {
            let end = scenario.queries[planned.query].expires_at();
            let created_at = self.random_time(START, end);
            self.schedule_action(created_at, UserAction::Create(number));
            let buys = planned.auto_book.is_some();
            if buys && self.random.percent(15) {
                // The confirmation comes at the last moment.
                let at = end.plus_ms(-self.random.between(1, 8_000));
                self.schedule_action(at.max(created_at), UserAction::Confirm(number));
            }
            for (action, percent) in [
                (UserAction::Confirm(number), if buys { 75 } else { 5 }),
                (UserAction::Confirm(number), 20),
                (UserAction::Cancel(number), 15),
                (UserAction::Cancel(number), 10),
                (UserAction::Revoke(number), 20),
                (UserAction::DeleteInstrument(number), 20),
            ] {
                if self.random.percent(percent) {
                    let at = self.random_time(created_at, end.plus_ms(60 * MINUTE_MS));
                    self.schedule_action(at, action);
                }
            }
        }
    }

    /// Returns a random time, often near the beginning and sometimes just before the end.
    fn random_time(&self, from: Timestamp, to: Timestamp) -> Timestamp {
        let span_ms = to.since(from).max(1);
        let soon_ms = span_ms.min(10 * MINUTE_MS);
        from.plus_ms(match self.random.between(0, 9) {
            0..=5 => self.random.between(1, soon_ms),
            6 => span_ms - self.random.between(0, soon_ms),
            _ => self.random.between(1, span_ms),
        })
    }

    /// Schedules a request with which the user cancels the watch or withdraws the consent while the
    /// purchase is in progress.
    pub(super) fn cancel_or_revoke(&mut self, watch: &WatchId) {
        let mut numbers = 0..self.scenario.watches.len();
        let number = numbers.find(|number| Self::id_of(*number) == *watch);
        let number = number.unwrap();
        let (revoke, delete) = (
            UserAction::Revoke(number),
            UserAction::DeleteInstrument(number),
        );
        let actions = [revoke, revoke, UserAction::Cancel(number), delete];
        let action = self.random.one_of(&actions);
        let after_ms = self.random.between(1, self.random.one_of(&[2_000, 60_000]));
        self.queue(after_ms, move |simulation| simulation.perform(action, 0));
    }

    fn schedule_action(&mut self, at: Timestamp, action: UserAction) {
        self.queue(at.since(self.now), move |simulation| {
            simulation.perform(action, 0)
        });
    }

    /// Reads the current rows and stores the resulting changes a moment later.
    fn perform(&mut self, action: UserAction, retries: u32) -> Result<()> {
        let operations = match action {
            UserAction::Create(number) => self.create(number),
            UserAction::Confirm(number) => self.confirm(number),
            UserAction::Cancel(number) => self.cancel(number),
            UserAction::Revoke(number) => self.revoke(number),
            UserAction::DeleteInstrument(number) => {
                if let Some(auto_book) = &self.scenario.watches[number].auto_book {
                    self.note(|| format!("the instrument of watch {number} is deleted"));
                    let id = auto_book.payment_instrument_id.clone();
                    self.rows.deleted_instruments.insert(id);
                }
                None
            }
        };
        if let Some(operations) = operations {
            let after_ms = self.random.between(1, self.random.one_of(&[20, 5_000]));
            self.queue(after_ms, move |simulation| {
                simulation.store_action(operations, action, retries)
            });
        }
        Ok(())
    }

    fn store_action(
        &mut self,
        operations: Vec<WriteOperation>,
        action: UserAction,
        retries: u32,
    ) -> Result<()> {
        self.note(|| format!("user: {action:?}"));
        match self.commit(operations)? {
            Err(_) if retries < CONFLICT_RETRIES_MAX => self.perform(action, retries + 1)?,
            stored => {
                if let (Ok(()), UserAction::Revoke(number) | UserAction::Cancel(number)) =
                    (stored, action)
                {
                    self.contract.record_revocation(&Self::id_of(number));
                }
            }
        }
        Ok(())
    }

    fn id_of(number: usize) -> WatchId {
        WatchId::from_bits(u128::try_from(number).unwrap())
    }

    fn watch_of(&self, number: usize) -> Option<&Watch> {
        let found = self.rows.watches.get(&Self::id_of(number));
        found.map(|(_, watch)| watch)
    }

    fn create(&self, number: usize) -> Option<Vec<WriteOperation>> {
        let planned = &self.scenario.watches[number];
        let auto_book = planned.auto_book.clone();
        let query = self.scenario.queries[planned.query].clone();
        let mut ids = auto_book.iter().map(|auto| &auto.payment_instrument_id);
        if ids.any(|id| self.rows.deleted_instruments.contains(id)) {
            return None;
        }
        let trigger = Trigger::BelowTotal {
            amount: planned.cap,
        };
        let (id, owner) = (Self::id_of(number), planned.owner.clone());
        let watch = Watch::new(id, owner, query, trigger, auto_book, self.now);
        Some(vec![WriteOperation::InsertWatch(watch)])
    }

    /// Mirrors `WatchService::confirm_purchase`.
    fn confirm(&self, number: usize) -> Option<Vec<WriteOperation>> {
        let watch = self.watch_of(number)?.clone();
        if watch.is_armed() && watch.status().is_open() {
            return None;
        }
        let new = mandate_for(&watch).ok()?;
        if self.rows.deleted_instruments.contains(&new.instrument) {
            return None;
        }
        let terms = MandateTerms {
            id: MandateId::from_bits(self.random.generate()),
            owner: watch.owner.clone(),
            amount: new.amount,
            instrument: new.instrument,
            scope: new.scope,
            created_at: self.now,
            // A watch always limits its mandate.
            expires_at: new.expires_at?,
        };
        let armed = WatchTransitionEvent::Armed {
            mandate: terms.id.clone(),
        };
        let read_version = watch.version;
        let transition = watch.apply(armed, self.now).ok()??;
        Some(vec![
            WriteOperation::InsertMandate(Mandate::new(terms, String::new())),
            WriteOperation::UpdateWatch(transition, read_version),
        ])
    }

    /// Mirrors `WatchService::cancel`.
    fn cancel(&self, number: usize) -> Option<Vec<WriteOperation>> {
        let watch = self.watch_of(number)?.clone();
        let (read_version, mandate) = (watch.version, watch.mandate_id.clone());
        let canceled = watch.apply(WatchTransitionEvent::Canceled, self.now);
        let transition = canceled.ok()??;
        let mut operations = vec![WriteOperation::UpdateWatch(transition, read_version)];
        if let Some(id) = mandate {
            operations.extend(self.revocation(&id).unwrap_or_default());
        }
        Some(operations)
    }

    /// Mirrors `MandateService::revoke`.
    fn revoke(&self, number: usize) -> Option<Vec<WriteOperation>> {
        self.revocation(self.watch_of(number)?.mandate_id.as_ref()?)
    }

    /// Returns the operations that revoke a mandate: none if it is already revoked. Returns `None`
    /// if it cannot be revoked.
    fn revocation(&self, id: &MandateId) -> Option<Vec<WriteOperation>> {
        let mandate = self.rows.mandates[id].clone();
        let read_version = mandate.version;
        let revoked = mandate.apply(MandateEvent::Revoked, self.now).ok()?;
        let operations =
            revoked.map(|revoked| WriteOperation::UpdateMandate(revoked, read_version));
        Some(operations.into_iter().collect())
    }
}
