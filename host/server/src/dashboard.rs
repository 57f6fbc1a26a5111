//! The listener of the dashboard.

use crate::listener;
use crate::refusal::RefuseRequest;
use anyhow::ensure;
use host_application::application::Application;
use host_application::config::DashboardConfig;
use host_dashboard::{DashboardSettings, DashboardState, SampleDataHook};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;

/// Maximum number of connections to the dashboard. A browser opens up to six.
const CONNECTIONS_MAX: usize = 1000;

/// Checks that people's passwords will not cross the network in clear text.
///
/// # Errors
/// The address is not loopback, and there is no public URL.
pub(crate) fn check_address(config: &DashboardConfig, address: SocketAddr) -> anyhow::Result<()> {
    ensure!(
        config.protects_passwords_on(address.ip()),
        "the dashboard would receive passwords in clear text on {address}; set \
         dashboard.public_url to the https:// URL of a proxy with TLS, or dashboard.listen \
         (--dashboard-listen) to a loopback address such as 127.0.0.1:8082"
    );
    Ok(())
}

/// Serves the dashboard in tasks of the application, and stores its URL for the command
/// `stopover accounts`. Returns the URL that browsers use, without a trailing slash.
///
/// # Errors
/// The address of the listener cannot be read.
pub(crate) async fn spawn_dashboard(
    application: &Arc<Application>,
    listener: TcpListener,
    sample_data: Option<SampleDataHook>,
) -> io::Result<String> {
    let config: &DashboardConfig = &application.config.dashboard;
    let base_url = config.base_url(listener.local_addr()?);
    if let Err(error) = application.accounts.accounts.set_link_base(&base_url).await {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "the address of the dashboard cannot be stored; links of `stopover accounts` may name another one"
        );
    }
    let settings = DashboardSettings {
        base_url: base_url.clone(),
        trusted_proxies: config.trusted_proxies.clone(),
    };
    let mut state = DashboardState::new(Arc::clone(application), settings);
    state.sample_data = sample_data;
    let router = host_dashboard::router(state);
    let refuse: RefuseRequest = Arc::new(|status, _| host_dashboard::refused_request(status));
    listener::spawn_listener(
        &application.tasks,
        listener,
        router,
        refuse,
        CONNECTIONS_MAX,
    );
    Ok(base_url)
}
