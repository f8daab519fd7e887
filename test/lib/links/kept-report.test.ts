import { describe, expect, it, vi } from 'vitest'
import { goodbyeOf, KeptReport, splitReport, withoutConfig } from '../../../lib/links/kept-report.ts'
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

  it('keeps of a health beyond 16 KiB what the agent says of itself as a whole, and says that it lacks something', () => {
    const kept = new KeptReport()
    const lastError = `é${'x'.repeat(20_000)}`
    const components = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [
        `exporter:otlp/a-component-of-a-long-name-${i}`,
        { healthy: false },
      ]),
    )
    kept.take(splitReport(message(1, { ...describing('one'), health: { healthy: true } })))
    expect(kept.isLacking).toBe(false)
    const health = { healthy: false, status: 'StatusFatalError', lastError, componentHealthMap: components }
    kept.take(splitReport(message(2, { ...CONFIG, health })))
    const report = reportOf(kept.message(2))
    expect(report.health).toMatchObject({ healthy: false, status: 'StatusFatalError' })
    expect(lastError.startsWith(report.health!.lastError)).toBe(true)
    expect(report.health!.lastError.length).toBeGreaterThan(1_000)
    expect(kept.bytes).toBeLessThan(1_400)
    expect(kept.isLacking).toBe(true)
    kept.take(splitReport(message(3, { health: { healthy: true } })))
    expect(kept.isLacking).toBe(false)
  })

  it('keeps of a long health its components without their errors, where there is room', () => {
    const kept = new KeptReport()
    const node = {
      healthy: false,
      status: 'StatusRecoverableError',
      lastError: 'x'.repeat(2_000),
      startTimeUnixNano: 5_000_000,
    }
    const inner = { 'exporter:otlp': { ...node, statusTimeUnixNano: 7_000_000 } }
    const componentHealthMap = Object.fromEntries(
      Array.from({ length: 10 }, (_, i) => [`pipeline:${i}`, { ...node, componentHealthMap: inner }]),
    )
    kept.take(splitReport(message(1, { health: { ...node, componentHealthMap } })))
    const { children, ...top } = reportOf(kept.message(1)).health!
    expect(top).toMatchObject({ healthy: false, startTimeMs: 5, lastError: 'x'.repeat(1_024) })
    expect(children.size).toBe(10)
    const pipeline = children.get('pipeline:3')!
    expect(pipeline).toMatchObject({ status: 'StatusRecoverableError', lastError: '', startTimeMs: 5 })
    expect(pipeline.children.get('exporter:otlp')).toMatchObject({ healthy: false, statusTimeMs: 7 })
  })

  it('keeps hash and status of a config whose text is long, and no former ones', () => {
    const kept = new KeptReport()
    const hash = Buffer.alloc(32, 7)
    kept.take(splitReport(message(1, { remoteConfigStatus: { lastRemoteConfigHash: hash, status: 2 } })))
    const failed = { lastRemoteConfigHash: hash, status: 3, errorMessage: 'y'.repeat(400_000) }
    kept.take(splitReport(message(2, { remoteConfigStatus: failed })))
    expect(kept.bytes).toBeLessThan(17_000)
    expect(reportOf(kept.message(2)).remoteConfigStatus).toEqual({
      hash: hash.toString('hex'),
      status: 'failed',
      errorMessage: 'y'.repeat(16_384),
    })
    expect(kept.isLacking).toBe(false)
    const goodbye = reportOf(
      goodbyeOf(splitReport(message(3, { remoteConfigStatus: failed, agentDisconnect: {} }))),
    )
    expect(goodbye).toMatchObject({ isDisconnect: true, remoteConfigStatus: { status: 'failed' } })
  })

  it('forgets what was too long or what a former process said, and does not say the one from before', () => {
    const kept = new KeptReport()
    kept.take(splitReport(message(1, { ...describing('one'), health: { healthy: true } })))
    kept.take(splitReport(message(2, describing('z'.repeat(40_000)))))
    expect(reportOf(kept.message(2))).toMatchObject({ attributes: null, health: { healthy: true } })
    kept.take(splitReport(message(1, describing('two'))), { isStart: true })
    expect(reportOf(kept.message(1))).toMatchObject({ health: null, capabilities: 0x1807 })
  })

  it('reads no more of a health than was read when it came, however it is made', () => {
    const kept = new KeptReport()
    const node = (depth: number): PlainMessage =>
      depth === 0 ? { healthy: true } : { healthy: true, componentHealthMap: { a: node(depth - 1) } }
    const many = Array.from({ length: 3_000 }, (_, i) => [
      `${i}`,
      { healthy: true, lastError: 'x'.repeat(20) },
    ])
    const componentHealthMap = { ...Object.fromEntries(many), deep: node(90) }
    const body = message(1, { health: { healthy: false, componentHealthMap } })
    expect(reportOf(body).health!.healthy).toBe(false)
    kept.take(splitReport(body))
    expect(reportOf(kept.message(1)).health).toMatchObject({ healthy: false })
  })

  it('is passed on without what is in its config, and with its health cut where that makes it too long', () => {
    const full = message(5, {
      ...describing('one'),
      ...CONFIG,
      health: { healthy: true, status: 'y'.repeat(200), lastError: 'y'.repeat(20_000) },
    })
    const passed = reportOf(withoutConfig(splitReport(full), 100_000))
    expect(passed.effectiveConfig?.files.size).toBe(0)
    expect(passed.health).not.toBeNull()
    expect(passed.sequenceNum).toBe(5)
    expect(Buffer.from(withoutConfig(splitReport(full), 100_000)).includes('secret')).toBe(false)
    expect(reportOf(withoutConfig(splitReport(full), 2_000)).health?.lastError.length).toBe(1_024)
    expect(reportOf(withoutConfig(splitReport(full), 500))).toMatchObject({ health: null, sequenceNum: 5 })
  })

  it('is copied once, however often a message repeats a field or however many it has', () => {
    const varint = (value: number): number[] =>
      value > 127 ? [(value & 127) | 128, ...varint(value >>> 7)] : [value]
    const field = (number: number, length: number) =>
      Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(length)]), Buffer.alloc(length)])
    const copying = vi.spyOn(Buffer, 'concat')
    const copied = (message: Uint8Array) => {
      copying.mockClear()
      withoutConfig(splitReport(message), 524_288)
      return copying.mock.calls.flatMap(([parts]) => [...parts]).reduce((sum, part) => sum + part.length, 0)
    }
    const plain = message(1, describing('one'))
    for (const number of [5, 40, 200]) {
      const repeats = Array.from({ length: 20_000 }, () => field(number, 0))
      const repeated = Buffer.concat([plain, field(number, 1_000_000), ...repeats])
      expect(copied(repeated)).toBeLessThan(2 * repeated.length)
    }
    const many = Buffer.concat([plain, ...Array.from({ length: 20_000 }, (_, at) => field(100 + at, 100))])
    // Numbers that no version of the protocol has are not passed on.
    expect(splitReport(many).size).toBe(splitReport(plain).size)
    expect(copied(many)).toBeLessThan(2 * many.length)
    copying.mockRestore()
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
