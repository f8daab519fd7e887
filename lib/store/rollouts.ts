import type { CanarySelection } from '../wire/rollouts.ts'
import type { ROLLOUT_GATES, ROLLOUT_STATUSES } from '../wire/values.ts'
import { columns } from './columns.ts'
import type { Db } from './db.ts'

/** Where a rollout stands, or how it ended; one that is shown as promoted has succeeded. */
export type RolloutStatus = Exclude<(typeof ROLLOUT_STATUSES)[number], 'promoted'>

/** What became of one stage. */
export interface StageProgress {
  targetCount: number
  /** RFC 3339. */
  startedAt: string
  convergedAt: string | null
  endedAt: string | null
  /** When an operator promoted the stage, which is a canary. */
  promotedAt?: string
  /** What its gates came to when it ended or halted. */
  measured?: GateMeasures
  /** How long it had dwelled before a halt; since `resumedAt` it goes on. A halted stage does not dwell. */
  dwelledMs?: number | undefined
  resumedAt?: string | undefined
}

/** What a stage is held to before the next one starts. */
export type RolloutGate = (typeof ROLLOUT_GATES)[number]

/** One stage as it was asked for: how many instances in all run the config when it is done. */
export type StagePlan = {
  dwellMs: number
  gates: readonly RolloutGate[]
  /** Exactly these run it first; the others only once an operator promotes it. */
  canary?: { selection: CanarySelection; instanceUids: readonly string[] }
} & ({ count: number } | { percentage: number })

/** What halts a stage whatever its gates are: no member is connected any more, or none said that it runs the config. */
export type RolloutStall = 'no_member' | 'no_answer'

/** Why a rollout stopped by itself. */
export interface RolloutHalt {
  gate: RolloutGate | RolloutStall
  value: number
  limit: number
  stage: number
  instanceUids: readonly string[]
  /** RFC 3339; absent in those that were stored without it. */
  at?: string
}

/** How many members each gate finds at fault, and how many of these an operator let pass. */
export type GateMeasures = Readonly<Record<RolloutGate, { value: number; waived: number }>>

/** A staged rollout as it is stored. */
export interface StoredRollout {
  id: string
  workloadId: string
  pushId: string
  status: RolloutStatus
  stages: readonly StagePlan[]
  /** One entry for each stage that was started. */
  progress: readonly StageProgress[]
  stageIndex: number
  halt: RolloutHalt | null
  waived: readonly string[]
  actor: string
  createdAt: Date
  updatedAt: Date
  endedAt: Date | null
}

const ROLLOUT = columns<keyof StoredRollout>({
  id: 'id',
  workloadId: 'workload_id',
  pushId: 'push_id',
  status: 'status',
  stages: 'stages',
  progress: 'progress',
  stageIndex: 'stage_index',
  halt: 'halt',
  waived: 'waived',
  actor: 'actor',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  endedAt: 'ended_at',
})
const COLUMNS = ROLLOUT.select()

/** Add a rollout; its push must be there. */
export async function insertRollout(tx: Db, rollout: StoredRollout): Promise<void> {
  const { stages, progress, waived } = rollout
  // Lists are JSON here, not lists of PostgreSQL.
  const lists = {
    stages: JSON.stringify(stages),
    progress: JSON.stringify(progress),
    waived: JSON.stringify(waived),
  }
  await tx.execute(
    `insert into rollouts (${ROLLOUT.names}) values (${ROLLOUT.places})`,
    ROLLOUT.valuesOf({ ...rollout, ...lists }),
  )
}

/** Write where a rollout stands; false when it has ended meanwhile, for which being aborted is not enough. */
export async function updateRollout(tx: Db, rollout: StoredRollout): Promise<boolean> {
  const touched = await tx.execute(
    `update rollouts set status = $2, progress = $3::jsonb, stage_index = $4, halt = $5::jsonb, waived = $6::jsonb,
       updated_at = $7, ended_at = $8
     where id = $1 and status in ('running', 'halted', 'aborted')`,
    [
      rollout.id,
      rollout.status,
      JSON.stringify(rollout.progress),
      rollout.stageIndex,
      rollout.halt === null ? null : JSON.stringify(rollout.halt),
      JSON.stringify(rollout.waived),
      rollout.updatedAt,
      rollout.endedAt,
    ],
  )
  return touched === 1
}

/** End whatever rollouts these workloads have, because something else takes their place. */
export async function stopRollouts(tx: Db, workloadIds: readonly string[], now: Date): Promise<void> {
  await tx.execute(
    `update rollouts set status = case status when 'aborted' then status else 'stopped' end,
       updated_at = $2, ended_at = coalesce(ended_at, $2)
     where workload_id = any($1::text[]) and status in ('running', 'halted', 'aborted')`,
    [workloadIds, now],
  )
}

/**
 * Say which push the members of a workload's rollout are assigned, its own or the one that takes them back, with its
 * seq and generation; null for none.
 */
export async function assignRollout(
  tx: Db,
  workloadId: string,
  assignment: { pushId: string; seq: number; generation: number } | null,
): Promise<void> {
  if (assignment === null) {
    await tx.execute(`update workloads set rollout_push_id = null where id = $1`, [workloadId])
    return
  }
  await tx.execute(
    `update workloads set rollout_push_id = $2, push_seq = $3, generation = $4 where id = $1`,
    [workloadId, assignment.pushId, assignment.seq, assignment.generation],
  )
}

/** Add members to a stage. */
export async function insertRolloutMembers(
  tx: Db,
  rolloutId: string,
  stage: number,
  uids: readonly string[],
): Promise<void> {
  if (uids.length === 0) return
  await tx.execute(
    `insert into rollout_members (rollout_id, instance_uid, stage)
     select $1, uid, $2 from unnest($3::text[]) as uid on conflict do nothing`,
    [rolloutId, stage, uids],
  )
}

/** The rollouts that workloads are assigned now, with their members. */
export async function listOpenRollouts(
  db: Db,
): Promise<{ rollout: StoredRollout; members: ReadonlyMap<string, number> }[]> {
  const rows = await db.query<StoredRollout>(
    `select ${ROLLOUT.select('r')} from workloads w join rollouts r on r.push_id = w.rollout_push_id order by r.id`,
  )
  const members = await db.query<{ rollout_id: string; instance_uid: string; stage: number }>(
    `select rollout_id, instance_uid, stage from rollout_members where rollout_id = any($1::text[])
     order by rollout_id, instance_uid`,
    [rows.map((row) => row.id)],
  )
  return rows.map((row) => ({
    rollout: row,
    members: new Map(
      members.filter((member) => member.rollout_id === row.id).map((m) => [m.instance_uid, m.stage]),
    ),
  }))
}

/** One rollout; null when there is none. */
export async function findRollout(db: Db, id: string): Promise<StoredRollout | null> {
  const rows = await db.query<StoredRollout>(`select ${COLUMNS} from rollouts where id = $1`, [id])
  return rows[0] ?? null
}

/** The rollout of a push; null when it has none. */
export async function findRolloutOfPush(db: Db, pushId: string): Promise<StoredRollout | null> {
  const rows = await db.query<StoredRollout>(`select ${COLUMNS} from rollouts where push_id = $1`, [pushId])
  return rows[0] ?? null
}

/** A workload's rollouts, newest first. */
export async function listRollouts(db: Db, workloadId: string, limit: number): Promise<StoredRollout[]> {
  return db.query<StoredRollout>(
    `select ${COLUMNS} from rollouts where workload_id = $1 order by created_at desc, id desc limit $2`,
    [workloadId, limit],
  )
}

/** The members of a rollout's started stages with the stage of each. */
export async function listRolloutMembers(db: Db, id: string): Promise<Map<string, number>> {
  const rows = await db.query<{ instance_uid: string; stage: number }>(
    `select instance_uid, stage from rollout_members where rollout_id = $1 order by stage, instance_uid`,
    [id],
  )
  return new Map(rows.map((row) => [row.instance_uid, row.stage]))
}
