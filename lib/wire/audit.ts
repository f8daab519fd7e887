import { array, boolean, enums, type Infer, number, optional, string, type } from 'superstruct'
import { named, note } from './structs.ts'

export const AuditEventRecord = named(
  'AuditEventRecord',
  'One row of the audit chain.',
  type({
    id: string(),
    seq: number(),
    occurred_at: string(),
    action: string(),
    user_id: optional(string()),
    email: optional(string()),
    resource: optional(string()),
    resource_id: optional(string()),
    resource_name: note(
      'What `resource_id` is called now; absent for what is gone, and for a workload, which lists name.',
      optional(string()),
    ),
    comment: note(
      'What was said with a step of a request, as the request still has it: it is no part of the chain.',
      optional(string()),
    ),
    workload_id: optional(string()),
    config_hash: optional(string()),
    detail: optional(string()),
    prev_hash: optional(string()),
    event_hash: optional(string()),
    immutable_ref: optional(string()),
  }),
)
export type AuditEventRecord = Infer<typeof AuditEventRecord>

export const AuditPage = named(
  'AuditPage',
  '`GET /api/audit/events`.',
  type({
    available: boolean(),
    events: array(AuditEventRecord),
    total: number(),
    limit: number(),
    offset: number(),
    next_cursor: note('Where the next page starts, when there is one.', optional(string())),
  }),
)
export type AuditPage = Infer<typeof AuditPage>

export const AuditVerification = named(
  'AuditVerification',
  '`GET /api/audit/verify`: whether every row still follows from the one before.',
  type({
    valid: boolean(),
    checked_count: number(),
    head_seq: note("The last row's place and hash; absent while the log is empty.", optional(number())),
    head_hash: optional(string()),
    first_bad_seq: optional(number()),
    reason: note(
      'Why it is not valid: two of the reasons are seen only against an expected head, which an end that was cut off or a chain that was written anew does not hold.',
      optional(enums(['gap', 'prev_hash', 'event_hash', 'shorter_than_before', 'other_than_before'])),
    ),
    checked_at: string(),
  }),
)
export type AuditVerification = Infer<typeof AuditVerification>
