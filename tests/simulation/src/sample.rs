//! Values that the scenarios share.

use host_domain::hotel::{Contact, Occupancy, Stay};
use host_domain::money::{Currency, Money};
use host_domain::owner::{Mode, Owner, Tenant};
use host_domain::time::Date;

pub(super) fn euros(minor: i64) -> Money {
    Money::new(minor, Currency::parse("EUR").unwrap())
}

pub(super) fn tenant(organization: &str) -> Tenant {
    Tenant {
        organization: organization.to_owned(),
        mode: Mode::Test,
    }
}

pub(super) fn owner(organization: &str, user: &str) -> Owner {
    Owner {
        tenant: tenant(organization),
        user: user.to_owned(),
    }
}

pub(super) fn contact() -> Contact {
    Contact {
        first_name: "Ada".to_owned(),
        last_name: "L".to_owned(),
        email: "a@example.org".to_owned(),
        phone: "+4912345678".to_owned(),
    }
}

/// Returns a stay of one night with this number of adults in each room.
pub(super) fn stay(check_in: Date, rooms: usize, adults: u8) -> Stay {
    let occupancy = Occupancy {
        adults,
        children: Vec::new(),
    };
    Stay {
        check_in,
        check_out: check_in.tomorrow().unwrap(),
        occupancies: vec![occupancy; rooms],
        guest_nationality: "DE".to_owned(),
        guest_residence: None,
        currency: euros(0).currency,
    }
}
