-- Owner: accounts. Times are unix milliseconds.

-- Who somebody is at a provider that people may sign in with, and which account that opens. An account has at most one identity of each
-- provider.
create table identities (
    issuer text not null,
    -- The provider's own name for somebody.
    subject text not null,
    account_id text not null references users (account_id),
    linked_at_ms bigint not null,
    primary key (issuer, subject),
    unique (account_id, issuer)
);
