import { signal } from '@preact/signals'
import { compareNames, nameOf } from '../../../lib/model/workload-names.ts'
import type { HubFrame } from '../../../lib/wire/hub.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { applyFrame } from '../logic/fleet-frames.ts'
import { call, type Failure, nextPage } from './api.ts'
import { onFrame, resyncCount } from './hub.ts'
import { may } from './session.ts'

/** Every workload we know, archived ones included only when they were asked for. */
export const workloads = new Map<string, WorkloadRecord>()
/** The workload that a page fetched by itself last, which the list may not hold. */
export const fetchedWorkload = signal<WorkloadRecord | null>(null)
/** Counts up after each batch of changes to `workloads`. */
export const fleetVersion = signal(0)
/** Whether the list is being fetched. */
export const fleetLoading = signal(false)
/** True once the whole list came in at least once. */
export const fleetLoaded = signal(false)
/** Why the list could not be fetched last; null where it could. */
export const fleetFailure = signal<Failure | null>(null)

const PAGE_ROWS = 1000
const LARGE_FLEET = 3000
/** What is looked at first; of very many only some, as all of them would be the list again. */
const PRESSING = '/api/workloads?pressing=true&limit=200'
/**
 * A large list is fetched again after a random wait up to this, in milliseconds: all browsers learn at once that they
 * may have missed something, and each fetches tens of megabytes.
 */
const LARGE_RELOAD_SPREAD_MS = 3_000
let withArchived = false
let run = 0
let timer: ReturnType<typeof setTimeout> | null = null
let reloadTimer: ReturnType<typeof setTimeout> | undefined
/** Frames that came while the list was being fetched, oldest first: a fetched page may be older than they are. */
let meanwhile: HubFrame[] | null = null

let byName: WorkloadRecord[] = []
let byNameVersion = -1

/** Every workload by name. The former order is sorted again, which is fast since most of it still holds. */
export function listByName(): readonly WorkloadRecord[] {
  const version = fleetVersion.value
  if (byNameVersion === version) return byName
  const known = new Set<string>()
  const next: WorkloadRecord[] = []
  for (const { id } of byName) {
    const workload = workloads.get(id)
    if (workload === undefined) continue
    known.add(id)
    next.push(workload)
  }
  for (const workload of workloads.values()) if (!known.has(workload.id)) next.push(workload)
  byName = next.sort(compareNames)
  byNameVersion = version
  return byName
}

let namesOf = new Map<string, number>()
let namesVersion = -1

/** Whether several workloads of the fleet have a name. */
export function isNameOfMany(wanted: string): boolean {
  const version = fleetVersion.value
  if (namesVersion !== version) {
    namesOf = new Map()
    for (const workload of workloads.values()) {
      const name = nameOf(workload)
      namesOf.set(name, (namesOf.get(name) ?? 0) + 1)
    }
    namesVersion = version
  }
  return (namesOf.get(wanted) ?? 0) > 1
}

/** Count `fleetVersion` up once for a burst of frames; for a large fleet less often. */
function publishSoon(): void {
  if (timer !== null) return
  timer = setTimeout(
    () => {
      timer = null
      fleetVersion.value++
    },
    workloads.size > LARGE_FLEET ? 600 : 200,
  )
}

/** Fetch the list page by page, so that the first rows show at once. */
export async function loadFleet(options: { withArchived?: boolean } = {}): Promise<void> {
  const mine = ++run
  clearTimeout(reloadTimer)
  withArchived = options.withArchived ?? withArchived
  fleetLoading.value = true
  meanwhile = []
  const seen = new Set<string>()
  // Before the first rows are shown, so that what is wrong stands among them: the rest comes by name, for seconds.
  const pressing = fleetLoaded.value ? null : call<WorkloadRecord[]>('GET', PRESSING)
  let address: string | null =
    `/api/workloads?limit=${PAGE_ROWS}${withArchived ? '&include_archived=true' : ''}`
  while (address !== null) {
    const page: Awaited<ReturnType<typeof call<WorkloadRecord[]>>> = await call<WorkloadRecord[]>(
      'GET',
      address,
    )
    if (mine !== run) return
    if (!page.ok) {
      fleetFailure.value = page
      fleetLoading.value = false
      meanwhile = null
      return
    }
    if (seen.size === 0 && pressing !== null) {
      const first = await pressing
      if (mine !== run) return
      for (const workload of (first.ok && first.value) || []) workloads.set(workload.id, workload)
    }
    for (const workload of page.value ?? []) {
      seen.add(workload.id)
      workloads.set(workload.id, workload)
    }
    // The first time each page is shown as it comes. A list that is shown already changes once, when all of it is
    // there.
    if (!fleetLoaded.value) fleetVersion.value++
    address = nextPage(page.headers)
  }
  for (const id of workloads.keys()) if (!seen.has(id)) workloads.delete(id)
  for (const frame of meanwhile ?? []) applyFrame(workloads, frame, { withArchived })
  meanwhile = null
  fleetFailure.value = null
  fleetLoading.value = false
  fleetLoaded.value = true
  fleetVersion.value++
}

/** Workloads whose frames left out names that the reader may see: they are fetched, or the list is where they are many. */
const abridged = new Set<string>()
const ABRIDGED_WAIT_MS = 500
const ABRIDGED_MAX = 20
let abridgedTimer: ReturnType<typeof setTimeout> | undefined

function noteAbridged(id: string): void {
  if (workloads.get(id)?.trouble?.is_abridged !== true || !may('config:read_content', id)) return
  abridged.add(id)
  abridgedTimer ??= setTimeout(() => {
    abridgedTimer = undefined
    const ids = [...abridged]
    abridged.clear()
    if (ids.length > ABRIDGED_MAX) reloadFleet()
    else for (const one of ids) void fetchNames(one)
  }, ABRIDGED_WAIT_MS)
}

async function fetchNames(id: string): Promise<void> {
  const result = await call<WorkloadRecord>('GET', `/api/workloads/${id}`)
  // What the list was told meanwhile is newer.
  if (!result.ok || workloads.get(id)?.trouble?.is_abridged !== true) return
  workloads.set(id, result.value)
  publishSoon()
}

function handleFrame(frame: HubFrame): void {
  if (!fleetLoaded.value && !fleetLoading.value) return
  if (!applyFrame(workloads, frame, { withArchived })) return
  meanwhile?.push(frame)
  if (frame.type === 'workload_update') noteAbridged(frame.workload.id)
  publishSoon()
}

/** Fetch the list again: a small one at once, a large one after a random wait. */
function reloadFleet(): void {
  clearTimeout(reloadTimer)
  if (workloads.size <= LARGE_FLEET) void loadFleet()
  else reloadTimer = setTimeout(() => void loadFleet(), Math.random() * LARGE_RELOAD_SPREAD_MS)
}

/** Keep the fleet up to date for as long as somebody is signed in. */
export function followFleet(): void {
  onFrame(handleFrame)
  let seen = resyncCount.peek()
  resyncCount.subscribe((count) => {
    if (count !== seen && (fleetLoaded.peek() || fleetFailure.peek() !== null)) reloadFleet()
    seen = count
  })
}

/** Forget everything, as on signing out. */
export function forgetFleet(): void {
  run++
  clearTimeout(reloadTimer)
  clearTimeout(abridgedTimer)
  abridgedTimer = undefined
  abridged.clear()
  meanwhile = null
  workloads.clear()
  fleetLoaded.value = false
  fleetLoading.value = false
  fleetVersion.value++
}
