import { expect, it } from 'vitest'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues, type PlainMessage } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'

// An outage that goes on while the owner changes began when it began: the agent says nothing anew, its front does.

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, openFront, openOwner, takeOver } = fleet

const DESCRIBED = {
  agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'edge' }) },
}
const SICK: PlainMessage = {
  health: { healthy: false, status: 'StatusRecoverableError', lastError: 'no route to host' },
}

async function troubleOf(n: number): Promise<WorkloadRecord['trouble']> {
  const { id } = instanceOf(n)!.workload!
  const { token } = await signIn(fleet.ctx)
  const { json } = await invoke(fleet.ctx, `GET /api/workloads/${id}`, { as: token })
  return (json as WorkloadRecord).trouble
}

it.each(['killed', 'stopped in order'])('the owner is %s', async (how) => {
  const front = openFront('front')
  const link = front.link(openOwner())
  front.say(1, 1, 0, DESCRIBED)
  await fleet.ctx.advance(60_000)
  front.say(1, 1, 1, SICK)
  const beganAt = fleet.ctx.clock.now().toISOString()
  await fleet.ctx.advance(600_000)
  expect(await troubleOf(1)).toMatchObject({ kind: 'unhealthy', since: beganAt })
  if (how === 'killed') link.losing()
  link.break()
  front.link(await takeOver(2))
  await fleet.ctx.advance(2_000)
  expect(await troubleOf(1)).toMatchObject({ kind: 'unhealthy', since: beganAt })
})
