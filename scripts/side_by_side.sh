# Sourced by check.sh and test.sh.

say() { echo "$(basename "$0" .sh): $(date +%H:%M:%S) $*"; }

# Ends everything that side_by_side has started, with all child processes: for the caller's EXIT
# trap.
end_parts() {
    local part
    for part in $(jobs -p); do
        kill -TERM -- "-$part" 2>/dev/null || true
    done
}

# Runs functions side by side, with their output in files NAME.log of a folder, which are shown as
# each ends. Fails if one of them has failed.
# usage: side_by_side FOLDER FUNCTION...
side_by_side() {
    local folder=$1 part ended status
    local -A parts=()
    local -a failed=()
    shift
    for part in "$@"; do
        say "$part begins"
        # In a separate process group, which end_parts ends as a whole.
        set -m
        (set -e; "$part") </dev/null >"$folder/$part.log" 2>&1 &
        set +m
        parts[$!]=$part
    done
    while [ ${#parts[@]} -gt 0 ]; do
        status=0
        wait -n -p ended "${!parts[@]}" || status=$?
        part=${parts[$ended]}
        unset "parts[$ended]"
        cat "$folder/$part.log"
        say "$part ended with $status"
        [ "$status" -eq 0 ] || failed+=("$part")
    done
    [ ${#failed[@]} -eq 0 ] || { echo "$(basename "$0" .sh): failed: ${failed[*]}" >&2; return 1; }
}
