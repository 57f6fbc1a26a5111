//! `stopover serve --demo`: serves with a sandbox, its suppliers and a first API key.

use crate::cli::serve::{RunningServer, ServeOptions};
use crate::cli::{CliError, missing_plugins, print_line};
use crate::demo::sample::SampleData;
use crate::demo::{self, DemoSandbox};
use anyhow::{Context, bail};
use host_application::application::Application;
use host_application::config::{Config, Environment};
use secrecy::ExposeSecret;
use std::path::Path;
use std::sync::Arc;

/// Starts the sandbox and serves with it until shutdown.
pub(super) async fn run(options: &ServeOptions) -> Result<(), CliError> {
    let folder = data_dir(options);
    tokio::fs::create_dir_all(folder)
        .await
        .with_context(|| format!("cannot create the data folder {}", folder.display()))?;
    let sandbox = DemoSandbox::start(folder, options.sandbox.as_deref()).await?;
    let overlay = demo::config_overlay(folder, &sandbox.url)?;
    let environment = Environment::from_process();
    let mut config = Config::load(Some(overlay), options.config.as_deref(), &environment)?;
    options.override_config(&mut config);
    // A demo without its plugins is useless.
    if let Some((_, file)) = missing_plugins(&config).first() {
        bail!(
            "the plugin file {} does not exist; build the plugins with `cargo xtask plugins`, or set their folder with --plugins-dir",
            file.display()
        );
    }
    #[cfg_attr(
        not(feature = "dashboard"),
        expect(unused_mut, reason = "only the dashboard is added later")
    )]
    let mut server = RunningServer::start(config).await?;
    print_line(&format!("sandbox  {}", sandbox.url))?;
    server.print_addresses()?;
    let gateway = &server.gateway;
    let (application, api) = (&gateway.application, gateway.api_router());
    let sample_data = Arc::new(SampleData::new(application, api, sandbox.url.clone()));
    #[cfg(feature = "dashboard")]
    {
        let sample_data = Arc::clone(&sample_data);
        let hook = Arc::new(move || sample_data.begin());
        server.serve_dashboard(Some(hook)).await?;
        print_dashboard_link(&server).await?;
    }
    print_demo_instructions(&server.gateway.application, options).await?;
    if options.sample_data {
        sample_data.begin();
    }
    print_line("ready")?;
    server.run_until_signal().await;
    sandbox.shut_down().await;
    Ok(())
}

/// Prints the link that sets up the first account, or the address of the dashboard if there is an
/// account.
#[cfg(feature = "dashboard")]
async fn print_dashboard_link(server: &RunningServer) -> Result<(), CliError> {
    let link = demo::create_first_account_link(&server.gateway.application).await?;
    match link {
        Some(token) => server.print_dashboard(&format!("/setup/{}", token.expose_secret())),
        None => server.print_dashboard("/"),
    }
}

fn data_dir(options: &ServeOptions) -> &Path {
    options.data_dir.as_deref().unwrap_or(Path::new("data"))
}

/// Prints the demo's instructions. At the first start, creates a key and prints it with an example
/// command. Later, prints a command that creates another key.
async fn print_demo_instructions(
    app: &Application,
    options: &ServeOptions,
) -> Result<(), CliError> {
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
fn create_key_command(options: &ServeOptions) -> Result<String, CliError> {
    let mut line = format!(
        "{} keys create --organization {} --mode test --data-dir {}",
        shell_quote(&std::env::current_exe()?)?,
        demo::ORGANIZATION,
        shell_quote(data_dir(options))?,
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
