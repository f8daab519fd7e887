import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import { eventually } from '../support/eventually.ts'
import type { OneOfSeveral } from './support/several.ts'
import { SpreadFleet } from './support/spread-fleet.ts'
import { runnableConfig } from './support/supervised-agents.ts'

// The owner or a front is killed at each step of a push, of its stages and of a rollback; in the midst of a push both
// stand still for half a minute. With MUSTER_FAULT_STILL=all each of them stands still at each step, which takes
// eight minutes more.

const STILL_MS = 30_000
/** Ten times the three seconds after which another process decides: agents come back, and four programs share a machine. */
const SETTLED_MS = 30_000
/** Longer than a process stands still: an agent that had applied its stage and is away for longer halts the next one. */
const GRACE_SECONDS = 60
const STAGES = [{ count: 2 }, { percentage: 100 }]
let fleet: SpreadFleet
/** Offers of a config to an agent that ran it and had said so. */
const offeredAgain: string[] = []
/** What lets each process that stands still go on. */
const still = new Set<() => void>()
/** The test is over: a process that ends is not started again. */
let isOver = false

beforeAll(async () => {
  fleet = await SpreadFleet.start(3, 4, { graceSeconds: GRACE_SECONDS })
  for (const agent of fleet.agents) {
    const { collector } = agent
    const hear = collector.hear.bind(collector)
    collector.hear = (word) => {
      const hash = Buffer.from(word.remoteConfig?.configHash ?? []).toString('hex')
      if (hash !== '' && fleet.runs(agent, hash)) offeredAgain.push(`${agent.uidHex()} ${hash}`)
      hear(word)
    }
  }
})
afterAll(async () => {
  isOver = true
  for (const goOn of still) goOn()
  await fleet?.end()
})

type Wait = (next: string) => Promise<unknown>
/** Node says on this channel that the head of a request of `fetch` was written to its socket. */
const SENT = 'undici:client:sendHeaders'
const untilSent: Wait = () =>
  new Promise<void>((resolve) => {
    const heard = (message: unknown) => {
      const { path } = (message as { request: { path: string } }).request
      if (!/\/(push|rollback)$/.test(path)) return
      unsubscribe(SENT, heard)
      resolve()
    }
    subscribe(SENT, heard)
  })
const untilStored: Wait = (next) =>
  eventually('it is stored', async () => (await storedPush(next)) !== undefined, { everyMs: 5 })
const untilOffered =
  (count: number): Wait =>
  (next) =>
    eventually('it is offered', () => fleet.offered(next).length >= count, { everyMs: 2 })
const untilRunBy =
  (count: number): Wait =>
  (next) =>
    eventually('it is run', () => fleet.running(next) >= count, { everyMs: 2 })

/** What is done, and when the process is hit. A rollback goes to the config that ran before. */
type Step = readonly [name: string, what: 'push' | 'stages' | 'rollback', until: Wait]
const FIRST_OFFERS: Step = ['the first offers of a push are out', 'push', untilOffered(1)]
const STEPS: readonly Step[] = [
  ['a push is sent', 'push', untilSent],
  ['a push is committed', 'push', untilStored],
  FIRST_OFFERS,
  ['half has applied a push', 'push', untilRunBy(6)],
  ['the last one has applied a push', 'push', untilRunBy(12)],
  ['a stage is promoted', 'stages', untilOffered(3)],
  ['a rollback is sent', 'rollback', untilSent],
]

async function storedPush(hash: string): Promise<{ status: string } | undefined> {
  const [push] = await fleet.several.rows<{ status: string }>(
    'select status from pushes where config_hash = $1 order by seq desc limit 1',
    [hash],
  )
  return push
}

/** The process that owns, or the one of the others that has the most agents. */
function processOf(role: 'owner' | 'front'): OneOfSeveral {
  if (role === 'owner') return fleet.owner
  const open = [...fleet.connections()].filter(([one]) => one !== fleet.owner)
  return open.reduce((most, one) => (one[1].open > most[1].open ? one : most))[0]
}

/** Kill this process or let it stand still. It is started again once it has ended. Resolves when it serves again. */
async function hit(one: OneOfSeveral, how: 'killed' | 'still'): Promise<void> {
  const isOwner = one === fleet.owner
  const running = one.running()
  // One that stood still and went on may be hit again, and is started once when it has ended.
  void running.ended.then(() => isOver || one.running() !== running || one.start())
  process.kill(running.pid, how === 'killed' ? 'SIGKILL' : 'SIGSTOP')
  if (how === 'still') {
    const goOn = () => void (still.delete(goOn) && process.kill(running.pid, 'SIGCONT'))
    still.add(goOn)
    await new Promise((resolve) => setTimeout(resolve, STILL_MS))
    goOn()
  }
  // An owner that stood still finds that another one took over, and ends.
  if (how === 'killed' || isOwner) await running.ended
}

const allReady = () => Promise.all(fleet.several.all.map((one) => one.untilReady()))

/** Begin what the step is about; returns the config that all are to run at its end, and what was begun. */
async function begin(what: 'push' | 'stages' | 'rollback', mark: string) {
  const yaml = runnableConfig(mark)
  if (what !== 'rollback') {
    const request = await fleet.approved(yaml)
    const stages = what === 'stages' ? STAGES : undefined
    return { hash: configHash(yaml), send: () => fleet.pushApproved(request, stages) }
  }
  const before = await fleet.push(runnableConfig(`before ${mark}`))
  await fleet.untilAllRun(before)
  await fleet.untilAllRun(await fleet.push(yaml))
  const path = `/api/workloads/${fleet.workloadId}/configs/${before}/rollback`
  const isBack = async () => {
    const workload = await fleet.call('GET', `/api/workloads/${fleet.workloadId}`)
    return workload.body.active_config_hash === before
  }
  const rollBack = async () => {
    const answer = await fleet.call('POST', path)
    // Where the first attempt was done and got no answer, the next one finds nothing to change.
    return (await isBack()) ? { ...answer, status: 202 } : answer
  }
  return { hash: before, send: rollBack }
}

/** Hit these processes at this step of what is done: all ends well, and no agent of another process loses its socket. */
async function expectToEndWell(
  [step, what, wait]: Step,
  roles: readonly ('owner' | 'front')[],
  how: 'killed' | 'still',
): Promise<void> {
  await allReady()
  const { hash, send } = await begin(what, `${step}, ${roles.join(' and ')} ${how}`)
  const victims = roles.map(processOf)
  const before = fleet.connections()
  // A request may be written to its socket before `send` returns.
  const reached = wait(hash)
  const sent = send()
  await reached
  const over = Promise.all(victims.map((victim) => hit(victim, how)))
  expect(await sent).toMatchObject({ status: 202 })
  await fleet.untilAllRun(hash, SETTLED_MS + (how === 'still' ? STILL_MS : 0))
  if (what === 'stages') await fleet.untilRollout(hash, 'succeeded')
  await over
  await allReady()
  expect(await storedPush(hash)).toEqual({ status: 'applied' })
  expect(fleet.running(hash)).toBe(fleet.size)
  expect(offeredAgain).toEqual([])
  for (const [one, { ended }] of fleet.connections())
    if (!victims.includes(one)) expect(ended).toBe(before.get(one)!.ended)
  await fleet.expectNothingBroken()
}

describe.each(STEPS)('as %s', (...step) => {
  test.each([['owner'], ['front']] as const)(
    'the %s is killed: it ends well, and nobody else notices',
    { timeout: 180_000 },
    (role) => expectToEndWell(step, [role], 'killed'),
  )
})

const TOGETHER = [FIRST_OFFERS, ['owner', 'front']] as const
const EACH_ALONE = STEPS.flatMap((step) => [[step, ['owner']] as const, [step, ['front']] as const])

for (const [step, roles] of [TOGETHER, ...(process.env['MUSTER_FAULT_STILL'] === 'all' ? EACH_ALONE : [])])
  test(
    `as ${step[0]}, the ${roles.join(' and a ')} stands still for half a minute: it ends well, and nobody else notices`,
    {
      timeout: 180_000,
    },
    () => expectToEndWell(step, roles, 'still'),
  )
