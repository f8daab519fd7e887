import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findFreePort } from '../../../runtime/quickstart/ports.ts'
import { selfSignedCertificate } from '../../support/certificates.ts'
import {
  CLIENT_ID,
  CLIENT_SECRET,
  openJar,
  startProvider,
  type TestProvider,
} from '../../support/oidc/provider.ts'
import { BUNDLE, type Service, startService } from '../support/service.ts'

// The provider has a name that only the proxy can resolve, as behind the proxy of a company.
const HOST = 'login.muster.test'
const ISSUER = `https://${HOST}`
const FORWARDED = { 'x-forwarded-host': HOST, 'x-forwarded-proto': 'https' }
const asked: string[] = []
let folder: string
let provider: TestProvider
let front: ReturnType<typeof createTlsServer>
let proxy: Server
let service: Service
let publicUrl: string
let settings: Record<string, string>

/** Start a TLS server with the provider's name, which forwards requests to the provider. */
async function startFront(certificate: { key: string; cert: string }): Promise<void> {
  front = createTlsServer(certificate, (incoming, response) => {
    const { method, url: path, headers } = incoming
    const onward = request({
      host: '127.0.0.1',
      port: provider.port,
      method,
      path,
      agent: false,
      headers: { ...headers, ...FORWARDED },
    })
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    incoming.pipe(onward)
  })
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
}

/** Start a proxy that asks for a password, and connects to the front whatever address is asked for. */
async function startProxy(): Promise<number> {
  proxy = createServer((client) => {
    client.on('error', () => undefined)
    client.once('data', (chunk) => {
      const head = chunk.toString('latin1')
      asked.push(head.split('\r\n')[0] ?? '')
      if (!head.includes(`Basic ${Buffer.from('muster:s3cret').toString('base64')}`)) {
        client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
        return
      }
      const upstream = connect((front.address() as AddressInfo).port, '127.0.0.1')
      upstream.on('error', () => client.destroy())
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      client.pipe(upstream).pipe(client)
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return (proxy.address() as AddressInfo).port
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-e2e-issuer-'))
  const port = await findFreePort('127.0.0.1')
  publicUrl = `http://127.0.0.1:${port}`
  provider = await startProvider(publicUrl, { issuer: ISSUER })
  await provider.tell({ claims: { sub: 'grace', email: 'grace@example.com', groups: ['otel'] } })
  const certificate = selfSignedCertificate([HOST])
  await startFront(certificate)
  const proxyPort = await startProxy()
  await writeFile(join(folder, 'authority.pem'), certificate.cert)
  settings = {
    MUSTER_PUBLIC_URL: publicUrl,
    OIDC_ISSUER: ISSUER,
    OIDC_CLIENT_ID: CLIENT_ID,
    OIDC_CLIENT_SECRET: CLIENT_SECRET,
    OIDC_SCOPES: 'openid profile email groups',
    OIDC_GROUP_MAP: '{"otel": "editor"}',
    NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
    HTTPS_PROXY: `http://muster:s3cret@127.0.0.1:${proxyPort}`,
  }
  service = await startService({ args: [BUNDLE], env: settings, apiPort: port })
})

afterAll(async () => {
  await service?.stop()
  await provider?.stop()
  front?.closeAllConnections()
  front?.close()
  proxy?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Sign in as a browser would. The browser reaches the provider without the proxy. */
async function signIn(): Promise<{ landed: string; token: string | undefined }> {
  const jar = openJar()
  const own = new URL(publicUrl).host
  let url = new URL(`${publicUrl}/api/auth/oidc/login?next=/drift`)
  for (let steps = 0; steps < 12; steps++) {
    if (url.host === own && !url.pathname.startsWith('/api/')) break
    const isProvider = url.host === HOST
    const address = isProvider ? `http://127.0.0.1:${provider.port}${url.pathname}${url.search}` : url.href
    const response = await jar.get(address, isProvider ? { headers: FORWARDED } : {})
    const location = response.headers.get('location')
    if (location === null) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
    url = new URL(location, url)
  }
  return { landed: url.pathname + url.search, token: jar.cookie(own, 'om_session') }
}

test('somebody signs in though the provider is reached by the proxy only: discovery, token, keys and user info', async () => {
  const { landed, token } = await signIn()
  expect({ landed, output: service.output() }).toMatchObject({ landed: '/drift' })
  const me = await fetch(`${publicUrl}/api/me`, { headers: { authorization: `Bearer ${token}` } })
  expect(await me.json()).toMatchObject({ email: 'grace@example.com', groups: [{ name: 'editor' }] })
  expect(new Set(asked)).toEqual(new Set([`CONNECT ${HOST}:443 HTTP/1.1`]))
  expect(asked.length).toBeGreaterThanOrEqual(4)
})

test('a proxy that gives no way through is a provider that is away, and its password is told nowhere', async () => {
  await service.stop()
  const wrong = { ...settings, HTTPS_PROXY: settings['HTTPS_PROXY']!.replace('s3cret', 'wrong-one') }
  service = await startService({ args: [BUNDLE], env: wrong, apiPort: Number(new URL(publicUrl).port) })
  const { landed, token } = await signIn()
  expect({ landed, token }).toEqual({ landed: '/login?sso=refused', token: undefined })
  expect(service.output()).toContain('proxy-answered-407')
  expect(service.output()).not.toContain('wrong-one')
})
