//! Simulated price checks that follow `watch/check_worker.rs`. The production code decides
//! (`watch/policy`), and any event may happen between two transactions.

use super::Simulation;
use super::check_schedule::Cadence;
use super::database::Op;
use super::watch_contract::Model;
use anyhow::Result;
use host_application::supplier::query_error::QueryError;
use host_application::watch::policy::{self, CheckAction};
use host_domain::money::Money;
use host_domain::supplier::{ReadError, SupplierId};
use host_domain::watch::{ObservedPrice, Watch, WatchTransitionEvent};
use host_storage::{ClaimedPriceCheck, PriceCheckRelease};

/// Page size for reading watches, smaller than their number in a scenario.
const PAGE: usize = 2;
/// Timeout of a price request, equal to half a lease.
const LOOK_MAX_MS: i64 = 30_000;

pub(super) enum At {
    Begun,
    Responded(Result<Option<Money>, FailedRead>),
    Moving(ObservedPrice),
    /// The remaining watches of a page and whether one of them changed. Without an observed price,
    /// the watches expire.
    Settling(Option<ObservedPrice>, Vec<Watch>, bool),
    Expiring,
    Releasing(Option<ObservedPrice>, Option<FailedRead>),
    Forgetting,
    Keeping,
}

/// The reason why no price was observed, and the supplier's retry time.
pub(super) struct FailedRead {
    error: QueryError,
    retry_after_s: Option<u32>,
}

impl Simulation<'_> {
    /// Executes one step and plans the next one, unless the check is finished.
    pub(super) fn check(&mut self, price_check: ClaimedPriceCheck, at: At) -> Result<()> {
        let mut after_ms = self.random.between(1, 30);
        let at = match at {
            At::Begun => match policy::check_action(&price_check, self.now) {
                CheckAction::Check => {
                    Cadence::check_call_allowed(&price_check, self.now)?;
                    let (wait_ms, response) = self.request_price(&price_check);
                    after_ms = wait_ms;
                    At::Responded(response)
                }
                CheckAction::Expire => At::Expiring,
                CheckAction::Delete => At::Forgetting,
            },
            At::Responded(Ok(total)) => {
                self.note(|| format!("{} costs {total:?}", price_check.id));
                At::Moving(ObservedPrice {
                    observed_at: self.now,
                    total,
                })
            }
            At::Responded(Err(error)) => At::Releasing(None, Some(error)),
            At::Moving(seen) => {
                self.model.looked(&price_check, seen, self.now);
                let page = self.rows.moved_by(&price_check.id, seen, PAGE);
                if page.is_empty() {
                    At::Releasing(Some(seen), None)
                } else if self
                    .commit(vec![Op::RenewPriceCheck(price_check.clone())])?
                    .is_err()
                {
                    return Ok(());
                } else {
                    At::Settling(Some(seen), page, false)
                }
            }
            At::Expiring => match self.rows.waiting(&price_check.id, PAGE) {
                page if page.is_empty() => At::Forgetting,
                page => At::Settling(None, page, false),
            },
            At::Settling(seen, page, moved) => self.settle(seen, page, moved)?,
            At::Releasing(seen, failed) => {
                self.release(&price_check, seen, failed)?;
                return Ok(());
            }
            At::Forgetting => {
                if self
                    .commit(vec![Op::DeletePriceCheck(price_check.clone())])?
                    .is_ok()
                {
                    self.model.cadence.forgotten(&price_check);
                    return Ok(());
                }
                At::Keeping
            }
            At::Keeping => {
                let kept = PriceCheckRelease {
                    observed: None,
                    next_at: self.now.plus_s(self.setting.interval_s),
                };
                let kept = Op::ReleasePriceCheck(price_check.clone(), kept);
                if self.commit(vec![kept])?.is_ok() {
                    self.model.cadence.kept(&price_check, self.now);
                }
                return Ok(());
            }
        };
        self.goes(after_ms, |simulation| simulation.check(price_check, at));
        Ok(())
    }

    fn settle(
        &mut self,
        seen: Option<ObservedPrice>,
        mut page: Vec<Watch>,
        moved: bool,
    ) -> Result<At> {
        let Some(watch) = page.pop() else {
            return Ok(match (seen, moved) {
                (Some(seen), true) => At::Moving(seen),
                (Some(seen), false) => At::Releasing(Some(seen), None),
                (None, true) => At::Expiring,
                (None, false) => At::Forgetting,
            });
        };
        let event = seen.map_or(WatchTransitionEvent::Expired, |seen| {
            policy::price_event(seen.total)
        });
        let read_version = watch.version;
        let mut moves = moved;
        if let Ok(Some(done)) = watch.apply(event.clone(), self.now) {
            if let Some(seen) = seen {
                Model::priced(&done, seen.total)?;
            }
            // A conflict means that another write came first.
            let _moved = self.commit(vec![Op::UpdateWatch(done, read_version)])?;
            moves = true;
        }
        Ok(At::Settling(seen, page, moves))
    }

    fn release(
        &mut self,
        price_check: &ClaimedPriceCheck,
        seen: Option<ObservedPrice>,
        failed: Option<FailedRead>,
    ) -> Result<()> {
        let interval_s = self.setting.interval_s;
        let error = failed.as_ref().map(|failed| &failed.error);
        let release = PriceCheckRelease {
            observed: seen,
            next_at: policy::next_check_at(price_check, error, interval_s, self.now),
        };
        let release = Op::ReleasePriceCheck(price_check.clone(), release);
        if self.commit(vec![release])?.is_ok() {
            let retry_after_s = failed.and_then(|failed| failed.retry_after_s);
            let (model, rows) = (&mut self.model, &self.rows);
            model.checked(price_check, seen, retry_after_s, rows, self.now)?;
        }
        Ok(())
    }

    /// Requests the price. Returns the delay until the response, and the response.
    fn request_price(
        &self,
        price_check: &ClaimedPriceCheck,
    ) -> (i64, Result<Option<Money>, FailedRead>) {
        let random = self.random;
        if random.percent(self.setting.unanswered_percent) {
            let later = random.one_of(&[Some(0), Some(30), Some(3_600), Some(90_000)]);
            let limited = |retry_after_s| ReadError::RateLimited { retry_after_s };
            let (error, retry_after_s) = random.one_of(&[
                (ReadError::TimedOut("no answer".to_owned()), None),
                (limited(None), None),
                (limited(later), later),
            ]);
            self.note(|| format!("{} gets no response: {error:?}", price_check.id));
            let supplier = SupplierId::parse("HOTELS").unwrap();
            let failed_read = FailedRead {
                error: QueryError::Supplier { supplier, error },
                retry_after_s,
            };
            return (random.between(1, LOOK_MAX_MS), Err(failed_read));
        }
        let there_ms = random.between(50, random.one_of(&[500, LOOK_MAX_MS / 2]));
        let place = self.setting.place_of(&price_check.query);
        let total = self.setting.price(place, self.now.plus_ms(there_ms));
        (there_ms + random.between(50, 500), Ok(total))
    }
}
