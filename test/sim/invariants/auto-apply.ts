import type { Workload } from '../../../lib/fleet/state/model.ts'
import type { Connection } from '../../../lib/store/connection.ts'
import type { StoredVariable } from '../../../lib/store/fleet-configs.ts'
import type { Selector } from '../../../lib/wire/selectors.ts'
import type { SimService } from '../service/sim-service.ts'
import type { Report } from './finding.ts'
import { classOf } from './production.ts'

interface InForce {
  id: string
  config_id: string
  number: number
  active_since: Date
  reaches_production: boolean
  variables: readonly StoredVariable[]
}

/** What campaigns and versions of one fleet config did with a workload. */
interface Brought {
  workload_id: string
  number: number
  state: string
  verdict: string
  result_hash: string | null
  is_pushed: boolean
}

/**
 * A workload that came this long ago has been brought to the version, and so has everybody else since it is in force.
 */
const BOUND_MS = 45_000

/**
 * At rest every workload that a version in force reaches by itself runs it, or has been tried: a newcomer that nothing
 * keeps away, and one that an earlier version was brought to and that took it.
 */
export async function checkAutoApply(
  service: Pick<SimService, 'fleet' | 'ctx'>,
  watcher: Connection,
  report: Report,
): Promise<void> {
  const inForce = await watcher.query<InForce>(
    `select a.id, a.fleet_config_id as config_id, a.number, a.active_since, a.reaches_production, v.variables
     from auto_applies a join fleet_config_versions v
       on v.fleet_config_id = a.fleet_config_id and v.number = a.number where a.status = 'active'`,
  )
  for (const one of inForce) {
    const kept = await listKept(watcher)
    const valued = await listValuedSince(watcher, one)
    const production = one.reaches_production ? new Set() : await listKeptProduction(watcher)
    const brought = await listBrought(watcher, one.config_id)
    for (const workload of service.fleet.state.workloads.values()) {
      if (!mayBeReached(workload, one, service)) continue
      if (valued.has(workload.id) || production.has(workload.id)) continue
      if (kept.has(workload.id) || (await configOf(workload, watcher)) !== one.config_id) continue
      const history = brought.filter((row) => row.workload_id === workload.id)
      if (isNewcomer(workload, history, one)) report(`${workload.id} is new and ${one.id} never came to it`)
      if (isOlder(workload, history, one))
        report(`${workload.id} runs an older version and ${one.id} never came to it`)
    }
  }
}

/** Whether the workload is there, and nothing that can be told without its history keeps a version away from it. */
function mayBeReached(workload: Workload, one: InForce, { ctx }: Pick<SimService, 'ctx'>): boolean {
  const now = ctx.clock.now().getTime()
  const isLongEnough = now - Math.max(workload.createdAt.getTime(), one.active_since.getTime()) > BOUND_MS
  const hasValues = one.variables.every(({ fallback }) => fallback !== null)
  return (
    isLongEnough &&
    hasValues &&
    workload.archivedAt === null &&
    workload.acceptsRemoteConfig &&
    workload.status !== 'disconnected' &&
    [...workload.live.instances()].some(({ isExcluded }) => !isExcluded) &&
    (one.reaches_production || classOf(workload) !== 'production')
  )
}

/** Workloads that are held, or failed something, or came from another fleet config: a version leaves them alone. */
async function listKept(watcher: Connection): Promise<Set<string>> {
  const rows = await watcher.query<{ id: string }>(
    `select workload_id as id from workload_holds union select workload_id from quarantines
     union select workload_id from fleet_config_moves where came_at is not null
     union select workload_id from managed_configs union select id from workloads
       where exists (select from settings where name = 'freeze')
     union select workload_id from reviews where kind = 'labels'`,
  )
  return new Set(rows.map(({ id }) => id))
}

/** Newcomers that count as production because of what label rules said before somebody changed them alone. */
async function listKeptProduction(watcher: Connection): Promise<Set<string>> {
  const rows = await watcher.query<{ id: string }>(
    `select w.id from workloads w join reviews r on w.coming > r.newcomers_after
     where r.kind = 'label_rule' and 'production' = any(r.kept_classes) and r.accepted is not true`,
  )
  return new Set(rows.map(({ id }) => id))
}

/** Workloads with values of their own that were set since a version was requested: nobody else looked at those. */
async function listValuedSince(watcher: Connection, { id }: InForce): Promise<Set<string>> {
  const rows = await watcher.query<{ id: string }>(
    `select workload_id as id from workload_variables v
     join auto_applies a on a.id = $1 and v.updated_at > a.requested_at`,
    [id],
  )
  return new Set(rows.map((row) => row.id))
}

const listBrought = (watcher: Connection, configId: string): Promise<Brought[]> =>
  watcher.query<Brought>(
    `select * from (
       select t.workload_id, (c.change->>'number')::int as number, t.state, t.verdict, t.result_hash,
         t.push_id is not null as is_pushed, coalesce(t.started_at, c.started_at) as at
       from campaign_targets t join campaigns c on c.id = t.campaign_id
       where c.started_at is not null and c.change->>'fleet_config_id' = $1
       union all select t.workload_id, a.number, t.state, 'changes', t.result_hash, true, t.started_at
       from auto_apply_targets t join auto_applies a on a.id = t.auto_apply_id
       where a.fleet_config_id::text = $1) as b order by at`,
    [configId],
  )

const isNewcomer = (
  workload: Workload,
  history: readonly Brought[],
  { active_since: since }: InForce,
): boolean => history.length === 0 && workload.pushSeq === 0 && workload.createdAt >= since

function isOlder({ activeHash }: Workload, history: readonly Brought[], { number }: InForce): boolean {
  const last = history.at(-1)
  return (
    last?.state === 'applied' &&
    last.result_hash === activeHash &&
    history.every((row) => row.number < number && row.is_pushed && row.state === 'applied')
  )
}

/**
 * The fleet config that a workload is under: of those that select it the highest, on a tie the one that it was under.
 */
async function configOf(workload: Workload, watcher: Connection): Promise<string | null> {
  const rows = await watcher.query<{ id: string; selector: Selector; priority: number; was: boolean }>(
    `select f.id, f.selector, f.priority, m.workload_id is not null as was from fleet_configs f
       left join fleet_config_members m on m.fleet_config_id = f.id and m.workload_id = $1
     order by priority desc, was desc, f.created_at, f.id`,
    [workload.id],
  )
  return rows.find(({ selector }) => isMeant(workload, selector))?.id ?? null
}

/** Whether a selector means a workload, as far as the operators of a world use selectors. */
function isMeant({ fingerprintKeys, trustedLabels }: Workload, selector: Selector): boolean {
  const values = { ...fingerprintKeys, ...trustedLabels }
  const labelOf = (key: string) => values[key.slice(key.indexOf('/') + 1)]
  return (
    Object.entries(selector.match_labels ?? {}).every(([key, wanted]) =>
      wanted.endsWith('*') ? labelOf(key)?.startsWith(wanted.slice(0, -1)) : labelOf(key) === wanted,
    ) &&
    (selector.match_expressions ?? []).every(
      ({ key, values: unwanted = [] }) => !unwanted.includes(labelOf(key) ?? ''),
    )
  )
}
