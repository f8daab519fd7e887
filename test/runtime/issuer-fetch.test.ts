import { once } from 'node:events'
import { createServer as createProxy } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
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
