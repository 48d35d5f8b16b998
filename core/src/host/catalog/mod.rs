//! What tools many servers offer, and what they are called.
//!
//! A server's listing is judged tool by tool ([`ServerTools`]): every tool that it lists keeps an outcome. What is left
//! of all servers goes into the [`Registry`], where each tool has one name and each name stands for one tool. How much
//! of that a model is told is a matter of its size ([`Exposure`]); what it is not told it can ask for ([`MetaTool`]).
//!
//! ```
//! use sanswire::host::Mask;
//! use sanswire::host::catalog::{ListingSettings, Registry, ServerTools};
//! use sanswire::jsonrpc::RawJson;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The results of a server's tools/list.
//! let pages = [RawJson::parse_str(r#"{"tools":[{"name":"read_file"},{"name":"rm -rf"},{"name":""}]}"#)?];
//! let mut settings = ListingSettings::default();
//! settings.filter.blocked_tools = vec!["rm*".into()];
//!
//! let tools = ServerTools::read("files", &settings, &Mask::default(), &pages);
//! let outcomes: Vec<_> = tools.tools.iter().map(|tool| tool.outcome.to_string()).collect();
//! assert_eq!(outcomes, ["registered", "filtered: blocked_tools names it", "skipped: its name is blank"]);
//!
//! let mut registry = Registry::default();
//! registry.set("files", tools);
//! let offered = registry.resolve("mcp__files__read_file").ok_or("not offered")?;
//! assert_eq!(offered.tool.to_string(), "files/read_file");
//! # Ok(())
//! # }
//! ```

mod exposure;
mod filter;
mod listing;
mod meta_tools;
mod names;
mod naming;
mod outcome;
mod registry;
mod schema_cap;
mod told;

pub use exposure::{Exposed, Exposure, ExposureMode, SubAgents};
pub use filter::{FilterList, FilterWarning, Filtered, ToolFilter};
pub use listing::{ListedTool, ListingSettings, ServerTools};
pub use meta_tools::{MetaOutcome, MetaTool, meta_tools_hint};
pub use names::{NameFault, NameRefused, Names};
pub use naming::{ExposedName, MAX_EXPOSED_BYTES, Naming};
pub use outcome::{FilteredBy, SkipReason, ToolOutcome};
pub use registry::{Change, Offered, Registry};
pub use schema_cap::{Definition, DefinitionLimits, DefinitionNote};
pub use told::tools_listing;
