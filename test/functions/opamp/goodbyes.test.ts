import { describe, expect, test } from 'vitest'
import { postAgent } from '../../support/agent-wire.ts'
import type { PlainMessage } from '../../support/opamp-messages.ts'
import { FULL_STATE, flagsOf, openScene } from '../../support/opamp-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const scene = openScene(await useTestDatabase())
const { start, join, wire, beat, full, uidHex } = scene

const poll = async (message: PlainMessage) => (await postAgent(scene.server.url, message)).message()
const goodbye = (n: number, sequenceNum: number) => beat(n, sequenceNum, { agentDisconnect: {} })
const isConnected = (n: number) => scene.server.fleet.state.instances.get(uidHex(n))?.connection != null

describe('an agent that said goodbye and starts again with a bare message', () => {
  test('is taken in on its new socket, and asked for its full state', async () => {
    await start()
    const first = await join(1)
    await first.exchange(beat(1, 1))
    await first.exchange(goodbye(1, 2))
    first.close()
    const second = await wire()
    // Clients begin to count their messages at 0, 1 or 2.
    expect(flagsOf(await second.exchange(beat(1, 2))) & FULL_STATE).toBe(FULL_STATE)
    expect(isConnected(1)).toBe(true)
  })

  test('is taken in on a socket that others share', async () => {
    await start()
    const gateway = await join(1)
    await gateway.exchange(full(2))
    await gateway.exchange(beat(1, 50))
    await gateway.exchange(goodbye(1, 51))
    expect(isConnected(1)).toBe(false)
    await gateway.exchange(beat(1, 0))
    expect(isConnected(1)).toBe(true)
  })

  test('is taken in when it polls', async () => {
    await start()
    await poll(full(1, 50))
    await poll(goodbye(1, 51))
    expect(isConnected(1)).toBe(false)
    expect(flagsOf(await poll(beat(1, 1))) & FULL_STATE).toBe(FULL_STATE)
    expect(isConnected(1)).toBe(true)
  })

  test('is taken in a little later where it begins with the number that it ended with', async () => {
    await start()
    await poll(full(1))
    await poll(goodbye(1, 1))
    await poll(beat(1, 1))
    expect(isConnected(1)).toBe(false)
    scene.server.clock.advance(10_000)
    await poll(beat(1, 1))
    expect(isConnected(1)).toBe(true)
  })
})

describe('a beat that was sent beside the goodbye', () => {
  test.each([0, 1])('does not bring the agent back, %i numbers before it', async (lag) => {
    await start()
    const socket = await join(1)
    await socket.exchange(goodbye(1, 3))
    await socket.exchange(beat(1, 3 - lag))
    expect(isConnected(1)).toBe(false)
    await poll(full(2))
    await poll(goodbye(2, 3))
    await poll(beat(2, 3 - lag))
    expect(isConnected(2)).toBe(false)
  })
})
