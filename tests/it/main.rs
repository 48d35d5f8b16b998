//! The one integration binary: scenarios as modules.
