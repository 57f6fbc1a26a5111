//! Cancellation policies of one room and of all rooms together.

use stopover_sdk::time;
use stopover_sdk::types::hotel::CancellationPolicy;
use stopover_sdk::types::{MinorUnits, Penalty, TimestampMs};

use crate::map::minor;
use crate::wire::rate::CancellationPolicies;

/// Reads the policy of a room that costs `total`. Returns `None` if it cannot be read: the tag, the
/// kind of penalty or the time is unknown, or the currency differs.
pub(crate) fn cancellation_policy(
    policies: &CancellationPolicies,
    total: MinorUnits,
    currency: &str,
) -> Option<CancellationPolicy> {
    match policies.refundable_tag.as_str() {
        "RFN" => {}
        // A non-refundable rate is charged in full, whatever times it lists.
        "NRFN" => return Some(CancellationPolicy::non_refundable()),
        _ => return None,
    }
    let mut penalties = Vec::new();
    for info in &policies.cancel_policy_infos.0 {
        let kind = info.penalty_type.to_ascii_lowercase();
        let amount = match kind.as_str() {
            "" | "amount" if info.currency.is_empty() || info.currency == currency => {
                minor(info.amount, currency).ok()?
            }
            _ => return None,
        };
        penalties.push(Penalty {
            // Some suppliers write "always" as the year 1.
            start: time::parse_timestamp(info.cancel_time.trim())?.max(0),
            amount: amount.clamp(0, total.max(0)),
            currency: currency.to_owned(),
        });
    }
    penalties.sort_by_key(|penalty| penalty.start);
    Some(CancellationPolicy {
        refundable: true,
        free_until: free_until(&penalties),
        penalties,
        restrictions: Vec::new(),
    })
}

/// Merges the policies of all rooms, each given with its total. Cancellation is free only while it
/// is free for every room; a penalty is the sum of the rooms' penalties in force.
pub(crate) fn merge(
    rooms: &[(&CancellationPolicy, MinorUnits)],
    currency: &str,
) -> CancellationPolicy {
    if let [(policy, _)] = rooms {
        return (*policy).clone();
    }
    if rooms.iter().all(|(policy, _)| !policy.refundable) {
        return CancellationPolicy::non_refundable();
    }
    let refundable = rooms.iter().all(|(policy, _)| policy.refundable);
    let mut starts: Vec<TimestampMs> = rooms
        .iter()
        .flat_map(|(policy, _)| policy.penalties.iter().map(|penalty| penalty.start))
        .collect();
    if !refundable {
        // A non-refundable room has a penalty from the beginning of time.
        starts.push(0);
    }
    starts.sort_unstable();
    starts.dedup();
    let penalties: Vec<Penalty> = starts
        .into_iter()
        .map(|start| Penalty {
            start,
            amount: rooms
                .iter()
                .map(|(policy, total)| fee_at(policy, *total, start))
                .fold(0, MinorUnits::saturating_add),
            currency: currency.to_owned(),
        })
        .collect();
    CancellationPolicy {
        refundable,
        free_until: free_until(&penalties).filter(|_| refundable),
        penalties,
        restrictions: Vec::new(),
    }
}

/// Returns the cancellation fee at an instant.
fn fee_at(policy: &CancellationPolicy, total: MinorUnits, now: TimestampMs) -> MinorUnits {
    let started = policy
        .penalties
        .iter()
        .rev()
        .find(|penalty| penalty.start <= now);
    match started {
        Some(penalty) => penalty.amount,
        None if policy.refundable => 0,
        None => total,
    }
}

/// Returns the last instant before the first penalty that is not zero.
fn free_until(penalties: &[Penalty]) -> Option<TimestampMs> {
    let first = penalties.iter().find(|penalty| penalty.amount > 0)?;
    (first.start > 0).then(|| first.start - 1)
}

#[cfg(test)]
mod tests;
