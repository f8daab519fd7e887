import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Workload } from '../../../lib/fleet/state/model.ts'
import { FleetState } from '../../../lib/fleet/state/state.ts'

const names = (state: FleetState) => state.workloadsByName().map((one) => `${one.displayName}/${one.id}`)

it('lists workloads by name and id, whatever came, went or was renamed in which order', () => {
  const step = fc.record({
    id: fc.integer({ min: 0, max: 9 }).map(String),
    name: fc.constantFrom('', 'a', 'b', 'B', 'é', '𝒳'),
    isRemoval: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const state = new FleetState()
      const expected = new Map<string, string>()
      for (const { id, name, isRemoval } of steps) {
        const known = state.workloads.get(id)
        if (known === undefined)
          state.add({ id, displayName: name, labels: {}, availableComponents: null } as unknown as Workload)
        else if (isRemoval) state.remove(known)
        else state.rename(known, name)
        if (known !== undefined && isRemoval) expected.delete(id)
        else expected.set(id, name)
      }
      const sorted = [...expected]
        .sort(([a, nameA], [b, nameB]) => (nameA === nameB ? (a < b ? -1 : 1) : nameA < nameB ? -1 : 1))
        .map(([id, name]) => `${name}/${id}`)
      expect(names(state)).toEqual(sorted)
    }),
  )
})

it('gives a list that stays as it is while the fleet changes', () => {
  const state = new FleetState()
  state.add({ id: '1', displayName: 'a', labels: {}, availableComponents: null } as unknown as Workload)
  const before = state.workloadsByName()
  state.add({ id: '2', displayName: 'A', labels: {}, availableComponents: null } as unknown as Workload)
  expect(before.map(({ id }) => id)).toEqual(['1'])
  expect(names(state)).toEqual(['A/2', 'a/1'])
})
