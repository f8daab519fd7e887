import { afterEach, beforeEach } from 'vitest'
import { type FrontEntry, readOwnerBatch, writeBatch } from '../../lib/links/frames.ts'
import { FrontAgents } from '../../lib/links/front-agents.ts'
import { LINK_VERSIONS } from '../../lib/links/link-versions.ts'
import { OwnerLinks } from '../../lib/links/owner-links.ts'
import { silentLog } from '../../lib/log.ts'
import { decodeBody, decodeFrame, messageOf } from '../../lib/opamp/codec.ts'
import { createOpampExchange } from '../../lib/opamp/exchange.ts'
import type { AgentConnection } from '../../lib/opamp/fleet-port.ts'
import type { ServerMessage } from '../../lib/opamp/report.ts'
import { createFleetContext, type FleetTestContext } from './fleet.ts'
import { checkSaid } from './link-shapes.ts'
import { agentBody, agentFrame, type PlainMessage, uidBytes } from './opamp-messages.ts'
import type { TestDatabase } from './postgres.ts'

/** Texts of configs, all of them at hand. */
export const TEXTS_AT_HAND = { at: () => Buffer.from(''), find: async () => Buffer.from('') }

const NOTHING_STORED = { reportedConfig: () => true, hasRoomForConfigs: true } as never

/** The uid of agent `n`. */
export const uidOf = (n: number): string => Buffer.from(uidBytes(n)).toString('hex')

/** An owner, and a front with its agents. */
type Owner = ReturnType<typeof openOwner>
export type LinkedFront = ReturnType<typeof openFront>
export type FrontLink = ReturnType<LinkedFront['link']>

/** What a front is opened with. */
interface FrontOptions {
  pollsMax?: number
  texts?: object
  /** Stores what was read of effective configs; none is stored where this is absent. */
  reported?: ConstructorParameters<typeof FrontAgents>[0]['reported']
  normalise?: ConstructorParameters<typeof FrontAgents>[0]['normalise']
}

/** Owners of the fleet of one database and fronts with agents, for tests of what passes between them. */
export function useLinkedFleet(database: TestDatabase) {
  let ctx: FleetTestContext
  let owner: Owner | null = null
  const textsGone = (hashes: readonly string[]) => owner?.links.forgetTexts(hashes)
  const open = (epoch: number): Owner => {
    owner = openOwner(ctx, epoch)
    return owner
  }
  beforeEach(async () => {
    ctx = await createFleetContext(database, { textsGone })
  })
  afterEach(async () => {
    await ctx.close()
    await database.pool.execute('delete from workloads')
  })
  return {
    /** The process that decides, with its clock. */
    get ctx(): FleetTestContext {
      return ctx
    },
    instanceOf: (n: number) => ctx.fleet.state.instances.get(uidOf(n)),
    openOwner: (epoch = 1) => open(epoch),
    openFront: (name: string, options: FrontOptions = {}) => openFront(ctx, name, options),
    /** Another owner, which knows of the fleet what is stored. */
    async takeOver(epoch: number): Promise<Owner> {
      await ctx.fleet.writer.flush()
      await ctx.close()
      ctx = await createFleetContext(database, { textsGone, clock: ctx.clock })
      return open(epoch)
    },
  }
}

function openOwner({ clock, timers, fleet }: FleetTestContext, epoch: number) {
  const exchange = createOpampExchange({ fleet, clock, log: silentLog, messageBytesMax: 1_048_576 })
  return {
    epoch,
    links: new OwnerLinks({ fleet, exchange, epoch, mayAct: () => true, clock, timers, log: silentLog }),
  }
}

/** A front with agents on it, whose link to an owner a test opens and breaks. */
function openFront(
  { clock, timers }: FleetTestContext,
  name: string,
  { pollsMax, texts = TEXTS_AT_HAND, reported = NOTHING_STORED, normalise = async () => null }: FrontOptions,
) {
  const agents = new FrontAgents({
    clock,
    timers,
    texts: texts as never,
    reported,
    normalise,
    ...(pollsMax !== undefined && { pollsMax }),
  })
  const connections = new Map<number, AgentConnection>()
  /** What each agent was told, by answers and otherwise. */
  const told: { uid: string; message: ServerMessage }[] = []
  const say = (conn: number, n: number, sequenceNum: number, more: PlainMessage = {}) => {
    const connection = connections.get(conn) ?? {
      id: conn,
      transport: 'ws' as const,
      send: () => 'sent' as const,
      tell: (uidOnWire, message) => {
        told.push({ uid: Buffer.from(uidOnWire).toString('hex'), message })
        return 'sent' as const
      },
      drop: () => undefined,
    }
    connections.set(conn, connection)
    const frame = agentFrame({ instanceUid: uidBytes(n), sequenceNum, capabilities: 0x1003, ...more })
    const intake = decodeFrame(frame)
    if (!intake.ok) throw new Error(intake.code)
    const { message } = agents.receive(connection, intake.report, { message: messageOf(frame) })
    told.push({ uid: uidOf(n), message })
  }
  /** A poll of agent `n`. Its answer is that of the owner, or after a second that of the front. */
  const poll = (n: number, sequenceNum: number, more: PlainMessage = {}) => {
    const body = agentBody({ instanceUid: uidBytes(n), sequenceNum, capabilities: 0x1003, ...more })
    const intake = decodeBody(body)
    if (!intake.ok) throw new Error(intake.code)
    const connection: AgentConnection = { id: -1, transport: 'http', send: () => 'dropped', drop() {} }
    const about = { message: body, poll: { source: '10.0.0.1', digest: `${n}/${sequenceNum}` } }
    return agents.receive(connection, intake.report, about).pendingOffer!
  }
  return {
    agents,
    connections,
    told,
    /** The agents that were asked for their full state. */
    asked: () => told.filter(({ message }) => message.reportFullState === true).map(({ uid }) => uid),
    say,
    poll,
    close: (conn: number) => agents.connectionClosed(connections.get(conn)!),
    /** Open a link. `break` ends it at both ends; `losing` ends what is said on it from then on on its way. */
    link({ epoch, links }: Owner, version = LINK_VERSIONS.newest) {
      const said: FrontEntry[] = []
      let isLosing = false
      let answers = true
      let held: string[] | null = null
      let late: string[] | null = null
      const atOwner = links.open(
        {
          send(text) {
            checkSaid(version, 'owner', text)
            if (held !== null) held.push(text)
            else if (answers) agents.take(readOwnerBatch(text))
            return true
          },
          drop: () => undefined,
        },
        name,
        version,
      )
      const out = {
        version,
        epoch,
        send(entry: FrontEntry) {
          said.push(entry)
          const text = writeBatch({ cell: 0, epoch, atMs: clock.monotonicMs(), entries: [entry] })
          checkSaid(version, 'front', text)
          if (isLosing) return
          if (late === null) atOwner.take(text)
          else late.push(text)
        },
      }
      agents.linked(out)
      return {
        said,
        losing() {
          isLosing = true
        },
        mute() {
          answers = false
        },
        /** Let what the owner says wait on its way until `deliver`. */
        hold() {
          held = []
        },
        deliver() {
          const waiting = held ?? []
          held = null
          for (const text of waiting) agents.take(readOwnerBatch(text))
        },
        /** Let what the front says wait on its way until `catchUp`. */
        delay() {
          late = []
        },
        catchUp() {
          const waiting = late ?? []
          late = null
          for (const text of waiting) atOwner.take(text)
        },
        break() {
          answers = false
          isLosing = true
          agents.unlinked(out)
          atOwner.closed()
        },
      }
    },
  }
}
