{{/* A variable from the Secret of the processes: dict root, name, optional. */}}
{{- define "payments.secretVariable" -}}
- name: {{ .name }}
  valueFrom: { secretKeyRef: { name: {{ .root.Values.secrets.name }}, key: {{ .name }}{{ if .optional }}, optional: true{{ end }} } }
{{ end -}}

{{/*
The variables of a process beside those of the ConfigMap: dict root, process, values, versioned. `versioned`: the Worker
Controller adds those with which it signs in to Temporal itself.
*/}}
{{- define "payments.environment" -}}
{{- $root := .root -}}
{{- $secrets := dict
  "api" (list "POSTGRES_URL" "PAYLOAD_KEYS" "SECRET_KEYS" "MEILISEARCH_KEY" "PROCESSOR_KEY" "PROCESSOR_NOTIFICATION_SECRET" "PAGE_SECRET")
  "manage" (list "POSTGRES_URL" "PAYLOAD_KEYS" "SECRET_KEYS")
  "worker" (list "POSTGRES_URL" "PAYLOAD_KEYS" "SECRET_KEYS" "MEILISEARCH_KEY" "PROCESSOR_KEY" "PROCESSOR_NOTIFICATION_SECRET")
  "codec" (list "POSTGRES_URL" "PAYLOAD_KEYS")
-}}
{{- $optional := dict
  "api" (list "TEMPORAL_API_KEY" "OTEL_EXPORTER_OTLP_HEADERS")
  "manage" (list "TEMPORAL_API_KEY" "OTEL_EXPORTER_OTLP_HEADERS")
  "worker" (list "TEMPORAL_API_KEY" "OTEL_EXPORTER_OTLP_HEADERS" "OPERATOR_WEBHOOK_SECRET")
  "codec" list
-}}
{{- range get $secrets .process }}
{{- include "payments.secretVariable" (dict "root" $root "name" .) }}
{{- end }}
{{- range get $optional .process }}
{{- if not (and $.versioned $root.Values.workerController.apiKey (eq . "TEMPORAL_API_KEY")) }}
{{- include "payments.secretVariable" (dict "root" $root "name" . "optional" true) }}
{{- end }}
{{- end }}
{{- if eq .process "codec" }}
{{- include "payments.required" (dict "root" $root "name" "TEMPORAL_UI_URL") }}
- name: CODEC_HOST
  value: 0.0.0.0
- name: CODEC_PORT
  value: {{ include "payments.port" .process | quote }}
# For the audit trail.
- name: POSTGRES_CONNECTIONS_MAX
  value: "3"
{{- else }}
{{- include "payments.required" (dict "root" $root "name" "TEMPORAL_ADDRESS") }}
- name: METRICS_HOST
  value: 0.0.0.0
- name: METRICS_PORT
  value: "9464"
{{- if $root.Values.temporalTls.secretName }}
{{- if not .versioned }}
- name: TEMPORAL_TLS_CLIENT_CERT_PATH
  value: /run/temporal-tls/tls.crt
- name: TEMPORAL_TLS_CLIENT_KEY_PATH
  value: /run/temporal-tls/tls.key
{{- end }}
{{- if $root.Values.temporalTls.serverCa }}
- name: TEMPORAL_TLS_SERVER_CA_CERT_PATH
  value: /run/temporal-tls/ca.crt
{{- end }}
{{- end }}
{{- end }}
{{- if or (eq .process "api") (eq .process "worker") }}
{{- range list "PUBLIC_URL" "PROCESSOR_URL" "MEILISEARCH_URL" }}
{{- include "payments.required" (dict "root" $root "name" .) }}
{{- end }}
{{- end }}
{{- if eq .process "api" }}
- name: API_HOST
  value: 0.0.0.0
- name: API_PORT
  value: {{ include "payments.port" .process | quote }}
{{- end }}
{{- if eq .process "manage" }}
{{- include "payments.required" (dict "root" $root "name" "MANAGE_PUBLIC_URL") }}
- name: MANAGE_HOST
  value: 0.0.0.0
- name: MANAGE_PORT
  value: {{ include "payments.port" .process | quote }}
{{- end }}
{{- if eq .process "worker" }}
- name: WORKER_ROLES
  value: {{ required "each worker needs roles" .values.roles | join "," | quote }}
- name: WORKER_HEALTH_HOST
  value: 0.0.0.0
- name: WORKER_HEALTH_PORT
  value: {{ include "payments.port" .process | quote }}
{{- end }}
{{- if or (eq .process "api") (eq .process "manage") }}
{{- if .values.tlsSecretName }}
- name: TLS_CERT_FILE
  value: /run/tls/tls.crt
- name: TLS_KEY_FILE
  value: /run/tls/tls.key
{{- else }}
{{- $_ := required (printf "%s.tlsSecretName or settings.TRUSTED_PROXY is required" .process) (get $root.Values.settings "TRUSTED_PROXY") }}
{{- end }}
{{- end }}
{{- end -}}
