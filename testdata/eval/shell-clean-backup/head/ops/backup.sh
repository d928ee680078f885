#!/usr/bin/env bash
# Backs up the database. Run by cron at 02:30 UTC, whose mail tells what fails.
set -euo pipefail

: "${PGSERVICE:?must name a service of pg_service.conf}"
: "${BACKUP_DIR:?must be set}"

KEEP_DAYS=7

umask 077
mkdir -p -- "$BACKUP_DIR"
target="$BACKUP_DIR/shop-$(date -u +%F).dump"
part=$(mktemp -- "$BACKUP_DIR/.part-XXXXXX")
trap 'rm -f -- "$part"' EXIT

pg_dump --format=custom --file="$part"
pg_restore --list "$part" > /dev/null # it can be read
mv -- "$part" "$target"

# Only after today's is there.
find "$BACKUP_DIR" -maxdepth 1 -type f -name 'shop-*.dump' -mtime "+$KEEP_DAYS" -delete

echo "$(date -u +%FT%TZ) wrote $target, $(stat --format=%s -- "$target") bytes"
