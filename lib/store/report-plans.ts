import type { Db } from './db.ts'
import {
  REPORT_SCOPE,
  type ReportPeriod,
  type ReportSlice,
  sliceParameters,
  withinPeriod,
} from './report-data.ts'
import type { PlanRow } from './report-material.ts'

interface Row {
  id: string
  workload_id: string
  status: string
  requester_id: string
  approver_id: string | null
  request_comment: string
  approval_comment: string | null
  push_comment: string | null
  target_group: string
  target_env: string
  draft_hash: string
  base_config_hash: string | null
  push_id: string | null
  prod_target: boolean
  break_glass: boolean
  break_glass_reason: string | null
  created_at: Date
  approved_at: Date | null
  pushed_at: Date | null
  is_known: boolean
  added: string[]
  removed: string[]
}

const COMPONENT = `(c ->> 'category') || '/' || (c ->> 'id')`

/** Approval requests with the components that they add to and remove from what was active, newest first. */
export async function listReportPlans(db: Db, slice: ReportSlice, period: ReportPeriod): Promise<PlanRow[]> {
  const rows = await db.query<Row>(
    `select a.*, draft.hash is not null and (a.base_config_hash is null or base.hash is not null) as is_known,
       array(select ${COMPONENT} from jsonb_array_elements(draft.components) as c
         except select ${COMPONENT} from jsonb_array_elements(base.components) as c order by 1) as added,
       array(select ${COMPONENT} from jsonb_array_elements(base.components) as c
         except select ${COMPONENT} from jsonb_array_elements(draft.components) as c order by 1) as removed
     from ${REPORT_SCOPE}
     cross join lateral (
       select id, workload_id, status, requester_id, approver_id, request_comment, approval_comment, push_comment,
         target_group, target_env, draft_hash, base_config_hash, push_id, prod_target, break_glass,
         break_glass_reason, created_at, approved_at, pushed_at
       from approvals where workload_id = scope.id and status <> 'retired' and ${withinPeriod('created_at')}
       order by created_at desc, id desc limit $4) as a
     left join config_contents draft on draft.hash = a.draft_hash
     left join config_contents base on base.hash = a.base_config_hash
     order by scope.n, a.created_at desc, a.id desc`,
    sliceParameters(slice, period),
  )
  return rows.map(toPlan)
}

function toPlan(row: Row): PlanRow {
  return {
    id: row.id,
    workloadId: row.workload_id,
    status: row.status,
    requesterId: row.requester_id,
    approverId: row.approver_id,
    requestComment: row.request_comment,
    approvalComment: row.approval_comment,
    pushComment: row.push_comment,
    targetGroup: row.target_group,
    targetEnv: row.target_env,
    draftHash: row.draft_hash,
    baseHash: row.base_config_hash,
    pushId: row.push_id,
    isProduction: row.prod_target,
    isBreakGlass: row.break_glass,
    breakGlassReason: row.break_glass_reason,
    createdAt: row.created_at.getTime(),
    approvedAt: row.approved_at?.getTime() ?? null,
    pushedAt: row.pushed_at?.getTime() ?? null,
    addedComponents: row.is_known ? row.added : null,
    removedComponents: row.is_known ? row.removed : null,
  }
}
