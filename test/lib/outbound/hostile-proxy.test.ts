import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { postWebhook, systemWebhookNetwork, type WebhookNetwork } from '../../../lib/alerts/webhook-client.ts'
import { type ProxySettings, readProxySettings } from '../../../lib/outbound/proxy.ts'
import { createIssuerFetch } from '../../../runtime/issuer-fetch.ts'
import { selfSignedCertificate } from '../../support/certificates.ts'

// A proxy on the way out sees what is asked of it, and may answer what it likes: it gets neither what is sent to the
// endpoint nor the process's time or memory, and leads nobody to another place.
const SECRET = 'what-only-the-endpoint-may-read'
const HOST = 'hooks.example.com'
const PUBLIC = '93.184.216.34'
const other = selfSignedCertificate(['other.example.com'])
const own = selfSignedCertificate([HOST])

const servers: Server[] = []
const sockets = new Set<Socket>()
const timers: NodeJS.Timeout[] = []
afterEach(async () => {
  for (const timer of timers.splice(0)) clearInterval(timer)
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  for (const server of servers.splice(0)) {
    server.close()
    if (server.listening) await once(server, 'close')
  }
})

/** Start a proxy that does this with each connection once it was asked; says what it has heard. */
async function proxy(answer: (client: Socket) => void): Promise<HostileProxy> {
  const heard: string[] = []
  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => undefined)
    client.once('data', (asked: Buffer) => {
      heard.push(asked.toString('latin1'))
      client.on('data', (more: Buffer) => void heard.push(more.toString('latin1')))
      answer(client)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  servers.push(server)
  const { port } = server.address() as AddressInfo
  const read = readProxySettings({ http: '', https: `http://user:pass@127.0.0.1:${port}`, noProxy: '' })
  if (!read.ok) throw new Error(read.error)
  return { heard, settings: read.settings }
}

/** Speak TLS on a connection as the endpoint behind a proxy would, with this certificate; `said` is what it decrypts. */
function endpointOn(
  client: Socket,
  certificate: { key: string; cert: string },
  said: string[],
  reply: (socket: TLSSocket) => void,
): void {
  client.removeAllListeners('data')
  const socket = new TLSSocket(client, { isServer: true, ...certificate })
  socket.on('error', () => undefined)
  socket.on('data', (chunk: Buffer) => {
    said.push(chunk.toString('latin1'))
    reply(socket)
  })
  client.write('HTTP/1.1 200 OK\r\n\r\n')
}

interface HostileProxy {
  heard: string[]
  settings: ProxySettings
}

function webhook(through: HostileProxy, more: Partial<WebhookNetwork> = {}, url = `https://${HOST}/x`) {
  const network = {
    ...systemWebhookNetwork,
    resolve: async () => [PUBLIC],
    trustedCertificates: own.cert,
    timeoutMs: 60_000,
    ...more,
    proxies: through.settings,
  }
  return postWebhook(url, Buffer.from(SECRET), network, new AbortController().signal)
}

function issuer(through: HostileProxy, signal: AbortSignal) {
  const call = createIssuerFetch(through.settings, own.cert)
  return call(`https://${HOST}/token`, { method: 'POST', body: SECRET, redirect: 'manual', signal })
}

const failure = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call
    return 'no failure'
  } catch (error) {
    const { cause } = error as Error
    return `${String(error)} ${String(cause)} ${(cause as { code?: string })?.code ?? ''}`
  }
}

/** Write this again and again, each time that there is room, until the other side has gone. */
function forEver(client: Socket, piece: string): void {
  const write = () => {
    let hasRoom = true
    while (hasRoom && !client.destroyed) hasRoom = client.write(piece)
  }
  client.on('drain', write)
  write()
}

const ANSWERS: Readonly<Record<string, readonly [answer: (client: Socket) => void, cause: string]>> = {
  redirects: [
    (client) => client.end('HTTP/1.1 302 Found\r\nLocation: https://evil.example.com/\r\n\r\n'),
    'proxy-answered-302',
  ],
  'asks for another password each time': [
    (client) => client.end('HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm="x"\r\n\r\n'),
    'proxy-answered-407',
  ],
  'never ends its headers': [
    (client) => {
      client.write('HTTP/1.1 200 OK\r\n')
      forEver(client, `X-Header: ${'x'.repeat(1_000)}\r\n`)
    },
    'proxy-answer-too-long',
  ],
  'never ends the answers before the answer': [
    (client) => forEver(client, 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000)),
    'proxy-answered-100',
  ],
  'sends what is no TLS after it agreed, without end': [
    (client) => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      forEver(client, 'x'.repeat(10_000))
    },
    '',
  ],
  'goes away after it agreed': [(client) => client.end('HTTP/1.1 200 OK\r\n\r\n'), ''],
}

describe('a proxy on the way out', () => {
  it.each(Object.entries(ANSWERS))('that %s is a call that failed, once', async (_, [answer, cause]) => {
    const first = await proxy(answer)
    expect(await webhook(first)).toMatchObject({ ok: false, code: 'connection-failed' })
    if (cause !== '') expect(await webhook(first)).toMatchObject({ cause })
    const second = await proxy(answer)
    const failed = await failure(issuer(second, new AbortController().signal))
    expect(failed).toContain('fetch failed')
    expect(failed).toContain(cause)
    expect(second.heard.filter((text) => text.startsWith('CONNECT'))).toHaveLength(1)
    for (const text of [...first.heard, ...second.heard, failed]) expect(text).not.toContain(SECRET)
    expect(failed).not.toContain('pass')
  })

  it('that drips its answer is given up when the time of the call is over', async () => {
    const drip = await proxy((client) => {
      timers.push(setInterval(() => client.write('H'), 5))
    })
    expect(await webhook(drip, { timeoutMs: 200 })).toEqual({ ok: false, code: 'timed-out' })
    const failed = await failure(issuer(drip, AbortSignal.timeout(200)))
    expect(failed).toContain('TimeoutError')
  })

  it('that speaks for the endpoint itself, with the certificate of another host, is told nothing', async () => {
    const said: string[] = []
    const middle = await proxy((client) => endpointOn(client, other, said, () => undefined))
    // Also where that certificate is one that is trusted.
    expect(await webhook(middle, { trustedCertificates: other.cert })).toMatchObject({
      cause: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
    const call = createIssuerFetch(middle.settings, other.cert)
    const asked = { method: 'POST', body: SECRET, redirect: 'manual' as const }
    expect(await failure(call(`https://${HOST}/token`, asked))).toContain('ERR_TLS_CERT_ALTNAME_INVALID')
    expect(said).toEqual([])
  })

  it('never gets the password of the proxy on to the endpoint, nor the body of the call', async () => {
    const said: string[] = []
    const honest = await proxy((client) =>
      endpointOn(client, own, said, (socket) => socket.end('HTTP/1.1 204 No\r\nConnection: close\r\n\r\n')),
    )
    expect(await webhook(honest)).toMatchObject({ ok: true })
    expect(said.join('')).toContain(SECRET)
    expect(said.join('').toLowerCase()).not.toContain('proxy-authorization')
    expect(honest.heard.join('')).not.toContain(SECRET)
  })

  it('brings an answer of the issuer only up to its bound', async () => {
    const endless = await proxy((client) =>
      endpointOn(client, own, [], (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n')
        forEver(socket, ' '.repeat(65_536))
      }),
    )
    expect(await failure(issuer(endless, new AbortController().signal))).toContain('fetch failed')
  })
})

describe('the address policy, with a proxy on the way out', () => {
  it.each([
    'https://169.254.169.254/latest',
    'https://[fd00:ec2::254]/latest',
    'https://[::ffff:169.254.169.254]/latest',
    'https://2852039166/latest',
    'https://0xA9FEA9FE/latest',
    'https://0251.0376.0251.0376/latest',
    'https://169.254.43518/latest',
    'https://100.100.100.200/latest',
    'https://metadata.google.internal/computeMetadata/v1',
    'https://metadata/latest',
    'https://169.254.169.254.nip.example.com/latest',
  ])('keeps %s from it', async (url) => {
    const asked = await proxy((client) => client.end('HTTP/1.1 200 OK\r\n\r\n'))
    // A name outside that somebody else's name server lets point inside.
    const resolve = async () => ['169.254.169.254']
    expect(await webhook(asked, { resolve }, url)).toMatchObject({ ok: false, code: 'refused' })
    expect(asked.heard).toEqual([])
  })

  it('asks it for the very address that was judged, though the name has another one by then', async () => {
    let asks = 0
    const resolve = async () => [asks++ === 0 ? PUBLIC : '169.254.169.254']
    const asked = await proxy((client) => client.end('HTTP/1.1 503 No\r\n\r\n'))
    await webhook(asked, { resolve })
    expect(asked.heard[0]).toMatch(
      /^CONNECT 93\.184\.216\.34:443 HTTP\/1\.1\r\nHost: 93\.184\.216\.34:443\r\n/,
    )
    expect(await webhook(asked, { resolve })).toMatchObject({ code: 'refused' })
    expect([asks, asked.heard.length]).toEqual([2, 1])
  })

  it('refuses a name of which one address lies inside', async () => {
    const asked = await proxy((client) => client.end('HTTP/1.1 200 OK\r\n\r\n'))
    const resolve = async () => [PUBLIC, '10.0.0.1']
    expect(await webhook(asked, { resolve })).toMatchObject({ code: 'refused' })
    expect(asked.heard).toEqual([])
  })
})
