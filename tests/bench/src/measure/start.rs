//! Measures the time from start to ready, and the memory of an idle process: the demo with eight
//! plugins and its sandbox in the same process.

use crate::http_connection::{HttpConnection, request};
use crate::process::resident_mb;
use crate::report::{Measured, measured};
use crate::sample::{Samples, ms};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tests::{binary, target_dir};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

const STARTS: usize = 9;
/// Time without requests after which a process counts as idle.
const REST: Duration = Duration::from_secs(3);
const DEMO_PLUGINS: usize = 5;
/// Plugins in addition to those of the demo.
const PLUGINS: [(&str, &str); 3] = [
    ("SIXTH", "nuitee-hotels.wasm"),
    ("SEVENTH", "bench-supplier.wasm"),
    ("EIGHTH", "minimal-plugin.wasm"),
];

pub(super) async fn measure() -> Result<Vec<Measured>> {
    let folder = tempfile::tempdir()?;
    let suppliers = PLUGINS.map(|(id, component)| format!("[[suppliers]]\nid = \"{id}\"\nkind = \"hotel\"\nmodes = [\"test\"]\ncomponent = \"{component}\"\n"));
    std::fs::write(folder.path().join("more.toml"), suppliers.concat())?;
    let (first, cold) = start(folder.path()).await?;
    end(first).await?;
    let mut warm = Samples::default();
    for _ in 1..STARTS {
        let (process, time) = start(folder.path()).await?;
        end(process).await?;
        warm.push(time);
    }
    let (process, time) = start(folder.path()).await?;
    warm.push(time);
    tokio::time::sleep(REST).await;
    let resident = resident_mb(process.id().context("the gateway is not running")?)?;
    end(process).await?;
    Ok(vec![
        measured("start.warm", ms(warm.percentile(50))),
        measured("start.warm_max", ms(warm.max())),
        measured("start.cold", ms(cold)),
        measured("start.idle", resident),
    ])
}

async fn start(folder: &Path) -> Result<(Child, Duration)> {
    let begin = Instant::now();
    let mut process = Command::new(binary())
        .args(["serve", "--demo", "--listen", "127.0.0.1:0"])
        .args(["--admin-listen", "127.0.0.1:0"])
        .args(["--dashboard-listen", "127.0.0.1:0", "--data-dir"])
        .arg(folder)
        .arg("--config")
        .arg(folder.join("more.toml"))
        .env("STOPOVER_PLUGINS_DIR", target_dir().join("plugins"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let output = process
        .stdout
        .take()
        .context("the gateway's output is not captured")?;
    let mut lines = BufReader::new(output).lines();
    let mut admin = String::new();
    while let Some(line) = lines.next_line().await? {
        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["admin", url] => (*url).clone_into(&mut admin),
            ["ready"] => {
                let time = begin.elapsed();
                expect_plugins(&admin).await?;
                return Ok((process, time));
            }
            _ => {}
        }
    }
    bail!("the gateway ended before it was ready")
}

/// Checks that all plugins are loaded, because a plugin that is not loaded costs nothing.
async fn expect_plugins(admin: &str) -> Result<()> {
    let mut connection = HttpConnection::connect(admin).await?;
    let list = request("GET", admin, "/plugins", &[], None);
    let answer = connection.exchange(&list).await?.json()?;
    let loaded = answer.pointer("/data").and_then(Value::as_array);
    let loaded = loaded.map_or(0, Vec::len);
    let expected = DEMO_PLUGINS + PLUGINS.len();
    ensure!(
        loaded == expected,
        "{loaded} of {expected} plugins are loaded"
    );
    Ok(())
}

async fn end(mut process: Child) -> Result<()> {
    let id = process.id().context("the gateway is not running")?;
    let asked = Command::new("kill").arg(id.to_string()).status().await?;
    ensure!(asked.success(), "SIGTERM could not be sent to the gateway");
    process.wait().await?;
    Ok(())
}
