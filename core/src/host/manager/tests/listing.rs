//! What is read of a listing.

use super::*;
