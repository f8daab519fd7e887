import { afterEach, expect, test } from 'vitest'
import { Load } from '../bench/load/load.ts'
import { eventually } from '../support/eventually.ts'
import { configOf } from './support/fleet.ts'
import { type OneOfSeveral, type Several, startSeveral } from './support/several.ts'

// From the end of an owner until an agent that was confirmed is offered a config again, by the next owner.

const AGENTS = 10
let several: Several | null = null
let load: Load | null = null
afterEach(async () => {
  load?.end()
  await several?.end()
})

/** Two processes, and agents at the one that does not own; a config is approved for them, and nothing pushed yet. */
async function startApproved() {
  several = await startSeveral(2)
  const { rows } = several
  const [owner, front] = several.all as [OneOfSeveral, OneOfSeveral]
  load = new Load({ host: '127.0.0.1', port: front.opampPort, agents: AGENTS, workloads: 1 })
  await load.connect()
  load.beats({ intervalMs: 1_000 })
  const workloadId = await eventually('every agent is stored', async () => {
    const [found] = await rows<{ n: number; id: string }>(
      'select count(*)::int as n, min(workload_id) as id from agent_workloads',
    )
    return found!.n === AGENTS && found!.id
  })
  const approvals = `/api/workloads/${workloadId}/config/approvals`
  const draft = {
    draft_yaml: configOf('offered by the next owner'),
    target_group: 'single',
    target_env: 'test',
    comment: 'fault test',
    retry_quarantined: true,
  }
  const { id } = await front.api.post(approvals, draft, 201)
  await front.api.post(`${approvals}/${id}/approve`, { comment: 'looks right' }, 200)
  return { owner, front, path: `${approvals}/${id}/push` }
}

/** Push through this process until that is taken, and wait until an agent has been offered it; the ms that took in all. */
async function msUntilOffered({ api }: OneOfSeveral, path: string): Promise<number> {
  const fromMs = performance.now()
  await eventually(
    'the push is taken',
    async () => {
      const { status, body } = await api.call('POST', path, { comment: 'go' })
      expect([status, body?.code]).toEqual(status === 202 ? [202, undefined] : [503, 'no_owner'])
      return status === 202
    },
    { everyMs: 20 },
  )
  await eventually('an agent is offered it', () => load!.stats().offers > 0, { everyMs: 5 })
  return performance.now() - fromMs
}

test('agents of another process are offered configs again within three seconds of an owner that was killed', async () => {
  const { owner, front, path } = await startApproved()
  // A push that reached it in its last moment would be taken without an answer.
  await owner.running().stop('SIGKILL')
  expect(await msUntilOffered(front, path)).toBeLessThan(3_000)
})

test('within eight seconds of an owner that stands still', async () => {
  const { owner, front, path } = await startApproved()
  const { pid } = owner.running()
  process.kill(pid, 'SIGSTOP')
  try {
    expect(await msUntilOffered(front, path)).toBeLessThan(8_000)
  } finally {
    process.kill(pid, 'SIGCONT')
  }
})
