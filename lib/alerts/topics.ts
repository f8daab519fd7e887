import { daysBefore, endOfStopped, LEFT_STOPPED_DAYS, TOLD_BEFORE_DAYS } from '../model/left-stopped.ts'
import { sayStop } from '../model/stops.ts'
import {
  type HeldAutoApply,
  type LeftStopped,
  listCampaignsWithFailures,
  listHeldAutoApplies,
  listLeftStopped,
} from '../store/alert-topics.ts'
import type { AlertDetails, CurrentTopicAlert } from '../store/alerts.ts'
import type { Db } from '../store/db.ts'
import type { TopicAlertRule } from '../wire/alerts.ts'
import type { CampaignHalt } from '../wire/campaigns.ts'

/** The cause of an alert that is about a campaign, a fleet config or people and not about one workload. */
export interface TopicCause {
  rule: TopicAlertRule
  /** What it is about, such as `campaign:<id>`; there is at most one alert of a rule for each. */
  topic: string
  message: string
  /** Tells apart several occurrences of one topic: a campaign may halt again. */
  subject: string
  details: AlertDetails
  /** The message says how something goes on, and is put right while the alert is open. */
  isRestated?: boolean
  /** It is not over, so that another occurrence is a part of an alert that is open, and fires none. */
  isUnderWay?: boolean
  /** Subjects are times, and an alert tells of all up to its own: what is left when a newer one is over is not told anew. */
  isUpTo?: boolean
}

/** A campaign that muster halted, with what stopped it counted now, as its page says it. */
export interface HaltedCampaign {
  id: string
  name: string
  haltedAt: Date
  halt: CampaignHalt
}

/**
 * A fleet config that holds workloads which others (`rivals`, by name) select with the same priority; `count`
 * workloads.
 */
export interface ConfigConflict {
  id: string
  name: string
  rivals: readonly string[]
  count: number
}

const NAME_LENGTH_MAX = 120
const NAMED_MAX = 5
/** Workloads that the alert of a halt names; its page has all. */
const HALT_NAMED_MAX = 3

const cut = (name: string): string => [...name].slice(0, NAME_LENGTH_MAX).join('')

/**
 * The causes that are present now: halted campaigns, campaigns of which failures are left, versions that stopped applying
 * by themselves, conflicts of fleet configs.
 */
export async function findTopicCauses(
  db: Db,
  {
    conflicts,
    halts,
    now,
  }: { conflicts: readonly ConfigConflict[]; halts: readonly HaltedCampaign[]; now: Date },
): Promise<TopicCause[]> {
  const halted = halts.map(toHalted)
  const failing = (await listCampaignsWithFailures(db)).map(
    ({ id, name, count, total, leftOut, cause, title, lastFailedAt, isDone, ...of }): TopicCause => {
      const workloads = of.workloads.map(cut).join(', ')
      const more = count > of.workloads.length ? ` and ${count - of.workloads.length} more` : ''
      const out = leftOut > 0 ? `; ${leftOut} left out` : ''
      return {
        rule: 'campaign_failures',
        topic: `campaign:${id}`,
        subject: lastFailedAt?.toISOString() ?? '',
        isRestated: true,
        isUnderWay: !isDone,
        isUpTo: true,
        message: `Campaign "${cut(name)}" failed on ${count} of ${total} workloads: ${workloads}${more}${title && ` (${title})`}${out}`,
        details: {
          campaign_id: id,
          name: cut(name),
          failed: count,
          total,
          left_out: leftOut,
          workloads,
          workload_ids: of.workloadIds.join(','),
          cause,
          title,
        },
      }
    },
  )
  const held = (await listHeldAutoApplies(db)).map(toHeld)
  const left = await listLeftStopped(db, {
    pausedSince: daysBefore(now, LEFT_STOPPED_DAYS - TOLD_BEFORE_DAYS),
    endedSince: daysBefore(now, TOLD_BEFORE_DAYS),
  })
  return [...halted, ...failing, ...held, ...left.map(toLeftStopped), ...conflicts.map(toConflict)]
}

/** A version that stopped applying by itself. */
function toHeld({ id, fleetConfigId, name, number, heldAt, hold }: HeldAutoApply): TopicCause {
  const { gate, value, limit, title = '', approvers = [] } = hold
  return {
    rule: 'auto_apply_held',
    topic: `fleet_config:${fleetConfigId}`,
    subject: `${id}/${heldAt.toISOString()}`,
    message: `Version ${number} of fleet config "${cut(name)}" stopped applying by itself: ${sayStop(hold)}`,
    details: {
      fleet_config_id: fleetConfigId,
      name: cut(name),
      number,
      gate,
      value,
      limit,
      title,
      ...(approvers.length === 0 ? {} : { approvers: approvers.join(', ') }),
    },
  }
}

/** A version that ends soon because it is paused, or that has ended because nobody continued it. */
function toLeftStopped({ id, fleetConfigId, name, number, status, updatedAt }: LeftStopped): TopicCause {
  const ends = endOfStopped(updatedAt).toISOString()
  const what =
    status === 'paused'
      ? `is paused, and ends at ${ends} unless somebody continues it`
      : `does not apply by itself any more: nobody continued it for ${LEFT_STOPPED_DAYS} days`
  return {
    rule: 'auto_apply_held',
    topic: `fleet_config:${fleetConfigId}`,
    subject: `${id}/${status}/${updatedAt.toISOString()}`,
    message: `Version ${number} of fleet config "${cut(name)}" ${what}`,
    details: {
      fleet_config_id: fleetConfigId,
      name: cut(name),
      number,
      gate: status === 'paused' ? 'paused' : 'not_continued',
      ...(status === 'paused' ? { ends_at: ends } : {}),
    },
  }
}

function toHalted({ id, name, haltedAt, halt }: HaltedCampaign): TopicCause {
  const { gate, value, limit, wave, cause = '', title = '', workloads: all = [] } = halt
  const named = all.slice(0, HALT_NAMED_MAX)
  const workloads = named.map((one) => cut(sayPlaced(one))).join(', ')
  const more = value > named.length ? ` and ${value - named.length} more` : ''
  return {
    rule: 'campaign_halted',
    topic: `campaign:${id}`,
    subject: haltedAt.toISOString(),
    message: `Campaign "${cut(name)}" halted: ${sayStop(halt)}${workloads && `; ${workloads}${more}`}`,
    details: {
      campaign_id: id,
      name: cut(name),
      gate,
      value,
      limit,
      wave,
      cause,
      title,
      ...(named.length === 0
        ? {}
        : { workloads, workload_ids: named.map(({ workload_id }) => workload_id).join(',') }),
    },
    isRestated: true,
  }
}

const sayPlaced = ({
  workload_name: name,
  workload_place: place,
}: NonNullable<CampaignHalt['workloads']>[number]) => (place === undefined ? name : `${name} (${place})`)

function toConflict({ id, name, rivals, count }: ConfigConflict): TopicCause {
  const others = [...rivals].sort()
  const named = others.slice(0, NAMED_MAX).map(cut).join(', ')
  return {
    rule: 'config_conflict',
    topic: `fleet_config:${id}`,
    subject: others.join('\n'),
    message: `Fleet config "${cut(name)}" keeps ${count} ${count === 1 ? 'workload' : 'workloads'} that ${named} ${others.length === 1 ? 'selects' : 'select'} with the same priority`,
    details: { fleet_config_id: id, name: cut(name), others: named, count },
  }
}

/** Which alerts about campaigns, fleet configs and people fire, which stored ones end, and which say something else now. */
export function decideTopics(
  causes: readonly TopicCause[],
  stored: readonly CurrentTopicAlert[],
): { fire: TopicCause[]; end: CurrentTopicAlert[]; restate: (TopicCause & { alertId: string })[] } {
  const keyOf = ({ rule, topic }: Pick<TopicCause, 'rule' | 'topic'>) => `${rule} ${topic}`
  const before = new Map(stored.map((alert) => [keyOf(alert), alert]))
  const present = new Map(causes.map((cause) => [keyOf(cause), cause]))
  return {
    fire: causes.filter((cause) => !isToldBy(before.get(keyOf(cause)), cause)),
    end: stored.filter((alert) => !isToldBy(alert, present.get(keyOf(alert)))),
    restate: stored.flatMap((alert) => {
      const cause = present.get(keyOf(alert))
      if (!isToldBy(alert, cause) || !cause?.isRestated) return []
      // One that somebody resolved is put right only where it does not say yet of which occurrence it is.
      if (alert.state !== 'open' && alert.subject !== '') return []
      const subject = isEarlier(cause, alert) ? alert.subject : cause.subject
      const isSame = cause.message === alert.message && subject === alert.subject
      return isSame ? [] : [{ ...cause, subject, alertId: alert.id }]
    }),
  }
}

const isEarlier = ({ isUpTo, subject }: TopicCause, alert: CurrentTopicAlert): boolean =>
  isUpTo === true && subject < alert.subject

/** Whether an alert tells of a cause already: the same occurrence, or another of what is not over, while it is open. */
function isToldBy(alert: CurrentTopicAlert | undefined, cause: TopicCause | undefined): boolean {
  if (alert === undefined || cause === undefined) return false
  if (alert.subject === cause.subject || isEarlier(cause, alert)) return true
  // Alerts of older versions do not say of which occurrence they are: it is the one that goes on now.
  if (cause.isRestated === true && alert.subject === '') return true
  return alert.state === 'open' && cause.isUnderWay === true
}
