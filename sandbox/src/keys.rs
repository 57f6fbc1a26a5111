//! The keys under which the sandbox knows its callers.

/// One account at one of the sandbox's suppliers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credential {
    /// What the ledger calls the supplier.
    pub account: &'static str,
    /// Lower-case name of the header that carries the key.
    pub header: &'static str,
    /// The complete value of that header.
    pub value: &'static str,
}

/// The hotel supplier, everything.
pub const SANDBOX_HOTELS: Credential = Credential {
    account: "SANDBOX_HOTELS",
    header: "x-lodge-key",
    value: "lodge-sandbox-hotels",
};

/// The same hotel supplier, known under a second account.
pub const SANDBOX_MINI: Credential = Credential {
    account: "SANDBOX_MINI",
    header: "x-lodge-key",
    value: "lodge-sandbox-mini",
};

/// The flight supplier that the caller pays.
pub const SUPPLIER_A: Credential = Credential {
    account: "SUPPLIER_A",
    header: "authorization",
    value: "Bearer skylane-supplier-a",
};

/// The flight supplier with a checkout of its own.
pub const SUPPLIER_B: Credential = Credential {
    account: "SUPPLIER_B",
    header: "x-jetbridge-token",
    value: "jetbridge-supplier-b",
};

/// The card processor.
pub const SANDBOX_PAYMENTS: Credential = Credential {
    account: "SANDBOX_PAYMENTS",
    header: "tillway-key",
    value: "tillway-sandbox-payments",
};
