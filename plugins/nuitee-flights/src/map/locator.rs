//! Record locators. They distinguish those of airlines from those of distribution systems, which
//! airlines do not have.

use std::collections::HashSet;

use stopover_sdk::dropped::DroppedItems;
use stopover_sdk::lenient::{LenientList, LenientText, Part};
use stopover_sdk::types::flight_details::{LocatorSystem, RecordLocator};

use crate::map::PartReader;
use crate::wire::booking::{Locator, OrderReference};

/// The IATA codes of distribution systems. Airlines have codes that begin with 1, too, such as `1T`.
const DISTRIBUTION_SYSTEMS: [&str; 9] = ["1A", "1B", "1E", "1F", "1G", "1J", "1P", "1S", "1V"];

/// The references of an order.
#[derive(Default)]
pub(crate) struct OrderReferences {
    /// The provider's id of the order. Nuitee does not document whether it is a record locator.
    pub(crate) order_id: Option<String>,
    pub(crate) locators: Vec<RecordLocator>,
}

impl OrderReferences {
    /// Returns the record locator by which the airline finds the booking.
    pub(crate) fn airline_locator(&self) -> Option<String> {
        let mut locators = self.locators.iter();
        let locator = locators.find(|locator| locator.system == LocatorSystem::Airline);
        locator.map(|locator| locator.locator.clone())
    }
}

/// Returns the references of the booking at `pointer`, those of airlines in Nuitee's order of
/// preference.
pub(crate) fn order_references(
    listed: Part<LenientList<Locator<'_>>>,
    order: OrderReference<'_>,
    pointer: &str,
    dropped: &mut DroppedItems,
) -> OrderReferences {
    let reference = format!("{pointer}/order/reference");
    let mut parts = PartReader {
        pointer: &reference,
        dropped,
    };
    let provider = parts.read("provider", order.provider).unwrap_or_default();
    let mut locators = Locators {
        of_provider: [provider.pnr.as_str(), order.order_id.as_str()],
        known: HashSet::new(),
        found: Vec::new(),
    };
    for (pointer, list) in [
        (format!("{pointer}/airlineLocators"), listed),
        (
            format!("{reference}/airlineBookings"),
            order.airline_bookings,
        ),
    ] {
        let list = dropped.readable_part(format_args!("{pointer}"), list);
        for (_, locator) in dropped.readable(format_args!("{pointer}"), list.unwrap_or_default()) {
            locators.add(&locator);
        }
    }
    locators.push(
        &provider.pnr,
        LocatorSystem::DistributionSystem,
        None,
        provider.code.to_owned(),
    );
    OrderReferences {
        order_id: order.order_id.to_owned(),
        locators: locators.found,
    }
}

struct Locators<'p> {
    /// The references of the provider, which is no airline.
    of_provider: [&'p str; 2],
    /// The locators found, each with whether it is an airline's.
    known: HashSet<(bool, String)>,
    found: Vec<RecordLocator>,
}

impl Locators<'_> {
    fn add(&mut self, locator: &Locator<'_>) {
        use LocatorSystem::{Airline, DistributionSystem};
        let code = locator.airline_code.as_str();
        let own = match DISTRIBUTION_SYSTEMS.contains(&code) {
            true => DistributionSystem,
            false => Airline,
        };
        // Beside the airline's own locator, or if it is the provider's, the other one is not the
        // airline's.
        let other = match locator.airline_pnr.as_deref() {
            Some(own_locator) if own_locator != locator.pnr.as_str() => DistributionSystem,
            _ if self.of_provider.contains(&locator.pnr.as_str()) => DistributionSystem,
            Some(_) | None => own,
        };
        for (text, system) in [(&locator.airline_pnr, own), (&locator.pnr, other)] {
            let code = locator.airline_code.to_owned();
            let name = locator.airline_name.to_owned();
            self.push(text, system, code, name);
        }
    }

    fn push(
        &mut self,
        text: &LenientText<'_>,
        system: LocatorSystem,
        carrier_code: Option<String>,
        carrier: Option<String>,
    ) {
        let Some(locator) = text.to_owned() else {
            return;
        };
        let is_airlines = system == LocatorSystem::Airline;
        if !self.known.insert((is_airlines, locator.clone())) {
            return;
        }
        self.found.push(RecordLocator {
            locator,
            system,
            carrier_code,
            carrier,
        });
    }
}
