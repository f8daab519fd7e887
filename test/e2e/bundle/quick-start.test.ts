import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findFreePort } from '../../../runtime/quickstart/ports.ts'
import { eventually } from '../../support/eventually.ts'
import { ROOT } from '../support/environment.ts'
import { describeProcess, listChildren, type Running, startProgram } from '../support/processes.ts'
import { Api } from '../support/service.ts'

let data: string
let running: Running | null = null

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'muster-e2e-start-'))
})

afterEach(async () => {
  await running?.stop()
  running = null
  await rm(data, { recursive: true, force: true })
})

/** Start the script that `npm start` runs. */
function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  running = startProgram(process.execPath, [join(ROOT, 'runtime/build/start.mjs'), ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', MUSTER_DATA_DIR: data, ...env },
  })
  return running
}

/** Start `npm start` itself, as a process manager does. */
function npmStart(args: readonly string[], env: Readonly<Record<string, string>>): Running {
  running = startProgram('npm', ['start', '--', ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', HOME: data, MUSTER_DATA_DIR: join(data, 'data'), ...env },
  })
  return running
}

/** Start the quick start with its output piped into another process. */
function startWithReader(env: Readonly<Record<string, string>>): Running {
  const command = `"${process.execPath}" "${join(ROOT, 'runtime/build/start.mjs')}" 2>&1 | cat`
  running = startProgram('sh', ['-c', command], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', MUSTER_DATA_DIR: join(data, 'data'), ...env },
  })
  return running
}

/** Every process that stems from this one, itself included. */
async function listFamily(pid: number): Promise<number[]> {
  const families = await Promise.all((await listChildren(pid)).map(listFamily))
  return [pid, ...families.flat()]
}

/** Wait until the welcome is printed; returns the URL and the login in it. */
async function readWelcome(start: Running): Promise<{ url: string; email: string; password: string }> {
  await eventually(
    'the welcome is printed',
    async () => start.hasEnded() || start.output().includes('Ctrl-C stops everything'),
    { explain: () => start.output() },
  )
  const found = /Open {2,}(\S+)\s+Log in {2,}(\S+)\s+(\S+)/.exec(start.output())
  if (found === null) throw new Error(start.output())
  return { url: found[1] ?? '', email: found[2] ?? '', password: found[3] ?? '' }
}

async function freeAddresses(): Promise<Record<string, string>> {
  const [api, opamp] = [await findFreePort('127.0.0.1'), await findFreePort('127.0.0.1')]
  return { LISTEN_ADDR: `127.0.0.1:${api}`, OPAMP_ADDR: `127.0.0.1:${opamp}` }
}

interface Campaign {
  id: string
  name: string
  status: string
  counts: Record<string, number>
  plan_hash?: string
  plan?: { verdicts: Record<string, number> }
}

/**
 * Check what the welcome says about the stores: one campaign has brought them the first version, and the other is a
 * draft that can be planned.
 */
async function tryTheCampaign(api: Api): Promise<void> {
  const named = async (name: string): Promise<Campaign> =>
    ((await api.get('/api/campaigns')) as Campaign[]).find((one) => one.name === name)!
  await eventually('the stores are under management', async () => {
    const { status, counts } = await named('Bring the stores under management')
    return status === 'done' && counts['applied'] === 39
  })
  const { id, status } = await named('Bound the memory of the stores')
  expect(status).toBe('draft')
  await api.post(`/api/campaigns/${id}/plan`, undefined, 202)
  const { plan } = await eventually('it is planned', async () => {
    const campaign: Campaign = await api.get(`/api/campaigns/${id}`)
    return campaign.status === 'planned' ? campaign : null
  })
  expect(plan?.verdicts).toMatchObject({ changes: 38, held: 1, refused: 1 })
}

describe('npm start', () => {
  test('shows a working fleet, stops cleanly, and has the same data the next time', async () => {
    const addresses = await freeAddresses()
    const first = start([], addresses)
    const welcome = await readWelcome(first)
    const api = new Api(welcome.url)
    await api.login(welcome)
    const workloads = await eventually(
      'the demo fleet is listed',
      async () => {
        const all: { display_name: string; accepts_remote_config: boolean }[] =
          await api.get('/api/workloads')
        return all.length >= 5 ? all : null
      },
      { explain: () => first.output() },
    )
    expect(workloads.filter((one) => !one.accepts_remote_config).map((one) => one.display_name)).toEqual([
      'edge-collector',
    ])
    await tryTheCampaign(api)
    const parts = await listChildren(first.pid)
    expect(parts).toHaveLength(3)
    await first.stop('SIGINT')
    expect(first.exitCode()).toBe(0)
    expect(await Promise.all(parts.map(describeProcess))).toEqual(parts.map(() => null))

    // A single sign-on comes back there, and has to be begun there.
    const publicUrl = `http://${addresses['LISTEN_ADDR']}`
    const second = start(['--no-demo'], { ...addresses, MUSTER_PUBLIC_URL: `${publicUrl}/` })
    const again = await readWelcome(second)
    expect(again).toEqual({ ...welcome, url: publicUrl })
    await api.login(again)
    expect(await api.get('/api/workloads')).toHaveLength(workloads.length)
    expect(await listChildren(second.pid)).toHaveLength(2)
  })

  test('says so when a part of it dies, and takes the rest down', async () => {
    const first = start(['--no-demo'], await freeAddresses())
    await readWelcome(first)
    const parts = await listChildren(first.pid)
    const service = Number(
      /"services":\[(\d+)\]/.exec(await readFile(join(data, 'running.json'), 'utf8'))?.[1],
    )
    expect(parts).toContain(service)
    process.kill(service, 'SIGKILL')
    await first.ended
    expect(first.exitCode()).toBe(1)
    expect(first.output()).toContain('The service ended (signal SIGKILL)')
    expect(await Promise.all(parts.map(describeProcess))).toEqual(parts.map(() => null))
  })

  test('runs several processes behind one address, and serves on when one of them dies', async () => {
    const first = start(['--processes', '3'], await freeAddresses())
    const welcome = await readWelcome(first)
    const api = new Api(welcome.url)
    await api.login(welcome)
    type Member = { is_owner: boolean; agents: number; linked_since: string | null }
    const members = async (): Promise<Member[]> => (await api.get('/api/system/cluster')).members
    const live = async () => {
      const all: { status: string }[] = await api.get('/api/workloads')
      return all.filter(({ status }) => status !== 'disconnected').length
    }
    await eventually(
      'the demo fleet is spread over all three',
      async () => {
        const found = await members()
        return found.length === 3 && found.every(({ agents }) => agents > 0) && (await live()) >= 5
      },
      { explain: () => first.output() },
    )
    const { services } = JSON.parse(await readFile(join(data, 'running.json'), 'utf8')) as {
      services: number[]
    }
    expect(services).toHaveLength(3)
    // What a new collector is told leads to any of them: it outlives the one that said it.
    expect(first.output()).toContain(`OpAMP     ${(await api.get('/api/connect')).url}`)
    // The first process is the owner.
    process.kill(services[0]!, 'SIGKILL')
    await eventually(
      'another decides, and the demo fleet is there',
      async () => {
        const found = await members().catch(() => [])
        const left = found.filter(({ linked_since }) => linked_since !== null)
        return left.length === 2 && left.some(({ is_owner }) => is_owner) && (await live()) >= 5
      },
      { explain: () => first.output() },
    )
    expect(first.output()).toContain('Process 1 of 3 ended (signal SIGKILL)')
    const parts = await listChildren(first.pid)
    await first.stop('SIGINT')
    expect(first.exitCode()).toBe(0)
    expect(await Promise.all(parts.map(describeProcess))).toEqual(parts.map(() => null))
  })

  test.each([
    ['SIGTERM ends npm', 'SIGTERM'],
    ['SIGKILL ends npm', 'SIGKILL'],
    ['who started it and who reads its output are gone', 'SIGKILL'],
  ] as const)('leaves nothing behind when %s', async (how, signal) => {
    const addresses = await freeAddresses()
    const first = how.endsWith('npm') ? npmStart([], addresses) : startWithReader(addresses)
    await readWelcome(first)
    const family = await listFamily(first.pid)
    const programs = await Promise.all(family.map(describeProcess))
    for (const part of ['start.mjs', 'muster.mjs', 'demo-fleet.mjs', 'postgres'])
      expect(programs.join('\n')).toContain(part)
    try {
      const reader = family[programs.findIndex((program) => program?.startsWith('cat'))]
      if (reader !== undefined) process.kill(reader, signal)
      process.kill(first.pid, signal)
      await eventually(
        'everything that was started has ended',
        async () => (await Promise.all(family.map(describeProcess))).every((program) => program === null),
        { withinMs: 20_000 },
      )
      expect(await readFile(join(data, 'data', 'running.json'), 'utf8').catch(() => null)).toBeNull()
    } finally {
      for (const pid of family) {
        if ((await describeProcess(pid)) !== null) process.kill(pid, 'SIGKILL')
      }
    }
  })

  test('names the port that is taken', async () => {
    const addresses = await freeAddresses()
    const blocker = createServer()
    const [host = '', port = ''] = (addresses['LISTEN_ADDR'] ?? '').split(':')
    await new Promise<void>((resolve) => blocker.listen(Number(port), host, resolve))
    const blocked = start(['--no-demo'], addresses)
    await blocked.ended
    blocker.close()
    expect(blocked.exitCode()).toBe(1)
    expect(blocked.output()).toContain(`Port ${port} of LISTEN_ADDR is taken`)
  })
})
