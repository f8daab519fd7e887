import { expect, test } from 'vitest'
import { shownLabel } from '../../../../lib/fleet/views/shown-labels.ts'

const SECRET = 'Zq7vN2pX9sLkW3tY8uBd'

test.each([
  `/otelcol --config=yaml:exporters::otlp::headers::x-team: ${SECRET}`,
  `/otelcol --config=yaml:exporters::otlphttp::headers::Authorization: Api-Token ${SECRET}`,
  `/otelcol --config "yaml:{exporters: {otlp: {headers: {x-team: ${SECRET}}}}}"`,
  `java -Dotel.exporter.otlp.headers=x-team=${SECRET} -jar app.jar`,
  `java -Dotel.exporter.otlp.headers="Authorization=Splunk ${SECRET}"`,
  `mysqld --user=root -p${SECRET}`,
  `psql -U u -W ${SECRET}`,
  `redis-cli -a ${SECRET}`,
  `curl -u admin:${SECRET} http://x`,
  `sshpass -p ${SECRET} ssh x`,
  `["redis-cli", "-a", "${SECRET}"]`,
])('a command line is shown without its passwords: %s', (line) => {
  expect(shownLabel('process.command_line', line)).not.toContain(SECRET)
})

test('the rest of a command line stays as it is', () => {
  for (const line of [
    '/otelcol --config /etc/otel/config.yaml --feature-gates=a.b,-c.d',
    '/agent -path=/var/log/v1 -admin-addr 10.0.0.1:80 -print-config',
    'java -Xmx512m -Dservice.name=shop -jar app.jar',
  ])
    expect(shownLabel('process.command_line', line)).toBe(line)
  // Elsewhere a flag is a text like any other.
  expect(shownLabel('note', 'uses -p in /etc/defaults/x')).toBe('uses -p in /etc/defaults/x')
})

test('an environment variable that holds headers is masked whole', () => {
  for (const key of ['env.OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'])
    expect(shownLabel(key, `x-team=${SECRET}`)).not.toContain(SECRET)
})
