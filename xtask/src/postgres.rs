//! A PostgreSQL server for tests: installed if missing, started on a free port, and removed
//! with its data on drop.

use std::env;
use std::fs::{self, File, Permissions};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::process::Program;
use crate::{apt, process};

/// Names the server on which tests and benchmarks create and drop databases. If the user
/// sets it, that server is used.
const VARIABLE: &str = "STOPOVER_TEST_POSTGRES";
const PACKAGE: &str = "postgresql-15";
const OLDEST_VERSION: u32 = 15;

/// Whether a commit survives a power failure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// A commit waits for the disk, as in production. For benchmarks.
    Kept,
    /// A commit waits for the kernel only, which is several times faster. Sufficient for
    /// tests, which kill processes but not the machine.
    Given,
}

pub(crate) struct Postgres {
    url: String,
    /// `None` for a server that the user started. The program stops before its folder is
    /// removed.
    _cluster: Option<(Program, TempDir)>,
}

impl Postgres {
    /// Starts a server on loopback with an empty cluster.
    pub(crate) fn start(durability: Durability) -> Result<Self> {
        if let Ok(url) = env::var(VARIABLE) {
            eprintln!("PostgreSQL: using the server of {VARIABLE}");
            return Ok(Self {
                url,
                _cluster: None,
            });
        }
        let programs = PostgresBinaries::find_or_install()?;
        let folder = programs.new_cluster()?;
        // Another program may take the free port before the server binds it.
        for _ in 0..5 {
            let port = free_port()?;
            if let Some(server) = programs.start_server(folder.path(), port, durability)? {
                eprintln!(
                    "PostgreSQL: started {} on port {port}",
                    programs.folder.display()
                );
                return Ok(Self {
                    url: format!("postgres://postgres@127.0.0.1:{port}/postgres"),
                    _cluster: Some((server, folder)),
                });
            }
        }
        bail!(
            "PostgreSQL does not start: {}",
            fs::read_to_string(folder.path().join("log")).unwrap_or_default()
        )
    }

    /// Sets the variable that names the server for a command.
    pub(crate) fn set_env(&self, command: &mut Command) {
        command.env(VARIABLE, &self.url);
    }
}

/// The programs of the server and the user that runs them.
struct PostgresBinaries {
    folder: PathBuf,
    /// User and group; PostgreSQL refuses to run as root.
    owner: Option<(u32, u32)>,
}

impl PostgresBinaries {
    fn find_or_install() -> Result<Self> {
        if newest_folder().is_none() {
            apt::install(&[PACKAGE], "tests on PostgreSQL")?;
        }
        let folder = newest_folder().with_context(|| format!("{PACKAGE} installed no initdb"))?;
        let owner = if process::is_root() {
            Some((user_id("-u")?, user_id("-g")?))
        } else {
            None
        };
        Ok(Self { folder, owner })
    }

    fn new_cluster(&self) -> Result<TempDir> {
        let folder = tempfile::Builder::new()
            .prefix("stopover-postgres-")
            .tempdir()
            .context("cannot create a temporary folder")?;
        if let Some((user, group)) = self.owner {
            fs::set_permissions(folder.path(), Permissions::from_mode(0o700))
                .and_then(|()| chown(folder.path(), Some(user), Some(group)))
                .with_context(|| {
                    format!("cannot change the owner of {}", folder.path().display())
                })?;
        }
        let mut initdb = self.command("initdb", folder.path());
        initdb
            .args(["--username=postgres", "--auth=trust", "--encoding=UTF8"])
            .args(["--locale=C", "--no-sync", "--no-instructions", "--pgdata"])
            .arg(folder.path().join("data"))
            .stdout(Stdio::null());
        let status = Program::start(&mut initdb)?.wait()?;
        ensure!(status.success(), "`initdb` failed: {status}");
        Ok(folder)
    }

    /// Starts the server and waits until it accepts connections. Returns `None` if it exits.
    fn start_server(
        &self,
        folder: &Path,
        port: u16,
        durability: Durability,
    ) -> Result<Option<Program>> {
        let log = File::create(folder.join("log")).context("cannot create PostgreSQL's log")?;
        let mut command = self.command("postgres", folder);
        command
            .arg("-D")
            .arg(folder.join("data"))
            .args(["-c", "listen_addresses=127.0.0.1"])
            .args(["-c", &format!("port={port}")])
            .args(["-c", "unix_socket_directories="])
            .args(["-c", "max_connections=300"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        if durability == Durability::Given {
            command.args(["-c", "fsync=off", "-c", "full_page_writes=off"]);
        }
        let mut server = Program::start(&mut command)?;
        // Requests a fast shutdown, which disconnects remaining clients.
        server.stop_signal = Signal::INT;

        let mut ended = false;
        let ready = process::wait_until(Duration::from_secs(30), || {
            ended = server.try_wait()?.is_some();
            Ok(ended || self.is_ready(folder, port))
        })?;
        if ended {
            return Ok(None);
        }
        ensure!(
            ready,
            "PostgreSQL accepts no connections on port {port} after 30 s"
        );
        Ok(Some(server))
    }

    fn is_ready(&self, folder: &Path, port: u16) -> bool {
        process::exits_successfully(
            self.command("pg_isready", folder)
                .args(["--host=127.0.0.1", "--port"])
                .arg(port.to_string()),
        )
    }

    /// Returns a command for one of the programs. It runs as the owner, in a folder that the
    /// owner may enter.
    fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(self.folder.join(program));
        command.current_dir(folder);
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        command
    }
}

/// Returns the folder of the newest installed server that is new enough. Debian has a
/// folder for each version; other systems have one version in `PATH`.
fn newest_folder() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let newest = versions
        .flatten()
        .filter_map(|entry| {
            let version: u32 = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .filter(|(version, folder)| *version >= OLDEST_VERSION && folder.join("initdb").is_file())
        .max();
    newest.map(|(_, folder)| folder).or_else(folder_in_path)
}

fn folder_in_path() -> Option<PathBuf> {
    let postgres = process::find("postgres")?;
    let text = process::output(Command::new(&postgres).arg("--version")).ok()?;
    let number = text.split_whitespace().nth(2)?;
    let version: u32 = number.split('.').next()?.parse().ok()?;
    let folder = fs::canonicalize(postgres).ok()?.parent()?.to_path_buf();
    (version >= OLDEST_VERSION).then_some(folder)
}

/// Returns the user or group id of the user `postgres`, which the package creates.
fn user_id(which: &str) -> Result<u32> {
    let text = process::output(Command::new("id").args([which, "postgres"]))?;
    text.trim()
        .parse()
        .with_context(|| format!("`id {which} postgres` printed {text:?}"))
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
    Ok(listener.local_addr().context("no free port")?.port())
}
