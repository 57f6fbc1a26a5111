//! `stopover serve`: runs the listeners until shutdown.

use crate::assembly::Gateway;
use crate::cli::{CliError, ConfigSource, plugins_dir, print_line};
#[cfg(feature = "dashboard")]
use crate::dashboard::{check_address, spawn_dashboard};
use crate::observability::logging;
use crate::signals::Signals;
use anyhow::Context;
use clap::Args;
use host_application::config::{Config, reachable_address};
#[cfg(feature = "dashboard")]
use host_dashboard::SampleDataHook;
use std::net::SocketAddr;
use std::path::PathBuf;
use tokio::net::TcpListener;

/// Options of `stopover serve`.
#[derive(Debug, Args)]
pub(super) struct ServeOptions {
    /// Start a demo: sandbox suppliers, a database in --data-dir and a test key
    #[cfg(feature = "demo")]
    #[arg(long)]
    pub(super) demo: bool,
    /// Folder that holds all data; default for the demo: `data`
    #[arg(long, value_name = "DIR")]
    pub(super) data_dir: Option<PathBuf>,
    /// Address of the API; port 0 takes any free port
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Address of the admin listener (metrics, plugins, unresolved outcomes)
    #[arg(long, value_name = "ADDRESS")]
    admin_listen: Option<SocketAddr>,
    /// Address of the dashboard; port 0 takes any free port
    #[cfg(feature = "dashboard")]
    #[arg(long, value_name = "ADDRESS")]
    dashboard_listen: Option<SocketAddr>,
    /// Fill the demo with a day of bookings, webhooks and watches
    #[cfg(feature = "demo")]
    #[arg(long, requires = "demo")]
    pub(super) sample_data: bool,
    /// URL of an external sandbox, for the demo
    #[cfg(feature = "demo")]
    #[arg(long, value_name = "URL", requires = "demo")]
    pub(super) sandbox: Option<String>,
    /// Configuration file (TOML)
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Folder of the plugin files
    #[arg(long, value_name = "DIR")]
    plugins_dir: Option<PathBuf>,
}

/// Runs the command.
pub(super) async fn run(options: ServeOptions) -> Result<(), CliError> {
    let source = ConfigSource {
        config: options.config.clone(),
        data_dir: options.data_dir.clone(),
        database: None,
    };
    let mut config = source.load()?;
    options.override_config(&mut config);
    #[cfg_attr(
        not(feature = "dashboard"),
        expect(unused_mut, reason = "only the dashboard is added later")
    )]
    let mut server = RunningServer::start(config).await?;
    server.print_addresses()?;
    #[cfg(feature = "dashboard")]
    server.serve_dashboard(None).await?;
    #[cfg(feature = "dashboard")]
    server.print_dashboard("/")?;
    print_line("ready")?;
    server.run_until_signal().await;
    Ok(())
}

impl ServeOptions {
    /// Replaces the values of the configuration that the command line sets.
    pub(super) fn override_config(&self, config: &mut Config) {
        config.listen = self.listen.unwrap_or(config.listen);
        config.admin_listen = self.admin_listen.unwrap_or(config.admin_listen);
        #[cfg(feature = "dashboard")]
        if self.dashboard_listen.is_some() {
            config.dashboard.listen = self.dashboard_listen;
        }
        if let Some(folder) = &self.plugins_dir {
            config.plugins_dir.clone_from(folder);
        }
    }
}

/// A gateway whose listeners accept connections.
pub(super) struct RunningServer {
    pub(super) gateway: Gateway,
    signals: Signals,
    api_address: SocketAddr,
    admin_address: SocketAddr,
    /// The listener of the dashboard until it is served.
    #[cfg(feature = "dashboard")]
    dashboard_listener: Option<TcpListener>,
    /// URL of the dashboard, without a trailing slash; `None` if it is not served.
    #[cfg(feature = "dashboard")]
    pub(super) dashboard_url: Option<String>,
}

impl RunningServer {
    /// Starts logging, binds the listeners and starts the gateway.
    pub(super) async fn start(mut config: Config) -> Result<Self, CliError> {
        logging::init_logging(&config.log)?;
        let signals = Signals::new().context("cannot handle signals")?;
        let api = bind(config.listen).await?;
        let admin = bind(config.admin_listen).await?;
        let (api_address, admin_address) = (api.local_addr()?, admin.local_addr()?);
        config.listen = api_address;
        #[cfg(feature = "dashboard")]
        let dashboard = match config.dashboard.listen {
            Some(address) => {
                check_address(&config.dashboard, address)?;
                Some(bind(address).await?)
            }
            None => None,
        };
        #[cfg(feature = "dashboard")]
        let dashboard_url = match &dashboard {
            Some(listener) => Some(config.dashboard.base_url(listener.local_addr()?)),
            None => None,
        };
        #[cfg(not(feature = "dashboard"))]
        let dashboard_url = None;
        let plugins_dir = plugins_dir(&config);
        let gateway = Gateway::build(config, plugins_dir, dashboard_url).await?;
        gateway.spawn_listeners(api, admin);
        Ok(Self {
            #[cfg(feature = "dashboard")]
            dashboard_listener: dashboard,
            #[cfg(feature = "dashboard")]
            dashboard_url: None,
            gateway,
            signals,
            api_address,
            admin_address,
        })
    }

    /// Prints the addresses of the listeners.
    pub(super) fn print_addresses(&self) -> Result<(), CliError> {
        let api_address = reachable_address(self.api_address);
        print_line(&format!("api  http://{api_address}"))?;
        let admin_address = reachable_address(self.admin_address);
        print_line(&format!("admin  http://{admin_address}"))
    }

    /// Serves the dashboard if it has a listener. The hook makes the demo's sample data.
    #[cfg(feature = "dashboard")]
    pub(super) async fn serve_dashboard(
        &mut self,
        sample_data: Option<SampleDataHook>,
    ) -> Result<(), CliError> {
        if let Some(listener) = self.dashboard_listener.take() {
            let served = spawn_dashboard(&self.gateway.application, listener, sample_data);
            let url = served.await?;
            self.dashboard_url = Some(url);
        }
        Ok(())
    }

    /// Prints the URL of a page of the dashboard.
    #[cfg(feature = "dashboard")]
    pub(super) fn print_dashboard(&self, path: &str) -> Result<(), CliError> {
        let Some(url) = &self.dashboard_url else {
            return Ok(());
        };
        print_line(&format!("dashboard  {url}{path}"))
    }

    /// Serves until SIGTERM or SIGINT, then stops the gateway.
    pub(super) async fn run_until_signal(mut self) {
        let application = &self.gateway.application;
        self.signals
            .wait(&application.tasks, &application.suppliers)
            .await;
        tracing::info!("the gateway stops: it finishes open requests");
        if !self.gateway.shut_down().await {
            tracing::warn!(
                "some tasks did not finish in time; their work resumes at the next start"
            );
        }
    }
}

async fn bind(address: SocketAddr) -> Result<TcpListener, CliError> {
    TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address}"))
}
