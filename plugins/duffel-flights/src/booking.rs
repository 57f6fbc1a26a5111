//! Prebooking, booking and reading a booking back.

use serde_json::{Value, json};
use stopover_sdk::detailed_flight_booking::{
    BookRequest, DetailedBooking, DetailedBookingLookup, DetailedPrebookResponse, FindRequest,
    PrebookRequest,
};
use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::http::{self, Method, Response};
use stopover_sdk::json::{DecodeError, ensure};
use stopover_sdk::money::Decimal;
use stopover_sdk::types::Money;
use stopover_sdk::types::flight::Passenger;
use stopover_sdk::{ChangeError, DetailedFlightBooking, ReadError, Refusal, RefusalReason};

use crate::fault::{Change, Fault};
use crate::map::offer::{PrebookReference, check_price};
use crate::map::passenger::{self, PassengerIds};
use crate::settings::Settings;
use crate::upstream::{
    AIRLINE_TIMEOUT_MS, CHANGE_TIMEOUT_MS, ReadFailure, after_change, api_request, find_in_pages,
    get, not_sent, open, open_change, open_read, with_data,
};
use crate::wire::cancellation::OrderCancellation;
use crate::wire::offer::Offer;
use crate::wire::order::{AcceptedOrder, Order, client_reference};
use crate::wire::{OptionalText, Part};
use crate::{DuffelFlights, map, wire};

/// Maximum number of pages of orders that are read for one offer, or of cancellations for one order.
/// An offer has at most one order, and an order few cancellation quotes, so a longer list is not a
/// valid response.
const PAGES_MAX: usize = 5;

impl DetailedFlightBooking for DuffelFlights {
    fn prebook(request: PrebookRequest) -> Result<DetailedPrebookResponse, ChangeError> {
        let settings = Settings::read()?;
        let id = &request.supplier_offer;
        let (currency, total) = (request.currency.as_str(), request.total);
        let offer = read_offer(&settings, id)
            .map_err(|failure| failure.before_change(Change::Passenger))?;
        let ids = check_passengers(&request, &offer)?;
        let is_loyal = |passenger: &Passenger| !passenger.loyalty_accounts.is_empty();
        if !request.passengers.iter().any(is_loyal) {
            check_price(&offer, currency, total, not_sent)?;
            return map::offer::prebook_response(offer, ids).map_err(not_sent);
        }
        let mut is_patched = false;
        for (passenger, passenger_id) in request.passengers.iter().zip(&ids.0) {
            if is_loyal(passenger) {
                let result = set_loyalty(&settings, id, passenger_id, passenger);
                result.map_err(|error| {
                    if is_patched {
                        after_change(error)
                    } else {
                        error
                    }
                })?;
                is_patched = true;
            }
        }
        let offer =
            read_offer(&settings, id).map_err(|failure| failure.after_change(Change::Passenger))?;
        check_price(&offer, currency, total, ChangeError::from)?;
        Ok(map::offer::prebook_response(offer, ids)?)
    }

    fn book(request: BookRequest) -> Result<DetailedBooking, ChangeError> {
        let settings = Settings::read()?;
        let bound = PrebookReference::read(&request.supplier_prebook);
        let bound = bound.ok_or_else(|| before_booking(not_own_prebook()))?;
        let passengers = passenger::order_passengers(
            &request.passengers,
            &bound.passengers,
            &bound.documents,
            &request.contact,
        );
        let passengers = passengers.map_err(before_booking)?;
        let payment = payment(request.total, &request.currency)?;
        // The order is found by its metadata, whose values have at most 500 characters.
        let order = json!({
            "type": "instant",
            "selected_offers": [bound.offer],
            "payments": [payment],
            "passengers": passengers,
            "metadata": {
                "gateway_booking_id": request.client_reference,
                "gateway_passengers": map::order::passengers_label(&bound.passengers),
            },
        });
        let http_request =
            api_request(&settings, Method::Post, "/air/orders").timeout_ms(CHANGE_TIMEOUT_MS);
        let response = with_data(http_request, order)?.send()?;
        if response.status == 202 {
            return Ok(pending_booking(&response, &request)?);
        }
        match open::<Order>(&response)? {
            Ok(page) => Ok(new_booking(page.data, &request, &bound)?),
            Err(fault) if fault.is_price_change() => {
                Err(price_changed_error(&settings, &bound.offer, fault))
            }
            Err(fault) => Err(fault.into_change_error(Change::Book)),
        }
    }

    fn find(request: FindRequest) -> Result<DetailedBookingLookup, ReadError> {
        let settings = Settings::read()?;
        let known = request.supplier_reference.filter(|id| !id.is_empty());
        if known.is_none() && request.supplier_prebook.is_none() {
            // Without an id no request can be sent, so the lookup proves no absence.
            let message = "neither the order nor its offer is known";
            return Err(Refusal::new(RefusalReason::Invalid, message).into());
        }
        let mut order = match known.map(|id| read_order(&settings, &id)).transpose() {
            Err(failure) if failure.is_not_found() => None,
            order => order?,
        };
        // Without the prebook the order cannot be searched for: Duffel does not filter orders by
        // their metadata.
        let bound = request.supplier_prebook.as_deref();
        let bound =
            bound.map(|prebook| PrebookReference::read(prebook).ok_or_else(not_own_prebook));
        if let (None, Some(bound)) = (&order, &bound) {
            let bound = bound.as_ref().map_err(Refusal::clone)?;
            order = find_order(&settings, bound, &request.client_reference)?;
        }
        let Some(order) = order else {
            return Ok(DetailedBookingLookup::NotFound);
        };
        map::order::check_booking(&order, None, &request.client_reference)?;
        let agreed = bound.and_then(|bound| bound.ok()?.total());
        Ok(DetailedBookingLookup::Found(state(
            &settings, order, agreed,
        )?))
    }
}

fn not_own_prebook() -> Refusal {
    Refusal::new(RefusalReason::Invalid, "not a prebook of this adapter")
}

/// Converts a refusal by the adapter itself, before an order is requested. Duffel refused nothing, and an
/// earlier call with the same prebook may have made the order.
fn before_booking(refusal: Refusal) -> ChangeError {
    ChangeError::NotSent(refusal.message)
}

pub(crate) fn read_order(settings: &Settings, id: &str) -> Result<Order, ReadFailure> {
    let path = format!("/air/orders/{}", http::percent_encode(id));
    let order: Order = open_read(&get(settings, &path).send()?)?;
    ensure(order.id() == id, "the response is about another order")?;
    Ok(order)
}

/// Returns the booking's current state. For a cancelled order the state must include the
/// cancellation's amounts, so they are read if the order does not contain them. `agreed` is the total of
/// the booking, if it is known.
pub(crate) fn state(
    settings: &Settings,
    mut order: Order,
    agreed: Option<Money>,
) -> Result<DetailedBooking, ReadFailure> {
    if !map::order::is_canceled(&order)? {
        return Ok(supplier_booking(order, None, agreed)?);
    }
    let within = std::mem::take(&mut order.cancellation).into_part();
    let is_confirmed = |cancellation: &OrderCancellation| {
        map::cancellation::is_confirmed(cancellation, order.id()) == Ok(true)
    };
    let cancellation = match within.decoded().filter(is_confirmed) {
        Some(cancellation) => Some(cancellation),
        None => read_cancellation(settings, order.id())?,
    };
    Ok(supplier_booking(order, cancellation.as_ref(), agreed)?)
}

/// Reads the cancellation that was carried out, if Duffel lists one.
fn read_cancellation(
    settings: &Settings,
    order_id: &str,
) -> Result<Option<OrderCancellation>, ReadFailure> {
    let list = || get(settings, "/air/order_cancellations").query("order_id", order_id);
    find_in_pages(list, PAGES_MAX, |cancellations| {
        map::cancellation::find_confirmed(order_id, cancellations)
    })
}

/// Converts an order to a booking state, and reports what is left out of it.
pub(crate) fn supplier_booking(
    order: Order,
    cancellation: Option<&OrderCancellation>,
    agreed: Option<Money>,
) -> Result<DetailedBooking, DecodeError> {
    map::order::supplier_booking(order, cancellation, agreed, &mut DroppedItems::default())
}

/// Returns a payment of exactly `total` from the account's balance at Duffel.
///
/// # Errors
/// The amount cannot be written in the currency, so that nothing is sent.
pub(crate) fn payment(total: i64, currency: &str) -> Result<Value, ChangeError> {
    let amount = Decimal::from_minor(total, currency)
        .map_err(|error| ChangeError::NotSent(error.to_string()))?;
    Ok(json!({ "type": "balance", "amount": amount.to_string(), "currency": currency }))
}

fn read_offer(settings: &Settings, id: &str) -> Result<Offer, ReadFailure> {
    let path = format!("/air/offers/{}", http::percent_encode(id));
    let response = get(settings, &path).timeout_ms(AIRLINE_TIMEOUT_MS).send()?;
    let offer: Offer = open_read(&response)?;
    let is_asked = offer.id.value().is_some_and(|found| found == id);
    ensure(is_asked, "the response is about another offer")?;
    Ok(offer)
}

/// Returns the passengers' ids. Refuses passengers that Duffel would refuse at booking, before the
/// customer is charged and before anything is sent.
fn check_passengers(request: &PrebookRequest, offer: &Offer) -> Result<PassengerIds, ChangeError> {
    let invalid = |message: &str| Refusal::new(RefusalReason::Invalid, message);
    let slices = offer.slices.as_ref().optional("slices").map_err(not_sent)?;
    let last_departure = slices
        .and_then(|slices| slices.last())
        .and_then(|slice| slice.segments.last())
        .map_or("", |segment| segment.departing_at());
    let categories = passenger::categories_on(&request.passengers, last_departure);
    let offered = offer.passengers.as_ref().optional("passengers");
    let offered = offered.map_err(not_sent)?.map_or(&[][..], Vec::as_slice);
    let ids = passenger::match_ids(&categories, offered)
        .map_err(not_sent)?
        .ok_or_else(|| invalid("the offer is for other passengers"))?;
    let types = offer.document_types().map_err(not_sent)?;
    let documents_required = offer.documents_required().map_err(not_sent)?;
    passenger::order_passengers(&request.passengers, &ids.0, types, &request.contact)?;
    let is_possible = !documents_required || !types.is_empty();
    ensure(
        is_possible,
        "the offer requires a document and accepts none",
    )
    .map_err(not_sent)?;
    let has_document = |passenger: &Passenger| passenger::document(passenger, types).is_some();
    if documents_required && !request.passengers.iter().all(has_document) {
        return Err(invalid("the offer requires a passport of each passenger").into());
    }
    Ok(ids)
}

fn set_loyalty(
    settings: &Settings,
    offer_id: &str,
    passenger_id: &str,
    passenger: &Passenger,
) -> Result<(), ChangeError> {
    let path = format!(
        "/air/offers/{}/passengers/{}",
        http::percent_encode(offer_id),
        http::percent_encode(passenger_id)
    );
    let accounts = passenger.loyalty_accounts.iter();
    let accounts = accounts.map(|account| {
        json!({
            "airline_iata_code": account.airline_iata_code,
            "account_number": account.membership_number,
        })
    });
    let loyalty = json!({
        "given_name": passenger.first_name,
        "family_name": passenger.last_name,
        "loyalty_programme_accounts": accounts.collect::<Vec<Value>>(),
    });
    let http_request = api_request(settings, Method::Patch, &path).timeout_ms(AIRLINE_TIMEOUT_MS);
    let response = with_data(http_request, loyalty)?.send()?;
    let changed: wire::offer::ChangedPassenger = open_change(&response, Change::Passenger)?;
    let is_passenger = changed.id.required("id")? == passenger_id;
    ensure(is_passenger, "the response is about another passenger")?;
    Ok(())
}

/// Converts the order that answers a booking.
///
/// # Errors
/// The response does not prove that the booking of this request stands.
fn new_booking(
    order: Order,
    request: &BookRequest,
    bound: &PrebookReference,
) -> Result<DetailedBooking, DecodeError> {
    map::order::check_created(&order, &request.client_reference, &bound.passengers)?;
    // The agreed total takes the place of one that cannot be read.
    let is_same_currency = ["", request.currency.as_str()].contains(&order.currency());
    ensure(is_same_currency, "the order is in another currency")?;
    // Whether the cancellation is real is left to a later read of the order.
    let is_canceled = map::order::is_canceled(&order)?;
    ensure(!is_canceled, "the order is new and cancelled")?;
    let agreed = Money::new(request.total, &request.currency);
    supplier_booking(order, None, Some(agreed))
}

/// Returns the pending state of an order that Duffel accepted and decides later. The content of
/// this response is undocumented, and may be empty.
///
/// # Errors
/// The response is not Duffel's, has errors, or is about another booking.
fn pending_booking(
    response: &Response,
    request: &BookRequest,
) -> Result<DetailedBooking, DecodeError> {
    let accepted = match response.body.trim_ascii() {
        b"" => None,
        _ => accepted_order(response)?,
    };
    let accepted = accepted.unwrap_or_default();
    map::order::check_reference(&accepted.metadata, &request.client_reference)?;
    // Without the booking's reference the id may be another object's. The order is then found by its
    // offer.
    let is_named = client_reference(&accepted.metadata)?.is_some();
    let id = accepted.id.value().and_then(OptionalText::to_option);
    let id = id.filter(|id| is_named && id.starts_with(map::order::ORDER_ID));
    Ok(map::order::pending(
        id.unwrap_or_default(),
        &request.client_reference,
        request.total,
        &request.currency,
    ))
}

/// Returns the data of a response that accepts an order, if it has any.
fn accepted_order(response: &Response) -> Result<Option<AcceptedOrder>, DecodeError> {
    let envelope: wire::Envelope<Part<AcceptedOrder>> = response.json()?;
    let has_errors = envelope.has_errors();
    ensure(!has_errors, "a response with a success status has errors")?;
    wire::readable(envelope.data.optional("data")?.unwrap_or_default())
}

/// Returns the refusal of a payment that differs from the price, with the current price if it can
/// be read.
fn price_changed_error(settings: &Settings, offer_id: &str, fault: Fault) -> ChangeError {
    let now = read_offer(settings, offer_id).ok().and_then(|offer| {
        let (total, currency) = map::total(&offer.total_amount, &offer.total_currency).ok()?;
        Some(map::offer::price_changed(total, currency))
    });
    match now {
        Some(refusal) => refusal
            .with_code("payment_amount_does_not_match_order_amount")
            .into(),
        None => fault.into_change_error(Change::Book),
    }
}

fn find_order(
    settings: &Settings,
    bound: &PrebookReference,
    client_reference: &str,
) -> Result<Option<Order>, ReadFailure> {
    let list = || get(settings, "/air/orders").query("offer_id", &bound.offer);
    find_in_pages(list, PAGES_MAX, |orders| {
        map::order::with_reference(orders, client_reference, &bound.passengers)
    })
}
