//! Conversion between Skylane's JSON and the interface, in pure functions.

use serde_json::{Value, json};
use stopover_sdk::detailed_flight_booking::{DetailedBooking, DetailedPrebookResponse};
use stopover_sdk::detailed_flight_pricing::{DetailedOffer, DetailedPriceResponse};
use stopover_sdk::flight_booking::{BookRequest, PrebookRequest, PrebookResponse};
use stopover_sdk::flight_pricing::{AppliedFilters, Offer, PriceRequest, Sort};
use stopover_sdk::flight_services::{AvailableService, AvailableServices, PurchaseRequest};
use stopover_sdk::json::{DecodeError, ensure, non_empty};
use stopover_sdk::money::{Decimal, MoneyError};
use stopover_sdk::time;
use stopover_sdk::types::flight::{
    AirlineChange, Baggage, BaggageType, Cabin, ChangeType, Document, DocumentType, Gender,
    Journey, LoyaltyAccount, Passenger, PassengerType, Segment, SegmentPassenger, Service,
    ServiceType, SupplierBooking,
};
use stopover_sdk::types::flight_details::{
    AttachableService, Bag, BookingDetails, JourneyDetails, OfferDetails, PrebookDetails,
    SegmentDetails, TicketDocument, TicketDocumentType,
};
use stopover_sdk::types::{BookingStatus, MinorUnits, Money, TimestampMs};

use crate::common::{
    self, JourneyData, SupplierMoney, amount, conditions, convert_items, is_within_size_limit,
    without_nulls,
};
use crate::fault::booking_failure;
use crate::skylane::fault::ERRORS;
use crate::skylane::wire;

impl SupplierMoney for wire::Money {
    fn into_money(self) -> Result<Money, DecodeError> {
        common::money(self.value, self.currency)
    }
}

fn payment(total: MinorUnits, currency: &str) -> Result<Value, MoneyError> {
    let value = Decimal::from_minor(total, currency)?.to_string();
    Ok(json!({"value": value, "currency": currency}))
}

pub(crate) fn instant(text: &str) -> Result<TimestampMs, DecodeError> {
    time::parse_timestamp(text).ok_or_else(|| DecodeError::new("an instant cannot be read"))
}

/// Creates a search. The passengers are in the order of their positions: adults, children, infants.
pub(crate) fn search_request(request: &PriceRequest) -> Value {
    let passengers = &request.passengers;
    let many = |kind, count: u8| (0..count).map(move |_| json!({"type": kind}));
    let children = passengers.children.iter();
    let travellers = many("adult", passengers.adults)
        .chain(children.map(|age| json!({"type": "child", "age": age})))
        .chain(many("infant", passengers.infants));
    let slices = request.journeys.iter().map(
        |journey| json!({"from": journey.origin, "to": journey.destination, "date": journey.date}),
    );
    without_nulls(json!({
        "slices": slices.collect::<Vec<_>>(),
        "travellers": travellers.collect::<Vec<_>>(),
        "cabin": request.filters.cabin.map(wanted_cabin),
        "max_connections": request.filters.max_stops,
        "currency": request.currency,
        "limit": request.limit,
    }))
}

pub(crate) fn price_response(
    found: wire::Found,
    request: &PriceRequest,
) -> Result<DetailedPriceResponse, DecodeError> {
    let (offers, surplus) = convert_items(found.offers, request.limit, |found| {
        if !is_within_size_limit(&found.id) {
            return Ok(None);
        }
        let details = OfferDetails {
            journeys: journey_details(&found.slices),
            ..OfferDetails::default()
        };
        let offer = offer(found, request.currency.as_deref())?;
        Ok(Some(DetailedOffer { offer, details }))
    })?;
    Ok(DetailedPriceResponse {
        offers,
        applied: applied(request),
        truncated: found.more || surplus,
    })
}

/// Returns the applied filters. Skylane has two filters and always sorts by price, cheapest first.
fn applied(request: &PriceRequest) -> AppliedFilters {
    let filters = AppliedFilters::CABIN | AppliedFilters::MAX_STOPS;
    if request.sort == Sort::TotalAmount && !request.descending {
        filters | AppliedFilters::SORT
    } else {
        filters
    }
}

fn offer(offer: wire::Offer, currency: Option<&str>) -> Result<Offer, DecodeError> {
    let total = offer.total.into_money()?;
    let currency = currency.unwrap_or(&total.currency).to_owned();
    let seats = || (offer.slices.iter()).flat_map(|slice| &slice.segments);
    let mut seats = seats().flat_map(|segment| &segment.travellers).peekable();
    let seated = seats.peek().is_some();
    let (checked, carried) = seats.fold((seated, seated), |(checked, carried), seat| {
        (checked && seat.checked > 0, carried && seat.carry_on > 0)
    });
    Ok(Offer {
        // Skylane accepts one order per offer, so a booking reserves the offer itself.
        exclusive_key: Some(offer.id.clone()),
        supplier_offer: offer.id,
        total: amount(total, &currency)?,
        currency,
        fare_family: non_empty(offer.brand),
        refundable: offer.conditions.refund.allowed,
        fare_conditions: conditions(offer.conditions)?,
        documents_required: offer.passports_required,
        checked_bag_included: checked,
        carry_on_included: carried,
        journeys: journeys(offer.slices)?,
        expires_at: Some(instant(&offer.expires_at)?),
    })
}

pub(crate) fn prebook_response(
    mut offer: wire::Offer,
    request: &PrebookRequest,
) -> Result<DetailedPrebookResponse, DecodeError> {
    let is_same_offer = offer.id == request.supplier_offer;
    ensure(is_same_offer, "the price is that of another offer")?;
    let bags = std::mem::take(&mut offer.bags).into_iter();
    let details = PrebookDetails {
        journeys: journey_details(&offer.slices),
        services: bags.map(attachable_bag).collect::<Result<_, _>>()?,
        ..PrebookDetails::default()
    };
    let currency = request.currency.clone();
    let prebook = PrebookResponse {
        total: amount(offer.total, &currency)?,
        fare: Some(amount(offer.base, &currency)?),
        fare_tax: Some(amount(offer.tax, &currency)?),
        fare_conditions: conditions(offer.conditions)?,
        documents_required: offer.passports_required,
        journeys: journeys(offer.slices)?,
        expires_at: Some(instant(&offer.expires_at)?),
        checkout: None,
        supplier_prebook: offer.id,
        currency,
    };
    Ok(DetailedPrebookResponse { prebook, details })
}

fn journey_details(slices: &[wire::Slice]) -> Vec<JourneyDetails> {
    let details = |slice: &wire::Slice| JourneyDetails {
        fare_conditions: None,
        segments: slice.segments.iter().map(segment_details).collect(),
    };
    slices.iter().map(details).collect()
}

fn segment_details(segment: &wire::Segment) -> SegmentDetails {
    let operator = segment.operator.as_ref().map(|carrier| &carrier.code);
    let flight = operator.zip(segment.operator_flight_no.as_ref());
    SegmentDetails {
        origin_terminal: segment.from_terminal.clone(),
        destination_terminal: segment.to_terminal.clone(),
        operating_carrier_code: operator.cloned(),
        operating_flight: flight.map(|(carrier, number)| format!("{carrier}{number}")),
        ..SegmentDetails::default()
    }
}

fn attachable_bag(bag: wire::OfferedBag) -> Result<AttachableService, DecodeError> {
    Ok(AttachableService {
        supplier_service_id: bag.id,
        service_type: ServiceType::Baggage,
        name: None,
        passengers: vec![bag.traveller],
        supplier_segment_ids: bag.segments,
        bag: Some(Bag {
            pieces: Some(1),
            max_weight_kg: Some(bag.weight_kg),
            ..Bag::new(BaggageType::Checked)
        }),
        seat: None,
        unit_amount: bag.price.into_money()?,
        max_quantity: Some(bag.max),
    })
}

/// Converts an order with its tickets.
pub(crate) fn detailed_booking(order: wire::Order) -> Result<DetailedBooking, DecodeError> {
    let ticket = |ticket: &wire::Ticket| TicketDocument {
        document_type: TicketDocumentType::ElectronicTicket,
        number: ticket.number.clone(),
        passengers: vec![ticket.traveller],
    };
    let details = BookingDetails {
        documents: order.tickets.iter().map(ticket).collect(),
        journeys: journey_details(&order.slices),
        ..BookingDetails::default()
    };
    let booking = booking(order)?;
    Ok(DetailedBooking { booking, details })
}

fn journeys(slices: Vec<wire::Slice>) -> Result<Vec<Journey>, DecodeError> {
    let journeys_data = slices.into_iter().map(|slice| {
        Ok(JourneyData {
            minutes: minutes(&slice.duration)?,
            segments: segments(slice.segments)?,
            id: slice.id,
            origin: slice.from,
            destination: slice.to,
            brand: slice.brand,
        })
    });
    common::journeys(journeys_data.collect::<Result<_, DecodeError>>()?)
}

fn segments(segments: Vec<wire::Segment>) -> Result<Vec<Segment>, DecodeError> {
    segments.into_iter().map(segment).collect()
}

fn segment(segment: wire::Segment) -> Result<Segment, DecodeError> {
    let seat = segment.travellers.first();
    let cabin = seat.map(|seat| seat.cabin);
    let operator = segment.operator;
    Ok(Segment {
        cabin: cabin.ok_or_else(|| DecodeError::new("a flight has no passengers"))?,
        departure_time: common::local_time(&segment.departs)?,
        arrival_time: common::local_time(&segment.arrives)?,
        duration_minutes: Some(minutes(&segment.duration)?),
        supplier_segment_id: segment.id,
        origin: segment.from,
        destination: segment.to,
        origin_time_zone: non_empty(segment.from_zone),
        destination_time_zone: non_empty(segment.to_zone),
        marketing_flight: format!("{}{}", segment.carrier.code, segment.flight_no),
        marketing_carrier: segment.carrier.name,
        marketing_carrier_code: segment.carrier.code,
        marketing_carrier_logo_url: segment.carrier.logo,
        operating_carrier_logo_url: operator.as_ref().and_then(|carrier| carrier.logo.clone()),
        operating_carrier: operator.map(|carrier| carrier.name),
        passengers: segment.travellers.into_iter().map(passenger).collect(),
    })
}

fn passenger(seat: wire::Seat) -> SegmentPassenger {
    SegmentPassenger {
        passenger: seat.index,
        cabin: seat.cabin,
        cabin_name: non_empty(seat.cabin_name),
        checked_bags: Some(seat.checked),
        carry_on_bags: Some(seat.carry_on),
    }
}

fn wanted_cabin(cabin: Cabin) -> &'static str {
    match cabin {
        Cabin::Economy => "economy",
        Cabin::PremiumEconomy => "premium",
        Cabin::Business => "business",
        Cabin::First => "first",
    }
}

fn minutes(duration: &str) -> Result<u32, DecodeError> {
    time::parse_duration_minutes(duration)
        .ok_or_else(|| DecodeError::new("a duration cannot be read"))
}

pub(crate) fn reprice_request(passengers: &[Passenger]) -> Value {
    let travellers = passengers.iter().map(|passenger| {
        json!({
            "type": traveller_type(passenger.passenger_type),
            "loyalty": loyalty(&passenger.loyalty_accounts),
        })
    });
    json!({"travellers": travellers.collect::<Vec<_>>()})
}

fn traveller(passenger: &Passenger) -> Value {
    without_nulls(json!({
        "type": traveller_type(passenger.passenger_type),
        "title": passenger.title.map(common::title),
        "given": passenger.first_name,
        "family": passenger.last_name,
        "born": passenger.date_of_birth,
        "gender": match passenger.gender {
            Gender::Female => "f",
            Gender::Male => "m",
            Gender::Unspecified => "x",
        },
        "nationality": passenger.nationality,
        "document": passenger.document.as_ref().map(document),
        "loyalty": loyalty(&passenger.loyalty_accounts),
    }))
}

fn document(document: &Document) -> Value {
    json!({
        "kind": match document.document_type {
            DocumentType::Passport => "passport",
            DocumentType::IdentityCard => "identity_card",
        },
        "number": document.number,
        "country": document.issuing_country,
        "expires": document.expires_on,
    })
}

fn traveller_type(passenger: PassengerType) -> &'static str {
    match passenger {
        PassengerType::Adult => "adult",
        PassengerType::Child => "child",
        PassengerType::Infant => "infant",
    }
}

fn loyalty(accounts: &[LoyaltyAccount]) -> Vec<Value> {
    let accounts = accounts.iter().map(|account| {
        json!({"airline": account.airline_iata_code, "number": account.membership_number})
    });
    accounts.collect()
}

/// Creates the body of an order.
///
/// # Errors
/// The amount cannot be represented in its currency. Nothing was sent yet.
pub(crate) fn order_request(request: &BookRequest) -> Result<Value, MoneyError> {
    let (contact, travellers) = (&request.contact, request.passengers.iter());
    Ok(json!({
        "offer_id": request.supplier_prebook,
        "client_ref": request.client_reference,
        "pay": payment(request.total, &request.currency)?,
        "contact": {"email": contact.email, "phone": contact.phone},
        "travellers": travellers.map(traveller).collect::<Vec<_>>(),
    }))
}

/// Checks that the response to a change that was paid in this currency is in the same one.
pub(crate) fn check_currency(order: &wire::Order, currency: &str) -> Result<(), DecodeError> {
    ensure(
        order.total.currency == currency,
        "the order is in a currency other than the payment's",
    )
}

pub(crate) fn booking(order: wire::Order) -> Result<SupplierBooking, DecodeError> {
    let status = status(&order);
    let total = order.total.into_money()?;
    let currency = total.currency;
    let services = order.bags.into_iter().map(|bag| service(bag, &currency));
    Ok(SupplierBooking {
        status,
        supplier_reference: order.id,
        client_reference: Some(order.client_ref),
        airline_pnr: order.locator.and_then(non_empty),
        total: total.amount,
        fare: Some(amount(order.base, &currency)?),
        fare_tax: Some(amount(order.tax, &currency)?),
        journeys: journeys(order.slices)?,
        services: services.collect::<Result<_, _>>()?,
        changes: (order.changes.into_iter().map(change)).collect::<Result<_, _>>()?,
        cancellation: common::cancellation(order.cancellation, &currency)?,
        extensions: Vec::new(),
        currency,
    })
}

fn status(order: &wire::Order) -> BookingStatus {
    match order.state {
        wire::OrderState::Pending => BookingStatus::Pending,
        wire::OrderState::Ticketed => BookingStatus::Confirmed,
        wire::OrderState::Cancelling => BookingStatus::CancelPending,
        wire::OrderState::Cancelled => BookingStatus::Canceled,
        wire::OrderState::Failed => {
            let code = order.failure.as_ref().map(|failure| failure.code.as_str());
            BookingStatus::Failed(booking_failure(&ERRORS, code))
        }
    }
}

fn change(change: wire::Change) -> Result<AirlineChange, DecodeError> {
    let removed_segments = segments(change.removed)?;
    let added_segments = segments(change.added)?;
    Ok(AirlineChange {
        change_type: match change.kind {
            wire::ChangeKind::ScheduleChange => ChangeType::ScheduleChange,
            wire::ChangeKind::Other => common::unknown_change(&added_segments),
        },
        supplier_change_id: change.id,
        detected_at: instant(&change.detected_at)?,
        action_required: change.needs_answer,
        removed_segments,
        added_segments,
        expires_at: change.answer_by.as_deref().map(instant).transpose()?,
        accepted_at: change.accepted_at.as_deref().map(instant).transpose()?,
    })
}

/// Converts the bags for sale. Returns `None` for an empty list, which has no currency.
pub(crate) fn available_services(
    bags: Vec<wire::OfferedBag>,
) -> Result<Option<AvailableServices>, DecodeError> {
    let Some(currency) = bags.first().map(|bag| bag.price.currency.clone()) else {
        return Ok(None);
    };
    let services = bags.into_iter().map(|bag| {
        Ok(AvailableService {
            supplier_service_id: bag.id,
            service_type: ServiceType::Baggage,
            passenger: bag.traveller,
            supplier_segment_ids: bag.segments,
            baggage: Some(checked_bag(bag.weight_kg)),
            unit_amount: amount(bag.price, &currency)?,
            max_quantity: bag.max,
        })
    });
    let services = services.collect::<Result<_, DecodeError>>()?;
    Ok(Some(AvailableServices { currency, services }))
}

/// Creates the body of a purchase.
///
/// # Errors
/// The amount cannot be represented in its currency. Nothing was sent yet.
pub(crate) fn bags_request(request: &PurchaseRequest) -> Result<Value, MoneyError> {
    let bags = request.services.iter();
    let bags = bags.map(|bag| json!({"id": bag.supplier_service_id, "quantity": bag.quantity}));
    Ok(json!({
        "client_ref": request.client_reference,
        "bags": bags.collect::<Vec<_>>(),
        "pay": payment(request.total, &request.currency)?,
    }))
}

/// Checks that the order contains everything that was bought.
pub(crate) fn check_purchased_bags(
    order: &wire::Order,
    request: &PurchaseRequest,
) -> Result<(), DecodeError> {
    let bought = |id: &str, quantity| {
        (order.bags.iter()).any(|bag| {
            bag.id == id && bag.quantity == quantity && bag.client_ref == request.client_reference
        })
    };
    let all = (request.services.iter())
        .all(|wanted| bought(&wanted.supplier_service_id, wanted.quantity));
    ensure(all, "the order lacks bags that were bought")
}

/// Converts a bag. A bag keeps the id of its offer, by which a purchase is recognized.
fn service(bag: wire::Bag, currency: &str) -> Result<Service, DecodeError> {
    Ok(Service {
        supplier_service_id: bag.id,
        service_type: ServiceType::Baggage,
        passenger: Some(bag.traveller),
        supplier_segment_ids: bag.segments,
        baggage: Some(checked_bag(bag.weight_kg)),
        quantity: bag.quantity,
        unit_amount: amount(bag.price, currency)?,
    })
}

/// Returns a checked bag. Skylane sells no other bags.
fn checked_bag(weight_kg: u32) -> Baggage {
    Baggage {
        baggage_type: BaggageType::Checked,
        max_weight_kg: Some(weight_kg),
    }
}
