import { describe, expect, it } from 'vitest'
import { buildDriftOverview, type DriftCollector } from '../../../lib/posture/drift-overview.ts'

const A = 'a'.repeat(64)
const B = 'b'.repeat(64)
/** Instances that run these hashes. All that report another than A drift. */
const runs = (...hashes: string[]) =>
  hashes.map((hash) => ({ hash, isHeld: true, isDrifted: hash !== '' && hash !== A }))
/** Instances that run these hashes without drift. */
const agree = (...hashes: string[]) => hashes.map((hash) => ({ hash, isHeld: true, isDrifted: false }))
const now = new Date('2026-07-01T12:00:00.000Z')
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000)

const collector = (overrides: Partial<DriftCollector> = {}): DriftCollector => ({
  id: 'w1',
  displayName: 'gateway',
  fingerprintKeys: {},
  version: '0.120.0',
  labels: {},
  trustedLabels: {},
  acceptsRemoteConfig: true,
  activeHash: A,
  rollout: null,
  newestPush: null,
  instances: runs(A, A),
  fault: null,
  reportedHash: '',
  availableComponents: { receivers: ['otlp'], processors: ['batch'], exporters: ['otlp'] },
  alteredCount: 0,
  alteredSince: undefined,
  wish: null,
  hasDriftAlert: false,
  hasVersionAlert: false,
  isVersionOutdated: false,
  ...overrides,
})

const push = (minutes: number, overrides: Partial<NonNullable<DriftCollector['newestPush']>> = {}) => ({
  hash: A,
  isPending: true,
  submittedAt: minutesAgo(minutes),
  sentAt: null,
  carrierId: null,
  isRollback: false,
  record: { push_id: 'p1' },
  ...overrides,
})

const item = async (overrides: Partial<DriftCollector>) =>
  (await buildDriftOverview([collector(overrides)], now)).items[0]!

describe('buildDriftOverview', () => {
  it('shows what something else was pushed to than Git asks for, and not what waits for people or is on its way', async () => {
    const wish = { hash: B, since: minutesAgo(10), carriers: new Set(['cmp_of_git']) }
    const status = async (overrides: Partial<DriftCollector>) =>
      (await item({ wish, ...overrides })).drift_status
    expect(await status({ newestPush: push(5, { isPending: false }) })).toBe('differs_from_git')
    expect(await status({ newestPush: push(15, { isPending: false }) })).toBe('in_sync')
    expect(await status({ newestPush: push(5, { hash: B }) })).toBe('in_sync')
    expect(await status({ newestPush: push(5), activeHash: B, instances: [] })).not.toBe('differs_from_git')
    expect(await status({ newestPush: null })).toBe('in_sync')
    const brought = (carrierId: string) => ({ newestPush: push(5, { isPending: false, carrierId }) })
    expect(await status(brought('cmp_of_git'))).toBe('in_sync')
    expect(await status(brought('cmp_by_hand'))).toBe('differs_from_git')
    expect(await status({ ...brought('cmp_by_hand'), wish: { ...wish, hash: null } })).toBe(
      'differs_from_git',
    )
  })

  it('shows a collector that runs what it should', async () => {
    expect(await buildDriftOverview([collector()], now)).toEqual({
      generated_at: '2026-07-01T12:00:00.000Z',
      summary: {
        total_collectors: 1,
        drifted_collectors: 0,
        differ_from_git: 0,
        pending_too_long: 0,
        missing_effective_config: 0,
        remote_config_unsupported: 0,
        outdated_versions: 0,
        unknown_incomplete_components: 0,
        heterogeneous_groups: 0,
      },
      items: [
        {
          workload_id: 'w1',
          collector: 'gateway',
          env: 'unknown',
          version: '0.120.0',
          expected_config_hash: A,
          effective_config_hash: A,
          effective_config_hashes: [A],
          drift_status: 'in_sync',
          pending_too_long: false,
          accepts_remote_config: true,
          missing_effective_config: false,
          unknown_incomplete_components: false,
          group_heterogeneous_config: false,
          has_config_drift_alert: false,
          has_version_outdated_alert: false,
          actions: {
            view_diff: { enabled: false, reason: 'diff_requires_config_content' },
            validate_current: { enabled: false, reason: 'validate_from_workload_detail' },
            rollback: { enabled: false, reason: 'rollback_from_workload_detail' },
          },
        },
      ],
    })
  })

  it.each([
    ['remote_config_unsupported', { acceptsRemoteConfig: false, instances: runs() }],
    ['missing_effective_config', { instances: runs('') }],
    ['heterogeneous_effective_config', { instances: runs(A, B) }],
    ['drifted', { instances: runs(B) }],
    ['pending_too_long', { newestPush: push(16) }],
    ['in_sync', { newestPush: push(15) }],
    ['in_sync', { activeHash: null, instances: agree(B) }],
    ['in_sync', { instances: runs(), reportedHash: A }],
    ['drifted', { activeHash: null, newestPush: push(1), instances: runs(B) }],
  ] as [string, Partial<DriftCollector>][])('says %s of %j', async (status, overrides) => {
    expect((await item(overrides)).drift_status).toBe(status)
  })

  it('takes no member of a rollout stage for drifted that runs its stage', async () => {
    expect((await item({ instances: agree(A, B) })).drift_reasons).toEqual(['heterogeneous_effective_config'])
    expect((await item({ instances: [{ hash: A, isHeld: true, isDrifted: true }] })).drift_status).toBe(
      'drifted',
    )
  })

  it('compares nobody with an instance that cannot say which config it was given', async () => {
    const silent = { hash: B, isHeld: false, isDrifted: false }
    expect(await item({ instances: [...agree(A), silent] })).toMatchObject({ drift_status: 'in_sync' })
  })

  it('counts a collector as drifted also where another state is named first', async () => {
    const overview = await buildDriftOverview([collector({ instances: runs(A, B) })], now)
    expect(overview.summary.drifted_collectors).toBe(1)
  })

  it('gives every reason that holds, in the order of the statuses and then the rest', async () => {
    const worst = await item({
      acceptsRemoteConfig: false,
      instances: runs(A, B),
      newestPush: push(60, { sentAt: minutesAgo(20) }),
      hasDriftAlert: true,
      isVersionOutdated: true,
      availableComponents: null,
    })
    expect(worst.drift_reasons).toEqual([
      'remote_config_unsupported',
      'heterogeneous_effective_config',
      'drifted',
      'pending_too_long',
      'config_drift_alert',
      'version_outdated',
      'unknown_incomplete_components',
    ])
    expect(worst).not.toHaveProperty('effective_config_hash')
    expect(worst.effective_config_hashes).toEqual([A, B])
    expect(worst).toMatchObject({ last_push: { push_id: 'p1' }, last_push_age_seconds: 1200 })
    expect(worst.actions).toMatchObject({
      rollback: { reason: 'remote_config_unsupported' },
    })
  })

  it('names the rollout by which a part is to run another config, and whether it waits for somebody', async () => {
    const staged = (status: 'under_way' | 'halted' | 'aborted', runningCount = 1) =>
      item({
        rollout: { id: 'canary_1', hash: B, status, runningCount },
        instances: [...agree(B), ...agree(A)],
      })
    expect(await staged('halted')).toMatchObject({
      expected_config_hash: A,
      rollout_config_hash: B,
      rollout_id: 'canary_1',
      drift_reasons: ['heterogeneous_effective_config', 'rollout_halted'],
    })
    expect((await staged('under_way')).drift_reasons).toContain('rollout_under_way')
    expect((await staged('aborted')).drift_reasons).toContain('rollout_aborted')
    // Once nobody runs what it brought it is over.
    expect((await staged('aborted', 0)).drift_reasons).not.toContain('rollout_aborted')
  })

  it('does not say that one runs what it should whose config is not known while it is connected', async () => {
    const drifting = [{ hash: '', isHeld: true, isDrifted: true }]
    const drifted = await item({ instances: drifting, reportedHash: A })
    expect(drifted.drift_reasons).toContain('drifted')
    expect(drifted).not.toHaveProperty('effective_config_hash')
  })

  it('compares collectors of one named environment with each other, never those without one', async () => {
    const mixed = await buildDriftOverview(
      [
        collector({ id: 'w1', labels: { env: 'prod' } }),
        collector({
          id: 'w2',
          labels: { environment: 'dev', env: ' ' },
          trustedLabels: { environment: 'prod' },
          activeHash: B,
          instances: agree(B),
        }),
        collector({ id: 'w3', labels: { 'deployment.environment': 'staging' } }),
        collector({ id: 'w4' }),
        collector({ id: 'w5', activeHash: B, instances: agree(B) }),
      ],
      now,
    )
    expect(mixed.summary.heterogeneous_groups).toBe(1)
    expect(mixed.items.filter((one) => one.group_heterogeneous_config).map((one) => one.workload_id)).toEqual(
      ['w1', 'w2'],
    )
    expect(mixed.items[0]!.drift_reasons).toEqual(['group_heterogeneous_config'])
  })

  it('puts the worst first, then goes by name whatever its case, then by id', async () => {
    const overview = await buildDriftOverview(
      [
        collector({ id: 'w7', displayName: 'b' }),
        collector({ id: 'w6', displayName: 'B' }),
        collector({ id: 'w5', displayName: 'a', newestPush: push(20) }),
        collector({ id: 'w4', displayName: 'z', instances: runs() }),
        collector({ id: 'w3', displayName: 'z', instances: runs(B) }),
        collector({ id: 'w2', displayName: 'y', hasDriftAlert: true, hasVersionAlert: true }),
        collector({ id: 'w8', displayName: 'a', instances: runs(A, B) }),
        collector({ id: 'w1', displayName: '' }),
      ],
      now,
    )
    // None of w3 runs what is expected; one of w8 does, and both of w2.
    const order = overview.items.map((one) => one.workload_id)
    expect(order).toEqual(['w3', 'w8', 'w2', 'w4', 'w5', 'w6', 'w7', 'w1'])
    expect(overview.items.at(-1)!.collector).toBe('w1')
    expect(overview.summary).toMatchObject({
      total_collectors: 8,
      drifted_collectors: 3,
      pending_too_long: 1,
      missing_effective_config: 1,
      outdated_versions: 1,
    })
  })
})
