import { connect, type Socket } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { useTestService } from '../support/service.ts'

const database = await useTestDatabase()
const service = await useTestService(database)
const sockets: Socket[] = []
afterAll(() => {
  for (const socket of sockets) socket.destroy()
})

/** Begin a login whose last byte never comes; resolves with the status once the server answers. */
const beginLogin = (length: number): Promise<string> => begin('/api/auth/login', length)

/** Begin a request whose last byte never comes; resolves with the status once the server answers. */
function begin(path: string, length: number, token?: string): Promise<string> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => undefined)
  const head = [`POST ${path} HTTP/1.1`, 'Host: muster', `Content-Length: ${length}`]
  if (token !== undefined) head.push(`Authorization: Bearer ${token}`)
  head.push('', '')
  socket.write(head.join('\r\n'))
  socket.write(Buffer.alloc(length - 1, 32))
  return new Promise((resolve) => {
    socket.once('data', (answer: Buffer) => resolve(answer.toString().split(' ')[1] ?? ''))
  })
}

describe('bodies that one user begins and never ends', () => {
  it('leave room for those of everybody else', async () => {
    const [viewer, token] = [await service.token({ groups: ['viewer'] }), await service.token()]
    const begun = Array.from({ length: 40 }, () => begin('/api/configs/diff', 2_000_000, viewer))
    expect(await Promise.any(begun)).toBe('503')
    const answer = await service.call('POST', '/api/configs/diff', {
      as: token,
      body: { base_yaml: `# ${'x'.repeat(1_900_000)}\na: 1`, target_yaml: 'a: 2' },
    })
    expect(answer.status).toBe(200)
    for (const socket of sockets.splice(0)) socket.destroy()
  })
})

describe('bodies that strangers begin and never end', () => {
  it('leave room for those of everybody else', async () => {
    const token = await service.token()
    const begun = Array.from({ length: 70 }, () => beginLogin(1_048_576))
    // At least one is refused: because the others take all the room, or because it is too long.
    await Promise.any(begun)
    const more = Array.from({ length: 400 }, () => beginLogin(8_300))
    await Promise.any(more)
    const answer = await service.call('POST', '/api/configs/diff', {
      as: token,
      body: { base_yaml: `# ${'x'.repeat(1_000_000)}\na: 1`, target_yaml: 'a: 2' },
    })
    expect(answer.status).toBe(200)
  })

  it('are short wherever nobody has to be signed in', () => {
    for (const { id, definition } of loadFunctions(FUNCTIONS).http) {
      if (definition.access.kind === 'signed-in' || definition.body.kind === 'none') continue
      expect(definition.body.bytesMax, id).toBeLessThanOrEqual(8_192)
    }
  })
})
