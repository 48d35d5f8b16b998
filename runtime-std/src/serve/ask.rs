//! Asking the client, in both eras.

use sanswire::jsonrpc::RawJson;
use sanswire::mcp::types::elicited::Elicited;
use sanswire::mcp::types::input::InputRequest;
use sanswire::server::Reply;
use sanswire::server::kit::{self, AskError, Schema};

use crate::serve::call::Call;

impl Call<'_> {
    /// Asks the client for input. What comes back is its result, and fits the question: for an elicitation an object
    /// with `action`, and `content` that fits the form.
    ///
    /// `key` names the question within this call. Up to 2025-11-25 this waits for the answer. In 2026-07-28 it gives
    /// [`AskError::Suspended`], which has to be passed up with `?`: the question leaves as the call's answer, and the
    /// handler runs again from its start once the client came back, when this gives the answer at once. So nothing with
    /// side effects stands before it, and the keys do not change from run to run. What was answered in earlier rounds
    /// travels with the client, sealed, and holds for the same principal and arguments and for
    /// [`ServerOptions::state_lifetime`](crate::ServerOptions::state_lifetime).
    ///
    /// # Errors
    /// As [`AskError`] says.
    ///
    /// Spec: MCP 2025-11-25 client/elicitation, client/sampling, client/roots; 2026-07-28, multi-round requests.
    pub fn ask(&self, key: &str, request: &InputRequest) -> Result<RawJson, AskError> {
        if let Some(answer) = self.said().ask(self.asks(), self.asked(), key, request)? {
            return Ok(answer);
        }
        let outcome = self.ask_client(request);
        self.said().answered(self.asked(), key, outcome)
    }

    /// Asks several questions, each under its key; their answers come in the same order. In 2026-07-28 they make one
    /// round, where one [`ask`](Self::ask) after the other makes several; up to 2025-11-25 it is the same.
    ///
    /// # Errors
    /// As [`ask`](Self::ask), for the first that fails.
    pub fn ask_all(&self, questions: &[(&str, &InputRequest)]) -> Result<Vec<RawJson>, AskError> {
        self.said().put_all(self.asks(), self.asked(), questions)?;
        questions.iter().map(|(key, request)| self.ask(key, request)).collect()
    }

    /// Asks a person to fill in a form, an object of text, numbers, yes or no, and choices; says what they did. What
    /// they filled in fits the form.
    ///
    /// # Errors
    /// As [`ask`](Self::ask). That somebody declines is no error.
    ///
    /// Spec: MCP 2025-06-18 and later, client/elicitation.
    pub fn elicit(&self, key: &str, message: &str, form: &Schema) -> Result<Elicited, AskError> {
        self.ask_person(key, &form.form(message))
    }

    /// Asks a person to open an address, where they give what no client should see, and says whether they agreed; that
    /// they did it is for the server behind the address to see. `id` names the elicitation for its end, which revision
    /// 2025-11-25 tells of, and is unique.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    ///
    /// Spec: MCP 2025-11-25 and later, client/elicitation, "URL Mode".
    pub fn elicit_url(&self, key: &str, message: &str, url: &str, id: &str) -> Result<Elicited, AskError> {
        self.ask_person(key, &kit::elicit_url(self.context().era(), message, url, id))
    }

    fn ask_person(&self, key: &str, request: &InputRequest) -> Result<Elicited, AskError> {
        let answer = self.ask(key, request)?;
        kit::elicited(self.context().era(), key, request, &answer)
    }

    /// The answer of a run that ends with [`AskError::Suspended`]: the questions that it put. For an
    /// [`Application`](crate::Application) of your own; closures of a [`Builder`](crate::Builder) pass the error up.
    #[must_use]
    pub fn suspend(&self) -> Reply {
        self.said().suspend(self.asks())
    }
}
