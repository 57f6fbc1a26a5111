//! Cancellation policies of one room and of all rooms together.

use std::mem;

use stopover_sdk::time;
use stopover_sdk::types::hotel::CancellationPolicy;
use stopover_sdk::types::hotel_details::{PenaltyDetails, PolicyDetails, RefundType};
use stopover_sdk::types::{MinorUnits, Penalty, TimestampMs};

use crate::map::minor;
use crate::wire::rate::{CancelPolicyInfo, CancellationPolicies};

/// Nuitee documents that its times are GMT, whatever time zone a response names.
const TIME_ZONE: &str = "GMT";

/// Reads the policy of a room that costs `total`. Returns `None` if it cannot be read: the tag, the
/// kind of penalty or the time is unknown, the currency differs, a penalty is negative, or a refundable
/// rate has no penalties.
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
        let stated = stated.map_or("", |stated| stated.as_str().trim());
        let is_usable = stated.is_empty() || stated == currency;
        let amount = match kind(info)? {
            PenaltyKind::Amount if is_usable => minor(info.amount.value()?, currency).ok()?,
            PenaltyKind::Percentage => share(total, basis_points(info)?)?,
            PenaltyKind::Amount | PenaltyKind::Other => return None,
        };
        penalties.push(Penalty {
            start: start(info)?,
            amount: penalty_amount(amount, total.max(0))?,
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

/// Returns the amount of a penalty, or `None` if it is negative. Penalties and prices are rounded
/// separately, so that a penalty of the whole price may exceed it by one minor unit. One that exceeds it
/// by more stays as it is: the gateway then leaves out what it belongs to, and counts it.
fn penalty_amount(amount: MinorUnits, total: MinorUnits) -> Option<MinorUnits> {
    let is_rounded = amount.checked_sub(total) == Some(1);
    (amount >= 0).then_some(if is_rounded { total } else { amount })
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
    let kind = kind.map_or("", |kind| kind.as_str().trim());
    let is = |name: &str| kind.eq_ignore_ascii_case(name);
    Some(if kind.is_empty() || is("amount") {
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

/// Ends the free time of a refundable policy at `last_free` if its penalties start later. Nuitee does not
/// say that the time between the two is free, so the first penalty starts at the end of the free time, and
/// nothing after it costs zero.
pub(crate) fn end_free_time(policy: &mut CancellationPolicy, last_free: TimestampMs) {
    let mut charged = policy.penalties.iter();
    let charged_from = charged.find(|penalty| penalty.amount > 0);
    let charged_from = charged_from.map(|penalty| penalty.start);
    if !policy.refundable || charged_from.is_some_and(|start| start <= last_free) {
        return;
    }
    policy.free_until = Some(last_free);
    if charged_from.is_some() {
        let is_known = |penalty: &Penalty| penalty.amount > 0 || penalty.start <= last_free;
        policy.penalties.retain(is_known);
    }
    let mut penalties = policy.penalties.iter_mut();
    if let Some(first) = penalties.find(|penalty| penalty.amount > 0) {
        first.start = last_free.saturating_add(1);
    }
}

/// Returns whether a room's policy is the one that Nuitee states. Otherwise it replaces one that cannot
/// be read.
pub(crate) fn is_read(policies: &CancellationPolicies<'_>, policy: &CancellationPolicy) -> bool {
    match policies.refundable_tag() {
        "RFN" => policy.refundable,
        "NRFN" => true,
        _ => false,
    }
}

/// Returns the details of a rate's policy at `now`. A policy that cannot be read has none, because its
/// replacement is not what Nuitee says.
pub(crate) fn rate_details(
    policies: &CancellationPolicies<'_>,
    policy: &CancellationPolicy,
    total: MinorUnits,
    now: TimestampMs,
) -> PolicyDetails {
    if !is_read(policies, policy) {
        return PolicyDetails::default();
    }
    let mut details = details(policy, total, now);
    for info in policies.infos().unwrap_or_default() {
        let Some(start) = start(info) else {
            continue;
        };
        let penalties = &mut details.penalties;
        let first = penalties.partition_point(|penalty| penalty.start < start);
        let penalty = penalties.get_mut(first);
        if let Some(penalty) = penalty.filter(|penalty| penalty.start == start) {
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
    let penalties = merged_penalties(rooms, refundable, currency);
    CancellationPolicy {
        refundable,
        free_until: free_until(&penalties).filter(|_| refundable),
        penalties,
        restrictions: Vec::new(),
    }
}

/// Returns the sum of the rooms' fees at each start of a penalty, and from the beginning of time if a
/// room is not refundable.
fn merged_penalties(
    rooms: &[(&CancellationPolicy, MinorUnits)],
    is_refundable: bool,
    currency: &str,
) -> Vec<Penalty> {
    let mut changes: Vec<(TimestampMs, usize, MinorUnits)> = Vec::new();
    let mut fees: Vec<MinorUnits> = Vec::new();
    for (room, (policy, total)) in rooms.iter().enumerate() {
        fees.push(if policy.refundable { 0 } else { *total });
        let penalties = policy.penalties.iter();
        changes.extend(penalties.map(|penalty| (penalty.start, room, penalty.amount)));
    }
    // The sort is stable: the last of a room's penalties with the same start counts.
    changes.sort_by_key(|(start, ..)| *start);
    let mut sum: i128 = fees.iter().copied().map(i128::from).sum();
    let penalty = |start, sum| Penalty {
        start,
        amount: MinorUnits::try_from(sum).unwrap_or(MinorUnits::MAX),
        currency: currency.to_owned(),
    };
    let mut penalties: Vec<Penalty> = Vec::new();
    if !is_refundable {
        penalties.push(penalty(0, sum));
    }
    for (start, room, amount) in changes {
        if let Some(fee) = fees.get_mut(room) {
            sum += i128::from(amount) - i128::from(mem::replace(fee, amount));
        }
        let same = penalties.last_mut();
        match same.filter(|penalty| penalty.start == start) {
            Some(same) => *same = penalty(start, sum),
            None => penalties.push(penalty(start, sum)),
        }
    }
    penalties
}

/// Returns the cancellation fee at an instant. The policy's penalties are sorted by their start.
fn fee_at(policy: &CancellationPolicy, total: MinorUnits, now: TimestampMs) -> MinorUnits {
    let penalties = &policy.penalties;
    let started = penalties.partition_point(|penalty| penalty.start <= now);
    let last = started.checked_sub(1).and_then(|last| penalties.get(last));
    match last {
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
