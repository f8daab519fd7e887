import { type IRequest, Router } from 'itty-router'
import type { HttpFunction, RouteMethod } from './define.ts'
import { type Loaded, splitRoute } from './loader.ts'

/** Where a request leads. */
export type RouteMatch =
  | { kind: 'function'; function: Loaded<HttpFunction>; params: Record<string, string> }
  | { kind: 'method-not-allowed'; allow: readonly string[] }
  | { kind: 'unknown' }

/** Finds where a request leads, by its method and its path as sent. */
export type RequestRouter = (method: string, path: string) => RouteMatch

/**
 * A text by which paths are sorted: static segments before parameters, segment by segment, so that the more exact path is
 * tried first.
 */
function rankOf(path: string): string {
  const rank = (segment: string) => (segment.endsWith('+') ? 3 : segment.startsWith(':') ? 2 : 1)
  return `${path.split('/').map(rank).join('')} ${path}`
}

/**
 * A path that the URL parser would change (dot segments, backslashes, fragments, a trailing slash) names
 * nothing here: what is matched must be what was sent.
 */
function isPlainPath(path: string): boolean {
  if (!path.startsWith('/') || path.startsWith('//') || /[\\#?\s]/.test(path)) return false
  if (path !== '/' && path.endsWith('/')) return false
  return !path.split('/').some((segment) => /^(\.|%2e){1,2}$/i.test(segment))
}

function decodeParams(raw: Record<string, string>): Record<string, string> | null {
  const params: Record<string, string> = {}
  for (const [name, value] of Object.entries(raw)) {
    try {
      // `rest+` parameters keep their slashes and escapes: they are passed on, not looked up.
      params[name] = name === 'rest' ? value : decodeURIComponent(value)
    } catch {
      return null
    }
  }
  return params
}

/** Build the router over all HTTP functions. Matching is synchronous and on the path as sent. */
export function createRouter(functions: readonly Loaded<HttpFunction>[]): RequestRouter {
  const byPath = new Map<string, Map<RouteMethod, Loaded<HttpFunction>>>()
  for (const loaded of functions) {
    const { method, path } = splitRoute(loaded.definition.route)
    const methods = byPath.get(path) ?? new Map<RouteMethod, Loaded<HttpFunction>>()
    methods.set(method, loaded)
    byPath.set(path, methods)
  }
  const router = Router()
  let found: { path: string; params: Record<string, string> } | null = null
  const ranked = [...byPath.keys()].map((path) => [rankOf(path), path] as const)
  for (const [, path] of ranked.sort(([a], [b]) => (a < b ? -1 : 1))) {
    router.all(path, (request: IRequest) => {
      found = { path, params: { ...request.params } }
      return true
    })
  }
  return (method, path) => {
    if (!isPlainPath(path)) return { kind: 'unknown' }
    found = null
    // The handlers above run before `fetch` first awaits, so the match is there when it returns.
    void router.fetch({ method, url: `http://host${path}` } as IRequest)
    const match = found as { path: string; params: Record<string, string> } | null
    if (match === null) return { kind: 'unknown' }
    const params = decodeParams(match.params)
    if (params === null) return { kind: 'unknown' }
    const methods = byPath.get(match.path)!
    const wanted = (method === 'HEAD' ? 'GET' : method) as RouteMethod
    const target = methods.get(wanted) ?? methods.get('ANY')
    if (target !== undefined) return { kind: 'function', function: target, params }
    const allow = [...methods.keys()].flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name]))
    return { kind: 'method-not-allowed', allow: allow.sort() }
  }
}
