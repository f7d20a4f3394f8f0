-- Owner: accounts. Times are unix milliseconds; ids are UUIDv7 as text.

create table accounts (
    id text primary key,
    -- Lower case.
    email text not null,
    created_at_ms bigint not null
);
create unique index accounts_email on accounts (email);

-- A key works from created_at_ms until revoked_at_ms; it never comes back.
create table api_keys (
    id text primary key,
    account_id text not null references accounts (id),
    name text not null,
    -- Lower-case hex SHA-256 of the plain key, which is stored nowhere.
    key_sha256 text not null,
    -- Names separated by spaces.
    scopes text not null,
    -- Null: the service's usual limit.
    rate_limit_per_minute bigint check (rate_limit_per_minute > 0),
    created_at_ms bigint not null,
    -- Filled when it is revoked.
    revoked_at_ms bigint
);
create unique index api_keys_by_hash on api_keys (key_sha256);
create index api_keys_by_account on api_keys (account_id);

-- The same life as an API key's.
create table node_tokens (
    id text primary key,
    name text not null,
    token_sha256 text not null,
    created_at_ms bigint not null,
    revoked_at_ms bigint
);
create unique index node_tokens_by_hash on node_tokens (token_sha256);
