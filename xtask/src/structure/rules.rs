//! The rules of `cargo xtask structure`, as data.

use super::Rule;

pub(super) const FILE_LINES_MAX: usize = 600;

/// Folders with the members of the workspace.
pub(super) const SOURCE_FOLDERS: [&str; 6] =
    ["host", "sandbox", "plugins", "tests", "xtask", "examples"];

/// Documents whose paths must exist, and folders of such documents.
pub(super) const DOCUMENTS: [&str; 9] = [
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "README.md",
    "docs/",
    "examples/",
    "plugins/",
    "sandbox/README.md",
    "tests/peers/README.md",
    "wit/README.md",
];

/// Documents of suppliers, each with the sources of the adapter whose fields its tables name.
pub(super) const SUPPLIER_DOCUMENTS: [(&str, &[&str]); 4] = [
    (
        "docs/suppliers/duffel-flights.md",
        &["plugins/duffel-flights/src/"],
    ),
    (
        "docs/suppliers/nuitee-flights.md",
        &["plugins/nuitee-flights/src/", "plugins/nuitee-events/src/"],
    ),
    (
        "docs/suppliers/nuitee-hotels.md",
        &["plugins/nuitee-hotels/src/", "plugins/nuitee-events/src/"],
    ),
    (
        "docs/suppliers/stripe-payments.md",
        &["plugins/stripe-payments/src/"],
    ),
];

/// Public type names that may be defined in several files of the host crates, each with the
/// reason.
pub(super) const SHARED_NAMES: &[(&str, &str)] = &[];

const SHARED_NAMES_MAX: usize = 10;
const _: () = assert!(SHARED_NAMES.len() <= SHARED_NAMES_MAX);

/// The crate whose modules have [`LAYERS`].
pub(super) const LAYERED_CRATE: &str = "host/application/src";

/// Top-level modules of [`LAYERED_CRATE`], lowest layer first. A module may import modules
/// of lower layers only.
pub(super) const LAYERS: [&[&str]; 11] = [
    &[
        "failpoint",
        "id_generator",
        "deadline",
        "metric_names",
        "error_chain",
        "storage_failure",
        "config",
    ],
    &[
        "base",
        "context",
        "sealer",
        "task_supervisor",
        "conflict_backoff",
    ],
    &["audit", "recording", "search"],
    &["idempotency", "api_key", "readiness", "supplier", "jobs"],
    &[
        "payment_instrument",
        "mandate",
        "catalog",
        "webhook",
        "account",
        "reporting",
    ],
    &["offers"],
    &["booking"],
    &["watch", "supplier_event"],
    &["console"],
    &["background", "service_groups"],
    &["application"],
];

/// The permitted dependencies of a crate.
pub(super) struct CrateRule {
    pub(super) name: &'static str,
    /// Crates of the workspace.
    pub(super) allowed: &'static [&'static str],
    /// Crates of the workspace that must be optional, behind a feature.
    pub(super) allowed_by_feature: &'static [&'static str],
    /// Further crates of the workspace for tests, which are dev-dependencies. `None` leaves the
    /// dev-dependencies unchecked.
    pub(super) allowed_in_tests: Option<&'static [&'static str]>,
    /// External crates.
    pub(super) forbidden: &'static [&'static [&'static str]],
}

impl CrateRule {
    const NONE: Self = Self {
        name: "",
        allowed: &[],
        allowed_by_feature: &[],
        allowed_in_tests: None,
        forbidden: &[],
    };
}

/// The rule of a crate in [`PLUGIN_FOLDERS`].
const PLUGIN: CrateRule = CrateRule {
    name: "plugins/*",
    // `nuitee-events` is a library of two plugins.
    allowed: &["plugin-sdk", "nuitee-events"],
    allowed_in_tests: Some(&["fuzz", "variants"]),
    ..CrateRule::NONE
};

/// Folders of plugins.
const PLUGIN_FOLDERS: [&str; 3] = ["plugins/", "examples/minimal-plugin/", "tests/guests/"];

/// Returns the rule of a crate, by its name or else by the path of its manifest.
pub(super) fn of_crate(name: &str, manifest: &str) -> Option<&'static CrateRule> {
    let is_plugin = || {
        PLUGIN_FOLDERS
            .iter()
            .any(|folder| manifest.starts_with(folder))
    };
    let own = CRATES.iter().find(|rule| rule.name == name);
    own.or_else(|| is_plugin().then_some(&PLUGIN))
}

const HTTP_SERVER: &[&str] = &["axum", "hyper", "hyper-util", "tower", "tower-http"];
const HTTP_CLIENT: &[&str] = &["reqwest"];
const API_DOCUMENT: &[&str] = &["utoipa", "utoipa-axum"];
const DATABASE: &[&str] = &["rusqlite", "sqlx"];
const WASM_ENGINE: &[&str] = &["wasmtime", "wasmtime-wasi"];
const COMMAND_LINE: &[&str] = &["clap"];
const ASYNC_RUNTIME: &[&str] = &["tokio", "tokio-util"];
const RANDOMNESS: &[&str] = &["getrandom", "rand", "uuid"];

/// The rules of the crates that are not in [`PLUGIN_FOLDERS`], and of `plugins/sdk`.
const CRATES: [CrateRule; 18] = [
    CrateRule {
        name: "host-domain",
        forbidden: &[
            HTTP_SERVER,
            HTTP_CLIENT,
            API_DOCUMENT,
            DATABASE,
            WASM_ENGINE,
            COMMAND_LINE,
            ASYNC_RUNTIME,
            RANDOMNESS,
        ],
        ..CrateRule::NONE
    },
    CrateRule {
        name: "host-storage",
        allowed: &["host-domain"],
        forbidden: &[
            HTTP_SERVER,
            HTTP_CLIENT,
            API_DOCUMENT,
            WASM_ENGINE,
            COMMAND_LINE,
        ],
        ..CrateRule::NONE
    },
    CrateRule {
        name: "host-runtime",
        allowed: &["host-domain"],
        forbidden: &[HTTP_SERVER, API_DOCUMENT, DATABASE, COMMAND_LINE],
        ..CrateRule::NONE
    },
    CrateRule {
        name: "host-resources",
        allowed: &["host-domain"],
        forbidden: &[
            HTTP_SERVER,
            HTTP_CLIENT,
            DATABASE,
            WASM_ENGINE,
            COMMAND_LINE,
            ASYNC_RUNTIME,
            RANDOMNESS,
            &["utoipa-axum"],
        ],
        ..CrateRule::NONE
    },
    CrateRule {
        name: "host-application",
        allowed: &[
            "host-domain",
            "host-storage",
            "host-runtime",
            "host-resources",
        ],
        forbidden: &[
            HTTP_SERVER,
            API_DOCUMENT,
            DATABASE,
            WASM_ENGINE,
            COMMAND_LINE,
        ],
        ..CrateRule::NONE
    },
    CrateRule {
        name: "host-api",
        allowed: &["host-application", "host-resources", "host-domain"],
        forbidden: &[HTTP_CLIENT, DATABASE, WASM_ENGINE, COMMAND_LINE],
        ..CrateRule::NONE
    },
    CrateRule {
        name: "host-server",
        allowed: &[
            "host-domain",
            "host-storage",
            "host-runtime",
            "host-resources",
            "host-application",
            "host-api",
        ],
        allowed_by_feature: &["sandbox", "host-dashboard"],
        forbidden: &[DATABASE, WASM_ENGINE],
        ..CrateRule::NONE
    },
    CrateRule {
        name: "host-dashboard",
        allowed: &["host-application", "host-domain"],
        forbidden: &[
            HTTP_CLIENT,
            API_DOCUMENT,
            DATABASE,
            WASM_ENGINE,
            COMMAND_LINE,
            RANDOMNESS,
        ],
        ..CrateRule::NONE
    },
    CrateRule {
        name: "sandbox",
        forbidden: &[HTTP_CLIENT, API_DOCUMENT, WASM_ENGINE, COMMAND_LINE],
        ..CrateRule::NONE
    },
    CrateRule {
        name: "simulation",
        // `host-runtime` for `DnsLookup`, which a `DeliveryPolicy` needs.
        allowed_in_tests: Some(&[
            "host-application",
            "host-domain",
            "host-runtime",
            "host-storage",
            "fuzz",
        ]),
        forbidden: &[HTTP_SERVER, HTTP_CLIENT, DATABASE, WASM_ENGINE],
        ..CrateRule::NONE
    },
    CrateRule {
        name: "tests",
        allowed: &["fuzz", "test-support"],
        forbidden: &[WASM_ENGINE],
        ..CrateRule::NONE
    },
    CrateRule {
        name: "bench",
        allowed: &[
            "tests",
            "host-domain",
            "host-storage",
            "host-runtime",
            "sandbox",
            "plugin-sdk",
            "duffel-flights",
            "nuitee-hotels",
        ],
        ..CrateRule::NONE
    },
    CrateRule {
        name: "fuzz",
        ..CrateRule::NONE
    },
    CrateRule {
        name: "variants",
        allowed: &["plugin-sdk"],
        ..CrateRule::NONE
    },
    CrateRule {
        name: "test-support",
        allowed: &["host-domain"],
        ..CrateRule::NONE
    },
    CrateRule {
        name: "webhook-receiver",
        ..CrateRule::NONE
    },
    CrateRule {
        name: "plugin-sdk",
        allowed_in_tests: Some(&[]),
        ..CrateRule::NONE
    },
    CrateRule {
        name: "xtask",
        forbidden: &[
            HTTP_SERVER,
            HTTP_CLIENT,
            DATABASE,
            WASM_ENGINE,
            ASYNC_RUNTIME,
        ],
        ..CrateRule::NONE
    },
];

/// Returns what to do about a finding of the rule.
pub(super) fn remedy(rule: Rule) -> &'static str {
    match rule {
        Rule::Dependencies => {
            "change the manifest, or move the code to a crate that may depend on it"
        }
        Rule::ImportCycles => "move shared items to a file that imports none of these",
        Rule::SharedNames => "rename one of them, for example to `…Response` or `…Row`",
        Rule::FileLength => "split it by noun",
        Rule::DocumentPaths => "correct the path in the document",
        Rule::CommentReferences => "name the type that defines it",
        Rule::SupplierFields => {
            "add a row that says where the field appears in the gateway's response, or why it does not"
        }
        Rule::Layers => "pass the value in, or move the code to the higher layer",
        Rule::ReExports => "import it from the crate that defines it",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn shared_names_have_reasons() {
        assert!(SHARED_NAMES.iter().all(|(_, reason)| !reason.is_empty()));
    }

    #[test]
    fn each_crate_has_one_rule_and_each_module_one_layer() {
        let crates: BTreeSet<_> = CRATES.iter().map(|rule| rule.name).collect();
        assert_eq!(crates.len(), CRATES.len());
        let modules: Vec<_> = LAYERS.iter().copied().flatten().collect();
        let distinct: BTreeSet<_> = modules.iter().collect();
        assert_eq!(distinct.len(), modules.len());
    }
}
