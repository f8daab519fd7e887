import { expect, it } from 'vitest'
import { gatherGroups, listValues } from '../../../lib/auto-apply/groups.ts'
import type { AutoApplyParts } from '../../../lib/auto-apply/parts.ts'
import type { Workload } from '../../../lib/fleet/state/model.ts'
import type { StoredAutoApply } from '../../../lib/store/auto-apply.ts'
import { fakeClock } from '../../support/fakes.ts'
import { countLoopTurns } from '../../support/loop-turns.ts'

const COUNT = 4_000
const VARIABLES = 20

/** Hosts of which each has values of its own, of three origins. */
const workloads = Array.from(
  { length: COUNT },
  (_, at) =>
    ({
      id: `${(at * 7919) % COUNT}`.padStart(24, '0'),
      displayName: 'edge',
      labels: {},
      trustedLabels: { site: `s${at}` },
      fingerprintKeys: { 'host.name': `h${at}` },
      availableComponents: null,
      activeHash: `h${at % 3}`,
      live: { count: 1 },
    }) as unknown as Workload,
)
const version = {
  fleetConfigId: 'fc',
  number: 1,
  valueTable: null,
  variables: Array.from({ length: VARIABLES }, (_, at) => ({ name: `v${at}`, label: 'muster/site' })),
}
const parts = {
  db: {
    query: async (sql: string) => (sql.includes('from fleet_config_versions') ? [version] : []),
  },
  clock: fakeClock(),
  fleet: { state: { workloads: new Map(workloads.map((one) => [one.id, one])) } },
  fleetConfigs: {
    configs: [],
    config: () => null,
    membershipOf: () => ({ configId: null }),
    membershipAmong: () => ({ configId: '' }),
  },
} as unknown as AutoApplyParts
const asked = { fleetConfigId: 'fc', number: 1, selector: {}, priority: 0 } as unknown as StoredAutoApply

it('groups of a large fleet are worked out in turns, and so are the values of a group: it held the event loop for a second', async () => {
  const turns = countLoopTurns()
  const coming = await gatherGroups(parts, asked, () => true)
  expect(turns.over()).toBeGreaterThan(COUNT / 50)
  expect(coming!.groups.map(({ count }) => count)).toEqual([1_333, 1_333, 1_334])
  const last = coming!.groups[2]!
  expect(last.sample.id).toBe(
    workloads
      .filter(({ activeHash }) => activeHash === last.sample.activeHash)
      .map(({ id }) => id)
      .sort()[0],
  )
  const ofValues = countLoopTurns()
  const values = await listValues(last, 'v7')
  expect(ofValues.over()).toBeGreaterThan(5)
  expect(values).toHaveLength(last.count)
  expect(values.map(({ value }) => value)).toEqual(values.map(({ value }) => value).sort())
  expect(values[0]).toMatchObject({ count: 1, choiceCount: 1 })
})
