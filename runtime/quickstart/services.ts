import { join } from 'node:path'
import { startBalancer } from './balancer.ts'
import { type Child, startChild, tailLog, turnLog } from './child.ts'
import { watchHealth } from './health.ts'
import { type ChosenAddress, findFreePort, reachAt } from './ports.ts'
import type { QuickStartSettings } from './settings.ts'

const READY_PATIENCE_MS = 60_000
/** The service itself stops within 10 s (`STOP_BUDGET_MS` of runtime/service.ts). */
const STOP_PATIENCE_MS = 12_000
const LOCAL = '127.0.0.1'

/** The processes of the service that are to run. */
export interface ServicesPlan {
  /** Where their logs go. */
  directory: string
  script: string
  settings: QuickStartSettings
  dsn: string
  /** Where they are reached: a single process listens there itself. */
  addresses: { api: ChosenAddress; opamp: ChosenAddress }
  processes: number
  say(text: string): void
  /** Take note of a part that has to be stopped. */
  add(name: string, stop: () => Promise<void>): void
  /** Write down the process ids of those that run. */
  note(services: number[]): Promise<void>
}

/** The log of the process with this index. */
export const serviceLogOf = (directory: string, index: number): string =>
  join(directory, index === 0 ? 'muster.log' : `muster-${index + 1}.log`)

/**
 * Start the processes one after the other, each once the one before is ready. `ended` resolves once none of them is
 * left, with a sentence about the last one.
 */
export async function startServices(plan: ServicesPlan): Promise<{ ended: Promise<string>; pids: number[] }> {
  const { directory, processes, add, note } = plan
  const started: Child[] = []
  let isStopping = false
  const places: Place[] = []
  for (let index = 0; index < processes; index++) {
    const place = await placeOf(plan)
    const logFile = serviceLogOf(directory, index)
    await turnLog(logFile)
    const child = startService(plan, place, logFile, index)
    places.push(place)
    started.push(child)
    add(processes === 1 ? 'the service' : `process ${index + 1}`, () => {
      isStopping = true
      return child.stop(STOP_PATIENCE_MS)
    })
    await note(started.map(({ pid }) => pid))
    await waitUntilReady(child, urlOf(place), logFile)
  }
  if (processes > 1) await startBalancers(plan, places)
  return { ended: watchEnds(plan, started, () => isStopping), pids: started.map(({ pid }) => pid) }
}

/** Lead those who call the two addresses to the processes, and away from those that do not answer. */
async function startBalancers({ addresses, add }: ServicesPlan, places: readonly Place[]): Promise<void> {
  const health = watchHealth(places.map(urlOf))
  add('the watch over the processes', async () => health.close())
  for (const name of ['api', 'opamp'] as const) {
    const ports = places.map((place) => place[name].port)
    const balancer = await startBalancer(addresses[name], ports, health)
    add(`the way to ${name}`, () => balancer.close())
  }
}

/** Where one process listens. */
interface Place {
  api: { host: string; port: number }
  opamp: { host: string; port: number }
  internal: string | null
}

const urlOf = ({ api }: Place): string => `http://${api.host || LOCAL}:${api.port}`

async function placeOf({ processes, addresses }: ServicesPlan): Promise<Place> {
  if (processes === 1) return { ...addresses, internal: null }
  const freePlace = async () => ({ host: LOCAL, port: await findFreePort(LOCAL) })
  return {
    api: await freePlace(),
    opamp: await freePlace(),
    internal: `${LOCAL}:${await findFreePort(LOCAL)}`,
  }
}

function startService(plan: ServicesPlan, place: Place, logFile: string, index: number): Child {
  const { settings, dsn, script, processes, addresses } = plan
  const { api, opamp, internal } = place
  return startChild({
    script,
    // The quick start shows all features; the service by itself starts as community.
    args: ['--edition', 'complete'],
    hasChannel: false,
    logFile,
    env: {
      JWT_SECRET: settings.jwtSecret,
      SEED_ADMIN_EMAIL: settings.adminEmail,
      SEED_ADMIN_PASSWORD: settings.adminPassword,
      // Agents come by the way that leads to all of them, not to the port of one.
      ...(processes === 1 ? {} : { MUSTER_OPAMP_PUBLIC_URL: `ws://${reachAt(addresses.opamp)}` }),
      ...process.env,
      DB_DSN: dsn,
      LISTEN_ADDR: `${api.host}:${api.port}`,
      OPAMP_ADDR: `${opamp.host}:${opamp.port}`,
      ...(internal === null ? {} : { MUSTER_INTERNAL_ADDR: internal, MUSTER_ADVERTISE_ADDR: internal }),
      // There is one address for metrics, so that only the first process can listen on it.
      ...(index === 0 ? {} : { MUSTER_METRICS_ADDR: '', MUSTER_HEALTH_ADDR: '' }),
    },
  })
}

/** Wait until the service says that it is ready. Throws with its last words when it ends before. */
async function waitUntilReady(service: Child, url: string, logFile: string): Promise<void> {
  const deadline = performance.now() + READY_PATIENCE_MS
  while (performance.now() < deadline) {
    if (service.hasEnded())
      throw new Error(`the service ended (${await service.ended}):\n${tailLog(logFile)}`)
    const status = await fetch(`${url}/readyz`).then(
      (response) => response.status,
      () => 0,
    )
    if (status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`the service was not ready within ${READY_PATIENCE_MS / 1000} s:\n${tailLog(logFile)}`)
}

/** Say of each process that ends while others run that it did; resolves when the last one has ended. */
function watchEnds(
  { directory, say }: ServicesPlan,
  started: readonly Child[],
  isStopping: () => boolean,
): Promise<string> {
  return new Promise((resolve) => {
    let left = started.length
    started.forEach((child, index) => {
      void child.ended.then((how) => {
        const logFile = serviceLogOf(directory, index)
        left--
        if (left === 0) resolve(`The service ended (${how}):\n${tailLog(logFile)}`)
        else if (!isStopping())
          say(
            `Process ${index + 1} of ${started.length} ended (${how}); the others serve on. Its log: ${logFile}`,
          )
      })
    })
  })
}
