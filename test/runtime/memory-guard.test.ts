import { afterEach, describe, expect, it } from 'vitest'
import { allowedQuietMs, type MemoryReading, readMemory, watchMemory } from '../../runtime/memory-guard.ts'
import { type AgentWire, openWire } from '../support/agent-wire.ts'
import { recordingLog } from '../support/fakes.ts'
import { startTestListener, type TestListener } from '../support/opamp-listener.ts'

const MIB = 1_048_576

let listener: TestListener
const wires: AgentWire[] = []
afterEach(() => {
  for (const wire of wires.splice(0)) wire.cut()
  listener.close()
})

async function open(): Promise<AgentWire> {
  const wire = await openWire(listener.url)
  wires.push(wire)
  return wire
}
const hello = { instanceUid: Buffer.alloc(16, 7), sequenceNum: 0, capabilities: 1 }

describe('in want of memory', () => {
  it('sockets are cut that finish no message, however much they send of one, and no others', async () => {
    listener = startTestListener()
    const [honest, single, fragmented] = [await open(), await open(), await open()]
    for (const wire of [honest, single, fragmented]) await wire.exchange(hello)
    const startedMs = performance.now()
    // One frame that is announced and never ends, and one message in pieces, with answers to pings between them.
    ;(single.socket as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(
      Buffer.from([0x82, 0xfe, 0x80, 0x00, 1, 2, 3, 4, 9, 9, 9]),
    )
    fragmented.sendBytes(Buffer.alloc(20_000), { fin: false })
    fragmented.socket.pong()
    fragmented.sendBytes(Buffer.alloc(20_000), { fin: false })
    await honest.exchange({ ...hello, sequenceNum: 1 })
    const log = recordingLog()
    let reading: MemoryReading = { native: 100 * MIB, limit: 1_000 * MIB }
    const asked: number[] = []
    const cutQuiet = (sinceMs: number) => {
      asked.push(performance.now() - sinceMs)
      return listener.cutQuiet(startedMs)
    }
    let inWorkers = 0
    const guard = watchMemory({ log, read: () => reading, inWorkers: async () => inWorkers, cutQuiet })
    await guard.look()
    expect(asked).toEqual([])
    // Memory that a worker thread takes to read a config is not caused by any socket.
    reading = { native: 900 * MIB, limit: 1_000 * MIB }
    inWorkers = 600 * MIB
    await guard.look()
    expect(asked).toEqual([])
    inWorkers = 0
    reading = { native: 500 * MIB, limit: 1_000 * MIB }
    await guard.look()
    guard.stop()
    expect((await single.ended).code).toBe(1006)
    expect((await fragmented.ended).code).toBe(1006)
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { count: 2, bytes: 500 * MIB } }])
    expect(asked[0]).toBeGreaterThanOrEqual(60_000)
    await honest.exchange({ ...hello, sequenceNum: 2 })
  })
})

describe('a process that cannot read what it takes, for want of file descriptors', () => {
  it('goes on, says so once, and looks again', async () => {
    listener = startTestListener()
    const log = recordingLog()
    let isFull = true
    const asked: number[] = []
    const guard = watchMemory({
      log,
      read() {
        if (isFull) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
        return { native: 90, limit: 100 }
      },
      inWorkers: async () => 0,
      cutQuiet: (sinceMs) => asked.push(sinceMs),
    })
    await guard.look()
    await guard.look()
    expect(log.lines).toMatchObject([{ level: 'error', fields: { err: { code: 'EMFILE' } } }])
    isFull = false
    await guard.look()
    guard.stop()
    expect(asked).toHaveLength(1)
  })
})

describe('how long a socket may be quiet', () => {
  it('is shorter the less memory there is', () => {
    listener = startTestListener()
    const of = (native: number) => allowedQuietMs({ native, limit: 100 })
    expect([of(0), of(49), of(50), of(65), of(80), of(120)]).toEqual([
      null,
      null,
      60_000,
      35_000,
      5_000,
      5_000,
    ])
  })

  it('is read from the process and the machine', () => {
    listener = startTestListener()
    const { native, limit } = readMemory()
    expect(native).toBeGreaterThan(0)
    expect(limit).toBeGreaterThan(native)
  })
})
