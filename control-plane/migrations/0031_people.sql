-- Owner: accounts. Times are unix milliseconds.

-- Forms of our pages that were sent: the same form is done once, and answered alike for a minute.
create table form_answers (
    -- Digest of the browser's cookie and of what it sent.
    id text primary key,
    -- The whole answer, sealed with a key that is made of the cookie and of what was sent. Null while it is being done.
    answer text,
    expires_at_ms bigint not null
);
create index form_answers_by_end on form_answers (expires_at_ms);

-- What a device asked for may be less than what a key of a device may do: names separated by spaces. Null: all of it.
alter table device_logins add column scopes text;
