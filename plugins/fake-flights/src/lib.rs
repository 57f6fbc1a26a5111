//! The adapters of Skylane and Jetbridge, the sandbox's flight suppliers: two APIs
//! in front of the same airlines. They are ordinary adapters: what the sandbox
//! does wrong on purpose they meet like anybody else.
//!
//! Each is a component of its own, chosen by the feature of its name. Skylane is
//! paid by the gateway, takes one order an offer and sells bags; Jetbridge takes
//! the payment at its own checkout, applies every filter and sells no bags.

mod fault;
mod market;
mod trip;

#[cfg(feature = "jetbridge")]
mod jetbridge;
#[cfg(feature = "skylane")]
mod skylane;

#[cfg(all(target_arch = "wasm32", feature = "skylane", feature = "jetbridge"))]
compile_error!("a component is one supplier's: choose `skylane` or `jetbridge`");

#[cfg(feature = "jetbridge")]
pub use jetbridge::Jetbridge;
#[cfg(feature = "skylane")]
pub use skylane::Skylane;

/// After this long, not to find a booking proves that there is none: both
/// suppliers answer reads from what is committed.
const READS_CONSISTENT_AFTER_MS: u32 = 1_000;
