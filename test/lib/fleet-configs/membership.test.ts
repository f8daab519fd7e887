import { describe, expect, it } from 'vitest'
import {
  type Candidate,
  findSelecting,
  judgeMembership,
  openCandidates,
} from '../../../lib/fleet-configs/membership.ts'
import type { SelectableWorkload } from '../../../lib/selectors/selector.ts'

const WORKLOAD: SelectableWorkload = {
  type: 'collector',
  version: '0.149.0',
  labels: {},
  trustedLabels: { tier: 'web' },
  fingerprintKeys: {},
  acceptsRemoteConfig: true,
  availableComponents: null,
}
const config = (id: string, priority: number, made: number, tier = 'web'): Candidate => ({
  id,
  priority,
  createdAt: new Date(made),
  selector: { match_labels: { 'muster/tier': tier } },
})

const judge = (candidates: readonly Candidate[], formerId: string | null) =>
  judgeMembership(findSelecting(WORKLOAD, openCandidates(candidates)), formerId)

describe('a workload', () => {
  it('is under none of the fleet configs that do not select it', () => {
    expect(judge([], null)).toEqual({ configId: null, rivals: [] })
    expect(judge([config('edge', 9, 1, 'edge')], 'edge')).toEqual({
      configId: null,
      rivals: [],
    })
  })

  it('is under the one with the highest priority, and that is no conflict', () => {
    const candidates = [config('low', -5, 1), config('high', 10, 3), config('middle', 0, 2)]
    expect(judge(candidates, 'low')).toEqual({ configId: 'high', rivals: [] })
  })

  it('stays where it was while several have the same priority, and the others are its rivals', () => {
    const candidates = [config('old', 1, 1), config('young', 1, 2), config('low', 0, 0)]
    expect(judge(candidates, 'young')).toEqual({ configId: 'young', rivals: ['old'] })
    expect(judge(candidates, 'low')).toEqual({ configId: 'old', rivals: ['young'] })
    expect(judge(candidates.reverse(), null)).toEqual({
      configId: 'old',
      rivals: ['young'],
    })
  })
})

describe('a workload that Git has brought its fleet config to', () => {
  const owners: Record<string, string> = { kept: 'shop', own: 'shop', theirs: 'edge' }
  const candidates = [
    config('kept', 1, 2),
    config('own', 5, 3),
    config('theirs', 7, 4),
    config('people', 9, 1),
  ]
  const judgeKept = (ids: readonly string[], formerId: string | null) => {
    const there = candidates.filter(({ id }) => ids.includes(id))
    const selecting = findSelecting(WORKLOAD, openCandidates(there))
    return judgeMembership(selecting, formerId, ({ id }) => owners[id] ?? null)
  }

  it('stays under it, whatever priority people and other owners give theirs', () => {
    expect(judgeKept(['kept', 'theirs', 'people'], 'kept')).toEqual({ configId: 'kept', rivals: [] })
  })

  it('comes under another one of the same owner by its priority', () => {
    expect(judgeKept(['kept', 'own', 'theirs', 'people'], 'kept')).toEqual({ configId: 'own', rivals: [] })
  })

  it('is taken by the highest priority once its own selects it no more, or people have it', () => {
    expect(judgeKept(['own', 'theirs', 'people'], 'kept')).toEqual({ configId: 'people', rivals: [] })
    expect(judgeKept(['kept', 'own', 'theirs', 'people'], 'people')).toEqual({
      configId: 'people',
      rivals: [],
    })
    expect(judgeKept(['kept', 'theirs'], null)).toEqual({ configId: 'theirs', rivals: [] })
  })
})
