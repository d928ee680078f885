#!/usr/bin/env bash
# Backs up the database. Run by cron at 02:30 UTC.
set -eu

: "${PGSERVICE:?must name a service of pg_service.conf}"
: "${BACKUP_DIR:?must be set}"
: "${ALERT_URL:?must be set}"

KEEP_DAYS=7

alert() {
  curl --fail --silent --show-error --max-time 20 \
    --data-urlencode "text=$1" "$ALERT_URL" > /dev/null
}

trap 'alert "the backup of $(hostname) failed"' ERR

mkdir -p "$BACKUP_DIR"
target="$BACKUP_DIR/shop-$(date -u +%a).sql.gz"

pg_dump --format=plain | gzip > "$target"

find "$BACKUP_DIR" -name 'shop-*.sql.gz' -mtime "+$KEEP_DAYS" -delete

size=$(stat --format=%s "$target")
echo "$(date -u +%FT%TZ) wrote $target, $size bytes"
