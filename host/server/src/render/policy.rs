//! What cancelling costs, and what lowers a price: policies, quotes, promotions.

use crate::api::value::{IsoDateTime, Money};
use host_domain::booking::mask_membership_number;
use host_domain::hotel;
use host_domain::hotel::quote;
use serde::Serialize;
use utoipa::ToSchema;

/// Version of the shape and meaning of a cancellation policy. It counts up when
/// the same terms would be written or read in another way.
const POLICY_VERSION: u32 = 1;

/// What cancelling costs from an instant on.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct Penalty {
    /// From here on.
    from: IsoDateTime,
    /// How the penalty is given.
    #[serde(rename = "type")]
    kind: PenaltyType,
    /// In total, not on top of earlier ones.
    amount: Money,
}

/// How a penalty is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum PenaltyType {
    /// An amount of money.
    Amount,
}

/// A rule that limits cancelling.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct Restriction {
    /// `NO_CANCELLATION` forbids cancelling while it is active; others are the supplier's own.
    #[schema(example = "NO_CANCELLATION")]
    code: String,
    /// For people.
    description: String,
    /// Since when; null: from the beginning.
    #[schema(required)]
    active_from: Option<IsoDateTime>,
    /// Until when; null: for good.
    #[schema(required)]
    active_until: Option<IsoDateTime>,
}

/// What cancelling costs, over time.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct CancellationPolicy {
    /// Version of the shape and meaning of this object.
    #[schema(minimum = 1, example = 1)]
    version: u32,
    /// Whether there is any time at which cancelling is free.
    refundable: bool,
    /// The last instant of free cancellation.
    #[schema(required)]
    deadline: Option<IsoDateTime>,
    /// In ascending order of `from`; each is the whole fee from then on.
    penalties: Vec<Penalty>,
    /// What may forbid cancelling altogether.
    restrictions: Vec<Restriction>,
}

/// Where a cancellation quote comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum QuoteSource {
    /// The supplier's own preview.
    SupplierQuote,
    /// Computed from the freshly read policy.
    PolicyEstimate,
}

/// What cancelling would cost now. Moves no money and promises nothing.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct CancellationQuote {
    /// Whether the amounts are known; false when the booking's policy cannot be read.
    available: bool,
    /// Where the amounts come from.
    source: QuoteSource,
    /// When the supplier's reads completed; not a validity deadline.
    checked_at: IsoDateTime,
    /// What would be kept; null when not available.
    #[schema(required)]
    fee: Option<Money>,
    /// What would be given back, from the price that is released; null when not
    /// available. The actual refund is at most what was captured and not yet refunded.
    #[schema(required)]
    refund: Option<Money>,
    /// Until when cancelling is free; null when it is not, or not known.
    #[schema(required)]
    free_until: Option<IsoDateTime>,
    /// What limits cancelling.
    restrictions: Vec<Restriction>,
}

/// A price reduction, already in the totals.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct Promotion {
    /// Display text.
    name: String,
    /// More of it.
    #[schema(required)]
    description: Option<String>,
    /// What it takes off.
    #[schema(required)]
    amount: Option<Money>,
    /// Zero-based positions of the rooms that it applies to.
    room_positions: Vec<u32>,
}

/// A loyalty programme's part in a booking.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct Loyalty {
    /// Its name.
    program: String,
    /// All but the last four characters are masked.
    #[schema(required, example = "*****1234")]
    membership_number: Option<String>,
    /// What the stay would earn.
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
            membership_number: loyalty.membership_number.as_deref().map(mask_membership_number),
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
