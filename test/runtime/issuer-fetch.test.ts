import { once } from 'node:events'
import { createServer as createPlain, createServer as createProxy, type ServerResponse } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { readProxySettings } from '../../lib/outbound/proxy.ts'
import { createIssuerFetch } from '../../runtime/issuer-fetch.ts'
import { selfSignedCertificate } from '../support/certificates.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const HOST = 'id.example.com'

/** Start a provider that answers with these bytes, behind a proxy, both on this machine; returns how to call it. */
async function startProvider(answer: string) {
  const certificate: ServerOptions = selfSignedCertificate([HOST])
  const provider = createServer(certificate, (_request, response) => {
    response.socket!.end(answer)
  })
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  const { port } = provider.address() as AddressInfo
  const proxy = createProxy()
  // The proxy connects to the test's provider whatever address is asked for.
  proxy.on('connect', (_request, socket) => {
    const on = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      on.pipe(socket).pipe(on)
    })
    for (const end of [on, socket]) end.on('error', () => undefined)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  cleanups.push(
    () => provider.close(),
    () => proxy.close(),
  )
  const https = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const read = readProxySettings({ http: '', https, noProxy: '' })
  if (!read.ok) throw new Error(read.error)
  const call = createIssuerFetch(read.settings, certificate.cert as string)
  return () => call(`https://${HOST}/token`, { method: 'POST', body: 'x', redirect: 'manual' })
}

const answerOf = (status: string, headers = '') =>
  `HTTP/1.1 ${status}\r\nContent-Length: 2\r\n${headers}\r\n{}`

describe('an identity provider behind a proxy', () => {
  it('is answered by with its status, headers and body', async () => {
    const call = await startProvider(answerOf('400 Bad Request', 'X-A: b\r\n'))
    const response = await call()
    expect([response.status, response.headers.get('x-a'), await response.text()]).toEqual([400, 'b', '{}'])
  })

  it.each([
    ['a status that no answer has', answerOf('999 No')],
    ['a status below those of answers', 'HTTP/1.1 099 No\r\nContent-Length: 0\r\n\r\n'],
    ['nothing', ''],
    ['no HTTP', 'hello\r\n\r\n'],
  ])('that answers with %s has failed, and nothing else has', async (_, answer) => {
    const call = await startProvider(answer)
    await expect(call()).rejects.toThrow('fetch failed')
  })

  it('may say that there is nothing to read', async () => {
    const call = await startProvider('HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n')
    expect((await call()).status).toBe(205)
  })
})

describe('an identity provider that is called directly', () => {
  const MAX = 4_194_304

  /** Start a provider on this machine; returns how to call it, and how the connection of each answer ended. */
  async function startPlain(answer: (response: ServerResponse) => void) {
    const ends: Promise<unknown>[] = []
    const provider = createPlain((_request, response) => {
      ends.push(once(response, 'close'))
      answer(response)
    })
    provider.listen(0, '127.0.0.1')
    await once(provider, 'listening')
    cleanups.push(() => provider.close())
    const { port } = provider.address() as AddressInfo
    const none = readProxySettings({ http: '', https: '', noProxy: '' })
    if (!none.ok) throw new Error(none.error)
    const call = createIssuerFetch(none.settings)
    const ask = (signal?: AbortSignal) =>
      call(`http://127.0.0.1:${port}/me`, { redirect: 'manual', ...(signal && { signal }) })
    return { ask, ends }
  }

  it('is answered by with its status, headers and body', async () => {
    const { ask } = await startPlain((response) => response.writeHead(400, { 'X-A': 'b' }).end('{}'))
    const response = await ask()
    expect([response.status, response.headers.get('x-a'), await response.text()]).toEqual([400, 'b', '{}'])
    const empty = await startPlain((response) => response.writeHead(204).end())
    expect((await empty.ask()).status).toBe(204)
  })

  it('may answer with four megabytes, also packed, and with no byte more', async () => {
    const zipped = (length: number) => (response: ServerResponse) =>
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(Buffer.alloc(length, ' ')))
    const full = await (await startPlain(zipped(MAX))).ask()
    expect((await full.text()).length).toBe(MAX)
    await expect((await startPlain(zipped(MAX + 1))).ask()).rejects.toThrow('fetch failed')
    const plain = await startPlain((response) => response.end(Buffer.alloc(MAX + 1)))
    await expect(plain.ask()).rejects.toThrow('fetch failed')
  })

  it('is cut off where its answer has no end', async () => {
    const { ask, ends } = await startPlain((response) => {
      const write = () => {
        while (!response.destroyed && response.write('[],'.repeat(10_000)));
      }
      response.on('drain', write)
      write()
    })
    await expect(ask()).rejects.toThrow('fetch failed')
    await Promise.all(ends)
  })

  it('that stops amid its answer is waited for as long as the caller says', async () => {
    const waiting = new AbortController()
    const { ask } = await startPlain((response) => {
      response.write('{')
      waiting.abort(new Error('too late'))
    })
    await expect(ask(waiting.signal)).rejects.toThrow('too late')
  })
})
