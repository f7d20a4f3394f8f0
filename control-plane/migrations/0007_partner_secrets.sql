-- Owner: accounts. Times are unix milliseconds; ids are UUIDv7 as text.

-- What partners sign addresses of /images/car.png with. Kept as it is, not hashed: checking a signature needs it. It works from
-- created_at_ms until it or its key is revoked.
create table partner_secrets (
    id text primary key,
    key_id text not null references api_keys (id),
    secret text not null,
    created_at_ms bigint not null,
    -- Filled when it is revoked.
    revoked_at_ms bigint
);
create index partner_secrets_by_key on partner_secrets (key_id);
