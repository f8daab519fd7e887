import { describe, expect, it } from 'vitest'
import type { FleetPeer } from '../../../lib/configs/check/target.ts'
import { blastRadius } from '../../../lib/configs/diff/blast-radius.ts'
import type { Fleet } from '../../../lib/fleet/fleet.ts'
import type { Workload } from '../../../lib/fleet/state/model.ts'
import { openConfigTargets } from '../../../lib/posture/config-targets.ts'
import type { Db } from '../../../lib/store/db.ts'

const workload = (n: number, rest: Partial<Workload> = {}) =>
  ({
    id: `w${n}`,
    displayName: `workload ${n}`,
    type: 'collector',
    status: n % 7 === 0 ? 'degraded' : 'connected',
    labels: {
      'service.name': `service-${n % 50}`,
      'k8s.cluster.name': `cluster-${n % 4}`,
      'k8s.pod.annotation': 'x'.repeat(500),
      ...(n % 3 === 0 ? { CRITICAL: 'true' } : {}),
      ...(n % 5 === 0 ? { stage: ' Production ' } : {}),
    },
    trustedLabels: n % 10 === 1 ? { cluster: 'cluster-0' } : {},
    fingerprintKeys: n % 11 === 0 ? { cluster: ' cluster-0 ' } : {},
    archivedAt: null,
    ...rest,
  }) as unknown as Workload

function targetsOver(workloads: readonly Workload[]) {
  const byId = new Map(workloads.map((one) => [one.id, one]))
  const fleet = {
    state: { workloads: byId },
    workload: (id: string) => byId.get(id) ?? null,
    liveInstances: () => [],
  }
  return openConfigTargets(fleet as unknown as Fleet, {} as Db)
}

const many = Array.from({ length: 3_500 }, (_, n) => workload(n))
const NO_CHANGES = { components: [], pipelines: [], endpoints: [], risks: [] }
const read = async (text: Promise<string>) => JSON.parse(await text) as FleetPeer[]

/** The health of an instance whose exporters say this. */
const saying = (errors: Record<string, string>) => ({
  health: {
    healthy: false,
    lastError: '',
    children: new Map(
      Object.entries(errors).map(([id, lastError]) => [
        `exporter:${id}`,
        { healthy: false, lastError, children: new Map() },
      ]),
    ),
  },
})
const NO_HOST = 'dial tcp: lookup h: no such host'

describe('what fails on a workload', () => {
  const failingOf = async (unhealthy: ReturnType<typeof saying>[], count = unhealthy.length) => {
    const live = { unhealthy: new Set(unhealthy), count }
    const one = workload(1, { live: live as never, availableComponents: null })
    const { failing } = (await targetsOver([one]).find('w1'))!
    return Object.fromEntries([...failing].map(([id, { unreachable }]) => [id, [...unreachable]]))
  }

  it('cannot be reached where every instance names it, by the exporter that sends there', async () => {
    expect(await failingOf([saying({ otlp: NO_HOST }), saying({ otlp: NO_HOST })])).toEqual({ otlp: ['h'] })
    const refused = 'rpc error: code = Unauthenticated desc = 401 of h'
    expect(await failingOf([saying({ otlp: NO_HOST }), saying({ otlp: refused })])).toEqual({ otlp: [] })
    expect(await failingOf([saying({ otlp: NO_HOST }), saying({ kafka: NO_HOST })])).toEqual({
      otlp: [],
      kafka: [],
    })
    expect(await failingOf([saying({ otlp: NO_HOST })], 2)).toEqual({ otlp: [] })
  })

  it('may be reached by those that are not asked, however many they are', async () => {
    const dead = Array.from({ length: 20 }, () => saying({ otlp: NO_HOST }))
    expect(await failingOf(dead)).toEqual({ otlp: ['h'] })
    expect(await failingOf([...dead, saying({ kafka: 'of something else' })])).toEqual({ otlp: [] })
  })
})

describe('the neighbours of a workload', () => {
  it('make the blast radius that the whole fleet would make', async () => {
    const targets = targetsOver(many)
    const own = (await targets.peer('w4'))!
    const everyone = await Promise.all(many.map(async ({ id }) => (await targets.peer(id))!))
    const neighbours = await read(targets.neighbours(own))
    const radius = blastRadius(NO_CHANGES, own, neighbours)
    expect(radius).toEqual(blastRadius(NO_CHANGES, own, everyone))
    expect(radius.impacted_services.length).toBeGreaterThan(1_000)
    const reasons = new Set(radius.critical_collectors.flatMap((one) => one.reasons))
    expect(reasons).toEqual(
      new Set(['collector_workload', 'critical_true', 'production_label', 'status_degraded']),
    )
  })

  it('are those of its cluster, with no label more than is looked at, and none that is archived', async () => {
    const cluster = { 'k8s.cluster.name': 'eu', note: 'x'.repeat(1_000) }
    const targets = targetsOver([
      workload(0, { labels: cluster }),
      workload(2, { labels: { ...cluster, 'service.name': 'two' } }),
      workload(3),
      workload(4, { labels: cluster, archivedAt: new Date(0) }),
    ])
    const found = await read(targets.neighbours((await targets.peer('w0'))!))
    expect(found.map(({ id, labels }) => ({ id, labels }))).toEqual([
      { id: 'w2', labels: { 'k8s.cluster.name': 'eu', 'service.name': 'two' } },
    ])
    expect(await targets.peer('w4')).toBeNull()
    expect(await targets.peer('w9')).toBeNull()
  })

  it('are none of another environment, whatever label of an agent names it', async () => {
    const of = (n: number, labels: Record<string, string>) =>
      workload(n, { labels: { 'k8s.cluster.name': 'eu', 'service.name': `s${n}`, ...labels } })
    const targets = targetsOver([
      of(0, { env: 'staging' }),
      of(2, { 'deployment.environment.name': 'production' }),
      of(3, { environment: 'staging' }),
      of(4, { 'deployment.environment': 'staging' }),
    ])
    const own = (await targets.peer('w0'))!
    const radius = blastRadius(NO_CHANGES, own, await read(targets.neighbours(own)))
    expect(radius.impacted_services.map(({ service_name }) => service_name)).toEqual(['s0', 's3', 's4'])
  })

  it('are production where policy and confirmations say so, and so is the workload itself', async () => {
    const of = (n: number, rest: object) =>
      workload(n, { labels: { 'k8s.cluster.name': 'eu' }, trustedLabels: {}, ...rest })
    const targets = targetsOver([
      of(0, { labels: { 'k8s.cluster.name': 'eu', env: 'eu-prod' } }),
      of(1, { labels: { 'k8s.cluster.name': 'eu', 'deployment.environment.name': 'production2' } }),
      of(2, { trustedLabels: { tier: 'shop/prod' } }),
      of(3, { labels: { 'k8s.cluster.name': 'eu', env: 'non-prod' } }),
      of(4, { labels: { 'k8s.cluster.name': 'eu', env: 'preprod' } }),
    ])
    const reasonsOf = async (id: string) => {
      const radius = blastRadius(NO_CHANGES, (await targets.peer(id))!, [])
      return radius.critical_collectors[0]?.reasons.includes('production_label')
    }
    const ids = ['w0', 'w1', 'w2', 'w3', 'w4']
    expect(await Promise.all(ids.map(reasonsOf))).toEqual([true, true, true, false, false])
    const [shop] = (await read(targets.neighbours((await targets.peer('w4'))!))).filter(
      ({ id }) => id === 'w2',
    )
    expect(shop).toMatchObject({ id: 'w2', isProduction: true })
  })

  it('are nobody where no cluster is named, and the fleet is not looked through', async () => {
    const targets = targetsOver([workload(0, { labels: {} }), workload(2, { labels: {} })])
    expect(await targets.neighbours((await targets.peer('w0'))!)).toBe('[]')
  })

  it('are looked for a few at a time, so that agents have their turns', async () => {
    const targets = targetsOver(many)
    const own = (await targets.peer('w4'))!
    let turns = 0
    let isFound = false
    const count = () => {
      turns++
      if (!isFound) setImmediate(count)
    }
    setImmediate(count)
    await targets.neighbours(own)
    isFound = true
    expect(turns).toBeGreaterThanOrEqual(3)
  })
})
