//! What a route has of its own beside its handlers. The router's lines say it, the layers around them keep to it.
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

/// Paths that load balancers and monitoring ask. The server knows them before a route is found, because probes wait for no turn.
const PROBES: [&str; 4] = ["/healthz", "/readyz", "/metrics", "/api/health"];

pub fn is_probe(path: &str) -> bool {
    PROBES.contains(&path)
}

/// How long handlers may take that wait for nothing.
const USUAL_TIME: Duration = Duration::from_secs(30);

/// How long a handler may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLimit {
    Usual,
    /// A picture may have to be rendered first.
    Render,
    /// A node waits for work.
    Work,
    /// A node sends a picture over a slow line.
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

/// Which GET and HEAD of a route are counted as public reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublicReads {
    All,
    /// Only requests that are refused, in a count of their own, because the good ones of this route are embedded in
    /// pages by the dozen; pages embed no HEAD, and each is counted. Over a limit, every request that proves no grant
    /// is refused.
    Refused,
    /// What is loaded has a count of its own.
    Heads,
    /// The route has counts of its own (keys, forms), is of nodes, or is a probe or a file at hand.
    None,
}

/// An extension of a request: the rules of its route. Absent where no route was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteRules {
    pub time_limit: TimeLimit,
    pub public_reads: PublicReads,
    pub is_probe: bool,
    /// Render nodes call it.
    pub is_of_nodes: bool,
    /// Its lines would drown everything else in logs.
    pub is_quiet: bool,
    /// A client may name its request itself.
    pub takes_request_id: bool,
    /// It sends pictures, no public text, and answers HEAD itself, since it must not make a picture for it.
    pub sends_pictures: bool,
    /// Pages of any site may show what it sends.
    pub is_open_to_pages: bool,
    /// Its answers may come as events, and tools in browsers may call it.
    pub is_of_tools: bool,
}

/// Of a route whose line says nothing else.
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

/// It is counted by its key, or not at all.
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
pub struct Ruled {
    route: MethodRouter<App>,
    /// `None`: those that most of these routes have.
    rules: Option<RouteRules>,
}

/// Gives a route rules of its own. One that is open to pages answers what browsers ask first.
pub fn ruled(rules: RouteRules, route: MethodRouter<App>) -> Ruled {
    let route = if rules.is_open_to_pages { route.options(preflight) } else { route };
    Ruled { route, rules: Some(rules) }
}

impl From<MethodRouter<App>> for Ruled {
    fn from(route: MethodRouter<App>) -> Self {
        Ruled { route, rules: None }
    }
}

/// Routes with their rules.
pub struct Routes {
    router: Router<App>,
    /// Of routes whose line says nothing else.
    usual: RouteRules,
    /// By the patterns of the routes.
    rules: HashMap<&'static str, RouteRules>,
}

impl Routes {
    /// None yet; each will have the rules `usual` unless its line says something else.
    pub fn with(usual: RouteRules) -> Self {
        Routes { router: Router::new(), usual, rules: HashMap::new() }
    }

    pub fn route(mut self, path: &'static str, route: impl Into<Ruled>) -> Self {
        let Ruled { route, rules } = route.into();
        self.rules.insert(path, rules.unwrap_or(self.usual));
        self.router = self.router.route(path, route);
        self
    }

    pub fn merge(mut self, other: Routes) -> Self {
        self.rules.extend(other.rules);
        self.router = self.router.merge(other.router);
        self
    }

    /// Puts layers around the routes so far.
    pub fn within(mut self, layers: impl FnOnce(Router<App>) -> Router<App>) -> Self {
        self.router = layers(self.router);
        self
    }

    /// Puts `layers` around all routes, and outside of them what tells them the rules.
    pub fn finish(self, layers: impl FnOnce(Router<App>) -> Router<App>) -> Router<App> {
        layers(self.router).layer(from_fn_with_state(Arc::new(self.rules), tell_rules))
    }
}

impl From<Router<App>> for Routes {
    /// Routes without rules of their own.
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
