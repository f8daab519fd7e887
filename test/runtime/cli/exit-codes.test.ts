import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runClient } from '../../../runtime/cli/client.ts'
import { EXIT } from '../../../runtime/cli/exit-codes.ts'
import { CLIENT_COMMANDS, type ClientCommand } from '../../../runtime/cli/names.ts'

// 0 done, 1 failed, 3 refused, 64 wrong arguments: for every command of the client, against a service that says no more
// than this. That a config differs (4) is tried against a whole service as well, in test/e2e/bundle.
let folder: string
let service: Server
let answer: {
  status: number
  body: object
  headers?: Record<string, string>
  /** What is answered instead, by the beginning of the path. */
  at?: Record<string, object>
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-exit-codes-'))
  await writeFile(join(folder, 'config.yaml'), 'receivers: {}\n')
  service = createServer(({ url = '' }, response) => {
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    const path = Object.keys(answer.at ?? {}).find((start) => url.startsWith(start))
    response.end(JSON.stringify(path === undefined ? answer.body : answer.at![path]))
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
})
afterAll(async () => {
  service.close()
  await rm(folder, { recursive: true, force: true })
})

const urlOf = () => `http://127.0.0.1:${(service.address() as AddressInfo).port}`

async function run(args: readonly string[], env: Record<string, string> = {}) {
  let said = ''
  const add = (text: string) => {
    said += text
  }
  const io = {
    env: { XDG_CONFIG_HOME: folder, ...env },
    out: add,
    error: add,
    readInput: async () => Buffer.from('mst_x\n'),
  }
  const code = await runClient(args, { ...io, isTerminal: false })
  return { code, said }
}

/** Each command that asks the service something, as one would write it. */
const ASKS: Readonly<Partial<Record<ClientCommand, () => string[]>>> = {
  login: () => ['--token-stdin', '--url', urlOf()],
  get: () => ['workloads'],
  diff: () => ['shop', join(folder, 'config.yaml')],
  status: () => ['shop'],
  rollback: () => ['shop'],
  campaign: () => ['list'],
}
const signedIn = () => ({ MUSTER_URL: urlOf(), MUSTER_TOKEN: 'mst_x' })
const asking = Object.keys(ASKS) as ClientCommand[]

describe('a command of the client ends with', () => {
  it.each(CLIENT_COMMANDS)('0 for the help of %s', async (name) => {
    expect(await run([name, '--help'])).toMatchObject({ code: 0, said: expect.stringContaining(name) })
  })

  it.each(CLIENT_COMMANDS)('64 for an option that %s does not know', async (name) => {
    expect(await run([name, '--nonsense'])).toMatchObject({
      code: 64,
      said: expect.stringContaining(`muster ${name} --help`),
    })
  })

  it.each(CLIENT_COMMANDS)('64 for too many arguments of %s', async (name) => {
    const many = Array.from({ length: 10 }, (_, at) => `argument${at}`)
    // Of files there may be any number: one that cannot be read is an error.
    expect((await run([name, ...many])).code).toBe(name === 'validate' ? 1 : 64)
  })

  it.each(asking)('1 where the service of %s is away', async (name) => {
    const away = createServer().listen(0, '127.0.0.1')
    await once(away, 'listening')
    const url = `http://127.0.0.1:${(away.address() as AddressInfo).port}`
    away.close()
    await once(away, 'close')
    const args = ASKS[name]!().map((arg) => (arg === urlOf() ? url : arg))
    expect((await run([name, ...args], { ...signedIn(), MUSTER_URL: url })).code).toBe(1)
  })

  it.each(asking)('1 where the service of %s breaks, or does not know the token', async (name) => {
    for (const status of [500, 503, 404, 401]) {
      answer = { status, body: { error: 'no' } }
      expect([status, (await run([name, ...ASKS[name]!()], signedIn())).code]).toEqual([status, 1])
    }
  })

  it.each(asking)('3 where the service refuses what %s asks for', async (name) => {
    for (const [status, code] of [
      [403, 'forbidden'],
      [403, 'session_required'],
      [409, 'config_invalid'],
      [400, 'policy_blocked'],
    ] as const) {
      answer = { status, body: { error: 'no', code } }
      expect([status, (await run([name, ...ASKS[name]!()], signedIn())).code]).toEqual([status, 3])
    }
  })

  it.each(asking)('3 and the right that is lacking, and where, for %s', async (name) => {
    const headers = { 'Muster-Permission': 'config:request' }
    const ask = async () => (await run([name, ...ASKS[name]!()], signedIn())).said
    answer = { status: 403, body: { error: 'forbidden' }, headers }
    expect(await ask()).toContain(
      'forbidden: config:request is needed, and the token or the groups of its account do not give it',
    )
    answer = { status: 403, body: { error: 'outside', code: 'out_of_scope' }, headers }
    expect(await ask()).toContain('outside (out_of_scope): config:request is needed on all that this reaches')
    // What is printed is a permission, whatever a server sends.
    answer = { ...answer, headers: { 'Muster-Permission': '::error::x' } }
    expect(await ask()).not.toContain('::error')
  })

  it('1 where a file cannot be read, 3 where a config is wrong, 0 where nothing is', async () => {
    expect((await run(['validate', join(folder, 'nowhere.yaml')])).code).toBe(1)
    expect((await run(['validate', join(folder, 'config.yaml')])).code).toBe(3)
    const right =
      'receivers: { nop: }\nexporters: { nop: }\nservice: { pipelines: { traces: { receivers: [nop], exporters: [nop] } } }\n'
    await writeFile(join(folder, 'right.yaml'), right)
    expect((await run(['validate', join(folder, 'right.yaml')])).code).toBe(0)
    // What muster fills in is wrong in the config of a workload, and not in the text of a fleet config.
    const varied = right.replace(
      'nop: }\nservice',
      'nop: , otlp: { endpoint: "${muster:region}.example.com:4317" } }\nservice',
    )
    await writeFile(join(folder, 'varied.yaml'), varied)
    expect((await run(['validate', join(folder, 'varied.yaml')])).code).toBe(3)
    expect((await run(['validate', '--variables', join(folder, 'varied.yaml')])).code).toBe(0)
    expect((await run(['validate', '--variables', join(folder, 'config.yaml')])).code).toBe(3)
  })

  it.each(['plan', 'apply'])('1 for a folder of %s that is not there, 64 without an owner', async (name) => {
    expect((await run([name, join(folder, 'nowhere'), '--owner', 'me'], signedIn())).code).toBe(1)
    expect((await run([name, folder], signedIn())).code).toBe(64)
  })

  it('4 for a workload that is not well, where that is asked, and 0 for the same where it is not', async () => {
    const named = { id: 'w1', display_name: 'shop', labels: {}, fingerprint_keys: {} }
    const counts = { instance_count: 1, applying_instance_count: 0, drifted_instance_count: 0 }
    const workload = { ...named, ...counts, status: 'degraded' }
    const at = { '/api/workloads/w1': workload, '/api/workloads': [workload] }
    answer = { status: 200, body: [], at }
    expect((await run(['status', 'shop'], signedIn())).code).toBe(0)
    expect((await run(['status', 'shop', '--exit-code'], signedIn())).code).toBe(4)
  })

  it.each(['plan', 'apply'])(
    '4 for %s where not all is as the folder says, where that is asked',
    async (name) => {
      const wished = join(folder, `${name}-state`)
      await mkdir(wished)
      const document = `apiVersion: muster/v1\nkind: WorkloadConfig\nworkload: { id: w1 }\nconfig: 'a: 1'\n`
      await writeFile(join(wished, 'a.yaml'), document)
      const workload = { id: 'w1', display_name: 'shop', labels: {}, fingerprint_keys: {} }
      const result = (action: string) => ({
        '/api/workloads/w1/config/desired': { workload_id: 'w1', action, config_hash: 'h' },
        '/api/workloads': [workload],
      })
      const code = async (...args: string[]) =>
        (await run([name, wished, '--owner', 'me', ...args], signedIn())).code
      for (const action of ['propose', 'waits', 'held']) {
        answer = { status: 200, body: [], at: result(action) }
        expect([action, await code(), await code('--exit-code')]).toEqual([action, 0, 4])
      }
      answer = { status: 200, body: [], at: result('unchanged') }
      expect(await code('--exit-code')).toBe(0)
    },
  )

  it('what the table of the README says, and nothing else', async () => {
    const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8')
    const table = readme.slice(readme.indexOf('| code |')).split('\n\n')[0]!
    const codes = [...table.matchAll(/^\| (\d+) /gm)].map(([, code]) => Number(code))
    expect(codes).toEqual(Object.values(EXIT))
  })

  it('0 for a logout, also of nobody, and for a completion', async () => {
    expect((await run(['logout', '--url', urlOf()])).code).toBe(0)
    for (const shell of ['bash', 'zsh', 'fish']) expect((await run(['completion', shell])).code).toBe(0)
  })
})

it('a token that the service does not take is called refused, not missing', async () => {
  answer = { status: 401, body: { error: 'unauthorized' } }
  const { said } = await run(['get', 'workloads'], signedIn())
  expect(said).toContain('the token was refused')
  expect(said).not.toContain('or set MUSTER_TOKEN')
})
