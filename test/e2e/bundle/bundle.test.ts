import { cp, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { startSimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../../support/eventually.ts'
import { ROOT } from '../support/environment.ts'
import { startProgram } from '../support/processes.ts'
import { readCycloneDxSchema } from '../support/published-schemas.ts'
import {
  createDatabase,
  type Launch,
  type Service,
  SHARED_SECRET,
  startService,
  TEST_JWT_SECRET,
} from '../support/service.ts'
import { expectWholeService } from '../support/smoke.ts'

const DIST = join(ROOT, 'dist')
/** The folder of the build to test: `dist`, or one that was made under another version of Node. */
const BUNDLE = process.env['MUSTER_E2E_DIST'] ?? DIST

let folder: string
const services: Service[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-e2e-bundle-'))
})

afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.stop()))
  await rm(folder, { recursive: true, force: true })
})

async function start(launch: Partial<Launch>): Promise<Service> {
  const service = await startService(launch)
  services.push(service)
  return service
}

/** Run a program to its end; returns its exit code and output. */
async function run({
  command,
  args,
  env,
  input,
}: Pick<Launch, 'command' | 'args' | 'env'> & { input?: string }) {
  const running = startProgram(command, args, { cwd: folder, env, ...(input === undefined ? {} : { input }) })
  const force = setTimeout(() => running.stop('SIGKILL'), 20_000)
  await running.ended
  clearTimeout(force)
  return { code: running.exitCode(), output: running.output() }
}

/**
 * Every package that the service or a part of it ever asks for. Somebody else could put one of that name beside the
 * bundle, which must not load it.
 */
const PLANTED = [
  ...['uws-node-20-22', 'uws-node-22-26', `@uwsjs/${process.platform}-${process.arch}-20`],
  ...['pg-native', 'pg-cloudflare', 'pg', 'pino', 'pino-pretty', 'thread-stream', 'canvg', 'html2canvas'],
  ...['jspdf', 'protobufjs', 'yaml', 'jose', 'hash-wasm', 'superstruct', 'itty-router', 'long'],
]

/** Put these packages under a folder. Each leaves a trace file when its code runs; returns the path of that file. */
async function plantPackages(where: string): Promise<string> {
  const trace = join(where, 'ran')
  for (const name of PLANTED) {
    const home = join(where, 'node_modules', name)
    await mkdir(home, { recursive: true })
    await writeFile(join(home, 'package.json'), JSON.stringify({ name, main: 'index.js' }))
    const code = `require('node:fs').appendFileSync(${JSON.stringify(trace)}, ${JSON.stringify(`${name}\n`)})\n`
    await writeFile(join(home, 'index.js'), code)
  }
  return trace
}

test('no file of it says where it was made', async () => {
  const entries = await readdir(BUNDLE, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  expect(files.length).toBeGreaterThan(10)
  const telling: string[] = []
  for (const file of files) if ((await readFile(file)).includes(ROOT)) telling.push(file)
  expect(telling).toEqual([])
})

describe('dist/muster.mjs', () => {
  test('is the service, with nothing but dist beside it', async () => {
    for (const entry of await readdir(BUNDLE)) {
      if (entry !== 'muster') await cp(join(BUNDLE, entry), join(folder, entry), { recursive: true })
    }
    const service = await start({ args: [join(folder, 'muster.mjs')], cwd: folder })
    await expectWholeService(service)
    await service.stop()
    expect(service.process().exitCode()).toBe(0)
  })

  test('runs no package that lies further up, with its socket library or without', async () => {
    const home = join(folder, 'dist')
    for (const entry of await readdir(BUNDLE)) {
      if (entry !== 'muster') await cp(join(BUNDLE, entry), join(home, entry), { recursive: true })
    }
    const trace = await plantPackages(folder)
    // With this variable pg looks for its native version, `pg-native`.
    const env = { JWT_SECRET: TEST_JWT_SECRET, DB_DSN: await createDatabase(), NODE_PG_FORCE_NATIVE: '1' }
    const args = [join(home, 'muster.mjs')]
    await run({ command: process.execPath, args: [...args, '--check-config'], env })
    for (const entry of await readdir(home)) if (entry.endsWith('.node')) await rm(join(home, entry))
    const { code, output } = await run({
      command: process.execPath,
      args,
      env: { ...env, NODE_PG_FORCE_NATIVE: '', LISTEN_ADDR: '127.0.0.1:0', OPAMP_ADDR: '127.0.0.1:0' },
    })
    expect(output).toContain('Cannot load the socket library')
    expect(code).toBe(1)
    await expect(readFile(trace, 'utf8')).rejects.toThrow('ENOENT')
  })

  test('brings its parts compiled for the Node that built it, and does without where there is no such form', async () => {
    for (const entry of await readdir(BUNDLE))
      if (/\.(mjs|cjs|cache)$/.test(entry)) await cp(join(BUNDLE, entry), join(folder, entry))
    const parts = (await readdir(folder)).filter((name) => name.endsWith('.cjs')).sort()
    expect(parts).toEqual([expect.stringMatching(/^client-/), expect.stringMatching(/^service-/)])
    // Reads each part as the bundle does, and says whether V8 took the compiled form; undefined where it found none.
    const code = `import { readPart } from ${JSON.stringify(join(ROOT, 'runtime', 'build', 'part.mjs'))}
      for (const path of process.argv.slice(1)) console.log(String(readPart(path).cachedDataRejected))`
    const read = () =>
      run({
        command: process.execPath,
        args: ['--input-type=module', '-e', code, ...parts.map((name) => join(folder, name))],
        env: {},
      })
    const says = () =>
      run({ command: process.execPath, args: [join(folder, 'muster.mjs'), '--version'], env: {} })
    const version = { code: 0, output: `muster ${manifest.version}\n` }
    expect(await read()).toEqual({ code: 0, output: 'false\nfalse\n' })
    expect(await says()).toEqual(version)
    const forms = (await readdir(folder)).filter((name) => name.endsWith('.cache'))
    expect(forms.every((name) => name.includes(`.${process.version}-`))).toBe(true)
    for (const name of forms) {
      const form = await readFile(join(folder, name))
      // The same checkout makes the same bytes, wherever it lies.
      expect([name, form.includes(ROOT), form.includes(BUNDLE)]).toEqual([name, false, false])
      await truncate(join(folder, name), 1_000)
    }
    expect(await read()).toEqual({ code: 0, output: 'true\ntrue\n' })
    expect(await says()).toEqual(version)
    for (const name of forms) await rm(join(folder, name))
    expect(await read()).toEqual({ code: 0, output: 'undefined\nundefined\n' })
    expect(await says()).toEqual(version)
  })

  test.each([
    ['JWT_SECRET', { DB_DSN: 'postgres://nobody@127.0.0.1:1/none' }],
    ['DB_DSN', { JWT_SECRET: TEST_JWT_SECRET }],
  ])('does not start without %s, and says so', async (name, env) => {
    const { code, output } = await run({ command: process.execPath, args: [join(BUNDLE, 'muster.mjs')], env })
    expect(code).toBe(1)
    expect(output).toContain(name)
    expect(output).not.toContain(TEST_JWT_SECRET)
  })
})

const isCycloneDx = readCycloneDxSchema()
const BILLS = ['sbom.cdx.json', 'muster.sbom.cdx.json']
const readBill = async (name: string) => JSON.parse(await readFile(join(DIST, name), 'utf8'))

test.skipIf(isCycloneDx === null).each(BILLS)('%s is one by the schema of CycloneDX', async (name) => {
  const bill = await readBill(name)
  expect(isCycloneDx!(bill), JSON.stringify(isCycloneDx!.errors)).toBe(true)
  const licences = [{ license: { id: 'no such licence' } }]
  expect(isCycloneDx!({ ...bill, components: [{ ...bill.components[0], licenses: licences }] })).toBe(false)
})

describe('the bill of materials', () => {
  interface Component {
    group?: string
    name: string
    version?: string
    licenses: object[]
  }
  const listIn = async (bill: string) =>
    ((await readBill(bill)).components as Component[]).map(({ group, name, version = '' }) =>
      [group ? `${group}/${name}` : name, version].join(' '),
    )

  test('of the executable lists the Node in it and its libraries, which the bundle has not', async () => {
    const { node, modules, napi, unicode, cldr, tz, ...libraries } = process.versions
    const inside = [`node ${node}`, ...Object.entries(libraries).map((one) => one.join(' '))]
    expect(inside.length).toBeGreaterThan(10)
    expect(await listIn('muster.sbom.cdx.json')).toEqual(expect.arrayContaining(inside))
    const ofBundle = await listIn('sbom.cdx.json')
    expect(inside.filter((one) => ofBundle.includes(one))).toEqual([])
    const program = await readFile(join(DIST, 'muster'))
    expect(program.includes(`v${node}`)).toBe(true)
    expect(program.includes(process.versions.openssl)).toBe(true)
  })

  test('lists the native packages of which a file is inside, and what is compiled into these', async () => {
    const natives = (await readdir(DIST)).filter((name) => name.endsWith('.node'))
    const listed = await listIn('sbom.cdx.json')
    expect(listed.filter((name) => name.startsWith('@uwsjs/'))).toHaveLength(natives.length)
    const ofExecutable = await listIn('muster.sbom.cdx.json')
    const platform = `${process.platform}-${process.arch}`
    expect(ofExecutable.filter((name) => name.startsWith('@uwsjs/'))).toEqual([
      expect.stringMatching(RegExp(`^@uwsjs/${platform}-${process.versions.node.split('.')[0]} `)),
    ])
    for (const name of ['boringssl ', 'uSockets ', 'uWebSockets ', 'lsquic '])
      expect([name, listed.includes(name), ofExecutable.includes(name)]).toEqual([name, true, true])
  })

  test.each(BILLS)('%s says of each part its licence', async (name) => {
    const { components } = await readBill(name)
    expect(components.filter(({ licenses }: Component) => !licenses?.length)).toEqual([])
  })
})

test('the licences of Node and its libraries lie beside the executable and in it', async () => {
  const text = await readFile(join(DIST, 'node-license.txt'))
  for (const name of ['Node.js', 'OpenSSL', 'V8', 'libuv']) expect(text.toString('utf8')).toContain(name)
  expect((await readFile(join(DIST, 'muster'))).includes(text)).toBe(true)
})

describe('dist/muster', () => {
  const command = () => join(folder, 'muster')

  beforeEach(async () => {
    await cp(join(DIST, 'muster'), command())
  })

  test('is the service, with nothing installed and an empty environment', async () => {
    const service = await start({ command: command(), args: [], cwd: folder, env: { TMPDIR: folder } })
    await expectWholeService(service)
    await service.stop()
    expect(service.process().exitCode()).toBe(0)
    expect(await readdir(folder)).toEqual(['muster'])
  })

  test('serves the browser UI from inside itself, each file as it was built', async () => {
    const env = { TMPDIR: folder }
    const service = await start({ command: command(), args: [], cwd: folder, env })
    const [unpacked] = (await readdir(folder)).filter((name) => name.startsWith('muster-run-'))
    expect(await readdir(join(folder, unpacked!))).not.toContain('ui')
    const names = await readdir(join(DIST, 'ui', 'assets'))
    expect(names.some((name) => name.endsWith('.js.br'))).toBe(true)
    for (const name of names.filter((name) => !/\.(br|gz)$/.test(name))) {
      const built = await readFile(join(DIST, 'ui', 'assets', name))
      for (const encoding of ['identity', 'br', 'gzip']) {
        const headers = { 'accept-encoding': encoding }
        const found = await fetch(`${service.url}/assets/${name}`, { headers })
        expect(Buffer.from(await found.arrayBuffer()).equals(built), `${name} as ${encoding}`).toBe(true)
        const hasIt = encoding !== 'identity' && names.includes(`${name}.${encoding === 'br' ? 'br' : 'gz'}`)
        expect(found.headers.get('content-encoding')).toBe(hasIt ? encoding : null)
      }
    }
  })

  test('runs no package that lies beside the folder into which it unpacks itself', async () => {
    const shared = join(folder, 'shared')
    await mkdir(shared)
    const trace = await plantPackages(shared)
    const env = { TMPDIR: shared, JWT_SECRET: TEST_JWT_SECRET, DB_DSN: await createDatabase() }
    for (const native of ['', '1'])
      await run({
        command: command(),
        args: ['--check-config'],
        env: { ...env, NODE_PG_FORCE_NATIVE: native },
      })
    await start({ command: command(), args: [], cwd: folder, env: { TMPDIR: shared } })
    await expect(readFile(trace, 'utf8')).rejects.toThrow('ENOENT')
  })

  test('cleans up after a start that was killed', async () => {
    const env = { TMPDIR: folder }
    const killed = await start({ command: command(), args: [], cwd: folder, env })
    await killed.process().stop('SIGKILL')
    expect(await readdir(folder)).toHaveLength(2)
    const { code } = await run({ command: command(), args: ['--version'], env })
    expect(code).toBe(0)
    expect(await readdir(folder)).toEqual(['muster'])
  })

  test('says its version and what it takes', async () => {
    const version = await run({ command: command(), args: ['--version'], env: {} })
    expect(version).toEqual({ code: 0, output: `muster ${manifest.version}\n` })
    const help = await run({ command: command(), args: ['--help'], env: {} })
    expect(help.code).toBe(0)
    for (const word of [
      'JWT_SECRET',
      'DB_DSN',
      '--check-config',
      '--edition',
      'migrate',
      'create-user',
      'verify-pack',
    ])
      expect(help.output).toContain(word)
    const unknown = await run({ command: command(), args: ['--nonsense'], env: {} })
    expect(unknown.code).toBe(2)
    expect(unknown.output).toContain('--nonsense')
  })

  test('checks a configuration without starting', async () => {
    const dsn = await createDatabase()
    const good = await run({
      command: command(),
      args: ['--check-config'],
      env: { JWT_SECRET: TEST_JWT_SECRET, DB_DSN: dsn },
    })
    expect(good.code).toBe(0)
    const bad = await run({
      command: command(),
      args: ['--check-config'],
      env: { JWT_SECRET: 'short', DB_DSN: dsn },
    })
    expect(bad.code).toBe(1)
    expect(bad.output).toContain('JWT_SECRET')
  })

  test('brings a schema up, once', async () => {
    const env = { JWT_SECRET: TEST_JWT_SECRET, DB_DSN: await createDatabase() }
    const first = await run({ command: command(), args: ['migrate'], env })
    expect(first).toMatchObject({ code: 0, output: expect.stringContaining('Applied 1, ') })
    const again = await run({ command: command(), args: ['migrate'], env })
    expect(again).toMatchObject({ code: 0, output: expect.stringContaining('Nothing to do.') })
  })

  test('adds a user who can sign in, and sees a forged audit trail', async () => {
    const service = await start({ command: command(), args: [], cwd: folder, env: { TMPDIR: folder } })
    const env = { JWT_SECRET: TEST_JWT_SECRET, DB_DSN: service.dsn }
    const [email, password] = ['second@example.com', 'a password on standard input']
    const create = {
      command: command(),
      env,
      input: `${password}\n`,
      args: ['create-user', '--email', email, '--group', 'viewer'],
    }
    expect(await run(create)).toMatchObject({ code: 0 })
    expect(await run(create)).toMatchObject({ code: 1, output: expect.stringContaining(email) })
    await service.api.login({ email, password })
    expect((await service.api.get('/api/me')).email).toBe(email)

    const verify = { command: command(), args: ['verify-audit'], env }
    expect(await run(verify)).toMatchObject({ code: 0, output: expect.stringContaining('is intact') })
    const db = new pg.Client(service.dsn)
    await db.connect()
    await db.query('alter table audit_events disable trigger all')
    await db.query(`update audit_events set detail = 'forged' where seq = 1`)
    await db.end()
    const forged = await run(verify)
    expect(forged).toMatchObject({ code: 1, output: expect.stringContaining('broken at record 1') })
  })

  test('enables every capability with --edition complete, and few without', async () => {
    const enabled = async (args: string[]) => {
      const service = await start({ command: command(), args, cwd: folder, env: { TMPDIR: folder } })
      const { capabilities } = await service.api.get('/api/v1/capabilities')
      return capabilities.filter((one: { state: string }) => one.state === 'enabled').length
    }
    expect(await enabled([])).toBe(2)
    expect(await enabled(['--edition', 'complete'])).toBeGreaterThan(5)
  })

  test('checks an exported evidence pack, and sees that one was changed', async () => {
    const service = await start({ command: command(), args: [], cwd: folder, env: { TMPDIR: folder } })
    const agent = startSimulatedAgent({ url: service.opampUrl, secret: SHARED_SECRET })
    const workload = await eventually(
      'the agent is listed',
      async () => (await service.api.get('/api/workloads'))[0],
    )
    await agent.stop()
    const request = { scope: { workload_ids: [workload.id] } }
    const pack = await service.api.post('/api/reports/evidence-pack', request, 200)
    const file = join(folder, 'pack.json')
    await writeFile(file, JSON.stringify(pack))
    const intact = await run({ command: command(), args: ['verify-pack', file], env: {} })
    expect(intact.output).toContain('The pack is intact.')
    expect(intact.code).toBe(0)
    await writeFile(file, JSON.stringify({ ...pack, generated_at: '2020-01-01T00:00:00.000Z' }))
    const changed = await run({ command: command(), args: ['verify-pack', file], env: {} })
    expect(changed.output).toContain('The pack is not what was exported.')
    expect(changed.code).toBe(1)
  })
})
