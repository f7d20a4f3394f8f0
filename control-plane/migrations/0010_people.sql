-- Owner: accounts. Times are unix milliseconds. Secrets are kept as the lower-case hex of their SHA-256.

-- Who signs in: the holder of an account. Accounts that the operator made have none until somebody proves to own the address.
create table users (
    account_id text primary key references accounts (id),
    -- PHC string, argon2id.
    password_hash text not null,
    -- Grows with every new password: sessions and links of an older one are worth nothing.
    password_version bigint not null,
    created_at_ms bigint not null
);

-- A sign-up whose address is not proven yet; no account exists. Only where mail is set up. It ends by confirmation or at its time.
create table sign_ups (
    token_sha256 text primary key,
    email text not null,
    password_hash text not null,
    expires_at_ms bigint not null
);
create index sign_ups_by_end on sign_ups (expires_at_ms);

-- A link that sets a new password, once, unless the password has changed since.
create table password_resets (
    token_sha256 text primary key,
    account_id text not null references users (account_id),
    password_version bigint not null,
    expires_at_ms bigint not null
);
create index password_resets_by_end on password_resets (expires_at_ms);

-- What browsers that are signed in carry the key of.
create table sessions (
    id_sha256 text primary key,
    -- JSON.
    data text not null,
    expires_at_ms bigint not null
);
create index sessions_by_end on sessions (expires_at_ms);

-- Attempts to sign in, or to be sent mail, by e-mail address (whether or not it has an account), in a window of fifteen minutes.
create table attempts (
    -- What is attempted, and SHA-256 of the address.
    subject text primary key,
    window_start_ms bigint not null,
    attempts bigint not null
);

-- Logins of devices (in the spirit of RFC 8628).
--
--            a person approves                  the device asks (the key is made and handed over)
--   pending ───────────────────► approved ─────────────────────────────────────────────────────► redeemed
--      │
--      └───────────────────────► denied
--            a person denies
--
-- Pending and approved ones past expires_at_ms are expired: this follows from the row and is not written.
create table device_logins (
    device_code_sha256 text primary key,
    -- What people type; eight characters without the hyphen.
    user_code text not null,
    -- Names the key to be made.
    client_name text not null,
    state text not null check (state in ('pending', 'approved', 'denied', 'redeemed')),
    created_at_ms bigint not null,
    expires_at_ms bigint not null,
    -- Filled by the first poll, and by each that kept to the interval.
    polled_at_ms bigint,
    -- Filled when approved.
    account_id text references accounts (id),
    check ((state in ('approved', 'redeemed')) = (account_id is not null))
);
create unique index device_logins_by_user_code on device_logins (user_code);
create index device_logins_by_end on device_logins (expires_at_ms);
