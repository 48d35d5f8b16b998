//! What a person is shown of a tool.

use sanswire::mcp::types::tool::Tool;

/// What a server says of a tool's effects, in words.
pub(crate) fn hints_said(tool: &Tool) -> String {
    let said = tool.annotations();
    let mut hints = Vec::new();
    hints.push(if said.read_only { "changes nothing" } else { "may change things" });
    if !said.read_only {
        hints.push(if said.destructive { "may destroy" } else { "destroys nothing" });
        hints.push(if said.idempotent { "twice is once" } else { "twice is not once" });
    }
    hints.push(if said.open_world { "reaches outside" } else { "stays inside" });
    hints.join(", ")
}
