import type { TemplateRecord, TemplateVariable } from '../../wire/templates.ts'

/** A template that comes with the service: always there, never stored, never changed. */
export interface BuiltInTemplate {
  id: string
  name: string
  category: string
  stack: string
  description: string
  tags: readonly string[]
  content: string
}

/** What one starter config has of its own; `compose` adds the rest. */
interface Parts {
  /** Blocks of the `receivers` section, two spaces in. */
  receivers: readonly string[]
  exporters: readonly string[]
  /** Attributes beside `deployment.environment`, key to value. */
  attributes: readonly (readonly [string, string])[]
  /** Signal, receiver ids, exporter id. */
  pipelines: readonly (readonly [string, readonly string[], string])[]
}

const OTLP_RECEIVER = `  otlp:
    protocols:
      grpc:
        endpoint: \${OTLP_RECEIVER_ENDPOINT}
      http:
        endpoint: \${OTLP_HTTP_RECEIVER_ENDPOINT}`

const NGINX_RECEIVER = `  filelog/nginx:
    include:
      - \${NGINX_ACCESS_LOG_PATH}
    start_at: end`

const POSTGRESQL_RECEIVER = `  postgresql:
    endpoint: \${POSTGRESQL_ENDPOINT}
    username: \${POSTGRESQL_USERNAME}
    password: \${POSTGRESQL_PASSWORD}
    collection_interval: 60s
    tls:
      insecure: \${TLS_INSECURE}`

const REDIS_RECEIVER = `  redis:
    endpoint: \${REDIS_ENDPOINT}
    password: \${REDIS_PASSWORD}
    collection_interval: 60s
    tls:
      insecure: \${TLS_INSECURE}`

/** An exporter with an endpoint, an `Authorization` header and the TLS switch. */
const exporter = (id: string, endpoint: string, authorization: string): string => `  ${id}:
    endpoint: \${${endpoint}}
    headers:
      Authorization: \${${authorization}}
    tls:
      insecure: \${TLS_INSECURE}`

const OTLP_EXPORTER = exporter('otlp', 'OTLP_EXPORT_ENDPOINT', 'OTLP_AUTH_HEADER')
const TEMPO_EXPORTER = exporter('otlp/tempo', 'TEMPO_ENDPOINT', 'OTLP_AUTH_HEADER')
// Loki takes OTLP itself since version 3, and collectors no longer ship the exporter named after it.
const LOKI_EXPORTER = exporter('otlphttp/loki', 'LOKI_ENDPOINT', 'LOKI_BASIC_AUTH')
const MIMIR_EXPORTER = exporter(
  'prometheusremotewrite/mimir',
  'MIMIR_REMOTE_WRITE_ENDPOINT',
  'OTLP_AUTH_HEADER',
)
const PROMETHEUS_EXPORTER = exporter(
  'prometheusremotewrite',
  'PROMETHEUS_REMOTE_WRITE_ENDPOINT',
  'OTLP_AUTH_HEADER',
)

const DATADOG_EXPORTER = `  datadog:
    api:
      site: \${DATADOG_SITE}
      key: \${DATADOG_API_KEY}
    traces:
      endpoint: \${DATADOG_TRACE_ENDPOINT}
    metrics:
      endpoint: \${DATADOG_METRICS_ENDPOINT}
    logs:
      endpoint: \${DATADOG_LOGS_ENDPOINT}`

const NAMESPACE = ['service.namespace', '${RESOURCE_NAMESPACE}'] as const

const attribute = ([key, value]: readonly [string, string]): string => `      - key: ${key}
        value: ${value}
        action: upsert`

/** The whole text; memory_limiter and batch are what the production policy asks for. */
function compose({ receivers, exporters, attributes, pipelines }: Parts): string {
  const all = [['deployment.environment', '${ENVIRONMENT}'] as const, ...attributes]
  const lines = [
    'receivers:',
    ...receivers,
    'processors:',
    '  memory_limiter:',
    '    check_interval: 1s',
    '    limit_percentage: 80',
    '    spike_limit_percentage: 20',
    '  resource:',
    '    attributes:',
    ...all.map(attribute),
    '  batch: {}',
    'exporters:',
    ...exporters,
    'service:',
    '  pipelines:',
    ...pipelines.map(
      ([signal, from, to]) => `    ${signal}:
      receivers: [${from.join(', ')}]
      processors: [memory_limiter, resource, batch]
      exporters: [${to}]`,
    ),
  ]
  return `${lines.join('\n')}\n`
}

/** The starter templates, in the order in which they are listed. */
export const BUILT_IN_TEMPLATES: readonly BuiltInTemplate[] = [
  {
    id: 'tpl-k8s-otlp-grafana',
    name: 'Kubernetes OTLP to Grafana Tempo/Loki/Mimir',
    category: 'kubernetes',
    stack: 'grafana',
    description: 'OTLP from workloads in Kubernetes: traces to Tempo, logs to Loki, metrics to Mimir.',
    tags: ['kubernetes', 'otlp', 'grafana', 'tempo', 'loki', 'mimir'],
    content: compose({
      receivers: [OTLP_RECEIVER],
      exporters: [TEMPO_EXPORTER, LOKI_EXPORTER, MIMIR_EXPORTER],
      attributes: [NAMESPACE],
      pipelines: [
        ['traces', ['otlp'], 'otlp/tempo'],
        ['logs', ['otlp'], 'otlphttp/loki'],
        ['metrics', ['otlp'], 'prometheusremotewrite/mimir'],
      ],
    }),
  },
  {
    id: 'tpl-k8s-otlp-datadog',
    name: 'Kubernetes OTLP to Datadog',
    category: 'kubernetes',
    stack: 'datadog',
    description: 'OTLP from workloads in Kubernetes: traces, metrics and logs to Datadog.',
    tags: ['kubernetes', 'otlp', 'datadog'],
    content: compose({
      receivers: [OTLP_RECEIVER],
      exporters: [DATADOG_EXPORTER],
      attributes: [NAMESPACE],
      pipelines: [
        ['traces', ['otlp'], 'datadog'],
        ['metrics', ['otlp'], 'datadog'],
        ['logs', ['otlp'], 'datadog'],
      ],
    }),
  },
  {
    id: 'tpl-logs-loki',
    name: 'Logs to Loki',
    category: 'logs',
    stack: 'loki',
    description: 'Logs received over OTLP, sent to Loki.',
    tags: ['logs', 'loki', 'otlp'],
    content: compose({
      receivers: [OTLP_RECEIVER],
      exporters: [LOKI_EXPORTER],
      attributes: [NAMESPACE],
      pipelines: [['logs', ['otlp'], 'otlphttp/loki']],
    }),
  },
  {
    id: 'tpl-traces-tempo',
    name: 'Traces to Tempo',
    category: 'traces',
    stack: 'tempo',
    description: 'Traces received over OTLP, sent to Tempo.',
    tags: ['traces', 'tempo', 'otlp'],
    content: compose({
      receivers: [OTLP_RECEIVER],
      exporters: [TEMPO_EXPORTER],
      attributes: [NAMESPACE],
      pipelines: [['traces', ['otlp'], 'otlp/tempo']],
    }),
  },
  {
    id: 'tpl-metrics-prometheus-remote',
    name: 'Metrics to Prometheus remote write',
    category: 'metrics',
    stack: 'prometheus',
    description: 'Metrics received over OTLP, written to a Prometheus remote-write endpoint.',
    tags: ['metrics', 'prometheus', 'remote-write', 'otlp'],
    content: compose({
      receivers: [OTLP_RECEIVER],
      exporters: [PROMETHEUS_EXPORTER],
      attributes: [NAMESPACE],
      pipelines: [['metrics', ['otlp'], 'prometheusremotewrite']],
    }),
  },
  {
    id: 'tpl-jvm-services',
    name: 'JVM services',
    category: 'services',
    stack: 'jvm',
    description: 'Traces, metrics and logs of JVM services, received and sent over OTLP.',
    tags: ['jvm', 'java', 'services', 'otlp'],
    content: compose({
      receivers: [OTLP_RECEIVER],
      exporters: [OTLP_EXPORTER],
      attributes: [NAMESPACE, ['telemetry.sdk.language', 'java']],
      pipelines: [
        ['traces', ['otlp'], 'otlp'],
        ['metrics', ['otlp'], 'otlp'],
        ['logs', ['otlp'], 'otlp'],
      ],
    }),
  },
  {
    id: 'tpl-nginx',
    name: 'NGINX',
    category: 'services',
    stack: 'nginx',
    description: 'The access log of NGINX and the metrics it sends over OTLP.',
    tags: ['nginx', 'logs', 'metrics'],
    content: compose({
      receivers: [NGINX_RECEIVER, OTLP_RECEIVER],
      exporters: [OTLP_EXPORTER],
      attributes: [['service.name', 'nginx']],
      pipelines: [
        ['logs', ['filelog/nginx'], 'otlp'],
        ['metrics', ['otlp'], 'otlp'],
      ],
    }),
  },
  {
    id: 'tpl-postgresql',
    name: 'PostgreSQL',
    category: 'databases',
    stack: 'postgresql',
    description: 'Metrics of a PostgreSQL server and what comes in over OTLP.',
    tags: ['postgresql', 'database', 'metrics'],
    content: compose({
      receivers: [POSTGRESQL_RECEIVER, OTLP_RECEIVER],
      exporters: [OTLP_EXPORTER],
      attributes: [NAMESPACE],
      pipelines: [['metrics', ['postgresql', 'otlp'], 'otlp']],
    }),
  },
  {
    id: 'tpl-redis',
    name: 'Redis',
    category: 'databases',
    stack: 'redis',
    description: 'Metrics of a Redis server and what comes in over OTLP.',
    tags: ['redis', 'database', 'metrics'],
    content: compose({
      receivers: [REDIS_RECEIVER, OTLP_RECEIVER],
      exporters: [OTLP_EXPORTER],
      attributes: [NAMESPACE],
      pipelines: [['metrics', ['redis', 'otlp'], 'otlp']],
    }),
  },
]

/** What the author of a config from a built-in template has to decide. */
const VARIABLES: readonly TemplateVariable[] = [
  {
    name: 'endpoint',
    label: 'Endpoint',
    type: 'string',
    required: true,
    description: 'Where the telemetry is sent, as host and port or as a URL.',
    placeholder: 'otlp.example.com:4317',
  },
  {
    name: 'headers',
    label: 'Headers',
    type: 'map',
    required: false,
    description: 'Request headers of the exporter, such as its authorization. Keep the secret in a variable.',
    placeholder: 'Authorization: ${OTLP_AUTH_HEADER}',
  },
  {
    name: 'environment',
    label: 'Environment',
    type: 'string',
    required: true,
    description: 'The value of deployment.environment on everything that passes.',
    placeholder: 'staging',
  },
  {
    name: 'resource_attributes',
    label: 'Resource attributes',
    type: 'map',
    required: false,
    description: 'Further attributes of the resource, such as service.namespace.',
    placeholder: 'service.namespace: checkout',
  },
  {
    name: 'tls',
    label: 'TLS',
    type: 'object',
    required: false,
    description: 'TLS settings of the exporter; insecure is for local tests.',
    placeholder: 'insecure: false',
  },
]

/** When the built-in library was made; the same for all, so that lists stay the same. */
const CREATED_AT = '2026-01-01T00:00:00.000Z'

/** A built-in template as the API's record; lists leave out the content. */
export function toBuiltInRecord(template: BuiltInTemplate, withContent: boolean): TemplateRecord {
  return {
    id: template.id,
    name: template.name,
    ...(withContent ? { content: template.content } : {}),
    created_at: CREATED_AT,
    created_by: 'muster',
    kind: 'template',
    status: 'ready',
    category: template.category,
    stack: template.stack,
    description: template.description,
    variables: [...VARIABLES],
    tags: [...template.tags],
    built_in: true,
  }
}
