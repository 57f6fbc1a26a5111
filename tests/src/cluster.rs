//! A PostgreSQL server for one test, which may stop and start it. The server that all tests share
//! must keep running.

use crate::database::query_strings;
use crate::eventually;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use std::fs::{File, metadata};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// First and last of a range of ports that operating systems do not assign by themselves, so that
/// no other process gets the port while the server is stopped.
const PORT_FIRST: u16 = 15_000;
const PORT_LAST: u16 = 30_000;

/// A PostgreSQL cluster. It is stopped and removed when dropped.
#[derive(Debug)]
pub struct PostgresCluster {
    programs: PostgresBinaries,
    folder: TempDir,
    port: u16,
    server: Option<Child>,
}

/// The binaries of the shared PostgreSQL server and the user who may run them.
#[derive(Debug, Clone)]
struct PostgresBinaries {
    folder: PathBuf,
    /// User and group, if they differ from the test's. PostgreSQL refuses to run as root.
    owner: Option<(u32, u32)>,
}

impl PostgresCluster {
    /// Creates an empty cluster and starts its server.
    ///
    /// # Panics
    /// Panics if the shared PostgreSQL server is not on this machine.
    pub async fn start() -> Self {
        let cluster = Self::unstarted(PostgresBinaries::find().await);
        let mut initdb = cluster.program("initdb");
        initdb
            .args(["--username=postgres", "--auth=trust", "--encoding=UTF8"])
            .args(["--locale=C", "--no-sync", "--no-instructions", "--pgdata"])
            .arg(cluster.data());
        cluster.started_on_data_of(&mut initdb).await
    }

    /// Creates and starts a standby that follows this cluster's server.
    ///
    /// # Panics
    /// Panics if the server is stopped.
    pub async fn start_standby(&self) -> Self {
        let standby = Self::unstarted(self.programs.clone());
        let mut backup = standby.program("pg_basebackup");
        backup
            .args(["--host=127.0.0.1", "--username=postgres", "--no-sync"])
            .args(["--write-recovery-conf", "--checkpoint=fast"])
            .arg(format!("--port={}", self.port))
            .arg("--pgdata")
            .arg(standby.data());
        standby.started_on_data_of(&mut backup).await
    }

    /// Makes every commit wait for a standby. Waits until one follows the server.
    ///
    /// # Panics
    /// Panics if no standby follows within a minute.
    pub async fn require_standby(&self) {
        self.configure("synchronous_standby_names", Some("*")).await;
        let states = "SELECT sync_state FROM pg_stat_replication WHERE sync_state = $1";
        eventually("a synchronous standby", async || {
            let synchronous = query_strings(&self.url(), states, "sync").await;
            (!synchronous.is_empty()).then_some(())
        })
        .await;
    }

    /// Changes a setting of the running server, or resets it. New transactions follow it as soon as
    /// the server has read its configuration again.
    ///
    /// # Panics
    /// Panics if the server rejects the setting.
    pub async fn configure(&self, name: &str, value: Option<&str>) {
        let mut admin = PgConnection::connect(&self.url()).await.unwrap();
        let alter = match value {
            Some(value) => format!("ALTER SYSTEM SET {name} = '{value}'"),
            None => format!("ALTER SYSTEM RESET {name}"),
        };
        admin.execute(AssertSqlSafe(alter)).await.unwrap();
        admin.execute("SELECT pg_reload_conf()").await.unwrap();
        admin.close().await.unwrap();
    }

    /// Prepares a folder and a port for a server.
    fn unstarted(programs: PostgresBinaries) -> Self {
        Self {
            folder: programs.new_folder(),
            programs,
            port: free_port(),
            server: None,
        }
    }

    /// Creates the data by a command, and starts the server on it.
    async fn started_on_data_of(mut self, create: &mut Command) -> Self {
        let made = create.output().unwrap();
        let complaint = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "{complaint}");
        self.restart().await;
        self
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Returns a command that runs one of the server's programs.
    fn program(&self, name: &str) -> Command {
        let program = self.programs.folder.join(name);
        self.programs.owner_command(&program, self.folder.path())
    }

    /// Returns the port on which the server listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns a command that runs a program as the user who owns the cluster, in a folder of that
    /// user. The second value is the folder.
    pub(crate) fn other_program(&self, program: &Path) -> (Command, TempDir) {
        let folder = self.programs.new_folder();
        let command = self.programs.owner_command(program, folder.path());
        (command, folder)
    }

    /// Returns the URL of the database from which others are created and dropped.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Starts the server and waits until it accepts connections.
    ///
    /// # Panics
    /// Panics if the server exits. The message is its log.
    pub async fn restart(&mut self) {
        let log = self.folder.path().join("log");
        let mut command = self.program("postgres");
        command
            .arg("-D")
            .arg(self.data())
            .args(["-c", "listen_addresses=127.0.0.1"])
            .args(["-c", &format!("port={}", self.port)])
            .args(["-c", "unix_socket_directories="])
            // Data that the kernel has accepted survives the end of the process, so syncing is not
            // needed.
            .args(["-c", "fsync=off", "-c", "full_page_writes=off"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(
                File::options()
                    .create(true)
                    .append(true)
                    .open(&log)
                    .unwrap(),
            );
        let mut server = command.spawn().unwrap();
        let url = self.url();
        eventually("PostgreSQL to accept connections", async || {
            let ended = server.try_wait().unwrap();
            let log = || std::fs::read_to_string(&log).unwrap_or_default();
            assert!(ended.is_none(), "PostgreSQL ended: {}", log());
            PgConnection::connect(&url).await.ok()
        })
        .await;
        self.server = Some(server);
    }

    /// Stops the server as a crash does: clients are disconnected, and nothing is cleaned up.
    pub async fn stop(&mut self) {
        let Some(mut server) = self.server.take() else {
            return;
        };
        crash(&server);
        eventually("PostgreSQL to end", async || server.try_wait().unwrap()).await;
    }
}

impl Drop for PostgresCluster {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            crash(&server);
            let _gone_already = server.wait();
        }
    }
}

/// Sends the signal of an immediate shutdown.
fn crash(server: &Child) {
    let id = server.id().to_string();
    let _gone_already = Command::new("kill").args(["-QUIT", &id]).status();
}

impl PostgresBinaries {
    async fn find() -> Self {
        // A new folder belongs to the user that runs the tests.
        let we = metadata(tempfile::tempdir().unwrap().path()).unwrap().uid();
        let shared = test_support::postgres_server();
        let folder = "SELECT setting FROM pg_config WHERE name = $1";
        let folder = query_strings(&shared, folder, "BINDIR").await.remove(0);
        let data = query_strings(&shared, "SELECT current_setting($1)", "data_directory").await;
        let data = metadata(&data[0]).expect("the shared PostgreSQL server is on this machine");
        Self {
            folder: PathBuf::from(folder),
            owner: (data.uid() != we).then(|| (data.uid(), data.gid())),
        }
    }

    /// Creates a folder of the user who may run the binaries.
    fn new_folder(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        if let Some((user, group)) = self.owner {
            chown(folder.path(), Some(user), Some(group)).unwrap();
        }
        folder
    }

    /// Returns a command that runs a program in a folder as the folder's owner.
    fn owner_command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder);
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        command
    }
}

pub(crate) fn free_port() -> u16 {
    let drawn = std::iter::repeat_with(|| {
        let bits = uuid::Uuid::now_v7().as_u128();
        PORT_FIRST + u16::try_from(bits % u128::from(PORT_LAST - PORT_FIRST)).unwrap()
    });
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    drawn.take(100).find(is_free).expect("a free port")
}

/// Terminates every connection to a database, as an administrator or a proxy may.
///
/// # Panics
/// Panics if the database is not PostgreSQL.
pub async fn drop_connections(database_url: &str) {
    let mut own = PgConnection::connect(database_url).await.unwrap();
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    own.execute(AssertSqlSafe(cut)).await.unwrap();
    own.close().await.unwrap();
}
