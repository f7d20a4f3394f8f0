-- Owner: telemetry. Times are unix milliseconds; ids are UUIDv7 as text.

-- What pages, tools and SDKs report of themselves. No account, no key, no address of a client; older ones are removed.
create table events (
    id text primary key,
    event text not null,
    source text,
    anonymous_id text,
    session_id text,
    -- JSON.
    properties text,
    -- Without query and fragment.
    url text,
    referrer text,
    -- JSON.
    utm text,
    at_ms bigint not null
);
create index events_by_time on events (at_ms);
