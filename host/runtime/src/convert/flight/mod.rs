//! Conversion of supplier responses about fares, tickets and services.

mod details;
mod itinerary;
mod reference;
mod request;
mod texts;

pub(crate) use details::{
    detailed_booking, detailed_booking_lookup, detailed_prebook_response, detailed_price_response,
};
pub(crate) use reference::{airline, airports};
pub(crate) use request::{
    book_request, cancel_request, find_request, list_request, prebook_request, price_request,
    purchase_request, quote_request,
};

use self::itinerary::{
    JOURNEYS_MAX, PASSENGERS_MAX, SEGMENTS_MAX, booked_journeys, changes, fare_conditions,
    passenger_index,
};
use self::texts::{booking_texts, prebook_texts};
use super::dropped::DroppedItems;
use super::error::{booking_status, optional_checkout};
use super::{
    ConvertResult, ExpectedReferences, PrebookExpectation, currency, expected_currency, expiry,
    invalid, list, money, optional, optional_instant, optional_money, positive_money,
    same_currency, same_variant, text, valid_if, valid_items,
};
use crate::bindings::exports::stopover::supplier::{
    flight_booking, flight_cancellation, flight_pricing, flight_services,
};
use crate::bindings::stopover::supplier::flight_types as wire;
use crate::bindings::v1_1::stopover::supplier::flight_details::OfferDetails;
use host_domain::flight::supplier_api::{
    AvailableService, FlightAppliedFilters, FlightBookRequest, FlightCancellationAmounts,
    FlightOffer, FlightPrebookResponse, FlightPriceRequest, FlightPriceResponse,
    FlightSupplierBooking, FlightSupplierQuote, SupplierService,
};
use host_domain::flight::{Baggage, BaggageType, FlightOfferDetails, ServiceType, TicketDetails};
use host_domain::money::Currency;
use host_domain::supplier::{BookingLookup, FindRequest, SupplierBookingStatus};
use host_domain::time::Timestamp;
use std::collections::HashMap;

/// Maximum number of available or booked services of one ticket. A seat map lists about 400 per
/// segment.
const SERVICES_MAX: usize = 2_000;
/// Maximum accepted weight of a bag. A bag of a ton would be freight, so a larger value is an
/// error.
const BAG_KG_MAX: u32 = 1_000;

pub(crate) fn price_response(
    response: flight_pricing::PriceResponse,
    request: &FlightPriceRequest,
    now: Timestamp,
    dropped: &mut DroppedItems,
) -> ConvertResult<FlightPriceResponse> {
    Ok(FlightPriceResponse {
        offers: priced_offers(response.offers, request, now, dropped, |found| {
            (found, None)
        })?,
        applied: applied(response.applied),
        truncated: response.truncated,
    })
}

/// Converts offers in a single currency, with one journey for each requested journey, and at most
/// as many as requested. `split` returns the parts of an offer of any version. Parts that are left out of
/// an offer are recorded only if the offer itself is kept.
fn priced_offers<T>(
    found: Vec<T>,
    request: &FlightPriceRequest,
    now: Timestamp,
    dropped: &mut DroppedItems,
    split: impl Fn(T) -> (flight_pricing::Offer, Option<OfferDetails>),
) -> ConvertResult<Vec<FlightOffer>> {
    let offers_max = usize::from(request.limit);
    let mut offers = Vec::with_capacity(found.len().min(offers_max));
    list("offers", found, offers_max, |found| {
        let (found, details) = split(found);
        let mut dropped_parts = DroppedItems::default();
        let offer = offer(found, request, now, &mut dropped_parts);
        let Some(mut offer) = dropped.keep(offer) else {
            return Ok(());
        };
        dropped.append(dropped_parts);
        if let Some(details) = details {
            let (currency, journeys) = (offer.total.currency, &mut offer.journeys);
            offer.details = details::add_offer_details(details, currency, journeys, dropped);
        }
        offers.push(offer);
        Ok(())
    })?;
    keep_most_common_currency(&mut offers, dropped);
    dropped.check_remaining(!offers.is_empty())?;
    Ok(offers)
}

/// Leaves out and records the offers that are not in the currency of most offers. Of currencies with
/// equally many offers, the first one counts.
fn keep_most_common_currency(offers: &mut Vec<FlightOffer>, dropped: &mut DroppedItems) {
    let mut counts: HashMap<Currency, usize> = HashMap::new();
    for offer in offers.iter() {
        *counts.entry(offer.total.currency).or_default() += 1;
    }
    let count_max = counts.values().max();
    let mut currencies = offers.iter().map(|offer| offer.total.currency);
    let most_common = currencies.find(|currency| counts.get(currency) == count_max);
    offers.retain(|offer| {
        let is_most_common = Some(offer.total.currency) == most_common;
        let reason = "another currency than most offers";
        let kept = dropped.keep(valid_if(is_most_common, (), "offers.currency", reason));
        kept.is_some()
    });
}

fn offer(
    offer: flight_pricing::Offer,
    request: &FlightPriceRequest,
    now: Timestamp,
    dropped: &mut DroppedItems,
) -> ConvertResult<FlightOffer> {
    let currency = currency("offers.currency", &offer.currency)?;
    let journeys = request.journeys.len();
    if offer.journeys.len() != journeys {
        return invalid("offers.journeys", "not one for each requested");
    }
    let travellers = &request.travellers;
    let passengers = usize::from(travellers.adults)
        + travellers.children.len()
        + usize::from(travellers.infants);
    let key = offer.exclusive_key.filter(|key| !key.is_empty());
    Ok(FlightOffer {
        supplier_offer: text::opaque("offers.supplier-offer", offer.supplier_offer)?,
        exclusive_key: optional(key, |key| text::key("offers.exclusive-key", key))?,
        total: positive_money("offers.total", offer.total, currency)?,
        fare_family: text::optional_display(offer.fare_family, text::LINE_CHARS),
        refundable: offer.refundable,
        fare_conditions: fare_conditions(&offer.fare_conditions, dropped),
        documents_required: offer.documents_required,
        checked_bag_included: offer.checked_bag_included,
        carry_on_included: offer.carry_on_included,
        journeys: list("offers.journeys", offer.journeys, journeys, |journey| {
            itinerary::journey(journey, passengers, dropped)
        })?,
        expires_at: expiry("offers.expires-at", offer.expires_at, now)?,
        details: FlightOfferDetails::default(),
    })
}

fn applied(flags: flight_pricing::AppliedFilters) -> FlightAppliedFilters {
    use flight_pricing::AppliedFilters as Flags;
    FlightAppliedFilters {
        cabin: flags.contains(Flags::CABIN),
        max_stops: flags.contains(Flags::MAX_STOPS),
        airlines: flags.contains(Flags::AIRLINES),
        excluded_airlines: flags.contains(Flags::EXCLUDED_AIRLINES),
        departure_after: flags.contains(Flags::DEPARTURE_AFTER),
        departure_before: flags.contains(Flags::DEPARTURE_BEFORE),
        arrival_before: flags.contains(Flags::ARRIVAL_BEFORE),
        refundable: flags.contains(Flags::REFUNDABLE),
        checked_bag: flags.contains(Flags::CHECKED_BAG),
        max_total: flags.contains(Flags::MAX_TOTAL),
        sort: flags.contains(Flags::SORT),
    }
}

/// Converts a prebooked fare for `passengers` passengers. It must be in the currency of its offer.
pub(crate) fn prebook_response(
    response: flight_booking::PrebookResponse,
    expected: PrebookExpectation,
    passengers: usize,
    dropped: &mut DroppedItems,
) -> ConvertResult<FlightPrebookResponse> {
    let mut prebook = bound_fare(response, expected, passengers, dropped)?;
    prebook_texts(&mut prebook).fit(dropped);
    Ok(prebook)
}

fn bound_fare(
    response: flight_booking::PrebookResponse,
    expected: PrebookExpectation,
    passengers: usize,
    dropped: &mut DroppedItems,
) -> ConvertResult<FlightPrebookResponse> {
    let currency = same_currency("currency", &response.currency, expected.currency)?;
    if response.journeys.is_empty() {
        return invalid("journeys", "none");
    }
    Ok(FlightPrebookResponse {
        supplier_prebook: text::opaque("supplier-prebook", response.supplier_prebook)?,
        total: positive_money("total", response.total, currency)?,
        fare: optional_money("fare", response.fare, currency)?,
        fare_tax: optional_money("fare-tax", response.fare_tax, currency)?,
        fare_conditions: fare_conditions(&response.fare_conditions, dropped),
        documents_required: response.documents_required,
        journeys: itinerary::journeys(response.journeys, passengers, dropped)?,
        expires_at: expiry("expires-at", response.expires_at, expected.now)?,
        checkout: optional_checkout(response.checkout, expected.collects_payment)?,
        details: TicketDetails::default(),
    })
}

/// The booking that a response must refer to, and the maximum number of its passengers.
pub(crate) struct BookingExpectation {
    references: ExpectedReferences,
    /// The currency of the booking, if it is known.
    currency: Option<Currency>,
    passengers: usize,
}

impl BookingExpectation {
    pub(crate) fn for_book(request: &FlightBookRequest) -> Self {
        Self {
            references: ExpectedReferences::new(&request.client_reference, None),
            currency: Some(request.total.currency),
            passengers: request.passengers.len(),
        }
    }

    pub(crate) fn for_find(request: &FindRequest, currency: Option<Currency>) -> Self {
        Self {
            references: request.into(),
            currency,
            passengers: PASSENGERS_MAX,
        }
    }

    /// Builds the expectation for a cancellation or a purchase of services.
    pub(crate) fn for_change(
        client_reference: &str,
        supplier_reference: &str,
        currency: Currency,
    ) -> Self {
        Self {
            references: ExpectedReferences::new(client_reference, Some(supplier_reference)),
            currency: Some(currency),
            passengers: PASSENGERS_MAX,
        }
    }
}

/// Converts the requested booking. References, currency, status and total must be valid. Other parts are left out and recorded if they are not, because a ticket that
/// is issued must not look like one whose outcome is unknown.
pub(crate) fn supplier_booking(
    state: wire::SupplierBooking,
    expected: &BookingExpectation,
    dropped: &mut DroppedItems,
) -> ConvertResult<FlightSupplierBooking> {
    let mut booking = requested_booking(state, expected, dropped)?;
    booking_texts(&mut booking).fit(dropped);
    Ok(booking)
}

fn requested_booking(
    state: wire::SupplierBooking,
    expected: &BookingExpectation,
    dropped: &mut DroppedItems,
) -> ConvertResult<FlightSupplierBooking> {
    let currency = expected_currency(&state.currency, expected.currency)?;
    let status = booking_status(state.status)?;
    // A booking that is only accepted may not have a reference at the supplier yet.
    let unnamed = status == SupplierBookingStatus::Pending && state.supplier_reference.is_empty();
    let supplier_reference = match unnamed {
        true => String::new(),
        false => text::reference("supplier-reference", state.supplier_reference)?,
    };
    let client_reference = text::optional_reference("client-reference", state.client_reference)?;
    let references = &expected.references;
    references.check(&supplier_reference, client_reference.as_deref())?;
    let passengers = expected.passengers;
    let total = money("total", state.total, currency)?;
    let fare = dropped.keep(optional_money("fare", state.fare, currency));
    let fare_tax = dropped.keep(optional_money("fare-tax", state.fare_tax, currency));
    let has_amounts = state.cancellation.is_some();
    let amounts = (state.cancellation).and_then(|amounts| dropped.keep(cancellation(amounts)));
    let services_count = state.services.len();
    let services = dropped.keep_valid("services", state.services, SERVICES_MAX, |service| {
        booked_service(service, currency, passengers)
    });
    Ok(FlightSupplierBooking {
        status,
        supplier_reference,
        client_reference,
        airline_pnr: text::optional_display(state.airline_pnr, text::LINE_CHARS),
        total,
        fare: fare.flatten(),
        fare_tax: fare_tax.flatten(),
        journeys: booked_journeys(state.journeys, passengers, dropped),
        has_unreadable_services: services.len() < services_count,
        services,
        changes: changes(state.changes, passengers, dropped),
        has_unreadable_amounts: has_amounts && amounts.is_none(),
        cancellation: amounts,
        details: TicketDetails::default(),
    })
}

fn booked_service(
    service: wire::Service,
    currency: Currency,
    passengers: usize,
) -> ConvertResult<SupplierService> {
    Ok(SupplierService {
        supplier_service_id: text::reference(
            "services.supplier-service-id",
            service.supplier_service_id,
        )?,
        service_type: service_type(service.service_type),
        passenger: optional(service.passenger, |at| {
            passenger_index("services.passenger", at, passengers)
        })?,
        supplier_segment_ids: segment_ids(service.supplier_segment_ids)?,
        baggage: service.baggage.map(baggage),
        quantity: quantity("services.quantity", service.quantity)?,
        unit_amount: money("services.unit-amount", service.unit_amount, currency)?,
    })
}

fn segment_ids(ids: Vec<String>) -> ConvertResult<Vec<String>> {
    let field = "services.supplier-segment-ids";
    list(field, ids, JOURNEYS_MAX * SEGMENTS_MAX, |id| {
        text::reference(field, id)
    })
}

fn quantity(field: &'static str, quantity: u8) -> ConvertResult<u8> {
    valid_if(quantity > 0, quantity, field, "none of it")
}

const fn service_type(service_type: wire::ServiceType) -> ServiceType {
    same_variant!(service_type, wire::ServiceType => ServiceType, [Baggage, Seat, Meal, Other])
}

const fn baggage_type(baggage_type: wire::BaggageType) -> BaggageType {
    same_variant!(baggage_type, wire::BaggageType => BaggageType, [Checked, CarryOn])
}

fn baggage(baggage: wire::Baggage) -> Baggage {
    Baggage {
        baggage_type: baggage_type(baggage.baggage_type),
        max_weight_kg: baggage.max_weight_kg.filter(|kg| *kg <= BAG_KG_MAX),
    }
}

fn cancellation(amounts: wire::CancellationAmounts) -> ConvertResult<FlightCancellationAmounts> {
    let currency = currency("cancellation.currency", &amounts.currency)?;
    Ok(FlightCancellationAmounts {
        fee: money("cancellation.fee", amounts.fee, currency)?,
        refund: money("cancellation.refund", amounts.refund, currency)?,
        supplier_reference: text::optional_reference(
            "cancellation.supplier-reference",
            amounts.supplier_reference,
        )?,
    })
}

pub(crate) fn booking_lookup(
    lookup: flight_booking::BookingLookup,
    expected: &BookingExpectation,
    dropped: &mut DroppedItems,
) -> ConvertResult<BookingLookup<FlightSupplierBooking>> {
    Ok(match lookup {
        flight_booking::BookingLookup::Found(state) => {
            BookingLookup::Found(Box::new(supplier_booking(state, expected, dropped)?))
        }
        flight_booking::BookingLookup::NotFound => BookingLookup::NotFound,
    })
}

pub(crate) fn quote(quote: flight_cancellation::Quote) -> ConvertResult<FlightSupplierQuote> {
    Ok(match quote {
        flight_cancellation::Quote::Quoted(quoted) => {
            let currency = currency("quoted.currency", &quoted.currency)?;
            FlightSupplierQuote::Quoted {
                fee: money("quoted.fee", quoted.fee, currency)?,
                refund: money("quoted.refund", quoted.refund, currency)?,
                expires_at: optional_instant("quoted.expires-at", quoted.expires_at)?,
            }
        }
        flight_cancellation::Quote::Unavailable(reason) => {
            FlightSupplierQuote::Unavailable(text::operator_message(reason))
        }
    })
}

/// Converts the available services of a ticket, all in one currency.
pub(crate) fn available_services(
    available: flight_services::AvailableServices,
    dropped: &mut DroppedItems,
) -> ConvertResult<Vec<AvailableService>> {
    let currency = currency("currency", &available.currency)?;
    let services = available.services;
    valid_items("services", services, SERVICES_MAX, dropped, |service| {
        Ok(AvailableService {
            supplier_service_id: text::reference(
                "services.supplier-service-id",
                service.supplier_service_id,
            )?,
            service_type: service_type(service.service_type),
            passenger: passenger_index("services.passenger", service.passenger, PASSENGERS_MAX)?,
            supplier_segment_ids: segment_ids(service.supplier_segment_ids)?,
            baggage: service.baggage.map(baggage),
            unit_amount: money("services.unit-amount", service.unit_amount, currency)?,
            max_quantity: quantity("services.max-quantity", service.max_quantity)?,
        })
    })
}

#[cfg(test)]
mod fuzzed;
#[cfg(test)]
mod tests;
