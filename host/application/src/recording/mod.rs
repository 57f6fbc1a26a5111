//! Recording of API calls, of suppliers' calls and of statistics, off the path of the calls.

mod call_sink;
mod counters;
mod entry;
mod limits;
pub mod reader;
pub mod recorder;
pub(crate) mod redact;
mod retention;
mod writer;

pub(crate) use crate::recording::call_sink::RecordingCallSink;

use crate::base::Base;
use crate::config::RequestsConfig;
use crate::recording::recorder::TrafficRecorder;
use crate::recording::retention::RecordRetention;
use crate::recording::writer::RecordWriter;
use crate::task_supervisor::TaskSupervisor;
use futures::FutureExt;
use std::sync::Arc;

/// Starts the tasks that write and delete records, and returns the recorder. Without the dashboard,
/// or if the configuration says so, nothing is recorded.
pub(crate) fn start_recording(
    config: &RequestsConfig,
    base: &Base,
    tasks: &TaskSupervisor,
) -> Arc<TrafficRecorder> {
    if config.days == 0 || !cfg!(feature = "dashboard") {
        return Arc::new(TrafficRecorder::off(Arc::clone(&base.ids)));
    }
    let (recorder, queue) = TrafficRecorder::new(Arc::clone(&base.ids));
    let writer = RecordWriter {
        base: base.clone(),
        recorder: Arc::clone(&recorder),
        queue,
        host: host_name(),
        shutdown: tasks.shutdown_token(),
    };
    tasks.spawn("recording", writer.run());
    tasks.run_periodically(
        ("record upkeep", "old records could not be deleted"),
        retention::INTERVAL,
        RecordRetention {
            base: base.clone(),
            config: config.clone(),
        },
        |retention| retention.run_once().boxed(),
    );
    recorder
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
