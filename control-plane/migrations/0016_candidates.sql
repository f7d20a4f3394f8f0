-- Owner: renders. Times are unix milliseconds; ids are UUIDv7 as text; `vehicle_key` is make/model/year in slugs.

-- A candidate job's pictures are served to nobody until an operator takes them.
alter table jobs add column is_candidate bigint not null default 0 check (is_candidate in (0, 1));

-- Renders made anew to be looked at beside the ones that are served: every colour of a vehicle and view, of one revision. They end when an
-- operator takes them (they become the renders' revision) or turns them down, or when a newer revision takes their place.
create table candidates (
    render_id text primary key references renders (id),
    vehicle_key text not null,
    view text not null,
    revision bigint not null,
    master_sha256 text not null,
    job_id text not null references jobs (id),
    made_at_ms bigint not null
);
create index candidates_by_view on candidates (vehicle_key, view);

-- The light layers they were painted from, as `layers` keeps those of the served ones.
create table candidate_layers (
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

-- What operators decided about renders, written in the transaction that does it.
create table render_decisions (
    id text primary key,
    render_id text not null references renders (id),
    -- `approved` keeps a flagged revision, `accepted` takes a candidate, `rejected` turns one down.
    decision text not null check (decision in ('approved', 'accepted', 'rejected')),
    -- The revision that it was about.
    revision bigint not null,
    at_ms bigint not null,
    unique (render_id, decision, revision)
);
