//! State of the dashboard's routes.

use axum::extract::FromRef;
use host_application::account::session::SessionService;
use host_application::account::setup::SetupService;
use host_application::account::sign_in::SignInService;
use host_application::application::Application;
use host_application::config::dashboard::TrustedProxy;
use host_application::console::keys::ConsoleKeys;
use host_application::console::overview::ConsoleOverview;
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
}

impl DashboardState {
    pub fn new(application: Arc<Application>, settings: DashboardSettings) -> Self {
        Self {
            application,
            settings: Arc::new(settings),
        }
    }
}

impl FromRef<DashboardState> for Arc<DashboardSettings> {
    fn from_ref(state: &DashboardState) -> Self {
        Self::clone(&state.settings)
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
    accounts.sessions: Arc<SessionService>;
    accounts.setup: Arc<SetupService>;
    accounts.sign_in: Arc<SignInService>;
    console.keys: Arc<ConsoleKeys>;
    console.overview: Arc<ConsoleOverview>;
}
