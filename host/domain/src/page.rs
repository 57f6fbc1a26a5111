//! Pages of lists.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    pub limit: u32,
    pub offset: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The items, at most as many as requested.
    pub items: Vec<T>,
    /// Whether the next page has at least one item.
    pub has_more: bool,
}
