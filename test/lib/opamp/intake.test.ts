import { describe, expect, test } from 'vitest'
import { type Intake, readAgentToServer } from '../../../lib/opamp/intake.ts'
import { INTAKE_LIMITS } from '../../../lib/opamp/limits.ts'
import type { AgentReport, HealthNode } from '../../../lib/opamp/report.ts'
import { TEXT_BYTES_MAX } from '../../../lib/opamp/wire-reader.ts'
import {
  agentBody,
  hex,
  keyValues,
  type PlainMessage,
  readRecording,
  uidBytes,
} from '../../support/opamp-messages.ts'

const read = (message: PlainMessage): Intake =>
  readAgentToServer(agentBody({ instanceUid: uidBytes(1), ...message }))

function reportOf(message: PlainMessage): AgentReport {
  const intake = read(message)
  if (!intake.ok) throw new Error(`refused: ${intake.code}`)
  return intake.report
}

const attributesOf = (agentDescription: PlainMessage): Record<string, string> =>
  Object.fromEntries(reportOf({ agentDescription }).attributes!)

/** Encode one length-delimited field by hand, for messages that no encoder would write. */
const field = (number: number, content: Uint8Array): Uint8Array => {
  const head = [(number << 3) | 2]
  let length = content.length
  for (; length > 127; length >>>= 7) head.push((length & 127) | 128)
  return Buffer.concat([Uint8Array.from([...head, length]), content])
}
const withUid = (...fields: Uint8Array[]): Uint8Array => Buffer.concat([field(1, uidBytes(1)), ...fields])

describe('instance_uid', () => {
  test.each([0, 1, 15, 17, 25, 27, 35, 37, 5000])('%d bytes are refused', (length) => {
    expect(read({ instanceUid: new Uint8Array(length).fill(0x30) })).toMatchObject({
      ok: false,
      code: 'instance-uid-invalid',
    })
  })

  test('a ULID as text is its 16 bytes, in either case, and is echoed as it came', () => {
    const text = Buffer.from('01ARZ3NDEKTSV4RRFFQ69G5FAV')
    const report = reportOf({ instanceUid: text })
    expect(report.uid).toBe('01563e3ab5d3d6764c61efb99302bd5b')
    expect(Buffer.from(report.uidOnWire)).toEqual(text)
    expect(reportOf({ instanceUid: Buffer.from('01arz3ndektsv4rrffq69g5fav') }).uid).toBe(report.uid)
    expect(reportOf({ instanceUid: Buffer.from('00000000000000000000000000') }).uid).toBe('0'.repeat(32))
    expect(reportOf({ instanceUid: Buffer.from('7ZZZZZZZZZZZZZZZZZZZZZZZZZ') }).uid).toBe('f'.repeat(32))
  })

  test('a UUID as text is its 16 bytes', () => {
    const text = Buffer.from('01A1FB75-8b85-70ec-829b-e882ed1a2ed7')
    expect(reportOf({ instanceUid: text }).uid).toBe('01a1fb758b8570ec829be882ed1a2ed7')
  })

  test.each([
    ['a ULID with a letter that is none', '01ARZ3NDEKTSV4RRFFQ69G5FAU'],
    ['a ULID beyond 128 bits', '81ARZ3NDEKTSV4RRFFQ69G5FAV'],
    ['26 raw bytes', '\xff'.repeat(26)],
    ['a UUID without its dashes in place', '01a1fb758-b85-70ec-829b-e882ed1a2ed7'],
  ])('%s is refused', (_, text) => {
    expect(read({ instanceUid: Buffer.from(text, 'latin1') }).ok).toBe(false)
  })

  test('a kept uid does not hold on to the message it came in', () => {
    const report = reportOf({ agentDescription: { identifyingAttributes: keyValues({ a: 'b' }) } })
    expect(report.uidOnWire.buffer.byteLength).toBe(16)
  })
})

describe('attributes', () => {
  test('identifying come first, non-identifying override, and the rest of the kinds do not count', () => {
    const { attributes } = reportOf({
      agentDescription: {
        identifyingAttributes: [
          ...keyValues({ 'service.name': 'a', 'host.name': 'first', empty: '' }),
          { key: 'int', value: { intValue: 3 } },
          { key: 'bool', value: { boolValue: true } },
          { key: 'double', value: { doubleValue: 1.5 } },
          { key: 'bytes', value: { bytesValue: Buffer.from('x') } },
          { key: 'array', value: { arrayValue: { values: [{ stringValue: 'x' }] } } },
          { key: 'list', value: { kvlistValue: { values: keyValues({ x: 'y' }) } } },
          { key: 'null', value: {} },
          { key: 'valueless' },
        ],
        nonIdentifyingAttributes: keyValues({ 'os.type': 'linux', 'host.name': 'second' }),
      },
    })
    expect([...attributes!]).toEqual([
      ['service.name', 'a'],
      ['host.name', 'second'],
      ['os.type', 'linux'],
    ])
  })

  test('of a value that is given in two kinds the last counts', () => {
    const twice = Buffer.concat([field(1, Buffer.from('text')), hex('1001')])
    const keyValue = Buffer.concat([field(1, Buffer.from('k')), field(2, twice)])
    const intake = readAgentToServer(withUid(field(3, field(1, keyValue))))
    expect(intake).toMatchObject({ ok: true, report: { attributes: new Map() } })
  })

  test('a description without attributes is a description', () => {
    expect(reportOf({ agentDescription: {} }).attributes).toEqual(new Map())
    expect(reportOf({}).attributes).toBeNull()
  })

  test('names of object properties are ordinary keys', () => {
    const hostile = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
    const identifyingAttributes = hostile.map((key) => ({ key, value: { stringValue: key } }))
    const { attributes } = reportOf({ agentDescription: { identifyingAttributes } })
    expect([...attributes!.keys()]).toEqual(hostile)
    expect(({} as Record<string, unknown>)['service.name']).toBeUndefined()
  })

  test('U+0000 becomes U+FFFD', () => {
    expect(attributesOf({ identifyingAttributes: keyValues({ 'a\0b': 'c\0\0d' }) })).toEqual({
      'a\ufffdb': 'c\ufffd\ufffdd',
    })
  })

  test.each([
    ['a lone surrogate', 'eda080'],
    ['an overlong form', 'c080'],
    ['a cut character', 'e282'],
  ])('%s is no UTF-8, so the message is malformed', (_, bytes) => {
    const keyValue = Buffer.concat([field(1, Buffer.from('k')), field(2, field(1, hex(bytes)))])
    expect(readAgentToServer(withUid(field(3, field(1, keyValue))))).toMatchObject({
      ok: false,
      code: 'message-malformed',
    })
  })

  test('a key of 256 is kept, a longer one left out; a value is cut at 1,024', () => {
    const longest = 'k'.repeat(256)
    const attributes = attributesOf({
      identifyingAttributes: keyValues({ [longest]: 'v'.repeat(1025), [`${longest}k`]: 'lost' }),
    })
    expect(attributes).toEqual({ [longest]: 'v'.repeat(1024) })
  })

  test('a cut never leaves half a surrogate pair', () => {
    const value = `${'v'.repeat(1023)}😀`
    expect(attributesOf({ identifyingAttributes: keyValues({ k: value }) })).toEqual({ k: 'v'.repeat(1023) })
  })

  test.each(['e', 'é', '€', '😀', 'e\0'])(
    'a value of many %j is cut as any other, wherever it begins',
    (letter) => {
      const kept = letter.replaceAll('\0', '\ufffd')
      for (const before of ['', 'a', 'ab', 'abc']) {
        const value = attributesOf({
          identifyingAttributes: keyValues({ k: before + letter.repeat(5_000) }),
        })['k']!
        const whole = before + kept.repeat(5_000)
        expect([whole.slice(0, 1_024), whole.slice(0, 1_023)]).toContain(value)
        expect(value.isWellFormed()).toBe(true)
      }
    },
  )

  test('a long text is malformed where it is no UTF-8 far behind what is kept of it', () => {
    const text = Buffer.concat([Buffer.from('é'.repeat(100_000)), hex('c3')])
    const keyValue = Buffer.concat([field(1, Buffer.from('k')), field(2, field(1, text))])
    const code = 'message-malformed'
    expect(readAgentToServer(withUid(field(3, field(1, keyValue))))).toMatchObject({ ok: false, code })
  })

  test('what is said again and again is looked at for two megabytes, and no further', () => {
    const value = (n: number) => Buffer.from(`${n} ${'x'.repeat(1_000)}`)
    const again = (n: number) =>
      field(1, Buffer.concat([field(1, Buffer.from('k')), field(2, field(1, value(n)))]))
    const many = Buffer.concat(Array.from({ length: 15_500 }, (_, n) => again(n)))
    const intake = readAgentToServer(withUid(field(3, many)))
    if (!intake.ok) throw new Error(intake.code)
    const last = Number.parseInt(intake.report.attributes?.get('k') ?? '', 10)
    expect(last).toBeGreaterThan(1_000)
    expect(last).toBeLessThan(TEXT_BYTES_MAX / 1_000)
  })

  test('128 attributes are kept, over both lists together, and a known key may still be overridden', () => {
    const numbered = (from: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${from + i}`, 'v']))
    const attributes = attributesOf({
      identifyingAttributes: keyValues(numbered(0, 100)),
      nonIdentifyingAttributes: keyValues({ ...numbered(100, 100), k5: 'other' }),
    })
    expect(Object.keys(attributes)).toEqual(Object.keys(numbered(0, 128)))
    expect(attributes['k5']).toBe('other')
  })
})

describe('health', () => {
  const nested = (depth: number): PlainMessage =>
    depth === 1 ? { healthy: true } : { healthy: true, componentHealthMap: { c: nested(depth - 1) } }
  const depthOf = (node: HealthNode): number =>
    1 + Math.max(0, ...[...node.children.values()].map((child) => depthOf(child)))

  /** A health tree far too deep for a recursive encoder. */
  function chain(depth: number): Uint8Array {
    let node: Uint8Array = hex('0801')
    for (let level = 1; level < depth; level++) {
      node = field(6, Buffer.concat([field(1, Buffer.from('c')), field(2, node)]))
    }
    return node
  }

  test('times are milliseconds, and 0 is none', () => {
    const { health } = reportOf({
      health: { healthy: true, status: 'StatusOK', startTimeUnixNano: '1763690000123456789' },
    })
    expect(health).toMatchObject({ healthy: true, startTimeMs: 1_763_690_000_123, statusTimeMs: null })
  })

  test('a tree is whole each time it is looked at, after the message it came in is gone', () => {
    const body = agentBody({
      instanceUid: uidBytes(1),
      health: {
        healthy: true,
        status: 'StatusOK',
        componentHealthMap: {
          'pipeline:traces': {
            componentHealthMap: { 'receiver:otlp/é': { lastError: 'no\0pe', statusTimeUnixNano: '5000000' } },
          },
        },
      },
    })
    const intake = readAgentToServer(body)
    body.fill(0xff)
    const look = () => {
      const health = intake.ok ? intake.report.health! : null
      return health!.children.get('pipeline:traces')!.children.get('receiver:otlp/é')
    }
    expect(look()).toMatchObject({ healthy: false, lastError: 'no\ufffdpe', statusTimeMs: 5 })
    expect(look()).toEqual(look())
  })

  test('the error texts of one tree are cut where they are too much together', () => {
    const componentHealthMap = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [`c${i}`, { lastError: 'e'.repeat(20_000) }]),
    )
    const { health } = reportOf({ health: { lastError: 'first', componentHealthMap } })
    const lengths = [...health!.children.values()].map(({ lastError }) => lastError.length)
    expect(Math.max(...lengths)).toBe(INTAKE_LIMITS.errorTextLength)
    expect(lengths.reduce((sum, length) => sum + length, 5)).toBe(INTAKE_LIMITS.healthTextLength)
  })

  test('present and empty is not absent', () => {
    expect(reportOf({ health: {} }).health).toMatchObject({ healthy: false, status: '', lastError: '' })
    expect(reportOf({}).health).toBeNull()
  })

  test('children are kept by name, hostile names too', () => {
    const body = field(
      5,
      Buffer.concat([
        field(6, Buffer.concat([field(1, Buffer.from('__proto__')), field(2, hex('0801'))])),
        field(6, field(1, Buffer.from('bare'))),
        field(6, field(2, hex('0801'))),
      ]),
    )
    const intake = readAgentToServer(withUid(body))
    const health = intake.ok ? intake.report.health! : null
    expect([...health!.children].map(([name, node]) => [name, node.healthy])).toEqual([
      ['__proto__', true],
      ['bare', false],
      ['', true],
    ])
    expect(({} as Record<string, unknown>)['healthy']).toBeUndefined()
  })

  test('a tree of depth 64 is taken, one of 65 or 5,000 refused', () => {
    expect(depthOf(reportOf({ health: nested(64) }).health!)).toBe(64)
    expect(read({ health: nested(65) })).toMatchObject({ ok: false, code: 'health-too-deep' })
    expect(readAgentToServer(withUid(field(5, chain(5000))))).toMatchObject({
      ok: false,
      code: 'health-too-deep',
      uidOnWire: uidBytes(1),
    })
  })

  test('of a tree of 5,000 nodes, 2,000 are kept', () => {
    const componentHealthMap = Object.fromEntries(
      Array.from({ length: 5000 }, (_, i) => [`c${i}`, { healthy: true }]),
    )
    expect(reportOf({ health: { componentHealthMap } }).health!.children.size).toBe(1999)
  })
})

describe('components', () => {
  const details = (...names: string[]) => ({
    subComponentMap: Object.fromEntries(names.map((name) => [name, { metadata: keyValues({ m: 'v' }) }])),
  })

  test('only a hash means that the list must be asked for', () => {
    expect(reportOf({ availableComponents: { hash: hex('ABCD') } }).components).toEqual({
      hash: 'abcd',
      components: null,
    })
  })

  test('categories hold sorted type names, and empty categories stay', () => {
    const { components } = reportOf({
      availableComponents: {
        hash: hex('01'),
        components: { receivers: details('otlp', 'filelog', 'k8s'), connectors: details() },
      },
    })
    expect([...components!.components!]).toEqual([
      ['connectors', []],
      ['receivers', ['filelog', 'k8s', 'otlp']],
    ])
  })

  test('5,000 names are kept over all categories', () => {
    const names = (prefix: string) => Array.from({ length: 3000 }, (_, i) => `${prefix}${i}`)
    const { components } = reportOf({
      availableComponents: {
        components: { a: details(...names('a')), b: details(...names('b')) },
      },
    })
    const sizes = [...components!.components!.values()].map((list) => list.length)
    expect(sizes).toEqual([3000, 2000])
  })

  test('deep sub-components are passed over', () => {
    let deep: PlainMessage = {}
    for (let level = 0; level < 90; level++) deep = { subComponentMap: { d: deep } }
    const { components } = reportOf({ availableComponents: { components: { receivers: deep } } })
    expect(components!.components!.get('receivers')).toEqual(['d'])
  })
})

describe('configs', () => {
  test('files by name, and an empty config is not an absent one', () => {
    const { effectiveConfig } = reportOf({
      effectiveConfig: { configMap: { configMap: { '': { body: Buffer.from('a: 1') }, __proto__x: {} } } },
    })
    expect([...effectiveConfig!.files.keys()]).toEqual(['', '__proto__x'])
    expect(Buffer.from(effectiveConfig!.files.get('')!.body).toString()).toBe('a: 1')
    expect(reportOf({ effectiveConfig: {} }).effectiveConfig!.files.size).toBe(0)
    expect(reportOf({}).effectiveConfig).toBeNull()
  })

  test.each([
    [0, 'unset'],
    [1, 'applied'],
    [2, 'applying'],
    [3, 'failed'],
    [4, 'unset'],
    [4_000_000_000, 'unset'],
  ])('remote config status %d is %s', (status, expected) => {
    const { remoteConfigStatus } = reportOf({ remoteConfigStatus: { status, errorMessage: 'why\0' } })
    expect(remoteConfigStatus).toEqual({ hash: '', status: expected, errorMessage: 'why\ufffd' })
  })

  test('an error text is cut, and an overlong hash does not stay overlong', () => {
    const { remoteConfigStatus } = reportOf({
      remoteConfigStatus: { errorMessage: 'e'.repeat(100_000), lastRemoteConfigHash: Buffer.alloc(1000, 1) },
    })
    expect(remoteConfigStatus!.errorMessage.length).toBe(INTAKE_LIMITS.errorTextLength)
    expect(remoteConfigStatus!.hash).toBe('01'.repeat(INTAKE_LIMITS.hashBytes))
  })

  test('RequestInstanceUid is seen', () => {
    expect(reportOf({ flags: 1 }).requestsInstanceUid).toBe(true)
    expect(reportOf({ flags: 2 }).requestsInstanceUid).toBe(false)
  })
})

describe('a message of very many fields', () => {
  /** This content a million times. */
  const many = (content: Uint8Array): Uint8Array => Buffer.alloc(1_000_000 * content.length, content)
  const named = field(1, Buffer.from('a'))

  test.each([
    ['empty attributes', field(3, many(field(1, Buffer.alloc(0))))],
    ['attributes', field(3, many(field(2, named)))],
    ['attributes of a component', field(5, many(field(7, named)))],
    ['components below one', field(5, many(field(6, Buffer.alloc(0))))],
    ['config files', field(6, field(1, many(field(1, named))))],
    ['categories of components', field(14, many(field(1, named)))],
    ['components', field(14, field(1, field(2, many(field(2, named)))))],
    ['descriptions', many(field(3, Buffer.alloc(0)))],
    ['uids', many(field(1, uidBytes(1)))],
    ['numbers', many(hex('1005'))],
    ['fields that nobody knows', many(hex('b80105'))],
    ['numbers in a group', Buffer.concat([hex('13'), many(hex('1005')), hex('14')])],
    ['groups', many(hex('1314'))],
  ])('%s is refused for that, and read no further', (_, content) => {
    // Where it was read to its end it would be malformed.
    const cut = Buffer.concat([withUid(content), hex('07')])
    expect(readAgentToServer(cut)).toEqual({
      ok: false,
      code: 'message-too-many-fields',
      uidOnWire: uidBytes(1),
    })
  })

  test('groups that nobody knows are passed over, but not to any depth', () => {
    expect(readAgentToServer(withUid(hex('1310051b0a01611c14')))).toMatchObject({ ok: true })
    const nested = (depth: number) => withUid(Buffer.alloc(depth, 0x13), Buffer.alloc(depth, 0x14))
    expect(readAgentToServer(nested(100))).toMatchObject({ ok: true })
    expect(readAgentToServer(nested(101))).toMatchObject({ ok: false, code: 'message-malformed' })
    expect(readAgentToServer(withUid(hex('131c')))).toMatchObject({ ok: false, code: 'message-malformed' })
  })

  test('the largest that is kept of an agent, and as much beyond it, is far from being one', () => {
    const list = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`)
    const node = {
      healthy: true,
      status: 'StatusOK',
      startTimeUnixNano: '1',
      statusTimeUnixNano: '1',
      lastError: 'e',
    }
    const of = <T>(names: string[], value: T) => Object.fromEntries(names.map((name) => [name, value]))
    const metadata = keyValues(of(list(10), 'v'))
    const report = reportOf({
      agentDescription: { nonIdentifyingAttributes: keyValues(of(list(256), 'v')) },
      health: { ...node, componentHealthMap: of(list(4_000), node) },
      effectiveConfig: { configMap: { configMap: of(list(128), { body: Buffer.from('a: 1') }) } },
      availableComponents: { components: { receivers: { subComponentMap: of(list(10_000), { metadata }) } } },
    })
    expect(report.health!.children.size).toBe(INTAKE_LIMITS.healthNodes - 1)
    expect(report.components!.components!.get('receivers')!.length).toBe(INTAKE_LIMITS.componentNames)
    expect(report.attributes!.size).toBe(INTAKE_LIMITS.attributes)
    expect(report.effectiveConfig!.files.size).toBe(INTAKE_LIMITS.configFiles)
  })
})

describe('recordings of a real collector and supervisor', () => {
  test.each([
    'supervisor-session',
    'supervisor-restart',
    'supervisor-reconnect',
    'extension-websocket',
    'extension-http',
  ])('every message of %s is read', (name) => {
    for (const { bytes } of readRecording(name)) {
      const body = name === 'extension-http' ? bytes : bytes.subarray(1)
      const intake = readAgentToServer(body)
      expect(intake.ok).toBe(true)
    }
  })
})
