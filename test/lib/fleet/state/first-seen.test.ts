import { expect, it } from 'vitest'
import type { Workload } from '../../../../lib/fleet/state/model.ts'
import { FleetState } from '../../../../lib/fleet/state/state.ts'

const at = (second: number) => new Date(1_000 * second)

it('finds the workloads that were first seen since a moment, and looks at an older one once', () => {
  const state = new FleetState()
  let looks = 0
  const workload = (id: string, second: number) =>
    ({
      id,
      displayName: id,
      labels: {},
      availableComponents: null,
      get createdAt() {
        looks++
        return at(second)
      },
    }) as unknown as Workload
  const [old, young, deleted] = [workload('old', 10), workload('young', 70), workload('deleted', 75)]
  for (const one of [old, young, deleted]) state.add(one)
  state.remove(deleted)
  expect(state.firstSeenSince(at(60))).toEqual([young])
  looks = 0
  state.add(workload('new', 80))
  expect(state.firstSeenSince(at(65)).map(({ id }) => id)).toEqual(['young', 'new'])
  expect(looks).toBe(2)
  expect(state.firstSeenSince(at(75)).map(({ id }) => id)).toEqual(['new'])
})
