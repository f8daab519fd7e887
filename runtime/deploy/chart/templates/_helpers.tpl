{{- define "muster.name" -}}
{{- if contains "muster" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-muster" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "muster.selector" -}}
app.kubernetes.io/name: muster
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "muster.labels" -}}
{{ include "muster.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "muster.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{- define "muster.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "muster.name" .) }}
{{- end }}

{{- define "muster.replicas" -}}
{{- if kindIs "invalid" .Values.replicas }}{{ ternary 3 1 .Values.cluster.enabled }}{{ else }}{{ .Values.replicas }}{{ end }}
{{- end }}

{{- define "muster.members" -}}
{{ include "muster.name" . }}-members.{{ .Release.Namespace }}.svc
{{- end }}

{{- /* Every Ingress of this chart ends TLS, be it with the controller's own certificate. */}}
{{- define "muster.opampUrl" -}}
wss://{{ .Values.opamp.ingress.host }}
{{- end }}
