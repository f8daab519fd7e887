import { setLosses } from '../../lib/fleet/state/followed-push.ts'
import { endOffer } from '../../lib/fleet/state/offer-state.ts'
import { assignmentOf, knownPushes, wearLabels } from '../../lib/fleet/state/state.ts'
import type { AgentConnection } from '../../lib/opamp/fleet-port.ts'
import { type Database, DatabaseUnavailable } from '../../lib/store/db.ts'
import type { Ground } from '../../runtime/compose.ts'
import type { Flaw, SimService } from './service/sim-service.ts'
import type { Trouble } from './troubles.ts'

/**
 * For each kind of trouble that has no test of its own elsewhere: a fault put into a process on purpose, which shows
 * under that trouble alone. When the simulation no longer finds the fault, the trouble has lost its effect. `first` is a
 * seed that shows it; others are looked at where that one does not any more. `says`: what is found, where not anything will
 * do.
 */
export const FLAWS: Readonly<
  Record<string, { troubles: readonly Trouble[]; flaw: Flaw; first?: number; says?: RegExp }>
> = {
  'measures waits by the wall clock': {
    troubles: ['clockJumps'],
    flaw: {
      ground: (ground) => {
        const { clock } = ground
        return { ...ground, clock: { now: clock.now, monotonicMs: () => clock.now().getTime() } }
      },
    },
    first: 2,
  },
  'forgets what agents report when a session breaks over it': {
    troubles: ['brokenSessions'],
    first: 16,
    flaw: { ground: (ground) => ({ ...ground, db: forgettingReports(ground.db) }) },
  },
  'forgets what agents report when a statement is refused': {
    troubles: ['refusedStatements'],
    first: 29,
    flaw: { ground: (ground) => ({ ...ground, db: forgettingReports(ground.db) }) },
  },
  'takes a lost answer to a commit for a failure': {
    troubles: ['lostCommits', 'inventory'],
    flaw: {
      service: (service) => {
        service.doubts.note = () => {}
      },
    },
    first: 3,
  },
  'does not wait for a commit at which the database is still': {
    troubles: ['lateCommits'],
    first: 7,
    flaw: { ground: (ground) => ({ ...ground, db: notWaiting(ground.db) }) },
  },
  'hears of one agent when a socket of several closes': {
    troubles: ['sharedSockets'],
    flaw: { service: hearingOfOne },
    first: 2,
  },
  'takes an agent that moved for one that left': {
    troubles: ['moves'],
    flaw: { service: stayingBound },
    first: 8,
  },
  'never tells two agents with one uid apart': {
    troubles: ['twins'],
    flaw: { service: takingTwinsForOne },
  },
  'gives nobody the uid that it asks for': {
    troubles: ['newUids'],
    flaw: { service: givingNoUids },
    first: 2,
  },
  'keeps the labels in memory that were there before': {
    troubles: ['inventory'],
    flaw: { service: keepingLabels },
  },
  'takes the APPLIED that an agent repeats for an answer to its offer': {
    troubles: ['repeatedStatuses', 'pollers'],
    first: 3,
    flaw: { service: takingOldForNews },
  },
  'takes for unreadable what busy threads had no room to read': {
    troubles: ['busyWorkers', 'effectiveConfigs'],
    first: 20,
    flaw: { ground: (ground) => ({ ...ground, readConfigs: takingBusyForUnreadable(ground.readConfigs!) }) },
  },
  'asks nobody for a list of components of which it knows the hash': {
    troubles: ['componentsByHash'],
    first: 4,
    flaw: { service: askingForNoLists },
  },
  'hears an APPLIED only after an APPLYING': {
    troubles: ['coalescing'],
    flaw: { service: hearingNoneThatSkips },
  },
  'forgives an agent what it was lost with as soon as it says that it has applied the config': {
    troubles: ['lateDeaths'],
    first: 3,
    flaw: { service: forgivingTooSoon },
    says: /over and over/,
  },
  'waits anew for silent agents each time that they come back': {
    troubles: ['goodbyes'],
    first: 3,
    flaw: { service: waitingAnew },
    says: /while agents come and go/,
  },
  'begins stages without those that are away': {
    troubles: ['stages'],
    first: 16,
    flaw: { service: overlookingAbsentees },
    says: /without .*, away for/,
  },
  'takes those that said goodbye for vanished': {
    troubles: ['stages'],
    first: 19,
    flaw: { service: missingDeparted },
    says: /had said goodbye/,
  },
  'forgets that a send found no room': {
    troubles: ['droppedSends'],
    first: 61,
    flaw: { service: sendingBlindly },
  },
}

/** The process takes no turn behind transactions that have locked a workload. */
function notWaiting(db: Database): Database {
  return {
    ...db,
    transaction: (name, work) =>
      name === 'workload.wait' ? (Promise.resolve(undefined) as never) : db.transaction(name, work),
  }
}

/** The process does not try again to store reports after the database was unavailable. */
function forgettingReports(db: Database): Database {
  return {
    ...db,
    transaction: async (name, work) => {
      try {
        return await db.transaction(name, work)
      } catch (error) {
        if (name === 'reports.store' && error instanceof DatabaseUnavailable) return [] as never
        throw error
      }
    },
  }
}

/** As the process looks at its rollouts, workloads have no instances but those that are connected. */
function overlookingAbsentees({ fleet }: SimService): void {
  const tick = fleet.rollouts.tick.bind(fleet.rollouts)
  fleet.rollouts.tick = () => {
    for (const instance of fleet.state.away) instance.workload?.instances.delete(instance)
    tick()
  }
  const receive = fleet.receive.bind(fleet)
  fleet.receive = (connection, report, about) => {
    const instance = fleet.state.instances.get(report.uid)
    if (instance !== undefined) instance.workload?.instances.add(instance)
    return receive(connection, report, about)
  }
}

/** Some seconds after a goodbye its agent counts as one that did not come back. */
function missingDeparted({ fleet }: SimService): void {
  const tick = fleet.rollouts.tick.bind(fleet.rollouts)
  fleet.rollouts.tick = () => {
    const beforeMs = fleet.clock.heardMs() - 6_000
    for (const instance of fleet.state.away)
      if (instance.hasDeparted && instance.awaySinceMs! < beforeMs)
        assignmentOf(instance)?.missing.set(instance.uid, true)
    tick()
  }
}

function hearingOfOne({ fleet }: SimService): void {
  const closed = fleet.connectionClosed.bind(fleet)
  fleet.connectionClosed = (connection, options) => {
    const bound = fleet.state.byConnection.get(connection.id)
    for (const instance of [...(bound ?? [])].slice(1)) bound?.delete(instance)
    closed(connection, options)
  }
}

function stayingBound({ fleet }: SimService): void {
  const receive = fleet.receive.bind(fleet)
  fleet.receive = (connection, report, about) => {
    const before = fleet.state.instances.get(report.uid)?.connection ?? null
    const answer = receive(connection, report, about)
    const instance = fleet.state.instances.get(report.uid)
    if (before !== null && before !== connection && instance !== undefined) {
      const bound = fleet.state.byConnection.get(before.id) ?? new Set()
      fleet.state.byConnection.set(before.id, bound.add(instance))
    }
    return answer
  }
}

function takingTwinsForOne({ fleet }: SimService): void {
  const receive = fleet.receive.bind(fleet)
  fleet.receive = (connection, report, about) => {
    const instance = fleet.state.instances.get(report.uid)
    if (instance !== undefined) instance.rival = null
    return receive(connection, report, { ...about, isDuplicate: false, isToldApart: false })
  }
}

function givingNoUids({ fleet }: SimService): void {
  const receive = fleet.receive.bind(fleet)
  fleet.receive = (connection, report, about) =>
    receive(connection, { ...report, requestsInstanceUid: false }, about)
}

function keepingLabels({ fleet }: SimService): void {
  const set = fleet.setTrustedLabels.bind(fleet)
  fleet.setTrustedLabels = async (id, ...rest) => {
    const before = fleet.workload(id)?.handLabels
    const outcome = await set(id, ...rest)
    const workload = fleet.workload(id)
    if (workload !== null && before !== undefined) wearLabels(workload, { handLabels: before })
    return outcome
  }
}

/** The process takes an offer for answered when the agent says once more that it has applied the config before. */
function takingOldForNews({ fleet }: SimService): void {
  const receive = fleet.receive.bind(fleet)
  fleet.receive = (connection, report, about) => {
    const { remoteConfigStatus: said, attributes } = report
    const instance = fleet.state.instances.get(report.uid)
    if (said?.status === 'applied' && attributes === null && instance?.reported.isKnown)
      if (instance.reported.hash === said.hash && instance.reported.status === 'applied')
        endOffer(instance, 'applied')
    return receive(connection, report, about)
  }
}

function takingBusyForUnreadable(readers: NonNullable<Ground['readConfigs']>): typeof readers {
  const normalise: typeof readers.normalise = async (...text) => {
    const read = await readers.normalise(...text)
    return read === 'busy' ? null : read
  }
  return { ...readers, normalise }
}

function askingForNoLists({ fleet }: SimService): void {
  const receive = fleet.receive.bind(fleet)
  fleet.receive = (...heard) => {
    const { message, ...rest } = receive(...heard)
    const { reportAvailableComponents: _, ...asked } = message
    return { message: asked, ...rest }
  }
}

/** The process passes over an APPLIED of what the agent has not said before that it applies it. */
function hearingNoneThatSkips({ fleet }: SimService): void {
  const receive = fleet.receive.bind(fleet)
  fleet.receive = (connection, report, about) => {
    const { remoteConfigStatus: said, attributes } = report
    const { reported, offer } = fleet.state.instances.get(report.uid) ?? {}
    const isAnswer = said?.status === 'applied' && attributes === null && offer?.hash === said.hash
    const isSkipped = isAnswer && reported?.isKnown === true && reported.hash !== said.hash
    return receive(connection, isSkipped ? { ...report, remoteConfigStatus: null } : report, about)
  }
}

function forgivingTooSoon({ fleet }: SimService): void {
  const receive = fleet.receive.bind(fleet)
  fleet.receive = (connection, report, about) => {
    const answer = receive(connection, report, about)
    const instance = fleet.state.instances.get(report.uid)
    const followed = instance === undefined ? null : assignmentOf(instance)
    const target = followed?.targets.get(report.uid)
    if (followed !== null && target?.state === 'applied') setLosses(followed, target, 0)
    return answer
  }
}

function waitingAnew({ fleet }: SimService): void {
  const receive = fleet.receive.bind(fleet)
  fleet.receive = (connection, report, about) => {
    for (const workload of fleet.state.workloads.values())
      for (const { waited } of knownPushes(workload)) waited.clear()
    return receive(connection, report, about)
  }
}

/** The process takes every frame for sent, even where the socket had no room for it. */
function sendingBlindly({ fleet }: SimService): void {
  const seen = new WeakSet<AgentConnection>()
  const receive = fleet.receive.bind(fleet)
  fleet.receive = (connection, report, about) => {
    if (!seen.has(connection)) {
      seen.add(connection)
      const send = connection.send.bind(connection)
      connection.send = (frame) => {
        send(frame)
        return 'sent'
      }
    }
    return receive(connection, report, about)
  }
}
