import { namespaceOrHostOf, placeOf } from '../../../lib/model/places.ts'
import type { ErrorBody } from '../../../lib/wire/errors.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import type { Arguments, ClientIo, Option } from '../command.ts'
import { CommandFailure, EXIT, NoAnswer, WrongArguments } from '../exit-codes.ts'
import { toLine } from '../output.ts'
import { readCredentials } from './credentials.ts'
import { type Answer, openHttp, readServiceUrl } from './http.ts'
import { nearOnes } from './near-names.ts'

/** The option of every command that calls a service. */
export const URL_OPTION: Option = {
  name: '--url',
  value: 'URL',
  says: 'the service; else MUSTER_URL, else the last login',
}

/**
 * The REST API of a service, called with one token. Its methods throw ServiceRefusal for an error that the service
 * describes, and CommandFailure for any other failure.
 */
export interface Api {
  url: string
  /** Read something, and wait for it so long at most; a minute where that is absent. */
  get<Body>(path: string, waitMs?: number): Promise<Body>
  post<Body>(path: string, body?: unknown): Promise<Body>
  delete(path: string): Promise<void>
}

/**
 * The service's URL: from `--url`, else MUSTER_URL, else of the last login. Throws WrongArguments where none of them
 * says.
 */
export async function chooseUrl(args: Arguments, io: ClientIo): Promise<string> {
  const given = args.text('url') ?? (io.env['MUSTER_URL'] || (await readCredentials(io.env)).current)
  if (!given) throw new WrongArguments('say which service: --url, MUSTER_URL, or muster login before')
  return readServiceUrl(given)
}

/**
 * The API of the chosen service, with the token of MUSTER_TOKEN or else of the login there. Throws CommandFailure
 * without one.
 */
export async function openApi(args: Arguments, io: ClientIo): Promise<Api> {
  const url = await chooseUrl(args, io)
  const token = io.env['MUSTER_TOKEN']?.trim() || (await readCredentials(io.env)).tokens[url]
  if (!token) throw new CommandFailure(`not signed in to ${url}: muster login, or set MUSTER_TOKEN`)
  return openApiWith(url, token, io)
}

/** The API of a service with this token. Throws CommandFailure where it has characters that no token has. */
export function openApiWith(url: string, token: string, io: ClientIo): Api {
  if (/[^\x21-\x7e]/.test(token)) throw new CommandFailure('the token holds characters that no token has')
  return callApi(url, token, io)
}

/** The API of a service without a token, for a sign-in. */
export const openApiAsNobody = (url: string, io: ClientIo): Api => callApi(url, null, io)

function callApi(url: string, token: string | null, io: ClientIo): Api {
  const call = openHttp(url, token, io.env)
  const read = async <Body>(method: string, path: string, body?: unknown, waitMs?: number) => {
    const answer = await call(method, path, body, waitMs)
    if (answer.status < 200 || answer.status > 299) throw refusal(answer, url, token !== null)
    return parse<Body>(answer, url, method)
  }
  return {
    url,
    get: (path, waitMs) => read('GET', path, undefined, waitMs),
    post: (path, body = {}) => read('POST', path, body),
    delete: async (path) => void (await read('DELETE', path)),
  }
}

/** What a call answers is an object or a list; only a change may answer nothing. */
function parse<Body>({ text, status }: Answer, url: string, method: string): Body {
  if (text === '' && status === 204 && method !== 'GET') return undefined as Body
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = null
  }
  if (typeof value !== 'object' || value === null) throw new NoAnswer(`${url} does not answer as muster does`)
  return value as Body
}

/**
 * The service answered with an error and said which. Only where the call itself was refused is the exit code
 * EXIT.refused.
 */
export class ServiceRefusal extends CommandFailure {
  readonly status: number
  /** The code on the wire; absent where the reply has none and its status alone says why, as with 403. */
  readonly code: string | undefined

  constructor(message: string, exitCode: number, { status, code }: { status: number; code?: string }) {
    super(message, exitCode)
    this.status = status
    this.code = code
  }

  /** The service cannot answer now, and may later. */
  get isForNow(): boolean {
    return isForNow(this.status)
  }
}

/**
 * Of a call about one of several things: whether it alone was refused, or is not there any more, so that the others can
 * go on. Such a failure is told beside them; any other ends the command.
 */
export const refusesThisOne = (error: unknown): error is CommandFailure =>
  error instanceof CommandFailure &&
  (error.exitCode === EXIT.refused || (error instanceof ServiceRefusal && error.status === 404))

/** Whether a status says that the same call may succeed later: too many calls, or a service that is away. */
const isForNow = (status: number): boolean => status === 429 || status >= 500

/** Whether a call failed because the service is away for now, as it is while another process takes over. */
export const isAway = (error: unknown): boolean =>
  error instanceof NoAnswer || (error instanceof ServiceRefusal && error.isForNow)

/** So often, and for so long, a call is made again. */
const TRIES_MAX = 30
const PATIENCE_MS = 30_000
const PAUSE_MS = 1_000

/**
 * The API, which asks again each second for half a minute where the service is away, as it is while another process
 * takes over. For calls that do the same once more as once.
 */
export function patient(api: Api): Api {
  const again = async <Body>(call: () => Promise<Body>): Promise<Body> => {
    const endMs = performance.now() + PATIENCE_MS
    for (let tries = 0; ; tries++)
      try {
        return await call()
      } catch (error) {
        const isOver = tries === TRIES_MAX || performance.now() > endMs
        if (!isAway(error) || isFull(error) || isOver) throw error
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
  }
  return {
    url: api.url,
    get: (path, waitMs) => again(() => api.get(path, waitMs)),
    post: (path, body) => again(() => api.post(path, body)),
    delete: (path) => api.delete(path),
  }
}

/** Whether no further campaign is planned for now; whoever plans one waits for that longer. */
const isFull = (error: unknown): boolean =>
  error instanceof ServiceRefusal && (error.code ?? '').startsWith('plans_too_many')

/** Whether the call itself was refused, as against a service that is away or a caller who is not signed in. */
const isRefusal = (status: number, { code, validation_errors: errors }: Partial<ErrorBody>) =>
  status === 403 ||
  status === 409 ||
  status === 410 ||
  status === 413 ||
  (status === 400 && (code !== undefined || errors !== undefined))

/** What to do where the service does not know who calls. */
const sayRefusedToken = (hasToken: boolean): string =>
  hasToken
    ? 'the token was refused: it is wrong, has expired or was revoked; muster login again, or set another MUSTER_TOKEN'
    : 'sign in: muster login, or set MUSTER_TOKEN'

function refusal(answer: Answer, url: string, hasToken: boolean): CommandFailure {
  let body: Partial<ErrorBody> = {}
  try {
    body = JSON.parse(answer.text) as Partial<ErrorBody>
  } catch {
    const message = `${url} answered with status ${answer.status}`
    return isForNow(answer.status) ? new NoAnswer(message) : new CommandFailure(message)
  }
  const { error = `status ${answer.status}`, code, validation_errors: errors = [] } = body
  const about = code === undefined ? error : `${error} (${code})`
  const lines = [
    answer.lacking === '' ? about : `${about}: ${sayLacking(answer.lacking, code)}`,
    ...errors.map(({ message, path }) => (path ? `${path}: ${message}` : message)),
    ...(answer.status === 401 ? [sayRefusedToken(hasToken)] : []),
    ...(code === 'session_required' ? [`somebody does this in a browser, signed in to ${url}`] : []),
  ]
  const exitCode = isRefusal(answer.status, body) ? EXIT.refused : EXIT.error
  return new ServiceRefusal(lines.map(toLine).join('\n  '), exitCode, {
    status: answer.status,
    ...(code === undefined ? {} : { code }),
  })
}

/** Which permission the caller lacks, and where: anywhere at all, or only there. */
const sayLacking = (permission: string, code: string | undefined): string =>
  code === 'out_of_scope'
    ? `${permission} is needed on all that this reaches`
    : `${permission} is needed, and the token or the groups of its account do not give it`

/** Candidates that an error names. */
const CANDIDATES_MAX = 10

/** A workload as the console writes it: its place and its name. */
const inPlace = ({ display_name: name }: WorkloadRecord, place: string): string =>
  place === '' ? name : `${place}/${name}`

/**
 * The workload with this id, or with this name, or in this place (host, or namespace with or without its cluster), or with
 * this name in this place (`eu-1/shop/gateway`), if only one is. Throws CommandFailure where none or several fit.
 */
export async function findWorkload(api: Api, named: string): Promise<WorkloadRecord> {
  const all = await api.get<WorkloadRecord[]>('/api/workloads')
  const ways: ((workload: WorkloadRecord) => string)[] = [
    ({ display_name: name }) => name,
    (workload) => placeOf(workload.fingerprint_keys ?? {}),
    (workload) => namespaceOrHostOf(workload.fingerprint_keys ?? {}),
    (workload) => inPlace(workload, placeOf(workload.fingerprint_keys ?? {})),
    (workload) => inPlace(workload, namespaceOrHostOf(workload.fingerprint_keys ?? {})),
  ]
  const byId = all.find(({ id }) => id === named)
  if (byId !== undefined) return byId
  // An agent says its own name and place: one that calls itself as others are called must not be taken for them.
  const [first, ...others] = all.filter((workload) => ways.some((way) => way(workload) === named))
  if (first !== undefined && others.length === 0) return first
  if (first !== undefined) {
    const found = [first, ...others]
    const listed = found
      .slice(0, CANDIDATES_MAX)
      .map((one) => `${inPlace(one, placeOf(one.fingerprint_keys ?? {}))} (id ${one.id})`)
    const more = found.length - listed.length
    throw new CommandFailure(
      `${found.length} workloads are called "${named}": say one of ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    )
  }
  const near = nearOnes(named, all)
  const meant = near.length === 0 ? '' : `; near to it: ${near.join(', ')}`
  throw new CommandFailure(`no workload is called "${named}"${meant} (muster get workloads lists all)`)
}
