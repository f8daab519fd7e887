import { expect, it } from 'vitest'
import { countRunning } from '../../../../lib/fleet/views/running-configs.ts'
import { SUPERVISOR } from '../../../support/test-agent.ts'

/** Live instances that run these configs, as they say, of a workload with an aborted rollout. */
const runs = (hashes: readonly string[], leftBehind: string) =>
  countRunning({
    activeHash: null,
    live: {
      instances: () =>
        hashes.map((hash) => ({
          capabilities: SUPERVISOR,
          report: { status: 'applied', hash },
          appliedHash: hash,
        })),
    },
    rollout: { stored: { status: 'aborted' }, followed: { push: { hash: leftBehind } } },
  } as never)

it('names what an aborted rollout left behind, though each of five other configs is run by more', () => {
  const others = ['a', 'b', 'c', 'd', 'e'].flatMap((hash) => [hash, hash])
  const told = runs([...others, 'left'], 'left')?.others ?? []
  expect(told[0]).toEqual({ config_hash: 'left', instance_count: 1 })
  expect(told).toHaveLength(5)
})
