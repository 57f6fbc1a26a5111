//! Rates and prebooks. A rate id contains all data of the rate, so rates are not stored.

use std::collections::HashMap;

use axum::{Json, response::IntoResponse};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::StatusCode;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    clock::instant,
    hotel::{
        catalog::{self, Hotel},
        price,
        quote::{BoardPlan, Occupancy, Quote, Stay},
        refusal::{LodgeError, LodgeResult},
        scenario::Scenario,
        tables::Prebook,
        wire::{hotel_wire, promotions, rewards, rooms, terms},
    },
    money::Currency,
    request::{self, Call},
    state::{Record, SandboxRecords},
};

const HOTELS_MAX: usize = 10;

impl Record for Prebook {
    const TABLE: &'static str = "hotel_prebook";

    fn id(&self) -> &str {
        &self.id
    }

    fn table(records: &mut SandboxRecords) -> &mut HashMap<String, Self> {
        &mut records.hotel.prebooks
    }
}

/// The contents of a rate id.
#[derive(Serialize, Deserialize)]
struct Rate {
    quote: Quote,
    expires_at: i64,
}

impl Rate {
    fn id(&self) -> String {
        let json = serde_json::to_vec(self).unwrap_or_default();
        format!("rate-{}", URL_SAFE_NO_PAD.encode(json))
    }

    /// Returns the same rate as part of a package, which expires a minute earlier.
    fn package(&self) -> Self {
        Self {
            quote: self.quote.clone(),
            expires_at: self.expires_at - 60_000,
        }
    }

    fn from_id(id: &str) -> Option<Self> {
        let json = URL_SAFE_NO_PAD.decode(id.strip_prefix("rate-")?).ok()?;
        serde_json::from_slice(&json).ok()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct PriceRequest {
    hotels: Vec<String>,
    arrive: Date,
    depart: Date,
    rooms: Vec<Occupancy>,
    currency: Currency,
    nationality: Option<String>,
    residence: Option<String>,
    max_rates: Option<usize>,
    packages: Option<bool>,
}

pub(super) async fn price_hotels(call: Call, body: Bytes) -> LodgeResult {
    let request: PriceRequest = request::body(&body)?;
    if !(1..=HOTELS_MAX).contains(&request.hotels.len()) {
        return Err(LodgeError::Invalid(format!(
            "hotels must be 1 to {HOTELS_MAX}"
        )));
    }
    let stay = Stay {
        arrive: request.arrive,
        depart: request.depart,
        parties: request.rooms,
        currency: request.currency,
    };
    stay.check()?;
    let hotels: Vec<Hotel> = (request.hotels.iter())
        .filter_map(|id| catalog::find(id))
        .collect();
    let rates_max = request.max_rates.unwrap_or(BoardPlan::ALL.len());
    let rates = call
        .transact(|records| -> Vec<Vec<Rate>> {
            let of_hotel = |hotel: &Hotel| rates(records, hotel, &stay, rates_max);
            hotels.iter().map(of_hotel).collect()
        })
        .await?;
    let delay = hotels.iter().map(|hotel| hotel.scenario.delay()).max();
    call.app.sleep_or_stop(delay.unwrap_or_default()).await;
    let hotels: Vec<Value> = (hotels.iter().zip(rates))
        .map(|(hotel, rates)| {
            let has_package = hotel.scenario == Scenario::Rich && request.packages == Some(true);
            let package = rates.last().filter(|_| has_package).map(Rate::package);
            let package = package.map(|rate| rate_wire(&rate, hotel.scenario, true));
            let rates = rates
                .iter()
                .map(|rate| rate_wire(rate, hotel.scenario, false));
            let rates: Vec<Value> = rates.chain(package).collect();
            json!({ "hotel": hotel_wire(hotel), "rates": rates })
        })
        .collect();
    Ok(Json(json!({ "currency": stay.currency, "hotels": hotels })).into_response())
}

fn rates(records: &SandboxRecords, hotel: &Hotel, stay: &Stay, rates_max: usize) -> Vec<Rate> {
    if hotel.scenario == Scenario::NoOffers {
        return Vec::new();
    }
    (BoardPlan::ALL.into_iter().take(rates_max))
        .map(|plan| Rate {
            quote: price::quote(records, &hotel.id, plan, stay.clone()),
            expires_at: records.now() + hotel.scenario.offer_ttl_ms(),
        })
        .collect()
}

fn rate_wire(rate: &Rate, scenario: Scenario, is_package: bool) -> Value {
    let quote = &rate.quote;
    json!({
        "package": is_package,
        "rate_id": rate.id(),
        "total": quote.stay.currency.format(quote.total()),
        "expires_at": instant(rate.expires_at),
        "rooms": rooms(quote, scenario),
        "terms": terms(quote, scenario, quote.total()),
        "promotions": promotions(quote, scenario),
        "rewards": rewards(quote, scenario),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the form of the request is validated")]
struct PrebookRequest {
    rate_id: String,
    client_ref: Option<String>,
}

pub(super) async fn prebook_rate(call: Call, body: Bytes) -> LodgeResult {
    let request: PrebookRequest = request::body(&body)?;
    let rate = Rate::from_id(&request.rate_id).ok_or(LodgeError::RateUnknown)?;
    let hotel = catalog::find(&rate.quote.hotel).ok_or(LodgeError::RateUnknown)?;
    call.app.sleep_or_stop(hotel.scenario.delay()).await;
    let prebook = call
        .transact(|records| bind(records, call.account, &hotel, rate))
        .await??;
    let quote = &prebook.quote;
    let answer = json!({
        "prebook_id": prebook.id,
        "currency": quote.stay.currency,
        "total": quote.stay.currency.format(quote.total()),
        "expires_at": instant(prebook.expires_at),
        "hotel": hotel_wire(&hotel),
        "arrive": quote.stay.arrive,
        "depart": quote.stay.depart,
        "rooms": rooms(quote, hotel.scenario),
        "terms": terms(quote, hotel.scenario, quote.total()),
        "promotions": promotions(quote, hotel.scenario),
        "rewards": rewards(quote, hotel.scenario),
    });
    Ok((StatusCode::CREATED, Json(answer)).into_response())
}

fn bind(
    records: &mut SandboxRecords,
    account: &str,
    hotel: &Hotel,
    rate: Rate,
) -> Result<Prebook, LodgeError> {
    if records.now() >= rate.expires_at {
        return Err(LodgeError::RateExpired);
    }
    if hotel.scenario == Scenario::SoldOut {
        return Err(LodgeError::SoldOut);
    }
    // The prebook has the current price and keeps the terms of the time of pricing.
    let mut quote = price::quote(records, &hotel.id, rate.quote.plan, rate.quote.stay);
    quote.night = hotel.scenario.nightly_rate_at_prebook(quote.night);
    quote.quoted_at = rate.quote.quoted_at;
    let prebook = Prebook {
        id: records.reference("LPB-"),
        account: account.to_owned(),
        quote,
        expires_at: records.now() + hotel.scenario.offer_ttl_ms(),
        booking: None,
    };
    records.save(prebook.clone());
    Ok(prebook)
}
