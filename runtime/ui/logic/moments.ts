/** How long before something was seen its cause may lie: the feed of a stretch begins that much earlier. */
export const LEAD_SECONDS = 900

/** The address of the changes around a stretch of time, given in seconds since the epoch. */
export function hrefOfMoment(fromSeconds: number, toSeconds: number, workloadId?: string): string {
  const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '')
  const query = new URLSearchParams()
  if (workloadId !== undefined) query.set('workload', workloadId)
  query.set('from', iso(fromSeconds - LEAD_SECONDS))
  query.set('to', iso(toSeconds))
  return `/changes?${query.toString().replaceAll('%3A', ':')}`
}

/** A stretch of buckets, both ends included. */
export interface Stretch {
  first: number
  last: number
}

/** The stretch that an arrow key leads to: it moves, or with `isGrowing` its further end does. */
export function moveStretch(from: Stretch | null, step: number, isGrowing: boolean, count: number): Stretch {
  const within = (index: number) => Math.min(Math.max(index, 0), count - 1)
  if (from === null) return { first: within(count - 1), last: within(count - 1) }
  if (!isGrowing) {
    const at = within((step < 0 ? from.first : from.last) + step)
    return { first: at, last: at }
  }
  return step < 0
    ? { first: within(from.first + step), last: from.last }
    : { first: from.first, last: within(from.last + step) }
}

/** An instant as a field for local date and time shows it; empty for none. */
export function toLocalField(iso: string): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return ''
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** The instant that such a field means; empty for none. */
export function fromLocalField(text: string): string {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().replace('.000', '')
}
