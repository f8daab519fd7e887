import { openSelector } from '../selectors/selector.ts'
import type { Db } from '../store/db.ts'
import { findPushGroup } from '../store/push-groups.ts'
import {
  listGroupableWorkloads,
  listWorkloadsByIds,
  listWorkloadsByTrustedLabel,
  type ScopedWorkload,
} from '../store/report-scope.ts'
import type { Selector } from '../wire/selectors.ts'
import { compareUtf8 } from './canonical.ts'
import type { NormalScope } from './request.ts'

/** The ids of the workloads that a report covers, in its order: by name in lower case, then by id. */
export type ScopeOutcome =
  | { ok: true; workloadIds: string[] }
  | { ok: false; code: 'workload-not-found' | 'report-scope-empty' }

const GROUP_LABEL = 'group'
const PAGE = 1_000

/**
 * Find the workloads of a scope. Workloads that are named one by one may be archived; groups, selectors and the whole
 * fleet leave archived ones out.
 */
export async function resolveReportScope(db: Db, scope: NormalScope): Promise<ScopeOutcome> {
  const found = await findWorkloads(db, scope)
  if (scope.workload_ids !== undefined && found.length < scope.workload_ids.length)
    return { ok: false, code: 'workload-not-found' }
  if (found.length === 0) return { ok: false, code: 'report-scope-empty' }
  const named = found.map(({ id, displayName }) => ({ id, name: displayName.toLowerCase() }))
  named.sort((a, b) => compareUtf8(a.name, b.name) || compareUtf8(a.id, b.id))
  return { ok: true, workloadIds: named.map(({ id }) => id) }
}

function findWorkloads(db: Db, scope: NormalScope): Promise<ScopedWorkload[]> {
  if (scope.workload_ids !== undefined) return listWorkloadsByIds(db, scope.workload_ids)
  if (scope.selector !== undefined) return findMembers(db, { match_labels: scope.selector })
  if (scope.whole_fleet) return findMembers(db, null)
  return findGroup(db, scope.group_id ?? '')
}

/** The workloads of a push group; where there is no such group, those with a trusted label `group` of this value. */
async function findGroup(db: Db, groupId: string): Promise<ScopedWorkload[]> {
  const group = await findPushGroup(db, groupId)
  return group === null
    ? listWorkloadsByTrustedLabel(db, GROUP_LABEL, groupId)
    : findMembers(db, group.selector)
}

/** The workloads that a selector selects, all where it is null; archived ones left out. */
async function findMembers(db: Db, selector: Selector | null): Promise<ScopedWorkload[]> {
  const members: ScopedWorkload[] = []
  const isMember = openSelector(selector ?? {})
  for (let after = ''; ; ) {
    const page = await listGroupableWorkloads(db, after, PAGE)
    members.push(...page.filter(isMember))
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return members
    after = last.id
  }
}
