import type { FrontEntry, OwnerEntry } from '../../../lib/links/frames.ts'
import type { FrontAgents } from '../../../lib/links/front-agents.ts'
import { splitReport } from '../../../lib/links/kept-report.ts'
import type { ReportedTexts } from '../../../lib/links/reported-texts.ts'
import { decodeBody } from '../../../lib/opamp/codec.ts'
import type { HubFrame } from '../../../lib/wire/hub.ts'
import { isOfCampaigns, reading } from '../campaign-flaws.ts'
import type { Trouble } from '../troubles.ts'
import type { LinkTrouble } from './link-troubles.ts'
import { type LinkFlaw, loseByProcess } from './linked-world.ts'
import type { Occasion } from './stand-stills.ts'

/** A fault of links, and the world in which it shows. */
interface PlantedFlaw {
  /** The first seed to look at, for a fault that few seeds show; 1 by default. */
  from?: number
  troubles: readonly (Trouble | LinkTrouble)[]
  flaw: LinkFlaw
  stillOn?: readonly Occasion[]
}

/** A rewriting that leaves entries of these kinds out. */
export const lacking =
  <Entry extends readonly [string, ...unknown[]]>(...kinds: readonly Entry[0][]) =>
  (entries: readonly Entry[]) =>
    entries.filter(([kind]) => !kinds.includes(kind))

/** Says the offer before once more after each newer one. */
function repeatFormer(): (entries: readonly OwnerEntry[]) => OwnerEntry[] {
  const formerOf = new Map<string, OwnerEntry & { 0: 'tell' }>()
  return (entries) =>
    entries.flatMap((entry): OwnerEntry[] => {
      if (entry[0] !== 'tell' || entry[3].offer === undefined) return [entry]
      const former = formerOf.get(entry[2])
      formerOf.set(entry[2], entry)
      return former === undefined || former[3].offer!.hash === entry[3].offer.hash ? [entry] : [entry, former]
    })
}

/** A message that says nothing but what its agent can do is taken for a beat. */
function overlookCapabilities(agents: FrontAgents): void {
  const receive = agents.receive.bind(agents)
  agents.receive = (connection, report, about) =>
    receive(connection, { ...report, hasCapabilities: report.attributes !== null }, about)
}

/** Every second text of what agents run counts as stored, and is not. */
export function loseSomeTexts(texts: ReportedTexts): void {
  const store = texts.reportedConfig.bind(texts)
  let count = 0
  texts.reportedConfig = (config) => ++count % 2 === 0 || store(config)
}

/** One of three frames does not arrive; which, follows from what it says. */
const losingSome = (frame: HubFrame): boolean => JSON.stringify(frame).length % 3 !== 0

const HEALTH = 5

/** What is kept of an agent for the next owner is not renewed by what it says of its health. */
function keepFormerHealth(agents: FrontAgents): void {
  const first = new Map<string, Uint8Array>()
  const receive = agents.receive.bind(agents)
  agents.receive = (connection, report, about) => {
    const health = splitReport(about.message!).get(HEALTH)
    if (health !== undefined && !first.has(report.uid)) first.set(report.uid, health)
    return receive(connection, report, about)
  }
  const linked = agents.linked.bind(agents)
  agents.linked = (link) => {
    let isReplaying = true
    const say = link.send.bind(link)
    const send: typeof link.send = (entry) => {
      const [kind, n, conn, isCaughtUp, text, form, agoMs] = entry as FrontEntry & { 0: 'replay' }
      if (kind !== 'replay' || !isReplaying) return say(entry)
      const message = Buffer.from(text, 'base64')
      const intake = decodeBody(message)
      const former = intake.ok ? first.get(intake.report.uid) : undefined
      // Of a field that is there twice the last one counts.
      const replayed = Buffer.concat(former === undefined ? [message] : [message, former])
      return say([kind, n, conn, isCaughtUp, replayed.toString('base64'), form, agoMs])
    }
    Object.assign(link, { send })
    linked(link)
    isReplaying = false
  }
}

/**
 * For each promise of the links a fault put into them on purpose. When the simulation no longer finds the fault, it
 * does not look at that promise any more.
 */
export const LINK_FLAWS: Readonly<Record<string, PlantedFlaw>> = {
  'a front goes on answering beats of an agent that is elsewhere, and the lists are never compared': {
    troubles: ['twins'],
    flaw: { toFront: lacking<OwnerEntry>('withdraw'), toOwner: lacking<FrontEntry>('seen') },
  },
  'a front tells of closed connections nowhere, and the lists are never compared': {
    troubles: ['badHealth'],
    flaw: { toOwner: lacking<FrontEntry>('closed', 'ended', 'seen') },
  },
  'a goodbye that was under way when a link ended is not told again': {
    troubles: ['badHealth'],
    flaw: { toOwner: lacking<FrontEntry>('goodbye') },
  },
  'a goodbye in a poll that was under way when a link ended is not told again': {
    from: 22,
    troubles: ['pollers'],
    flaw: { toOwner: (entries) => entries.filter(([kind, , conn]) => kind !== 'goodbye' || conn !== 0) },
  },
  'the owner is not told whose beats the fronts have answered': {
    troubles: ['badHealth'],
    flaw: {
      toOwner: (entries) =>
        entries.map((entry) => (entry[0] === 'seen' ? ['seen', entry[1], entry[2], ''] : entry)),
    },
  },
  'a front is left the beats of an agent that went elsewhere, and the lists are never compared': {
    troubles: ['twins'],
    flaw: {
      toFront: (entries) =>
        entries.map((entry) => (entry[0] === 'withdraw' ? ['grant', entry[1], entry[2]] : entry)),
      toOwner: lacking<FrontEntry>('seen'),
    },
  },
  'the form of an effective config does not arrive': {
    troubles: ['effectiveConfigs'],
    flaw: { toOwner: lacking<FrontEntry>('form') },
  },
  'an offer is said again after a newer one': {
    troubles: ['rollbacks'],
    flaw: { toFront: repeatFormer() },
  },
  'a front does not tell that an agent can do other things': {
    troubles: ['words'],
    flaw: { agents: overlookCapabilities },
  },
  'a front tells the next owner of a health from before': {
    troubles: ['words', 'crashes'],
    flaw: { agents: keepFormerHealth },
  },
  'an owner takes itself for fit to act, however long it has not renewed itself': {
    troubles: ['stuckRenewals'],
    flaw: {
      member: (membership) => {
        membership.mayAct = () => true
      },
    },
  },
  'an owner that could hear nobody for a while hears nobody any more': {
    troubles: ['stuckRenewals'],
    flaw: {
      fleet({ clock }) {
        const tick = clock.tick.bind(clock)
        let isDeaf = false
        clock.tick = (hears) => {
          isDeaf ||= !hears
          tick(!isDeaf)
        }
      },
    },
  },
  'a front takes what members said before the database went away for what they say now': {
    troubles: ['lostTogether'],
    flaw: {
      ofFront: (membership) =>
        void Object.defineProperty(membership, 'heard', { get: () => membership.members }),
    },
  },
  'a front that is stopped lets its sockets end, as if its agents had, before it cuts its link': {
    from: 4,
    troubles: ['drains', 'rollbacks'],
    flaw: {
      async drain(time, sockets) {
        for (const socket of sockets) loseByProcess(socket)
        await new Promise<void>((resolve) => void time.after(1_000, resolve))
      },
    },
  },
  'an owner does not take the goodbye of an agent of which it has not heard yet': {
    troubles: ['lateGoodbyes'],
    flaw: {
      fleet(fleet) {
        const take = fleet.hadSaidGoodbye.bind(fleet)
        fleet.hadSaidGoodbye = (report, said) => {
          if (fleet.state.instances.has(report.uid)) take(report, said)
        }
      },
    },
  },
  'an owner takes what a front says again of an agent for what the agent says now': {
    troubles: ['deadSockets'],
    flaw: {
      toOwner: (entries) =>
        entries.map((entry) => {
          if (entry[0] !== 'replay') return entry
          const [kind, n, conn, isCaughtUp, message, form] = entry
          return [kind, n, conn, isCaughtUp, message, form, 0]
        }),
    },
  },
  'a front does not store some of what agents run, and the owner does not look for it': {
    troubles: ['effectiveConfigs'],
    flaw: {
      reported: loseSomeTexts,
      fleet(fleet) {
        fleet.textsMissing = async () => {}
      },
    },
  },
  'a front loses some of what the owner says to browsers': {
    from: 2,
    troubles: ['frontBrowsers', 'badHealth'],
    flaw: { toBrowser: losingSome },
  },
  'an owner that stood still as it stored a step of a push goes on as if it had not': {
    troubles: ['stillAtSteps', 'rollbacks'],
    stillOn: ['offers are stored: the owner after it'],
    flaw: {
      member: (membership) => {
        membership.mayAct = () => true
      },
    },
  },
  'an owner that takes a campaign over goes on with its last wave': {
    troubles: ['campaigns', 'crashes', 'stillAtSteps'],
    stillOn: ['targets are started: the owner after it'],
    flaw: {
      follower: reading((text, row) => {
        if (isOfCampaigns(text) && row['rules']) row['wave'] = 9
      }).ground!,
    },
  },
  'an owner is not told again of agents that say nothing by themselves, and the lists are never compared': {
    troubles: ['quietAgents', 'crashes'],
    flaw: { toOwner: lacking<FrontEntry>('replay', 'seen') },
  },
  'an owner that has held back a goodbye believes it, though the agent is back on that socket': {
    troubles: ['gatewayReturns'],
    flaw: {
      owner({ lateSayings }) {
        const take = lateSayings.take.bind(lateSayings)
        lateSayings.take = (saying) => take({ ...saying, take: () => saying.take(false) })
      },
    },
  },
  'an owner does not take what agents fail that poll': {
    troubles: ['pollers', 'rollbacks'],
    flaw: {
      fleet(fleet) {
        const receive = fleet.receive.bind(fleet)
        fleet.receive = (connection, report, about) => {
          const isLost = connection.transport === 'http' && report.remoteConfigStatus?.status === 'failed'
          return receive(connection, isLost ? { ...report, remoteConfigStatus: null } : report, about)
        }
      },
    },
  },
  'some answers of the owner do not arrive': {
    troubles: ['changingNatures'],
    flaw: { toFront: (entries) => entries.filter((entry) => entry[0] !== 'answer' || entry[1] % 7 !== 0) },
  },
}
