#!/bin/sh
# The container's first process: starts graphiti-pkm, hands a stop on to it, and stays until it has ended. The kernel keeps
# signals from a first process that does not handle them, so graphiti-pkm itself is not the first one.
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
exit "$code"
