//! Fares between two airports and their prices. No fare is stored: an offer id contains all of its
//! data.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use crate::{
    clock::{MINUTE_MS, SECOND_MS},
    flight::{
        brand::Brand,
        itinerary::{self, Itinerary},
        problem::FlightError,
        reference_data::airport,
        scenario::Scenario,
        trip::{Leg, PassengerType, Trip},
    },
    money::{Currency, PER_MAJOR, percent},
};

const OFFER_LIFE_MS: i64 = 30 * MINUTE_MS;
/// The same on the route whose offers expire soon.
const SHORT_LIFE_MS: i64 = 3 * SECOND_MS;
const MANY_FARES: u32 = 300;
/// Price increase on routes whose price changes.
const PRICE_INCREASE: i64 = 10 * PER_MAJOR;
/// Loyalty number that lowers the total by a tenth.
pub(super) const LOYAL: &str = "ZZ-10";

/// A fare of one search, as the caller selects it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FareSelection {
    pub(super) legs: Vec<Leg>,
    pub(super) passengers: Vec<PassengerType>,
    pub(super) currency: Currency,
    /// Number of the fare on its route.
    pub(super) number: u32,
    pub(super) expires_at: i64,
    /// Id of the search. It distinguishes the same fare in two searches.
    search: String,
}

impl FareSelection {
    pub(super) fn id(&self) -> String {
        let json = serde_json::to_vec(self).unwrap_or_default();
        format!("off-{}", URL_SAFE_NO_PAD.encode(json))
    }

    pub(super) fn from_id(id: &str) -> Result<Self, FlightError> {
        let json = (id.strip_prefix("off-"))
            .and_then(|encoded| URL_SAFE_NO_PAD.decode(encoded).ok())
            .ok_or(FlightError::OfferUnknown)?;
        serde_json::from_slice(&json).map_err(|_| FlightError::OfferUnknown)
    }

    pub(super) fn scenario(&self) -> Scenario {
        Scenario::of(&self.legs)
    }

    pub(super) fn fare(&self) -> Result<Fare, FlightError> {
        Fare::new(&self.legs, self.number).ok_or(FlightError::OfferUnknown)
    }

    /// Returns the offered total for all passengers.
    pub(super) fn offered_total(&self, fare: &Fare) -> i64 {
        let adult = self.currency.minor(fare.adult_price());
        (self.passengers.iter())
            .map(|passenger| percent(adult, passenger.share()))
            .sum()
    }

    /// Returns the current total for all passengers.
    pub(super) fn current_total(&self, fare: &Fare, loyal: bool) -> i64 {
        let increase = match self.scenario() {
            Scenario::PriceUp => self.currency.minor(PRICE_INCREASE),
            _ => 0,
        };
        let total = self.offered_total(fare) + increase;
        if loyal { percent(total, 90) } else { total }
    }

    /// Checks that the passengers are those of the search. `name` is the supplier's word for them.
    pub(super) fn check_passengers(
        &self,
        name: &str,
        passengers: impl Iterator<Item = PassengerType>,
    ) -> Result<(), String> {
        match passengers.eq(self.passengers.iter().copied()) {
            true => Ok(()),
            false => Err(format!("{name} are not those of the search")),
        }
    }

    pub(super) fn check(&self, now: i64) -> Result<(), FlightError> {
        if now >= self.expires_at {
            return Err(FlightError::OfferExpired);
        }
        match self.scenario() {
            Scenario::SoldOut => Err(FlightError::OfferSoldOut),
            _ => Ok(()),
        }
    }
}

/// Returns the tax, which is a fifth of the total.
pub(super) fn tax(total: i64) -> i64 {
    percent(total, 20)
}

pub(super) struct Fare {
    pub(super) number: u32,
    pub(super) brand: Brand,
    pub(super) itineraries: Vec<Itinerary>,
    /// Amount by which the price for an adult exceeds that of the brand.
    extra: i64,
}

impl Fare {
    pub(super) fn new(legs: &[Leg], number: u32) -> Option<Self> {
        let brand = match number % 3 {
            0 => Brand::Basic,
            1 => Brand::Flex,
            _ => Brand::Business,
        };
        let variant = number / 3;
        let itineraries = (legs.iter())
            .map(|leg| itinerary::plan(leg, brand, variant))
            .collect::<Option<_>>()?;
        Some(Self {
            number,
            brand,
            itineraries,
            extra: i64::from(variant) * 7 * PER_MAJOR,
        })
    }

    fn adult_price(&self) -> i64 {
        let legs = i64::try_from(self.itineraries.len()).unwrap_or(1);
        self.brand.price() * legs + self.extra
    }

    /// Returns the travel time of all legs in minutes.
    pub(super) fn minutes(&self) -> i64 {
        self.itineraries.iter().map(Itinerary::minutes).sum()
    }
}

/// Returns every fare for the trip in the order of their numbers.
pub(super) fn fares(legs: &[Leg]) -> Vec<Fare> {
    let flown = |leg: &Leg| {
        airport(&leg.from).is_some() && airport(&leg.to).is_some() && leg.from != leg.to
    };
    let served = |leg: &Leg| Scenario::of_route(&leg.from, &leg.to) != Some(Scenario::NoFares);
    if !legs.iter().all(|leg| flown(leg) && served(leg)) {
        return Vec::new();
    }
    let count = match Scenario::of(legs) {
        Scenario::ManyFares => MANY_FARES,
        _ => 3,
    };
    (0..count)
        .filter_map(|number| Fare::new(legs, number))
        .collect()
}

/// A search, which makes a selectable fare of each of its fares.
pub(super) struct Search {
    trip: Trip,
    id: String,
    expires_at: i64,
}

impl Search {
    pub(super) fn new(now: i64, trip: Trip) -> Self {
        let life_ms = match Scenario::of(&trip.legs) {
            Scenario::ExpiresSoon => SHORT_LIFE_MS,
            _ => OFFER_LIFE_MS,
        };
        Self {
            trip,
            id: uuid::Uuid::now_v7().simple().to_string(),
            expires_at: now + life_ms,
        }
    }

    pub(super) fn choice(&self, fare: &Fare) -> FareSelection {
        FareSelection {
            legs: self.trip.legs.clone(),
            passengers: self.trip.passengers.clone(),
            currency: self.trip.currency,
            number: fare.number,
            expires_at: self.expires_at,
            search: self.id.clone(),
        }
    }
}
