/** The ways to connect a collector that the console shows. */
export const WAYS = ['supervisor', 'kubernetes', 'windows', 'extension'] as const
export type Way = (typeof WAYS)[number]

/** Where a collector connects to, and what it shows to be let in. */
export interface Reached {
  url: string
  /** The secret to write down, `env` to read it from the environment there, null where none is needed. */
  credential: string | 'env' | null
}

const INDENT = '  '

/** A YAML scalar: as it is where that is safe, else quoted. */
const scalar = (text: string): string => (/^[\w:/.[\]-]+$/.test(text) ? text : JSON.stringify(text))

const indent = (text: string, by: number): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? line : INDENT.repeat(by) + line))
    .join('\n')

/** The header that lets an agent in. A `$` begins a reference to a variable, so that one of the secret is doubled. */
function headers(credential: Reached['credential']): string {
  if (credential === null) return ''
  const bearer =
    credential === 'env'
      ? `Bearer \${env:OPAMP_SHARED_SECRET}`
      : JSON.stringify(`Bearer ${credential.replaceAll('$', '$$$$')}`)
  return `\nheaders:\n  Authorization: ${bearer}`
}

const server = (to: Reached): string =>
  `server:\n${indent(`endpoint: ${scalar(to.url)}${headers(to.credential)}`, 1)}`

// The first two are off by default: without them nothing can be pushed, or no result is seen.
const CAPABILITIES = `capabilities:
  accepts_remote_config: true
  reports_remote_config: true
  reports_effective_config: true
  reports_available_components: true
  reports_health: true`

const supervisor = (to: Reached): string => `# supervisor.yaml, for: opampsupervisor --config supervisor.yaml
${server(to)}
${CAPABILITIES}
  reports_heartbeat: true
agent:
  executable: /usr/local/bin/otelcol
  config_apply_timeout: 5s
storage:
  directory: /var/lib/otelcol/supervisor
`

const kubernetesSupervisor = (to: Reached): string => `${server(to)}
${CAPABILITIES}
agent:
  executable: /usr/local/bin/otelcol
  description:
    non_identifying_attributes:
      k8s.cluster.name: my-cluster
      k8s.namespace.name: \${env:K8S_NAMESPACE}
      k8s.deployment.name: otel-gateway
      k8s.pod.name: \${env:K8S_POD_NAME}
storage:
  directory: /var/lib/otelcol/supervisor`

const secretOf = (credential: string): string => `apiVersion: v1
kind: Secret
metadata:
  name: otel-gateway-opamp
stringData:
  OPAMP_SHARED_SECRET: ${credential === 'env' ? '"<the value of OPAMP_SHARED_SECRET>"' : JSON.stringify(credential)}
---
`

const SECRET_VARIABLE = `
            - name: OPAMP_SHARED_SECRET
              valueFrom: { secretKeyRef: { name: otel-gateway-opamp, key: OPAMP_SHARED_SECRET } }`

const kubernetes = ({ url, credential }: Reached): string => `# kubectl apply -f otel-gateway.yaml
${credential === null ? '' : secretOf(credential)}apiVersion: v1
kind: ConfigMap
metadata:
  name: otel-gateway-supervisor
data:
  supervisor.yaml: |
${indent(kubernetesSupervisor({ url, credential: credential === null ? null : 'env' }), 2)}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: otel-gateway
spec:
  replicas: 2
  selector:
    matchLabels: { app: otel-gateway }
  template:
    metadata:
      labels: { app: otel-gateway }
    spec:
      containers:
        - name: collector
          image: registry.example.com/otelcol-with-supervisor # yours, with both programs
          args: [--config, /etc/supervisor/supervisor.yaml]
          env:
            - name: K8S_NAMESPACE
              valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
            - name: K8S_POD_NAME
              valueFrom: { fieldRef: { fieldPath: metadata.name } }${credential === null ? '' : SECRET_VARIABLE}
          volumeMounts:
            - { name: supervisor, mountPath: /etc/supervisor }
            - { name: state, mountPath: /var/lib/otelcol/supervisor }
      volumes:
        - { name: supervisor, configMap: { name: otel-gateway-supervisor } }
        - { name: state, emptyDir: {} }
`

const WINDOWS_FOLDER = 'C:\\Program Files\\OpenTelemetry Collector'
const WINDOWS_STATE = 'C:\\ProgramData\\opampsupervisor'

const windows = (to: Reached): string => `# ${WINDOWS_STATE}\\supervisor.yaml
# As a service, once, in PowerShell as an administrator:
#   New-Service -Name opampsupervisor -StartupType Automatic -BinaryPathName '"${WINDOWS_FOLDER}\\opampsupervisor.exe" --config "${WINDOWS_STATE}\\supervisor.yaml"'
#   Start-Service opampsupervisor
${server(to)}
${CAPABILITIES}
  reports_heartbeat: true
agent:
  executable: '${WINDOWS_FOLDER}\\otelcol.exe'
  config_apply_timeout: 5s
storage:
  directory: '${WINDOWS_STATE}\\state'
`

const extension = (to: Reached): string => `# In the collector's own config; the rest of it stays
extensions:
  opamp:
    server:
      ws:
${indent(`endpoint: ${scalar(to.url)}${headers(to.credential)}`, 4)}
service:
  extensions: [opamp]
`

const TEXTS: Readonly<Record<Way, (to: Reached) => string>> = { supervisor, kubernetes, windows, extension }

/** The file that connects a collector in this way. */
export const connectText = (way: Way, to: Reached): string => TEXTS[way](to)
