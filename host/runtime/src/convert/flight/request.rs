//! Conversion of requests to flight suppliers.

use crate::bindings::exports::stopover::supplier::{
    flight_booking, flight_cancellation, flight_pricing, flight_services,
};
use crate::bindings::stopover::supplier::flight_types as wire;
use crate::convert::same_variant;
use host_domain::flight::passenger::PassengerContact;
use host_domain::flight::supplier_api::{
    BookingReference, BuyRequest, Filters, FlightBookRequest, FlightCancelRequest,
    FlightPrebookRequest, FlightPriceRequest, Sort,
};
use host_domain::flight::{Cabin, Document, DocumentType, Gender, Passenger, PassengerType, Title};
use host_domain::supplier::FindRequest;

pub(crate) fn price_request(request: FlightPriceRequest) -> flight_pricing::PriceRequest {
    flight_pricing::PriceRequest {
        journeys: (request.journeys.into_iter())
            .map(|journey| flight_pricing::RequestedJourney {
                origin: journey.origin,
                destination: journey.destination,
                date: journey.date.to_string(),
            })
            .collect(),
        passengers: flight_pricing::PassengerCounts {
            adults: request.travellers.adults,
            children: request.travellers.children,
            infants: request.travellers.infants,
        },
        currency: request.currency.map(|currency| currency.code().to_owned()),
        filters: filters(request.filters),
        sort: same_variant!(request.sort, Sort => flight_pricing::Sort, [
            TotalAmount, Duration, DepartureTime,
        ]),
        descending: request.descending,
        limit: request.limit,
    }
}

fn filters(filters: Filters) -> flight_pricing::Filters {
    flight_pricing::Filters {
        cabin: filters.cabin.map(cabin),
        max_stops: filters.max_stops,
        airlines: filters.airlines,
        excluded_airlines: filters.excluded_airlines,
        departure_after: filters.departure_after,
        departure_before: filters.departure_before,
        arrival_before: filters.arrival_before,
        refundable: filters.refundable,
        checked_bag: filters.checked_bag,
        max_total: filters.max_total.map(|total| total.minor),
    }
}

const fn cabin(cabin: Cabin) -> wire::Cabin {
    same_variant!(cabin, Cabin => wire::Cabin, [Economy, PremiumEconomy, Business, First])
}

fn contact(contact: PassengerContact) -> flight_booking::FlightContact {
    flight_booking::FlightContact {
        email: contact.email,
        phone: contact.phone,
    }
}

fn passengers(passengers: Vec<Passenger>) -> Vec<wire::Passenger> {
    passengers.into_iter().map(passenger).collect()
}

fn passenger(passenger: Passenger) -> wire::Passenger {
    wire::Passenger {
        passenger_type: same_variant!(
            passenger.passenger_type, PassengerType => wire::PassengerType, [Adult, Child, Infant]
        ),
        title: passenger.title.map(title),
        first_name: passenger.first_name,
        last_name: passenger.last_name,
        date_of_birth: passenger.date_of_birth.to_string(),
        gender: same_variant!(passenger.gender, Gender => wire::Gender, [
            Female, Male, Unspecified,
        ]),
        nationality: passenger.nationality,
        document: passenger.document.map(document),
        loyalty_accounts: (passenger.loyalty_accounts.into_iter())
            .map(|account| wire::LoyaltyAccount {
                airline_iata_code: account.airline_iata_code,
                membership_number: account.membership_number,
            })
            .collect(),
    }
}

const fn title(title: Title) -> wire::Title {
    same_variant!(title, Title => wire::Title, [Mr, Mrs, Ms, Miss, Mx, Dr])
}

fn document(document: Document) -> wire::Document {
    wire::Document {
        document_type: match document.document_type {
            DocumentType::Passport => wire::DocumentType::Passport,
            DocumentType::IdentityCard => wire::DocumentType::IdentityCard,
        },
        number: document.number,
        issuing_country: document.issuing_country,
        expires_on: document.expires_on.to_string(),
    }
}

pub(crate) fn prebook_request(request: FlightPrebookRequest) -> flight_booking::PrebookRequest {
    flight_booking::PrebookRequest {
        client_reference: request.client_reference,
        supplier_offer: request.supplier_offer,
        currency: request.total.currency.code().to_owned(),
        total: request.total.minor,
        contact: contact(request.contact),
        passengers: passengers(request.passengers),
        use_payment_sdk: request.use_payment_sdk,
    }
}

pub(crate) fn book_request(request: FlightBookRequest) -> flight_booking::BookRequest {
    flight_booking::BookRequest {
        client_reference: request.client_reference,
        supplier_prebook: request.supplier_prebook,
        currency: request.total.currency.code().to_owned(),
        total: request.total.minor,
        contact: contact(request.contact),
        passengers: passengers(request.passengers),
    }
}

pub(crate) fn find_request(request: FindRequest) -> flight_booking::FindRequest {
    flight_booking::FindRequest {
        client_reference: request.client_reference,
        supplier_reference: request.supplier_reference,
        supplier_prebook: request.supplier_prebook,
        since: request.since.0,
    }
}

pub(crate) fn quote_request(booking: BookingReference) -> flight_cancellation::QuoteRequest {
    flight_cancellation::QuoteRequest {
        supplier_reference: booking.supplier_reference,
        client_reference: booking.client_reference,
    }
}

pub(crate) fn cancel_request(request: FlightCancelRequest) -> flight_cancellation::CancelRequest {
    flight_cancellation::CancelRequest {
        client_reference: request.client_reference,
        booking_client_reference: request.booking_client_reference,
        supplier_reference: request.supplier_reference,
    }
}

pub(crate) fn list_request(booking: BookingReference) -> flight_services::ListRequest {
    flight_services::ListRequest {
        supplier_reference: booking.supplier_reference,
        client_reference: booking.client_reference,
    }
}

pub(crate) fn purchase_request(request: BuyRequest) -> flight_services::PurchaseRequest {
    flight_services::PurchaseRequest {
        client_reference: request.client_reference,
        booking_client_reference: request.booking_client_reference,
        supplier_reference: request.supplier_reference,
        currency: request.total.currency.code().to_owned(),
        total: request.total.minor,
        services: (request.services.into_iter())
            .map(|service| flight_services::ServiceOrderItem {
                supplier_service_id: service.supplier_service_id,
                quantity: service.quantity,
                unit_amount: service.unit_amount.minor,
            })
            .collect(),
    }
}
