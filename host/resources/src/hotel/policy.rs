//! JSON resources of cancellation policies, cancellation quotes, promotions and loyalty programmes.

use crate::value::{IsoDateTime, MoneyResource, same_variants};
use host_domain::booking::mask_membership_number;
use host_domain::hotel::{self, quote};
use serde::Serialize;
use utoipa::ToSchema;

/// Version of the shape and meaning of a cancellation policy. It is incremented when the same terms
/// are represented or interpreted differently.
const POLICY_VERSION: u32 = 1;

/// The cancellation fee from a given time on.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PenaltyResource {
    /// Time from which this penalty applies.
    from: IsoDateTime,
    /// Form of the penalty.
    #[serde(rename = "type")]
    kind: PenaltyTypeResource,
    /// Whole cancellation fee from `from` on. It replaces earlier penalties.
    amount: MoneyResource,
    /// The fee in per cent of the price. Omitted unless the supplier states it so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, minimum = 0, maximum = 100)]
    percent: Option<f64>,
    /// IANA name of the time zone in which the supplier states `from`. Omitted if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, example = "Europe/Rome")]
    time_zone: Option<String>,
}

/// Part of the price that a cancellation can return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RefundTypeResource {
    /// Cancellation is free for some time.
    Full,
    /// At any time, a part of the price is kept and a part is returned.
    Partial,
    /// Nothing is returned.
    None,
}

/// The form of a penalty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PenaltyTypeResource {
    /// A fixed amount of money.
    Amount,
}

/// A rule that restricts cancellation.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RestrictionResource {
    /// Code of the rule. `NO_CANCELLATION` forbids cancellation while it is active; other codes are
    /// specific to the supplier.
    #[schema(example = "NO_CANCELLATION")]
    code: String,
    /// Description for display.
    description: String,
    /// Time from which the rule is active. Null if it is active from the beginning.
    #[schema(required)]
    active_from: Option<IsoDateTime>,
    /// Time until which the rule is active. Null if it has no end.
    #[schema(required)]
    active_until: Option<IsoDateTime>,
}

/// The cancellation fees over time.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CancellationPolicyResource {
    /// Version of the shape and meaning of this object.
    #[schema(minimum = 1, example = 1)]
    version: u32,
    /// Whether there is a period in which cancellation is free.
    refundable: bool,
    /// Last instant of free cancellation.
    #[schema(required)]
    deadline: Option<IsoDateTime>,
    /// Penalties in ascending order of `from`. Each is the whole fee from that time on.
    penalties: Vec<PenaltyResource>,
    /// Rules that may forbid cancellation.
    restrictions: Vec<RestrictionResource>,
    /// Part of the price that a cancellation can return, as the supplier states it. Omitted if the
    /// supplier does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    refund_type: Option<RefundTypeResource>,
}

/// The source of a cancellation quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum QuoteSourceResource {
    /// A preview by the supplier.
    SupplierQuote,
    /// A calculation from the policy, which was just read from the supplier.
    PolicyEstimate,
}

/// The current cost of cancelling a booking. A quote moves no money and is not binding.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CancellationQuoteResource {
    /// Whether the amounts are known. False if the booking's policy cannot be read.
    available: bool,
    /// Source of the amounts.
    source: QuoteSourceResource,
    /// Time at which the reads from the supplier completed. It does not determine how long the
    /// quote is valid.
    checked_at: IsoDateTime,
    /// Cancellation fee. Null if `available` is false.
    #[schema(required)]
    fee: Option<MoneyResource>,
    /// Refund, based on the price of the cancelled rooms. Null if `available` is false. The actual
    /// refund is at most the captured amount that is not yet refunded.
    #[schema(required)]
    refund: Option<MoneyResource>,
    /// Time until which cancellation is free. Null if it is not free or the time is not known.
    #[schema(required)]
    free_until: Option<IsoDateTime>,
    /// Rules that restrict cancellation.
    restrictions: Vec<RestrictionResource>,
}

/// A price reduction. The totals already include it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PromotionResource {
    /// Display name.
    name: String,
    /// Additional description.
    #[schema(required)]
    description: Option<String>,
    /// Amount of the reduction.
    #[schema(required)]
    amount: Option<MoneyResource>,
    /// Zero-based positions of the rooms that the promotion applies to.
    room_positions: Vec<u32>,
}

/// Loyalty programme details of a booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LoyaltyResource {
    /// Name of the programme.
    program: String,
    /// Membership number with all but the last four characters masked.
    #[schema(required, example = "*****1234")]
    membership_number: Option<String>,
    /// Number of points that the stay is expected to earn.
    #[schema(required)]
    points_estimate: Option<u32>,
}

impl From<&hotel::CancellationPolicy> for CancellationPolicyResource {
    fn from(policy: &hotel::CancellationPolicy) -> Self {
        let penalties = policy.penalties.iter().map(|penalty| PenaltyResource {
            from: penalty.from.into(),
            kind: PenaltyTypeResource::Amount,
            amount: penalty.amount.into(),
            percent: penalty.basis_points.map(|points| f64::from(points) / 100.0),
            time_zone: penalty.time_zone.clone(),
        });
        Self {
            version: POLICY_VERSION,
            refundable: policy.refundable,
            deadline: policy.free_until.map(IsoDateTime::from),
            penalties: penalties.collect(),
            restrictions: restrictions(&policy.restrictions),
            refund_type: policy.refund_type.map(RefundTypeResource::from),
        }
    }
}

impl From<&quote::HotelCancellationQuote> for CancellationQuoteResource {
    fn from(quote: &quote::HotelCancellationQuote) -> Self {
        let (fee, refund) = quote.amounts.unzip();
        Self {
            available: quote.amounts.is_some(),
            source: quote.source.into(),
            checked_at: quote.checked_at.into(),
            fee: fee.map(MoneyResource::from),
            refund: refund.map(MoneyResource::from),
            free_until: quote.free_until.map(IsoDateTime::from),
            restrictions: restrictions(&quote.restrictions),
        }
    }
}

impl From<&hotel::Promotion> for PromotionResource {
    fn from(promotion: &hotel::Promotion) -> Self {
        let positions = promotion.room_positions.iter().copied().map(u32::from);
        Self {
            name: promotion.name.clone(),
            description: promotion.description.clone(),
            amount: promotion.amount.map(MoneyResource::from),
            room_positions: positions.collect(),
        }
    }
}

impl From<&hotel::Loyalty> for LoyaltyResource {
    fn from(loyalty: &hotel::Loyalty) -> Self {
        let number = loyalty.membership_number.as_deref();
        Self {
            program: loyalty.program.clone(),
            membership_number: number.map(mask_membership_number),
            points_estimate: loyalty.points_estimate,
        }
    }
}

same_variants! { RefundTypeResource <= hotel::RefundType: Full, Partial, None }
same_variants! { QuoteSourceResource <= quote::HotelQuoteSource: SupplierQuote, PolicyEstimate }

fn restrictions(restrictions: &[hotel::Restriction]) -> Vec<RestrictionResource> {
    let rendered = restrictions.iter().map(|restriction| RestrictionResource {
        code: restriction.code.clone(),
        description: restriction.description.clone(),
        active_from: restriction.active_from.map(IsoDateTime::from),
        active_until: restriction.active_until.map(IsoDateTime::from),
    });
    rendered.collect()
}
