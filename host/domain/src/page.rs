//! Pages of lists.

/// The requested page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// The maximum number of items.
    pub limit: u32,
    /// The number of items to skip.
    pub offset: u64,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The items, at most as many as requested.
    pub items: Vec<T>,
    /// Whether the next page has at least one item.
    pub has_more: bool,
}
