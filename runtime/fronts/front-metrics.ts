import type { FrontCounts } from '../../lib/links/front-agents.ts'
import type { Metric } from '../metrics.ts'

/** What one process among several counts of itself. */
export interface FrontFacts extends FrontCounts {
  isOwner: boolean
  hasLink: boolean
  /** Entries that it has written on links. */
  saidCount: number
  skewMs: number
  slowBrowsers: number
  /** How long it had no link to an owner, in all. */
  downSumMs: number
  /** The versions of all members, and since when the owner has owned; null while none is known to. */
  versions: readonly string[]
  /** Rows of members that do not prove what they say. */
  unproven: number
  ownedSince: Date | null
  /** When the certificate between processes ends; null without one. */
  certificateEnds: Date | null
}

const one = (kind: Metric['kind'], name: string, help: string, value: number): Metric => ({
  name,
  kind,
  help,
  samples: [{ value }],
})

/** The metrics that each process among several has, the owner or not. */
export function frontMetrics(facts: FrontFacts): Metric[] {
  const counts = new Map<string, number>()
  for (const version of facts.versions) counts.set(version, (counts.get(version) ?? 0) + 1)
  const members = [...counts].map(([version, value]) => ({ labels: `version="${version}"`, value }))
  const at = (date: Date | null) => (date === null ? [] : [{ value: date.getTime() / 1000 }])
  return [
    { name: 'muster_members', kind: 'gauge', help: 'Processes of this fleet, by version.', samples: members },
    one('gauge', 'muster_members_unproven', 'Rows of members that are not believed.', facts.unproven),
    {
      name: 'muster_owned_since_seconds',
      kind: 'gauge',
      help: 'When the owner took over.',
      samples: at(facts.ownedSince),
    },
    {
      name: 'muster_internal_certificate_ends_seconds',
      kind: 'gauge',
      help: 'When the certificate ends that this process shows to others.',
      samples: at(facts.certificateEnds),
    },
    one(
      'counter',
      'muster_ownerless_seconds_total',
      'Time without a link to an owner.',
      facts.downSumMs / 1000,
    ),
    one('gauge', 'muster_owner', 'Whether this process owns the fleet.', Number(facts.isOwner)),
    one('gauge', 'muster_link_up', 'Whether it has a link to the owner.', Number(facts.hasLink)),
    one('gauge', 'muster_clock_skew_seconds', "Its clock less the database's.", facts.skewMs / 1000),
    one('gauge', 'muster_front_agents', 'Agents on its WebSockets.', facts.agents),
    one('gauge', 'muster_front_waiting', 'Agents of which the owner has to be told.', facts.waiting),
    one('gauge', 'muster_front_unconfirmed', 'Reports that the owner has not answered.', facts.unconfirmed),
    one('gauge', 'muster_front_kept_bytes', 'What agents have said, for the next owner.', facts.keptBytes),
    one('counter', 'muster_front_absorbed_total', 'Beats that were answered here alone.', facts.absorbed),
    one('counter', 'muster_front_forwarded_total', 'Messages that were passed on.', facts.forwarded),
    one('counter', 'muster_front_entries_total', 'Entries written on links to owners.', facts.saidCount),
    one('counter', 'muster_front_replayed_total', 'Agents of which a new owner was told.', facts.replayed),
    one('counter', 'muster_front_offers_not_sent_total', 'Offers that did not leave.', facts.offersNotSent),
    one(
      'counter',
      'muster_front_agents_refused_total',
      'Messages of agents for which there was no room here.',
      facts.refused,
    ),
    one(
      'counter',
      'muster_front_slow_browsers_total',
      'Browsers of this process cut because they did not read.',
      facts.slowBrowsers,
    ),
  ]
}
