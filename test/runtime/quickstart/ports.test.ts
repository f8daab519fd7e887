import { createServer, type Server } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { chooseAddress, findFreePort, isPortFree } from '../../../runtime/quickstart/ports.ts'

let server: Server | null = null

async function occupy(): Promise<number> {
  const port = await findFreePort('127.0.0.1')
  const listening = createServer()
  await new Promise<void>((resolve) => listening.listen(port, '127.0.0.1', resolve))
  server = listening
  return port
}

afterEach(async () => {
  await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()))
  server = null
})

describe('the port of the quick start', () => {
  test('is the preferred one when nobody listens there', async () => {
    const port = await findFreePort('127.0.0.1')
    expect(await chooseAddress('LISTEN_ADDR', undefined, port)).toEqual({
      host: '127.0.0.1',
      port,
      busyPort: null,
    })
  })

  test('is the next free one when the preferred one is taken, and says which that was', async () => {
    const taken = await occupy()
    const chosen = await chooseAddress('LISTEN_ADDR', '', taken)
    expect(chosen.busyPort).toBe(taken)
    expect(chosen.port).toBeGreaterThan(taken)
    expect(await isPortFree('127.0.0.1', chosen.port)).toBe(true)
  })

  test('is never one that the other listener has', async () => {
    const port = await findFreePort('127.0.0.1')
    expect((await chooseAddress('OPAMP_ADDR', undefined, port, [port])).port).not.toBe(port)
  })

  test('is an error when the variable names one that is taken', async () => {
    const taken = await occupy()
    await expect(chooseAddress('LISTEN_ADDR', `127.0.0.1:${taken}`, 8080)).rejects.toThrow(
      `Port ${taken} of LISTEN_ADDR is taken`,
    )
  })

  test('is an error when the variable names no address', async () => {
    await expect(chooseAddress('OPAMP_ADDR', 'here', 4320)).rejects.toThrow(
      'OPAMP_ADDR must be host:port or :port',
    )
  })
})
