//! Conversion of a prebook to the bound offer, or to a refusal if the offer changed.

use serde::{Deserialize, Serialize};
use stopover_sdk::flight_booking::PrebookResponse;
use stopover_sdk::types::flight::PassengerType;
use stopover_sdk::types::{Checkout, MinorUnits, TimestampMs};
use stopover_sdk::{ChangeError, json, time};

use crate::map::booking::fare;
use crate::map::journey::SegmentCabin;
use crate::map::offer::DOCUMENTS_REQUIRED;
use crate::map::verify::{AgreedTerms, Verified};
use crate::map::{minor, terms};
use crate::wire::prebook::Prebook;

/// The adapter's reference of a prebook: the data needed to book, and the data that Nuitee's
/// bookings lack.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PrebookReference {
    pub(crate) prebook_id: String,
    /// Id of the transaction that is paid in the browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) transaction_id: Option<String>,
    /// Number of flights of each journey.
    #[serde(rename = "legs")]
    pub(crate) segment_counts: Vec<usize>,
    /// Cabin of each flight.
    pub(crate) cabins: Vec<SegmentCabin>,
    /// One letter per passenger: `A` adult, `C` child, `I` infant.
    pub(crate) passengers: String,
}

impl PrebookReference {
    pub(crate) fn passenger_types(&self) -> Vec<PassengerType> {
        let letters = self.passengers.chars();
        letters
            .map(|letter| match letter {
                'C' => PassengerType::Child,
                'I' => PassengerType::Infant,
                _ => PassengerType::Adult,
            })
            .collect()
    }
}

fn letters(passengers: &[PassengerType]) -> String {
    let letters = passengers.iter().map(|passenger| match passenger {
        PassengerType::Adult => 'A',
        PassengerType::Child => 'C',
        PassengerType::Infant => 'I',
    });
    letters.collect()
}

/// Returns the bound offer. Other flights or a higher price are refused because the customer must
/// consent to them. A lower price is accepted.
pub(crate) fn prebook_response(
    agreed: &AgreedTerms<'_>,
    verified: Verified,
    uses_payment_sdk: bool,
    now_ms: TimestampMs,
    prebook: &Prebook<'_>,
) -> Result<PrebookResponse, ChangeError> {
    let currency = agreed.currency;
    let prebook_id = prebook
        .id
        .to_owned()
        .ok_or_else(|| contradiction("it has no id"))?;
    if prebook.currency.as_str() != currency {
        return Err(contradiction("it is in another currency"));
    }
    let total: MinorUnits = minor(prebook.price, currency)
        .filter(|total| *total > 0)
        .ok_or_else(|| contradiction("it has no price"))?;
    let journey = &prebook.booking.journey;
    if !journey.segments.0.is_empty() {
        agreed.check_flights(&journey.segments.0)?;
    }
    agreed.check_total(total)?;
    let checkout = checkout(uses_payment_sdk, prebook)?;
    let fare = fare(journey, currency, total);
    let bound = PrebookReference {
        prebook_id,
        transaction_id: prebook
            .transaction_id
            .to_owned()
            .filter(|_| checkout.is_some()),
        segment_counts: agreed.offered.segment_counts(),
        cabins: verified.cabins,
        passengers: letters(agreed.passengers),
    };
    let supplier_prebook = json::encode_text(&bound)?;
    let terms = journey.terms.as_ref();
    let ticket_limit = time::parse_timestamp(prebook.booking.ticket_limit_time.as_str());
    Ok(PrebookResponse {
        supplier_prebook,
        currency: currency.to_owned(),
        total,
        fare: fare.map(|(fare, _)| fare),
        fare_tax: fare.map(|(_, tax)| tax),
        fare_conditions: terms.map_or(verified.fare_conditions, terms::conditions),
        documents_required: DOCUMENTS_REQUIRED,
        journeys: verified.journeys,
        expires_at: ticket_limit.filter(|limit| *limit > now_ms),
        checkout,
    })
}

/// Returns the checkout. Nuitee has no checkout page; the token is for its payment form.
fn checkout(
    uses_payment_sdk: bool,
    prebook: &Prebook<'_>,
) -> Result<Option<Checkout>, ChangeError> {
    if !uses_payment_sdk {
        return Ok(None);
    }
    let token = prebook.secret_key.to_owned();
    let token = token.filter(|_| prebook.transaction_id.0.is_some());
    let token = token.ok_or_else(|| contradiction("it has no payment-form token"))?;
    Ok(Some(Checkout { url: None, token }))
}

fn contradiction(what: &str) -> ChangeError {
    ChangeError::Unknown(format!("the prebook does not match the offer: {what}"))
}
