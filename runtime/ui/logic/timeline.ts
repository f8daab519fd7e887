import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { AuditEventRecord } from '../../../lib/wire/audit.ts'
import type { WorkloadEventRecord } from '../../../lib/wire/events.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'

/** One thing that happened to a workload. */
export type TimelineEntry = { at: string; key: string } & (
  | { kind: 'event'; event: WorkloadEventRecord }
  | { kind: 'push'; push: RevisionRecord }
  | { kind: 'alert'; alert: AlertRecord; isEnd: boolean }
  | { kind: 'audit'; audit: AuditEventRecord }
)

// The entry of a push says what these audit rows repeat, so they are left out.
const TOLD_BY_PUSHES = new Set([
  'config.approval.push',
  'config.approval.break_glass_push',
  'config.auto_rollback',
])

/** All sources in one list by time, newest first. */
export function mergeTimeline(parts: {
  events: readonly WorkloadEventRecord[]
  pushes: readonly RevisionRecord[]
  alerts: readonly AlertRecord[]
  audit: readonly AuditEventRecord[]
}): TimelineEntry[] {
  const entries: TimelineEntry[] = [
    ...parts.events.map((event) => ({
      kind: 'event' as const,
      at: event.occurred_at,
      key: `e${event.id}`,
      event,
    })),
    ...parts.pushes.map((push) => ({
      kind: 'push' as const,
      at: push.submitted_at,
      key: `p${push.push_id}`,
      push,
    })),
    ...parts.alerts.flatMap((alert) => [
      { kind: 'alert' as const, at: alert.fired_at, key: `a${alert.id}`, alert, isEnd: false },
      ...(alert.resolved_at
        ? [{ kind: 'alert' as const, at: alert.resolved_at, key: `r${alert.id}`, alert, isEnd: true }]
        : []),
    ]),
    ...parts.audit
      .filter(({ action }) => !TOLD_BY_PUSHES.has(action))
      .map((audit) => ({ kind: 'audit' as const, at: audit.occurred_at, key: `u${audit.id}`, audit })),
  ]
  return entries.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : a.key < b.key ? 1 : -1))
}

/** How many alerts began in each stretch of time; `starts` are one after the other. */
export function countFired(
  alerts: readonly Pick<AlertRecord, 'fired_at'>[],
  { starts, bucketSeconds }: { starts: readonly string[]; bucketSeconds: number },
): number[] {
  const begins = starts.map((start) => Date.parse(start))
  const fired = alerts.map(({ fired_at: at }) => Date.parse(at))
  return begins.map((from) => fired.filter((at) => at >= from && at < from + bucketSeconds * 1000).length)
}

/**
 * How far back the list is complete where its sources are read page by page: to the oldest entry of the source that
 * was read least far. Null when everything was read.
 */
export function readSince(
  lists: readonly { hasOlder: boolean; oldest: string | undefined }[],
): string | null {
  const ends = lists.flatMap(({ hasOlder, oldest }) => (hasOlder && oldest ? [oldest] : []))
  return ends.sort().at(-1) ?? null
}
