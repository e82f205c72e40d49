{{/* The names of all objects begin with it. */}}
{{- define "payments.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels that select the pods of a component: dict root, component. */}}
{{- define "payments.selector" -}}
app.kubernetes.io/name: payments
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Labels of an object: dict root, component. */}}
{{- define "payments.labels" -}}
{{ include "payments.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end -}}

{{/* The Deployments, as YAML: component → process (of src/main), and its values. */}}
{{- define "payments.components" -}}
{{- $components := dict "api" (dict "process" "api" "values" .Values.api) -}}
{{- if .Values.manage.enabled -}}
{{- $_ := set $components "manage" (dict "process" "manage" "values" .Values.manage) -}}
{{- end -}}
{{- range $name, $values := .Values.workers -}}
{{- if $values -}}
{{- $merged := mergeOverwrite (deepCopy $.Values.workerDefaults) $values -}}
{{- $_ := set $components (printf "worker-%s" $name) (dict "process" "worker" "values" $merged) -}}
{{- end -}}
{{- end -}}
{{- if .Values.codec.enabled -}}
{{- $_ := set $components "codec" (dict "process" "codec" "values" .Values.codec) -}}
{{- end -}}
{{- toYaml $components -}}
{{- end -}}

{{/* The name of the WorkerDeployment: that of the only worker. Fails where there are more, or where it is scaled. */}}
{{- define "payments.workerDeployment" -}}
{{- $workers := list -}}
{{- range $component, $it := include "payments.components" . | fromYaml -}}
{{- if eq $it.process "worker" -}}
{{- $workers = append $workers $component -}}
{{- if $it.values.autoscaling.enabled -}}
{{- fail "workerController: the worker cannot have autoscaling; scale it with a WorkerResourceTemplate" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if ne (len $workers) 1 -}}
{{- fail "workerController needs one worker, with all roles" -}}
{{- end -}}
{{ include "payments.name" . }}-{{ first $workers }}
{{- end -}}

{{/* The image: dict root, tag. */}}
{{- define "payments.image" -}}
{{- $image := .root.Values.image -}}
{{- if .tag -}}
{{ $image.repository }}:{{ .tag }}
{{- else if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* The port at which a process is reached, and the port of its health checks. */}}
{{- define "payments.port" -}}
{{- get (dict "api" 3000 "manage" 3002 "worker" 3003 "codec" 8234) . -}}
{{- end -}}

{{- define "payments.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "payments.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* The setting, or a failure that names it: dict root, name. */}}
{{- define "payments.required" -}}
{{- $_ := required (printf "settings.%s is required" .name) (get .root.Values.settings .name) -}}
{{- end -}}
