import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { configHash } from '../../lib/model/config-hash.ts'
import { eventually } from '../support/eventually.ts'
import { COMMITS, expectNoneOf, KillableFleet } from './support/killable-fleet.ts'
import { FAILS, runnableConfig } from './support/supervised-agents.ts'

const AGENTS = 4

let fleet: KillableFleet
let good: string

beforeAll(async () => {
  fleet = await KillableFleet.start(AGENTS)
  good = fleet.firstHash
})
afterAll(() => fleet?.end())

const rollBack = (hash: string) => fleet.post(`/configs/${hash}/rollback`)

async function expectNothingBroken(): Promise<void> {
  expectNoneOf({
    ...(await fleet.countBroken()),
    'pushes without all their targets': await fleet.count(
      `pushes p where p.kind <> 'auto-rollback' and
         (select count(*) from push_targets t where t.push_id = p.push_id and t.is_target) <> ${AGENTS}`,
    ),
    'assignments that are not the newest push': await fleet.count(
      `workloads w where w.active_push_id is distinct from
         (select push_id from pushes where workload_id = w.id order by seq desc limit 1)`,
    ),
  })
}

describe.each(COMMITS)('killed %s the commit', (when, verdict) => {
  const isDone = verdict === 'kill-after'

  test('of a request', async () => {
    fleet.killAtCommit('approval.request', verdict)
    const yaml = runnableConfig(`request, ${when}`)
    expect(await fleet.afterTheKill(fleet.request(yaml))).toBeNull()
    expect(await fleet.count('approvals where draft_hash = $1', [configHash(yaml)])).toBe(isDone ? 1 : 0)
    await expectNothingBroken()
  })

  test('of an approval', async () => {
    const yaml = runnableConfig(`approve, ${when}`)
    const { body } = await fleet.request(yaml)
    fleet.killAtCommit('approval.approve', verdict)
    expect(await fleet.afterTheKill(fleet.approve(body.id))).toBeNull()
    const audits = `audit_events where action = 'config.approval.approve' and config_hash = $1`
    const isApproved = `approvals where id = $1 and status = 'approved'`
    expect(await fleet.count(isApproved, [body.id])).toBe(isDone ? 1 : 0)
    expect(await fleet.count(audits, [configHash(yaml)])).toBe(isDone ? 1 : 0)
  })

  test('of a push', async () => {
    const yaml = runnableConfig(`push, ${when}`)
    const hash = configHash(yaml)
    const id = await fleet.approved(yaml)
    fleet.killAtCommit('push', verdict)
    expect(await fleet.afterTheKill(fleet.push(id))).toBeNull()
    expect(await fleet.count('pushes where config_hash = $1', [hash])).toBe(isDone ? 1 : 0)
    // The killed process offered nothing, since it did not know the push to be stored; if it was stored, the next
    // process offers it.
    expect(fleet.offeredUntilDeath).toEqual([])
    if (!isDone) expect((await fleet.push(id)).status).toBe(202)
    await fleet.untilSettled(hash)
    await expectNothingBroken()
    good = hash
  })

  test('of what the agents say of a push', async () => {
    const yaml = runnableConfig(`outcome, ${when}`)
    const id = await fleet.approved(yaml)
    fleet.killAtCommit('outcomes.store', verdict)
    await fleet.afterTheKill(fleet.push(id))
    good = configHash(yaml)
    await fleet.untilSettled(good)
    await expectNothingBroken()
  })

  test('of the offer to one who came later', async () => {
    fleet.killAtCommit('offers.store', verdict)
    const joiner = fleet.agents.add()
    await fleet.afterTheKill(null)
    expect(fleet.offeredUntilDeath).toEqual([])
    const { storage } = joiner.collector
    await eventually('it runs what the others run', async () => storage.remoteConfigHash === good)
    const itsRow = `push_targets t join pushes p using (push_id)
      where t.instance_uid = $1 and p.config_hash = $2 and t.state = 'applied' and t.is_joiner`
    await eventually('it is stored', async () => (await fleet.count(itsRow, [joiner.uidHex(), good])) > 0)
    expect(fleet.agents.heard.filter(({ uid }) => uid === joiner.uidHex())).toHaveLength(1)
    await fleet.agents.remove(joiner)
    await expectNothingBroken()
  })

  test('of a rollback by an operator', async () => {
    const former = (
      await fleet.rows<{ hash: string }>(
        `select config_hash as hash from pushes where status = 'applied' and config_hash <> $1
         order by seq desc limit 1`,
        [good],
      )
    )[0]!.hash
    const pushes = await fleet.count('pushes')
    fleet.killAtCommit('rollback', verdict)
    expect(await fleet.afterTheKill(rollBack(former))).toBeNull()
    expect(await fleet.count('pushes')).toBe(pushes + (isDone ? 1 : 0))
    expect(fleet.offeredUntilDeath).toEqual([])
    if (!isDone) expect((await rollBack(former)).status).toBe(202)
    await fleet.untilSettled(former)
    await expectNothingBroken()
    good = former
  })

  test('of an automatic rollback', async () => {
    const id = await fleet.approved(runnableConfig(`automatic rollback, ${when}\n${FAILS}`))
    fleet.killAtCommit('rollback.automatic', verdict)
    expect(await fleet.afterTheKill(fleet.push(id))).toBe(202)
    expect(fleet.offeredUntilDeath).not.toContain(good)
    await fleet.untilSettled(good)
    await expectNothingBroken()
  })
})

describe('killed as an offer arrives', () => {
  test.each([1, 2, AGENTS])('number %i of a push', async (n) => {
    const yaml = runnableConfig(`offer ${n}`)
    const hash = configHash(yaml)
    const id = await fleet.approved(yaml)
    fleet.killAtOffer(hash, n)
    await fleet.afterTheKill(fleet.push(id))
    await fleet.untilSettled(hash)
    await expectNothingBroken()
    good = hash
  })

  test.each([1, AGENTS])('number %i of a rollback by an operator', async (n) => {
    const [former] = await fleet.rows<{ hash: string }>(
      `select config_hash as hash from pushes where status = 'applied' and config_hash <> $1
       order by seq desc limit 1`,
      [good],
    )
    fleet.killAtOffer(former!.hash, n)
    await fleet.afterTheKill(rollBack(former!.hash))
    await fleet.untilSettled(former!.hash)
    await expectNothingBroken()
    good = former!.hash
  })

  test.each([1, AGENTS])('number %i of an automatic rollback', async (n) => {
    const id = await fleet.approved(runnableConfig(`rolled back, offer ${n}\n${FAILS}`))
    fleet.killAtOffer(good, n)
    await fleet.afterTheKill(fleet.push(id))
    await fleet.untilSettled(good)
    await expectNothingBroken()
  })
})
