#!/bin/sh
# Makes the namespace (closed workflows stay visible for TEMPORAL_RETENTION, 30 days) and what operators search by:
# workflows/search-attributes.ts. May run again at every start. TEMPORAL_ADDRESS says where; TEMPORAL_CLI is the program, if it is not on
# PATH.
set -eu
namespace=${TEMPORAL_NAMESPACE:-payments}
retention=${TEMPORAL_RETENTION:-720h}
cli() {
  "${TEMPORAL_CLI:-temporal}" "$@" --address "$TEMPORAL_ADDRESS" --disable-config-file --disable-config-env
}
# A new namespace is known everywhere only after some seconds, a new server answers after some.
patiently() {
  for _ in $(seq 60); do
    "$@" && return
    sleep 1
  done
  "$@"
}
patiently cli operator cluster health
cli operator namespace describe --namespace "$namespace" >/dev/null 2>&1 ||
  patiently cli operator namespace create --namespace "$namespace" --retention "$retention"
patiently cli operator namespace update --namespace "$namespace" --retention "$retention"
for name in Attention OrderStatus PaymentLinkStatus ProjectId RelatedOrderId; do
  set -- "$@" --name "$name" --type Keyword
done
# Those that exist stay.
patiently cli operator search-attribute create --namespace "$namespace" "$@"
# Workflows may use them now.
patiently cli workflow count --namespace "$namespace" --query 'Attention is not null'
