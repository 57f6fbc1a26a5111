//! Conversion of an offer to a fare, and to the bound fare of a prebook.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use stopover_sdk::detailed_flight_booking::{DetailedPrebookResponse, PrebookResponse};
use stopover_sdk::detailed_flight_pricing::{DetailedOffer, Offer};
use stopover_sdk::flight_pricing::Filters;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::types::flight::{Journey, SegmentPassenger};
use stopover_sdk::types::flight_details::{OfferDetails, PrebookDetails, PriceBreakdown};
use stopover_sdk::types::{MinorUnits, Money, TimestampMs};
use stopover_sdk::{ChangeError, Refusal, RefusalReason, json};

use crate::map::details;
use crate::map::itinerary::{fare_conditions, journeys};
use crate::map::passenger::PassengerIds;
use crate::map::{optional_minor, optional_timestamp, total};
use crate::wire;
use crate::wire::itinerary::Slice;

/// The search that offers belong to.
pub(crate) struct Search {
    /// Id of the offer request.
    pub(crate) id: String,
    /// Passengers' ids: adults and children first, then infants.
    pub(crate) ids: PassengerIds,
    /// Number of passengers with a seat.
    pub(crate) seated: usize,
}

/// Converts an offer to a fare.
///
/// # Errors
/// The offer has no id, it is for other passengers, nobody pays in its currency, or its price, deadline
/// or journeys cannot be read.
pub(crate) fn offer(
    written: wire::offer::Offer,
    search: &Search,
) -> Result<DetailedOffer, DecodeError> {
    let supplier_offer = id(&written)?;
    check_party(&written, &search.ids)?;
    let expires_at = expires_at(&written)?;
    let (total, currency) = total(&written.total_amount, &written.total_currency)?;
    ensure(
        is_payable(currency),
        "an offer is in a currency that nobody pays in",
    )?;
    let currency = currency.to_owned();
    let (fare, fare_tax) = (base(&written, &currency), tax(&written, &currency));
    let details = OfferDetails {
        price: PriceBreakdown {
            fare,
            fare_tax,
            ..PriceBreakdown::default()
        },
        payment_terms: details::payment_terms(&written.payment_requirements),
        journeys: details::journeys(slices(&written)?, &search.ids),
    };
    let documents_required = written.documents_required()?;
    let fare_conditions = fare_conditions(written.conditions.as_decoded());
    let journeys = trip(written, &search.ids)?;
    let offer = Offer {
        supplier_offer,
        exclusive_key: Some(search.id.clone()),
        total,
        currency,
        fare_family: family(&journeys),
        refundable: fare_conditions.refund.allowed,
        fare_conditions,
        documents_required,
        checked_bag_included: is_included(&journeys, search.seated, |one| one.checked_bags),
        carry_on_included: is_included(&journeys, search.seated, |one| one.carry_on_bags),
        journeys,
        expires_at,
    };
    Ok(DetailedOffer { offer, details })
}

/// Returns whether somebody may pay in a currency. In ISO 4217, a code that begins with X is that of a
/// metal, of a unit of account, of a test or of no currency, except for the currencies of several states.
/// The gateway accepts none of the former, so that they must not be the currency of most offers.
fn is_payable(currency: &str) -> bool {
    const OF_SEVERAL_STATES: [&str; 5] = ["XAF", "XCD", "XCG", "XOF", "XPF"];
    !currency.starts_with('X') || OF_SEVERAL_STATES.contains(&currency)
}

/// Returns the price without taxes, if it can be read.
fn base(written: &wire::offer::Offer, currency: &str) -> Option<MinorUnits> {
    optional_minor(
        written.base_amount,
        written.base_currency.as_str(),
        currency,
    )
}

/// Returns the taxes of the price, if they can be read.
fn tax(written: &wire::offer::Offer, currency: &str) -> Option<MinorUnits> {
    optional_minor(written.tax_amount, written.tax_currency.as_str(), currency)
}

/// Returns whether a fare satisfies the filters that were sent to Duffel. The check is needed
/// because Duffel's filter counts connections but not stops, and airlines return near matches.
pub(crate) fn matches_filters(filters: &Filters, offer: &Offer) -> bool {
    let (after, before) = (&filters.departure_after, &filters.departure_before);
    let latest = &filters.arrival_before;
    fn clock(local: &str) -> &str {
        local.get(11..).unwrap_or_default()
    }
    offer.journeys.iter().all(|journey| {
        let (departs, arrives) = (clock(&journey.departure_time), clock(&journey.arrival_time));
        filters.max_stops.is_none_or(|most| journey.stops <= most)
            && after.as_deref().is_none_or(|after| departs >= after)
            && before.as_deref().is_none_or(|before| departs <= before)
            && latest.as_deref().is_none_or(|latest| arrives <= latest)
            && filters
                .cabin
                .is_none_or(|cabin| journey.segments.iter().all(|one| one.cabin == cabin))
    })
}

/// The adapter's reference of a prebook: the data needed to book.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PrebookReference {
    pub(crate) offer: String,
    /// Passengers' ids in the gateway's order.
    pub(crate) passengers: Vec<String>,
    /// Types of travel documents that the offer accepts.
    pub(crate) documents: Vec<String>,
    /// The prebooked price. Prebooks that were stored without it have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) total: Option<(MinorUnits, String)>,
}

impl PrebookReference {
    /// Parses a reference. Returns `None` if this adapter did not make it.
    pub(crate) fn read(supplier_prebook: &str) -> Option<Self> {
        json::decode(supplier_prebook.as_bytes()).ok()
    }

    pub(crate) fn total(&self) -> Option<Money> {
        let (total, currency) = self.total.as_ref()?;
        Some(Money::new(*total, currency))
    }
}

/// Checks that the offer costs no more than when it was offered. A higher price is refused because
/// the customer must consent to it.
///
/// # Errors
/// Returns a refusal if the price is higher or in another currency. `unreadable` converts the error
/// of a price that cannot be read.
pub(crate) fn check_price(
    written: &wire::offer::Offer,
    currency: &str,
    offered: MinorUnits,
    unreadable: fn(DecodeError) -> ChangeError,
) -> Result<(), ChangeError> {
    let stated = total(&written.total_amount, &written.total_currency);
    let (total, stated_currency) = stated.map_err(unreadable)?;
    if stated_currency != currency {
        let message = "the offer is in another currency now";
        return Err(Refusal::new(RefusalReason::TermsChanged, message).into());
    }
    if total > offered {
        return Err(price_changed(total, currency).into());
    }
    Ok(())
}

/// Converts an offer whose price was checked to the bound fare.
///
/// # Errors
/// The offer's price, deadline or journeys cannot be read.
pub(crate) fn prebook_response(
    written: wire::offer::Offer,
    ids: PassengerIds,
) -> Result<DetailedPrebookResponse, DecodeError> {
    let (total, currency) = total(&written.total_amount, &written.total_currency)?;
    let currency = currency.to_owned();
    let (fare, fare_tax) = (base(&written, &currency), tax(&written, &currency));
    let offer = id(&written)?;
    let documents = written.document_types()?.to_vec();
    let documents_required = written.documents_required()?;
    let expires_at = expires_at(&written)?;
    let details = PrebookDetails {
        payment_terms: details::payment_terms(&written.payment_requirements),
        journeys: details::journeys(slices(&written)?, &ids),
        ..PrebookDetails::default()
    };
    let fare_conditions = fare_conditions(written.conditions.as_decoded());
    let journeys = trip(written, &ids)?;
    let bound = PrebookReference {
        offer,
        passengers: ids.0,
        documents,
        total: Some((total, currency.clone())),
    };
    let supplier_prebook =
        json::encode_text(&bound).map_err(|error| DecodeError::new(error.to_string()))?;
    let prebook = PrebookResponse {
        supplier_prebook,
        total,
        fare,
        fare_tax,
        currency,
        fare_conditions,
        documents_required,
        journeys,
        expires_at,
        checkout: None,
    };
    Ok(DetailedPrebookResponse { prebook, details })
}

/// Returns the refusal of a fare whose price has risen.
pub(crate) fn price_changed(total: MinorUnits, currency: &str) -> Refusal {
    let now = Money::new(total, currency);
    Refusal::new(
        RefusalReason::PriceChanged(now),
        "the offer has another price now",
    )
}

/// Checks that an offer is for the passengers of its search, if it lists any. Passengers whose id the
/// search did not tell are not compared.
fn check_party(written: &wire::offer::Offer, ids: &PassengerIds) -> Result<(), DecodeError> {
    let listed = written.passengers.as_ref().optional("passengers")?;
    let listed: HashSet<&str> = listed.into_iter().flatten().map(|one| one.id()).collect();
    let mut known = ids.0.iter().filter(|id| !id.is_empty());
    let is_same = listed.len() == ids.0.len() && known.all(|id| listed.contains(id.as_str()));
    ensure(
        listed.is_empty() || is_same,
        "an offer is for other passengers",
    )
}

/// Returns the slices, or none if there are none.
///
/// # Errors
/// The list is repeated.
fn slices(written: &wire::offer::Offer) -> Result<&[Slice], DecodeError> {
    let slices = written.slices.as_ref().optional("slices")?;
    Ok(slices.map_or(&[], Vec::as_slice))
}

fn trip(written: wire::offer::Offer, ids: &PassengerIds) -> Result<Vec<Journey>, DecodeError> {
    let slices = written.slices.optional("slices")?.unwrap_or_default();
    ensure(!slices.is_empty(), "an offer has no flights")?;
    journeys(slices, ids)
}

fn expires_at(written: &wire::offer::Offer) -> Result<Option<TimestampMs>, DecodeError> {
    let expires_at = written.expires_at.as_ref().optional("expires_at")?;
    optional_timestamp(expires_at.map(String::as_str))
}

fn id(written: &wire::offer::Offer) -> Result<String, DecodeError> {
    let id = written.id.optional("id")?;
    let id = id.filter(|id| id.starts_with("off_"));
    let id = id.ok_or_else(|| DecodeError::new("an offer has no id of an offer"))?;
    Ok(id.clone())
}

/// Returns the fare family's name if all journeys have the same one.
fn family(journeys: &[Journey]) -> Option<String> {
    let first = journeys.first()?.fare_brand.as_ref()?;
    let is_common = journeys
        .iter()
        .all(|journey| journey.fare_brand.as_ref() == Some(first));
    is_common.then(|| first.clone())
}

/// Returns whether every passenger with a seat has a piece on every segment.
fn is_included(
    journeys: &[Journey],
    seated: usize,
    pieces: impl Fn(&SegmentPassenger) -> Option<u8>,
) -> bool {
    journeys
        .iter()
        .flat_map(|journey| &journey.segments)
        .all(|segment| {
            let with_bags = segment
                .passengers
                .iter()
                .filter(|one| usize::from(one.passenger) < seated)
                .filter(|one| pieces(one).is_some_and(|count| count > 0));
            with_bags.count() == seated
        })
}
