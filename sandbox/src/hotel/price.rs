//! The price of a night, which tests may set, and the quotes made of it.

use crate::{
    hotel::quote::{BoardPlan, Quote, Stay},
    money::PER_MAJOR,
    state::SandboxRecords,
};

/// ROOM_ONLY price of a room and night, unless another one was set.
const NIGHT: i64 = 100 * PER_MAJOR;
const BREAKFAST: i64 = 30 * PER_MAJOR;

/// Quotes a stay at the current price.
pub(super) fn quote(records: &SandboxRecords, hotel: &str, plan: BoardPlan, stay: Stay) -> Quote {
    Quote {
        hotel: hotel.to_owned(),
        plan,
        night: stay.currency.minor(nightly(records, hotel, plan)),
        stay,
        quoted_at: records.now(),
    }
}

/// Returns the price of a room and night in ten-thousandths of a major unit.
pub(super) fn nightly(records: &SandboxRecords, hotel: &str, plan: BoardPlan) -> i64 {
    let room_only = records.setting(&nightly_setting(hotel)).unwrap_or(NIGHT);
    match plan {
        BoardPlan::RoomOnly => room_only,
        BoardPlan::Breakfast => room_only + BREAKFAST,
    }
}

/// Sets the ROOM_ONLY price of a night, in ten-thousandths of a major unit.
pub(crate) fn set_nightly(records: &mut SandboxRecords, hotel: &str, ten_thousandths: i64) {
    records.set(&nightly_setting(hotel), ten_thousandths);
}

fn nightly_setting(hotel: &str) -> String {
    format!("nightly:{hotel}")
}
