import { describe, expect, it } from 'vitest'
import { type PreviewedWorkload, previewPush } from '../../../lib/posture/push-preview.ts'
import { countLoopTurns } from '../../support/loop-turns.ts'

const TURNS = { size: 200, clock: { monotonicMs: () => 0 } }

const workload = (id: string, more: Partial<PreviewedWorkload> = {}): PreviewedWorkload => ({
  id,
  displayName: id,
  type: 'collector',
  status: 'connected',
  version: '0.120.0',
  labels: { env: 'agent-says' },
  trustedLabels: { env: 'prod', tier: 'edge' },
  fingerprintKeys: { 'host.name': id },
  acceptsRemoteConfig: true,
  availableComponents: { receivers: ['otlp'] },
  lastSeenAt: new Date('2026-07-01T08:00:00.900Z'),
  ...more,
})

describe('previewPush', () => {
  it('lets others have their turn between the workloads of a large fleet', async () => {
    const many = Array.from({ length: 1_000 }, (_, n) => workload(`w${n}`))
    const turns = countLoopTurns()
    const request = { groupId: null, selector: {}, sees: () => true, faultOf: () => null }
    const { targeted_count } = await previewPush(many, request, TURNS)
    expect(targeted_count).toBe(1_000)
    expect(turns.over()).toBeGreaterThanOrEqual(12)
  })

  it('puts each workload into the first bucket that fits, by name', async () => {
    const preview = await previewPush(
      [
        workload('w5', { displayName: 'zeta' }),
        workload('w4', { displayName: 'beta', availableComponents: null, version: '' }),
        workload('w3', { acceptsRemoteConfig: false }),
        workload('w2', { type: 'sdk' }),
        workload('w1', { status: 'disconnected', type: 'sdk' }),
      ],
      {
        groupId: 'edge',
        selector: {},
        sees: () => true,
        faultOf: (one) => (one.availableComponents === null ? 'it lacks something' : null),
      },
      TURNS,
    )
    expect(preview).toMatchObject({
      group_id: 'edge',
      selector_source: 'trusted_labels',
      targeted_count: 5,
      breakdown: { remote_config_capable: 1, read_only: 2, incompatible: 1, offline: 1 },
    })
    expect(preview.targets.map((one) => [one.display_name, one.bucket, one.reason])).toEqual([
      ['beta', 'incompatible', 'it lacks something'],
      ['w1', 'offline', 'workload is not connected'],
      ['w2', 'read_only', 'workload does not accept remote config'],
      ['w3', 'read_only', 'workload does not accept remote config'],
      ['zeta', 'remote_config_capable', undefined],
    ])
    expect(preview.targets[0]).not.toHaveProperty('version')
    expect(preview.targets[0]!.last_seen_unix).toBe(1_782_892_800)
  })
})
