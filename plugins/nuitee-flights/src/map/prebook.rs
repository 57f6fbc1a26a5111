//! Conversion of a prebook to the bound offer, or to a refusal if the offer changed.

use serde::{Deserialize, Serialize};
use stopover_sdk::detailed_flight_booking::DetailedPrebookResponse;
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::flight_booking::PrebookResponse;
use stopover_sdk::json::DecodeError;
use stopover_sdk::lenient::{LenientAmount, Single};
use stopover_sdk::types::flight::PassengerType;
use stopover_sdk::types::flight_details::PrebookDetails;
use stopover_sdk::types::{Checkout, MinorUnits, Money, TimestampMs};
use stopover_sdk::{ChangeError, json};

use crate::map::journey::SegmentCabin;
use crate::map::offer::{DOCUMENTS_REQUIRED, future_time};
use crate::map::service::{ServiceScope, attachable_services};
use crate::map::trip::TripParts;
use crate::map::verify::{AgreedTerms, Verified, flights_changed};
use crate::map::{minor, price, terms};
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
    /// The prebooked price. Prebooks that were stored without it have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) total: Option<(MinorUnits, String)>,
}

impl PrebookReference {
    pub(crate) fn total(&self) -> Option<Money> {
        let (total, currency) = self.total.as_ref()?;
        Some(Money::new(*total, currency))
    }

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
    prebook: Prebook<'_>,
    dropped: &mut DroppedItems,
) -> Result<DetailedPrebookResponse, ChangeError> {
    let currency = agreed.currency;
    let prebook_id = prebook.id.required("prebookId").map_err(contradiction)?;
    let written = prebook
        .currency
        .required("currency")
        .map_err(contradiction)?;
    if written.as_str() != currency {
        return Err(contradiction("it is in another currency"));
    }
    let written = prebook.price.required("price").map_err(contradiction)?;
    let total: MinorUnits = minor(Single::Value(LenientAmount(Some(*written))), currency)
        .filter(|total| *total > 0)
        .ok_or_else(|| contradiction("it has no price"))?;
    let paid = paid_transaction(uses_payment_sdk, &prebook).map_err(contradiction)?;
    let (transaction_id, checkout) = paid.unzip();
    let bound = PrebookReference {
        prebook_id: prebook_id.as_str().to_owned(),
        transaction_id,
        segment_counts: agreed.offered.segment_counts(),
        cabins: verified.cabins,
        passengers: letters(agreed.passengers),
        total: Some((total, currency.to_owned())),
    };

    let booking =
        dropped.readable_part(format_args!("/data/0/booking"), prebook.booking.into_part());
    let booking = booking.unwrap_or_default();
    let trip = TripParts::read_part(booking.journey, "/data/0/booking/journey", dropped);
    let segments = trip.segments.as_deref().unwrap_or_default();
    if !segments.is_empty() && !agreed.has_flights(segments).map_err(contradiction)? {
        return Err(flights_changed().into());
    }
    agreed.check_total(total)?;

    let parts = price::breakdown(trip.price.as_ref(), currency, total);
    let ticket_limit = future_time(&booking.ticket_limit_time, now_ms);
    let ticket_limit = dropped.keep(
        format_args!("/data/0/booking/ticketLimitTime"),
        ticket_limit,
    );
    let stated = terms::conditions(&trip.terms.unwrap_or_default(), trip.price.as_ref());
    let scope = ServiceScope::new(agreed.passengers, &verified.journeys, segments);
    let services = attachable_services(
        prebook.services_attachable,
        &scope,
        "/data/0/servicesAttachable",
        dropped,
    );
    let response = PrebookResponse {
        supplier_prebook: json::encode_text(&bound)?,
        currency: currency.to_owned(),
        total,
        fare: parts.fare,
        fare_tax: parts.fare_tax,
        fare_conditions: terms::completed(&stated, &verified.fare_conditions),
        documents_required: DOCUMENTS_REQUIRED,
        journeys: verified.journeys,
        expires_at: ticket_limit.flatten(),
        checkout,
    };
    let details = PrebookDetails {
        price: parts,
        journeys: verified.journey_details,
        services,
        ..PrebookDetails::default()
    };
    Ok(DetailedPrebookResponse {
        prebook: response,
        details,
    })
}

/// Returns the transaction that the end user pays, with its checkout, or `None` if the account pays.
/// Nuitee has no checkout page; the token is for its payment form.
fn paid_transaction(
    uses_payment_sdk: bool,
    prebook: &Prebook<'_>,
) -> Result<Option<(String, Checkout)>, DecodeError> {
    if !uses_payment_sdk {
        return Ok(None);
    }
    let transaction_id = prebook.transaction_id.required("transactionId")?;
    let token = prebook
        .secret_key
        .required("secretKey")?
        .as_str()
        .to_owned();
    let checkout = Checkout { url: None, token };
    Ok(Some((transaction_id.as_str().to_owned(), checkout)))
}

fn contradiction(what: impl std::fmt::Display) -> ChangeError {
    ChangeError::Unknown(format!("the prebook does not match the offer: {what}"))
}
