//! Price checks of watches. All watches of a tenant with the same query share one row.

use crate::statement::{Row, statement};
use crate::wakeup::WorkQueue;
use crate::{Conflict, DatabaseError, Store, UnitOfWork};
use host_domain::id::PriceCheckId;
use host_domain::money::{Currency, Money};
use host_domain::owner::Tenant;
use host_domain::time::Timestamp;
use host_domain::watch::{ObservedPrice, PriceQuery, Watch};
use sha2::{Digest, Sha256};

/// Number of observed prices that are kept of a price check.
const OBSERVATIONS_MAX: u32 = 50;

#[derive(Debug, Clone, Copy)]
pub struct PriceCheckClaim<'a> {
    /// The current time. Price checks due by then are claimed.
    pub now: Timestamp,
    pub limit: u32,
    pub lease_ms: i64,
    /// The lease token, unique to the claim.
    pub token: &'a str,
}

/// A leased price check.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedPriceCheck {
    pub id: PriceCheckId,
    /// The tenant that owns the watches.
    pub tenant: Tenant,
    pub query: PriceQuery,
    /// The number of times that watches had requested the check when it was claimed.
    pub watch_revision: i64,
    pub token: String,
    /// Whether an open watch used the price check when it was claimed. A watch may have been added
    /// since.
    pub has_open_watches: bool,
}

/// The result with which a price check is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceCheckRelease {
    /// The observed price; `None` if the check failed.
    pub observed: Option<ObservedPrice>,
    /// Time of the next check, unless a watch requested the check in the meantime. It is then due
    /// at once.
    pub next_at: Timestamp,
}

impl UnitOfWork {
    /// Schedules the price check of a watch for now.
    pub fn schedule_price_check(&mut self, watch: &Watch) -> &mut Self {
        let query = self.encode_json(&watch.query);
        let tenant = &watch.owner.tenant;
        self.wakeups.insert(WorkQueue::PriceChecks);
        self.add(statement!(
            "INSERT INTO price_check (organization, mode, id, query, next_check_at, \
             watch_revision, created_at) VALUES ($1, $2, $3, $4, $5, 1, $5) \
             ON CONFLICT (organization, mode, id) DO UPDATE SET \
               next_check_at = CASE WHEN price_check.next_check_at < excluded.next_check_at \
                         THEN price_check.next_check_at ELSE excluded.next_check_at END, \
               watch_revision = price_check.watch_revision + 1",
            tenant,
            derive_id(tenant, &watch.query).as_str(),
            query,
            self.now,
        ))
    }

    /// Stores an observed price and renews the lease, starting now. Fails with
    /// [`Conflict::LeaseLost`] if the token does not match.
    pub fn record_observed_price(
        &mut self,
        price_check: &ClaimedPriceCheck,
        seen: ObservedPrice,
        lease_ms: i64,
    ) -> &mut Self {
        let update = statement!(
            "UPDATE price_check SET last_checked_at = $5, last_total_minor = $6, \
             lease_expires_at = {now_ms} + $7 \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND lease_token = $4",
            &price_check.tenant,
            price_check.id.as_str(),
            price_check.token.as_str(),
            seen.observed_at,
            seen.total.map(|total| total.minor),
            lease_ms,
        );
        self.add_expecting_one(update, Conflict::LeaseLost)
    }

    /// Releases a price check with its result. Fails with [`Conflict::LeaseLost`] if the token does
    /// not match.
    pub fn release_price_check(
        &mut self,
        price_check: &ClaimedPriceCheck,
        outcome: PriceCheckRelease,
    ) -> &mut Self {
        let seen = outcome.observed;
        if let Some(seen) = seen {
            self.record_price_observation(price_check, seen);
        }
        let update = statement!(
            "UPDATE price_check SET \
               last_checked_at = COALESCE($5, last_checked_at), \
               last_total_minor = CASE WHEN $5 IS NULL THEN last_total_minor ELSE $6 END, \
               next_check_at = CASE WHEN watch_revision = $7 THEN $8 ELSE next_check_at END, \
               lease_token = NULL, lease_expires_at = NULL \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND lease_token = $4",
            &price_check.tenant,
            price_check.id.as_str(),
            price_check.token.as_str(),
            seen.map(|seen| seen.observed_at),
            seen.and_then(|seen| seen.total).map(|total| total.minor),
            price_check.watch_revision,
            outcome.next_at,
        );
        self.add_expecting_one(update, Conflict::LeaseLost)
    }

    /// Stores a price for the people who look at the watches if it differs from the previous one,
    /// and deletes all but the latest.
    fn record_price_observation(&mut self, price_check: &ClaimedPriceCheck, seen: ObservedPrice) {
        self.add(statement!(
            "INSERT INTO price_observation (organization, mode, price_check_id, observed_at, \
             total_minor) SELECT $1, $2, $3, $4, $5 WHERE NOT EXISTS (SELECT 1 FROM \
               (SELECT total_minor FROM price_observation WHERE organization = $1 AND mode = $2 \
                AND price_check_id = $3 ORDER BY observed_at DESC LIMIT 1) AS latest \
               WHERE latest.total_minor IS NOT DISTINCT FROM $5) \
             ON CONFLICT DO NOTHING",
            &price_check.tenant,
            price_check.id.as_str(),
            seen.observed_at,
            seen.total.map(|total| total.minor),
        ));
        self.add(statement!(
            "DELETE FROM price_observation WHERE organization = $1 AND mode = $2 \
             AND price_check_id = $3 AND observed_at <= (SELECT observed_at \
               FROM price_observation WHERE organization = $1 AND mode = $2 \
               AND price_check_id = $3 ORDER BY observed_at DESC LIMIT 1 OFFSET $4)",
            &price_check.tenant,
            price_check.id.as_str(),
            OBSERVATIONS_MAX,
        ));
    }

    /// Deletes a price check that no open watch uses, with its observed prices. Fails with
    /// [`Conflict::PriceCheckInUse`] otherwise. A watch that is added concurrently increases the
    /// revision, so its request is not lost.
    pub fn delete_price_check(&mut self, price_check: &ClaimedPriceCheck) -> &mut Self {
        self.add(statement!(
            "DELETE FROM price_observation \
             WHERE organization = $1 AND mode = $2 AND price_check_id = $3",
            &price_check.tenant,
            price_check.id.as_str(),
        ));
        let delete = statement!(
            "DELETE FROM price_check \
             WHERE organization = $1 AND mode = $2 AND id = $3 AND lease_token = $4 \
               AND watch_revision = $5 AND NOT EXISTS (SELECT 1 FROM watch AS w \
                 WHERE w.organization = $1 AND w.mode = $2 AND w.price_check_id = $3 \
                   AND w.status IN ('active', 'triggered', 'purchasing'))",
            &price_check.tenant,
            price_check.id.as_str(),
            price_check.token.as_str(),
            price_check.watch_revision,
        );
        self.add_expecting_one(delete, Conflict::PriceCheckInUse)
    }
}

impl Store {
    /// Claims due price checks without a valid lease, longest due first. No price check is in two
    /// claims.
    pub async fn claim_price_checks(
        &self,
        claim: PriceCheckClaim<'_>,
    ) -> Result<Vec<ClaimedPriceCheck>, DatabaseError> {
        let update = statement!(
            "WITH due AS ( \
               SELECT organization, mode, id FROM price_check \
               WHERE next_check_at <= $1 AND (lease_token IS NULL OR lease_expires_at <= {now_ms}) \
               ORDER BY next_check_at LIMIT $2 {skip_locked}) \
             UPDATE price_check SET lease_token = $3, lease_expires_at = {now_ms} + $4 \
             WHERE (organization, mode, id) IN (SELECT organization, mode, id FROM due) \
             RETURNING organization, mode, id, query, watch_revision, next_check_at, lease_token, \
               CAST(CASE WHEN EXISTS (SELECT 1 FROM watch AS w \
                 WHERE w.organization = price_check.organization AND w.mode = price_check.mode \
                   AND w.price_check_id = price_check.id \
                   AND w.status IN ('active', 'triggered', 'purchasing')) \
               THEN 1 ELSE 0 END AS BIGINT) AS wanted",
            claim.now,
            claim.limit,
            claim.token,
            claim.lease_ms,
        );
        let mut claimed = self.execute_returning(update, read).await?;
        claimed.sort_by_key(|(next_at, _)| *next_at);
        let claimed = claimed.into_iter().map(|(_, price_check)| price_check);
        Ok(claimed.collect())
    }

    /// Returns when the next price check without a lease is due. If a lease holder vanishes,
    /// polling finds the price check.
    pub async fn next_price_check_due_at(&self) -> Result<Option<Timestamp>, DatabaseError> {
        let select = statement!(
            "SELECT next_check_at FROM price_check \
             WHERE lease_token IS NULL ORDER BY next_check_at LIMIT 1"
        );
        self.read_optional(select, |row| row.timestamp("next_check_at"))
            .await
    }
}

/// Derives the id from the tenant and the query, so that equal queries of a tenant share one id.
pub(crate) fn derive_id(tenant: &Tenant, query: &PriceQuery) -> PriceCheckId {
    // Members are serialized in a fixed order, so equal queries have equal texts. A query that
    // cannot be serialized is never stored, because its unit of work fails.
    let identity = (&tenant.organization, tenant.mode, query);
    let text = serde_json::to_vec(&identity).unwrap_or_default();
    let digest: [u8; 32] = Sha256::digest(&text).into();
    let (first, _) = digest.split_first_chunk().unwrap_or((&[0; 16], &[]));
    PriceCheckId::from_bits(u128::from_be_bytes(*first))
}

fn read(row: &Row) -> Result<(Timestamp, ClaimedPriceCheck), DatabaseError> {
    let price_check = ClaimedPriceCheck {
        id: row.parsed("id", PriceCheckId::parse)?,
        tenant: row.tenant()?,
        query: row.json("query")?,
        watch_revision: row.get("watch_revision")?,
        token: row.get("lease_token")?,
        has_open_watches: row.get::<i64>("wanted")? != 0,
    };
    Ok((row.timestamp("next_check_at")?, price_check))
}

pub(crate) fn read_observed_price(
    row: &Row,
    currency: Currency,
) -> Result<Option<ObservedPrice>, DatabaseError> {
    let total: Option<i64> = row.get("last_total_minor")?;
    let observed_at = row.timestamp_opt("last_checked_at")?;
    Ok(observed_at.map(|observed_at| ObservedPrice {
        observed_at,
        total: total.map(|minor| Money::new(minor, currency)),
    }))
}
