import { GATES } from '../lib/model/gates.ts'
import { PERMISSIONS } from '../lib/model/permissions.ts'
import { UNSCOPABLE } from '../lib/model/scopes.ts'
import type {
  Access,
  AnyFunction,
  HttpFunction,
  OpampPostFunction,
  RouteMethod,
  ScheduleFunction,
  SocketFunction,
} from './define.ts'
import { METHODS, REACHES } from './define.ts'
import { PROBLEMS } from './problems.ts'

/** A function with its id: its path below `functions/`, without extension. */
export interface Loaded<F> {
  id: string
  definition: F
}

/** All functions, sorted by kind and checked. */
export interface LoadedFunctions {
  http: readonly Loaded<HttpFunction>[]
  sockets: readonly Loaded<SocketFunction>[]
  schedules: readonly Loaded<ScheduleFunction>[]
  opampPosts: readonly Loaded<OpampPostFunction>[]
}

const KEYS: Record<AnyFunction['kind'], readonly string[]> = {
  http: ['route', 'summary', 'access', 'gate', 'params', 'query', 'body', 'replies', 'errors', 'handle'],
  socket: ['listener', 'path', 'access', 'limits', 'admit', 'open', 'message', 'drain', 'close'],
  schedule: ['intervalMs', 'jitterMs', 'run'],
  'opamp-post': ['path', 'handle', 'refuse', 'bodyBytesMax'],
}

/** Keys that are absent where they say nothing. */
const OPTIONAL: Partial<Record<AnyFunction['kind'], readonly string[]>> = { http: ['doneOnce'] }

/** The method and path of a route. */
export function splitRoute(route: string): { method: RouteMethod; path: string } {
  const space = route.indexOf(' ')
  return { method: route.slice(0, space) as RouteMethod, path: route.slice(space + 1) }
}

function checkKeys(definition: Record<string, unknown>, kind: AnyFunction['kind']): string[] {
  const problems: string[] = []
  for (const key of KEYS[kind]) if (definition[key] === undefined) problems.push(`"${key}" is missing`)
  for (const key of Object.keys(definition))
    if (key !== 'kind' && !KEYS[kind].includes(key) && !OPTIONAL[kind]?.includes(key))
      problems.push(`unknown key "${key}"`)
  return problems
}

const OF_WORKLOAD = /^\/api\/workloads\/:id(\/|$)/

/** What is wrong with where an endpoint asks for its permission: its path says whether it is about one workload. */
function checkReach({ permission, reach }: Access & { kind: 'signed-in' }, path: string): string[] {
  if (!REACHES.includes(reach)) return [`unknown reach "${reach}"`]
  if (permission !== null && UNSCOPABLE.includes(permission))
    return reach === 'nothing' ? [] : [`"${permission}" is about no workload, and the reach is "${reach}"`]
  const isFitting = OF_WORKLOAD.test(path) === (reach === 'workload')
  return isFitting ? [] : [`reach "${reach}" does not fit the path "${path}"`]
}

function checkHttp(definition: HttpFunction): string[] {
  const problems: string[] = []
  const { method, path } = splitRoute(String(definition.route))
  if (method !== 'ANY' && !(METHODS as readonly string[]).includes(method))
    problems.push(`unknown method in route "${definition.route}"`)
  if (!/^(\/[a-z0-9.-]+|\/:[a-z_]+\+?)+$/.test(path))
    problems.push(`malformed path in route "${definition.route}"`)
  if (definition.doneOnce !== undefined && method !== 'GET')
    problems.push(`"doneOnce" is for a GET, and the route is "${definition.route}"`)
  const access = definition.access
  if (access?.kind === 'public' && access.reason.trim() === '')
    problems.push('public access needs its reason')
  if (access?.kind === 'signed-in' && access.permission !== null && !PERMISSIONS.includes(access.permission))
    problems.push(`unknown permission "${access.permission}"`)
  if (access?.kind === 'signed-in') problems.push(...checkReach(access, path))
  if (definition.gate !== null && !GATES.includes(definition.gate))
    problems.push(`unknown gate "${definition.gate}"`)
  for (const code of definition.errors ?? [])
    if (!(code in PROBLEMS)) problems.push(`error code "${code}" is not in runtime/problems.ts`)
  return problems
}

/** What two routes must not share: the method, and the path without the names of its parameters. */
const shapeOf = (route: string) => route.replace(/:[a-z_]+/g, ':')

function checkDuplicates(http: readonly Loaded<HttpFunction>[]): string[] {
  const seen = new Map<string, Loaded<HttpFunction>>()
  const problems: string[] = []
  for (const loaded of http) {
    const shape = shapeOf(loaded.definition.route)
    const other = seen.get(shape)
    if (other === undefined) seen.set(shape, loaded)
    else
      problems.push(
        `${loaded.id}: route "${loaded.definition.route}" clashes with "${other.definition.route}" of ${other.id}`,
      )
  }
  return problems
}

/** Check every function and sort them by kind; throws one error that names every problem. */
export function loadFunctions(all: readonly Loaded<AnyFunction>[]): LoadedFunctions {
  const problems: string[] = []
  const ofKind = <K extends AnyFunction['kind']>(kind: K) =>
    all.filter((f): f is Loaded<Extract<AnyFunction, { kind: K }>> => f.definition?.kind === kind)
  for (const { id, definition } of all) {
    const kind = definition?.kind
    if (kind === undefined || !(kind in KEYS)) {
      problems.push(`${id}: the default export is not a defined function`)
      continue
    }
    const found = checkKeys(definition as unknown as Record<string, unknown>, kind)
    if (definition.kind === 'http' && found.length === 0) found.push(...checkHttp(definition))
    problems.push(...found.map((problem) => `${id}: ${problem}`))
  }
  const http = ofKind('http')
  if (problems.length === 0) problems.push(...checkDuplicates(http))
  if (problems.length > 0) throw new Error(`Cannot load the functions:\n  ${problems.join('\n  ')}`)
  return { http, sockets: ofKind('socket'), schedules: ofKind('schedule'), opampPosts: ofKind('opamp-post') }
}
