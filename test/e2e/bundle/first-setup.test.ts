import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { findFreePort } from '../../../runtime/quickstart/ports.ts'
import { DEFAULT_CONFIG, startSimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../../support/eventually.ts'
import { readReadmeBlock } from '../../support/readme-blocks.ts'
import { runReadmeCommands } from '../../support/readme-commands.ts'
import { writeMuster } from '../support/client.ts'
import { ROOT } from '../support/environment.ts'
import { type Running, startProgram } from '../support/processes.ts'
import { readSnippet } from '../support/snippets.ts'

// Somebody sets muster up for the first time by the README's commands, as they stand, from an empty folder.

const EMAIL = 'admin@example.com'
const PASSWORD = 'correct horse battery'
const DB_PASSWORD = 'a-password-of-the-database'
const hasPsql = spawnSync('psql', ['--version']).status === 0
if (!hasPsql) console.warn('psql is not installed: the first steps of the README are not tried')

let folder: string
let PATH: string
let started: Running | undefined
let agent: ReturnType<typeof startSimulatedAgent> | undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-first-setup-'))
  const bin = join(folder, 'bin')
  await mkdir(bin)
  await writeMuster(bin)
  PATH = `${bin}:${process.env['PATH']}`
})
afterAll(async () => {
  await agent?.stop()
  await started?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Put programs into a folder that only write down how they were called; the PATH with these, and what they noted. */
async function writeStubs(names: readonly string[]) {
  const bin = join(folder, `stubs-${names.join('-')}`)
  const notes = join(bin, 'notes')
  await mkdir(bin)
  for (const name of names) {
    const script = `#!/bin/sh\n{ printf '%s' ${name}; printf '\\t%s' "$@"; echo; } >> '${notes}'\n`
    await writeFile(join(bin, name), script, { mode: 0o755 })
  }
  const read = async () =>
    (await readFile(notes, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => line.split('\t'))
  return { PATH: `${bin}:${process.env['PATH']}`, read }
}

test.skipIf(!hasPsql)(
  'a database, the service, its first administrator, and the account of a pipeline',
  async () => {
    const admin = new URL(inject('e2ePostgresUrl'))
    admin.pathname = '/postgres'
    const home = join(folder, 'home')
    await mkdir(home)
    await runReadmeCommands('database', { PATH, ADMIN_DSN: admin.toString(), DB_PASSWORD }, home)

    const [api, agents] = [await findFreePort('127.0.0.1'), await findFreePort('127.0.0.1')]
    const addresses = { LISTEN_ADDR: `127.0.0.1:${api}`, OPAMP_ADDR: `127.0.0.1:${agents}` }
    const env = { PATH, EMAIL, PASSWORD, DB_PASSWORD, DB_HOST: admin.host, ...addresses }
    started = startProgram('sh', ['-euc', readReadmeBlock('commands', 'start')], { cwd: home, env })
    const MUSTER_URL = `http://127.0.0.1:${api}`
    await eventually('the service is ready', async () => {
      if (started!.hasEnded()) throw new Error(started!.output())
      return (await fetch(`${MUSTER_URL}/readyz`)).status === 200
    })
    expect(started.output()).toContain('The configuration is usable and the database answers.')

    const login = await fetch(`${MUSTER_URL}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
    })
    const { token: SESSION } = (await login.json()) as { token: string }
    const UNTIL = new Date(Date.now() + 90 * 86_400_000).toISOString()
    const MUSTER_TOKEN = (
      await runReadmeCommands('service-account', { PATH, MUSTER_URL, SESSION, UNTIL }, home)
    ).trim()
    expect(MUSTER_TOKEN).toMatch(/^mst_/)
    const headers = { authorization: `Bearer ${MUSTER_TOKEN}` }
    const me = await fetch(`${MUSTER_URL}/api/me`, { headers })
    expect([me.status, await me.json()]).toMatchObject([
      200,
      { permissions: expect.arrayContaining(['config:request']) },
    ])
    agent = startSimulatedAgent({
      url: `ws://127.0.0.1:${agents}/v1/opamp`,
      nonIdentifying: { 'host.name': 'vm-1' },
    })
    await eventually('the agent is listed', async () => {
      const listed = await fetch(`${MUSTER_URL}/api/workloads`, { headers })
      return ((await listed.json()) as unknown[]).length === 1
    })
    await mkdir(join(home, 'fleet', 'configs'), { recursive: true })
    const target = { 'k8s.deployment.name: otel-gateway, muster/env: staging': 'host.name: vm-1' }
    await writeFile(join(home, 'fleet', 'gateway.yaml'), readSnippet('workload-config', target))
    await writeFile(join(home, 'fleet', 'configs', 'gateway.yaml'), `${DEFAULT_CONFIG}# the first from Git\n`)
    await runReadmeCommands('pipeline', { PATH, MUSTER_URL, MUSTER_TOKEN }, home)
    const asked = await fetch(`${MUSTER_URL}/api/approvals`, { headers })
    expect(await asked.json()).toMatchObject([{ status: 'pending', requester: 'service:pipeline' }])
  },
)

test('systemd finds every file that the unit names', async () => {
  const { PATH: stubs, read } = await writeStubs(['install', 'systemctl'])
  await runReadmeCommands('systemd', { PATH: stubs }, folder)
  const calls = await read()
  const targets = calls
    .filter(([name, , , ...rest]) => name === 'install' && !rest.includes('-d') && !rest[0]!.startsWith('-d'))
    .flatMap(([, , , ...rest]) => {
      const target = rest.at(-1)!
      const files = rest.slice(0, -1)
      return target.endsWith('/') ? files.map((file) => target + file.split('/').at(-1)) : [target]
    })
  const unit = await readFile(join(ROOT, 'runtime/deploy/muster.service'), 'utf8')
  const [, program] = /^ExecStart=(\S+)$/m.exec(unit)!
  const secrets = [...unit.matchAll(/^LoadCredential=[^:]+:(\S+)$/gm)].map(([, file]) => file)
  expect(secrets).toHaveLength(2)
  expect(targets).toEqual(expect.arrayContaining([program, ...secrets]))
  expect(calls.filter(([name]) => name === 'systemctl').map(([, verb]) => verb)).toEqual([
    'daemon-reload',
    'enable',
  ])
})

test('Kubernetes gets a Secret that holds every key which the values of the README name, and the chart', async () => {
  await symlink(join(ROOT, 'runtime'), join(folder, 'runtime'))
  const { PATH: stubs, read } = await writeStubs(['kubectl', 'helm'])
  await runReadmeCommands('chart', { PATH: stubs, DB_DSN: 'postgres://db/muster', EMAIL, PASSWORD }, folder)
  const [kubectl = [], helm = []] = await read()
  const literals = Object.fromEntries(
    kubectl.flatMap((arg) => {
      const [, key, value] = /^--from-literal=([^=]+)=(.*)$/.exec(arg) ?? []
      return key === undefined ? [] : [[key, value]]
    }),
  )
  expect(kubectl.slice(1, 5)).toEqual(['create', 'secret', 'generic', 'muster'])
  expect(Object.keys(literals).sort()).toEqual([
    'admin-email',
    'admin-password',
    'db-dsn',
    'jwt-secret',
    'opamp-shared-secret',
  ])
  expect(literals['jwt-secret']!.length).toBeGreaterThanOrEqual(32)
  const values = readReadmeBlock('snippet', 'chart-values')
  for (const key of ['admin-email', 'admin-password']) expect(values).toContain(key)
  expect(await readFile(join(folder, helm[3]!, 'Chart.yaml'), 'utf8')).toContain('name: muster')
})
