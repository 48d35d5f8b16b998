//! Method names.

use alloc::boxed::Box;
use core::fmt;

macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)+) => {
        /// The method of a request or notification.
        ///
        /// Known names are values; any other is kept as text ([`Method::Other`]), so that requests of
        /// extensions can be sent and an unknown name can be reported.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Method {
            $($(#[$doc])* $variant,)+
            /// A name that no revision defines.
            Other(Box<str>),
        }

        impl Method {
            /// All names that some revision defines.
            pub const KNOWN: &'static [Self] = &[$(Self::$variant,)+];

            /// The name as it stands on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Other(name) => name,
                }
            }

            /// The method of that name; one allocation for an unknown name.
            #[must_use]
            pub fn from_name(name: &str) -> Self {
                Self::known(name.as_bytes()).unwrap_or_else(|| Self::Other(name.into()))
            }

            /// The method of that name, if some revision defines it.
            pub(crate) fn known(name: &[u8]) -> Option<Self> {
                Some(match name {
                    $(name if name == $name.as_bytes() => Self::$variant,)+
                    _ => return None,
                })
            }
        }
    };
}

methods! {
    /// Opens a legacy session.
    Initialize = "initialize",
    /// Asks a modern server what it is and speaks.
    ServerDiscover = "server/discover",
    /// Asks whether the other side is there (legacy).
    Ping = "ping",
    /// Lists tools, a page at a time.
    ToolsList = "tools/list",
    /// Calls a tool.
    ToolsCall = "tools/call",
    /// Lists resources, a page at a time.
    ResourcesList = "resources/list",
    /// Lists resource templates, a page at a time.
    ResourcesTemplatesList = "resources/templates/list",
    /// Reads a resource.
    ResourcesRead = "resources/read",
    /// Asks for notices of changes of one resource (legacy).
    ResourcesSubscribe = "resources/subscribe",
    /// Ends [`Method::ResourcesSubscribe`].
    ResourcesUnsubscribe = "resources/unsubscribe",
    /// Opens a stream of notifications (modern).
    SubscriptionsListen = "subscriptions/listen",
    /// Lists prompts, a page at a time.
    PromptsList = "prompts/list",
    /// Fills in a prompt.
    PromptsGet = "prompts/get",
    /// Completes an argument's value.
    CompletionComplete = "completion/complete",
    /// Sets the level of log messages for the session (legacy).
    LoggingSetLevel = "logging/setLevel",
    /// The server asks for a message of a language model.
    SamplingCreateMessage = "sampling/createMessage",
    /// The server asks for the client's roots.
    RootsList = "roots/list",
    /// The server asks the user.
    ElicitationCreate = "elicitation/create",
    /// Reads a task's state.
    TasksGet = "tasks/get",
    /// Waits for a task's result (2025-11-25).
    TasksResult = "tasks/result",
    /// Cancels a task.
    TasksCancel = "tasks/cancel",
    /// Lists tasks (2025-11-25).
    TasksList = "tasks/list",
    /// The client is ready (legacy).
    Initialized = "notifications/initialized",
    /// A request is no longer wanted.
    Cancelled = "notifications/cancelled",
    /// A request makes progress.
    Progress = "notifications/progress",
    /// A log message.
    LogMessage = "notifications/message",
    /// The list of tools changed.
    ToolsListChanged = "notifications/tools/list_changed",
    /// The list of prompts changed.
    PromptsListChanged = "notifications/prompts/list_changed",
    /// The list of resources changed.
    ResourcesListChanged = "notifications/resources/list_changed",
    /// A resource changed.
    ResourcesUpdated = "notifications/resources/updated",
    /// The client's roots changed (legacy).
    RootsListChanged = "notifications/roots/list_changed",
    /// A URL elicitation is over (2025-11-25).
    ElicitationComplete = "notifications/elicitation/complete",
    /// A task's state changed (2025-11-25).
    TasksStatus = "notifications/tasks/status",
    /// The first message of a listen stream (modern).
    SubscriptionsAcknowledged = "notifications/subscriptions/acknowledged",
}

impl Method {
    /// What a server says when one of its lists is another: of tools, of prompts, of resources.
    pub const LISTS_CHANGED: [Self; 3] =
        [Self::ToolsListChanged, Self::PromptsListChanged, Self::ResourcesListChanged];

    /// Whether it is one of [`LISTS_CHANGED`](Self::LISTS_CHANGED).
    #[must_use]
    pub fn is_list_changed(&self) -> bool {
        Self::LISTS_CHANGED.contains(self)
    }

    /// Whether the name is that of a notification.
    #[must_use]
    pub fn is_notification(&self) -> bool {
        self.as_str().starts_with("notifications/")
    }

    /// The same, with an unknown name cut to 64 bytes: for what is kept or shown of a peer's name.
    #[must_use]
    pub(crate) fn bounded(self) -> Self {
        let Self::Other(name) = &self else { return self };
        if name.len() <= 64 {
            return self;
        }
        let mut end = 64;
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        Self::Other(name.get(..end).unwrap_or_default().into())
    }

    /// Whether an `input_required` result may answer this request (2026-07-28, multi-round requests).
    #[must_use]
    pub const fn takes_input_rounds(&self) -> bool {
        matches!(self, Self::ToolsCall | Self::PromptsGet | Self::ResourcesRead)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
