//! The keys of the sandbox's accounts.

/// An account at one of the sandbox's suppliers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credential {
    /// Name of the account, which the ledger shows as the supplier.
    pub account: &'static str,
    /// Lower-case name of the header that carries the key.
    pub header: &'static str,
    /// Complete value of that header.
    pub value: &'static str,
}

/// Account at the hotel supplier.
pub const SANDBOX_HOTELS: Credential = Credential {
    account: "SANDBOX_HOTELS",
    header: "x-lodge-key",
    value: "lodge-sandbox-hotels",
};

/// Second account at the same hotel supplier.
pub const SANDBOX_MINI: Credential = Credential {
    account: "SANDBOX_MINI",
    header: "x-lodge-key",
    value: "lodge-sandbox-mini",
};

/// Account at the flight supplier that the caller pays.
pub const SUPPLIER_A: Credential = Credential {
    account: "SUPPLIER_A",
    header: "authorization",
    value: "Bearer skylane-supplier-a",
};

/// Account at the flight supplier with its own checkout.
pub const SUPPLIER_B: Credential = Credential {
    account: "SUPPLIER_B",
    header: "x-jetbridge-token",
    value: "jetbridge-supplier-b",
};

/// Account at the card processor.
pub const SANDBOX_PAYMENTS: Credential = Credential {
    account: "SANDBOX_PAYMENTS",
    header: "tillway-key",
    value: "tillway-sandbox-payments",
};
