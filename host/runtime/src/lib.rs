//! Runtime that executes suppliers as sandboxed WebAssembly components. This is the only crate that
//! depends on WebAssembly.
//!
//! The runtime loads a plugin, reads its description and then calls it through [`Supplier`]. Calls
//! take typed requests and return typed responses or the error enums of the domain. Every call runs
//! in a fresh instance under limits. Every request of a plugin passes through one egress, which
//! checks, authorizes and records it. This crate exposes no type of the engine and no type of the
//! WIT.

pub mod address_policy;
pub mod guarded_client;

mod allow_list;
mod background_executor;
mod bindings;
mod call_log;
mod call_scope;
mod call_state;
mod cassette;
mod circuit_breaker;
mod compile;
mod concurrency_limit;
mod convert;
mod description;
mod egress;
mod engine;
mod exchange;
mod exports;
mod guest;
mod import;
mod limits;
mod loader;
mod plugin;
mod plugin_cache;
mod plugin_env;
mod processor_api;
mod runtime;
mod signature;
mod supplier;

pub use allow_list::{HostGrant, InvalidHost, Scheme};
pub use call_log::{
    CallRecord, CallSink, ExchangeOutcome, ExchangeRecord, NoSink, PluginCallOutcome,
};
pub use cassette::CassetteError;
pub use circuit_breaker::HealthReport;
pub use compile::{CodeSource, CompileError};
pub use concurrency_limit::CallUsage;
pub use description::DescriptionError;
pub use egress::{Credential, InvalidCredential};
pub use exports::ExportError;
pub use limits::PluginLimits;
pub use loader::LoadError;
pub use plugin::{PluginInfo, PluginSpec, TrafficMode};
pub use processor_api::{
    AuthorizeRequest, CaptureRequest, InstrumentDescription, Intent, IntentRequest, PaymentLookup,
    ProcessorRefund, RefundLookup, RefundRequest, VoidRequest,
};
pub use runtime::{CALLS_MAX_DEFAULT, Runtime, RuntimeConfig, RuntimeError};
pub use signature::{InvalidTrustedKey, SignatureError, TrustedKey};
pub use supplier::{CallContext, Supplier};
