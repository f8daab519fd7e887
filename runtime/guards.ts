import { validate } from 'superstruct'
import { rightsEverywhere, rightsOn, rightsSomewhere, UNSCOPABLE } from '../lib/model/scopes.ts'
import { checkBody } from './body.ts'
import type { Context } from './context.ts'
import { readCredential } from './credentials.ts'
import type { Access, Actor, HttpDefinition, HttpFunction } from './define.ts'
import { isOriginTrusted } from './origin.ts'
import { alsoAsking, askingForCredential, Refused, sightOf } from './reach.ts'
import { lacks, problem, type Reply } from './reply.ts'

/** One call as the guards see it: nothing is checked yet. */
export interface IncomingCall {
  method: string
  path: string
  query: string
  params: Record<string, string>
  remoteAddress: string
  isSecure: boolean
  header(name: string): string
  body(): Promise<Uint8Array | 'too-large' | 'aborted'>
  /** True when the body found no room beside those of other requests. */
  isOverBudget(): boolean
  /** Count the body for this user; false when that is too much. */
  holdBodyFor(userId: string): boolean
  /** Run this when the caller leaves before there is an answer. */
  onGone(listener: () => void): void
}

const SAFE_METHODS = ['GET', 'HEAD']

async function authenticate(
  call: IncomingCall,
  ctx: Context,
): Promise<{ ok: true; actor: Actor } | { ok: false; reply: Reply }> {
  const credential = readCredential(call.header)
  if (credential === null) return { ok: false, reply: problem('unauthorized') }
  const found =
    credential.source === 'bearer'
      ? await ctx.identity.authenticateBearer(credential.token, call.remoteAddress)
      : await ctx.identity.authenticate(credential.token)
  if (!found.ok && found.code === 'token-limited')
    return { ok: false, reply: problem(found.code, {}, { 'Retry-After': String(found.retryAfterS) }) }
  if (!found.ok) return { ok: false, reply: problem(found.code) }
  const isUnsafe = !SAFE_METHODS.includes(call.method)
  if (credential.source === 'cookie' && isUnsafe) {
    if (!isOriginTrusted(call.header('origin'), call.header('host'), ctx.config.cookieOrigins))
      return { ok: false, reply: problem('origin-refused') }
  }
  const { userId, email, groups, grants, sessionId, apiToken } = found.user
  const person = { userId, email, groups, permissions: rightsEverywhere(grants), grants }
  const by = { sessionId, apiToken, credential: credential.source, askAgain: null }
  return { ok: true, actor: { ...person, ...by } }
}

/** Replace U+0000, which no stored text holds and which PostgreSQL refuses as a parameter. */
const lookable = (text: string) => text.replaceAll('\0', '\uFFFD')

/** The query of a call: the first of a repeated parameter counts, and each must fit the definition. */
export function checkQuery(
  definition: HttpDefinition,
  query: string,
): { ok: true; query: unknown } | { ok: false; reply: Reply } {
  const values: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(query))
    if (!(name in values)) values[name] = lookable(value)
  const [failure, checked] = validate(values, definition.query, { coerce: true })
  if (failure === undefined) return { ok: true, query: checked }
  const details = { parameter: failure.path.join('.'), expected: failure.type }
  return { ok: false, reply: problem('invalid-query', details) }
}

type SignedInAccess = Access & { kind: 'signed-in' }

const NOBODY: Actor = {
  userId: '',
  email: '',
  groups: [],
  permissions: new Set(),
  grants: [],
  sessionId: '',
  apiToken: null,
  credential: 'bearer',
  askAgain: null,
}

/**
 * Who calls, with the rights that count here: on the workload of the path where the endpoint is about one, else what is
 * held everywhere. Refused where the permission is not held, or not here.
 */
function permit(
  actor: Actor,
  { permission, credential, reach }: SignedInAccess,
  workloadId: string,
  ctx: Context,
): { ok: true; actor: Actor } | { ok: false; reply: Reply } {
  if (credential === 'session' && actor.apiToken !== null)
    return { ok: false, reply: problem('session-required') }
  const labels = reach === 'workload' ? (ctx.fleet.workload(workloadId)?.trustedLabels ?? null) : null
  const here = reach === 'workload' ? { ...actor, permissions: rightsOn(actor.grants, labels) } : actor
  if (permission === null || here.permissions.has(permission)) return { ok: true, actor: here }
  if (!rightsSomewhere(actor.grants).has(permission))
    return { ok: false, reply: lacks(permission, 'forbidden') }
  const isAnywhereEnough = reach !== 'nothing' && reach !== 'workload'
  if (isAnywhereEnough) return { ok: true, actor }
  return { ok: false, reply: lacks(permission, reach === 'nothing' ? 'out-of-scope-of-all' : 'out-of-scope') }
}

/**
 * The actor of an admitted call, whose changes ask in their transactions for the session or token again, and for each
 * permission that let it in, where it must be held. A handler that refuses by itself what lies outside asks by itself
 * again, too.
 */
function askingAgain(
  actor: Actor,
  accesses: readonly SignedInAccess[],
  workloadId: string,
  ctx: Context,
): Actor {
  const [own] = accesses
  if (own === undefined) return actor
  // Whoever changes users, groups or an own token may give right and session away by that very change, once it was asked.
  const takesTurns = own.permission === null || UNSCOPABLE.includes(own.permission)
  let asking = askingForCredential(actor, ctx, { takesTurns })
  for (const access of accesses) {
    const { permission, reach } = access
    if (permission === null || reach === 'handler') continue
    const refuse = (caller: Actor): Reply | null => {
      const again = permit(caller, access, workloadId, ctx)
      if (again.ok) return null
      // Whoever was let in by a right on workloads, and has it nowhere by now, is told the same as for one workload.
      return reach === 'nothing' ? again.reply : lacks(permission, 'out-of-scope')
    }
    asking = alsoAsking(asking, refuse, takesTurns ? 'at-begin' : 'both')
  }
  return asking
}

/** What a call with this body has to be let in by: the access of its endpoint, and what the body also needs. */
function accessesOf({ access, body: spec }: HttpDefinition, body: unknown): SignedInAccess[] {
  if (access.kind === 'public') return []
  const also = spec.kind === 'json' ? spec.also : []
  const asked = also.filter(({ when }) => when === null || (body as Record<string, unknown>)[when] === true)
  return [access, ...asked.map(({ permission, credential }) => ({ ...access, permission, credential }))]
}

/** Who calls, where the definition lets them: by credential, gate and permission, each as it is now. */
async function admit(
  definition: HttpDefinition,
  call: IncomingCall,
  ctx: Context,
): Promise<{ ok: true; actor: Actor } | { ok: false; reply: Reply }> {
  const { access, gate } = definition
  const found =
    access.kind === 'signed-in' ? await authenticate(call, ctx) : { ok: true as const, actor: NOBODY }
  if (!found.ok) return found
  if (gate !== null && !ctx.edition.gates.has(gate))
    return { ok: false, reply: problem('feature-disabled', { feature: gate }) }
  return access.kind === 'signed-in' ? permit(found.actor, access, workloadOf(call), ctx) : found
}

/** The workload that a path names, where it names one. */
const workloadOf = ({ params }: IncomingCall): string => lookable(params['id'] ?? '')

/**
 * Run one HTTP function behind its guards: credential, gate, permission, then parameters and body, and what the body also
 * needs. The function's metadata alone decides. Handlers check nothing of this themselves but what hangs on what is
 * stored: where a reach of `handler` leaves it to them, and whom a shared view or a review asks for more.
 */
export async function callFunction(fn: HttpFunction, call: IncomingCall, ctx: Context): Promise<Reply> {
  const definition = fn as unknown as HttpDefinition
  let admitted = await admit(definition, call, ctx)
  if (!admitted.ok) return admitted.reply
  const asked = Object.fromEntries(Object.entries(call.params).map(([name, text]) => [name, lookable(text)]))
  const [badParams, params] = validate(asked, definition.params, { coerce: true })
  if (badParams !== undefined) return problem('not-found')
  const query = checkQuery(definition, call.query)
  if (!query.ok) return query.reply
  let bytes: Uint8Array | 'too-large' = new Uint8Array()
  if (definition.body.kind !== 'none') {
    const { access } = definition
    if (access.kind === 'signed-in' && !call.holdBodyFor(admitted.actor.userId)) return problem('server-busy')
    const read = await call.body()
    if (read === 'aborted') return problem(call.isOverBudget() ? 'server-busy' : 'request-aborted')
    bytes = read
    // A body can take minutes to arrive: whoever lost session, right or workload meanwhile is not let in any more.
    admitted = await admit(definition, call, ctx)
    if (!admitted.ok) return admitted.reply
  }
  const body = checkBody(definition.body, bytes)
  if (!body.ok) return body.reply
  const accesses = accessesOf(definition, body.body)
  for (const access of accesses) {
    const permitted = permit(admitted.actor, access, workloadOf(call), ctx)
    if (!permitted.ok) return permitted.reply
  }
  const request = {
    params,
    query: query.query,
    body: body.body,
    actor: askingAgain(admitted.actor, accesses, workloadOf(call), ctx),
    sight: sightOf(definition.access, admitted.actor, ctx),
    remoteAddress: call.remoteAddress,
    isSecure: call.isSecure,
    header: call.header,
    target: { path: call.path, query: call.query },
    onGone: call.onGone,
  }
  try {
    return await definition.handle(request, ctx)
  } catch (error) {
    if (error instanceof Refused) return error.reply
    throw error
  }
}
