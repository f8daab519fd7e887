import { canReport, isCapable } from '../../lib/fleet/decide/abilities.ts'
import { isWorkloadLabel } from '../../lib/fleet/decide/workload-identity.ts'
import type { LiveTally } from '../../lib/fleet/state/live-tally.ts'
import type { Instance, RemoteConfigReport } from '../../lib/fleet/state/model.ts'
import type { AvailableComponents } from '../../lib/model/components.ts'

const WORST_FIRST = ['failed', 'applying', 'applied'] as const

/** What a tally must say, found by looking at every live instance. */
function recount(live: readonly Instance[], hash: string) {
  const expected = live.filter(
    (instance) => isCapable(instance) && canReport(instance) && instance.undescribedSinceMs === null,
  )
  const about = (instance: Instance) => (instance.report?.hash === hash ? instance.report.status : null)
  const hasSilent = expected.some((instance) => about(instance) === null)
  const statuses = expected.map(about)
  const worst = WORST_FIRST.find((status) => statuses.includes(status)) ?? null
  const lists = live.flatMap(({ components }) => (components === null ? [] : [components.components]))
  const categories = [...(lists[0]?.keys() ?? [])].filter((key) => lists.every((list) => list.has(key)))
  return {
    count: live.length,
    unhealthy: live.filter(({ unhealthySinceMs }) => unhealthySinceMs !== null).map(({ uid }) => uid),
    hasCollector: live.some(({ type }) => type === 'collector'),
    hasCapable: live.some(isCapable),
    versions: new Set(live.map(({ version }) => version)),
    labels: commonEntries(live.filter(({ attributes }) => attributes !== null).map(labelsOf)),
    components:
      lists.length === 0
        ? null
        : Object.fromEntries(
            categories.map((key) => [
              key,
              lists[0]!.get(key)!.filter((type) => lists.every((list) => list.get(key)!.includes(type))),
            ]),
          ),
    worst: worst === 'applied' && hasSilent ? null : worst,
    applyingCount: live.filter(({ report }) => report?.status === 'applying').length,
    reportedHash: onlyOf(live.map(({ reportedConfigHash }) => reportedConfigHash)),
    mostReported: mostOf(live.map(({ reportedConfigHash }) => reportedConfigHash)),
    newestAt: newestOf(live.flatMap(({ report }) => (report === null ? [] : [report]))),
  }
}

/** The labels that an instance's description gives its workload. */
function labelsOf({ attributes }: Instance): Record<string, string> {
  const labels = [...(attributes ?? [])].filter(([key]) => isWorkloadLabel(key))
  return Object.fromEntries(labels.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function commonEntries(all: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const [first = {}, ...others] = all
  return Object.fromEntries(
    Object.entries(first).filter(([key, value]) => others.every((labels) => labels[key] === value)),
  )
}

/** The one text that all non-empty texts agree on; '' when they differ or there is none. */
function onlyOf(texts: readonly string[]): string {
  const different = new Set(texts.filter((text) => text !== ''))
  return different.size === 1 ? [...different][0]! : ''
}

/** The text that occurs most, of equally frequent ones the first, with how often; empty texts do not count. */
function mostOf(texts: readonly string[]): { hash: string; instanceCount: number } | null {
  const all = [...new Set(texts.filter((text) => text !== ''))].map((hash) => ({
    hash,
    instanceCount: texts.filter((text) => text === hash).length,
  }))
  return all.sort((a, b) => b.instanceCount - a.instanceCount || (a.hash < b.hash ? -1 : 1))[0] ?? null
}

const newestOf = (reports: readonly RemoteConfigReport[]) =>
  reports.length === 0 ? null : Math.max(...reports.map(({ at }) => at.getTime()))

/** What a tally says, in the form of `recount`. */
function told(
  tally: LiveTally,
  hash: string,
): Omit<ReturnType<typeof recount>, 'versions' | 'components'> & {
  components: AvailableComponents['components'] | null
} {
  return {
    count: tally.count,
    unhealthy: [...tally.unhealthy].map(({ uid }) => uid),
    hasCollector: tally.hasCollector,
    hasCapable: tally.hasCapable,
    labels: tally.commonLabels(),
    components: tally.commonComponents()?.components ?? null,
    worst: tally.worstReport(hash)?.status ?? null,
    applyingCount: tally.applyingCount,
    reportedHash: tally.commonReportedHash(),
    mostReported: tally.mostReported(),
    newestAt: tally.newestReport()?.at.getTime() ?? null,
  }
}

/** How a tally differs from what its live instances make it; '' when it is right. */
export function tallyFault(tally: LiveTally, live: readonly Instance[], hash: string): string {
  const { versions, ...wanted } = recount(live, hash)
  const found = told(tally, hash)
  wanted.unhealthy.sort()
  found.unhealthy.sort()
  const keys = Object.keys(wanted) as (keyof typeof wanted)[]
  const wrong = keys.filter((key) => JSON.stringify(wanted[key]) !== JSON.stringify(found[key]))
  const faults = wrong.map(
    (key) => `${key} is ${JSON.stringify(found[key])}, not ${JSON.stringify(wanted[key])}`,
  )
  const lowest = tally.lowestVersion()
  if (live.length > 0 && !versions.has(lowest)) faults.push(`version is ${lowest}, which nobody has`)
  return faults.join('; ')
}
