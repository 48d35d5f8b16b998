//! Listings that change.

use super::*;
