import type { Outage } from '../wire/outages.ts'
import type { WorkloadRecord } from '../wire/workloads.ts'
import { clusterOf, environmentOf } from './workload-states.ts'

/** Workloads lost within the same minutes that are told as one: a failure that they share would hide all others. */
export const OUTAGE_MIN = 10

const MINUTE_MS = 60_000
/** Minutes between two losses of one outage, and from the first to the last: what goes on for hours is not one. */
const GAP_MINUTES = 2
const SPAN_MINUTES = 5
/** Environments that are told with their numbers. */
const ENVIRONMENTS_MAX = 5

/** The minute in which something was lost; null where the time is none. */
export function minuteOf(iso: string | undefined): number | null {
  const minute = Math.floor(Date.parse(iso ?? '') / MINUTE_MS)
  return Number.isNaN(minute) ? null : minute
}

/** Minutes in which something was lost, those together that may be of one outage. */
export function runsOfMinutes(minutes: Iterable<number>): number[][] {
  const runs: number[][] = []
  for (const minute of [...new Set(minutes)].sort((a, b) => a - b)) {
    const run = runs.at(-1)
    if (run && minute - run.at(-1)! <= GAP_MINUTES && minute - run[0]! < SPAN_MINUTES) run.push(minute)
    else runs.push([minute])
  }
  return runs
}

/** What is told of each workload that was lost. */
export interface Lost {
  since: string
  environment: string
  cluster: string
}

/** Since when and where a workload has no instance any more, be it told yet or not; null where it has one. */
export function lostOf(
  workload: Pick<WorkloadRecord, 'trouble' | 'labels' | 'fingerprint_keys'>,
): Lost | null {
  const { kind, since } = workload.trouble ?? {}
  if (since === undefined || (kind !== 'disconnected' && kind !== 'leaving')) return null
  return { since, environment: environmentOf(workload), cluster: clusterOf(workload) }
}

/** Those that were lost in a minute, or with others merged in some, in numbers. */
export class LossCount {
  #count = 0
  /** When the first was lost of the minute in which most were: one that had gone before dates nothing. */
  #since = ''
  #most = 0
  #cluster: string | null = null
  readonly #environments = new Map<string, number>()

  get count(): number {
    return this.#count
  }

  add({ since, environment, cluster }: Lost): void {
    this.#join(1, cluster)
    this.#most = this.#count
    if (this.#since === '' || since < this.#since) this.#since = since
    this.#environments.set(environment, (this.#environments.get(environment) ?? 0) + 1)
  }

  /** Add those of another minute, a later one. */
  merge(other: LossCount): void {
    this.#join(other.#count, other.#cluster ?? '')
    if (other.#most > this.#most) {
      this.#most = other.#most
      this.#since = other.#since
    }
    for (const [name, count] of other.#environments)
      this.#environments.set(name, (this.#environments.get(name) ?? 0) + count)
  }

  #join(count: number, cluster: string): void {
    this.#count += count
    if (this.#cluster === null) this.#cluster = cluster
    else if (this.#cluster !== cluster) this.#cluster = ''
  }

  toOutage(): Outage {
    const environments = [...this.#environments]
      .sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))
      .slice(0, ENVIRONMENTS_MAX)
      .map(([name, count]) => ({ name, count }))
    return { count: this.#count, since: this.#since, environments, cluster: this.#cluster ?? '' }
  }
}

/** Workloads, or what is about them, that were lost together. */
export interface FoundOutage<T> {
  /** The first minute in which one was lost. */
  minute: number
  outage: Outage
  members: T[]
}

/** Those that were lost within the same minutes, where they are many; `lostOf` is null for what was not lost. */
export function findOutages<T>(items: Iterable<T>, lostOf: (item: T) => Lost | null): FoundOutage<T>[] {
  const byMinute = new Map<number, { item: T; lost: Lost }[]>()
  for (const item of items) {
    const lost = lostOf(item)
    const minute = minuteOf(lost?.since)
    if (lost === null || minute === null) continue
    const known = byMinute.get(minute)
    if (known) known.push({ item, lost })
    else byMinute.set(minute, [{ item, lost }])
  }
  return runsOfMinutes(byMinute.keys()).flatMap((run) => {
    const own = run.flatMap((minute) => byMinute.get(minute)!)
    if (own.length < OUTAGE_MIN) return []
    const losses = new LossCount()
    for (const minute of run) {
      const inMinute = new LossCount()
      for (const { lost } of byMinute.get(minute)!) inMinute.add(lost)
      losses.merge(inMinute)
    }
    return { minute: run[0]!, outage: losses.toOutage(), members: own.map(({ item }) => item) }
  })
}
