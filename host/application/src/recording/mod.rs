//! Recording of API calls, of suppliers' calls and of statistics, off the path of the calls.

mod call_sink;
pub mod card_number;
mod counters;
mod entry;
mod limits;
pub mod reader;
pub mod recorder;
pub(crate) mod redact;
mod retention;
mod row_count;
mod statistics_writer;
mod writer;

pub(crate) use crate::recording::call_sink::RecordingCallSink;

use crate::base::Base;
use crate::config::RequestsConfig;
use crate::recording::recorder::TrafficRecorder;
use crate::recording::retention::{LogRetention, StatisticsRetention};
use crate::recording::writer::RecordWriter;
use crate::task_supervisor::TaskSupervisor;
use futures::FutureExt;
use host_storage::LogTable;
use std::sync::Arc;
use std::time::Duration;

/// The recorder and the task that stores what it records.
pub(crate) struct Recording {
    pub(crate) recorder: Arc<TrafficRecorder>,
    writer: TaskSupervisor,
}

impl Recording {
    /// Starts the tasks that write and delete records. Without the dashboard, or if the
    /// configuration says so, nothing is recorded.
    pub(crate) fn start(config: &RequestsConfig, base: &Base, tasks: &TaskSupervisor) -> Self {
        let writer = TaskSupervisor::default();
        if config.days == 0 || !cfg!(feature = "dashboard") {
            let recorder = Arc::new(TrafficRecorder::off(Arc::clone(&base.ids)));
            return Self { recorder, writer };
        }
        let (recorder, queue) = TrafficRecorder::new(Arc::clone(&base.ids));
        let record_writer = RecordWriter {
            base: base.clone(),
            recorder: Arc::clone(&recorder),
            queue,
            host: host_name(),
            shutdown: writer.shutdown_token(),
        };
        writer.spawn("recording", record_writer.run());
        spawn_retention(config, base, tasks);
        Self { recorder, writer }
    }

    /// Stores what still waits, for up to `timeout`. Calls that end later are not recorded. Returns
    /// `false` if the time was too short.
    pub(crate) async fn finish(&self, timeout: Duration) -> bool {
        self.writer.begin_shutdown();
        self.writer.wait_for_tasks(timeout).await
    }
}

fn spawn_retention(config: &RequestsConfig, base: &Base, tasks: &TaskSupervisor) {
    for (name, failure_message, log) in [
        (
            "retention of requests",
            "old entries of the request log could not be deleted",
            LogTable::Requests,
        ),
        (
            "retention of calls",
            "old entries of the log of suppliers' calls could not be deleted",
            LogTable::Calls,
        ),
    ] {
        tasks.run_periodically(
            (name, failure_message),
            retention::LOG_INTERVAL,
            LogRetention::new(base.clone(), config.clone(), log),
            |retention| retention.run_once().boxed(),
        );
    }
    tasks.run_periodically(
        (
            "retention of statistics",
            "old statistics could not be deleted",
        ),
        retention::STATISTICS_INTERVAL,
        StatisticsRetention { base: base.clone() },
        |retention| retention.run_once().boxed(),
    );
}

/// Returns the name of this machine, which tells hosts of one installation apart.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String = name.trim().chars().take(64).collect();
    if name.is_empty() {
        return "gateway".to_owned();
    }
    name
}
