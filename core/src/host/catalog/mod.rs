//! What tools many servers offer, and what they are called.

mod filter;
mod names;
mod naming;
mod outcome;
mod schema_cap;

pub use filter::{FilterList, FilterWarning, Filtered, ToolFilter};
pub use names::{NameFault, NameRefused, Names};
pub use naming::{ExposedName, MAX_EXPOSED_BYTES, Naming};
pub use outcome::{FilteredBy, SkipReason, ToolOutcome};
pub use schema_cap::{Definition, DefinitionLimits, DefinitionNote};
