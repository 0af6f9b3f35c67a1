//! What the outermost layer finds out about a request, for the endpoints.

use crate::client::ClientKey;

/// Whose request it is, and its id.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// The client, for fairness.
    pub(crate) client: ClientKey,
    /// The id that the client sent, or was given.
    pub(crate) request_id: String,
}
