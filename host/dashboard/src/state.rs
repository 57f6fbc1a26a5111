//! State of the dashboard's routes.

use axum::extract::FromRef;
use host_application::account::oidc::OidcService;
use host_application::account::session::SessionService;
use host_application::account::setup::SetupService;
use host_application::account::sign_in::SignInService;
use host_application::account::two_factor::TwoFactorService;
use host_application::application::Application;
use host_application::config::dashboard::TrustedProxy;
use host_application::console::audit::ConsoleAudit;
use host_application::console::bookings::ConsoleBookings;
use host_application::console::bulk_replay::ConsoleBulkReplays;
use host_application::console::deliveries::ConsoleDeliveries;
use host_application::console::go_live::GoLiveService;
use host_application::console::keys::ConsoleKeys;
use host_application::console::live::LiveLists;
use host_application::console::mandates::ConsoleMandates;
use host_application::console::members::ConsoleMembers;
use host_application::console::overview::ConsoleOverview;
use host_application::console::requests::ConsoleRequests;
use host_application::console::suppliers::ConsoleSuppliers;
use host_application::console::unresolved::ConsoleUnresolved;
use host_application::console::watches::ConsoleWatches;
use host_application::console::webhooks::ConsoleWebhooks;
use host_application::search::SearchService;
use host_domain::time::Clock;
use std::sync::Arc;

/// Settings of the dashboard.
#[derive(Debug, Clone)]
pub struct DashboardSettings {
    /// URL of the dashboard in the form of the header `Origin`, as
    /// [`DashboardConfig::base_url`](host_application::config::DashboardConfig::base_url) returns
    /// it.
    pub base_url: String,
    pub trusted_proxies: Vec<TrustedProxy>,
}

impl DashboardSettings {
    /// Returns the address to which the provider of single sign-on sends people back.
    pub(crate) fn oidc_callback(&self) -> String {
        format!("{}/login/oidc/callback", self.base_url)
    }

    /// Returns whether browsers use https.
    pub(crate) fn is_https(&self) -> bool {
        self.base_url.starts_with("https://")
    }
}

/// The state that all routes share. Handlers extract the part that they use.
#[derive(Clone)]
pub struct DashboardState {
    pub(crate) application: Arc<Application>,
    pub(crate) settings: Arc<DashboardSettings>,
    live: Arc<LiveLists>,
    /// `None` if the gateway is no demo.
    pub sample_data: Option<SampleDataHook>,
}

/// Begins to fill the demo with sample data. Later calls change nothing.
pub type SampleDataHook = Arc<dyn Fn() + Send + Sync>;

impl DashboardState {
    pub fn new(application: Arc<Application>, settings: DashboardSettings) -> Self {
        let live = LiveLists::new(
            Arc::clone(&application.clock),
            Arc::clone(&application.accounts.sessions),
            Arc::clone(&application.console.requests),
            Arc::clone(&application.console.deliveries),
            application.tasks.shutdown_token(),
        );
        Self {
            application,
            settings: Arc::new(settings),
            live: Arc::new(live),
            sample_data: None,
        }
    }
}

impl FromRef<DashboardState> for Arc<DashboardSettings> {
    fn from_ref(state: &DashboardState) -> Self {
        Self::clone(&state.settings)
    }
}

impl FromRef<DashboardState> for Arc<LiveLists> {
    fn from_ref(state: &DashboardState) -> Self {
        Self::clone(&state.live)
    }
}

/// Lets handlers take each service as `State<…>`: their signature then shows what they can do.
macro_rules! services {
    ($($($field:ident).+: $service:ty;)*) => {$(
        impl FromRef<DashboardState> for $service {
            fn from_ref(state: &DashboardState) -> Self {
                state.application.$($field).+.clone()
            }
        }
    )*};
}

services! {
    clock: Arc<dyn Clock>;
    accounts.oidc: Option<Arc<OidcService>>;
    accounts.sessions: Arc<SessionService>;
    accounts.setup: Arc<SetupService>;
    accounts.sign_in: Arc<SignInService>;
    accounts.two_factor: Arc<TwoFactorService>;
    console.unresolved: Arc<ConsoleUnresolved>;
    console.go_live: Arc<GoLiveService>;
    console.bookings: Arc<ConsoleBookings>;
    console.mandates: Arc<ConsoleMandates>;
    console.watches: Arc<ConsoleWatches>;
    console.audit: Arc<ConsoleAudit>;
    console.bulk_replays: Arc<ConsoleBulkReplays>;
    console.deliveries: Arc<ConsoleDeliveries>;
    console.keys: Arc<ConsoleKeys>;
    console.members: Arc<ConsoleMembers>;
    console.overview: Arc<ConsoleOverview>;
    console.requests: Arc<ConsoleRequests>;
    console.webhooks: Arc<ConsoleWebhooks>;
    search: Arc<SearchService>;
    console.suppliers: Arc<ConsoleSuppliers>;
}
