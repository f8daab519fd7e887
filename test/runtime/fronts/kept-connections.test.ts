import { expect, it } from 'vitest'
import { ProvenConnections } from '../../../runtime/fronts/proven-connections.ts'
import { recordingLog } from '../../support/fakes.ts'
import { TEST_KEYS } from '../../support/owners.ts'

it('are as few as a process with few files can spare, and a thousand at most', () => {
  const keptOf = (keptMax: number) =>
    new ProvenConnections({ keys: TEST_KEYS, trust: null, log: recordingLog(), keptMax }).agent.maxFreeSockets
  expect([20, 1_000_000].map(keptOf)).toEqual([20, 1_024])
})
