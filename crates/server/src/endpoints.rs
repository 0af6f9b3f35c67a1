//! The endpoints, one file a family. A family has a function `routes`, which [`crate::router`] merges.

pub(crate) mod get_reward;
pub(crate) mod nemo_gym;
pub(crate) mod operations;
pub(crate) mod run;
pub(crate) mod run_code;
pub(crate) mod submit;
pub(crate) mod verify;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;

use crate::service::Service;

pub(crate) type Routes = OpenApiRouter<Arc<Service>>;
