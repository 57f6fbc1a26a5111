//! Ownership of data: organization, mode and user.

use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// The mode of a key. Data of the two modes is fully separate.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Mode {
        /// Test mode: deterministic suppliers and no real money.
        Test = "test",
        /// Live mode: real suppliers and real money.
        Live = "live",
    }
}

/// The tenant that an API key resolves to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Tenant {
    /// The id of the organization that the key was created for.
    pub organization: String,
    pub mode: Mode,
}

/// The owner of a booking, an instrument or an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Owner {
    pub tenant: Tenant,
    /// The organization's end user, or [`Owner::ORGANIZATION_USER`] if there is none.
    pub user: String,
}

impl Owner {
    /// The user of requests that name no user.
    pub const ORGANIZATION_USER: &'static str = "org";

    /// Returns whether this owner may act for `user`. A user may act for themselves, and the
    /// organization for all its users.
    pub fn can_act_for(&self, user: &str) -> bool {
        self.user == user || self.user == Self::ORGANIZATION_USER
    }
}
