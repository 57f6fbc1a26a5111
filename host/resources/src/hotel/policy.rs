//! JSON resources of cancellation policies, cancellation quotes, promotions and loyalty programmes.

use crate::value::{IsoDateTime, Money};
use host_domain::booking::mask_membership_number;
use host_domain::hotel::{self, quote};
use serde::Serialize;
use utoipa::ToSchema;

/// Version of the shape and meaning of a cancellation policy. It is incremented when the same terms
/// are represented or interpreted differently.
const POLICY_VERSION: u32 = 1;

/// The cancellation fee from a given time on.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Penalty {
    /// Time from which this penalty applies.
    from: IsoDateTime,
    /// Form of the penalty.
    #[serde(rename = "type")]
    kind: PenaltyType,
    /// Whole cancellation fee from `from` on. It replaces earlier penalties.
    amount: Money,
}

/// The form of a penalty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PenaltyType {
    /// A fixed amount of money.
    Amount,
}

/// A rule that restricts cancellation.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Restriction {
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
pub struct CancellationPolicy {
    /// Version of the shape and meaning of this object.
    #[schema(minimum = 1, example = 1)]
    version: u32,
    /// Whether there is a period in which cancellation is free.
    refundable: bool,
    /// Last instant of free cancellation.
    #[schema(required)]
    deadline: Option<IsoDateTime>,
    /// Penalties in ascending order of `from`. Each is the whole fee from that time on.
    penalties: Vec<Penalty>,
    /// Rules that may forbid cancellation.
    restrictions: Vec<Restriction>,
}

/// The source of a cancellation quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum QuoteSource {
    /// A preview by the supplier.
    SupplierQuote,
    /// A calculation from the policy, which was just read from the supplier.
    PolicyEstimate,
}

/// The current cost of cancelling a booking. A quote moves no money and is not binding.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CancellationQuote {
    /// Whether the amounts are known. False if the booking's policy cannot be read.
    available: bool,
    /// Source of the amounts.
    source: QuoteSource,
    /// Time at which the reads from the supplier completed. It does not determine how long the
    /// quote is valid.
    checked_at: IsoDateTime,
    /// Cancellation fee. Null if `available` is false.
    #[schema(required)]
    fee: Option<Money>,
    /// Refund, based on the price of the cancelled rooms. Null if `available` is false. The actual
    /// refund is at most the captured amount that is not yet refunded.
    #[schema(required)]
    refund: Option<Money>,
    /// Time until which cancellation is free. Null if it is not free or the time is not known.
    #[schema(required)]
    free_until: Option<IsoDateTime>,
    /// Rules that restrict cancellation.
    restrictions: Vec<Restriction>,
}

/// A price reduction. The totals already include it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Promotion {
    /// Display name.
    name: String,
    /// Additional description.
    #[schema(required)]
    description: Option<String>,
    /// Amount of the reduction.
    #[schema(required)]
    amount: Option<Money>,
    /// Zero-based positions of the rooms that the promotion applies to.
    room_positions: Vec<u32>,
}

/// Loyalty programme details of a booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Loyalty {
    /// Name of the programme.
    program: String,
    /// Membership number with all but the last four characters masked.
    #[schema(required, example = "*****1234")]
    membership_number: Option<String>,
    /// Number of points that the stay is expected to earn.
    #[schema(required)]
    points_estimate: Option<u32>,
}

impl From<&hotel::CancellationPolicy> for CancellationPolicy {
    fn from(policy: &hotel::CancellationPolicy) -> Self {
        Self {
            version: POLICY_VERSION,
            refundable: policy.refundable,
            deadline: policy.free_until.map(IsoDateTime::from),
            penalties: policy.penalties.iter().map(Penalty::from).collect(),
            restrictions: restrictions(&policy.restrictions),
        }
    }
}

impl From<&hotel::Penalty> for Penalty {
    fn from(penalty: &hotel::Penalty) -> Self {
        Self {
            from: penalty.from.into(),
            kind: PenaltyType::Amount,
            amount: penalty.amount.into(),
        }
    }
}

impl From<&quote::CancellationQuote> for CancellationQuote {
    fn from(quote: &quote::CancellationQuote) -> Self {
        let (fee, refund) = quote.amounts.unzip();
        Self {
            available: quote.amounts.is_some(),
            source: match quote.source {
                quote::QuoteSource::SupplierQuote => QuoteSource::SupplierQuote,
                quote::QuoteSource::PolicyEstimate => QuoteSource::PolicyEstimate,
            },
            checked_at: quote.checked_at.into(),
            fee: fee.map(Money::from),
            refund: refund.map(Money::from),
            free_until: quote.free_until.map(IsoDateTime::from),
            restrictions: restrictions(&quote.restrictions),
        }
    }
}

impl From<&hotel::Promotion> for Promotion {
    fn from(promotion: &hotel::Promotion) -> Self {
        Self {
            name: promotion.name.clone(),
            description: promotion.description.clone(),
            amount: promotion.amount.map(Money::from),
            room_positions: promotion
                .room_positions
                .iter()
                .copied()
                .map(u32::from)
                .collect(),
        }
    }
}

impl From<&hotel::Loyalty> for Loyalty {
    fn from(loyalty: &hotel::Loyalty) -> Self {
        Self {
            program: loyalty.program.clone(),
            membership_number: loyalty
                .membership_number
                .as_deref()
                .map(mask_membership_number),
            points_estimate: loyalty.points_estimate,
        }
    }
}

fn restrictions(restrictions: &[hotel::Restriction]) -> Vec<Restriction> {
    let rendered = restrictions.iter().map(|restriction| Restriction {
        code: restriction.code.clone(),
        description: restriction.description.clone(),
        active_from: restriction.active_from.map(IsoDateTime::from),
        active_until: restriction.active_until.map(IsoDateTime::from),
    });
    rendered.collect()
}
