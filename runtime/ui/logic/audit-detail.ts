import type { AuditEventRecord } from '../../../lib/wire/audit.ts'
import type { FactValue } from '../../../lib/wire/reports.ts'

/** A field of an audit event's detail. The log keeps a detail as text, in one of a few forms. */
export type DetailField = readonly [key: string, value: FactValue]

/** Which field a detail of one word is, by the event's action. */
const LONE_FIELD: Readonly<Record<string, string>> = {
  'auth.login.failure': 'email',
  'config.label': 'label',
  'config.approval.approve': 'approval_id',
  'config.approval.comment': 'approval_id',
  'config.approval.reject': 'approval_id',
  'config.approval.withdraw': 'approval_id',
}

const PAIRS = /^[a-z_]+=\S*( [a-z_]+=\S*)*$/

function readObject(detail: string): DetailField[] | null {
  if (!detail.startsWith('{')) return null
  try {
    return Object.entries(JSON.parse(detail) as Record<string, FactValue>)
  } catch {
    // A text that was cut at its longest is no JSON any more.
    return null
  }
}

/** What the detail of a push is made of, between colons; a reason may have colons of its own. */
function readPush(action: string, detail: string): DetailField[] | null {
  const isGlass = action === 'config.approval.break_glass_push'
  if (!isGlass && action !== 'config.approval.push') return null
  const form = isGlass ? /^([^:]+):(.*?)(?::([0-9a-f]{64}))?$/s : /^([^:]+)()(?::([0-9a-f]{64}))?$/
  const [, id = detail, reason = '', hash = ''] = form.exec(detail) ?? []
  const told: DetailField[] = [
    ['approval_id', id],
    ['break_glass_reason', reason],
    ['config_hash', hash],
  ]
  return told.filter(([, value]) => value !== '')
}

/** The log counts the waves of a campaign from 0, every page from 1. */
function withWaveFromOne([key, value]: DetailField): DetailField {
  if (key === 'wave' && typeof value === 'number') return [key, value + 1]
  if (key !== 'halt' || typeof value !== 'object' || value === null || Array.isArray(value))
    return [key, value]
  return [key, Object.fromEntries(Object.entries(value).map(withWaveFromOne))]
}

/** How many of something there are; none says nothing. */
const isZeroCount = ([key, value]: DetailField): boolean => key.endsWith('_count') && value === 0

/** Whether a field of an event says what a freeze is about. */
export const isWhatIsFrozen = (action: string, key: string): boolean =>
  action === 'freeze.set' && key === 'selector'

/** What was said with an event: with a step of a request, or as its detail keeps it; '' where nothing was. */
export function commentOf(event: Pick<AuditEventRecord, 'action' | 'detail' | 'comment'>): string {
  if (event.comment) return event.comment
  const told = readDetail(event).find(([key]) => key === 'comment')?.[1]
  return typeof told === 'string' ? told : ''
}

/** The fields of an event's detail; a text that has none is one field of its own. Empty fields say nothing. */
export function readDetail({
  action,
  detail = '',
}: Pick<AuditEventRecord, 'action' | 'detail'>): DetailField[] {
  if (detail === '') return []
  const fields = readObject(detail)
  if (fields !== null) {
    // A freeze without a selector is one of the whole fleet.
    const told = fields.filter(
      ([key, value]) =>
        value !== '' && !isZeroCount([key, value]) && (value !== null || isWhatIsFrozen(action, key)),
    )
    return action.startsWith('campaign.') ? told.map(withWaveFromOne) : told
  }
  const request = action === 'config.approval.request' ? /^([^:]+):(.*)$/s.exec(detail) : null
  if (request !== null) {
    const [, id = '', group = ''] = request
    return group === ''
      ? [['approval_id', id]]
      : [
          ['approval_id', id],
          ['target_group', group],
        ]
  }
  const push = readPush(action, detail)
  if (push !== null) return push
  const lone = LONE_FIELD[action]
  if (lone !== undefined) return [[lone, detail]]
  if (PAIRS.test(detail))
    return detail.split(' ').map((pair): DetailField => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at), pair.slice(at + 1)]
    })
  return [['detail', detail]]
}
