//! The operator's API under `/admin` (design section 8).
