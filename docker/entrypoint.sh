#!/bin/sh
# The container's first process: starts graphiti-pkm, hands a stop on to it, and stays until the database has stopped too.
# When the first process ends, the kernel kills all others: the database would not have saved what it needs for a quick start.
set -u

# A shell's background job would read from /dev/null; stdio needs the container's stdin.
exec 3<&0
graphiti-pkm "$@" <&3 3<&- &
child=$!
exec 3<&-

# Background jobs of a shell ignore SIGINT, so every way to stop becomes SIGTERM.
trap 'kill -TERM "$child" 2>/dev/null' TERM INT HUP
wait "$child"
code=$?
while kill -0 "$child" 2>/dev/null; do # a signal ended the wait, not the child
  wait "$child"
  code=$?
done

# The database holds this lock and stops `idle_seconds` after its last client.
lock="${GRAPHITI_PKM_DATA_DIR:-/data}/owner.lock"
if [ -e "$lock" ]; then
  flock --shared --wait 30 "$lock" true || echo "the database did not stop in time; nothing is lost" >&2
fi
exit "$code"
