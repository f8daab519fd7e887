import { describe, expect, it } from 'vitest'
import { isSelected, type SelectableWorkload } from '../../../lib/fleet/decide/selector.ts'
import { type PreviewedWorkload, previewPush } from '../../../lib/posture/push-preview.ts'
import type { PushSelector } from '../../../lib/wire/pushes.ts'

const workload = (id: string, more: Partial<PreviewedWorkload> = {}): PreviewedWorkload => ({
  id,
  displayName: id,
  type: 'collector',
  status: 'connected',
  version: '0.120.0',
  labels: { env: 'agent-says' },
  trustedLabels: { env: 'prod', tier: 'edge' },
  acceptsRemoteConfig: true,
  availableComponents: { receivers: ['otlp'] },
  lastSeenAt: new Date('2026-07-01T08:00:00.900Z'),
  ...more,
})

describe('isSelected', () => {
  const trusted = (selector: PushSelector, more: Partial<SelectableWorkload> = {}) =>
    isSelected(workload('w', more), selector, 'trusted_labels')
  const free = (selector: PushSelector, more: Partial<SelectableWorkload> = {}) =>
    isSelected(workload('w', more), selector, 'collector_labels')

  it('compares a group with what operators set, never with what agents say', () => {
    expect(trusted({ match_labels: { env: 'prod' } })).toBe(true)
    expect(trusted({ match_labels: { env: 'prod', tier: 'edge' } })).toBe(true)
    expect(trusted({ match_labels: { env: 'prod', tier: 'core' } })).toBe(false)
    expect(trusted({ match_labels: { env: 'agent-says' } })).toBe(false)
    const spoofing = { labels: { 'muster/env': 'gold', env: 'gold' }, trustedLabels: {} }
    expect(trusted({ match_labels: { env: 'gold' } }, spoofing)).toBe(false)
    expect(trusted({ match_labels: { toString: 'x' } })).toBe(false)
  })

  it('compares a free selector with what agents say, and lets it name no trusted label', () => {
    expect(free({ match_labels: { env: 'agent-says' } })).toBe(true)
    expect(free({ match_labels: { env: 'prod' } })).toBe(false)
    expect(free({ match_labels: { 'muster/env': 'x' } }, { labels: { 'muster/env': 'x' } })).toBe(false)
    expect(free({})).toBe(true)
  })

  it.each<[PushSelector, boolean]>([
    [{ types: ['sdk', 'collector'] }, true],
    [{ types: ['sdk'] }, false],
    [{ versions: ['0.120.0'] }, true],
    [{ versions: ['0.120'] }, false],
    [{ capabilities: ['remote_config'] }, true],
    [{ capabilities: ['push_config', 'report_config', 'otlp'] }, true],
    [{ capabilities: ['otlp', 'kafka'] }, false],
    [{ types: [], versions: [], capabilities: [] }, true],
  ])('%j is met: %s', (selector, expected) => {
    expect(free(selector)).toBe(expected)
  })
})

describe('previewPush', () => {
  it('puts each workload into the first bucket that fits, by name', () => {
    const preview = previewPush(
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
        source: 'trusted_labels',
        faultOf: (one) => (one.availableComponents === null ? 'it lacks something' : null),
      },
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
