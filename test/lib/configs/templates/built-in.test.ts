import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { BUILT_IN_TEMPLATES, toBuiltInRecord } from '../../../../lib/configs/templates/built-in.ts'

/** What a user would put in for each placeholder. */
const FILLED: Record<string, string> = {
  DATADOG_API_KEY: 'abc',
  DATADOG_LOGS_ENDPOINT: 'https://http-intake.logs.example.com',
  DATADOG_METRICS_ENDPOINT: 'https://api.example.com',
  DATADOG_SITE: 'datadoghq.eu',
  DATADOG_TRACE_ENDPOINT: 'https://trace.example.com',
  ENVIRONMENT: 'staging',
  LOKI_BASIC_AUTH: 'Basic abc',
  LOKI_ENDPOINT: 'https://loki.example.com/otlp',
  MIMIR_REMOTE_WRITE_ENDPOINT: 'https://mimir.example.com/api/v1/push',
  NGINX_ACCESS_LOG_PATH: '/var/log/nginx/access.log',
  OTLP_AUTH_HEADER: 'Bearer abc',
  OTLP_EXPORT_ENDPOINT: 'otlp.example.com:4317',
  OTLP_HTTP_RECEIVER_ENDPOINT: '0.0.0.0:4318',
  OTLP_RECEIVER_ENDPOINT: '0.0.0.0:4317',
  POSTGRESQL_ENDPOINT: 'db.example.com:5432',
  POSTGRESQL_PASSWORD: 'abc',
  POSTGRESQL_USERNAME: 'monitor',
  PROMETHEUS_REMOTE_WRITE_ENDPOINT: 'https://prometheus.example.com/api/v1/write',
  REDIS_ENDPOINT: 'redis.example.com:6379',
  REDIS_PASSWORD: 'abc',
  RESOURCE_NAMESPACE: 'shop',
  TEMPO_ENDPOINT: 'tempo.example.com:4317',
  TLS_INSECURE: 'false',
}

const placeholders = (text: string) =>
  new Set([...text.matchAll(/\$\{([A-Z_]+)\}/g)].map((match) => match[1]!))

describe('the built-in templates', () => {
  it('are nine, with the ids, categories and stacks that clients know', () => {
    expect(BUILT_IN_TEMPLATES.map(({ id, category, stack }) => [id, category, stack])).toEqual([
      ['tpl-k8s-otlp-grafana', 'kubernetes', 'grafana'],
      ['tpl-k8s-otlp-datadog', 'kubernetes', 'datadog'],
      ['tpl-logs-loki', 'logs', 'loki'],
      ['tpl-traces-tempo', 'traces', 'tempo'],
      ['tpl-metrics-prometheus-remote', 'metrics', 'prometheus'],
      ['tpl-jvm-services', 'services', 'jvm'],
      ['tpl-nginx', 'services', 'nginx'],
      ['tpl-postgresql', 'databases', 'postgresql'],
      ['tpl-redis', 'databases', 'redis'],
    ])
  })

  it.each(BUILT_IN_TEMPLATES)(
    '$id asks only for known placeholders and uses everything it defines',
    (template) => {
      for (const name of placeholders(template.content)) expect(FILLED, name).toHaveProperty(name)
      const filled = template.content.replace(/\$\{([A-Z_]+)\}/g, (_, name: string) => FILLED[name]!)
      const config = parse(filled) as Record<string, Record<string, unknown>>
      const pipelines = Object.values(
        config['service']!['pipelines'] as Record<string, Record<string, string[]>>,
      )
      for (const section of ['receivers', 'processors', 'exporters']) {
        const used = new Set(pipelines.flatMap((pipeline) => pipeline[section]!))
        expect(new Set(Object.keys(config[section]!)), section).toEqual(used)
      }
      for (const pipeline of pipelines)
        expect(pipeline['processors']).toEqual(['memory_limiter', 'resource', 'batch'])
    },
  )

  it('hold their secrets as placeholders only', () => {
    for (const { content } of BUILT_IN_TEMPLATES) {
      for (const line of content.split('\n')) {
        if (/^\s*(key|password|username|Authorization): /.test(line) && !/key: [a-z.]+$/.test(line)) {
          expect(line).toMatch(/: \$\{[A-Z_]+\}$/)
        }
      }
    }
    const datadog = BUILT_IN_TEMPLATES.find((template) => template.id === 'tpl-k8s-otlp-datadog')
    expect(datadog?.content).toContain('${DATADOG_API_KEY}')
  })

  it('become records with five variables, with their content only when it is asked for', () => {
    const template = BUILT_IN_TEMPLATES[0]!
    const listed = toBuiltInRecord(template, false)
    expect(listed).toMatchObject({ kind: 'template', status: 'ready', built_in: true, created_by: 'muster' })
    expect(listed).not.toHaveProperty('content')
    expect(listed.variables!.map(({ name, type, required }) => [name, type, required])).toEqual([
      ['endpoint', 'string', true],
      ['headers', 'map', false],
      ['environment', 'string', true],
      ['resource_attributes', 'map', false],
      ['tls', 'object', false],
    ])
    for (const variable of listed.variables!)
      expect(variable.description && variable.placeholder).toBeTruthy()
    expect(toBuiltInRecord(template, true).content).toBe(template.content)
  })
})
