//! Simulated price checks that follow `watch/check_worker.rs`. The production code decides
//! (`watch/policy`), and any event may happen between two transactions.

use super::Simulation;
use super::check_schedule::CheckSchedule;
use super::database::WriteOperation;
use super::watch_contract::WatchContract;
use anyhow::Result;
use host_application::supplier::query_error::QueryError;
use host_application::watch::policy::{self, CheckAction};
use host_domain::money::Money;
use host_domain::supplier::{ReadError, SupplierId};
use host_domain::watch::{ObservedPrice, Watch, WatchTransitionEvent};
use host_storage::{ClaimedPriceCheck, PriceCheckRelease};

/// Page size for reading watches, smaller than their number in a scenario.
const PAGE_SIZE: usize = 2;
/// Timeout of a price request, equal to half a lease.
const PRICING_TIMEOUT_MS: i64 = 30_000;

/// The next step of a price check.
pub(super) enum CheckProgress {
    Claimed,
    PriceReceived(Result<Option<Money>, FailedRead>),
    ReadingAffectedWatches(ObservedPrice),
    /// The remaining watches of a page and whether one of them changed. Without an observed price,
    /// the watches expire.
    UpdatingWatches(Option<ObservedPrice>, Vec<Watch>, bool),
    ReadingExpiringWatches,
    Releasing(Option<ObservedPrice>, Option<FailedRead>),
    Deleting,
    /// The query cannot be deleted because a purchase is in progress.
    Keeping,
}

/// The reason why no price was observed, and the supplier's retry time.
pub(super) struct FailedRead {
    error: QueryError,
    retry_after_s: Option<u32>,
}

impl Simulation<'_> {
    /// Executes one step and schedules the next one, unless the check is finished.
    pub(super) fn advance_check(
        &mut self,
        price_check: ClaimedPriceCheck,
        progress: CheckProgress,
    ) -> Result<()> {
        let mut after_ms = self.random.between(1, 30);
        let progress = match progress {
            CheckProgress::Claimed => match policy::check_action(&price_check, self.now) {
                CheckAction::Check => {
                    CheckSchedule::check_call_allowed(&price_check, self.now)?;
                    let (wait_ms, response) = self.request_price(&price_check);
                    after_ms = wait_ms;
                    CheckProgress::PriceReceived(response)
                }
                CheckAction::Expire => CheckProgress::ReadingExpiringWatches,
                CheckAction::Delete => CheckProgress::Deleting,
            },
            CheckProgress::PriceReceived(Ok(total)) => {
                self.note(|| format!("{} costs {total:?}", price_check.id));
                CheckProgress::ReadingAffectedWatches(ObservedPrice {
                    observed_at: self.now,
                    total,
                })
            }
            CheckProgress::PriceReceived(Err(error)) => CheckProgress::Releasing(None, Some(error)),
            CheckProgress::ReadingAffectedWatches(observed) => {
                self.contract
                    .record_watches_read(&price_check, observed, self.now);
                let page = self
                    .rows
                    .affected_by_price(&price_check.id, observed, PAGE_SIZE);
                if page.is_empty() {
                    CheckProgress::Releasing(Some(observed), None)
                } else if self
                    .commit(vec![WriteOperation::RenewPriceCheck(price_check.clone())])?
                    .is_err()
                {
                    return Ok(());
                } else {
                    CheckProgress::UpdatingWatches(Some(observed), page, false)
                }
            }
            CheckProgress::ReadingExpiringWatches => {
                match self.rows.awaiting_price(&price_check.id, PAGE_SIZE) {
                    page if page.is_empty() => CheckProgress::Deleting,
                    page => CheckProgress::UpdatingWatches(None, page, false),
                }
            }
            CheckProgress::UpdatingWatches(observed, page, has_changed) => {
                self.update_watch(observed, page, has_changed)?
            }
            CheckProgress::Releasing(observed, failed) => {
                return self.release(&price_check, observed, failed);
            }
            CheckProgress::Deleting => {
                if self
                    .commit(vec![WriteOperation::DeletePriceCheck(price_check.clone())])?
                    .is_ok()
                {
                    self.contract.check_schedule.record_deletion(&price_check);
                    return Ok(());
                }
                CheckProgress::Keeping
            }
            CheckProgress::Keeping => return self.keep(&price_check),
        };
        self.continue_after(after_ms, |simulation| {
            simulation.advance_check(price_check, progress)
        });
        Ok(())
    }

    /// Releases a query that cannot be deleted.
    fn keep(&mut self, price_check: &ClaimedPriceCheck) -> Result<()> {
        let release = PriceCheckRelease {
            observed: None,
            next_at: self.now.plus_s(self.scenario.interval_s),
        };
        let release = WriteOperation::ReleasePriceCheck(price_check.clone(), release);
        if self.commit(vec![release])?.is_ok() {
            let schedule = &mut self.contract.check_schedule;
            schedule.record_kept(price_check, self.now);
        }
        Ok(())
    }

    fn update_watch(
        &mut self,
        observed: Option<ObservedPrice>,
        mut page: Vec<Watch>,
        has_changed: bool,
    ) -> Result<CheckProgress> {
        let Some(watch) = page.pop() else {
            return Ok(match (observed, has_changed) {
                (Some(observed), true) => CheckProgress::ReadingAffectedWatches(observed),
                (Some(observed), false) => CheckProgress::Releasing(Some(observed), None),
                (None, true) => CheckProgress::ReadingExpiringWatches,
                (None, false) => CheckProgress::Deleting,
            });
        };
        let event = observed.map_or(WatchTransitionEvent::Expired, |observed| {
            policy::price_event(observed.total)
        });
        let read_version = watch.version;
        let mut is_changed = has_changed;
        if let Ok(Some(transition)) = watch.apply(event.clone(), self.now) {
            if let Some(observed) = observed {
                WatchContract::check_price_transition(&transition, observed.total)?;
            }
            // A conflict means that another write came first.
            let _conflict =
                self.commit(vec![WriteOperation::UpdateWatch(transition, read_version)])?;
            is_changed = true;
        }
        Ok(CheckProgress::UpdatingWatches(observed, page, is_changed))
    }

    fn release(
        &mut self,
        price_check: &ClaimedPriceCheck,
        observed: Option<ObservedPrice>,
        failed: Option<FailedRead>,
    ) -> Result<()> {
        let interval_s = self.scenario.interval_s;
        let error = failed.as_ref().map(|failed| &failed.error);
        let release = PriceCheckRelease {
            observed,
            next_at: policy::next_check_at(price_check, error, interval_s, self.now),
        };
        let release = WriteOperation::ReleasePriceCheck(price_check.clone(), release);
        if self.commit(vec![release])?.is_ok() {
            let retry_after_s = failed.and_then(|failed| failed.retry_after_s);
            let (contract, rows) = (&mut self.contract, &self.rows);
            contract.record_check(price_check, observed, retry_after_s, rows, self.now)?;
        }
        Ok(())
    }

    /// Requests the price. Returns the delay until the response, and the response.
    fn request_price(
        &self,
        price_check: &ClaimedPriceCheck,
    ) -> (i64, Result<Option<Money>, FailedRead>) {
        let random = self.random;
        if random.percent(self.scenario.unanswered_percent) {
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
            return (random.between(1, PRICING_TIMEOUT_MS), Err(failed_read));
        }
        let request_ms = random.between(50, random.one_of(&[500, PRICING_TIMEOUT_MS / 2]));
        let query_index = self.scenario.query_index(&price_check.query);
        let total = self
            .scenario
            .price(query_index, self.now.plus_ms(request_ms));
        (request_ms + random.between(50, 500), Ok(total))
    }
}
