//! Conversion of cancellation policies and of the prices of rooms, with the rules that both keep
//! with the total of their offer or booking.

use crate::bindings::stopover::supplier::hotel_types as wire;
use crate::convert::{
    ConvertResult, currency, instant, invalid, list, money, optional_instant, text, valid_if,
};
use host_domain::hotel::{CancellationPolicy, Penalty, Restriction, RoomRate};
use host_domain::money::Money;
use host_domain::time::Timestamp;

pub(super) const PENALTIES_MAX: usize = 60;
const RESTRICTIONS_MAX: usize = 20;

/// Values against which a cancellation policy is checked.
#[derive(Clone, Copy)]
pub(super) struct PolicyContext {
    pub(super) now: Timestamp,
    /// The price that is cancelled, or `None` if it is not known or partly cancelled.
    pub(super) total: Option<Money>,
    /// The number of rooms in the price.
    pub(super) rooms: usize,
}

impl PolicyContext {
    /// Returns the context of the policy of one room.
    fn for_room(self, total: Money) -> Self {
        Self {
            total: Some(total),
            rooms: 1,
            ..self
        }
    }
}

/// Returns the amount in minor units by which amounts of `rooms` rooms may differ from their total.
/// Suppliers state decimal prices and round each one separately, so each room may differ by one.
fn rounding_tolerance(rooms: usize) -> i64 {
    i64::try_from(rooms.max(1)).unwrap_or(i64::MAX)
}

/// Converts a policy. Its penalties become sorted by their start.
pub(super) fn policy(
    policy: wire::CancellationPolicy,
    context: PolicyContext,
) -> ConvertResult<CancellationPolicy> {
    let mut penalties = list(
        "policy.penalties",
        policy.penalties,
        PENALTIES_MAX,
        |penalty| {
            let currency = currency("policy.penalties.currency", &penalty.currency)?;
            Ok(Penalty::new(
                instant("policy.penalties.start", penalty.start)?,
                money("policy.penalties.amount", penalty.amount, currency)?,
            ))
        },
    )?;
    penalties.sort_by_key(|penalty| penalty.from);
    let restrictions = list(
        "policy.restrictions",
        policy.restrictions,
        RESTRICTIONS_MAX,
        restriction,
    )?;
    let policy = CancellationPolicy {
        refundable: policy.refundable,
        free_until: optional_instant("policy.free-until", policy.free_until)?,
        penalties,
        restrictions,
        refund_type: None,
    };
    check_policy(&policy, context)?;
    Ok(policy)
}

fn restriction(restriction: wire::Restriction) -> ConvertResult<Restriction> {
    Ok(Restriction {
        code: text::reference("policy.restrictions.code", restriction.code)?,
        description: text::display_line(restriction.description),
        active_from: optional_instant("policy.restrictions.active-from", restriction.active_from)?,
        active_until: optional_instant(
            "policy.restrictions.active-until",
            restriction.active_until,
        )?,
    })
}

/// Checks that a policy does not contradict itself or its total. A free period of a policy that is
/// not refundable may lie in the past, because it is over then. A penalty in another currency than
/// the total is not compared with it.
fn check_policy(policy: &CancellationPolicy, context: PolicyContext) -> ConvertResult<()> {
    let mut amounts = policy.penalties.iter().map(|penalty| penalty.amount);
    if let Some(total) = context.total {
        let amount_max = total
            .minor
            .saturating_add(rounding_tolerance(context.rooms));
        let is_above_total =
            |amount: Money| amount.currency == total.currency && amount.minor > amount_max;
        if amounts.clone().any(is_above_total) {
            return invalid("policy.penalties.amount", "more than the total");
        }
    }
    let is_free_later = policy.free_until.is_some_and(|until| until > context.now);
    if !policy.refundable && (is_free_later || amounts.any(|amount| amount.minor == 0)) {
        return invalid("policy.refundable", "false with a free period");
    }
    let mut charged = policy
        .penalties
        .iter()
        .filter(|penalty| penalty.amount.minor > 0);
    let first_charge = charged.next().map(|penalty| penalty.from);
    let is_free_when_charged = policy
        .free_until
        .zip(first_charge)
        .is_some_and(|(free_until, charged_from)| free_until > charged_from);
    valid_if(
        !is_free_when_charged,
        (),
        "policy.free-until",
        "later than the start of a penalty",
    )
}

/// Checks that the rooms' totals add up to the total.
pub(super) fn check_rooms_total(rooms: &[RoomRate], total: Money) -> ConvertResult<()> {
    let sum = rooms
        .iter()
        .map(|room| room.total.minor)
        .fold(0, i64::saturating_add);
    let difference = sum.saturating_sub(total.minor).saturating_abs();
    let adds_up = difference <= rounding_tolerance(rooms.len());
    valid_if(adds_up, (), "rooms.total", "do not add up to the total")
}

/// Converts the policy of one room that costs `total`.
pub(super) fn room_policy(
    room_policy: wire::CancellationPolicy,
    total: Money,
    context: PolicyContext,
) -> ConvertResult<CancellationPolicy> {
    policy(room_policy, context.for_room(total))
}
