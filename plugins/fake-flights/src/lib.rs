//! Adapters of Skylane and Jetbridge, the sandbox's flight suppliers: two APIs for the same
//! airlines. They are ordinary adapters and have no special handling of the sandbox's deliberate
//! faults.
//!
//! Each is a component of its own, selected by the feature of its name. Skylane is paid by the
//! gateway, accepts one order per offer and sells bags. Jetbridge collects the payment at its own
//! checkout, applies every filter and sells no bags.

mod common;
mod fault;
mod upstream;
mod wire;

#[cfg(feature = "jetbridge")]
mod jetbridge;
#[cfg(feature = "skylane")]
mod skylane;

#[cfg(all(target_arch = "wasm32", feature = "skylane", feature = "jetbridge"))]
compile_error!("enable only one of the features `skylane` and `jetbridge`");

#[cfg(feature = "jetbridge")]
pub use jetbridge::Jetbridge;
#[cfg(feature = "skylane")]
pub use skylane::Skylane;

/// Delay after which "not found" proves that there is no booking, in milliseconds. Both suppliers
/// serve reads from committed data.
const READS_CONSISTENT_AFTER_MS: u32 = 1_000;
