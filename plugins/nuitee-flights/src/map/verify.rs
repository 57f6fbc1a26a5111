//! Conversion of a verified offer to its terms, or to a refusal if the offer changed.

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::lenient::{Part, Single};
use stopover_sdk::types::flight::{FareConditions, Journey, PassengerType};
use stopover_sdk::types::flight_details::JourneyDetails;
use stopover_sdk::types::{MinorUnits, Money};
use stopover_sdk::{ChangeError, Refusal, RefusalReason};

use crate::map::details::{DetailSources, journey_details};
use crate::map::journey::{
    SegmentCabin, Trip, cabin_letters, cabins, check_segment_ids, flight, journeys,
};
use crate::map::offer::OfferReference;
use crate::map::trip::TripParts;
use crate::map::{baggage, minor, terms};
use crate::wire::Segment;
use crate::wire::prebook::Verified as WireVerified;

/// The terms that the customer agreed to.
pub(crate) struct AgreedTerms<'a> {
    pub(crate) offered: &'a OfferReference<'a>,
    pub(crate) currency: &'a str,
    pub(crate) total: MinorUnits,
    pub(crate) passengers: &'a [PassengerType],
    pub(crate) logo_url: &'a str,
}

/// The current terms of an offer.
pub(crate) struct Verified {
    pub(crate) journeys: Vec<Journey>,
    pub(crate) journey_details: Vec<JourneyDetails>,
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

    /// Returns whether these are the offered flights.
    ///
    /// # Errors
    /// A flight lacks a value that identifies it.
    pub(crate) fn has_flights(&self, segments: &[Segment<'_>]) -> Result<bool, DecodeError> {
        let flights: Result<Vec<String>, DecodeError> = segments.iter().map(flight).collect();
        let agreed = self.offered.flights.iter().flatten();
        Ok(agreed.eq(flights?.iter()))
    }
}

/// Returns the refusal of flights that differ from the offered ones.
pub(crate) fn flights_changed() -> Refusal {
    terms_changed("the flights of the offer changed")
}

fn terms_changed(message: &str) -> Refusal {
    Refusal::new(RefusalReason::TermsChanged, message)
}

/// Returns the current terms of an offer. Verifying changes nothing, so an unreadable response is
/// "not sent" and the whole call may be repeated.
pub(crate) fn verified(
    agreed: &AgreedTerms<'_>,
    wire: WireVerified<'_>,
    dropped: &mut DroppedItems,
) -> Result<Verified, ChangeError> {
    let changes = wire.changes.optional("changes").map_err(not_verified)?;
    let changes = changes.unwrap_or_default();
    for (changed, name, what) in [
        (changes.cabin_changed, "cabinChanged", "cabin"),
        (changes.fare_changed, "fareChanged", "fare"),
    ] {
        let changed = changed.optional(name).map_err(not_verified)?;
        let changed = changed.map(|changed| changed.0.ok_or_else(|| unreadable_flag(name)));
        if changed.transpose()? == Some(true) {
            return Err(terms_changed(&format!("the {what} of the offer changed")).into());
        }
    }
    let journey = wire.journey.required("journey").map_err(not_verified)?;
    let are_fares_readable = !matches!(
        journey.segment_fares,
        Single::Value(Part::Unreadable(_)) | Single::Repeated
    );
    ensure(are_fares_readable, "its fares cannot be read").map_err(not_verified)?;
    let parts = TripParts::read(journey, "/data/0/journey", dropped);
    let segments = parts.segments.as_deref();
    let segments = segments.filter(|segments| !segments.is_empty());
    let segments = segments.ok_or_else(|| not_verified("it has no readable flights"))?;
    if !agreed.has_flights(segments).map_err(not_verified)? {
        return Err(flights_changed().into());
    }
    let price = parts.price.as_ref();
    let price = price.filter(|price| price.currency.as_str() == agreed.currency);
    let total = price
        .and_then(|price| minor(price.total, agreed.currency))
        .filter(|total| *total > 0)
        .ok_or_else(|| not_verified("it has no price in the offer's currency"))?;
    agreed.check_total(total)?;

    let cabins = cabins(segments, &parts.segment_fares, &parts.fare).map_err(not_verified)?;
    let agreed_cabins = agreed.offered.cabins.as_deref();
    if agreed_cabins.is_some_and(|agreed| agreed != cabin_letters(&cabins)) {
        return Err(terms_changed("the cabin of the offer changed").into());
    }
    let trip = Trip {
        key: parts.key.as_str(),
        segments,
        segment_counts: &agreed.offered.segment_counts(),
        logo_url: agreed.logo_url,
    };
    let pieces = baggage::pieces(&parts.baggage, agreed.passengers);
    let journeys = journeys(trip, &cabins, &pieces).map_err(not_verified)?;
    check_segment_ids(&journeys).map_err(not_verified)?;
    let sources = DetailSources {
        fares: &parts.segment_fares,
        amenities: &[],
        baggage: &parts.baggage,
        passengers: agreed.passengers,
    };
    Ok(Verified {
        journeys,
        journey_details: journey_details(trip, &sources),
        cabins,
        fare_conditions: terms::conditions(&parts.terms.unwrap_or_default(), price),
    })
}

fn unreadable_flag(name: &str) -> ChangeError {
    not_verified(format_args!("{name} is neither true nor false"))
}

fn not_verified(cause: impl std::fmt::Display) -> ChangeError {
    ChangeError::NotSent(format!("the offer cannot be verified: {cause}"))
}
