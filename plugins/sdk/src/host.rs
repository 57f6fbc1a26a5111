//! The interface to the gateway: its imports in a component, [`crate::testing`] in a native build.
//! No other module calls an import.

#[cfg(target_arch = "wasm32")]
pub(crate) use crate::bindings::shared::stopover::host::{
    cache::{get as cache_get, set as cache_set},
    clock::now_ms,
    http::{send, send_many},
    log::log,
    secret::{hmac_sha256, sha256_with_secret},
    settings::get as settings,
};

#[cfg(target_arch = "wasm32")]
pub(crate) use crate::bindings::imports_v1_1::stopover::host1_1_0::{
    reads::send_read, report::dropped_items,
};

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use crate::testing::import::*;
