//! How a conversation is opened.

use serde_json::{Value, json};

use crate::{Client, Failure, MODERN, VERSIONS, hang};

/// Asks how the server speaks, and speaks so.
pub(crate) fn open(client: &mut Client) -> Result<(), Failure> {
    if client.fault("lists-first") {
        let _ = client.request("tools/list", json!({}));
    }
    client.modern = true;
    loop {
        match client.request("server/discover", json!({})) {
            Ok(discovered) if speaks(&discovered["supportedVersions"], MODERN) => {
                if client.fault("strict-opening") && discovered.get("weather").is_some() {
                    return Err(Failure::Spoiled);
                }
                client.capabilities = discovered["capabilities"].clone();
                return Ok(());
            }
            // It is one without a handshake, and speaks another version.
            Err(Failure::Refused(error)) if error["code"] == -32022 => {
                if !client.fault("asks-on") {
                    return Err(Failure::Refused(error));
                }
            }
            Err(Failure::Refused(error)) if client.fault("one-code") && error["code"] != -32601 => {
                return Err(Failure::Refused(error));
            }
            Err(Failure::Refused(_) | Failure::Late) | Ok(_) => break,
            Err(other) => return Err(other),
        }
    }
    client.modern = false;
    initialize(client)
}

fn speaks(versions: &Value, version: &str) -> bool {
    versions.as_array().is_some_and(|all| all.iter().any(|it| it == version))
}

fn initialize(client: &mut Client) -> Result<(), Failure> {
    let asked = if client.fault("asks-for-the-future") { "2031-01-01" } else { VERSIONS[3] };
    let mut params = json!({
        "protocolVersion": asked, "capabilities": {"roots": {}}, "clientInfo": {"name": "faulty", "version": "1"},
    });
    if let Some(members) = params.as_object_mut() {
        match client.fault.as_str() {
            "no-capabilities" => _ = members.remove("capabilities"),
            "null-capability" => members["capabilities"] = json!({"roots": {}, "sampling": null}),
            "no-client-info" => _ = members.remove("clientInfo"),
            _ => {}
        }
    }
    let id = client.ask("initialize", params);
    if client.fault("hasty") {
        client.ask("tools/list", json!({}));
    }
    let opened = client.answer_to(&id)?;
    let version = opened["protocolVersion"].as_str().unwrap_or_default();
    if client.fault("hangs-on-older") && version == VERSIONS[0] {
        hang();
    }
    if !VERSIONS.contains(&version) && !client.fault("any-version") {
        return Err(Failure::Spoiled);
    }
    if client.fault("strict-opening") && opened.get("weather").is_some() {
        return Err(Failure::Spoiled);
    }
    client.opened = true;
    client.capabilities = opened["capabilities"].clone();
    if client.fault("late-initialized") && client.capabilities.get("tools").is_some() {
        client.request("tools/list", json!({}))?;
    }
    if !client.fault("no-initialized") {
        client.notify("notifications/initialized");
    }
    Ok(())
}
