//! Properties of a route beside its handlers: time limit, rate limits, and what the middleware has
//! to know of it. The router's lines state them, and the layers around the routes apply them.
//!
//! Why: `docs/decisions/development.md` (Rules of routes are on the router's lines).

use super::cross_origin::preflight;
use crate::app::App;
use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::MethodRouter;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Paths that load balancers and monitoring poll. The server recognises them before a route is
/// found, because probes wait for no permit.
const PROBES: [&str; 4] = ["/healthz", "/readyz", "/metrics", "/api/health"];

pub fn is_probe(path: &str) -> bool {
    PROBES.contains(&path)
}

/// Time limit of handlers that wait for nothing.
const USUAL_TIME: Duration = Duration::from_secs(30);

/// The time limit of a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLimit {
    Usual,
    /// The handler may have to wait for a render.
    Render,
    /// A render node polls for a job (long polling).
    Work,
    /// A render node uploads an image over a slow line.
    Upload,
}

impl TimeLimit {
    pub fn of(self, app: &App) -> Duration {
        match self {
            TimeLimit::Usual => USUAL_TIME,
            TimeLimit::Render => app.config.farm.render_wait() + USUAL_TIME,
            TimeLimit::Work => Duration::from_secs(30) + USUAL_TIME,
            TimeLimit::Upload => Duration::from_secs(120),
        }
    }
}

/// Which GET and HEAD requests of a route are counted as public reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublicReads {
    All,
    /// Only refused requests are counted, apart from other reads, because pages embed the good ones
    /// of this route by the dozen. Pages embed no HEAD, so each HEAD is counted. Over a limit,
    /// every request that proves no grant is refused.
    Refused,
    /// Only HEAD is counted as a read. Loads have a count of their own.
    Heads,
    /// None are counted: the route has counts of its own (keys, forms), belongs to nodes, or is a
    /// probe or a static file.
    None,
}

/// The rules of a route, as an extension of its requests. Absent where no route was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteRules {
    pub time_limit: TimeLimit,
    pub public_reads: PublicReads,
    pub is_probe: bool,
    /// Render nodes call this route.
    pub is_of_nodes: bool,
    /// The route's log lines are written at debug level, because they would drown everything else.
    pub is_quiet: bool,
    /// A client may choose the request id itself.
    pub takes_request_id: bool,
    /// The route sends images and no public text. It handles HEAD itself, because it
    /// must not make an image for it.
    pub sends_pictures: bool,
    /// Pages of any site may show the responses.
    pub is_open_to_pages: bool,
    /// The route serves MCP tools: its responses may be event streams, and
    /// tools in browsers may call it.
    pub is_of_tools: bool,
}

/// The rules of a route whose line states none.
pub const USUAL: RouteRules = RouteRules {
    time_limit: TimeLimit::Usual,
    public_reads: PublicReads::All,
    is_probe: false,
    is_of_nodes: false,
    is_quiet: false,
    takes_request_id: false,
    sends_pictures: false,
    is_open_to_pages: false,
    is_of_tools: false,
};

pub const PROBE: RouteRules = RouteRules { public_reads: PublicReads::None, is_probe: true, is_quiet: true, ..USUAL };

/// Rules of a route that is counted by its key, or not at all.
pub const NO_PUBLIC_READ: RouteRules = RouteRules { public_reads: PublicReads::None, ..USUAL };

const PICTURE: RouteRules = RouteRules { time_limit: TimeLimit::Render, sends_pictures: true, ..USUAL };

pub const KEYED_PICTURE: RouteRules = RouteRules { public_reads: PublicReads::None, takes_request_id: true, ..PICTURE };

pub const EMBEDDED_PICTURE: RouteRules =
    RouteRules { public_reads: PublicReads::Refused, is_open_to_pages: true, ..PICTURE };

pub const SIGNED_PICTURE: RouteRules =
    RouteRules { public_reads: PublicReads::Heads, is_open_to_pages: true, ..PICTURE };

pub const TOOLS: RouteRules = RouteRules { time_limit: TimeLimit::Render, is_of_tools: true, ..USUAL };

pub const OF_NODES: RouteRules = RouteRules { public_reads: PublicReads::None, is_of_nodes: true, ..USUAL };

pub const NODES_WORK: RouteRules = RouteRules { time_limit: TimeLimit::Work, is_quiet: true, ..OF_NODES };

pub const NODES_HEARTBEAT: RouteRules = RouteRules { is_quiet: true, ..OF_NODES };

pub const NODES_UPLOAD: RouteRules = RouteRules { time_limit: TimeLimit::Upload, ..OF_NODES };

/// A line of the router: a route with its rules.
pub struct RuledRoute {
    route: MethodRouter<App>,
    /// `None` stands for the rules that most of the routes of this [`Routes`] have.
    rules: Option<RouteRules>,
}

/// Gives a route rules of its own. A route that is open to pages also answers the preflight
/// requests of browsers.
pub fn ruled(rules: RouteRules, route: MethodRouter<App>) -> RuledRoute {
    let route = if rules.is_open_to_pages { route.options(preflight) } else { route };
    RuledRoute { route, rules: Some(rules) }
}

impl From<MethodRouter<App>> for RuledRoute {
    fn from(route: MethodRouter<App>) -> Self {
        RuledRoute { route, rules: None }
    }
}

/// Routes with their rules.
pub struct Routes {
    router: Router<App>,
    /// Rules of the routes whose line states none.
    usual: RouteRules,
    /// The rules by route pattern.
    rules: HashMap<&'static str, RouteRules>,
}

impl Routes {
    /// Makes an empty set of routes. A route has the rules `usual` unless its line states others.
    pub fn with(usual: RouteRules) -> Self {
        Routes { router: Router::new(), usual, rules: HashMap::new() }
    }

    pub fn route(mut self, path: &'static str, route: impl Into<RuledRoute>) -> Self {
        let RuledRoute { route, rules } = route.into();
        self.rules.insert(path, rules.unwrap_or(self.usual));
        self.router = self.router.route(path, route);
        self
    }

    pub fn merge(mut self, other: Routes) -> Self {
        self.rules.extend(other.rules);
        self.router = self.router.merge(other.router);
        self
    }

    /// Puts layers around the routes that were added so far.
    pub fn within(mut self, layers: impl FnOnce(Router<App>) -> Router<App>) -> Self {
        self.router = layers(self.router);
        self
    }

    /// Puts `layers` around all routes, and around those the layer that
    /// adds the rules to each request.
    pub fn finish(self, layers: impl FnOnce(Router<App>) -> Router<App>) -> Router<App> {
        layers(self.router).layer(from_fn_with_state(Arc::new(self.rules), tell_rules))
    }
}

impl From<Router<App>> for Routes {
    /// Converts routes that have no rules of their own.
    fn from(router: Router<App>) -> Self {
        Routes { router, ..Routes::with(USUAL) }
    }
}

async fn tell_rules(
    State(rules): State<Arc<HashMap<&'static str, RouteRules>>>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Some(route) = request.extensions().get::<MatchedPath>() {
        let rules = rules.get(route.as_str()).copied().unwrap_or(USUAL);
        request.extensions_mut().insert(rules);
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_server_knows_the_probes_of_the_routers() {
        let lines = include_str!("router.rs").split(".route(\"").filter(|line| line.contains("ruled(PROBE"));
        let probes: BTreeSet<&str> = lines.filter_map(|line| line.split('"').next()).collect();
        assert_eq!(probes, BTreeSet::from(PROBES));
    }
}
