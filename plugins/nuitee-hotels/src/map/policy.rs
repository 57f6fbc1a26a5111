//! Cancellation policies of one room and of all rooms together.

use stopover_sdk::lenient::LenientText;
use stopover_sdk::time;
use stopover_sdk::types::hotel::CancellationPolicy;
use stopover_sdk::types::hotel_details::{PenaltyDetails, PolicyDetails, RefundType};
use stopover_sdk::types::{MinorUnits, Penalty, TimestampMs};

use crate::map::minor;
use crate::wire::rate::{CancelPolicyInfo, CancellationPolicies};

/// Nuitee documents that its times are GMT, whatever time zone a response names.
const TIME_ZONE: &str = "GMT";

/// Reads the policy of a room that costs `total`. Returns `None` if it cannot be read: the tag, the
/// kind of penalty or the time is unknown, or the currency differs.
pub(crate) fn cancellation_policy(
    policies: &CancellationPolicies<'_>,
    total: MinorUnits,
    currency: &str,
) -> Option<CancellationPolicy> {
    match policies.refundable_tag() {
        "RFN" => {}
        // A non-refundable rate is charged in full, whatever times it lists.
        "NRFN" => return Some(CancellationPolicy::non_refundable()),
        _ => return None,
    }
    let mut penalties = Vec::new();
    for info in policies.infos()? {
        let stated = info.currency.as_ref().optional("currency").ok()?;
        let stated = stated.and_then(LenientText::as_deref);
        let is_usable = stated.is_none_or(|stated| stated == currency);
        let amount = match kind(info)? {
            PenaltyKind::Amount if is_usable => minor(info.amount.value()?, currency).ok()?,
            PenaltyKind::Percentage => share(total, basis_points(info)?)?,
            PenaltyKind::Amount | PenaltyKind::Other => return None,
        };
        penalties.push(Penalty {
            start: start(info)?,
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

/// Returns the start of a penalty. Some suppliers write "always" as the year 1.
fn start(info: &CancelPolicyInfo<'_>) -> Option<TimestampMs> {
    let start = info.cancel_time.as_ref().value()?;
    Some(time::parse_timestamp(start.as_str().trim())?.max(0))
}

/// How a penalty is stated.
enum PenaltyKind {
    Amount,
    Percentage,
    Other,
}

/// Returns the kind of a penalty, which is an amount if it is missing, or `None` if it is repeated.
fn kind(info: &CancelPolicyInfo<'_>) -> Option<PenaltyKind> {
    let kind = info.penalty_type.as_ref().optional("type").ok()?;
    let Some(kind) = kind.and_then(LenientText::as_deref) else {
        return Some(PenaltyKind::Amount);
    };
    let is = |name: &str| kind.eq_ignore_ascii_case(name);
    Some(if is("amount") {
        PenaltyKind::Amount
    } else if is("percent") || is("percentage") {
        PenaltyKind::Percentage
    } else {
        PenaltyKind::Other
    })
}

/// Returns the penalty in hundredths of a per cent, or `None` if it is not stated in per cent.
fn basis_points(info: &CancelPolicyInfo<'_>) -> Option<u16> {
    match kind(info)? {
        PenaltyKind::Percentage => info.amount.value()?.to_basis_points().ok(),
        PenaltyKind::Amount | PenaltyKind::Other => None,
    }
}

/// Returns a share of a total, rounded to the nearest minor unit.
fn share(total: MinorUnits, basis_points: u16) -> Option<MinorUnits> {
    let share = (i128::from(total) * i128::from(basis_points) + 5_000) / 10_000;
    MinorUnits::try_from(share).ok()
}

/// Returns the details of a rate's policy at `now`. A policy that cannot be read has none, because its
/// replacement is not what Nuitee says.
pub(crate) fn rate_details(
    policies: &CancellationPolicies<'_>,
    policy: &CancellationPolicy,
    total: MinorUnits,
    now: TimestampMs,
) -> PolicyDetails {
    let is_read = match policies.refundable_tag() {
        "RFN" => policy.refundable,
        "NRFN" => true,
        _ => false,
    };
    if !is_read {
        return PolicyDetails::default();
    }
    let mut details = details(policy, total, now);
    for info in policies.infos().unwrap_or_default() {
        let start = start(info);
        let mut penalties = details.penalties.iter_mut();
        if let Some(penalty) = penalties.find(|penalty| Some(penalty.start) == start) {
            penalty.basis_points = basis_points(info);
        }
    }
    details
}

/// Returns the details of a policy of rooms that cost `total`, at `now`.
pub(crate) fn details(
    policy: &CancellationPolicy,
    total: MinorUnits,
    now: TimestampMs,
) -> PolicyDetails {
    let starts = policy.penalties.iter().map(|penalty| penalty.start);
    PolicyDetails {
        refund_type: refund_type(policy, total, now),
        penalties: starts
            .map(|start| PenaltyDetails {
                start,
                basis_points: None,
                time_zone: Some(TIME_ZONE.to_owned()),
            })
            .collect(),
    }
}

/// Returns what the lowest fee from `now` on leaves of the total. `None` if the fees contradict the
/// policy's tag.
fn refund_type(
    policy: &CancellationPolicy,
    total: MinorUnits,
    now: TimestampMs,
) -> Option<RefundType> {
    let starts = policy.penalties.iter().map(|penalty| penalty.start);
    let starts = starts.filter(|start| *start > now).chain([now]);
    let fees = starts.map(|start| fee_at(policy, total, start));
    match fees.min()? {
        0 => policy.refundable.then_some(RefundType::Full),
        lowest if lowest < total => Some(RefundType::Partial),
        _ => (!policy.refundable).then_some(RefundType::None),
    }
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
