//! Signals of the operating system: SIGTERM and SIGINT stop the process, SIGHUP reloads plugins.

use host_application::supplier::directory::SupplierDirectory;
use host_application::task_supervisor::TaskSupervisor;
use std::sync::Arc;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that the process handles while it serves.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    /// Starts to handle the signals.
    ///
    /// # Errors
    /// The operating system rejects a handler.
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for SIGTERM or SIGINT. Reloads the plugins at SIGHUP.
    pub(crate) async fn wait(
        &mut self,
        tasks: &TaskSupervisor,
        suppliers: &Arc<SupplierDirectory>,
    ) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hangup.recv() => {
                    let suppliers = Arc::clone(suppliers);
                    tasks.spawn("reload_plugins", async move { suppliers.reload_all().await });
                }
            }
        }
    }
}
