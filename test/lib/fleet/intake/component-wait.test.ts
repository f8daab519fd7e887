import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../../lib/model/config-hash.ts'
import { AGENT_CAPABILITIES } from '../../../../lib/opamp/report.ts'
import {
  createFleetContext,
  type FakeAgent,
  type FakeAgentOptions,
  type FleetTestContext,
  fakeAgent,
} from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml, pushConfig } from '../../../support/push-config.ts'
import { SUPERVISOR } from '../../../support/test-agent.ts'

const database = await useTestDatabase()
const YAML = configYaml()
const HASH = configHash(YAML)
const ALL = new Map([
  ['exporters', ['debug', 'otlp']],
  ['receivers', ['otlp']],
])
const SMALL = new Map([
  ['exporters', ['otlp']],
  ['receivers', ['otlp']],
])

let ctx: FleetTestContext
let tests = 0
beforeEach(async () => {
  tests++
  ctx = await createFleetContext(database)
})
afterEach(() => ctx.close())

const join = (options: FakeAgentOptions = {}): FakeAgent =>
  fakeAgent(ctx.fleet, {
    host: `awaited-${tests}`,
    capabilities: SUPERVISOR | AGENT_CAPABILITIES.reportsAvailableComponents,
    ...options,
  })
const full = { components: { exporters: ['debug', 'otlp'], receivers: ['otlp'] } }
const announced = (hash = 'aa') => ({ componentsHash: `${hash}${tests}` })
const list = (agent: FakeAgent, components = ALL, hash = 'aa') =>
  agent.say({ components: { hash: `${hash}${tests}`, components } })

/** Connect an instance that has all components, push the config to it and let it apply it. */
async function runConfig(): Promise<FakeAgent> {
  const first = join(full)
  await pushConfig(ctx.fleet, first.workloadId, YAML)
  first.apply()
  await ctx.advance(1_000)
  return first
}

describe('an instance whose list of components is announced and not known', () => {
  it('is offered nothing before the list came, and the config when it came', async () => {
    await runConfig()
    const second = join(announced())
    await ctx.advance(30_000)
    expect(second.offered()).toEqual([])
    list(second)
    await ctx.advance(1_000)
    expect(second.offered()).toEqual([HASH])
  })

  it('is never offered what its list lacks, and moves nobody else', async () => {
    const first = await runConfig()
    const second = join(announced())
    await ctx.advance(1_000)
    list(second, SMALL)
    await ctx.advance(200_000)
    expect(second.offered()).toEqual([])
    expect(ctx.fleet.workload(first.workloadId)!.active!.targets.has(second.uid)).toBe(false)
  })

  it('is no target of a push before the list came, and one that joined when it came', async () => {
    const first = join(full)
    const [second, third] = [join(announced()), join(announced('bb'))]
    const push = await pushConfig(ctx.fleet, first.workloadId, YAML)
    expect(push.counts.target).toBe(1)
    list(second)
    list(third, SMALL, 'bb')
    await ctx.advance(1_000)
    expect(second.offered()).toEqual([HASH])
    expect(third.offered()).toEqual([])
    expect(push.counts).toMatchObject({ target: 2, joined: 1 })
    for (const agent of [first, second]) agent.apply()
    expect(push.status).toBe('applied')
  })

  it('counts after 60 s as one that never reported a list', async () => {
    await runConfig()
    const second = join(announced())
    await ctx.advance(59_000)
    expect(second.offered()).toEqual([])
    await ctx.advance(2_000)
    expect(second.offered()).toEqual([HASH])
  })

  it('is asked again and waited for again after a reconnect, three times at most', async () => {
    await runConfig()
    const { uid } = join(announced())
    for (const reconnects of [1, 2]) {
      ctx.fleet.connectionClosed(ctx.fleet.state.instances.get(uid)!.connection!)
      await ctx.advance(50_000)
      const again = join({ uid, ...announced() })
      await ctx.advance(50_000)
      expect([reconnects, again.offered()]).toEqual([reconnects, []])
    }
    ctx.fleet.connectionClosed(ctx.fleet.state.instances.get(uid)!.connection!)
    const last = join({ uid, ...announced() })
    await ctx.advance(1_000)
    expect(last.offered()).toEqual([HASH])
  })

  it('is not judged by the list of its former build where no wait for that of the new one came to an end', async () => {
    await runConfig()
    const { uid, ...before } = join({ components: { exporters: ['otlp'], receivers: ['otlp'] } })
    await ctx.advance(1_000)
    expect(before.offered()).toEqual([])
    before.say({ components: { hash: `ee${tests}`, components: null } })
    let last = before as Omit<FakeAgent, 'uid'>
    for (let reconnects = 0; reconnects < 3; reconnects++) {
      last.lose()
      await ctx.advance(10_000)
      last = join({ uid, ...announced('ee') })
      await ctx.advance(10_000)
    }
    expect(last.offered()).toEqual([HASH])
  })

  it('waits as well when it announces another list than the one that is known', async () => {
    const first = await runConfig()
    const second = join(full)
    await ctx.advance(1_000)
    expect(second.offered()).toEqual([HASH])
    second.apply()
    second.say({ components: { hash: `cc${tests}`, components: null } })
    const next = configYaml(4318)
    const push = await pushConfig(ctx.fleet, first.workloadId, next)
    expect(push.counts.target).toBe(1)
    await ctx.advance(5_000)
    expect(second.offered()).toEqual([HASH])
    list(second, SMALL, 'cc')
    await ctx.advance(100_000)
    expect(second.offered()).toEqual([HASH])
  })

  it('is counted at once when it runs the config already', async () => {
    const first = join(full)
    const push = await pushConfig(ctx.fleet, first.workloadId, YAML)
    first.apply()
    const second = join(announced())
    second.say({ remoteConfigStatus: { hash: HASH, status: 'applied', errorMessage: '' } })
    expect(push.counts.applied + push.counts.joined).toBeGreaterThan(1)
  })

  it('is waited for by its name alone: a list that another instance reported under it will do', async () => {
    await runConfig()
    list(join(announced()))
    await ctx.advance(1_000)
    const third = join(announced())
    await ctx.advance(1_000)
    expect(third.offered()).toEqual([HASH])
  })

  it('was a target before our restart: it waits, and is not offered what its list lacks', async () => {
    const first = join(full)
    const second = join({ components: { exporters: ['debug'], receivers: ['otlp'] } })
    await pushConfig(ctx.fleet, first.workloadId, YAML)
    await ctx.close()
    ctx = await createFleetContext(database)
    const again = join({ uid: second.uid, ...announced('dd') })
    await ctx.advance(10_000)
    expect(again.offered()).toEqual([])
    list(again, SMALL, 'dd')
    await ctx.advance(100_000)
    expect(again.offered()).toEqual([])
  })
})
