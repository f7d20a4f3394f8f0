-- Owner: catalog. One reload for all processes of a farm.

-- How often an operator has asked for the release to be read again. A process that finds a higher number than it has seen does so.
create table catalog_reload (
    id bigint primary key check (id = 1),
    number bigint not null
);

-- Which release each process answers from, and at which number it has last read its file. Rows of processes that are gone (see
-- `processes`) count for nothing.
create table catalog_holders (
    process_id text primary key,
    host text not null,
    number bigint not null,
    sha256 text not null,
    -- Why the file was not good the last time; then the release before it answers.
    refused text
);
