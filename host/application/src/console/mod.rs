//! Services of the dashboard. They decide what a person may read and change.

pub mod access;
pub mod keys;
pub mod overview;

use crate::api_key::service::ApiKeyService;
use crate::base::Base;
use crate::console::keys::ConsoleKeys;
use crate::console::overview::ConsoleOverview;
use crate::supplier::directory::SupplierDirectory;
use std::sync::Arc;

pub struct ConsoleServices {
    pub keys: Arc<ConsoleKeys>,
    pub overview: Arc<ConsoleOverview>,
}

impl ConsoleServices {
    pub(crate) fn new(base: &Base, suppliers: &Arc<SupplierDirectory>) -> Self {
        Self {
            keys: Arc::new(ConsoleKeys {
                base: base.clone(),
                api_keys: ApiKeyService::new(base.clone()),
            }),
            overview: Arc::new(ConsoleOverview::new(base.clone(), Arc::clone(suppliers))),
        }
    }
}
