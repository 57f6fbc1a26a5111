//! Bodies of requests.

use serde::Serialize;

/// The envelope of every request.
#[derive(Debug, Serialize)]
pub(crate) struct Enveloped<T> {
    pub(crate) data: T,
}

#[derive(Debug, Serialize)]
pub(crate) struct OfferRequest<'a> {
    pub(crate) slices: Vec<Slice<'a>>,
    pub(crate) passengers: Vec<SearchPassenger>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cabin_class: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_connections: Option<u8>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Slice<'a> {
    pub(crate) origin: &'a str,
    pub(crate) destination: &'a str,
    pub(crate) departure_date: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) departure_time: Option<TimeRange<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) arrival_time: Option<TimeRange<'a>>,
}

/// A range of local times, each `HH:MM`.
#[derive(Debug, Serialize)]
pub(crate) struct TimeRange<'a> {
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
}

/// A passenger of a search: a child by age, others by type.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum SearchPassenger {
    Typed {
        #[serde(rename = "type")]
        kind: &'static str,
    },
    Aged {
        age: u8,
    },
}

/// Body of `PATCH /air/offers/{id}/passengers/{id}`.
#[derive(Debug, Serialize)]
pub(crate) struct Loyalty<'a> {
    pub(crate) given_name: &'a str,
    pub(crate) family_name: &'a str,
    pub(crate) loyalty_programme_accounts: Vec<LoyaltyAccount<'a>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct LoyaltyAccount<'a> {
    pub(crate) airline_iata_code: &'a str,
    pub(crate) account_number: &'a str,
}

#[derive(Debug, Serialize)]
pub(crate) struct Order<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) selected_offers: [&'a str; 1],
    pub(crate) payments: [Payment<'a>; 1],
    pub(crate) passengers: Vec<OrderPassenger<'a>>,
    pub(crate) metadata: Metadata<'a>,
}

/// A payment of exactly the price from the account's balance.
#[derive(Debug, Serialize)]
pub(crate) struct Payment<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) amount: String,
    pub(crate) currency: &'a str,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct OrderPassenger<'a> {
    pub(crate) id: &'a str,
    pub(crate) title: &'static str,
    pub(crate) given_name: &'a str,
    pub(crate) family_name: &'a str,
    pub(crate) gender: &'static str,
    pub(crate) born_on: &'a str,
    pub(crate) email: &'a str,
    pub(crate) phone_number: &'a str,
    /// Id of the infant on this adult's lap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) infant_passenger_id: Option<&'a str>,
    /// At most one travel document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) identity_documents: Vec<IdentityDocument<'a>>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct IdentityDocument<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) unique_identifier: &'a str,
    pub(crate) issuing_country_code: &'a str,
    pub(crate) expires_on: &'a str,
}

/// Metadata by which an order is found. Values have at most 500 characters.
#[derive(Debug, Serialize)]
pub(crate) struct Metadata<'a> {
    pub(crate) gateway_booking_id: &'a str,
    /// Passengers' ids in the gateway's order.
    pub(crate) gateway_passengers: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct OrderCancellation<'a> {
    pub(crate) order_id: &'a str,
}

/// Body of `POST /air/orders/{id}/services`.
#[derive(Debug, Serialize)]
pub(crate) struct AddServices<'a> {
    pub(crate) payment: Payment<'a>,
    pub(crate) add_services: Vec<AddService<'a>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct AddService<'a> {
    pub(crate) id: &'a str,
    pub(crate) quantity: u8,
}
