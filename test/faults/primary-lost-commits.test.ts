import { describe, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import { eventually } from '../support/eventually.ts'
import { configOf } from './support/fleet.ts'
import { useReplicatedPair } from './support/replicated-pair.ts'
import type { OneOfSeveral } from './support/several.ts'

const AGENTS = 10

describe.each([
  ['that is written later', { isSynchronous: false }],
  ['for which no commit of the service waits, though others would', { waits: 'local' }],
])('with a replica %s', (_what, how) => {
  const pair = useReplicatedPair(AGENTS, how)

  test('what the replica had not received is lost, and the service goes by what it holds', async () => {
    const { postgres, several, loads } = pair
    const [owner, front] = several.all as [OneOfSeveral, OneOfSeveral]
    const workloadId = await loads.storedWorkload()
    const [kept, lost] = [configOf('received by the replica'), configOf('lost with the primary')]
    await owner.api.pushConfig(workloadId, kept)
    await loads.everybodyRuns(kept)
    await loads.storedAsApplied()
    await postgres.stopReplication()
    await owner.api.pushConfig(workloadId, lost)
    await loads.everybodyRuns(lost)
    await postgres.killPrimary()
    await postgres.promote()

    const stored = async () =>
      (await several.rows<{ hash: string }>('select config_hash as hash from pushes')).map(({ hash }) => hash)
    expect(await stored()).toEqual([configHash(kept)])
    // The process that owned holds what is stored nowhere: it ends, and the other one loads what is.
    await eventually('the former owner has ended', async () => owner.running().hasEnded())
    expect(owner.running().output()).toContain('may lack what was committed last: this process stops')
    expect(owner.running().output()).not.toContain('another process has become')
    await front.untilReady()
    const [, atFront] = loads.all
    // Its agents keep their sockets, and are brought in line with the config that the database holds.
    await eventually('they run it again', async () => atFront!.running()[configHash(kept)] === AGENTS)
    expect(atFront!.stats()).toMatchObject({ open: AGENTS, errors: 0 })
    const workload = await front.api.get(`/api/workloads/${workloadId}`)
    expect(workload).toMatchObject({ active_config_hash: configHash(kept) })
    expect(await front.api.get('/api/audit/verify')).toMatchObject({ valid: true })
  })
})
