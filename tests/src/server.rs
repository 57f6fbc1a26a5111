//! The real binary as a process, with a data directory and a database of its own.

use crate::client::Client;
use crate::cluster::PostgresCluster;
use crate::database::{self, Database};
use crate::relay::TcpRelay;
use crate::sandbox::Ledger;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Options of a server.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Database of the server.
    pub database: Database,
    /// TOML that is added to the demo's configuration.
    pub config: String,
    /// Environment variables in addition to the test's own.
    pub environment: Vec<(String, String)>,
    /// URL of a PostgreSQL cluster other than the shared one.
    cluster: Option<String>,
    /// Whether the process may end before it is ready: leftover work can reach its failpoint
    /// sooner.
    may_die: bool,
}

impl ServerOptions {
    /// Starts from the demo on a database.
    pub fn on(database: Database) -> Self {
        Self {
            database,
            config: String::new(),
            environment: Vec::new(),
            cluster: None,
            may_die: false,
        }
    }

    /// Starts from the demo on a PostgreSQL cluster of the test.
    pub fn on_cluster(cluster: &PostgresCluster) -> Self {
        Self {
            cluster: Some(cluster.url()),
            ..Self::on(Database::Postgres)
        }
    }

    /// Starts from the demo on the PostgreSQL cluster that a relay leads to.
    pub fn on_relay(relay: &TcpRelay) -> Self {
        let url = format!("postgres://postgres@127.0.0.1:{}/postgres", relay.port);
        Self {
            cluster: Some(url),
            ..Self::on(Database::Postgres)
        }
    }

    /// Adds configuration. `{sandbox}` and `{sandbox_host}` stand for the URL and the host with
    /// port of a sandbox in its own process.
    pub fn config(mut self, toml: &str) -> Self {
        self.config.push_str(toml);
        self.config.push('\n');
        self
    }

    /// Sets reconciliation and capture retries to about a second, so that tests wait only briefly.
    pub fn with_short_retries(self) -> Self {
        self.config("[reconcile]\nschedule_s = [1, 1, 2, 3]\n[payments]\ncapture_retry_s = [1]")
    }

    /// Lets no reconciliation start while a test runs. Captures are retried after a second.
    pub fn without_reconciliation(self) -> Self {
        self.config("[reconcile]\nschedule_s = [3600]\n[payments]\ncapture_retry_s = [1]")
    }

    /// Adds an environment variable.
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Makes the process abort at a failpoint of a step (`step:phase`).
    pub fn with_failpoint(mut self, point: &str) -> Self {
        self.may_die = true;
        self.environment("STOPOVER_JOBS_ABORT_AT", point)
    }
}

/// A running server. It is killed when dropped.
#[derive(Debug)]
pub struct Server {
    process: Child,
    data_dir: TempDir,
    database_url: String,
    sandbox: Option<Arc<Sandbox>>,
    /// Everything that the server printed.
    output: Arc<Mutex<String>>,
    /// Base URL of the API.
    pub api: String,
    /// Base URL of the admin listener.
    pub admin: String,
    /// URL of the dashboard that the server printed: the link that sets up the first account, or
    /// the overview.
    pub dashboard: String,
    /// Base URL of the sandbox.
    pub sandbox_url: String,
    /// A test key of organization `demo`.
    pub key: String,
}

/// A sandbox in its own process, so that it outlives the server. It ends with the last server that
/// uses it.
#[derive(Debug)]
struct Sandbox {
    process: Child,
    url: String,
    _data_dir: TempDir,
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _gone_already = self.process.start_kill();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone_already = self.process.start_kill();
    }
}

impl Server {
    /// Starts the demo on a database with the default configuration.
    pub async fn start(database: Database) -> Self {
        Self::start_with(ServerOptions::on(database)).await
    }

    /// Starts the demo on a database with fast retries.
    pub async fn start_with_fast_retries(database: Database) -> Self {
        Self::start_with(ServerOptions::on(database).with_short_retries()).await
    }

    /// Starts a server with options and its sandbox in the same process.
    pub async fn start_with(options: ServerOptions) -> Self {
        Self::start_beside(None, options).await
    }

    /// Starts a server with its sandbox in a separate process, so that either can be killed alone.
    pub async fn start_with_own_sandbox(options: ServerOptions) -> Self {
        Self::start_beside(Some(Arc::new(start_sandbox().await)), options).await
    }

    async fn start_beside(sandbox: Option<Arc<Sandbox>>, options: ServerOptions) -> Self {
        let data_dir = tempfile::tempdir().unwrap();
        let cluster = options.cluster.as_deref();
        let database_url = options.database.create(data_dir.path(), cluster).await;
        Self::launch(data_dir, database_url, &options, sandbox, true).await
    }

    /// Starts another gateway process on the same database, with the same sandbox and master key.
    ///
    /// # Panics
    /// Panics if the sandbox is in the server's own process.
    pub async fn start_another_process(&self, options: &ServerOptions) -> Self {
        assert!(
            self.sandbox.is_some(),
            "the sandbox runs in the server's own process and cannot be shared"
        );
        let data_dir = tempfile::tempdir().unwrap();
        let name = "master.key";
        std::fs::copy(self.data_dir().join(name), data_dir.path().join(name)).unwrap();
        let (database, sandbox) = (self.database_url.clone(), self.sandbox.clone());
        let mut other = Self::launch(data_dir, database, options, sandbox, false).await;
        other.key.clone_from(&self.key);
        other
    }

    /// Returns the process id.
    ///
    /// # Panics
    /// Panics if the process has ended.
    pub fn process_id(&self) -> u32 {
        self.process.id().expect("the server is running")
    }

    /// Returns the URL of the server's database.
    pub fn database_url(&self) -> &str {
        &self.database_url
    }

    /// Returns the types of a booking's events in the order in which subscribers get them.
    pub async fn outbox(&self, booking: &str) -> Vec<String> {
        let query = "SELECT event_type FROM outbox WHERE booking_id = $1 ORDER BY created_at, id";
        database::query_strings(&self.database_url, query, booking).await
    }

    /// Runs a command of `stopover` on the server's database and returns its standard output.
    ///
    /// # Panics
    /// Panics if the command fails.
    pub async fn command(&self, command: &str, arguments: &[&str]) -> String {
        let output = Command::new(binary())
            .arg(command)
            .args(arguments)
            .args(["--database", self.database_url()])
            .output()
            .await
            .unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{complaint}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the outcomes of a booking's recorded calls, oldest first.
    pub async fn attempt_outcomes(&self, booking: &str) -> Vec<String> {
        let query = "SELECT outcome FROM remote_call_attempt WHERE booking_id = $1 \
             ORDER BY last_sent_at, id";
        database::query_strings(&self.database_url, query, booking).await
    }

    /// Exhausts the attempts of a booking's unleased job, so that it is parked as soon as it is
    /// claimed.
    pub async fn exhaust_attempts(&self, booking: &str) {
        let spend = "UPDATE job SET attempt_count = 1000, due_at = 0 \
             WHERE subject = $1 AND lease_token IS NULL RETURNING subject";
        crate::eventually("an unleased job of the booking", async || {
            let spent = database::query_strings(&self.database_url, spend, booking).await;
            (!spent.is_empty()).then_some(())
        })
        .await;
    }

    /// Returns every recorded event as subscribers get it.
    pub async fn events(&self) -> Vec<serde_json::Value> {
        let query = "SELECT payload FROM outbox WHERE $1 = ''";
        let payloads = database::query_strings(&self.database_url, query, "").await;
        let read = |payload: &String| serde_json::from_str(payload).unwrap();
        payloads.iter().map(read).collect()
    }

    /// Edits the database as somebody with access to it could.
    ///
    /// # Errors
    /// The message of the database if it refuses a statement.
    pub async fn try_edit(&self, sql: &str) -> Result<(), String> {
        database::execute(&self.database_url, sql).await
    }

    /// Returns the rows of tables as text, one on each line.
    pub async fn dump_tables(&self, tables: &[&str]) -> String {
        let mut rows = Vec::new();
        for table in tables {
            rows.extend(database::dump_table(&self.database_url, table).await);
        }
        rows.join("\n")
    }

    /// Returns everything in the database as text.
    pub async fn dump_database(&self) -> String {
        let file = self.database_url.strip_prefix("sqlite:");
        let Some(file) = file else {
            return database::dump_rows(&self.database_url).await.join("\n");
        };
        let read = |path: String| std::fs::read(path).unwrap_or_default();
        let bytes = [read(file.to_owned()), read(format!("{file}-wal"))].concat();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns the value of a metric with these labels, or 0 if it was never counted.
    ///
    /// # Panics
    /// Panics if the admin listener does not respond.
    pub async fn metric(&self, name: &str, labels: &[(&str, &str)]) -> u64 {
        let metrics = Client::new(&self.admin, "").get("/metrics").await.body;
        let text = metrics.as_str().expect("metrics are text");
        let is_asked = |line: &&str| {
            let of_name = line
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('{'));
            let mut labels = labels.iter();
            of_name && labels.all(|(label, value)| line.contains(&format!("{label}=\"{value}\"")))
        };
        let lines = text.lines().filter(is_asked);
        let values = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
        values.sum()
    }

    /// Kills the process without warning and waits until it has ended.
    pub async fn kill(&mut self) {
        let _gone_already = self.process.start_kill();
        self.process.wait().await.unwrap();
    }

    /// Waits until the process ends by itself.
    pub async fn wait_for_exit(&mut self) -> std::process::ExitStatus {
        self.process.wait().await.unwrap()
    }

    /// Sends SIGTERM and waits until the process has ended.
    pub async fn terminate(&mut self) -> std::process::ExitStatus {
        let id = self.process_id();
        let sent = Command::new("kill")
            .arg(id.to_string())
            .status()
            .await
            .unwrap();
        assert!(sent.success());
        self.wait_for_exit().await
    }

    /// Kills the process and starts it again on the same data with other options.
    pub async fn restart(mut self, options: ServerOptions) -> Self {
        self.kill().await;
        let data_dir = std::mem::replace(&mut self.data_dir, tempfile::tempdir().unwrap());
        let sandbox = self.sandbox.take();
        let key = self.key.clone();
        let database_url = self.database_url.clone();
        let mut again = Self::launch(data_dir, database_url, &options, sandbox, false).await;
        again.key = key;
        again
    }

    /// Waits for the first printed line that contains `words` and returns it.
    pub async fn wait_for_log_line(&self, words: &str) -> String {
        crate::eventually(words, async || {
            let output = self.output.lock().unwrap();
            let line = output.lines().find(|line| line.contains(words));
            line.map(str::to_owned)
        })
        .await
    }

    /// Returns a client with a new test key of an organization.
    pub async fn client_for(&self, organization: &str) -> Client {
        self.client_with(organization, &["--mode", "test"]).await
    }

    /// Returns a client with a new key that is created with these options.
    pub async fn client_with(&self, organization: &str, options: &[&str]) -> Client {
        let output = Command::new(binary())
            .args(["keys", "create", "--organization"])
            .args([organization, "--database", &self.database_url])
            .args(options)
            .output()
            .await
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{complaint}");
        Client::new(&self.api, said.trim())
    }

    /// Returns a client with the server's key.
    pub fn client(&self) -> Client {
        Client::new(&self.api, &self.key)
    }

    /// Reads the sandbox's ledger.
    pub async fn ledger(&self) -> Ledger {
        Ledger::read(&self.sandbox_url).await
    }

    /// Waits until the ledger has entries of exactly these kinds for a booking, in this order.
    pub async fn wait_for_ledger(&self, booking: &str, kinds: &[&str]) {
        crate::eventually(&format!("{kinds:?} of {booking}"), async || {
            (self.ledger().await.kinds_of(booking) == kinds).then_some(())
        })
        .await;
    }

    /// Waits until the ledger has these numbers of entries for a booking.
    pub async fn wait_for_entries<const N: usize>(
        &self,
        booking: &str,
        kinds: [&str; N],
        counts: [usize; N],
    ) {
        let what = format!("{counts:?} of {kinds:?} of {booking}");
        crate::eventually(&what, async || {
            (self.ledger().await.counts(booking, kinds) == counts).then_some(())
        })
        .await;
    }

    /// Returns the server's data directory.
    pub fn data_dir(&self) -> &Path {
        self.data_dir.path()
    }

    async fn launch(
        data_dir: TempDir,
        database_url: String,
        options: &ServerOptions,
        sandbox: Option<Arc<Sandbox>>,
        is_first_start: bool,
    ) -> Self {
        let mut process = serve(data_dir.path(), &database_url, options, sandbox.as_deref());
        let said = match StartupOutput::read(&mut process, is_first_start).await {
            Ok(said) => said,
            Err(_) if options.may_die => StartupOutput::default(),
            Err(seen) => {
                let log = std::fs::read_to_string(data_dir.path().join("server.log"));
                let log = log.unwrap_or_default();
                panic!("the server ended before it was ready.\nIt said:\n{seen}\nIt logged:\n{log}")
            }
        };
        Self {
            process,
            database_url,
            sandbox_url: sandbox
                .as_ref()
                .map_or(said.sandbox, |sandbox| sandbox.url.clone()),
            sandbox,
            output: said.output,
            api: said.api,
            admin: said.admin,
            dashboard: said.dashboard,
            key: said.key,
            data_dir,
        }
    }
}

/// Starts the binary on a database, with a separate sandbox or its own.
fn serve(
    data_dir: &Path,
    database_url: &str,
    options: &ServerOptions,
    sandbox: Option<&Sandbox>,
) -> Child {
    let config = data_dir.join("test.toml");
    let beside = sandbox.map_or("", |sandbox| sandbox.url.as_str());
    let host = beside.strip_prefix("http://").unwrap_or_default();
    let more = options
        .config
        .replace("{sandbox}", beside)
        .replace("{sandbox_host}", host);
    std::fs::write(&config, format!("database = \"{database_url}\"\n{more}")).unwrap();
    let mut command = Command::new(binary());
    command
        .args([
            "serve",
            "--demo",
            "--listen",
            "127.0.0.1:0",
            "--admin-listen",
            "127.0.0.1:0",
            "--dashboard-listen",
            "127.0.0.1:0",
        ])
        .arg("--data-dir")
        .arg(data_dir)
        .arg("--config")
        .arg(&config)
        .env("STOPOVER_PLUGINS_DIR", target_dir().join("plugins"))
        // Compiling every plugin again takes longer than a whole test, so the cache is shared.
        .env("STOPOVER_CODE_CACHE_DIR", target_dir().join("test-code"))
        .envs(
            options
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        );
    if let Some(sandbox) = sandbox {
        command.args(["--sandbox", &sandbox.url]);
    }
    let log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(data_dir.join("server.log"))
        .unwrap();
    command
        .stdout(Stdio::piped())
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .unwrap_or_else(|error| {
            panic!(
                "{} does not start ({error}): build it with `cargo xtask test`",
                binary().display()
            )
        })
}

/// Addresses that the server prints when it is ready.
#[derive(Debug, Default)]
struct StartupOutput {
    output: Arc<Mutex<String>>,
    api: String,
    admin: String,
    dashboard: String,
    sandbox: String,
    key: String,
}

impl StartupOutput {
    /// Reads the output until the server is ready.
    ///
    /// # Errors
    /// Returns the output if the process ends before it is ready.
    async fn read(process: &mut Child, is_first_start: bool) -> Result<Self, String> {
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut said = Self::default();
        let output = Arc::clone(&said.output);
        let keep = move |line: &str| {
            let mut output = output.lock().unwrap();
            output.push_str(line);
            output.push('\n');
        };
        while let Ok(Some(line)) = lines.next_line().await {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["api", url, ..] => said.api = (*url).to_owned(),
                ["admin", url, ..] => said.admin = (*url).to_owned(),
                ["dashboard", url, ..] => said.dashboard = (*url).to_owned(),
                ["sandbox", url, ..] => said.sandbox = (*url).to_owned(),
                _ => {}
            }
            if let Some(begin) = line.find("sk_test_") {
                said.key = line[begin..]
                    .chars()
                    .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                    .collect();
            }
            keep(&line);
            if !said.api.is_empty()
                && !said.admin.is_empty()
                && !said.dashboard.is_empty()
                && (!said.key.is_empty() || !is_first_start)
            {
                // The output is read on, because a full pipe would block the process.
                tokio::spawn(async move {
                    while let Ok(Some(line)) = lines.next_line().await {
                        keep(&line);
                    }
                });
                return Ok(said);
            }
        }
        Err(said.output.lock().unwrap().clone())
    }
}

async fn start_sandbox() -> Sandbox {
    let data_dir = tempfile::tempdir().unwrap();
    let mut process = Command::new(binary())
        .args(["sandbox", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(data_dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let ["sandbox", url, ..] = line.split_whitespace().collect::<Vec<_>>().as_slice() {
            return Sandbox {
                process,
                url: (*url).to_owned(),
                _data_dir: data_dir,
            };
        }
    }
    panic!("the sandbox ended before it was ready");
}

/// Returns the build directory of this program.
///
/// # Panics
/// Panics if it was not built by cargo.
pub fn target_dir() -> PathBuf {
    profile_dir()
        .parent()
        .expect("a profile is a folder of the build directory")
        .to_owned()
}

/// Returns the path of the server's binary, of the same profile as this program.
///
/// # Panics
/// Panics if this program was not built by cargo.
pub fn binary() -> PathBuf {
    profile_dir().join("stopover")
}

/// Returns `target/debug` or `target/release`. Test programs are one folder deeper.
fn profile_dir() -> PathBuf {
    let program = std::env::current_exe().expect("the path of the current program is available");
    let folder = program.parent().expect("a file lies in a folder");
    let profile = if folder.ends_with("deps") {
        folder.parent().expect("`deps` lies in a profile")
    } else {
        folder
    };
    profile.to_owned()
}
