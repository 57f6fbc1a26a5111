//! Deliberate faults inside an adapter. The gateway must stop each of them without harm to other
//! work. They occur at pricing only, if one of four hotel ids is requested.

use std::hint;
use std::process;

use stopover_sdk::hotel_pricing::{HotelOffers, Offer, PriceRequest, PriceResponse};
use stopover_sdk::types::hotel::{CancellationPolicy, HotelSummary, Restriction};

const FLOOD_OFFERS: usize = 900;
const FLOOD_RESTRICTIONS: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InjectedFault {
    /// The adapter aborts.
    Trap,
    /// The adapter never returns.
    Spin,
    /// The adapter allocates memory until it is refused.
    Hoard,
    /// The adapter returns 64 MiB.
    Flood,
}

impl InjectedFault {
    /// Returns the fault that the requested hotels trigger, if any. The first such hotel decides.
    pub(crate) fn triggered_by(hotel_ids: &[String]) -> Option<Self> {
        hotel_ids.iter().find_map(|id| match id.as_str() {
            "TRAP" => Some(Self::Trap),
            "SPIN" => Some(Self::Spin),
            "HOARD" => Some(Self::Hoard),
            "FLOOD" => Some(Self::Flood),
            _ => None,
        })
    }

    pub(crate) fn trigger(self, request: &PriceRequest) -> PriceResponse {
        match self {
            Self::Trap => process::abort(),
            Self::Spin => loop_forever(),
            Self::Hoard => exhaust_memory(),
            Self::Flood => flood_response(request),
        }
    }
}

fn loop_forever() -> ! {
    loop {
        hint::spin_loop();
    }
}

fn exhaust_memory() -> ! {
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    loop {
        blocks.push(vec![1; 1 << 20]);
        hint::black_box(&blocks);
    }
}

/// Returns far more offers than requested. Empty restrictions take more memory in the gateway than
/// in the adapter, so that an adapter with 64 MiB of memory can return 64 MiB.
fn flood_response(request: &PriceRequest) -> PriceResponse {
    let nothing = Restriction {
        code: String::new(),
        description: String::new(),
        active_from: None,
        active_until: None,
    };
    let offer = || Offer {
        policy: CancellationPolicy {
            restrictions: vec![nothing.clone(); FLOOD_RESTRICTIONS],
            ..CancellationPolicy::non_refundable()
        },
        ..Offer::new("flood", Vec::new())
    };
    PriceResponse {
        currency: request.stay.currency.clone(),
        hotels: vec![HotelOffers {
            hotel: HotelSummary::new("FLOOD", "The High Water"),
            offers: (0..FLOOD_OFFERS).map(|_| offer()).collect(),
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_four_hotel_ids_trigger_faults() {
        for (hotel_ids, expected) in [
            (vec!["OK", "MANY"], None),
            (vec!["trap", "TRAPS", ""], None),
            (vec!["TRAP"], Some(InjectedFault::Trap)),
            (vec!["OK", "SPIN"], Some(InjectedFault::Spin)),
            (vec!["HOARD", "TRAP"], Some(InjectedFault::Hoard)),
            (vec!["FLOOD"], Some(InjectedFault::Flood)),
        ] {
            let ids: Vec<_> = hotel_ids.into_iter().map(str::to_owned).collect();
            assert_eq!(InjectedFault::triggered_by(&ids), expected, "{ids:?}");
        }
    }
}
