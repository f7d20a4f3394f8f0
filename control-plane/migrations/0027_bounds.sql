-- Owner: telemetry. How many bytes of events each UTC day has brought, for the bounds on a day and on all that is kept.
create table event_days (
    -- YYYY-MM-DD.
    day text primary key,
    bytes bigint not null
);

-- Owner: accounts. How many accounts people have made lately.
create index users_by_creation on users (created_at_ms);
