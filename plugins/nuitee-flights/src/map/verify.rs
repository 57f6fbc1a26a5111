//! Conversion of a verified offer to its terms, or to a refusal if the offer changed.

use stopover_sdk::types::flight::{FareConditions, Journey, PassengerType};
use stopover_sdk::types::{MinorUnits, Money};
use stopover_sdk::{ChangeError, Refusal, RefusalReason};

use crate::map::journey::{SegmentCabin, Trip, cabins, flight, journeys};
use crate::map::offer::OfferReference;
use crate::map::{baggage, minor, terms};
use crate::wire::prebook::Verified as WireVerified;
use crate::wire::{Segment, Terms};

/// The terms that the customer agreed to.
pub(crate) struct AgreedTerms<'a> {
    pub(crate) offered: &'a OfferReference,
    pub(crate) currency: &'a str,
    pub(crate) total: MinorUnits,
    pub(crate) passengers: &'a [PassengerType],
    pub(crate) logo_url: &'a str,
}

/// The current terms of an offer.
pub(crate) struct Verified {
    pub(crate) journeys: Vec<Journey>,
    pub(crate) cabins: Vec<SegmentCabin>,
    pub(crate) fare_conditions: FareConditions,
}

impl AgreedTerms<'_> {
    /// Refuses a higher price, because the customer must consent to it.
    pub(crate) fn check_total(&self, total: MinorUnits) -> Result<(), Refusal> {
        if total <= self.total {
            return Ok(());
        }
        let now = Money::new(total, self.currency);
        let message = "the price of the offer rose";
        Err(Refusal::new(RefusalReason::PriceChanged(now), message))
    }

    /// Refuses flights that differ from the offered ones.
    pub(crate) fn check_flights(&self, segments: &[Segment<'_>]) -> Result<(), Refusal> {
        let agreed = self.offered.flights.iter().flatten();
        if agreed.cloned().eq(segments.iter().map(flight)) {
            return Ok(());
        }
        Err(terms_changed("the flights of the offer changed"))
    }
}

fn terms_changed(message: &str) -> Refusal {
    Refusal::new(RefusalReason::TermsChanged, message)
}

/// Returns the current terms of an offer. Verifying changes nothing, so an unreadable response is
/// "not sent" and the whole call may be repeated.
pub(crate) fn verified(
    agreed: &AgreedTerms<'_>,
    wire: &WireVerified<'_>,
) -> Result<Verified, ChangeError> {
    if wire.changes.cabin_changed.is_set() {
        return Err(terms_changed("the cabin of the offer changed").into());
    }
    if wire.changes.fare_changed.is_set() {
        return Err(terms_changed("the fare of the offer changed").into());
    }
    let again = |what: &str| ChangeError::NotSent(format!("the offer cannot be verified: {what}"));
    let journey = wire
        .journey
        .as_ref()
        .ok_or_else(|| again("the verified offer has no journey"))?;
    agreed.check_flights(&journey.segments.0)?;
    let price = journey.pricing.display.as_ref();
    let price = price.filter(|price| price.currency.as_str() == agreed.currency);
    let total = price
        .and_then(|price| minor(price.total, agreed.currency))
        .filter(|total| *total > 0)
        .ok_or_else(|| again("the verified offer has no price in the offer's currency"))?;
    agreed.check_total(total)?;

    let segments = &journey.segments.0;
    let cabins = cabins(segments, &journey.segment_fares.0, &journey.fare).map_err(again)?;
    let trip = Trip {
        key: journey.key.as_str(),
        segments,
        segment_counts: &agreed.offered.segment_counts(),
        logo_url: agreed.logo_url,
    };
    let pieces = baggage::pieces(&journey.baggage, agreed.passengers);
    Ok(Verified {
        journeys: journeys(trip, &cabins, &pieces).map_err(again)?,
        cabins,
        fare_conditions: terms::conditions(journey.terms.as_ref().unwrap_or(&Terms::default())),
    })
}
