import type { Struct } from 'superstruct'
import { type } from 'superstruct'
import type { AskAgain } from '../lib/audit/event.ts'
import type { Gate } from '../lib/model/gates.ts'
import type { Permission } from '../lib/model/permissions.ts'
import type { Grant, Scope } from '../lib/model/scopes.ts'
import type { AnyStruct } from '../lib/wire/structs.ts'
import type { Context, OpampContext } from './context.ts'
import type { ProblemCode } from './problems.ts'
import type { Reply } from './reply.ts'

/** Who is calling. Authority is looked up for each request; it never comes from the token. */
export interface Actor {
  userId: string
  email: string
  groups: readonly string[]
  /** What is allowed in this call: on its workload where it is about one, else what is held everywhere. */
  permissions: ReadonlySet<Permission>
  /** All rights, with the scopes that bind them. Only a function that reaches many workloads looks at them. */
  grants: readonly Grant[]
  /** The session, or the API token, that the credential is of. */
  sessionId: string
  /** The name of the API token; null for somebody who is signed in. */
  apiToken: string | null
  /** How the credential arrived; unsafe methods under the cookie also need a fitting Origin. */
  credential: 'bearer' | 'cookie'
  /** Asks again for the permission of the endpoint, in the transaction of whatever is changed in the actor's name. */
  askAgain: AskAgain | null
}

/**
 * Which workloads an endpoint reaches, which decides where its permission must be held:
 * - `nothing`: none, or what belongs to all of them: everywhere.
 * - `workload`: the one that `:id` of its path names: on that one.
 * - `anywhere`: it shows and changes nothing that a scope keeps from others: within any scope.
 * - `filtered`: within any scope, and `handle` leaves out what lies outside, and says how much: `sight` of the request,
 *   which derives from the permission, says of each workload whether it lies within.
 * - `handler`: within any scope, and `handle` refuses what lies outside.
 */
export const REACHES = ['nothing', 'workload', 'anywhere', 'filtered', 'handler'] as const
export type Reach = (typeof REACHES)[number]

/** Who may call an endpoint. There is no default: public is said aloud, with its reason. */
export type Access =
  | { kind: 'public'; reason: string }
  | {
      kind: 'signed-in'
      permission: Permission | null
      /** Where the permission must be held. */
      reach: Reach
      /** `session`: a person must be there, and an API token is not enough. */
      credential: 'any' | 'session'
    }

/** Access for anybody, with the reason why no sign-in is asked for. */
export const publicAccess = (reason: string): Access => ({ kind: 'public', reason })
/** Access that asks for a permission, and says where; or for none. */
interface AskForAccess {
  (): Access
  (permission: Permission | null, reach: Reach): Access
}
/** Access for whoever is signed in, or has an API token, and has the permission; null asks for none. */
export const signedIn: AskForAccess = (permission: Permission | null = null, reach: Reach = 'nothing') => ({
  kind: 'signed-in',
  permission,
  reach,
  credential: 'any',
})
/** As `signedIn`, for what a person must do and no machine may: it takes a session, and no API token. */
export const inPerson: AskForAccess = (permission: Permission | null = null, reach: Reach = 'nothing') => ({
  kind: 'signed-in',
  permission,
  reach,
  credential: 'session',
})

/** The methods that an endpoint can have; a GET answers HEAD as well. */
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]
/** `ANY` answers every method that has no function of its own on that path. */
export type RouteMethod = Method | 'ANY'

/** What a call needs beside the permission of its endpoint, held in the same place. */
export interface AlsoNeeded<Field extends string = string> {
  /** The field of the body that asks for it by being true; null where every call does. */
  when: Field | null
  permission: Permission
  credential: 'any' | 'session'
}

/** How a request's body is read and checked before `handle` sees it. */
export type BodySpec<Body> =
  | { kind: 'none' }
  | {
      kind: 'json'
      struct: Struct<Body, unknown>
      /** A body over this many bytes is 413. */
      bytesMax: number
      /** A body with more values in it, keys not counted, is refused before its schema looks at it. */
      valuesMax: number
      /** The error text of the 400 for anything that is not the expected JSON. */
      invalidText: string
      /** The error text of the 413; null for the general one. */
      tooLargeText: string | null
      /** What an absent body stands for; null when it is an error. */
      whenAbsent: Body | null
      /** Whether bytes after the JSON value are refused (the contract's strict decoder). */
      isStrict: boolean
      also: readonly AlsoNeeded[]
    }
  | {
      kind: 'text'
      bytesMax: number
      /** What a body over the limit and one that is not UTF-8 are answered; the general ones where absent. */
      problems?: { tooLarge: ProblemCode; invalid: ProblemCode }
      /** The JSON that the function itself reads from the text, from `lib/wire`; YAML where absent. */
      json?: AnyStruct
      /** What the text is; YAML where absent. */
      mediaType?: string
    }

/** No body is read. */
export const noBody: BodySpec<undefined> = { kind: 'none' }

/**
 * A JSON body. Of a `type` a null field counts as absent where it takes no null, and unknown fields are ignored. An
 * `object` refuses both: it is for a body where an absent field means more than was meant.
 */
export function jsonBody<Body>(
  struct: Struct<Body, never> | Struct<Body, unknown> | Struct<Body, object>,
  options: {
    bytesMax?: number
    valuesMax?: number
    invalidText?: string
    tooLargeText?: string
    whenAbsent?: Body
    isStrict?: boolean
    also?: readonly AlsoNeeded<keyof Body & string>[]
  } = {},
): BodySpec<Body> {
  return {
    kind: 'json',
    struct: struct as Struct<Body, unknown>,
    bytesMax: options.bytesMax ?? 1_048_576,
    valuesMax: options.valuesMax ?? 10_000,
    invalidText: options.invalidText ?? 'invalid JSON',
    tooLargeText: options.tooLargeText ?? null,
    whenAbsent: options.whenAbsent ?? null,
    isStrict: options.isStrict ?? true,
    also: options.also ?? [],
  }
}

/** A raw text body (config YAML); bytes that are not UTF-8 are 400. */
export const textBody = (options: {
  bytesMax: number
  problems?: { tooLarge: ProblemCode; invalid: ProblemCode }
  json?: AnyStruct
  mediaType?: string
}): BodySpec<string> => ({ kind: 'text', ...options })

/** Which workloads an endpoint shows to whoever calls: those on which the permission of the endpoint is held. */
export interface Sight {
  /** The scopes that it ends at; null where it does not end. */
  scopes: readonly Scope[] | null
  /** Whether a workload lies within; one that is gone lies within no scope. */
  sees(workloadId: string): boolean
}

/** The checked input of one call. */
export interface HttpRequest<Params, Query, Body> {
  params: Params
  query: Query
  body: Body
  /** Whoever is signed in. Public endpoints must not read it. */
  actor: Actor
  /** What the caller is shown. Only `filtered` endpoints end it at a scope. */
  sight: Sight
  /** The peer's address, after trusted proxies. */
  remoteAddress: string
  /** True when the peer, or a trusted proxy in front, speaks TLS. */
  isSecure: boolean
  /** One request header, lower-case name; empty when absent. */
  header(name: string): string
  /** The raw path and query, as sent. */
  target: { path: string; query: string }
  /** Run this when whoever asked leaves before there is an answer. */
  onGone(listener: () => void): void
}

/** Says what a success looks like: for the OpenAPI document, and for the tests, which hold every answer to it. */
export interface ReplySpec {
  status: number
  description: string
  /** The JSON body, from `lib/wire`. */
  json?: AnyStruct
  /** The type of a body that is not JSON; a reply with neither has no body. */
  contentType?: string
}

/** One REST endpoint. Every key is required; the metadata is data and can be listed and tested. */
export interface HttpDefinition<Params = unknown, Query = unknown, Body = unknown> {
  route: `${RouteMethod} /${string}`
  /** One sentence for the OpenAPI document. */
  summary: string
  access: Access
  gate: Gate | null
  params: Struct<Params, unknown>
  query: Struct<Query, unknown>
  body: BodySpec<Body>
  replies: readonly ReplySpec[]
  /** The expected failures `handle` can answer, beside those of the guards. */
  errors: readonly ProblemCode[]
  /**
   * Of a GET that uses up what it is called with: a front sends it to the owner once, and leads the browser to this page
   * where nobody knows whether it was done. Absent for all that may be asked twice.
   */
  doneOnce?: { elsewhere: `/${string}` }
  handle(request: HttpRequest<Params, Query, Body>, ctx: Context): Promise<Reply> | Reply
}

/** A REST endpoint as the loader and the runtime see it. */
export interface HttpFunction extends HttpDefinition<never, never, never> {
  kind: 'http'
}

/** Declare a REST endpoint. */
export function defineHttp<Params, Query, Body>(
  definition: Omit<HttpDefinition<Params, Query, Body>, 'params' | 'query'> & {
    params: Struct<Params, never> | Struct<Params, unknown> | Struct<Params, object>
    query: Struct<Query, never> | Struct<Query, unknown> | Struct<Query, object>
  },
): HttpFunction {
  return { kind: 'http', ...definition } as unknown as HttpFunction
}

/** No path parameters. */
export const noParams = type({})
/** No query parameters are read; unknown ones are ignored, as everywhere. */
export const noQuery = type({})

/** A WebSocket as a socket function sees it. Every method is safe to call after the socket closed. */
export interface Socket {
  /** Counts up from 1 within its listener. */
  readonly id: number
  readonly remoteAddress: string
  /** Whether this process `cut` it, through no fault of its peer. */
  readonly isOurDoing: boolean
  /** 'sent', 'buffered' behind others, or 'dropped' because the peer reads too slowly. */
  send(data: Uint8Array | string): 'sent' | 'buffered' | 'dropped'
  /**
   * Send text messages together until one waits for the peer to read; how many were taken. The others are the caller's
   * to send after `drain`.
   */
  sendTexts(texts: readonly Uint8Array[]): number
  /** Say goodbye with a Close frame. */
  close(code: number, reason: string): void
  /** Cut the connection without a Close frame. */
  drop(): void
  /** The same for a reason of this process alone, as when memory is short: this end says nothing about the peer. */
  cut(): void
}

/** A handshake as `open` sees it, before it is accepted. */
export interface Handshake {
  path: string
  query: string
  remoteAddress: string
  isSecure: boolean
  header(name: string): string
  /** All headers, with the values that `header` gives. */
  headers(): Iterable<readonly [name: string, value: string]>
}

/** What a socket function says to a handshake. */
export type HandshakeVerdict<State> = { accept: true; state: State } | HandshakeRefusal

/** The answer to a handshake that is turned away. */
export interface HandshakeRefusal {
  accept: false
  status: number
  body: string
  headers?: Readonly<Record<string, string>>
}

/** One WebSocket endpoint on one of the two listeners. Callbacks of one socket never overlap. */
export interface SocketDefinition<State, Ctx = Context> {
  listener: 'api' | 'opamp'
  path: `/${string}`
  /** How callers prove who they are; the check itself is in `admit`. */
  access: Access | { kind: 'shared-secret' }
  limits: {
    /** Larger messages are refused with close code 1009; the socket layer cuts at a little more. */
    messageBytesMax(ctx: Ctx): number
    /** See `SocketRoute.waitingBytesMax`. */
    waitingBytesMax(ctx: Ctx): number
    /** Past this many unsent bytes `send` answers 'dropped'. */
    backpressureBytesMax: number
    /** Silence after which the peer is pinged and, without a pong, dropped. 8 to 960 seconds. */
    idleSeconds: number
    /** Drop the connection itself once the backpressure limit is passed. */
    closeOnBackpressure: boolean
  }
  /** Decide about a handshake. Runs before the upgrade; nothing is bound yet. */
  admit(handshake: Handshake, ctx: Ctx): Promise<HandshakeVerdict<State>> | HandshakeVerdict<State>
  /** Runs once, right after the upgrade. */
  open(socket: Socket, state: State, ctx: Ctx): void
  /** Runs for each message. `data` is a copy that the function owns. */
  message(socket: Socket, state: State, data: Uint8Array, isBinary: boolean, ctx: Ctx): void
  /** Runs when the peer has read enough for more to be sent. */
  drain(socket: Socket, state: State, ctx: Ctx): void
  /** Runs once when the connection ended for whatever reason; the socket is already dead. */
  close(socket: Socket, state: State, ctx: Ctx): void
}

/** A WebSocket endpoint as the loader and the runtime see it. */
export interface SocketFunction extends SocketDefinition<never> {
  kind: 'socket'
}

/** Declare a WebSocket endpoint. */
export function defineSocket<State, Ctx = Context>(definition: SocketDefinition<State, Ctx>): SocketFunction {
  return { kind: 'socket', ...definition } as unknown as SocketFunction
}

/** A job that runs again and again; it never overlaps itself and stops on the signal. */
export interface ScheduleDefinition {
  /** Milliseconds from the end of one run to the start of the next. */
  intervalMs(ctx: Context): number
  /** Up to this many milliseconds are added at random, so that fleets of servers do not act at once. */
  jitterMs: number
  run(ctx: Context, signal: AbortSignal): Promise<void>
}

/** A scheduled function as the loader and the runtime see it. */
export interface ScheduleFunction extends ScheduleDefinition {
  kind: 'schedule'
}

/** Declare a scheduled function. */
export function defineSchedule(definition: ScheduleDefinition): ScheduleFunction {
  return { kind: 'schedule', ...definition }
}

/** A plain HTTP endpoint on the OpAMP listener, which has no guards of its own. */
export interface OpampPostDefinition {
  path: `/${string}`
  handle(
    request: {
      header(name: string): string
      remoteAddress: string
      /** 'over-budget' when the process holds too many bytes of bodies already (`Context.opamp.decoding`). */
      body: Uint8Array | 'too-large' | 'over-budget'
    },
    ctx: OpampContext,
  ): Promise<Reply>
  /** Decide from the headers alone, before the body is read; null to go on. */
  refuse(request: { header(name: string): string; remoteAddress: string }, ctx: OpampContext): Reply | null
  bodyBytesMax(ctx: OpampContext): number
}

/** The HTTP side of the OpAMP listener as the loader and the runtime see it. */
export interface OpampPostFunction extends OpampPostDefinition {
  kind: 'opamp-post'
}

/** Declare the HTTP side of the OpAMP listener. */
export function defineOpampPost(definition: OpampPostDefinition): OpampPostFunction {
  return { kind: 'opamp-post', ...definition }
}

/** Whatever a file below `functions/` may export by default. */
export type AnyFunction = HttpFunction | SocketFunction | ScheduleFunction | OpampPostFunction
