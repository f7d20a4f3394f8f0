-- Owner: prewarm. What an operator wants rendered before anybody asks.

--   running ◄──► paused     by the operator
--      │           │
--      ├───────────┴──► cancelled: by the operator; what is queued is still made, nothing follows it
--      └──────────────► done: no row is left
create table prewarm_batches (
    id text primary key,
    name text not null,
    state text not null check (state in ('running', 'paused', 'cancelled', 'done')),
    -- It queues cold renders while less than this share of the day's budget is reserved or spent, by whoever.
    budget_percent bigint not null check (budget_percent between 1 and 100),
    created_at_ms bigint not null,
    changed_at_ms bigint not null
);

-- One row for each vehicle and view with all of its colours: one diffusion pass.
--
--   waiting ──► queued ──► done
--      ▲          ├──────► failed
--      └──────────┘  nobody rendered it in time
create table prewarm_rows (
    batch_id text not null,
    position bigint not null,
    vehicle_key text not null,
    view text not null,
    -- The vehicle as nodes are told it, JSON.
    vehicle text not null,
    colors text not null,
    state text not null check (state in ('waiting', 'queued', 'done', 'failed')),
    failure_kind text,
    failure_detail text,
    changed_at_ms bigint not null,
    primary key (batch_id, position)
);
create index prewarm_rows_by_state on prewarm_rows (state, batch_id, position);
