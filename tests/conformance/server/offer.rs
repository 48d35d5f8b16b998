//! Resources, prompts and completion.

use sanswire::mcp::types::content::Role;
use sanswire_std::{Builder, Content, Json, Messages, Prompt, Resource};
use serde_json::json;

/// An image of one red point.
pub(crate) const DOT_PNG: &[u8] = include_bytes!("dot.png");

/// Eight bits of silence, one sample long.
pub(crate) const SILENCE_WAV: &[u8] = &[
    b'R', b'I', b'F', b'F', 37, 0, 0, 0, b'W', b'A', b'V', b'E', b'f', b'm', b't', b' ', 16, 0, 0, 0, 1, 0,
    1, 0, 0x40, 0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0, b'd', b'a', b't', b'a', 1, 0, 0, 0, 0x80,
];

pub(crate) fn offer(builder: Builder) -> Builder {
    prompts(resources(builder)).complete(|asked, _| {
        let known = ["paris", "park", "party", "test", "testing"];
        Ok(known.into_iter().filter(|word| word.starts_with(&asked.value)).collect())
    })
}

fn resources(builder: Builder) -> Builder {
    let text = Resource::new("static-text").description("A text").mime_type("text/plain");
    let image = Resource::new("static-binary").description("An image").mime_type("image/png");
    let watched = Resource::new("watched-resource").description("To be watched").mime_type("text/plain");
    let made = Resource::new("template").description("Made of its address").mime_type("application/json");
    builder
        .resource("test://static-text", text, |_, _| Ok("This is the content of the static text resource."))
        .resource("test://static-binary", image, |_, _| Ok(DOT_PNG))
        .resource("test://watched-resource", watched, |_, _| Ok("Nothing changes here."))
        .resource_template("test://template/{id}/data", made, |uri, _| {
            let id = uri.variable("id");
            Ok(Json(json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")})))
        })
        .subscribable()
}

fn prompts(builder: Builder) -> Builder {
    let two = Prompt::new("Says its arguments").argument("arg1", "One").argument("arg2", "The other");
    let embedding = Prompt::new("Holds a resource").argument("resourceUri", "Which one");
    builder
        .prompt("test_simple_prompt", Prompt::new("Says something"), |(), _| {
            Ok("This is a simple prompt for testing.")
        })
        .prompt("test_prompt_with_arguments", two, |(), call| {
            let (one, other): (String, String) = (call.argument("arg1")?, call.argument("arg2")?);
            Ok(format!("Prompt with arguments: arg1='{one}', arg2='{other}'"))
        })
        .prompt("test_prompt_with_embedded_resource", embedding, |(), call| {
            let uri: String = call.argument("resourceUri")?;
            let text = "Embedded resource content for testing.";
            let resource = Content::new().resource_text(&uri, "text/plain", text);
            Ok(Messages::new()
                .content(Role::User, &resource)
                .user("Please process the embedded resource above."))
        })
        .prompt("test_prompt_with_image", Prompt::new("Holds an image"), |(), _| {
            let image = Content::new().image("image/png", DOT_PNG);
            Ok(Messages::new().content(Role::User, &image).user("Please analyze the image above."))
        })
}
