import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEFAULT_CONFIG, startSimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'
import { selfSignedCertificate } from '../../support/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import { runClient } from '../support/client.ts'
import { BUNDLE, type Service, SHARED_SECRET, startService } from '../support/service.ts'

let folder: string
let service: Service
let agent: ReturnType<typeof startSimulatedAgent>
let token: string
let name: string
const SECOND = DEFAULT_CONFIG.replace('debug:', 'debug:\n    verbosity: detailed')

async function makeToken(permissions: readonly string[]): Promise<string> {
  const body = { name: 'client', permissions, expires_at: new Date(Date.now() + 3_600_000).toISOString() }
  return (await service.api.post('/api/tokens', body, 201)).token
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-e2e-client-'))
  service = await startService({ args: [BUNDLE, '--edition', 'complete'] })
  agent = startSimulatedAgent({ url: service.opampUrl, secret: SHARED_SECRET })
  const workload = await eventually(
    'the agent is listed',
    async () => (await service.api.get('/api/workloads'))[0],
  )
  name = workload.display_name
  for (const config of [DEFAULT_CONFIG, SECOND]) {
    const hash = await service.api.pushConfig(workload.id, config)
    await eventually('the push is applied', async () => {
      const { current_config_push: push } = await service.api.get(`/api/workloads/${workload.id}`)
      return push.config_hash === hash && push.status === 'applied'
    })
  }
  token = await makeToken(['config:read_content', 'config:request', 'workload:push_config'])
})

afterAll(async () => {
  await agent?.stop()
  await service?.stop()
  await rm(folder, { recursive: true, force: true })
})

const signedIn = () => ({ MUSTER_URL: service.url, MUSTER_TOKEN: token })

test('a token that was passed on standard input is kept for its owner, used, and forgotten', async () => {
  const env = { XDG_CONFIG_HOME: join(folder, 'config') }
  const login = await runClient(['login', '--token-stdin', '--url', `${service.url}/`], {
    env,
    input: `${token}\n`,
  })
  expect(login).toMatchObject({ code: 0, output: expect.stringContaining('as admin@example.com') })
  const file = join(folder, 'config/muster/credentials.json')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(login.output).not.toContain(token)
  expect(await runClient(['get', 'workloads'], { env })).toMatchObject({ code: 0 })
  expect(await runClient(['logout'], { env })).toMatchObject({ code: 0 })
  expect(await readFile(file, 'utf8')).not.toContain('mst_')
  const after = await runClient(['get', 'workloads', '--url', service.url], { env })
  expect(after).toMatchObject({ code: 1, output: expect.stringContaining('not signed in') })
})

test('a token that the service does not know is not kept; one that is revoked works nowhere', async () => {
  const env = { XDG_CONFIG_HOME: join(folder, 'other') }
  const wrong = `mst_${'A'.repeat(43)}`
  const login = ['login', '--token-stdin', '--url', service.url]
  expect(await runClient(login, { env, input: wrong })).toMatchObject({ code: 1 })
  await expect(stat(join(folder, 'other/muster/credentials.json'))).rejects.toThrow('ENOENT')
  const own = await makeToken([])
  expect(await runClient(login, { env, input: own })).toMatchObject({ code: 0 })
  expect(await runClient(['logout', '--revoke'], { env })).toMatchObject({ code: 0 })
  expect(
    await runClient(['get', 'alerts'], { env: { MUSTER_URL: service.url, MUSTER_TOKEN: own } }),
  ).toMatchObject({
    code: 1,
    output: expect.stringContaining('unauthorized'),
  })
})

test('records are listed for people and for programs', async () => {
  const table = await runClient(['get', 'workloads'], { env: signedIn() })
  expect(table.code).toBe(0)
  expect(table.output).toMatch(/^NAME +PLACE +STATUS +VERSION/m)
  expect(table.output).toMatch(RegExp(`^${name} +\\S+ +connected`, 'm'))
  // The output is no terminal, so it has no colours.
  expect(table.output).not.toContain('\u001b')
  for (const [kind, ...of] of [
    ['workloads'],
    ['instances', name],
    ['revisions', name],
    ['requests'],
    ['alerts'],
  ]) {
    const { code, output } = await runClient(['get', kind!, ...of, '-o', 'json'], { env: signedIn() })
    expect({ kind, code }).toEqual({ kind, code: 0 })
    expect(Array.isArray(JSON.parse(output))).toBe(true)
  }
  const components = await runClient(['get', 'components', name, '-o', 'json'], { env: signedIn() })
  expect(components).toMatchObject({ code: 0, output: expect.stringContaining('"receivers"') })
  expect(await runClient(['get', 'instances'], { env: signedIn() })).toMatchObject({ code: 64 })
  expect(await runClient(['get', 'nothing'], { env: signedIn() })).toMatchObject({ code: 64 })
})

test('a workload says how it is, what a file would change, and goes back', async () => {
  const env = signedIn()
  const calm = await runClient(['status', name, '--wait'], { env })
  expect(calm).toMatchObject({ code: 0, output: expect.stringMatching(/newest push +applied/) })
  const same = await runClient(['diff', name, '-', '--exit-code'], { env, input: SECOND })
  expect(same).toMatchObject({ code: 0 })
  const file = join(folder, 'first.yaml')
  await writeFile(file, DEFAULT_CONFIG)
  const other = await runClient(['diff', name, file, '--exit-code'], { env })
  expect(other).toMatchObject({ code: 4, output: expect.stringContaining('debug') })
  expect(await runClient(['diff', name, file], { env })).toMatchObject({ code: 0 })
  const back = await runClient(['rollback', name, '-o', 'json'], { env })
  expect(back.code).toBe(0)
  const { config_hash: hash } = JSON.parse(back.output)
  await runClient(['status', name, '--wait'], { env })
  expect((await service.api.get('/api/workloads'))[0].active_config_hash).toBe(hash)
  expect(await runClient(['diff', name, file, '--exit-code'], { env })).toMatchObject({ code: 0 })
})

test('what a token may not do is refused, and what is nowhere is an error', async () => {
  const env = { MUSTER_URL: service.url, MUSTER_TOKEN: await makeToken([]) }
  expect(await runClient(['rollback', name], { env })).toMatchObject({
    code: 3,
    output: expect.stringContaining(
      'forbidden: workload:push_config is needed, and the token or the groups of its account do not give it',
    ),
  })
  expect(await runClient(['status', 'nobody'], { env })).toMatchObject({ code: 1 })
  expect(
    await runClient(['get', 'alerts'], { env: { MUSTER_URL: 'http://127.0.0.1:1', MUSTER_TOKEN: token } }),
  ).toEqual({
    code: 1,
    output: 'muster get: http://127.0.0.1:1 gave no answer (ECONNREFUSED)\n',
  })
})

test.each(['http://muster.example.com', 'ftp://127.0.0.1', 'https://u:p@127.0.0.1', 'muster'])(
  'a token is sent nowhere over %s',
  async (url) => {
    expect(
      await runClient(['get', 'alerts'], { env: { MUSTER_URL: url, MUSTER_TOKEN: token } }),
    ).toMatchObject({ code: 64 })
  },
)

test('a service behind TLS and a proxy is reached with the certificates that are named', async () => {
  const host = 'muster.example.com'
  const certificate = selfSignedCertificate([host])
  const front = createTlsServer(certificate, (incoming, outgoing) => {
    const target = new URL(incoming.url ?? '/', service.url)
    const passed = request(target, {
      method: incoming.method ?? 'GET',
      headers: { authorization: incoming.headers.authorization ?? '' },
    })
    passed.on('response', (response) => void response.pipe(outgoing.writeHead(response.statusCode ?? 500)))
    passed.end()
  })
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  const asked: string[] = []
  const proxy = createServer((client) => {
    client.on('error', () => undefined)
    client.once('data', (chunk) => {
      asked.push(chunk.toString('latin1').split('\r\n')[0] ?? '')
      const upstream = connect((front.address() as AddressInfo).port, '127.0.0.1')
      upstream.on('error', () => client.destroy())
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      client.pipe(upstream).pipe(client)
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const authority = join(folder, 'authority.pem')
  await writeFile(authority, certificate.cert)
  const env = {
    MUSTER_URL: `https://${host}`,
    MUSTER_TOKEN: token,
    HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  }
  const found = await runClient(['get', 'workloads'], { env: { ...env, MUSTER_CA_FILE: authority } })
  expect(found).toMatchObject({ code: 0, output: expect.stringContaining(name) })
  expect(asked).toEqual([`CONNECT ${host}:443 HTTP/1.1`])
  const stranger = await runClient(['get', 'workloads'], { env })
  expect(stranger).toMatchObject({ code: 1, output: expect.stringContaining('DEPTH_ZERO_SELF_SIGNED_CERT') })
  front.closeAllConnections()
  front.close()
  proxy.close()
})
