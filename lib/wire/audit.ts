/** One row of the audit chain. */
export interface AuditEventRecord {
  id: string
  seq: number
  occurred_at: string
  action: string
  user_id?: string
  email?: string
  resource?: string
  resource_id?: string
  workload_id?: string
  config_hash?: string
  detail?: string
  prev_hash?: string
  event_hash?: string
  immutable_ref?: string
}

/** `GET /api/audit/events`. */
export interface AuditPage {
  available: boolean
  events: AuditEventRecord[]
  total: number
  limit: number
  offset: number
  /** Where the next page starts, when there is one. */
  next_cursor?: string
}

/** `GET /api/audit/verify`: whether every row still follows from the one before. */
export interface AuditVerification {
  valid: boolean
  checked_count: number
  /** The last row's place and hash; absent while the log is empty. */
  head_seq?: number
  head_hash?: string
  first_bad_seq?: number
  checked_at: string
}
