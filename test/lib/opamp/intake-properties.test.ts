import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeFrame, encodeServerToAgent } from '../../../lib/opamp/codec.ts'
import { readAgentToServer } from '../../../lib/opamp/intake.ts'
import type { AgentReport, HealthNode, ServerMessage } from '../../../lib/opamp/report.ts'
import { AgentToServer } from '../../../lib/opamp/schema.ts'
import {
  agentBody,
  keyValues,
  type PlainMessage,
  readRecording,
  readServerFrame,
} from '../../support/opamp-messages.ts'

const SEED = 20_260_821
const bytes = (lengths: { minLength?: number; maxLength?: number }) => fc.uint8Array(lengths)
const name = fc
  .string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
  .filter((text) => !text.includes('\0'))
const names = fc.uniqueArray(name, { maxLength: 5 })
const record = <T>(value: fc.Arbitrary<T>) =>
  fc.array(fc.tuple(name, value), { maxLength: 4 }).map((entries) => Object.fromEntries(entries))

const health: fc.Arbitrary<PlainMessage> = fc.letrec<{ node: PlainMessage }>((tie) => ({
  node: fc.record(
    {
      healthy: fc.boolean(),
      lastError: name,
      status: name,
      startTimeUnixNano: fc.integer({ min: 1, max: 2_000_000_000 }).map((s) => `${s}000000000`),
      componentHealthMap: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constant({}),
        record(tie('node')),
      ),
    },
    { requiredKeys: [] },
  ),
})).node

const agentMessage: fc.Arbitrary<PlainMessage> = fc.record(
  {
    instanceUid: bytes({ minLength: 16, maxLength: 16 }),
    sequenceNum: fc.maxSafeNat(),
    capabilities: fc.integer({ min: 1, max: 0xffff }),
    flags: fc.constantFrom(0, 1),
    agentDescription: fc.record({ identifyingAttributes: record(name).map(keyValues) }),
    health,
    effectiveConfig: fc.record({
      configMap: fc.record({
        configMap: record(fc.record({ body: bytes({ maxLength: 40 }), contentType: name })),
      }),
    }),
    remoteConfigStatus: fc.record({
      lastRemoteConfigHash: bytes({ maxLength: 32 }),
      status: fc.integer({ min: 0, max: 3 }),
      errorMessage: name,
    }),
    packageStatuses: fc.record({ errorMessage: name }),
    customMessage: fc.record({ capability: name, data: bytes({ maxLength: 20 }) }),
    availableComponents: fc.record({
      hash: bytes({ maxLength: 32 }),
      components: record(
        names.map((list) => ({ subComponentMap: Object.fromEntries(list.map((entry) => [entry, {}])) })),
      ),
    }),
    agentDisconnect: fc.constant({}),
  },
  { requiredKeys: ['instanceUid'] },
)

describe('the reader by hand and the schema agree', () => {
  test('on every message an encoder can write', () => {
    fc.assert(
      fc.property(agentMessage, (message) => {
        const body = agentBody(message)
        const intake = readAgentToServer(body)
        if (!intake.ok) throw new Error(intake.code)
        expect(asPlain(intake.report)).toEqual(
          asExpected(AgentToServer.toObject(AgentToServer.decode(body), {})),
        )
        const framed = decodeFrame(Buffer.concat([Buffer.alloc(1), body]))
        expect(framed.ok && asPlain(framed.report)).toEqual(asPlain(intake.report))
      }),
      { seed: SEED, numRuns: 400 },
    )
  })

  test('on every answer the server can give', () => {
    const answer: fc.Arbitrary<ServerMessage> = fc.record(
      {
        capabilities: fc.integer({ min: 1, max: 0x3f }),
        reportFullState: fc.constant(true),
        reportAvailableComponents: fc.constant(true),
        newInstanceUid: bytes({ minLength: 16, maxLength: 16 }),
        heartbeatIntervalSeconds: fc.integer({ min: 1, max: 86_400 }),
        remoteConfig: fc.record({
          hash: bytes({ minLength: 32, maxLength: 32 }),
          body: bytes({ maxLength: 300 }),
        }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(bytes({ minLength: 16, maxLength: 16 }), answer, (uid, message) => {
        const read = readServerFrame(encodeServerToAgent(uid, message))
        const flags = (message.reportFullState ? 1 : 0) + (message.reportAvailableComponents ? 2 : 0)
        expect(read['instanceUid']).toEqual(Buffer.from(uid))
        expect(read['capabilities']).toBe(message.capabilities)
        expect(read['flags'] ?? 0).toBe(flags)
        expect(read['remoteConfig'] !== undefined).toBe(message.remoteConfig !== undefined)
      }),
      { seed: SEED, numRuns: 300 },
    )
  })
})

describe('hostile bytes', () => {
  test('never throw, whatever they are', () => {
    fc.assert(
      fc.property(bytes({ maxLength: 300 }), (frame) => {
        expect(typeof decodeFrame(frame).ok).toBe('boolean')
      }),
      { seed: SEED, numRuns: 5000 },
    )
  })

  test('a recorded message with bytes changed, cut or doubled never throws', () => {
    const recorded = readRecording('supervisor-session').map(({ bytes: frame }) => frame)
    const change = fc.record({
      which: fc.nat({ max: recorded.length - 1 }),
      at: fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 6 }),
      cut: fc.nat({ max: 4000 }),
      isDoubled: fc.boolean(),
    })
    fc.assert(
      fc.property(change, ({ which, at, cut, isDoubled }) => {
        let frame = Uint8Array.from(recorded[which]!)
        for (const [index, value] of at) frame[index % frame.length] = value
        frame = frame.slice(0, Math.max(1, cut))
        if (isDoubled) frame = Uint8Array.from([...frame, ...frame])
        const intake = decodeFrame(frame)
        if (intake.ok) expect(intake.report.uid).toMatch(/^[0-9a-f]{32}$/)
      }),
      { seed: SEED, numRuns: 3000 },
    )
  })
})

interface PlainHealth {
  healthy: boolean
  status: string
  lastError: string
  children: Record<string, PlainHealth>
}

const plainHealth = (node: HealthNode): PlainHealth => ({
  healthy: node.healthy,
  status: node.status,
  lastError: node.lastError,
  children: Object.fromEntries([...node.children].map(([key, child]) => [key, plainHealth(child)])),
})

function asPlain(report: AgentReport) {
  return {
    uid: report.uid,
    sequenceNum: report.sequenceNum,
    capabilities: report.capabilities,
    isDisconnect: report.isDisconnect,
    requestsInstanceUid: report.requestsInstanceUid,
    attributes: report.attributes && Object.fromEntries(report.attributes),
    health: report.health && plainHealth(report.health),
    files:
      report.effectiveConfig &&
      Object.fromEntries(
        [...report.effectiveConfig.files].map(([key, file]) => [
          key,
          [Buffer.from(file.body).toString('hex'), file.contentType],
        ]),
      ),
    status: report.remoteConfigStatus,
    components: report.components && {
      hash: report.components.hash,
      lists: Object.fromEntries(report.components.components ?? []),
    },
  }
}

// biome-ignore-start lint/suspicious/noExplicitAny: protobufjs' plain objects have no types of their own
const asHealth = (node: any): PlainHealth => ({
  healthy: node.healthy ?? false,
  status: node.status ?? '',
  lastError: node.lastError ?? '',
  children: Object.fromEntries(
    Object.entries(node.componentHealthMap ?? {}).map(([key, child]) => [key, asHealth(child)]),
  ),
})

/** What the schema's own decoder found, in the form of `asPlain`. */
function asExpected(read: any) {
  const lists = Object.entries(read.availableComponents?.components ?? {}) as [string, any][]
  const files = Object.entries(read.effectiveConfig?.configMap?.configMap ?? {}) as [string, any][]
  const attributes = (read.agentDescription?.identifyingAttributes ?? []) as any[]
  const status = read.remoteConfigStatus
  return {
    uid: Buffer.from(read.instanceUid).toString('hex'),
    sequenceNum: Number(read.sequenceNum ?? 0),
    capabilities: Number(read.capabilities ?? 0),
    isDisconnect: read.agentDisconnect !== undefined,
    requestsInstanceUid: Number(read.flags ?? 0) === 1,
    attributes: read.agentDescription
      ? Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]))
      : null,
    health: read.health ? asHealth(read.health) : null,
    files: read.effectiveConfig
      ? Object.fromEntries(
          files.map(([key, file]) => [
            key,
            [Buffer.from(file.body ?? []).toString('hex'), file.contentType ?? ''],
          ]),
        )
      : null,
    status: status
      ? {
          hash: Buffer.from(status.lastRemoteConfigHash ?? []).toString('hex'),
          status: ['unset', 'applied', 'applying', 'failed'][status.status ?? 0],
          errorMessage: status.errorMessage ?? '',
        }
      : null,
    components: read.availableComponents
      ? {
          hash: Buffer.from(read.availableComponents.hash ?? []).toString('hex'),
          lists: Object.fromEntries(
            lists.map(([key, details]) => [key, Object.keys(details.subComponentMap ?? {}).sort()]),
          ),
        }
      : null,
  }
}
// biome-ignore-end lint/suspicious/noExplicitAny: protobufjs' plain objects have no types of their own
