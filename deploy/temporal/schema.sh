#!/bin/sh
# Makes Temporal's two databases and brings their schemas up to date. May run again at every start.
# SQL_PLUGIN, SQL_HOST, SQL_PORT, SQL_USER and SQL_PASSWORD say where; SQL_TOOL is the program, if it is not on PATH.
set -eu
tool=${SQL_TOOL:-temporal-sql-tool}
for part in temporal visibility; do
  database=temporal
  [ "$part" = temporal ] || database=temporal_visibility
  "$tool" --db "$database" create
  "$tool" --db "$database" setup-schema -v 0.0
  "$tool" --db "$database" update-schema --schema-name "postgresql/v12/$part"
done
