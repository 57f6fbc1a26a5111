//! Assembly of the gateway: builds the application and the state of its listeners, and stops them.

use crate::listener;
use crate::observability::metrics::{self, PluginMetrics};
use crate::refusal::RefuseRequest;
use crate::system_clock::SystemClock;
use host_api::admin::{self, AdminState};
use host_api::{ApiSettings, ApiState};
use host_application::application::{Application, ApplicationDependencies, StartupError};
use host_application::config::{Config, LimitsConfig};
use host_application::id_generator::UuidV7Generator;
use host_domain::time::Clock;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// Maximum number of connections to the admin listener, which only operators use.
const ADMIN_CONNECTIONS_MAX: usize = 100;

/// Interval at which idle rate limits are evicted and the metrics are maintained.
const HOUSEKEEPING_INTERVAL: Duration = Duration::from_secs(10);

/// A running application with the state of its API.
pub(crate) struct Gateway {
    pub application: Arc<Application>,
    api_state: ApiState,
    limits: LimitsConfig,
    /// Hosts that requests to the admin listener may address.
    admin_hosts: Arc<[String]>,
}

impl Gateway {
    /// Starts the application and builds the state of its API. `dashboard_url` is the URL of the
    /// dashboard, if it is served.
    ///
    /// # Errors
    /// [`StartupError`].
    pub(crate) async fn build(
        config: Config,
        plugins_dir: PathBuf,
        dashboard_url: Option<String>,
    ) -> Result<Self, StartupError> {
        // The metrics recorder must be installed before anything is recorded.
        let _ = metrics::metrics_handle();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let (base_url, limits) = (config.base_url(), config.limits.clone());
        let admin_hosts = admin_hosts(&config);
        let dependencies = ApplicationDependencies {
            clock: Arc::clone(&clock),
            ids: Arc::new(UuidV7Generator),
            plugins_dir,
            call_sink: Arc::new(PluginMetrics),
            base_url: base_url.clone(),
        };
        let application = Application::launch(config, dependencies).await?;
        let settings = ApiSettings {
            base_url,
            dashboard_url,
            requests_per_s: limits.requests_per_s,
            burst: limits.burst,
            request_timeout: Duration::from_secs(limits.request_s),
        };
        let api_state = ApiState::new(Arc::clone(&application), settings, clock);
        Ok(Self {
            application,
            api_state,
            limits,
            admin_hosts,
        })
    }

    /// Returns the routes of the API, for calls from this process.
    #[cfg(feature = "demo")]
    pub(crate) fn api_router(&self) -> axum::Router {
        host_api::router(&self.api_state)
    }

    /// Serves the API and the admin listener in tasks of the application.
    pub(crate) fn spawn_listeners(&self, api: TcpListener, admin: TcpListener) {
        let tasks = &self.application.tasks;
        let api_router = host_api::router(&self.api_state);
        self.spawn_housekeeping();
        let api_state = self.api_state.clone();
        let refuse: RefuseRequest =
            Arc::new(move |status, client| api_state.refused_request(status, client));
        let connections_max = self.limits.connections;
        listener::spawn_listener(tasks, api, api_router, refuse, connections_max);
        let admin_state = AdminState {
            application: Arc::clone(&self.application),
            base_url: self.application.base_url.clone(),
            allowed_hosts: Arc::clone(&self.admin_hosts),
            render_metrics: metrics::render_metrics,
        };
        let admin_router = admin::router(&admin_state);
        // Operators have no rate limit.
        let base_url = self.application.base_url.clone();
        let refuse: RefuseRequest =
            Arc::new(move |status, _| host_api::refused_request(status, &base_url));
        listener::spawn_listener(tasks, admin, admin_router, refuse, ADMIN_CONNECTIONS_MAX);
    }

    /// Evicts idle rate limits and runs the upkeep of the metrics periodically, to bound memory use.
    fn spawn_housekeeping(&self) {
        let tasks = &self.application.tasks;
        let (shutdown, api_state) = (tasks.shutdown_token(), self.api_state.clone());
        tasks.spawn("housekeeping", async move {
            let mut ticks = tokio::time::interval(HOUSEKEEPING_INTERVAL);
            loop {
                tokio::select! {
                    () = shutdown.cancelled() => return,
                    _ = ticks.tick() => {
                        api_state.evict_idle_rate_limits();
                        metrics::metrics_handle().run_upkeep();
                    }
                }
            }
        });
    }

    /// Stops the application. Returns `false` if tasks were still running after the configured time.
    pub(crate) async fn shut_down(&self) -> bool {
        let timeout = Duration::from_secs(self.limits.shutdown_s);
        self.application.shut_down(timeout).await
    }
}

/// Returns the hosts that requests to the admin listener may address: the configured ones, and the
/// address of the listener.
fn admin_hosts(config: &Config) -> Arc<[String]> {
    let own = Some(config.admin_listen.ip()).filter(|ip| !ip.is_unspecified());
    let own = own.iter().map(ToString::to_string);
    own.chain(config.admin.allowed_hosts.iter().cloned())
        .collect()
}
