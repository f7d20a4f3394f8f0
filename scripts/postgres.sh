#!/usr/bin/env bash
# A throw-away PostgreSQL for tests, on a Unix socket and a free loopback port, run by an
# unprivileged user.
# usage: postgres.sh bindir            prints the folder of the server's programs
#        postgres.sh start FOLDER      starts one with its data in FOLDER, prints its URL
#        postgres.sh stop FOLDER
#        postgres.sh folder            prints the folder for throw-away data of tests: in memory
#                                      where there is enough, else /tmp
#        postgres.sh shared            prints the URL of one that stays up for all tests of this
#                                      user, and starts it if necessary; `stop shared` stops it
#        postgres.sh forget RUN        removes what tests with CYCLORAMA_TEST_RUN=RUN left on it
#        postgres.sh initialise DATA  an empty cluster in the folder DATA, for `on-address`
#        postgres.sh on-address start|stop|restart MODE DATA ADDRESS
#                                      a durable one that listens there on port 5432; MODE as
#                                      pg_ctl has it
set -euo pipefail

bindir() {
    local found
    found=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
    if [ -z "$found" ] && command -v initdb >/dev/null && command -v postgres >/dev/null; then
        found=$(dirname "$(readlink -f "$(command -v initdb)")")
    fi
    [ -x "$found/initdb" ] || return 1
    echo "$found"
}

make_user() {
    [ "$(id -u)" -ne 0 ] || id cyclorama-test >/dev/null 2>&1 || useradd --system --no-create-home --shell /bin/sh cyclorama-test
}

# initdb and postgres refuse to run as root.
unprivileged() {
    if [ "$(id -u)" -eq 0 ]; then
        make_user
        setpriv --reuid cyclorama-test --regid cyclorama-test --clear-groups "$@"
    else
        "$@"
    fi
}

# Each test has a separate database with three hundred files; on a disk they are a tenth of the cost
# of all tests.
folder() {
    local free_kib
    free_kib=$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)
    if [ -w /dev/shm ] && [ "${free_kib:-0}" -gt $((6 * 1024 * 1024)) ]; then echo /dev/shm; else echo /tmp; fi
}

# The path of its socket must be short, and the user that runs it for root must be able to reach it.
shared=/dev/shm/cyclorama-postgres-$(id -u)
[ -e "$shared" ] || shared=$(folder)/cyclorama-postgres-$(id -u)

case ${1:-} in
    bindir) bindir ;;
    folder) folder ;;
    start)
        folder=$2
        bin=$(bindir) || { echo "postgres: no PostgreSQL server programs found: apt-get install postgresql" >&2; exit 1; }
        mkdir -p "$folder"
        [ "$(id -u)" -ne 0 ] || { make_user; chown cyclorama-test "$folder"; chmod 700 "$folder"; }
        # Other users of the machine can reach the port, and the owner of a server can run programs
        # through it. md5 makes connections cheapest.
        password=$(od -An -N 16 -t x1 /dev/urandom | tr -d ' \n')
        (umask 077 && echo "$password" >"$folder/password")
        [ "$(id -u)" -ne 0 ] || chown cyclorama-test "$folder/password"
        cd /
        unprivileged "$bin/initdb" -D "$folder/data" -U cyclorama --auth=md5 --pwfile="$folder/password" -E UTF8 --locale=C \
            >"$folder.initdb.log" 2>&1 \
            || { echo "postgres: initdb failed: $(tail -n 1 "$folder.initdb.log")" >&2; exit 1; }
        for _ in 1 2 3 4 5; do
            port=$((20000 + RANDOM % 20000))
            # These tests do not need durability: they kill the service, never the database.
            if unprivileged "$bin/pg_ctl" -D "$folder/data" -w -t 60 -l "$folder/log" start \
                -o "-p $port -k $folder -c listen_addresses=127.0.0.1 -c max_connections=400 -c fsync=off -c synchronous_commit=off" >/dev/null 2>&1; then
                echo "postgres://cyclorama:$password@127.0.0.1:$port"
                exit 0
            fi
        done
        echo "postgres: the server did not start: $(tail -n 1 "$folder/log")" >&2
        exit 1
        ;;
    shared)
        bin=$(bindir) || { echo "postgres: no PostgreSQL server programs found: apt-get install postgresql" >&2; exit 1; }
        exec 9>"$shared.lock"
        flock 9
        url=
        # A file of another user names another user's server.
        [ ! -O "$shared.url" ] || url=$(cat "$shared.url")
        if [ -z "$url" ] || ! "$bin/pg_isready" --quiet --timeout 30 --dbname "$url"; then
            "$0" stop "$shared"
            rm -rf "$shared"
            # The server must not inherit the lock.
            url=$("$0" start "$shared" 9>&-)
            rm -f "$shared.url"
            (umask 077 && echo "$url" >"$shared.url")
        fi
        # Databases that a test has left, and the templates. A name ends with a UUID, which begins
        # with the milliseconds of its creation.
        "$bin/psql" --quiet --no-psqlrc "$url/postgres" >/dev/null 2>&1 <<'SQL' || true
select format('drop database if exists %I', datname) from pg_database
where datname ~ '^(test|template)_[0-9a-f]{32}(_[0-9a-z]+)?$'
  and split_part(datname, '_', 2) < lpad(to_hex((extract(epoch from now()) * 1000)::bigint
      - case when datname like 'test%' then 5 else 6 * 60 end * 60 * 1000), 12, '0') \gexec
SQL
        echo "$url"
        ;;
    forget)
        [ -O "$shared.url" ] || exit 0
        "$(bindir)/psql" --quiet --no-psqlrc --set run="$2" "$(cat "$shared.url")/postgres" >/dev/null 2>&1 <<'SQL' || true
select format('drop database if exists %I', datname) from pg_database
where datname ~ ('^(test|template)_[0-9a-f]{32}_' || :'run' || '$') \gexec
SQL
        ;;
    stop)
        [ "$2" != shared ] || set -- stop "$shared"
        cd /
        unprivileged "$(bindir)/pg_ctl" -D "$2/data" -m immediate stop >/dev/null 2>&1 || true
        ;;
    initialise)
        make_user
        [ "$(id -u)" -ne 0 ] || chown cyclorama-test "$2"
        cd /
        unprivileged "$(bindir)/initdb" -D "$2" -U cyclorama --auth=trust -E UTF8 --locale=C >/dev/null
        echo "host all cyclorama samenet trust" | unprivileged tee -a "$2/pg_hba.conf" >/dev/null
        ;;
    on-address)
        verb=$2 mode=$3 data=$4 address=$5
        cd /
        # Its output would keep a caller waiting that reads ours.
        unprivileged "$(bindir)/pg_ctl" -D "$data" -m "$mode" -w -t 60 -l "$data/log" "$verb" \
            -o "-p 5432 -k $data -c listen_addresses=$address -c max_connections=200" >/dev/null 2>&1
        ;;
    *) echo "postgres: the usage is at the top of $0" >&2; exit 2 ;;
esac
