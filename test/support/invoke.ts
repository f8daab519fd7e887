import { systemWebhookNetwork } from '../../lib/alerts/webhook-client.ts'
import type { Passwords } from '../../lib/identity/passwords.ts'
import { openTokens } from '../../lib/identity/sessions/tokens.ts'
import { uuidv7 } from '../../lib/ids.ts'
import { DIRECT } from '../../lib/outbound/proxy.ts'
import type { Database } from '../../lib/store/db.ts'
import { findGroups, replaceUserGroups } from '../../lib/store/groups.ts'
import { insertSession } from '../../lib/store/sessions.ts'
import { insertUser, noteLogin } from '../../lib/store/users.ts'
import { compose, type Ground } from '../../runtime/compose.ts'
import type { Config } from '../../runtime/config.ts'
import type { Context } from '../../runtime/context.ts'
import type { HttpFunction } from '../../runtime/define.ts'
import { createCommunityEdition } from '../../runtime/editions.ts'
import { callFunction } from '../../runtime/guards.ts'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'
import { buildOpenApi } from '../../runtime/openapi.ts'
import type { Reply } from '../../runtime/reply.ts'
import { createRouter } from '../../runtime/router.ts'
import { createContract } from './contract.ts'
import { type FakeClock, fakeClock, type RecordingLog, recordingLog, seededRandom } from './fakes.ts'
import { manualTimers } from './manual-timers.ts'
import type { TestDatabase } from './postgres.ts'
import { testWorkerUrl } from './workers.ts'

/** The settings of the service in tests. */
export const TEST_CONFIG: Config = {
  jwtSecret: 'a-test-secret-of-at-least-32-characters',
  databaseDsn: 'postgres://unused',
  databaseMaxOpen: 12,
  databaseMaxIdle: 10,
  databaseIdleTimeoutMs: 300_000,
  databaseLifetimeMs: 1_800_000,
  listenAddress: '127.0.0.1:0',
  opampAddress: '127.0.0.1:0',
  opampSharedSecret: '',
  opampMessageBytesMax: 16_777_216,
  socketLimits: { inAll: 20_000, perAddress: 20_000 },
  corsOrigins: ['http://localhost:5173'],
  cookieOrigins: [],
  seedAdmin: null,
  publicUrl: '',
  agentUrl: '',
  oidc: null,
  onlyPasswordLogin: null,
  webhookUrl: '',
  outboundProxies: DIRECT,
  minAgentVersion: '',
  disconnectGraceMs: 120_000,
  retentionDays: 30,
  janitorIntervalMs: 300_000,
  eventRetentionDays: 30,
  archiveDays: 90,
  alertRetentionDays: 90,
  runtimeValidation: {
    isEnabled: false,
    binaryPath: 'otelcol',
    searchPath: '',
    timeoutMs: 5_000,
    minVersion: '',
  },
  policy: { otlpAllowlist: [], criticalExporters: [], requiredResourceAttributes: [] },
  metricsAddress: '',
  healthAddress: '',
  trustedProxies: [],
  cluster: null,
  edition: 'community',
}

/** A context over a test database, whose clock and log a test can use. */
export interface TestContext extends Context {
  clock: FakeClock
  log: RecordingLog
  /** Argon2id in its worker thread, which `close` ends. */
  passwords: Passwords
  close(): Promise<void>
}

/** The parts of a context that a test may replace. `edition` also decides the gates and the audit sink. */
export interface TestContextOptions extends Partial<Omit<Context, 'config' | 'clock' | 'db' | 'log'>> {
  /** The database that the audited database of the context writes to. */
  db?: Database
  config?: Partial<Config>
  clock?: FakeClock
}

// Counts the contexts of one test file, so that each makes ids of its own, which are the same on each run.
let contexts = 0

/** The parts of a process's ground that a test may replace. */
export interface TestGround
  extends Pick<Ground, 'readConfigs' | 'agentLimits' | 'overhear'>,
    Partial<Pick<Ground, 'timers' | 'mayOffer' | 'hears' | 'busyMs' | 'textsGone'>> {}

/**
 * Make a context as the service does, with a fake clock. Its fleet is empty and not started; see `createFleetContext`.
 */
export function createTestContext(
  database: TestDatabase,
  options: TestContextOptions = {},
  ground: TestGround = {},
): TestContext {
  const clock = options.clock ?? fakeClock()
  const log = recordingLog()
  const config = { ...TEST_CONFIG, ...options.config }
  const { ctx, passwords, closeWorkers } = compose({
    config,
    clock,
    log,
    db: options.db ?? database.pool,
    edition: options.edition ?? createCommunityEdition(),
    random: options.random ?? seededRandom(++contexts),
    timers: ground.timers ?? manualTimers(clock),
    running: { version: '1.2.3', nodeVersion: process.versions.node, startedAt: clock.now() },
    readiness: { ping: async () => true },
    databaseStatistics: () => database.pool.statistics(),
    cluster: null,
    network: systemWebhookNetwork,
    mayOffer: () => true,
    hears: () => true,
    busyMs: () => 0,
    openApi: () => OPEN_API_TEXT,
    workerUrl: testWorkerUrl,
    threads: { password: 1, report: 1 },
    ...ground,
  })
  const { db: _, ...replaced } = options
  return { ...ctx, ...replaced, config, clock, log, passwords, close: closeWorkers }
}

/** The answer that `invoke` got. */
export interface Answer {
  status: number
  headers: Readonly<Record<string, string>>
  cookies: readonly string[]
  text: string
  /** The parsed body. */
  json: unknown
}

/** A call of the API, apart from its method and path. */
export interface Call {
  /** The token of the caller; see `signIn`. */
  as?: string
  /** The body: an object is sent as JSON, a string or bytes as they are. */
  body?: unknown
  headers?: Record<string, string>
  remoteAddress?: string
  isSecure?: boolean
  /** What happens between the head of the request and the end of its body. */
  whileSending?: () => Promise<unknown>
  /** Is given what is to run when the caller leaves before there is an answer. */
  whenGone?: (listener: () => void) => void
}

const functions = loadFunctions(FUNCTIONS)
const route = createRouter(functions.http)
const OPEN_API = buildOpenApi(functions.http, 'test')
const OPEN_API_TEXT = JSON.stringify(OPEN_API)
const contract = createContract(OPEN_API)

/**
 * Check an answer that came over a real socket against the OpenAPI document. Paths that belong to no function are not
 * checked.
 */
export function checkAnswer(
  method: string,
  path: string,
  answer: { status: number; headers: Readonly<Record<string, string>>; json: unknown },
): void {
  const match = route(method, path)
  if (match.kind === 'function') contract.check(match.function, answer)
}

/** Call a function the way the listener does, behind its guards: `invoke(ctx, 'GET /api/users?limit=2', { as })`. */
export async function invoke(ctx: Context, request: string, call: Call = {}): Promise<Answer> {
  const [method = '', target = ''] = request.split(' ')
  const [path = '', query = ''] = target.split('?')
  const match = route(method, path)
  if (match.kind !== 'function') throw new Error(`no function answers ${request}: ${match.kind}`)
  const headers: Record<string, string> = call.as
    ? { authorization: `Bearer ${call.as}`, ...call.headers }
    : { ...call.headers }
  const body = toBytes(call.body)
  const definition = match.function.definition
  const limit = (definition.body as { bytesMax?: number }).bytesMax ?? 0
  const looked = seeingWhoLooks(definition)
  const reply = await callFunction(
    looked.definition,
    {
      method,
      path,
      query,
      params: match.params,
      remoteAddress: call.remoteAddress ?? '192.0.2.1',
      isSecure: call.isSecure ?? false,
      header: (name) => headers[name] ?? '',
      isOverBudget: () => false,
      holdBodyFor: () => true,
      onGone: (listener) => call.whenGone?.(listener),
      body: async () => {
        await call.whileSending?.()
        return body.length > limit ? 'too-large' : body
      },
    },
    ctx,
  )
  const answer = await toAnswer(reply)
  contract.check(match.function, answer)
  if (answer.status < 300 && looked.hasIgnored())
    throw new Error(`${match.function.id} showed something without a look at \`sight\`: it ends at a scope`)
  return answer
}

/**
 * The function, and whether it was called by somebody whose sight ends at a scope and never asked where it ends: then it
 * shows what lies outside as well.
 */
function seeingWhoLooks(definition: HttpFunction) {
  let [mustLook, hasLooked] = [false, false]
  const looking: HttpFunction = {
    ...definition,
    handle(request, ctx) {
      const { sight } = request
      mustLook = sight.scopes !== null
      const seen = {
        get scopes() {
          hasLooked = true
          return sight.scopes
        },
        get sees() {
          hasLooked = true
          return sight.sees
        },
      }
      return definition.handle({ ...request, sight: seen }, ctx)
    },
  }
  return { definition: looking, hasIgnored: () => mustLook && !hasLooked }
}

function toBytes(body: unknown): Uint8Array {
  if (body === undefined) return new Uint8Array()
  if (body instanceof Uint8Array) return body
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
}

async function toAnswer(reply: Reply): Promise<Answer> {
  const parts: Buffer[] = []
  const { body } = reply
  if (typeof body === 'string' || body instanceof Uint8Array) parts.push(Buffer.from(body as string))
  else if (body) for await (const part of body) parts.push(Buffer.from(part as string))
  const text = Buffer.concat(parts).toString('utf8')
  const isJson = reply.headers['Content-Type'] === 'application/json'
  return {
    status: reply.status,
    headers: reply.headers,
    cookies: reply.cookies ?? [],
    text,
    json: isJson ? JSON.parse(text) : undefined,
  }
}

/** A user made for a test, signed in. */
export interface SignedIn {
  token: string
  userId: string
  email: string
  sessionId: string
  askAgain: null
}

/** Make a user with these groups and a session, without Argon2id: nobody can log in as it with a password. */
export async function signIn(
  ctx: Context,
  user: { email?: string; groups?: readonly string[] } = {},
): Promise<SignedIn> {
  const now = ctx.clock.now()
  const userId = uuidv7(now, ctx.random)
  const { email = `${userId}@example.com`, groups: names = ['administrator'] } = user
  const groups = await findGroups(ctx.db, names)
  await insertUser(ctx.db, {
    id: userId,
    email,
    emailKey: email.toLowerCase(),
    passwordHash: '!',
    createdAt: now,
  })
  await replaceUserGroups(
    ctx.db,
    userId,
    groups.map((group) => group.id),
  )
  return addSession(ctx, { userId, email })
}

/** The ids of the sessions and API tokens whose sockets are closed from now on, in a list that grows. */
export function hearEndedSessions({ hub }: Pick<Context, 'hub'>): string[] {
  const ended: string[] = []
  const close = hub.endSessions.bind(hub)
  hub.endSessions = (sessionIds) => {
    ended.push(...sessionIds)
    close(sessionIds)
  }
  return ended
}

/** One more session of a user. */
export async function addSession(ctx: Context, user: { userId: string; email: string }): Promise<SignedIn> {
  const now = ctx.clock.now()
  const sessionId = uuidv7(now, ctx.random)
  const tokens = openTokens(ctx.config.jwtSecret, ctx.clock)
  const login = { userId: user.userId, email: user.email, groups: [], sessionId, issuedAt: now }
  const { token, expiresAt } = await tokens.sign(login)
  await insertSession(ctx.db, { id: sessionId, userId: user.userId, createdAt: now, expiresAt })
  return { token, userId: user.userId, email: user.email, sessionId, askAgain: null }
}

/** An API token of somebody who is signed in, with these permissions; the holder counts as having signed in now. */
export async function makeApiToken(
  ctx: Context,
  holder: SignedIn,
  permissions: readonly string[] = [],
): Promise<{ id: string; token: string }> {
  const now = ctx.clock.now()
  await noteLogin(ctx.db, holder.userId, '!', now)
  const expiresAt = new Date(now.getTime() + 90 * 86_400_000)
  const asked = { name: 'machine', permissions, expiresAt }
  const outcome = await ctx.identity.apiTokens.create(holder, holder.userId, asked)
  if (!outcome.ok) throw new Error(`no token: ${outcome.code}`)
  return { id: outcome.token.id, token: outcome.secret }
}
