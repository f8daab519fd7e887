import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { NamedRecord } from '../../../lib/model/workload-names.ts'
import { nameOf } from '../../../lib/model/workload-names.ts'
import { placeOf } from '../../../lib/model/workload-states.ts'
import type { FleetNames, NamedWorkload } from '../../../lib/wire/fleet-names.ts'
import { inPieces } from '../logic/selection.ts'
import { namedAt } from '../logic/workloads.ts'
import { call } from './api.ts'
import { fleetLoaded, fleetVersion, isNameOfMany, workloads } from './fleet.ts'
import { onFrame, resyncCount } from './hub.ts'
import { path } from './router.ts'

/*
 * How a workload is called is decided here for every page, by what the service says of the whole fleet: a page that shows
 * some workloads names them like the list, whether or not the list was fetched.
 */

/** Names that several workloads have. */
const shared = signal<ReadonlySet<string>>(new Set())
/** How many workloads the fleet has; null before the service said. */
export const fleetCount = signal<number | null>(null)
/** Workloads that something names by their ids; null for an id that the service does not know. */
const told = new Map<string, NamedWorkload | null>()
/** Changes with what is known of workloads that something names. */
export const namesVersion = signal(0)
/** Those that are asked for next. */
const wanted = new Set<string>()
/** Those that were asked for, and whose answer is on its way. */
const asked = new Set<string>()
let timer: ReturnType<typeof setTimeout> | undefined
let readAtMs = 0

/** Ids in one call. */
const AT_ONCE = 100
/** Frames of one workload come in bursts. */
const SOON_MS = 2_000
/** Which names are shared is asked again where a page is opened so much later. */
const KEPT_MS = 30_000

async function read(ids: readonly string[], keepsSession = false): Promise<void> {
  readAtMs = Date.now()
  const address = `/api/fleet/names${ids.length === 0 ? '' : `?ids=${ids.map(encodeURIComponent).join(',')}`}`
  const result = await call<FleetNames>('GET', address, { keepsSession })
  for (const id of ids) asked.delete(id)
  if (!result.ok) return
  const { workloads: found, shared_names: names, count } = result.value
  for (const id of ids) if (id !== '') told.set(id, null)
  for (const workload of found) told.set(workload.id, workload)
  shared.value = new Set(names)
  fleetCount.value = count
  namesVersion.value++
}

/** Learn which names several workloads have, before anything is drawn that names one. */
export const loadNames = (): Promise<void> => read([], true)

/** Forget all names, as on signing out. */
export function forgetNames(): void {
  clearTimeout(timer)
  timer = undefined
  wanted.clear()
  asked.clear()
  told.clear()
  shared.value = new Set()
  fleetCount.value = null
  readAtMs = 0
}

function ask(): void {
  clearTimeout(timer)
  timer = undefined
  const all = [...wanted]
  wanted.clear()
  for (const piece of inPieces(all, AT_ONCE)) {
    for (const id of piece) asked.add(id)
    void read(piece)
  }
}

/** Ask for these with whatever else is asked for within this time. */
function askWithin(ids: Iterable<string>, waitMs: number): void {
  for (const id of ids) wanted.add(id)
  // Whoever waits for names does not wait for a burst to end.
  if (waitMs === 0) clearTimeout(timer)
  if (waitMs === 0 || timer === undefined) timer = setTimeout(ask, waitMs)
}

/** Keep the names up to date for as long as somebody is signed in. */
export function followNames(): void {
  onFrame((frame) => {
    if (frame.type === 'workload_update' && told.has(frame.workload.id))
      askWithin([frame.workload.id], SOON_MS)
    if (frame.type === 'workload_removed') told.delete(frame.workload_id)
  })
  let seen = resyncCount.peek()
  resyncCount.subscribe((count) => {
    if (count !== seen && readAtMs > 0) askWithin([...told.keys(), ''], SOON_MS)
    seen = count
  })
  path.subscribe(() => {
    if (readAtMs > 0 && Date.now() - readAtMs > KEPT_MS) void read([])
  })
}

/** A workload that is known by its id, from the list or by itself; undefined for one that is not known (yet). */
export function namedOf(id: string): NamedWorkload | undefined {
  void fleetVersion.value
  void namesVersion.value
  return workloads.get(id) ?? told.get(id) ?? undefined
}

/** Ask for what these workloads are called, unless the list has them; `namedOf` says it once it is there. */
export function useNames(ids: readonly string[]): void {
  const missing = [...new Set(ids)].filter(
    (id) => id !== '' && !workloads.has(id) && !told.has(id) && !asked.has(id),
  )
  const key = fleetLoaded.value ? '' : missing.join()
  useEffect(() => {
    if (key !== '') askWithin(key.split(','), 0)
  }, [key])
}

/** Whether a workload is known by its place, such as its host, since others have its name. */
export const isShared = (name: string): boolean => shared.value.has(name) || isNameOfMany(name)

/** A workload as one line, what tells it from its namesakes first. */
export const lineOf = (name: string, place = ''): string => namedAt(name, place, isShared(name))

/** A workload of the fleet as one line. */
export const labelOf = (workload: NamedRecord): string => lineOf(nameOf(workload), placeOf(workload))

/** A workload inside of a sentence or as a heading: its name alone, unless others have it too. */
export const callOf = (workload: NamedRecord): string =>
  isShared(nameOf(workload)) ? labelOf(workload) : nameOf(workload)
