import { describe, expect, it } from 'vitest'
import { reportKey } from '../../../../lib/configs/diff/report-key.ts'
import { normalForm } from '../../../../lib/configs/effective/normal-form.ts'

const report = (host: string, own: number, open = 4317) =>
  normalForm(`receivers:
  otlp: { protocols: { grpc: { endpoint: localhost:${open} } } }
processors:
  resource: { attributes: [{ key: host, value: ${host}, action: upsert }] }
extensions:
  health_check: { endpoint: 127.0.0.1:${own} }
service:
  telemetry:
    metrics:
      address: localhost:${own}
      readers: [{ pull: { exporter: { prometheus: { host: localhost, port: ${own} } } } }]
`)!.text
const key = (text: string, host: string) => reportKey(text, { 'identity/host.name': host })

describe('the key of a report', () => {
  it('is the same for two hosts that differ in their own names and ports', () => {
    expect(key(report('shop-1', 8888), 'shop-1')).toBe(key(report('shop-2', 9999), 'shop-2'))
  })

  it('is another where a name is not the host’s own, and where applications send to another port', () => {
    const usual = key(report('shop-1', 8888), 'shop-1')
    expect(key(report('shop-1', 8888), 'shop-2')).not.toBe(usual)
    expect(key(report('shop-1', 8888, 5317), 'shop-1')).not.toBe(usual)
  })
})
