//! What a server made of closures lists may change while it serves.

use std::sync::Arc;

use sanswire::server::ListKind;
use serde::de::DeserializeOwned;

use crate::serve::builder;
use crate::serve::call::Call;
use crate::serve::definition::{self, Definition};
use crate::serve::fault::BuildError;
use crate::serve::reply::{IntoReply, ToolError};
use crate::serve::router::Router;
use crate::serve::server::Server;

impl Server {
    /// Offers one more tool, or another in its place, and tells the clients: see
    /// [`Builder::tool`](crate::Builder::tool).
    ///
    /// # Errors
    /// The definition is not usable, or the server was not made by a builder.
    pub fn add_tool<A, R, F>(&self, name: &str, definition: impl Definition, run: F) -> Result<(), BuildError>
    where
        A: DeserializeOwned,
        R: IntoReply,
        F: Fn(A, &Call<'_>) -> Result<R, ToolError> + Send + Sync + 'static,
    {
        let about = |why: String| BuildError::about(ListKind::Tools, name, &why);
        let fault = |faults: Vec<String>| BuildError::new(faults.into_iter().map(about).collect());
        let router = self.closures().ok_or_else(|| {
            fault(vec!["this server answers by an application of its own, so use Server::update".into()])
        })?;
        let definition =
            definition::complete(ListKind::Tools, name, definition.into_json()).map_err(fault)?;
        // Whoever sees it listed can call it.
        router.table_mut().tools.insert(name.into(), builder::tool(run));
        self.update(ListKind::Tools, |catalog| {
            drop(definition::offer(ListKind::Tools, catalog, &definition));
        });
        Ok(())
    }

    /// Takes a tool away and tells the clients; calls under way go on. False: there was none of that name.
    pub fn remove_tool(&self, name: &str) -> bool {
        let mut removed = false;
        if self.offers(ListKind::Tools, name) {
            self.update(ListKind::Tools, |catalog| removed = catalog.remove(ListKind::Tools, name));
        }
        if let Some(router) = self.closures() {
            router.table_mut().tools.remove(name);
        }
        removed
    }

    fn closures(&self) -> Option<&Arc<Router>> {
        self.inner().router()
    }

    fn offers(&self, kind: ListKind, key: &str) -> bool {
        self.inner().catalog().find(kind, key).is_some()
    }
}

impl Call<'_> {
    /// The server that answers: for handlers that change what it lists, or tell of changed resources.
    #[must_use]
    pub fn server(&self) -> Server {
        Server::of(self.inner())
    }
}
