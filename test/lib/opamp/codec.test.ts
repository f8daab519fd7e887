import { describe, expect, test } from 'vitest'
import { decodeBody, decodeFrame, encodeServerBody, encodeServerToAgent } from '../../../lib/opamp/codec.ts'
import type { AgentReport } from '../../../lib/opamp/report.ts'
import { agentBody, agentFrame, hex, readServerFrame, uidBytes } from '../../support/opamp-messages.ts'

const UID = '000102030405060708090a0b0c0d0e0f'

function reportOf(frame: Uint8Array): AgentReport {
  const intake = decodeFrame(frame)
  if (!intake.ok) throw new Error(`refused: ${intake.code}`)
  return intake.report
}

const codeOf = (frame: Uint8Array): string => {
  const intake = decodeFrame(frame)
  return intake.ok ? 'ok' : intake.code
}

describe('frames of agents', () => {
  test('a first report gives uid, sequence number 0, capabilities and attributes', () => {
    const report = reportOf(
      hex(`000a10${UID}1a1b0a190a0c736572766963652e6e616d6512090a076f74656c636f6c208730`),
    )
    expect(report).toMatchObject({ uid: UID, sequenceNum: 0, capabilities: 0x1807, hasCapabilities: true })
    expect([...report.attributes!]).toEqual([['service.name', 'otelcol']])
    expect(report.health).toBeNull()
  })

  test('a heartbeat carries nothing but uid, sequence number and capabilities', () => {
    expect(reportOf(hex(`000a10${UID}1001208730`))).toEqual({
      uid: UID,
      uidOnWire: hex(UID),
      sequenceNum: 1,
      capabilities: 0x1807,
      hasCapabilities: true,
      requestsInstanceUid: false,
      isDisconnect: false,
      attributes: null,
      health: null,
      effectiveConfig: null,
      remoteConfigStatus: null,
      components: null,
    })
  })

  test.each([0, 1, 127, 128, 300_000, 2 ** 32 + 5, 2 ** 49 - 1, 2 ** 49, 2 ** 53 - 1])(
    'the cheap way and the careful way read sequence number %d alike',
    (sequenceNum) => {
      const beat = { instanceUid: hex(UID), sequenceNum, capabilities: 0x7de7 }
      const body = decodeBody(agentBody(beat))
      const viaFrame = reportOf(agentFrame(beat))
      expect(viaFrame.sequenceNum).toBe(sequenceNum)
      expect(body.ok && { ...body.report, uidOnWire: null }).toEqual({ ...viaFrame, uidOnWire: null })
    },
  )

  test('a heartbeat names the uid in its bytes, whatever uid was heard on its connection before', () => {
    const frame = hex(`000a10${UID}1001208730`)
    const uidAfter = (before: string) => {
      const intake = decodeFrame(frame, before)
      return intake.ok ? intake.report.uid : intake.code
    }
    const others = Array.from(UID, (digit, at) => {
      const other = ((Number.parseInt(digit, 16) + 1) % 16).toString(16)
      return UID.slice(0, at) + other + UID.slice(at + 1)
    })
    for (const before of [UID, '', UID.toUpperCase(), UID.slice(1), `${UID}00`, ...others])
      expect(uidAfter(before), before).toBe(UID)
  })

  test('bits above the sixteen that are defined are ignored', () => {
    const capabilities = 2 ** 40 + 0x1807
    expect(reportOf(agentFrame({ instanceUid: hex(UID), capabilities })).capabilities).toBe(0x1807)
    expect(reportOf(agentFrame({ instanceUid: hex(UID), capabilities: 0x1_0007 })).capabilities).toBe(7)
  })

  test('agent_disconnect is seen', () => {
    expect(reportOf(hex(`000a10${UID}10022087304a00`))).toMatchObject({ isDisconnect: true, sequenceNum: 2 })
  })

  test('an APPLIED status gives the hash in hex', () => {
    const hash = 'a2562a2b6beb468ee77c97127ec9e6f3c27a8950b2200884a158170dbaf25c01'
    const report = reportOf(hex(`000a10${UID}10032087303a240a20${hash}1001`))
    expect(report.remoteConfigStatus).toEqual({ hash, status: 'applied', errorMessage: '' })
  })

  test.each([
    ['no header at all', ''],
    ['an overlong zero', '8000'],
    ['a zero of ten bytes', '80808080808080808000'],
  ])('%s is understood', (_, header) => {
    expect(reportOf(hex(`${header}0a10${UID}1001208730`))).toMatchObject({ uid: UID, sequenceNum: 1 })
  })

  test.each(['01', '02', '05', '07', '8001', '8080808080808080808000', '80'])(
    'a header %s is malformed',
    (header) => {
      expect(codeOf(hex(`${header}0a10${UID}1001208730`))).toBe('message-malformed')
    },
  )

  test('bytes after a header that is not zero are never read as an old message without one', () => {
    // If the first four bytes were skipped, the rest would be a valid message.
    expect(codeOf(hex(`80010a10050a10${UID}`))).toBe('message-malformed')
  })

  test.each([
    ['an empty frame', ''],
    ['a frame with nothing but the header', '00'],
    ['a message without a uid', '001001'],
  ])('%s has no valid uid', (_, bytes) => {
    expect(codeOf(hex(bytes))).toBe('instance-uid-invalid')
  })

  test.each([
    ['a length past the end', '000a7f0001'],
    ['a part that ends after the whole', `000a10${UID}1a7f0a00`],
    ['a part that ends after its parent', `000a10${UID}1a020a0510012087301001`],
    ['an endless varint', `000a10${UID}10ffffffffffffffffffff01`],
    ['field number 0', `000a10${UID}0000`],
    ['an unclosed group', `000a10${UID}a306`],
    ['an end of a group that never began', `000a10${UID}a406`],
    ['a text', Buffer.from('\0hello, server').toString('hex')],
  ])('%s is malformed', (_, bytes) => {
    expect(codeOf(hex(bytes))).toBe('message-malformed')
  })

  test('a malformed message still tells whose it is, when the uid came first', () => {
    const intake = decodeFrame(hex(`000a10${UID}0000`))
    expect(intake).toMatchObject({ ok: false, uidOnWire: new Uint8Array(Buffer.from(UID, 'hex')) })
  })

  test('fields and enum values of a newer protocol are passed over', () => {
    const unknown = `9a0603616263` + `a80601`
    const report = reportOf(hex(`000a10${UID}${unknown}3a0210091001`))
    expect(report).toMatchObject({ uid: UID, remoteConfigStatus: { status: 'unset' }, sequenceNum: 1 })
  })
})

describe('frames of the server', () => {
  const uid = hex(UID)
  const asHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

  test('the bare acknowledgement', () => {
    expect(asHex(encodeServerToAgent(uid, {}))).toBe(`000a10${UID}`)
    expect(asHex(encodeServerToAgent(uid, { capabilities: 7 }))).toBe(`000a10${UID}3807`)
    expect(asHex(encodeServerBody(uid, { capabilities: 7 }))).toBe(`0a10${UID}3807`)
  })

  test('a request for the full state', () => {
    const message = { reportFullState: true, capabilities: 7 }
    expect(asHex(encodeServerToAgent(uid, message))).toBe(`000a10${UID}30013807`)
    expect(asHex(encodeServerBody(uid, message))).toBe(`0a10${UID}30013807`)
  })

  test('a remote config', () => {
    const hash = 'a2562a2b6beb468ee77c97127ec9e6f3c27a8950b2200884a158170dbaf25c01'
    const body = Buffer.from('receivers: {}\n')
    expect(asHex(encodeServerToAgent(uid, { remoteConfig: { hash: hex(hash), body } }))).toBe(
      `000a10${UID}1a450a210a1f0a00121b0a0e7265636569766572733a207b7d0a1209746578742f79616d6c1220${hash}`,
    )
  })

  test('UNAVAILABLE with a time to wait', () => {
    const errorResponse = { type: 'unavailable', message: 'busy', retryAfterMs: 30_000 } as const
    expect(asHex(encodeServerToAgent(uid, { errorResponse }))).toBe(
      `000a10${UID}121008021204627573791a060880d88ee16f`,
    )
  })

  test('an error response travels alone', () => {
    const frame = encodeServerToAgent(uid, {
      errorResponse: { type: 'bad-request', message: 'no' },
      capabilities: 7,
      reportFullState: true,
      heartbeatIntervalSeconds: 30,
    })
    expect(readServerFrame(frame)).toEqual({
      instanceUid: Buffer.from(uid),
      errorResponse: { type: 1, errorMessage: 'no' },
    })
  })

  test('everything else, read back through the schema', () => {
    const frame = encodeServerToAgent(uid, {
      capabilities: 0x27,
      reportFullState: true,
      reportAvailableComponents: true,
      newInstanceUid: uidBytes(9),
      heartbeatIntervalSeconds: 45,
      remoteConfig: { hash: uidBytes(1), body: Buffer.from('a: 1') },
    })
    expect(readServerFrame(frame)).toEqual({
      instanceUid: Buffer.from(uid),
      capabilities: 0x27,
      flags: 3,
      agentIdentification: { newInstanceUid: Buffer.from(uidBytes(9)) },
      connectionSettings: { hash: Buffer.from('heartbeat=45'), opamp: { heartbeatIntervalSeconds: 45 } },
      remoteConfig: {
        configHash: Buffer.from(uidBytes(1)),
        config: { configMap: { '': { body: Buffer.from('a: 1'), contentType: 'text/yaml' } } },
      },
    })
  })

  test('a text uid is echoed as it came, in a plain acknowledgement too', () => {
    const text = Buffer.from('01ARZ3NDEKTSV4RRFFQ69G5FAV')
    expect(readServerFrame(encodeServerToAgent(text, { capabilities: 7 }))).toEqual({
      instanceUid: text,
      capabilities: 7,
    })
  })

  test.each([
    ['a ULID', '01ARZ3NDEKTSV4RRFFQ69G5FAV', /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/],
    ['a UUID', '01a1fb75-8b85-70ec-829b-e882ed1a2ed7', /^11223344-5566-7788-99aa-bbccddeeff01$/],
  ])('who writes its uid as %s is given a new one like it', (_, own, form) => {
    const newInstanceUid = hex('112233445566778899aabbccddeeff01')
    const word = readServerFrame(encodeServerToAgent(Buffer.from(own), { newInstanceUid }))
    const given = (word['agentIdentification'] as { newInstanceUid: Buffer }).newInstanceUid
    expect(given.toString()).toMatch(form)
    expect(reportOf(agentFrame({ instanceUid: given })).uid).toBe(Buffer.from(newInstanceUid).toString('hex'))
  })
})
