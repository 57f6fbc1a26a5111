//! Parameters of a watch scenario: the watches with their target prices, and the course of prices.

use super::START;
use crate::sample::{contact, euros, owner, stay};
use crate::seeded_random::Random;
use host_application::id_generator::IdGenerator;
use host_domain::hotel::Location;
use host_domain::id::{HotelId, InstrumentId};
use host_domain::money::Money;
use host_domain::owner::Owner;
use host_domain::time::Timestamp;
use host_domain::watch::{Area, AutoBook, PriceQuery, TripFilters, WatchTarget};

/// Range of prices and of target prices.
const PRICES: (i64, i64) = (5_000, 20_000);

/// Check intervals in seconds, with the maximum number of days until check-in. A scenario has a few
/// hundred checks.
const INTERVALS: [(i64, i64); 5] = [(900, 0), (3_600, 1), (14_400, 3), (43_200, 9), (86_400, 14)];

#[derive(Debug)]
pub(super) struct WatchScenario {
    pub(super) interval_s: i64,
    pub(super) queries: Vec<PriceQuery>,
    /// For each query, its lowest prices with the times from which they apply. `None` means that no
    /// offer is available.
    prices: Vec<Vec<(Timestamp, Option<Money>)>>,
    pub(super) watches: Vec<PlannedWatch>,
    /// Percentage of steps that fail.
    pub(super) fault_percent: i64,
    /// Percentage of calls without a response.
    pub(super) unanswered_percent: i64,
}

/// A watch that will be created.
#[derive(Debug)]
pub(super) struct PlannedWatch {
    pub(super) owner: Owner,
    pub(super) query: usize,
    pub(super) cap: Money,
    pub(super) auto_book: Option<AutoBook>,
}

impl WatchScenario {
    pub(super) fn draw(random: &Random) -> Self {
        let (interval_s, days) = random.one_of(&INTERVALS);
        let queries: Vec<_> = (0..random.between(1, 2))
            .map(|number| draw_query(random, number, days))
            .collect();
        let prices = queries.iter().map(|query| prices(random, query)).collect();
        let watches = (0..random.between(1, 4)).map(|_| draw_watch(random, &queries));
        Self {
            interval_s,
            prices,
            watches: watches.collect(),
            queries,
            fault_percent: random.one_of(&[0, 2, 10, 30]),
            unanswered_percent: random.one_of(&[0, 5, 30]),
        }
    }

    /// Returns the actual lowest price.
    pub(super) fn price(&self, query: usize, now: Timestamp) -> Option<Money> {
        let path = self.prices[query].iter().rev();
        path.into_iter()
            .find(|(at, _)| *at <= now)
            .and_then(|(_, price)| *price)
    }

    pub(super) fn query_index(&self, query: &PriceQuery) -> usize {
        let mut all = self.queries.iter();
        all.position(|known| known == query).unwrap()
    }
}

/// Returns a random price, or `None` if no offer is available.
pub(super) fn any_price(random: &Random) -> Option<Money> {
    let price = random.between(PRICES.0, PRICES.1);
    (!random.percent(15)).then(|| euros(price))
}

fn prices(random: &Random, query: &PriceQuery) -> Vec<(Timestamp, Option<Money>)> {
    let span_ms = query.expires_at().since(START);
    let mut path: Vec<_> = (0..random.between(0, 12))
        .map(|_| (START.plus_ms(random.between(0, span_ms)), any_price(random)))
        .collect();
    path.push((START, any_price(random)));
    // The price may fall at the very end.
    if random.percent(50) {
        let at = query.expires_at().plus_ms(-random.between(1, 60_000));
        path.push((at, Some(euros(PRICES.0))));
    }
    path.sort_by_key(|(at, _)| *at);
    path
}

fn draw_query(random: &Random, number: i64, days: i64) -> PriceQuery {
    let check_in = START.date_utc();
    let check_in = (0..random.between(0, days)).fold(check_in, |day, _| day.tomorrow().unwrap());
    let hotel = WatchTarget::Hotel {
        hotel_id: HotelId::from_bits(u128::try_from(number).unwrap()),
    };
    let trip = WatchTarget::Trip {
        area: Area::Around {
            center: Location {
                latitude: 48.8,
                longitude: 2.3,
            },
            radius_m: 5_000,
        },
        filters: TripFilters::default(),
    };
    PriceQuery {
        target: if random.percent(80) { hotel } else { trip },
        stay: stay(check_in, 1, 1 + u8::try_from(number).unwrap()),
    }
}

fn draw_watch(random: &Random, queries: &[PriceQuery]) -> PlannedWatch {
    let (organization, user) = random.one_of(&[("acme", "ada"), ("acme", "bob"), ("other", "eve")]);
    let query = random.between(0, i64::try_from(queries.len()).unwrap() - 1);
    let query = usize::try_from(query).unwrap();
    let is_hotel = matches!(queries[query].target, WatchTarget::Hotel { .. });
    PlannedWatch {
        owner: owner(organization, user),
        query,
        cap: euros(random.between(PRICES.0 + 2_000, PRICES.1 - 2_000)),
        auto_book: (is_hotel && random.percent(75)).then(|| AutoBook {
            payment_instrument_id: InstrumentId::from_bits(random.generate()),
            contact: contact(),
            rooms: Vec::new(),
        }),
    }
}
