//! Every answer of a flight supplier, and what it means.
