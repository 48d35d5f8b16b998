//! What a server made of closures lists may change while it serves.

use std::future::Future;
use std::sync::Arc;

use sanswire::server::ListKind;
use sanswire::server::kit::{
    BuildError, Definition, IntoContents, IntoMessages, IntoReply, ResourceUri, ToolError,
};
use serde::de::DeserializeOwned;

use crate::serve::builder::{offer_prompt, offer_resource, offer_template, offer_tool};
use crate::serve::call::Call;
use crate::serve::router::{Offer, Router};
use crate::serve::server::{Changed, Server};

/// Changes of a server that a [`Builder`](crate::Builder) made. What is added takes the place of what has the same name
/// or address. Clients that want to know are told once it has settled; calls under way go on.
impl Server {
    /// Offers one more tool: see [`Builder::tool`](crate::Builder::tool).
    ///
    /// # Errors
    /// The definition is not usable, or the server was not made by a builder.
    pub fn add_tool<A, R, F, W>(
        &self,
        name: &str,
        definition: impl Definition,
        run: F,
    ) -> Result<(), BuildError>
    where
        A: DeserializeOwned,
        R: IntoReply,
        F: Fn(A, Call) -> W + Send + Sync + 'static,
        W: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.add(offer_tool(name, definition, run)?)
    }

    /// Offers one more resource: see [`Builder::resource`](crate::Builder::resource).
    ///
    /// # Errors
    /// As [`add_tool`](Self::add_tool).
    pub fn add_resource<R, F, W>(
        &self,
        uri: &str,
        definition: impl Definition,
        read: F,
    ) -> Result<(), BuildError>
    where
        R: IntoContents,
        F: Fn(ResourceUri, Call) -> W + Send + Sync + 'static,
        W: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.add(offer_resource(uri, definition, read)?)
    }

    /// Offers one more template, to be tried last: see [`Builder::resource_template`](crate::Builder::resource_template).
    ///
    /// # Errors
    /// As [`add_tool`](Self::add_tool).
    pub fn add_resource_template<R, F, W>(
        &self,
        template: &str,
        definition: impl Definition,
        read: F,
    ) -> Result<(), BuildError>
    where
        R: IntoContents,
        F: Fn(ResourceUri, Call) -> W + Send + Sync + 'static,
        W: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.add(offer_template(template, definition, read)?)
    }

    /// Offers one more prompt: see [`Builder::prompt`](crate::Builder::prompt).
    ///
    /// # Errors
    /// As [`add_tool`](Self::add_tool).
    pub fn add_prompt<A, R, F, W>(
        &self,
        name: &str,
        definition: impl Definition,
        run: F,
    ) -> Result<(), BuildError>
    where
        A: DeserializeOwned,
        R: IntoMessages,
        F: Fn(A, Call) -> W + Send + Sync + 'static,
        W: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.add(offer_prompt(name, definition, run)?)
    }

    /// Takes a tool away. False: there was none of that name.
    #[expect(clippy::must_use_candidate, reason = "that it is gone is what matters")]
    pub fn remove_tool(&self, name: &str) -> bool {
        self.remove(ListKind::Tools, name)
    }

    /// Takes a resource away. False: there was none at that address.
    #[expect(clippy::must_use_candidate, reason = "that it is gone is what matters")]
    pub fn remove_resource(&self, uri: &str) -> bool {
        self.remove(ListKind::Resources, uri)
    }

    /// Takes a template away. False: there was none such.
    #[expect(clippy::must_use_candidate, reason = "that it is gone is what matters")]
    pub fn remove_resource_template(&self, template: &str) -> bool {
        self.remove(ListKind::Templates, template)
    }

    /// Takes a prompt away. False: there was none of that name.
    #[expect(clippy::must_use_candidate, reason = "that it is gone is what matters")]
    pub fn remove_prompt(&self, name: &str) -> bool {
        self.remove(ListKind::Prompts, name)
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is let go of when nothing is locked")]
    fn add(&self, offer: Offer) -> Result<(), BuildError> {
        let router = self.closures().ok_or_else(|| {
            offer.refused("this server answers by an application of its own, so use Server::update")
        })?;
        let turn = self.inner().offered.turn();
        // Whoever sees it listed can call it.
        let before = router.change(|handlers| handlers.put(&offer));
        let changed = self.update_in(&turn, offer.kind(), |catalog| offer.list(catalog));
        drop(turn);
        changed.tell();
        drop(before);
        Ok(())
    }

    fn remove(&self, kind: ListKind, key: &str) -> bool {
        let turn = self.inner().offered.turn();
        let mut removed = false;
        let listed = self.inner().offered.catalog().find(kind, key).is_some();
        let changed =
            listed.then(|| self.update_in(&turn, kind, |catalog| removed = catalog.remove(kind, key)));
        let before = self.closures().map(|router| router.change(|handlers| handlers.remove(kind, key)));
        drop(turn);
        changed.into_iter().for_each(Changed::tell);
        drop(before);
        removed
    }

    fn closures(&self) -> Option<&Arc<Router>> {
        self.inner().router()
    }
}
