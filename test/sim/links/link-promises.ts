import { OWNER_FRESH_MS } from '../../../lib/cluster/timing.ts'
import type { Workload } from '../../../lib/fleet/state/model.ts'
import type { AgentConnection } from '../../../lib/opamp/fleet-port.ts'
import type { AgentReport } from '../../../lib/opamp/report.ts'
import type { Connection } from '../../../lib/store/connection.ts'
import type { SimAgent } from '../agents/sim-agent.ts'
import { fateOf } from '../agents/sim-configs.ts'
import { Rider } from '../agents/socket.ts'
import { Failures } from './failures.ts'
import { Goodbyes } from './goodbyes.ts'
import { KnownAgents } from './known-agents.ts'
import type { LinkedWorld } from './linked-world.ts'
import type { SimFront } from './sim-front.ts'

/** What an owner sent to one agent. */
interface Sent {
  hash: string
  epoch: number
  /** Counts within this workload; one that was deleted and is there again is another one. */
  generation: number
  workload: Workload | null
}

/** The losses of its connection after which a target that was offered a config fails. */
const LOSSES_MAX = 3

/** As late as that a batch comes over a slow link, or over one that stalls and is not cut for it. */
const HEARD_LATE_MS = 7_000
/** How long after a front lost its link, or died, others may still take it for one that has a link. */
const KNOWN_LINKED_MS = 12_000
/** A front says each five seconds whose beats it has answered, and the link takes a while. */
const BEATS_TOLD_MS = 15_000
/** An owner that has other agents of a front than the front itself asks for its list once a minute at most. */
const STRAY_MS = 90_000

/** A connection over a link, as the owner keeps it. */
type OverLink = AgentConnection & { granted: ReadonlySet<string>; link: { memberId: string } }

const isOverLink = (connection: AgentConnection | null | undefined): connection is OverLink =>
  connection != null && 'granted' in connection

/** What fronts and links promise beside what every world does. */
export class LinkPromises {
  readonly goodbyes: Goodbyes
  readonly #failures: Failures
  readonly #world: LinkedWorld
  /** What was sent to each agent, and how far it has received that. */
  readonly #sent = new Map<string, Sent[]>()
  readonly #received = new Map<string, Sent>()
  /** How often each agent lost its connection by its own doing or its network's, and not because a front ended. */
  readonly #losses = new Map<string, number>()

  /** When a front answered a beat of each agent last, and since when the owner has it elsewhere, by front and uid. */
  readonly #absorbedMs = new Map<string, number>()
  readonly #strayedMs = new Map<string, number>()
  readonly #diedMs = new Map<SimFront, number>()

  constructor(world: LinkedWorld) {
    this.#world = world
    this.goodbyes = new Goodbyes(world)
    new KnownAgents(world)
    this.#failures = new Failures(world)
    const { offers } = world.promises
    const sent = offers.sent.bind(offers)
    offers.sent = (process, instance, offer, cause, about) => {
      const epoch = world.services.find(({ name }) => name === process)?.lock.epoch ?? 0
      const list = this.#sent.get(instance.uid) ?? []
      list.push({ hash: offer.hash, epoch, generation: offer.generation, workload: instance.workload })
      this.#sent.set(instance.uid, list)
      this.#checkFresh(process, instance.uid)
      offers.frame(instance.uid, offer.hash, instance.workload?.id ?? '')
      // Of two agents with one uid the owner hears late which spoke last, and so which connection is a new one; of any
      // other one that it has begun anew, perhaps when it has been offered something already.
      const heardMs = about.isShared ? about.nowMs : about.linkedAtMs + HEARD_LATE_MS
      sent(process, instance, offer, cause, { ...about, linkedAtMs: Math.min(heardMs, about.nowMs) })
    }
  }

  /** An owner offers nothing once it has not renewed itself for so long that another one may follow it. */
  #checkFresh(process: string, uid: string): void {
    const { unrenewedMs = 0 } = this.#world.services.find(({ name }) => name === process)?.membership ?? {}
    if (unrenewedMs > OWNER_FRESH_MS)
      this.#world.promises.report(
        `${process} offers ${uid} something ${Math.round(unrenewedMs)} ms after it has renewed itself`,
      )
  }

  /** Count the losses of an agent that are its own. */
  watched(agent: SimAgent): SimAgent {
    const count = () => this.#losses.set(agent.uid, (this.#losses.get(agent.uid) ?? 0) + 1)
    // Of a socket that ends, whoever else was on it loses it as well.
    const lost = agent.linkLost.bind(agent)
    agent.linkLost = (link) => {
      if (!(link instanceof Rider && link.socket.isCutByProcess)) count()
      lost(link)
    }
    for (const act of ['restart', 'stop', 'move'] as const) {
      const does = agent[act].bind(agent) as (...values: never[]) => void
      Object.assign(agent, {
        [act]: (...values: never[]) => {
          count()
          does(...values)
        },
      })
    }
    return agent
  }

  /** An agent has spoken to a front. */
  heard(front: SimFront, report: AgentReport, isPoll: boolean): void {
    this.goodbyes.heard(front, report, isPoll)
    this.#failures.heard(front, report, (uid, hash) => {
      const received = this.#received.get(uid)
      return received?.hash === hash ? received.generation : null
    })
  }

  /** A front has answered a beat by itself: it may not go on where the owner knows the agent to be elsewhere. */
  absorbed(front: SimFront, uid: string): void {
    const world = this.#world
    const nowMs = world.time.clock.monotonicMs()
    this.#absorbedMs.set(uid, nowMs)
    const key = `${front.name}/${uid}`
    const connection = world.service()?.fleet.state.instances.get(uid)?.connection
    const isElsewhere = isOverLink(connection) && connection.link.memberId !== front.name
    if (!isElsewhere || !front.link.isUp) {
      this.#strayedMs.delete(key)
      return
    }
    const sinceMs = this.#strayedMs.get(key) ?? nowMs
    this.#strayedMs.set(key, sinceMs)
    if (nowMs - sinceMs > STRAY_MS)
      world.promises.report(`${front.name} answers beats of ${uid}, which is at ${connection.link.memberId}`)
  }

  /** A front sends its agents elsewhere: another one must have a link, or have had one a moment ago. */
  sentElsewhere(front: SimFront): void {
    const { everyFront, time, promises } = this.#world
    const nowMs = time.nowMs
    const hasLink = (other: SimFront) =>
      other.isDead
        ? nowMs - (this.#diedMs.get(other) ?? 0) < KNOWN_LINKED_MS
        : other.link.downMs < KNOWN_LINKED_MS
    if (!everyFront.some((other) => other !== front && hasLink(other)))
      promises.report(`${front.name} sends its agents elsewhere, where nobody else has a link either`)
  }

  /** A front is gone. */
  died(front: SimFront): void {
    this.#diedMs.set(front, this.#world.time.nowMs)
  }

  /** An offer has reached an agent: none from before a newer one may follow it. */
  arrived(uid: string, hash: string): void {
    const last = this.#received.get(uid)
    const sent = this.#sent.get(uid)?.findLast((one) => one.hash === hash)
    if (sent === undefined) {
      this.#world.promises.report(`${uid} received ${hash}, which no owner sent to it`)
      return
    }
    if (last !== undefined && sent.epoch < last.epoch)
      this.#world.promises.report(
        `${uid} received an offer of epoch ${sent.epoch} after one of ${last.epoch}`,
      )
    // When a rollout ends, its members go back to a lower generation: then that is what was sent last.
    const isOlder = last !== undefined && this.#wasSentBefore(uid, sent, last)
    if (isOlder && sent.workload === last.workload && sent.generation < last.generation)
      this.#world.promises.report(
        `${uid} received an offer of generation ${sent.generation} after one of ${last.generation}`,
      )
    this.#received.set(uid, sent)
  }

  #wasSentBefore(uid: string, one: Sent, other: Sent): boolean {
    const list = this.#sent.get(uid) ?? []
    return list.indexOf(one) < list.indexOf(other)
  }

  /** At rest every front has told all it knows, each agent is at one place, and no target failed without a cause. */
  async checkAtRest(watcher: Connection): Promise<void> {
    const { report } = this.#world.promises
    const listed = new Map(
      this.#world
        .linksAtOwner()
        ?.list()
        .map((facts) => [facts.memberId, facts]),
    )
    for (const { name, agents, link } of this.#world.fronts) {
      const { waiting, unconfirmed, agents: count } = agents.counts
      if (!link.isUp) report(`${name} has no link`)
      if (waiting + unconfirmed > 0)
        report(`${name} still has ${waiting} to tell and ${unconfirmed} unconfirmed`)
      const known = listed.get(name)?.agents
      if (known !== count) report(`${name} has ${count} agents, and the owner knows ${known} there`)
    }
    this.#checkGrants()
    await this.#checkTexts(watcher)
    const rows = await watcher.query<{ uid: string; hash: string; cause: string | null }>(
      `select t.instance_uid as uid, p.config_hash as hash, t.cause from push_targets t join pushes p using (push_id)
       where t.state = 'failed'`,
    )
    for (const { uid, hash, cause } of rows) this.#checkFailure(uid, hash, cause)
    const counted = await watcher.query<{ uid: string; losses: number }>(
      `select instance_uid as uid, max(losses)::int as losses from push_targets where losses > 0 group by 1`,
    )
    for (const { uid, losses } of counted) this.#checkLosses(uid, losses)
  }

  /** What agents run can be read, whoever has stored it. */
  async #checkTexts(watcher: Connection): Promise<void> {
    const { instances } = this.#world.service()!.fleet.state
    const hashes = new Set([...instances.values()].map(({ reportedConfigHash }) => reportedConfigHash))
    hashes.delete('')
    const stored = await watcher.query<{ hash: string }>(
      'select hash from reported_configs where hash = any($1)',
      [[...hashes]],
    )
    for (const { hash } of stored) hashes.delete(hash)
    for (const hash of hashes)
      this.#world.promises.report(`the text of the effective config ${hash.slice(0, 6)} is missing`)
  }

  /** No loss is counted that was the doing of a front, as where it sent its agents elsewhere. */
  #checkLosses(uid: string, losses: number): void {
    const agent = this.#world.agents.find((one) => one.uid === uid)
    // How long an agent that polls may be silent is not decided by its connection.
    if (agent === undefined || agent.nature.transport === 'http') return
    const own = this.#losses.get(uid) ?? 0
    if (losses > own)
      this.#world.promises.report(`${uid} is counted as lost ${losses} times, of which ${own} were its own`)
  }

  /** Beats are left to the front that has the agent, and the owner hears of them. */
  #checkGrants(): void {
    const { promises, time } = this.#world
    const { fleet } = this.#world.service()!
    const { instances } = fleet.state
    const nowMs = time.clock.monotonicMs()
    for (const { uid, connection, lastSaidMs } of instances.values()) {
      if (!isOverLink(connection)) continue
      for (const granted of connection.granted)
        if (instances.get(granted)?.connection !== connection)
          promises.report(`${granted} is left to ${connection.link.memberId}, which does not have it`)
      const beatMs = this.#absorbedMs.get(uid) ?? 0
      if (beatMs < nowMs - BEATS_TOLD_MS && lastSaidMs < beatMs)
        promises.report(
          `${uid} was heard by its front ${Math.round(beatMs - lastSaidMs)} ms after the owner's last news`,
        )
    }
  }

  /** A front's death, and every other end of a link, fails no target. */
  #checkFailure(uid: string, hash: string, cause: string | null): void {
    const agent = this.#world.agents.find((one) => one.uid === uid)
    if (agent === undefined || cause !== 'lost_while_applying') return
    const own = this.#losses.get(uid) ?? 0
    const isExcused = fateOf(this.#world.body(hash), agent.nature.index) !== 'works' || own >= LOSSES_MAX
    if (!isExcused)
      this.#world.promises.report(`${uid} failed ${hash.slice(0, 6)} by losses, of which ${own} were its own`)
  }
}
