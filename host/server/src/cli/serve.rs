//! `stopover serve`: runs the API and the admin listener until shutdown.

use crate::cli::{CliError, ConfigSource, plugins_dir, print_line};
use crate::observability::PluginMetrics;
use crate::{demo, listener, observability};
use anyhow::{Context, bail};
use clap::Args;
use host_api::admin::AdminState;
use host_api::{ApiState, admin};
use host_application::application::{Application, ApplicationDependencies};
use host_application::config::{Config, Environment, reachable_address};
use host_application::deadline::SystemClock;
use host_application::id_generator::UuidV7Generator;
use sandbox::{SandboxConfig, SandboxHandle};
use secrecy::ExposeSecret;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Maximum number of connections to the admin listener, which only operators use.
const ADMIN_CONNECTIONS_MAX: usize = 100;

/// Options of `stopover serve`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Start a demo: sandbox suppliers, a database in --data-dir and a test key
    #[arg(long)]
    demo: bool,
    /// Folder that holds all data; default for the demo: `data`
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Address of the API; port 0 takes any free port
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Address of the admin listener (metrics, plugins, unresolved outcomes)
    #[arg(long, value_name = "ADDRESS")]
    admin_listen: Option<SocketAddr>,
    /// URL of an external sandbox, for the demo
    #[arg(long, value_name = "URL", requires = "demo")]
    sandbox: Option<String>,
    /// Configuration file (TOML)
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder of the plugin files
    #[arg(long, value_name = "DIR")]
    plugins_dir: Option<PathBuf>,
}

/// The sandbox that a demo uses.
struct DemoSandbox {
    url: String,
    /// The sandbox of this process; `None` if an external one is used.
    own: Option<SandboxHandle>,
}

pub(super) async fn run(options: Options) -> Result<(), CliError> {
    let environment = Environment::from_process();
    let market = if options.demo {
        Some(start_sandbox(&options).await?)
    } else {
        None
    };
    let config = load_config(&options, market.as_ref(), &environment)?;
    if options.demo {
        check_plugins_exist(&config)?;
    }
    observability::init_logging(&config.log)?;
    let mut signals = Signals::new().context("cannot handle signals")?;
    let api = bind(config.listen).await?;
    let admin = bind(config.admin_listen).await?;
    let (api_address, admin_address) = (api.local_addr()?, admin.local_addr()?);
    let app = build(config, api_address).await?;
    let api_state = ApiState::new(Arc::clone(&app));
    let router = host_api::router(&api_state);
    spawn_housekeeping(&app, api_state);
    listener::spawn_listener(&app.tasks, api, router, app.config.limits.connections);
    listener::spawn_listener(
        &app.tasks,
        admin,
        admin::router(&AdminState {
            application: Arc::clone(&app),
            render_metrics: observability::render_metrics,
        }),
        ADMIN_CONNECTIONS_MAX,
    );
    if let Some(market) = &market {
        print_line(&format!("sandbox  {}", market.url))?;
    }
    print_line(&format!("api  http://{}", reachable_address(api_address)))?;
    print_line(&format!(
        "admin  http://{}",
        reachable_address(admin_address)
    ))?;
    if options.demo {
        print_demo_instructions(&app, &options).await?;
    }
    print_line("ready")?;
    signals.wait(&app).await;
    shut_down(&app, market).await
}

/// Prints the demo's instructions. At the first start, creates a key and prints it with an example
/// command. Later, prints a command that creates another key.
async fn print_demo_instructions(app: &Application, options: &Options) -> Result<(), CliError> {
    print_line(&format!("docs  {}/docs", app.base_url))?;
    let organization = demo::ORGANIZATION;
    let Some(key) = demo::create_initial_key(app).await? else {
        let line = create_key_command(options)?;
        return print_line(&format!(
            "\nThe test key of organization `{organization}` was shown at the first start. This line makes another one:\n\n{line}\n"
        ));
    };
    let line = demo::example_command(app, &key);
    print_line(&format!("key  {}", key.expose_secret()))?;
    print_line(&format!(
        "\nThat is a test key of organization `{organization}`, shown once. This line books a hotel with it:\n\n{line}\n"
    ))
}

/// Returns a command that creates another key and works from any folder.
fn create_key_command(options: &Options) -> Result<String, CliError> {
    let mut line = format!(
        "{} keys create --organization {} --mode test --data-dir {}",
        shell_quote(&std::env::current_exe()?)?,
        demo::ORGANIZATION,
        shell_quote(&data_dir(options))?,
    );
    if let Some(config) = &options.config {
        line = format!("{line} --config {}", shell_quote(config)?);
    }
    Ok(line)
}

/// Quotes a path as one shell word.
fn shell_quote(path: &Path) -> Result<String, CliError> {
    let path = std::path::absolute(path)?.display().to_string();
    Ok(format!("'{}'", path.replace('\'', r"'\''")))
}

fn data_dir(options: &Options) -> PathBuf {
    options
        .data_dir
        .clone()
        .unwrap_or_else(|| PathBuf::from("data"))
}

async fn start_sandbox(options: &Options) -> Result<DemoSandbox, CliError> {
    let folder = data_dir(options);
    tokio::fs::create_dir_all(&folder)
        .await
        .with_context(|| format!("cannot create the data folder {}", folder.display()))?;
    if let Some(url) = &options.sandbox {
        return Ok(DemoSandbox {
            url: url.trim_end_matches('/').to_owned(),
            own: None,
        });
    }
    let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let running = sandbox::serve(SandboxConfig::new(folder.join("sandbox"), any_port)).await?;
    Ok(DemoSandbox {
        url: running.base_url(),
        own: Some(running),
    })
}

fn load_config(
    options: &Options,
    market: Option<&DemoSandbox>,
    environment: &Environment,
) -> Result<Config, CliError> {
    let mut config = match market {
        Some(market) => {
            let overlay = demo::config_overlay(&data_dir(options), &market.url)?;
            Config::load(Some(overlay), options.config.as_deref(), environment)?
        }
        None => {
            let source = ConfigSource {
                config: options.config.clone(),
                data_dir: options.data_dir.clone(),
                database: None,
            };
            source.load(environment)?
        }
    };
    config.listen = options.listen.unwrap_or(config.listen);
    config.admin_listen = options.admin_listen.unwrap_or(config.admin_listen);
    if let Some(folder) = &options.plugins_dir {
        config.plugins_dir.clone_from(folder);
    }
    Ok(config)
}

/// Checks that all plugin files exist, because a demo without its plugins is useless.
fn check_plugins_exist(config: &Config) -> Result<(), CliError> {
    let folder = plugins_dir(config);
    let missing = config
        .suppliers
        .iter()
        .map(|supplier| folder.join(&supplier.component))
        .find(|file| !file.is_file());
    match missing {
        Some(file) => bail!(
            "the plugin file {} does not exist; build the plugins with `cargo xtask plugins`, or set their folder with --plugins-dir",
            file.display()
        ),
        None => Ok(()),
    }
}

async fn bind(address: SocketAddr) -> Result<TcpListener, CliError> {
    TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address}"))
}

async fn build(mut config: Config, listening: SocketAddr) -> Result<Arc<Application>, CliError> {
    // The metrics recorder must be installed before anything is recorded.
    let _ = observability::metrics_handle();
    config.listen = listening;
    let surroundings = ApplicationDependencies {
        clock: Arc::new(SystemClock),
        ids: Arc::new(UuidV7Generator),
        plugins_dir: plugins_dir(&config),
        call_sink: Arc::new(PluginMetrics),
        base_url: config.base_url(),
    };
    Ok(Application::launch(config, surroundings).await?)
}

/// Evicts idle rate limits and runs the upkeep of the metrics, every 10 seconds, to bound memory use.
fn spawn_housekeeping(app: &Application, state: ApiState) {
    let shutdown = app.tasks.shutdown_token();
    app.tasks.spawn("housekeeping", async move {
        let mut ticks = tokio::time::interval(Duration::from_secs(10));
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                _ = ticks.tick() => {
                    state.evict_idle_rate_limits();
                    observability::metrics_handle().run_upkeep();
                }
            }
        }
    });
}

/// Signals that the process handles while it serves.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for SIGTERM or SIGINT. Reloads the plugins at SIGHUP.
    async fn wait(&mut self, app: &Arc<Application>) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hangup.recv() => {
                    let app = Arc::clone(app);
                    let tasks = app.tasks.clone();
                    tasks.spawn("reload_plugins", async move { app.suppliers.reload_all().await });
                }
            }
        }
    }
}

async fn shut_down(app: &Arc<Application>, market: Option<DemoSandbox>) -> Result<(), CliError> {
    tracing::info!("stopping");
    let patience = Duration::from_secs(app.config.limits.shutdown_s);
    let done = app.shut_down(patience).await;
    if let Some(sandbox) = market.and_then(|market| market.own) {
        sandbox.shutdown().await;
    }
    if !done {
        tracing::warn!("some tasks did not finish in time; their work resumes at the next start");
    }
    Ok(())
}
