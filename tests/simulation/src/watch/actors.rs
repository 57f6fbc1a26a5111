//! Users of a watch scenario: the owner creates the watch, confirms the purchase and cancels.

use super::database::Op;
use super::{BIRTH, Life};
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
pub(super) enum Wish {
    Create(usize),
    Confirm(usize),
    Cancel(usize),
    Revoke(usize),
    DeleteInstrument(usize),
}

impl Life<'_> {
    /// Plans the requests of all users.
    pub(super) fn plan_people(&mut self) {
        let setting = self.setting;
        for (number, wanted) in setting.watches.iter().enumerate() {
            let end = setting.questions[wanted.question].expires_at();
            let made_at = self.sometime(BIRTH, end);
            self.wishes(made_at, Wish::Create(number));
            let buys = wanted.auto_book.is_some();
            if buys && self.random.percent(15) {
                // The confirmation comes at the last moment.
                let at = end.plus_ms(-self.random.between(1, 8_000));
                self.wishes(at.max(made_at), Wish::Confirm(number));
            }
            for (wish, percent) in [
                (Wish::Confirm(number), if buys { 75 } else { 5 }),
                (Wish::Confirm(number), 20),
                (Wish::Cancel(number), 15),
                (Wish::Cancel(number), 10),
                (Wish::Revoke(number), 20),
                (Wish::DeleteInstrument(number), 20),
            ] {
                if self.random.percent(percent) {
                    let at = self.sometime(made_at, end.plus_ms(60 * MINUTE_MS));
                    self.wishes(at, wish);
                }
            }
        }
    }

    /// Returns a random time, often near the beginning and sometimes just before the end.
    fn sometime(&self, from: Timestamp, to: Timestamp) -> Timestamp {
        let span_ms = to.since(from).max(1);
        let soon_ms = span_ms.min(10 * MINUTE_MS);
        from.plus_ms(match self.random.between(0, 9) {
            0..=5 => self.random.between(1, soon_ms),
            6 => span_ms - self.random.between(0, soon_ms),
            _ => self.random.between(1, span_ms),
        })
    }

    /// Adds a request by the user while the purchase is in progress.
    pub(super) fn thinks_again(&mut self, watch: &WatchId) {
        let mut numbers = 0..self.setting.watches.len();
        let number = numbers.find(|number| Self::id_of(*number) == *watch);
        let number = number.unwrap();
        let (revoke, delete) = (Wish::Revoke(number), Wish::DeleteInstrument(number));
        let wishes = [revoke, revoke, Wish::Cancel(number), delete];
        let wish = self.random.one_of(&wishes);
        let after_ms = self.random.between(1, self.random.one_of(&[2_000, 60_000]));
        self.queue(after_ms, move |life| life.wish(wish, 0));
    }

    fn wishes(&mut self, at: Timestamp, wish: Wish) {
        self.queue(at.since(self.now), move |life| life.wish(wish, 0));
    }

    /// Reads the current rows and stores the resulting changes a moment later.
    fn wish(&mut self, wish: Wish, tries: u32) -> Result<()> {
        let ops = match wish {
            Wish::Create(number) => self.create(number),
            Wish::Confirm(number) => self.confirm(number),
            Wish::Cancel(number) => self.cancel(number),
            Wish::Revoke(number) => self.revoke(number),
            Wish::DeleteInstrument(number) => {
                if let Some(auto_book) = &self.setting.watches[number].auto_book {
                    self.note(|| format!("the instrument of watch {number} is deleted"));
                    let id = auto_book.payment_instrument_id.clone();
                    self.rows.deleted.insert(id);
                }
                None
            }
        };
        if let Some(ops) = ops {
            let after_ms = self.random.between(1, self.random.one_of(&[20, 5_000]));
            self.queue(after_ms, move |life| life.store_wish(ops, wish, tries));
        }
        Ok(())
    }

    fn store_wish(&mut self, ops: Vec<Op>, wish: Wish, tries: u32) -> Result<()> {
        self.note(|| format!("user: {wish:?}"));
        match self.commit(ops)? {
            Err(_) if tries < CONFLICT_RETRIES_MAX => self.wish(wish, tries + 1)?,
            stored => {
                if let (Ok(()), Wish::Revoke(number) | Wish::Cancel(number)) = (stored, wish) {
                    self.model.revoked(&Self::id_of(number));
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

    fn create(&self, number: usize) -> Option<Vec<Op>> {
        let wanted = &self.setting.watches[number];
        let auto_book = wanted.auto_book.clone();
        let question = self.setting.questions[wanted.question].clone();
        let mut ids = auto_book.iter().map(|auto| &auto.payment_instrument_id);
        if ids.any(|id| self.rows.deleted.contains(id)) {
            return None;
        }
        let trigger = Trigger::BelowTotal { amount: wanted.cap };
        let (id, owner) = (Self::id_of(number), wanted.owner.clone());
        let watch = Watch::new(id, owner, question, trigger, auto_book, self.now);
        Some(vec![Op::InsertWatch(watch)])
    }

    /// Mirrors `Application::confirm_purchase`.
    fn confirm(&self, number: usize) -> Option<Vec<Op>> {
        let watch = self.watch_of(number)?.clone();
        if watch.is_armed() && watch.status().is_open() {
            return None;
        }
        let new = mandate_for(&watch).ok()?;
        if self.rows.deleted.contains(&new.instrument) {
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
        let moved = watch.apply(armed, self.now).ok()??;
        Some(vec![
            Op::InsertMandate(Mandate::new(terms, String::new())),
            Op::UpdateWatch(moved, read_version),
        ])
    }

    /// Mirrors `WatchService::cancel`.
    fn cancel(&self, number: usize) -> Option<Vec<Op>> {
        let watch = self.watch_of(number)?.clone();
        let (read_version, mandate) = (watch.version, watch.mandate_id.clone());
        let canceled = watch.apply(WatchTransitionEvent::Canceled, self.now);
        let moved = canceled.ok()??;
        let mut ops = vec![Op::UpdateWatch(moved, read_version)];
        if let Some(id) = mandate {
            ops.extend(self.revoking(&id).unwrap_or_default());
        }
        Some(ops)
    }

    /// Mirrors the mandate service's `revoke`.
    fn revoke(&self, number: usize) -> Option<Vec<Op>> {
        self.revoking(self.watch_of(number)?.mandate_id.as_ref()?)
    }

    /// Returns the operations that revoke a mandate: none if it is already revoked. Returns `None`
    /// if it cannot be revoked.
    fn revoking(&self, id: &MandateId) -> Option<Vec<Op>> {
        let mandate = self.rows.mandates[id].clone();
        let read_version = mandate.version;
        let revoked = mandate.apply(MandateEvent::Revoked, self.now).ok()?;
        let ops = revoked.map(|revoked| Op::UpdateMandate(revoked, read_version));
        Some(ops.into_iter().collect())
    }
}
