//! Parameters of a watch scenario: the watches with their target prices, and the course of prices.

use super::BIRTH;
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
const CADENCES: [(i64, i64); 5] = [(900, 0), (3_600, 1), (14_400, 3), (43_200, 9), (86_400, 14)];

#[derive(Debug)]
pub(super) struct Setting {
    pub(super) interval_s: i64,
    pub(super) questions: Vec<PriceQuery>,
    /// For each query, its lowest prices with the times from which they apply. `None` means that no
    /// offer is available.
    prices: Vec<Vec<(Timestamp, Option<Money>)>>,
    pub(super) watches: Vec<Wanted>,
    /// Percentage of steps that fail.
    pub(super) trouble: i64,
    /// Percentage of calls without a response.
    pub(super) unanswered: i64,
}

/// A watch that will be created.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) owner: Owner,
    pub(super) question: usize,
    pub(super) cap: Money,
    pub(super) auto_book: Option<AutoBook>,
}

impl Setting {
    pub(super) fn draw(random: &Random) -> Self {
        let (interval_s, days) = random.one_of(&CADENCES);
        let questions: Vec<_> = (0..random.between(1, 2))
            .map(|number| question(random, number, days))
            .collect();
        let prices = questions
            .iter()
            .map(|asked| prices(random, asked))
            .collect();
        let watches = (0..random.between(1, 4)).map(|_| wanted(random, &questions));
        Self {
            interval_s,
            prices,
            watches: watches.collect(),
            questions,
            trouble: random.one_of(&[0, 2, 10, 30]),
            unanswered: random.one_of(&[0, 5, 30]),
        }
    }

    /// Returns the actual lowest price.
    pub(super) fn price(&self, question: usize, now: Timestamp) -> Option<Money> {
        let path = self.prices[question].iter().rev();
        path.into_iter()
            .find(|(at, _)| *at <= now)
            .and_then(|(_, price)| *price)
    }

    pub(super) fn place_of(&self, question: &PriceQuery) -> usize {
        let mut all = self.questions.iter();
        all.position(|known| known == question).unwrap()
    }
}

/// Returns a random price, or `None` if no offer is available.
pub(super) fn any_price(random: &Random) -> Option<Money> {
    let price = random.between(PRICES.0, PRICES.1);
    (!random.percent(15)).then(|| euros(price))
}

fn prices(random: &Random, question: &PriceQuery) -> Vec<(Timestamp, Option<Money>)> {
    let life_ms = question.expires_at().since(BIRTH);
    let mut path: Vec<_> = (0..random.between(0, 12))
        .map(|_| (BIRTH.plus_ms(random.between(0, life_ms)), any_price(random)))
        .collect();
    path.push((BIRTH, any_price(random)));
    // The price may fall at the very end.
    if random.percent(50) {
        let at = question.expires_at().plus_ms(-random.between(1, 60_000));
        path.push((at, Some(euros(PRICES.0))));
    }
    path.sort_by_key(|(at, _)| *at);
    path
}

fn question(random: &Random, number: i64, days: i64) -> PriceQuery {
    let check_in = BIRTH.date_utc();
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

fn wanted(random: &Random, questions: &[PriceQuery]) -> Wanted {
    let (organization, user) = random.one_of(&[("acme", "ada"), ("acme", "bob"), ("other", "eve")]);
    let question = random.between(0, i64::try_from(questions.len()).unwrap() - 1);
    let question = usize::try_from(question).unwrap();
    let is_hotel = matches!(questions[question].target, WatchTarget::Hotel { .. });
    Wanted {
        owner: owner(organization, user),
        question,
        cap: euros(random.between(PRICES.0 + 2_000, PRICES.1 - 2_000)),
        auto_book: (is_hotel && random.percent(75)).then(|| AutoBook {
            payment_instrument_id: InstrumentId::from_bits(random.generate()),
            contact: contact(),
            rooms: Vec::new(),
        }),
    }
}
