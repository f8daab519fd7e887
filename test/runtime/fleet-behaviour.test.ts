import { afterEach, describe, expect, test } from 'vitest'
import {
  READ_ONLY,
  type SimulatedAgent,
  type SimulatedAgentOptions,
  startSimulatedAgent,
} from '../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../support/eventually.ts'
import { type FleetServer, sha256Hex, startFleetServer } from '../support/fleet-server.ts'
import { useTestDatabase } from '../support/postgres.ts'

/** What the fleet does when agents come, go, apply and fail, seen from agents and from the database. */

const database = await useTestDatabase()
let server: FleetServer
const agents: SimulatedAgent[] = []
// Each test has a service name of its own, since they share one database.
let tests = 0

async function start(options: Parameters<typeof startFleetServer>[1] = {}): Promise<void> {
  server = await startFleetServer(database, options)
}
afterEach(async () => {
  for (const agent of agents.splice(0)) agent.kill()
  await server.stop()
  tests += 1
})

/** Connect an agent of this test's workload, a Deployment; each is a pod of its own. */
async function join(options: Partial<SimulatedAgentOptions> = {}): Promise<SimulatedAgent> {
  const agent = startSimulatedAgent({
    url: `ws://${server.url}`,
    beatMs: 0,
    reconnectMs: 5,
    identifying: { 'service.name': `gateway-${tests}`, 'service.version': '0.149.0' },
    nonIdentifying: pod(agents.length),
    behaviour: { kind: 'apply', delayMs: 1 },
    ...options,
  })
  agents.push(agent)
  await agent.until('its first answer', ({ heard }) => heard.length > 0)
  await eventually('it is live', () => server.live(agent.uidHex()) !== undefined)
  return agent
}

/** Wait until the server has taken everything that the agent sent, and has sent all that follows. */
async function settle(agent: SimulatedAgent): Promise<void> {
  const instance = () => server.fleet.state.instances.get(agent.uidHex())
  const taken = () => instance()?.sequenceNum === agent.said.length - 1
  const stored = () => server.fleet.offers.waitingCount === 0 && instance()?.offer?.isCommitted !== false
  agent.beat()
  await eventually('all is taken', () => taken() && stored())
  const count = agent.heard.length
  agent.beat()
  await agent.until('an answer', ({ heard }) => heard.length > count)
  await eventually('all is taken', taken)
}

const pod = (n: number): Record<string, string> => ({
  'k8s.namespace.name': 'obs',
  'k8s.deployment.name': `gateway-${tests}`,
  'k8s.pod.name': `pod-${n}`,
})
const workloadOf = (agent: SimulatedAgent) => server.fleet.state.instances.get(agent.uidHex())!.workload!
const derive = () => server.fleet.writer.derive()
const eventTypes = async (agent: SimulatedAgent) =>
  (await server.events())
    .filter(({ instanceUid }) => instanceUid === agent.uidHex())
    .map(({ eventType, version, prevVersion }) => [eventType, version, prevVersion].filter(Boolean).join(' '))

const config = (comment: string): string => `receivers: { otlp: {} }
exporters: { debug: {} }
service: { pipelines: { logs: { receivers: [otlp], exporters: [debug] } } }
# ${comment}
`
/**
 * A config that every collector of these tests fails to start with, although it names only components that they have.
 */
const BROKEN = config('broken').replace('receivers: [otlp]', 'receivers: [otlp/missing]')

/** The pushes of a workload as stored, oldest first. */
async function pushes(workloadId: string) {
  await server.fleet.writer.flush()
  return database.pool.query<{ kind: string; status: string; hash: string }>(
    `select kind, status, config_hash as hash from pushes where workload_id = $1 order by seq`,
    [workloadId],
  )
}

describe('who is there', () => {
  test('two pods of one Deployment are one workload with two instances', async () => {
    await start()
    const [a, b] = [await join(), await join()]
    expect(workloadOf(a)).toBe(workloadOf(b))
    expect(server.fleet.liveInstances(workloadOf(a)).map(({ podName }) => podName)).toEqual([
      'pod-0',
      'pod-1',
    ])
  })

  test('coming is one event, a new version one with the former, and going one', async () => {
    await start()
    const agent = await join()
    agent.say({
      agentDescription: {
        identifyingAttributes: [{ key: 'service.version', value: { stringValue: '0.150.0' } }],
        nonIdentifyingAttributes: Object.entries(pod(0)).map(([key, stringValue]) => ({
          key,
          value: { stringValue },
        })),
      },
    })
    await settle(agent)
    await agent.stop()
    await eventually('it is gone', () => server.live(agent.uidHex()) === undefined)
    expect(await eventTypes(agent)).toEqual([
      'connected 0.149.0',
      'version_changed 0.150.0 0.149.0',
      'disconnected',
    ])
  })

  test('a pod that joins within the grace of the last one keeps the workload connected', async () => {
    await start()
    const first = await join()
    const workload = workloadOf(first)
    await first.stop()
    await eventually('nobody is there', () => workload.live.count === 0)
    server.clock.advance(119_000)
    await join()
    server.clock.advance(10_000)
    derive()
    expect(workload).toMatchObject({ status: 'connected', disconnectedAt: null, graceUntilMs: null })
  })

  test('nobody joins: disconnected when the grace is over, and a reconnect brings it back', async () => {
    await start()
    const first = await join()
    const workload = workloadOf(first)
    await first.stop()
    await eventually('nobody is there', () => workload.live.count === 0)
    expect(workload.status).toBe('connected')
    server.clock.advance(120_000)
    await eventually('it is disconnected', () => workload.status === 'disconnected')
    expect(workload.disconnectedAt).not.toBeNull()
    expect(await server.fleet.archive(workload.id, null, async () => {})).toEqual({ ok: true })
    expect(workload.archivedAt).not.toBeNull()
    await join()
    derive()
    expect(workload).toMatchObject({ status: 'connected', disconnectedAt: null, archivedAt: null })
    await server.fleet.writer.flush()
    const rows = await database.pool.query(
      'select archived_at, disconnected_at from workloads where id = $1',
      [workload.id],
    )
    expect(rows).toEqual([{ archived_at: null, disconnected_at: null }])
  })

  test('one sick instance degrades the workload; when it leaves, nobody has to say a word', async () => {
    await start()
    const [sick, fine] = [await join(), await join()]
    sick.collector.setHealthy(false)
    await settle(sick)
    server.clock.advance(1_500)
    await eventually('it is degraded', () => workloadOf(fine).status === 'degraded')
    await sick.stop()
    await eventually('it is connected', () => workloadOf(fine).status === 'connected')
  })

  test('after a restart a workload whose agents never return is disconnected when the grace is over', async () => {
    await start()
    const agent = await join()
    const { id } = workloadOf(agent)
    agent.kill()
    await server.stop()
    await start()
    expect(server.fleet.workload(id)!.status).toBe('connected')
    server.clock.advance(121_000)
    await eventually('it is disconnected', () => server.fleet.workload(id)!.status === 'disconnected')
  })

  test('labels under the trusted prefix are never taken from an agent; those of operators stay', async () => {
    await start()
    const agent = await join({ nonIdentifying: { ...pod(0), 'muster/selector.team': 'evil', team: 'own' } })
    const workload = workloadOf(agent)
    derive()
    expect(workload.labels).toMatchObject({ team: 'own' })
    expect(Object.keys(workload.labels).filter((key) => key.startsWith('muster/'))).toEqual([])
    await server.fleet.writer.flush()
    await server.fleet.setTrustedLabels(workload.id, { 'muster/selector.team': 'ops' }, null, async () => {})
    agent.say(agent.collector.fullState(true))
    await settle(agent)
    expect(workload.trustedLabels).toEqual({ 'muster/selector.team': 'ops' })
  })

  test('a workload deleted under its agent comes back whole from its full state', async () => {
    await start()
    const agent = await join()
    const { id } = workloadOf(agent)
    await server.fleet.writer.flush()
    expect(await server.fleet.remove(id, null, async () => {})).toEqual({ ok: true })
    await eventually('it is back', () => server.live(agent.uidHex())?.workload?.id === id)
    await server.fleet.writer.flush()
    expect(await database.pool.query('select display_name from workloads where id = $1', [id])).toEqual([
      { display_name: `gateway-${tests}` },
    ])
    expect(agent.said.filter((part) => 'agentDescription' in part).length).toBe(2)
  })
})

describe('what they run', () => {
  test('an APPLIED that comes at once is stored as applied', async () => {
    await start()
    const agent = await join({ initialConfig: config('same') })
    const { id } = workloadOf(agent)
    await server.push(id, config('same'))
    await eventually('it is applied', () => server.fleet.workload(id)!.newestPush!.status === 'applied')
    expect(await pushes(id)).toMatchObject([{ status: 'applied' }])
  })

  test('three instances fail: one rollback, one row, one notice; a FAILED said again changes nothing', async () => {
    await start()
    const three = [await join(), await join(), await join()]
    const { id } = workloadOf(three[0]!)
    await server.push(id, config('good'))
    await eventually('it is applied', () => server.fleet.workload(id)!.newestPush!.status === 'applied')
    await server.push(id, BROKEN)
    await eventually('all are back', () =>
      three.every(({ collector }) => {
        const { remoteConfigHash, status } = collector.storage
        return status === 'applied' && remoteConfigHash === sha256Hex(config('good'))
      }),
    )
    await eventually('the rollback is applied', () => {
      return server.fleet.workload(id)!.newestPush!.status === 'applied'
    })
    const expected = [
      { kind: 'approval', status: 'applied', hash: sha256Hex(config('good')) },
      { kind: 'approval', status: 'failed', hash: sha256Hex(BROKEN) },
      { kind: 'auto-rollback', status: 'applied', hash: sha256Hex(config('good')) },
    ]
    expect(await pushes(id)).toEqual(expected)
    three[0]!.say({
      remoteConfigStatus: { lastRemoteConfigHash: Buffer.from(sha256Hex(BROKEN), 'hex'), status: 3 },
    })
    await settle(three[0]!)
    expect(await pushes(id)).toEqual(expected)
    expect(server.notices.rollbacks.length).toBe(1)
  })

  test('a first config that fails has nothing to go back to: nothing more is pushed', async () => {
    await start()
    const agent = await join()
    const { id } = workloadOf(agent)
    await server.push(id, BROKEN)
    await eventually('it failed', () => server.fleet.workload(id)!.newestPush!.status === 'failed')
    await settle(agent)
    expect(await pushes(id)).toMatchObject([{ status: 'failed', kind: 'approval' }])
    expect(agent.collector.offeredHashes).toEqual([sha256Hex(BROKEN)])
  })

  test('a rollback that fails too is not rolled back', async () => {
    await start()
    const agent = await join()
    const { id } = workloadOf(agent)
    await server.push(id, config('good'))
    await eventually('it is applied', () => server.fleet.workload(id)!.newestPush!.status === 'applied')
    agent.collector.behaviour = { kind: 'fail', delayMs: 1, errorMessage: 'no space left' }
    await server.push(id, config('next'))
    await eventually('both failed', async () => {
      const rows = await pushes(id)
      return rows.length === 3 && rows.slice(1).every(({ status }) => status === 'failed')
    })
    expect((await pushes(id)).map(({ kind }) => kind)).toEqual(['approval', 'approval', 'auto-rollback'])
    expect(agent.collector.offeredHashes.length).toBe(3)
  })

  test('a late joiner is brought in line once; one that runs the active config already is offered nothing', async () => {
    await start()
    const first = await join()
    const { id } = workloadOf(first)
    const good = config('good')
    await server.push(id, good)
    await eventually('it is applied', () => server.fleet.workload(id)!.newestPush!.status === 'applied')
    const late = await join()
    await eventually('it is in line', () => late.collector.storage.status === 'applied')
    const same = await join({
      storage: {
        remoteConfig: good,
        remoteConfigHash: sha256Hex(good),
        status: 'applied',
        errorMessage: '',
      },
    })
    for (const agent of [late, same]) await settle(agent)
    expect(late.collector.offeredHashes).toEqual([sha256Hex(good)])
    expect(same.collector.offeredHashes).toEqual([])
  })

  test('an agent that only shows itself is never offered anything', async () => {
    await start()
    const [capable, readOnly] = [await join(), await join({ capabilities: READ_ONLY })]
    await server.push(workloadOf(capable).id, config('good'))
    await eventually('it is applied', () => capable.collector.storage.status === 'applied')
    await settle(readOnly)
    expect(readOnly.heard.filter(({ remoteConfig }) => remoteConfig !== undefined)).toEqual([])
  })

  test('the raw words of an error reach neither database nor log', async () => {
    await start()
    const secret = 'tok_9f8e7d6c5b4a39281706'
    const agent = await join()
    const { id } = workloadOf(agent)
    const errorMessage = `cannot export to https://user:${secret}@otel.example.com with Authorization: Bearer ${secret}`
    agent.collector.behaviour = { kind: 'fail', delayMs: 1, errorMessage }
    await server.push(id, config('good'))
    await eventually('it failed', () => server.fleet.workload(id)!.newestPush!.status === 'failed')
    await server.fleet.writer.flush()
    const tables = await database.pool.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    )
    for (const { name } of tables) {
      const rows = await database.pool.query<{ row: string }>(`select t::text as row from "${name}" t`)
      expect(rows.filter(({ row }) => row.includes(secret))).toEqual([])
    }
    expect(JSON.stringify(server.log.lines)).not.toContain(secret)
    expect(JSON.stringify(server.fleet.workload(id)!.remoteConfigStatus)).not.toContain(secret)
  })

  test('an effective config that comes without a description is kept, and never becomes what is pushed', async () => {
    await start()
    const agent = await join()
    const before = server.live(agent.uidHex())!.reportedConfigHash
    const body = Buffer.from(config('edited on the machine').replace('debug', 'file'))
    agent.say({ effectiveConfig: { configMap: { configMap: { '': { body } } } } })
    await eventually('it is known', () => {
      const now = server.live(agent.uidHex())!.reportedConfigHash
      return now !== '' && now !== before
    })
    expect(workloadOf(agent).activeHash).toBeNull()
    const other = await join()
    await settle(other)
    expect(other.collector.offeredHashes).toEqual([])
  })

  test('an agent that says nothing about its offer is asked again three times at most', async () => {
    await start()
    const [silent, other] = [await join({ behaviour: { kind: 'silent' } }), await join()]
    const { id } = workloadOf(other)
    await server.push(id, config('good'))
    await silent.until('the offer', ({ collector }) => collector.offeredHashes.length === 1)
    for (const count of [2, 3]) {
      server.clock.advance(121_000)
      await silent.until('the offer again', ({ collector }) => collector.offeredHashes.length === count)
    }
    server.clock.advance(121_000)
    await eventually('the push is applied without it', () => {
      return server.fleet.workload(id)!.newestPush!.status === 'applied'
    })
    await settle(silent)
    expect(silent.collector.offeredHashes.length).toBe(3)
  })

  test('agents that crash on a config, one after the other, fail it; they get the former one back', async () => {
    await start()
    const agent = await join()
    const { id } = workloadOf(agent)
    await server.push(id, config('good'))
    await eventually('it is applied', () => server.fleet.workload(id)!.newestPush!.status === 'applied')
    agent.collector.behaviour = { kind: 'crash' }
    await server.push(id, config('crashes'))
    await eventually('it failed', async () => (await pushes(id)).some(({ status }) => status === 'failed'))
    agent.collector.behaviour = { kind: 'apply', delayMs: 1 }
    await eventually('it is back', () => {
      agent.beat()
      return agent.collector.storage.remoteConfigHash === sha256Hex(config('good'))
    })
    expect((await pushes(id)).map(({ kind, status }) => [kind, status])).toMatchObject([
      ['approval', 'applied'],
      ['approval', 'failed'],
      ['auto-rollback', expect.any(String)],
    ])
  })
})
