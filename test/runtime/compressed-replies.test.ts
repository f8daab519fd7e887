import { once } from 'node:events'
import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { CompressedReplies } from '../../runtime/compressed-replies.ts'
import { jsonText, type Reply, text } from '../../runtime/reply.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { useTestService } from '../support/service.ts'

const database = await useTestDatabase()
const service = await useTestService(database)

/** An answer as it came over the wire. */
async function raw(path: string, encoding: string, method = 'GET') {
  const { port } = new URL(service.url)
  const headers = { 'accept-encoding': encoding }
  const call = request({ host: '127.0.0.1', port, method, path, headers })
  call.end()
  const [answer] = (await once(call, 'response')) as [import('node:http').IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  return { headers: answer.headers, body: Buffer.concat(chunks) }
}

describe('a long JSON answer', () => {
  it('is compressed for whoever takes that, and is the same', async () => {
    const plain = await raw('/api/openapi.json', 'identity')
    const packed = await raw('/api/openapi.json', 'gzip, deflate, br, zstd')
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding, Origin' })
    expect(packed.body.length).toBeLessThan(plain.body.length / 4)
    expect(gunzipSync(packed.body).equals(plain.body)).toBe(true)
    expect((await raw('/api/openapi.json', 'gzip;q=0, br')).headers['content-encoding']).toBeUndefined()
    expect((await raw('/api/openapi.json', 'gzip', 'HEAD')).headers['content-encoding']).toBeUndefined()
  })

  it('is left as it is where it is short', async () => {
    const { headers, body } = await raw('/api/auth/methods', 'gzip')
    expect(body.length).toBeLessThan(16_384)
    expect(headers['content-encoding']).toBeUndefined()
  })
})

const ROW = `${JSON.stringify({ name: 'otel-gateway', status: 'connected' })},`

/** An answer in pieces, that tells when it is over. */
function inPieces(count: number): { reply: Reply; isOver: () => boolean } {
  let isOver = false
  const pieces = async function* () {
    try {
      for (let at = 0; at < count; at++) yield ROW.repeat(100)
    } finally {
      isOver = true
    }
  }
  return { reply: jsonText(pieces()), isOver: () => isOver }
}

/** Somebody who asks, and may leave. */
function asking() {
  const left: (() => void)[] = []
  return {
    method: 'GET',
    header: (name: string) => (name === 'accept-encoding' ? 'gzip' : ''),
    isAborted: () => false,
    onAborted: (run: () => void) => void left.push(run),
    leave: () => {
      for (const run of left) run()
    },
  }
}

async function readAll(body: Reply['body']): Promise<Buffer> {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body ?? '')
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(Buffer.from(chunk as Uint8Array))
  return Buffer.concat(chunks)
}

describe('an answer in pieces', () => {
  it('is compressed as it is made, and ends', async () => {
    const { reply, isOver } = inPieces(50)
    const packed = await new CompressedReplies().of(reply, asking())
    expect(packed.headers).toMatchObject({ 'Content-Encoding': 'gzip' })
    expect(gunzipSync(await readAll(packed.body)).toString()).toBe(ROW.repeat(5_000))
    expect(isOver()).toBe(true)
  })

  it('is left as it is where it is short', async () => {
    const { reply } = inPieces(1)
    const same = await new CompressedReplies().of(reply, asking())
    expect(same.headers).toEqual(reply.headers)
    expect((await readAll(same.body)).toString()).toBe(ROW.repeat(100))
  })

  it('ends for one who leaves, and makes room for others', async () => {
    const compressed = new CompressedReplies()
    const many = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const [{ reply, isOver }, caller] = [inPieces(10_000), asking()]
        return { packed: await compressed.of(reply, caller), caller, isOver }
      }),
    )
    const taken = many.filter(({ packed }) => packed.headers['Content-Encoding'] === 'gzip')
    expect(taken.length).toBe(16)
    for (const { caller } of taken) caller.leave()
    await expect.poll(() => taken.every(({ isOver }) => isOver())).toBe(true)
    const { headers } = await compressed.of(inPieces(50).reply, asking())
    expect(headers).toMatchObject({ 'Content-Encoding': 'gzip' })
  })

  it('tells of what breaks in it, so that its connection is cut', async () => {
    const pieces = async function* () {
      yield ROW.repeat(1_000)
      throw new Error('the database is gone')
    }
    const packed = await new CompressedReplies().of(jsonText(pieces()), asking())
    await expect(readAll(packed.body)).rejects.toThrow()
  })

  it('is no other kind of answer', async () => {
    const plain = text(ROW.repeat(1_000))
    expect(await new CompressedReplies().of(plain, asking())).toBe(plain)
  })
})
