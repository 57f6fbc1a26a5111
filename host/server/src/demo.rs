//! The demo: a sandbox with its suppliers, an organization and an API key, so that a first booking
//! needs no configuration.

mod call;
mod day;
pub(crate) mod sample;
mod traveller;

use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use host_application::api_key::service::NewApiKey;
use host_application::application::Application;
use host_application::config::data_dir_overlay;
use host_application::context::ApiKeyScope;
use host_application::sealer::KEY_BYTES;
#[cfg(feature = "dashboard")]
use host_domain::account::{AccountRole, OrganizationRole};
use host_domain::audit::Actor;
use host_domain::owner::{Mode, Tenant};
use sandbox::credentials::{
    SANDBOX_HOTELS, SANDBOX_MINI, SANDBOX_PAYMENTS, SUPPLIER_A, SUPPLIER_B,
};
use sandbox::{SandboxConfig, SandboxHandle};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use toml::{Table, Value};

/// Organization of the demo's first API key.
pub(crate) const ORGANIZATION: &str = "demo";

/// Maximum duration of a call to the sandbox. Its slowest search takes nine seconds. The limit is
/// part of the time after which a booking that is not found has failed.
const CALL_MS_MAX: u64 = 10_000;

/// The sandbox that a demo uses.
pub(crate) struct DemoSandbox {
    pub url: String,
    /// The sandbox of this process; `None` if an external one is used.
    own: Option<SandboxHandle>,
}

impl DemoSandbox {
    /// Starts a sandbox on a free port with its state in `data_dir`, unless an external one is
    /// given.
    ///
    /// # Errors
    /// The sandbox cannot start.
    pub(crate) async fn start(data_dir: &Path, external_url: Option<&str>) -> anyhow::Result<Self> {
        if let Some(url) = external_url {
            return Ok(Self {
                url: url.trim_end_matches('/').to_owned(),
                own: None,
            });
        }
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let config = SandboxConfig::new(data_dir.join("sandbox"), any_port);
        let sandbox = sandbox::serve(config).await?;
        Ok(Self {
            url: sandbox.base_url(),
            own: Some(sandbox),
        })
    }

    /// Stops the sandbox of this process.
    pub(crate) async fn shut_down(self) {
        if let Some(sandbox) = self.own {
            sandbox.shutdown().await;
        }
    }
}

/// Returns the demo's configuration overlay: suppliers that call the sandbox, and all data in one
/// folder.
///
/// # Errors
/// The master key file cannot be read or created.
pub(crate) fn config_overlay(data_dir: &Path, sandbox_url: &str) -> anyhow::Result<Table> {
    let mut table = data_dir_overlay(data_dir);
    let key_file = data_dir.join("master.key");
    let key = load_or_create_master_key(&key_file).with_context(|| {
        let file = key_file.display();
        format!("the master key file {file} cannot be read or created")
    })?;
    table.insert("master_key".to_owned(), key.into());
    // Webhook receivers under development run on this machine.
    table.insert("allow_insecure_webhooks".to_owned(), true.into());
    let (scheme, rest) = sandbox_url
        .split_once("://")
        .unwrap_or(("http", sandbox_url));
    let host = rest.split('/').next().unwrap_or(rest);
    let suppliers = [
        (SANDBOX_HOTELS, "hotel", "fake-hotels.wasm", 10),
        (SANDBOX_MINI, "hotel", "fake-hotels-mini.wasm", 20),
        (SUPPLIER_A, "flight", "fake-flights-skylane.wasm", 10),
        (SUPPLIER_B, "flight", "fake-flights-jetbridge.wasm", 20),
        (SANDBOX_PAYMENTS, "payment", "fake-payments.wasm", 10),
    ];
    let suppliers = suppliers.map(|(credential, kind, component, priority)| {
        json!({
            "id": credential.account, "kind": kind, "modes": ["test"], "priority": priority,
            "component": component, "settings": {"base_url": sandbox_url},
            "limits": {"call_ms_max": CALL_MS_MAX},
            "hosts": [{"host": format!("{scheme}://{host}"), "private": true}],
            "credentials": [
                {"host": host, "header": credential.header, "value": credential.value},
            ],
        })
    });
    table.insert("suppliers".to_owned(), Value::try_from(suppliers)?);
    Ok(table)
}

/// Reads the master key of a data folder, or creates it at the first start. Only the file's owner
/// may read it.
fn load_or_create_master_key(path: &Path) -> io::Result<String> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        read => return read.map(|key| key.trim().to_owned()),
    }
    let mut bytes = [0_u8; KEY_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    let key = STANDARD.encode(bytes);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    writeln!(file, "{key}")?;
    file.sync_all()?;
    Ok(key)
}

/// Creates the first API key of the demo's organization. Returns `None` if the organization already
/// has a key.
///
/// # Errors
/// The database cannot be used.
pub(crate) async fn create_initial_key(app: &Application) -> anyhow::Result<Option<SecretString>> {
    let keys = app.api_key_service.list(Some(ORGANIZATION)).await;
    if !keys.context("cannot read the API keys")?.is_empty() {
        return Ok(None);
    }
    let new = NewApiKey {
        tenant: Tenant {
            organization: ORGANIZATION.to_owned(),
            mode: Mode::Test,
        },
        name: "demo".to_owned(),
        scopes: ApiKeyScope::DEFAULT.to_vec(),
        expires_at: None,
    };
    let created = app.api_key_service.create(&Actor::system(), new).await;
    let created = created.context("cannot create the demo's API key")?;
    Ok(Some(created.key))
}

/// Creates the link that sets up the first account: an operator who is also an admin of the demo's
/// organization. Returns the link's token, or `None` if there is an account.
///
/// # Errors
/// The database cannot be used.
#[cfg(feature = "dashboard")]
pub(crate) async fn create_first_account_link(
    app: &Application,
) -> anyhow::Result<Option<SecretString>> {
    let roles = vec![
        AccountRole::Operator,
        AccountRole::Organization {
            organization: ORGANIZATION.to_owned(),
            role: OrganizationRole::Admin,
        },
    ];
    let link = app.accounts.setup.create_first_link(roles).await;
    link.context("cannot create the link for the first account")
}

/// Returns a shell command that prices, prebooks, pays and books a hotel.
pub(crate) fn example_command(app: &Application, key: &SecretString) -> String {
    let day = |days: i64| app.clock.now().plus_s(days * 86_400).date_utc();
    EXAMPLE_COMMAND
        .replace("BASE", &app.base_url)
        .replace("KEY", key.expose_secret())
        .replace("CHECK_IN", &day(30).to_string())
        .replace("CHECK_OUT", &day(32).to_string())
}

/// The shell command. Each call takes one value from the previous response.
const EXAMPLE_COMMAND: &str = concat!(
    r#"call() { curl -sS BASE/v1/"$1" -H 'x-api-key: KEY' -H "x-idempotency-key: $(date +%s)-$1" -H 'content-type: application/json' -d "$2"; }; "#,
    r#"take() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }; "#,
    r#"offer=$(call hotel/offers '{"supplier":"SANDBOX_HOTELS","supplier_hotel_ids":["OK"],"check_in":"CHECK_IN","check_out":"CHECK_OUT","occupancy":[{"adults":2,"children":[]}],"guest_nationality":"GB","currency":"EUR","max_offers_per_hotel":1}' | take offer_reference); "#,
    r#"booking=$(call hotel/prebook '{"offer_reference":"'"$offer"'","contact":{"first_name":"Ada","last_name":"Lovelace","email":"ada@example.com","phone":"+442079460000"},"rooms":[{"guests":[{"first_name":"Ada","last_name":"Lovelace","type":"ADULT","is_lead":true},{"first_name":"Charles","last_name":"Babbage","type":"ADULT","is_lead":false}]}]}' | sed 's/.*"id":"\(bkg_[^"]*\)".*/\1/'); "#,
    r#"card=$(call payment-instruments '{"type":"CARD","token":"tok_visa"}' | take id); "#,
    r#"call hotel/bookings/"$booking"/book '{"payment_instrument_id":"'"$card"'"}'"#,
);
