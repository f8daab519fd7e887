import { UUID } from '../ids.ts'

/**
 * The parts of the id by which a client asks for the status of its rollback. It is not signed: everything in it is
 * checked when it comes back.
 */
export interface RollbackRequestId {
  workloadId: string
  targetHash: string
  pushId: string
  startedAt: Date
}

const PREFIX = 'rb_'

/** The id as text. */
export function encodeRequestId(id: RollbackRequestId): string {
  const fields = {
    workload_id: id.workloadId,
    target_hash: id.targetHash,
    push_id: id.pushId,
    started_at: id.startedAt.toISOString(),
  }
  return PREFIX + Buffer.from(JSON.stringify(fields)).toString('base64url')
}

/** The id in a text; null when the text is none. */
export function decodeRequestId(text: string): RollbackRequestId | null {
  if (!text.startsWith(PREFIX) || text.length > 1_000) return null
  let fields: unknown
  try {
    fields = JSON.parse(Buffer.from(text.slice(PREFIX.length), 'base64url').toString('utf8'))
  } catch {
    return null
  }
  if (typeof fields !== 'object' || fields === null) return null
  const { workload_id, target_hash, push_id, started_at } = fields as Record<string, unknown>
  if (typeof workload_id !== 'string' || typeof target_hash !== 'string') return null
  if (typeof push_id !== 'string' || !UUID.test(push_id) || typeof started_at !== 'string') return null
  const startedAt = new Date(started_at)
  if (Number.isNaN(startedAt.getTime())) return null
  return { workloadId: workload_id, targetHash: target_hash, pushId: push_id, startedAt }
}
