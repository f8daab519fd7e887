import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { judgeAddress } from '../../../lib/alerts/address-policy.ts'
import {
  postWebhook,
  systemWebhookNetwork,
  type WebhookNetwork,
  type WebhookOutcome,
} from '../../../lib/alerts/webhook-client.ts'
import { DIRECT, readProxySettings } from '../../../lib/outbound/proxy.ts'
import { selfSignedCertificate } from '../../support/certificates.ts'

const HOOK = 'hooks.example.com'
const OTHER = 'other.example.com'
const certificate = selfSignedCertificate([HOOK, OTHER])
const BODY = new TextEncoder().encode('{"event":"alert_fired"}')
const never = new AbortController().signal

interface Seen {
  method: string
  path: string
  host: string
  type: string
  body: string
}

const open: (Server | ReturnType<typeof createTcpServer>)[] = []
const sockets = new Set<Socket>()

afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  for (const server of open.splice(0)) {
    server.close()
    await once(server, 'close')
  }
})

type Answer = (seen: Seen, response: ServerResponse, request: IncomingMessage) => void

async function listen(server: (typeof open)[number]): Promise<number> {
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  open.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Start a real HTTPS server that keeps the requests that it gets. */
async function endpoint(answer: Answer): Promise<{ port: number; seen: Seen[] }> {
  const seen: Seen[] = []
  const server = createServer(certificate, (request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      const entry = {
        method: request.method!,
        path: request.url!,
        host: request.headers.host!,
        type: request.headers['content-type']!,
        body,
      }
      seen.push(entry)
      answer(entry, response, request)
    })
  })
  return { port: await listen(server), seen }
}

/** The real policy, but for the one loopback address that the test servers listen on. */
function network(overrides: Partial<WebhookNetwork> = {}): WebhookNetwork {
  return {
    resolve: async () => ['127.0.0.1'],
    judgeAddress: (address) => (address === '127.0.0.1' ? { ok: true } : judgeAddress(address)),
    trustedCertificates: certificate.cert,
    timeoutMs: 5_000,
    proxies: DIRECT,
    ...overrides,
  }
}

const post = (url: string, net = network(), stop = never): Promise<WebhookOutcome> =>
  postWebhook(url, BODY, net, stop)

describe('postWebhook', () => {
  it('posts the body over TLS to the pinned address, under the name of the URL', async () => {
    const { port, seen } = await endpoint((_, response) => response.writeHead(204).end())
    const outcome = await post(`https://${HOOK}:${port}/services/T0?x=1#fragment`)
    expect(outcome).toEqual({ ok: true, status: 204, hops: 0 })
    expect(seen).toEqual([
      {
        method: 'POST',
        path: '/services/T0?x=1',
        host: `${HOOK}:${port}`,
        type: 'application/json',
        body: '{"event":"alert_fired"}',
      },
    ])
  })

  it.each([400, 404, 429, 500, 503])('reports status %i as a failure', async (status) => {
    const { port } = await endpoint((_, response) => response.writeHead(status).end('no'))
    expect(await post(`https://${HOOK}:${port}/`)).toEqual({
      ok: false,
      code: 'error-status',
      status,
      hop: 0,
    })
  })

  it('refuses a certificate that is not trusted, or that names another host', async () => {
    const { port, seen } = await endpoint((_, response) => response.end())
    const untrusted = await post(`https://${HOOK}:${port}/`, network({ trustedCertificates: null }))
    expect(untrusted).toMatchObject({ code: 'connection-failed', cause: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    const misnamed = await post(`https://wrong.example.com:${port}/`)
    expect(misnamed).toMatchObject({ code: 'connection-failed', cause: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    expect(seen).toEqual([])
  })

  it.each([
    ['one unsafe address after a safe one', ['127.0.0.1', '10.0.0.1'], 'private'],
    ['the metadata service', ['169.254.169.254'], 'metadata-service'],
    ['a mapped loopback address', ['::ffff:127.0.0.2'], 'loopback'],
    ['a NAT64 form', ['64:ff9b::7f00:1'], 'translation'],
  ])('opens no connection to a name with %s', async (_, addresses, range) => {
    const { port, seen } = await endpoint((_seen, response) => response.end())
    const outcome = await post(`https://${HOOK}:${port}/`, network({ resolve: async () => addresses }))
    expect(outcome).toEqual({
      ok: false,
      code: 'refused',
      reason: range,
      hop: 0,
    })
    expect(seen).toEqual([])
  })

  it('refuses an answer of the resolver with a zone, without addresses, or none at all', async () => {
    const zoned = await post(`https://${HOOK}/`, network({ resolve: async () => ['fe80::1%eth0'] }))
    expect(zoned).toMatchObject({ code: 'refused', reason: 'zone-id' })
    const empty = await post(`https://${HOOK}/`, network({ resolve: async () => [] }))
    expect(empty).toMatchObject({ code: 'name-not-resolved' })
    const unknown = await post(
      `https://${HOOK}/`,
      network({ resolve: () => Promise.reject(new Error('ENOTFOUND')) }),
    )
    expect(unknown).toMatchObject({ code: 'name-not-resolved' })
  })

  it('asks the resolver once for a connection and uses that very answer', async () => {
    const { port } = await endpoint((_, response) => response.end())
    const asked: string[] = []
    const rebinding = network({
      resolve: async (host) => {
        asked.push(host)
        return asked.length === 1 ? ['127.0.0.1'] : ['10.0.0.1']
      },
    })
    expect(await post(`https://${HOOK}:${port}/`, rebinding)).toMatchObject({ ok: true })
    expect(asked).toEqual([HOOK])
  })

  it.each([307, 308])('repeats the POST with its body after a %i', async (status) => {
    const { port, seen } = await endpoint((request, response) =>
      request.path === '/first'
        ? response.writeHead(status, { Location: `https://${OTHER}:${port}/second` }).end()
        : response.writeHead(200).end(),
    )
    expect(await post(`https://${HOOK}:${port}/first`)).toEqual({ ok: true, status: 200, hops: 1 })
    expect(seen.map((one) => [one.method, one.host, one.path, one.body])).toEqual([
      ['POST', `${HOOK}:${port}`, '/first', '{"event":"alert_fired"}'],
      ['POST', `${OTHER}:${port}`, '/second', '{"event":"alert_fired"}'],
    ])
  })

  it.each([300, 301, 302, 303, 304])('does not follow a %i', async (status) => {
    const { port, seen } = await endpoint((_, response) => {
      response.writeHead(status, { Location: `https://${HOOK}:${port}/next` }).end()
    })
    expect(await post(`https://${HOOK}:${port}/`)).toEqual({
      ok: false,
      code: 'redirect-not-followed',
      status,
      hop: 0,
    })
    expect(seen).toHaveLength(1)
  })

  it.each([
    ['http://hooks.example.com/', 'not-https'],
    ['https://10.1.2.3/', 'private'],
    ['//169.254.169.254/latest', 'metadata-service'],
    ['https://localhost/', 'local-name'],
    ['https://u:p@hooks.example.com/', 'has-userinfo'],
    ['https://[::1]/', 'loopback'],
  ])('refuses a redirect to %s', async (location, reason) => {
    const { port } = await endpoint((_, response) => response.writeHead(307, { Location: location }).end())
    const outcome = await post(`https://${HOOK}:${port}/`)
    expect(outcome).toMatchObject({ ok: false, code: 'refused', hop: 1, reason })
  })

  it('judges the addresses of the second hop anew', async () => {
    const { port } = await endpoint((_, response) => {
      response.writeHead(307, { Location: `https://${OTHER}:${port}/` }).end()
    })
    const net = network({ resolve: async (host) => (host === OTHER ? ['192.168.0.9'] : ['127.0.0.1']) })
    expect(await post(`https://${HOOK}:${port}/`, net)).toMatchObject({
      code: 'refused',
      hop: 1,
      reason: 'private',
    })
  })

  it('follows five redirects and not a sixth', async () => {
    const { port, seen } = await endpoint((request, response) => {
      const left = Number(request.path.slice(1))
      if (left === 0) response.writeHead(200).end()
      else response.writeHead(308, { Location: `/${left - 1}` }).end()
    })
    expect(await post(`https://${HOOK}:${port}/5`)).toEqual({ ok: true, status: 200, hops: 5 })
    expect(await post(`https://${HOOK}:${port}/6`)).toEqual({ ok: false, code: 'too-many-redirects' })
    expect(seen).toHaveLength(12)
  })

  it('does not read the body of the answer: it cuts the connection after the headers', async () => {
    let isCut: Promise<unknown> = Promise.resolve()
    const { port } = await endpoint((_, response) => {
      isCut = once(response, 'close')
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      }
      response.on('drain', more)
      response.on('error', () => {})
      more()
    })
    expect(await post(`https://${HOOK}:${port}/`)).toMatchObject({ ok: true, status: 200 })
    await isCut
  })

  it('gives up on a header that never ends', async () => {
    const { port } = await endpoint((_, response) => {
      response.socket!.write(`HTTP/1.1 200 OK\r\nX-Long: ${'a'.repeat(20_000)}`)
    })
    expect(await post(`https://${HOOK}:${port}/`)).toMatchObject({
      code: 'connection-failed',
      cause: 'HPE_HEADER_OVERFLOW',
    })
  })

  it.each(['an endpoint that does not answer', 'a server that does not speak TLS', 'a resolver that hangs'])(
    'ends in time before %s',
    async (kind) => {
      const silent = await endpoint(() => {})
      const mute = await listen(createTcpServer(() => {}))
      const port = kind.startsWith('a server') ? mute : silent.port
      const hangs = kind.startsWith('a resolver')
      const net = network({ timeoutMs: 150, ...(hangs ? { resolve: () => new Promise(() => {}) } : {}) })
      expect(await post(`https://${HOOK}:${port}/`, net)).toEqual({ ok: false, code: 'timed-out' })
    },
  )

  it('counts redirects into the one time limit', async () => {
    const { port } = await endpoint((request, response) => {
      if (request.path === '/') response.writeHead(307, { Location: '/slow' }).end()
    })
    const outcome = await post(`https://${HOOK}:${port}/`, network({ timeoutMs: 300 }))
    expect(outcome).toEqual({ ok: false, code: 'timed-out' })
  })

  it('ends at once when the service stops', async () => {
    const stop = new AbortController()
    const { port } = await endpoint(() => stop.abort())
    expect(await post(`https://${HOOK}:${port}/`, network(), stop.signal)).toMatchObject({
      code: 'timed-out',
    })
    expect(await post(`https://${HOOK}:${port}/`, network(), stop.signal)).toMatchObject({
      code: 'timed-out',
    })
  })

  it('names a refused connection by its code', async () => {
    const { port } = await endpoint(() => {})
    const closed = open.pop()!
    closed.close()
    await once(closed, 'close')
    expect(await post(`https://${HOOK}:${port}/`)).toMatchObject({
      code: 'connection-failed',
      cause: 'ECONNREFUSED',
    })
  })
})

describe('postWebhook through a proxy', () => {
  /**
   * Start a proxy on this machine that connects to the test's server whatever is asked for; with `refusal` it answers
   * that instead.
   */
  async function proxy(refusal?: string): Promise<{ url: string; asked: string[] }> {
    const asked: string[] = []
    const port = await listen(
      createTcpServer((client) => {
        client.on('error', () => {})
        client.once('data', (chunk: Buffer) => {
          asked.push(chunk.toString('latin1'))
          if (refusal !== undefined) return void client.end(refusal)
          const upstream = connect(Number(/:(\d+) HTTP/.exec(asked.at(-1)!)![1]), '127.0.0.1')
          sockets.add(upstream)
          upstream.on('error', () => client.destroy())
          upstream.on('connect', () => {
            client.write('HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n')
            client.pipe(upstream).pipe(client)
          })
        })
      }),
    )
    return { url: `http://user:secret@127.0.0.1:${port}`, asked }
  }
  const through = (https: string, noProxy = '', overrides: Partial<WebhookNetwork> = {}) => {
    const read = readProxySettings({ http: '', https, noProxy })
    if (!read.ok) throw new Error(read.error)
    return network({ ...overrides, proxies: read.settings })
  }

  it('asks it for the address that was judged, and speaks TLS with the endpoint under its name', async () => {
    const [{ port, seen }, { url, asked }] = [await endpoint((_, response) => response.end()), await proxy()]
    expect(await post(`https://${HOOK}:${port}/a`, through(url))).toEqual({ ok: true, status: 200, hops: 0 })
    expect(seen).toMatchObject([{ host: `${HOOK}:${port}`, path: '/a', body: '{"event":"alert_fired"}' }])
    const authorization = `Basic ${Buffer.from('user:secret').toString('base64')}`
    expect(asked).toEqual([
      `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nProxy-Authorization: ${authorization}\r\n\r\n`,
    ])
    expect(await post(`https://wrong.example.com:${port}/`, through(url))).toMatchObject({
      code: 'connection-failed',
      cause: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
    const untrusted = through(url, '', { trustedCertificates: null })
    expect(await post(`https://${HOOK}:${port}/`, untrusted)).toMatchObject({
      cause: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    })
  })

  it('never asks it for an address that the policy refuses, first or after a redirect', async () => {
    const { url, asked } = await proxy()
    const inside = through(url, '', { resolve: async () => ['10.0.0.1'] })
    expect(await post(`https://${HOOK}/`, inside)).toMatchObject({ code: 'refused', reason: 'private' })
    expect(asked).toEqual([])
    const { port } = await endpoint((_, response) =>
      response.writeHead(307, { Location: 'https://169.254.169.254/' }).end(),
    )
    expect(await post(`https://${HOOK}:${port}/`, through(url))).toMatchObject({
      code: 'refused',
      reason: 'metadata-service',
      hop: 1,
    })
    expect(asked).toHaveLength(1)
  })

  it('leaves it out for what NO_PROXY names', async () => {
    const [{ port, seen }, { url, asked }] = [await endpoint((_, response) => response.end()), await proxy()]
    expect(await post(`https://${HOOK}:${port}/`, through(url, 'example.com'))).toMatchObject({ ok: true })
    expect(seen).toHaveLength(1)
    expect(asked).toEqual([])
  })

  it.each([
    ['HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', 'proxy-answered-407'],
    ['HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n', 'proxy-answered-503'],
    ['SSH-2.0-x\r\n\r\n', 'proxy-answer-unreadable'],
    [`HTTP/1.1 200 ${'x'.repeat(20_000)}`, 'proxy-answer-too-long'],
    ['', 'proxy-closed'],
  ])('fails on the answer %j', async (answer, cause) => {
    const { url } = await proxy(answer)
    const outcome = await post(`https://${HOOK}/`, through(url))
    expect(outcome).toEqual({ ok: false, code: 'connection-failed', cause, hop: 0 })
  })

  it('ends in time before an endpoint behind it that does not answer', async () => {
    const [{ port }, { url }] = [await endpoint(() => {}), await proxy()]
    const net = through(url, '', { timeoutMs: 150 })
    expect(await post(`https://${HOOK}:${port}/`, net)).toEqual({ ok: false, code: 'timed-out' })
  })

  it('ends in time before a proxy that does not answer, and names one that is away', async () => {
    const port = await listen(createTcpServer(() => {}))
    const silent = through(`http://127.0.0.1:${port}`, '', { timeoutMs: 150 })
    expect(await post(`https://${HOOK}/`, silent)).toEqual({ ok: false, code: 'timed-out' })
    const closed = open.pop()!
    for (const socket of sockets) socket.destroy()
    closed.close()
    await once(closed, 'close')
    expect(await post(`https://${HOOK}/`, through(`http://127.0.0.1:${port}`))).toMatchObject({
      cause: 'proxy-ECONNREFUSED',
    })
  })
})

describe('systemWebhookNetwork', () => {
  it('lets nothing through to this machine, whatever name is used for it', async () => {
    const { port, seen } = await endpoint((_, response) => response.end())
    for (const url of [
      `https://127.0.0.1:${port}/`,
      `https://localhost:${port}/`,
      `https://[::1]:${port}/`,
    ]) {
      expect(await post(url, systemWebhookNetwork)).toMatchObject({ ok: false, code: 'refused' })
    }
    expect(seen).toEqual([])
  })
})
