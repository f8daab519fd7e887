import { describe, expect, it } from 'vitest'
import { KeptReport, splitReport, withoutConfig } from '../../../lib/links/kept-report.ts'
import { decodeBody } from '../../../lib/opamp/codec.ts'
import { agentBody, keyValues, type PlainMessage, uidBytes } from '../../support/opamp-messages.ts'

const CONFIG = {
  effectiveConfig: {
    configMap: { configMap: { '': { body: Buffer.from('a: secret'), contentType: 'text/yaml' } } },
  },
}
const describing = (name: string) => ({
  agentDescription: { identifyingAttributes: keyValues({ 'service.name': name }) },
})
const message = (sequenceNum: number, more: PlainMessage) =>
  agentBody({ instanceUid: uidBytes(3), sequenceNum, capabilities: 0x1807, ...more })

function reportOf(bytes: Uint8Array) {
  const intake = decodeBody(bytes)
  if (!intake.ok) throw new Error(intake.code)
  return intake.report
}

describe('what is kept of an agent', () => {
  it('says field by field what it said last, under the number that is asked for', () => {
    const kept = new KeptReport()
    kept.take(splitReport(message(1, { ...describing('one'), health: { healthy: true, status: 'first' } })))
    kept.take(splitReport(message(2, { health: { healthy: false, status: 'second' } })))
    kept.take(splitReport(message(3, describing('two'))))
    const report = reportOf(kept.message(300))
    expect(report).toMatchObject({
      uid: Buffer.from(uidBytes(3)).toString('hex'),
      sequenceNum: 300,
      capabilities: 0x1807,
    })
    expect(report.attributes?.get('service.name')).toBe('two')
    expect(report.health).toMatchObject({ healthy: false, status: 'second' })
  })

  it('keeps no health beyond 16 KiB and no config', () => {
    const kept = new KeptReport()
    const lastError = 'x'.repeat(20_000)
    kept.take(
      splitReport(message(1, { ...describing('one'), ...CONFIG, health: { healthy: false, lastError } })),
    )
    expect(kept.bytes).toBeLessThan(200)
    const report = reportOf(kept.message(1))
    expect(report.health).toBeNull()
    expect(report.effectiveConfig).toBeNull()
    expect(report.attributes?.get('service.name')).toBe('one')
  })

  it('is passed on without its config, and without its health where that makes it too long', () => {
    const full = message(5, {
      ...describing('one'),
      ...CONFIG,
      health: { healthy: true, status: 'y'.repeat(900) },
    })
    const passed = reportOf(withoutConfig(splitReport(full), 100_000))
    expect(passed.effectiveConfig).toBeNull()
    expect(passed.health).not.toBeNull()
    expect(passed.sequenceNum).toBe(5)
    expect(Buffer.from(withoutConfig(splitReport(full), 100_000)).includes('secret')).toBe(false)
    expect(reportOf(withoutConfig(splitReport(full), 500)).health).toBeNull()
  })

  it('is not made long by whoever describes itself at length: a link carries so much and no more', () => {
    const long = { agentDescription: { identifyingAttributes: keyValues({ a: 'z'.repeat(2_000_000) }) } }
    const fields = splitReport(message(1, { ...long, health: { healthy: true } }))
    const passed = withoutConfig(fields, 524_288)
    expect(passed.length).toBeLessThan(524_288)
    expect(reportOf(passed)).toMatchObject({ sequenceNum: 1, attributes: null })
    const kept = new KeptReport()
    kept.take(fields)
    expect(kept.bytes).toBeLessThan(200)
  })
})
