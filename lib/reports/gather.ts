import { verifyAuditChain } from '../audit/verify.ts'
import type { Db } from '../store/db.ts'
import {
  countCampaignRows,
  listCampaignRows,
  listReportAutoApplies,
  listReportAutoApplyIds,
  listReportCampaignIds,
  listReportCampaigns,
  listTargetedWorkloads,
} from '../store/report-campaigns.ts'
import {
  countReportActions,
  countReportRows,
  listReportAlerts,
  listReportUsers,
  listReportWorkloads,
  type ReportPeriod,
  type ReportSlice,
  readReportEvents,
} from '../store/report-data.ts'
import type {
  AuditCheck,
  DatedSection,
  Material,
  MaterialPage,
  PageKind,
  PushRow,
  ReadExtent,
} from '../store/report-material.ts'
import { listReportPlans } from '../store/report-plans.ts'
import { listReportPushes } from '../store/report-pushes.ts'
import { nextTurn } from '../turns.ts'
import type { NormalRequest } from './request.ts'
import { type CanRun, listRollbackRows } from './rollback-rows.ts'
import { fairCap, ROW_LIMITS } from './row-limits.ts'

/** The material of a report: its rows as pages of bytes, the rest as it is. */
export interface GatheredMaterial {
  pages: MaterialPage[]
  rest: Omit<Material, PageKind>
}

/** Rows read by one statement, and rows in one page; small enough that no step blocks the event loop. */
const ROWS_PER_STATEMENT = 500
const ROWS_PER_PAGE = 250
const WORKLOADS_PER_STATEMENT = 200
/** The most campaigns in one report, and the most versions that applied by themselves; the newest are kept. */
const CAMPAIGNS_MAX = 10_000

interface DatedKind {
  section: DatedSection
  kind: PageKind
  isIncluded(include: NormalRequest['include']): boolean
  count(db: Db, workloadIds: readonly string[], period: ReportPeriod): Promise<Map<string, number>>
  /** Rows, or the JSON text of their list. */
  list(db: Db, slice: ReportSlice, period: ReportPeriod): Promise<object[] | string>
}

const DATED: readonly DatedKind[] = [
  {
    section: 'config_history',
    kind: 'pushes',
    isIncluded: (include) => include.config_history,
    count: (...of) => countReportRows('config_history', ...of),
    list: listReportPushes,
  },
  {
    section: 'config_plan',
    kind: 'plans',
    isIncluded: (include) => include.config_plan,
    count: (...of) => countReportRows('config_plan', ...of),
    list: listReportPlans,
  },
  {
    section: 'campaigns',
    kind: 'campaignTargets',
    isIncluded: (include) => include.campaigns,
    count: countCampaignRows,
    list: listCampaignRows,
  },
  {
    section: 'alerts',
    kind: 'alerts',
    isIncluded: (include) => include.alerts,
    count: (...of) => countReportRows('alerts', ...of),
    list: listReportAlerts,
  },
  {
    section: 'workload_events',
    kind: 'events',
    isIncluded: (include) => include.workload_events,
    count: (...of) => countReportRows('workload_events', ...of),
    list: readReportEvents,
  },
]

const ALWAYS: ReportPeriod = { since: null, until: null }

const toDate = (time: string | undefined) => (time === undefined ? null : new Date(time))

/** Read everything a report is made of, with a few statements over many workloads each. */
export async function gatherMaterial(
  db: Db,
  workloadIds: readonly string[],
  request: NormalRequest,
  { minAgentVersion, canRun }: { minAgentVersion: string; canRun: CanRun },
): Promise<GatheredMaterial> {
  const period = { since: toDate(request.scope.since), until: toDate(request.scope.until) }
  const { include } = request
  const pages = new Pages()
  for (const ids of slicesOf(workloadIds, WORKLOADS_PER_STATEMENT)) {
    await pages.add('workloads', await listReportWorkloads(db, ids))
    // The current config does not depend on the period.
    if (include.current_config)
      await pages.add<PushRow>(
        'currentPushes',
        await listReportPushes(db, { workloadIds: ids, perWorkload: 1 }, ALWAYS),
      )
    if (include.rollback_readiness) await pages.add('rollbacks', await listRollbackRows(db, ids, canRun))
  }
  const extents = await gatherDated(db, workloadIds, request, period, pages)
  if (extents.campaigns !== undefined)
    extents.campaigns = await gatherCampaigns(
      db,
      request.scope.whole_fleet ? null : workloadIds,
      period,
      extents.campaigns,
      pages,
    )
  return {
    pages: pages.all,
    rest: {
      audit: include.audit_verification ? await checkAudit(db, workloadIds, period) : null,
      minAgentVersion,
      userIds: await listReportUsers(db, workloadIds),
      extents,
    },
  }
}

/** Read the dated sections, all together no more rows than `ROW_LIMITS.json`, which no other format exceeds. */
async function gatherDated(
  db: Db,
  workloadIds: readonly string[],
  request: NormalRequest,
  period: ReportPeriod,
  pages: Pages,
): Promise<Partial<Record<DatedSection, ReadExtent>>> {
  const kinds = DATED.filter((kind) => kind.isIncluded(request.include))
  const counted = []
  for (const kind of kinds) {
    // Campaigns also changed workloads that are deleted by now: a report of the whole fleet includes those.
    const isWider = kind.section === 'campaigns' && request.scope.whole_fleet
    const ids = isWider ? await listTargetedWorkloads(db, period) : workloadIds
    const counts = await kind.count(db, ids, period)
    counted.push({ kind, ids, counts, total: [...counts.values()].reduce((a, b) => a + b, 0) })
  }
  const sectionCap = fairCap(
    counted.map(({ total }) => total),
    ROW_LIMITS.json,
  )
  const extents: Partial<Record<DatedSection, ReadExtent>> = {}
  for (const { kind, ids: all, counts, total } of counted) {
    const cap = total <= sectionCap ? Number.POSITIVE_INFINITY : fairCap([...counts.values()], sectionCap)
    // At least one row of each workload, also where there are more workloads than rows; `assemblePack` applies the
    // exact limits.
    const perWorkload = Number.isFinite(cap) ? Math.max(1, cap) : null
    extents[kind.section] = { total, perWorkload }
    const present = all.filter((id) => counts.has(id))
    for (const ids of slicesByRows(present, counts, perWorkload))
      await pages.add(kind.kind, await kind.list(db, { workloadIds: ids, perWorkload }, period))
  }
  return extents
}

/** Read the campaigns, and the versions that applied by themselves; `workloadIds` null stands for all workloads. */
async function gatherCampaigns(
  db: Db,
  workloadIds: readonly string[] | null,
  period: ReportPeriod,
  targets: ReadExtent,
  pages: Pages,
): Promise<ReadExtent> {
  const campaigns = await listReportCampaignIds(db, workloadIds, period, CAMPAIGNS_MAX)
  for (const ids of slicesOf(campaigns.ids, WORKLOADS_PER_STATEMENT))
    await pages.add('campaigns', await listReportCampaigns(db, ids))
  const autoApplies = await listReportAutoApplyIds(db, workloadIds, period, CAMPAIGNS_MAX)
  for (const ids of slicesOf(autoApplies.ids, WORKLOADS_PER_STATEMENT))
    await pages.add('autoApplies', await listReportAutoApplies(db, ids))
  const isCut = Math.max(campaigns.total, autoApplies.total) > CAMPAIGNS_MAX
  return {
    total: targets.total + campaigns.total + autoApplies.total,
    perWorkload: targets.perWorkload ?? (isCut ? ROW_LIMITS.json : null),
  }
}

async function checkAudit(db: Db, workloadIds: readonly string[], period: ReportPeriod): Promise<AuditCheck> {
  const { isIntact, checked, head, broken } = await verifyAuditChain(db)
  return {
    isIntact,
    checkedCount: checked,
    headSeq: head.seq,
    headHash: head.hash,
    firstBadSeq: broken?.seq ?? null,
    reason: broken?.reason ?? null,
    actionCounts: await countReportActions(db, workloadIds, period),
  }
}

function* slicesOf<T>(list: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size)
}

/** Workloads whose rows together fill about one statement; one that has more is alone. */
function* slicesByRows(
  workloadIds: readonly string[],
  counts: ReadonlyMap<string, number>,
  perWorkload: number | null,
): Generator<string[]> {
  let slice: string[] = []
  let rows = 0
  for (const id of workloadIds) {
    const count = Math.min(counts.get(id) ?? 0, perWorkload ?? Number.POSITIVE_INFINITY)
    if (slice.length > 0 && rows + count > ROWS_PER_STATEMENT) {
      yield slice
      slice = []
      rows = 0
    }
    slice.push(id)
    rows += count
  }
  if (slice.length > 0) yield slice
}

/** Rows as JSON bytes, a turn of the event loop between two pages. */
class Pages {
  readonly all: MaterialPage[] = []
  readonly #encoder = new TextEncoder()

  async add<Row extends object>(kind: PageKind, rows: readonly Row[] | string): Promise<void> {
    if (typeof rows === 'string') {
      this.all.push({ kind, bytes: this.#encoder.encode(rows) })
      return
    }
    for (const page of slicesOf(rows, ROWS_PER_PAGE)) {
      this.all.push({ kind, bytes: this.#encoder.encode(JSON.stringify(page)) })
      await nextTurn()
    }
  }
}
