import { describe, expect, it } from 'vitest'
import { listDestinations } from '../../../lib/configs/diff/destinations.ts'
import { diffConfigs } from '../../../lib/configs/diff/diff.ts'
import { runConfigJob } from '../../../lib/configs/jobs.ts'
import { outlineConfig } from '../../../lib/configs/outline.ts'
import { parseConfig } from '../../../lib/configs/yaml/parse.ts'

// What is told of a config crosses to the main thread and is kept there: a short text must not make much of it.

const lengthOf = (told: unknown) => JSON.stringify(told).length

describe('of a config that says long names again and again', () => {
  it('its outline stays short', () => {
    const list = `[${'a,'.repeat(5_000)}a]`
    for (const name of ['x'.repeat(10_000), 'x'.repeat(1_000)]) {
      const told = outlineConfig(
        `receivers: {a: }\nservice: {pipelines: {traces/${name}: {receivers: ${list}, exporters: [a]}}}`,
      )
      expect(told.defined).toEqual([{ category: 'receivers', type: 'a' }])
      expect(lengthOf(told)).toBeLessThan(3_000_000)
    }
  })

  it('where it sends data stays short', () => {
    const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
    const hosts = numbers(100).map((n) => `h${n}:1`)
    const exporters = numbers(300).map((n) => `  kafka/${'x'.repeat(900)}${n}: *s`)
    const ids = exporters.map((line) => line.trim().split(':')[0])
    const pipelines = numbers(50).map((n) => `    s${n}${'y'.repeat(2_000)}: *p`)
    const text = [
      `x: &s {brokers: ["${hosts.join('", "')}"]}`,
      'exporters:',
      ...exporters,
      `  ${'z'.repeat(5_000)}: *s`,
      'service:',
      '  pipelines:',
      `    traces: &p {receivers: [otlp], exporters: [${ids.join(', ')}, ${'z'.repeat(5_000)}]}`,
      ...pipelines,
    ].join('\n')
    const parsed = parseConfig(text)
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problem))
    const told = listDestinations(parsed.document.root)
    expect(told).toHaveLength(64)
    expect(told[0]).toMatchObject({ address: 'h0:1', exporterType: 'kafka', signals: ['traces'] })
    expect(lengthOf(told)).toBeLessThan(1_200_000)
    expect(runConfigJob({ kind: 'destinations', text })).toEqual(told)
  })

  it('no diff says which pipelines a change touches', () => {
    const exporters = (port: number) =>
      Array.from({ length: 1_000 }, (_, n) => `debug/${n}: {endpoint: "h:${port}"}`).join(', ')
    const ids = Array.from({ length: 1_000 }, (_, n) => `debug/${n}`).join(', ')
    const text = (port: number) =>
      `exporters: {${exporters(port)}}\nservice:\n  pipelines:\n    traces/${'x'.repeat(10_000)}: {exporters: [${ids}]}\n`
    const diff = () => diffConfigs({ baseText: text(1), targetText: text(2), workload: null, peers: [] })
    expect(diff).toThrow('too many')
  })
})
