import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { configHash } from '../../lib/configs/hash.ts'
import { eventually } from '../e2e/support/eventually.ts'
import { BUNDLE, createDatabase, type Service, startService } from '../e2e/support/service.ts'
import { type StatementProxy, startStatementProxy } from './support/statement-proxy.ts'
import {
  FAILS,
  runnableConfig,
  type SupervisedAgents,
  startSupervisedAgents,
} from './support/supervised-agents.ts'

const AGENTS = 4
/** What names each transaction. */
const TRANSACTIONS = {
  request: /insert into approvals/,
  approve: /set status = 'approved'/,
  push: /insert into pushes/,
  joiner: /do update set updated_at = excluded.updated_at/,
  outcome: /do update set\s+state = excluded.state/,
  'automatic rollback': /set status = 'failed', phase = 'failed'/,
} as const
type Transaction = keyof typeof TRANSACTIONS

let proxy: StatementProxy
let service: Service
let fleet: SupervisedAgents
let db: pg.Client
let workload: string
let good: string
let hasKilled = false
/** The hashes that were offered until the process was dead, oldest first, since the last kill. */
let offeredUntilDeath: string[] = []

const kill = () => {
  if (hasKilled) return
  hasKilled = true
  fleet.onOffer = null
  proxy.judge = null
  process.kill(service.process().pid, 'SIGKILL')
}

beforeAll(async () => {
  const dsn = await createDatabase()
  proxy = await startStatementProxy(dsn, kill)
  service = await startService({
    args: [BUNDLE, '--edition', 'complete'],
    env: { OPAMP_SHARED_SECRET: '', DB_DSN: proxy.dsn },
  })
  db = new pg.Client(dsn)
  await db.connect()
  fleet = startSupervisedAgents(service.opampUrl, AGENTS)
  workload = await eventually('every agent is stored', async () => {
    const [found] = await rows<{ n: number; id: string }>(
      'select count(*)::int as n, min(workload_id) as id from agent_workloads',
    )
    return found!.n === AGENTS && found!.id
  })
  const yaml = runnableConfig('good')
  good = configHash(yaml)
  await push(await approved(yaml))
  await untilSettled(good)
})
afterAll(async () => {
  fleet?.end()
  await db?.end()
  await service?.stop()
  await proxy?.close()
})

const rows = async <Row extends object>(text: string, values: unknown[] = []) =>
  (await db.query<Row>(text, values)).rows
const count = async (from: string, values: unknown[] = []) =>
  (await rows<{ n: number }>(`select count(*)::int as n from ${from}`, values))[0]!.n

const approvals = () => `/api/workloads/${workload}/config/approvals`
const request = (yaml: string) =>
  service.api.call('POST', approvals(), {
    ...{ draft_yaml: yaml, target_group: 'single', target_env: 'test', comment: 'step by step' },
  })
const approve = (id: string) => service.api.call('POST', `${approvals()}/${id}/approve`, { comment: 'yes' })
const push = (id: string) => service.api.call('POST', `${approvals()}/${id}/push`, { comment: 'go' })
const rollBack = (hash: string) =>
  service.api.call('POST', `/api/workloads/${workload}/configs/${hash}/rollback`)

async function approved(yaml: string): Promise<string> {
  const { body } = await request(yaml)
  expect((await approve(body.id)).status).toBe(200)
  return body.id
}

/** Kill at the commit of a transaction: before the database sees it, or before the service sees the answer. */
function killAtCommit(transaction: Transaction, verdict: 'kill-before' | 'kill-after'): void {
  hasKilled = false
  proxy.judge = ({ text, transaction: statements }) =>
    text === 'COMMIT' && statements.some((one) => TRANSACTIONS[transaction].test(one)) ? verdict : 'pass'
}

/** Kill as the n-th frame that offers this hash arrives. */
function killAtOffer(hash: string, n: number): void {
  hasKilled = false
  let left = n
  fleet.onOffer = (offered) => {
    if (offered === hash && --left === 0) kill()
  }
}

/** Wait for the kill, start it again; what the call was answered, null for nothing. */
async function afterTheKill(calling: Promise<{ status: number }>): Promise<number | null> {
  const heardBefore = fleet.heard.length
  const answered = calling.then(
    ({ status }) => status,
    () => null,
  )
  await eventually('it is killed', async () => hasKilled && service.process().hasEnded(), { everyMs: 5 })
  const status = await answered
  await eventually('agents have read all there was', async () =>
    fleet.agents.every((agent) => !agent.isConnected()),
  )
  offeredUntilDeath = fleet.heard.slice(heardBefore).map(({ hash }) => hash)
  await service.restart('SIGKILL')
  return status
}

/** Everybody runs what the workload is assigned, and the newest push says so. */
async function untilSettled(hash: string): Promise<void> {
  await eventually(
    'everybody runs what is assigned, and it is stored',
    async () => {
      const [row] = await rows<Record<string, unknown>>(
        // Whoever was not back yet when a rollback began is among those who join it.
        `select w.active_config_hash as hash, p.status, p.phase, (select count(*)::int from push_targets t
           where t.push_id = p.push_id and t.state = 'applied') as applied
         from workloads w join pushes p on p.push_id = w.active_push_id`,
      )
      const isRunning = fleet.agents.every(
        ({ collector: { storage } }) => storage.remoteConfigHash === hash && storage.status === 'applied',
      )
      return isRunning && row!['hash'] === hash && row!['status'] === 'applied' && row!['applied'] === AGENTS
    },
    { explain: () => service.output().slice(-2_000) },
  )
}

/** What decisions §10 promises, counted: nothing committed is missing, and nothing is half there. */
async function countBroken(): Promise<Record<string, number>> {
  const offered = fleet.heard.map(({ uid, hash }) => `${uid}/${hash}`)
  return {
    'offers without a row': await count(
      `unnest($1::text[]) o where not exists (select from push_targets t join pushes p using (push_id)
         where t.instance_uid || '/' || p.config_hash = o)`,
      [offered],
    ),
    'pushes without all their targets': await count(
      `pushes p where p.kind <> 'auto-rollback' and
         (select count(*) from push_targets t where t.push_id = p.push_id and t.is_target) <> ${AGENTS}`,
    ),
    'approvals and pushes that do not agree': await count(
      `approvals a full join pushes p on p.push_id = a.push_id
         where (a.status = 'pushed' and p.push_id is null) or (p.kind = 'approval' and a.status is distinct from 'pushed')`,
    ),
    'pushes without exactly one audit row': await count(
      `pushes p where (select count(*) from audit_events e where e.config_hash = p.config_hash and
         (e.action like '%push%' or e.action in ('config.rollback', 'config.auto_rollback')))
         <> (select count(*) from pushes q where q.config_hash = p.config_hash)`,
    ),
    'requests without an audit row': await count(
      `approvals a where not exists (select from audit_events e where e.action = 'config.approval.request'
         and position(a.id in e.resource_id || e.detail) > 0)`,
    ),
    'failed pushes not rolled back once': await count(
      `pushes p where p.status = 'failed' and
         (select count(*) from pushes r where r.rollback_of_push_id = p.push_id) <> 1`,
    ),
    'failed pushes that are not in quarantine': await count(
      `pushes p where p.status = 'failed' and not exists (select from quarantines q where q.push_id = p.push_id)`,
    ),
    'assignments that are not the newest push': await count(
      `workloads w where w.active_push_id is distinct from
         (select push_id from pushes where workload_id = w.id order by seq desc limit 1)`,
    ),
    'audit chains that are cut': (await service.api.get('/api/audit/verify')).valid ? 0 : 1,
  }
}

async function expectNothingBroken(): Promise<void> {
  const broken = await countBroken()
  expect(broken).toEqual(Object.fromEntries(Object.keys(broken).map((what) => [what, 0])))
}

const COMMITS = [
  ['before', 'kill-before'],
  ['after', 'kill-after'],
] as const

describe.each(COMMITS)('killed %s the commit', (when, verdict) => {
  const isDone = verdict === 'kill-after'

  test('of a request', async () => {
    killAtCommit('request', verdict)
    const yaml = runnableConfig(`request, ${when}`)
    expect(await afterTheKill(request(yaml))).toBeNull()
    expect(await count('approvals where draft_hash = $1', [configHash(yaml)])).toBe(isDone ? 1 : 0)
    await expectNothingBroken()
  })

  test('of an approval', async () => {
    const yaml = runnableConfig(`approve, ${when}`)
    const { body } = await request(yaml)
    killAtCommit('approve', verdict)
    expect(await afterTheKill(approve(body.id))).toBeNull()
    const audits = `audit_events where action = 'config.approval.approve' and config_hash = $1`
    const isApproved = `approvals where id = $1 and status = 'approved'`
    expect(await count(isApproved, [body.id])).toBe(isDone ? 1 : 0)
    expect(await count(audits, [configHash(yaml)])).toBe(isDone ? 1 : 0)
  })

  test('of a push', async () => {
    const yaml = runnableConfig(`push, ${when}`)
    const hash = configHash(yaml)
    const id = await approved(yaml)
    killAtCommit('push', verdict)
    expect(await afterTheKill(push(id))).toBeNull()
    expect(await count('pushes where config_hash = $1', [hash])).toBe(isDone ? 1 : 0)
    // Nobody was offered what was not known to be stored; what was stored is offered by whoever starts next.
    expect(offeredUntilDeath).toEqual([])
    if (!isDone) expect((await push(id)).status).toBe(202)
    await untilSettled(hash)
    await expectNothingBroken()
    good = hash
  })

  test('of what the agents say of a push', async () => {
    const yaml = runnableConfig(`outcome, ${when}`)
    const id = await approved(yaml)
    killAtCommit('outcome', verdict)
    await afterTheKill(push(id))
    good = configHash(yaml)
    await untilSettled(good)
    await expectNothingBroken()
  })

  test('of the offer to one who came later', async () => {
    killAtCommit('joiner', verdict)
    const joiner = fleet.add()
    await afterTheKill(Promise.resolve({ status: 0 }))
    expect(offeredUntilDeath).toEqual([])
    const { storage } = joiner.collector
    await eventually('it runs what the others run', async () => storage.remoteConfigHash === good)
    const itsRow = `push_targets t join pushes p using (push_id)
      where t.instance_uid = $1 and p.config_hash = $2 and t.state = 'applied' and t.is_joiner`
    await eventually('it is stored', async () => (await count(itsRow, [joiner.uidHex(), good])) > 0)
    expect(fleet.heard.filter(({ uid }) => uid === joiner.uidHex())).toHaveLength(1)
    await fleet.remove(joiner)
    await expectNothingBroken()
  })

  test('of a rollback by an operator', async () => {
    const former = (
      await rows<{ hash: string }>(
        `select config_hash as hash from pushes where status = 'applied' and config_hash <> $1
         order by seq desc limit 1`,
        [good],
      )
    )[0]!.hash
    const pushes = await count('pushes')
    killAtCommit('push', verdict)
    expect(await afterTheKill(rollBack(former))).toBeNull()
    expect(await count('pushes')).toBe(pushes + (isDone ? 1 : 0))
    expect(offeredUntilDeath).toEqual([])
    if (!isDone) expect((await rollBack(former)).status).toBe(202)
    await untilSettled(former)
    await expectNothingBroken()
    good = former
  })

  test('of an automatic rollback', async () => {
    const id = await approved(runnableConfig(`automatic rollback, ${when}\n${FAILS}`))
    killAtCommit('automatic rollback', verdict)
    expect(await afterTheKill(push(id))).toBe(202)
    expect(offeredUntilDeath).not.toContain(good)
    await untilSettled(good)
    await expectNothingBroken()
  })
})

describe('killed as an offer arrives', () => {
  test.each([1, 2, AGENTS])('number %i of a push', async (n) => {
    const yaml = runnableConfig(`offer ${n}`)
    const hash = configHash(yaml)
    const id = await approved(yaml)
    killAtOffer(hash, n)
    await afterTheKill(push(id))
    await untilSettled(hash)
    await expectNothingBroken()
    good = hash
  })

  test.each([1, AGENTS])('number %i of a rollback by an operator', async (n) => {
    const [former] = await rows<{ hash: string }>(
      `select config_hash as hash from pushes where status = 'applied' and config_hash <> $1
       order by seq desc limit 1`,
      [good],
    )
    killAtOffer(former!.hash, n)
    await afterTheKill(rollBack(former!.hash))
    await untilSettled(former!.hash)
    await expectNothingBroken()
    good = former!.hash
  })

  test.each([1, AGENTS])('number %i of an automatic rollback', async (n) => {
    const id = await approved(runnableConfig(`rolled back, offer ${n}\n${FAILS}`))
    killAtOffer(good, n)
    await afterTheKill(push(id))
    await untilSettled(good)
    await expectNothingBroken()
  })
})
