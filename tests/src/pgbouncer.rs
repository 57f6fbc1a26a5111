//! PgBouncer in front of a PostgreSQL server.

use crate::cluster::{PostgresCluster, free_port};
use crate::eventually;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use tempfile::TempDir;
use tokio::net::TcpStream;

/// A running PgBouncer in session mode. It is stopped when dropped.
#[derive(Debug)]
pub struct PgBouncer {
    port: u16,
    process: Child,
    _folder: TempDir,
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        let _gone_already = self.process.kill();
        let _gone_already = self.process.wait();
    }
}

impl PgBouncer {
    /// Starts PgBouncer in front of the server that listens on `server_port`. It runs as the user
    /// of `cluster`, because it refuses to run as root.
    ///
    /// # Panics
    /// Panics if PgBouncer is not installed. `cargo xtask test` installs it.
    pub async fn start(cluster: &PostgresCluster, server_port: u16) -> Self {
        let port = free_port();
        let (mut command, folder) = cluster.other_program(&program());
        let config = folder.path().join("pgbouncer.ini");
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={server_port} user=postgres\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = any\npool_mode = session\nlogfile = {}\n",
            folder.path().join("log").display()
        );
        std::fs::write(&config, text).unwrap();
        let owner = std::fs::metadata(folder.path()).unwrap();
        chown(&config, Some(owner.uid()), Some(owner.gid())).unwrap();
        let process = command
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut started = Self {
            port,
            process,
            _folder: folder,
        };
        eventually("PgBouncer to accept connections", async || {
            let ended = started.process.try_wait().unwrap();
            assert!(ended.is_none(), "PgBouncer ended");
            TcpStream::connect(("127.0.0.1", port)).await.ok()
        })
        .await;
        started
    }

    /// Returns the URL of a database behind PgBouncer.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }
}

/// Returns the program. Debian installs it in a folder that is not in every user's `PATH`.
fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    let mut programs = folders.map(|folder| folder.join("pgbouncer"));
    let program = programs.find(|program| program.is_file());
    program.expect("PgBouncer is installed: run the tests with `cargo xtask test`, which does it")
}
