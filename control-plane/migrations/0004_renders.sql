-- Owner: renders. Times are unix milliseconds; ids are UUIDv7 as text; `vehicle_key` is make/model/year in slugs.

-- One row per variant: whether its picture exists.
--
--            want (a job is queued, or a live one will make it)
--   lapsed ────────────────────────────────────────────────────► wanted ──────► done
--     ▲  ▲                                                        │  │   result
--     │  └──────────── nobody waits any more ─────────────────────┘  │
--     │                                                              ▼ attempts used up
--     └ (a new row starts here)                  wanted ◄─ want ─── failed
--
-- A result also completes lapsed and failed rows of its colours: the picture is there, whoever still waits.
create table renders (
    id text primary key,
    vehicle_key text not null,
    view text not null,
    color text not null,
    state text not null check (state in ('lapsed', 'wanted', 'done', 'failed')),
    -- Counts how often it became wanted: a waiter knows its own failure from an older one.
    round bigint not null,
    -- Filled when done: which layers it was painted from, what the picture is, which job made it.
    revision bigint,
    master_sha256 text,
    job_id text,
    -- Filled when failed.
    failure_kind text,
    failure_detail text,
    changed_at_ms bigint not null,
    unique (vehicle_key, view, color),
    check ((state = 'done') <= (revision is not null and master_sha256 is not null and job_id is not null))
);

-- The newest light layers of each vehicle and view. A row is written after its object is whole.
create table layers (
    vehicle_key text not null,
    view text not null,
    revision bigint not null,
    sha256 text not null,
    bytes bigint not null,
    pipeline text not null,
    job_id text not null,
    made_at_ms bigint not null,
    primary key (vehicle_key, view)
);

-- Work for render nodes: layers and colours (`render`) or only colours (`paint`) of one vehicle and view.
--
--             claim (fence + 1, attempt + 1)            result
--   queued ──────────────────────────────────► leased ─────────► done
--    │  ▲                                       │   │
--    │  └─────── lease lost, or a failure ──────┘   └──────────► failed
--    │           with attempts left                  a failure that is final, or the last attempt
--    └────────► lapsed  (nobody waits any more)
create table jobs (
    id text primary key,
    kind text not null check (kind in ('render', 'paint')),
    vehicle_key text not null,
    view text not null,
    -- The vehicle as the node is told it, JSON.
    vehicle text not null,
    -- Names of colours, separated by commas; grows while queued.
    colors text not null,
    revision bigint not null,
    seed bigint not null,
    -- Higher goes first: 10 for paid requests, 0 for the service's own examples.
    priority bigint not null,
    state text not null check (state in ('queued', 'leased', 'done', 'failed', 'lapsed')),
    -- Grows with every lease; a report that names an older one changes nothing.
    fence bigint not null,
    attempt bigint not null,
    -- After this nobody waits any more. Waiting requests push it on.
    deadline_ms bigint not null,
    queued_at_ms bigint not null,
    -- Filled while leased.
    node_id text,
    leased_at_ms bigint,
    lease_until_ms bigint,
    lease_secret_sha256 text,
    pipeline text,
    stage text,
    progress double precision,
    -- The node of the attempt before: another one is preferred.
    last_node_id text,
    -- Filled at the end.
    ended_at_ms bigint,
    failure_kind text,
    failure_detail text,
    receipt text,
    -- What the day's budget holds for it; 0 for paint.
    cost_microusd bigint not null,
    budget_day text not null
);
-- Single flight: a vehicle and view has at most one live job, and so at most one live lease.
create unique index jobs_one_live on jobs (vehicle_key, view) where state in ('queued', 'leased');
create index jobs_queued on jobs (priority, queued_at_ms) where state = 'queued';
create index jobs_leased on jobs (lease_until_ms) where state = 'leased';
create unique index jobs_by_lease_secret on jobs (lease_secret_sha256) where state = 'leased';

-- Render nodes, one row per join.
--
--   active ◄──► draining (finish, take no more) ◄──► locked (take nothing): by the operator
--   active ───► quarantined: three different jobs in a row failed; joining anew (after its self-test) makes a new row
--   any    ───► left
create table nodes (
    id text primary key,
    token_id text not null,
    name text not null,
    version text not null,
    slots bigint not null,
    -- [{id, digest}], JSON.
    pipelines text not null,
    -- {name, backend, memory_mb}, JSON.
    device text not null,
    standing text not null check (standing in ('active', 'draining', 'locked', 'quarantined', 'left')),
    -- As the node last said of itself: ready, busy, draining, unhealthy.
    reported_state text not null,
    -- As the node last sent it, JSON.
    device_metrics text,
    joined_at_ms bigint not null,
    seen_at_ms bigint not null,
    jobs_done bigint not null,
    -- The different jobs that failed since the last one that worked, separated by commas.
    failed_in_a_row text not null
);
create index nodes_seen on nodes (seen_at_ms);

-- What an operator has set; without the row the setting of the service holds.
create table budget (
    id bigint primary key check (id = 1),
    microusd_per_day bigint not null check (microusd_per_day >= 0),
    set_at_ms bigint not null
);

-- Spend of cold renders by UTC day (YYYY-MM-DD): reserved when a job is queued, settled when it has run.
create table budget_days (
    day text primary key,
    reserved_microusd bigint not null check (reserved_microusd >= 0),
    settled_microusd bigint not null check (settled_microusd >= 0)
);
