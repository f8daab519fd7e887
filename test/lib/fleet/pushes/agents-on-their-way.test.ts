import { expect, it } from 'vitest'
import { CHUNK } from '../../../../lib/fleet/state/in-chunks.ts'
import type { Workload } from '../../../../lib/fleet/state/model.ts'
import { useLinkedFleet } from '../../../support/linked-fleet.ts'
import { keyValues, type PlainMessage } from '../../../support/opamp-messages.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml, pushConfig } from '../../../support/push-config.ts'

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, openFront, openOwner, takeOver } = fleet
const NONE = '00'.repeat(32)
const FAILED = 3
const APPLIED = 1
const saying = (status: number, hash: string): PlainMessage => ({
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.from(hash, 'hex'), status, errorMessage: 'no' },
})
const OF_ONE: PlainMessage = {
  agentDescription: {
    identifyingAttributes: keyValues({
      'service.name': 'edge',
      'k8s.namespace.name': 'ns',
      'k8s.deployment.name': 'edge',
    }),
  },
  ...saying(APPLIED, NONE),
}
const OTHERS = [2, 3, 4, 5]

/** A new owner, of whose two fronts one has told of its only agent; the other has the other four of the workload. */
async function handOver() {
  const [owner, first, later] = [openOwner(), openFront('first'), openFront('later')]
  const links = [first.link(owner), later.link(owner)]
  first.say(1, 1, 1, OF_ONE)
  for (const n of OTHERS) later.say(n, n, 1, OF_ONE)
  await fleet.ctx.advance(2_000)
  for (const link of links) link.break()
  const next = await takeOver(2)
  first.link(next)
  await fleet.ctx.advance(500)
  const workload = instanceOf(1)!.workload!
  const answers: boolean[] = []
  const asked = fleet.ctx.fleet.canTakeConfig(workload).then((can) => answers.push(can))
  return { first, later, next, workload, answers, asked }
}

it('a push after a change of owner waits for all agents that are known from before, and is judged by all', async () => {
  const { first, later, next, workload, answers, asked } = await handOver()
  await fleet.ctx.advance(3_000)
  expect(answers).toEqual([])
  later.link(next)
  await fleet.ctx.advance(500)
  await asked
  expect(answers).toEqual([true])
  const { hash } = await pushConfig(fleet.ctx.fleet, workload.id, configYaml(1))
  await fleet.ctx.advance(500)
  const followed = workload.active!
  first.say(1, 1, 2, saying(APPLIED, hash))
  await fleet.ctx.advance(500)
  expect(followed.push.status).toBe('pending')
  for (const n of OTHERS) later.say(n, n, 2, saying(FAILED, hash))
  await fleet.ctx.advance(2_000)
  expect(followed.push.status).toBe('failed')
})

it('so does a campaign that is planned then, for all agents of all its workloads', async () => {
  const { later, next, workload } = await handOver()
  let isOver = false
  const waiting = fleet.ctx.fleet.waitForAgents([workload]).then(() => {
    isOver = true
  })
  await fleet.ctx.advance(3_000)
  expect(isOver).toBe(false)
  later.link(next)
  await fleet.ctx.advance(2_000)
  await waiting
})

it('looks at many workloads in turns of the event loop', async () => {
  await handOver()
  const turns: number[] = []
  let inTurn = 0
  let isOver = false
  const turn = () => {
    turns.push(inTurn)
    inTurn = 0
    if (!isOver) setImmediate(turn)
  }
  const workload = (n: number) => ({
    id: `w${n}`,
    awaitedUntilMs: null,
    get status() {
      inTurn++
      return 'connected'
    },
  })
  const many = Array.from({ length: 2_000 }, (_, n) => workload(n) as unknown as Workload)
  turn()
  await fleet.ctx.fleet.waitForAgents(many)
  isOver = true
  turn()
  expect(turns.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(2_000)
  expect(Math.max(...turns)).toBeLessThanOrEqual(2 * CHUNK)
})

it('it waits for ten seconds at most where some of them do not come', async () => {
  const { answers, asked } = await handOver()
  await fleet.ctx.advance(10_000)
  await asked
  expect(answers).toEqual([true])
})

/** An owner that decides for a while already, and its agent, which it loses with the link; before that it stands still. */
async function loseLink(stoodStillMs: number) {
  const [owner, front] = [openOwner(), openFront('front')]
  const link = front.link(owner)
  front.say(1, 1, 1, OF_ONE)
  await fleet.ctx.advance(60_000)
  fleet.ctx.timers.standStill(stoodStillMs)
  await fleet.ctx.advance(100)
  link.break()
  const answers: boolean[] = []
  const asked = fleet.ctx.fleet.canTakeConfig(instanceOf(1)!.workload!).then((can) => answers.push(can))
  await fleet.ctx.advance(3_000)
  return { owner, front, answers, asked }
}

it('a push after the owner stood still waits for the agents that it has lost with its links', async () => {
  const { owner, front, answers, asked } = await loseLink(6_000)
  expect(answers).toEqual([])
  front.link(owner)
  await fleet.ctx.advance(500)
  await asked
  expect(answers).toEqual([true])
})

it('agents that are lost with a link while the owner goes on are not waited for', async () => {
  const { answers } = await loseLink(0)
  expect(answers).toEqual([false])
})
