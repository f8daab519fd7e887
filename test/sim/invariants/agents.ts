import { canReport, isCapable } from '../../../lib/fleet/decide/abilities.ts'
import type { Instance } from '../../../lib/fleet/state/model.ts'
import { assignmentOf, isQuarantined } from '../../../lib/fleet/state/state.ts'
import { KeptReport, splitReport } from '../../../lib/links/kept-report.ts'
import { decodeBody } from '../../../lib/opamp/codec.ts'
import type { HealthNode } from '../../../lib/opamp/report.ts'
import { encodeReport, reportOf } from '../../support/agent-report.ts'
import type { SimAgent } from '../agents/sim-agent.ts'
import { fateOf } from '../agents/sim-configs.ts'
import { SimSocket } from '../agents/socket.ts'
import type { SimService } from '../service/sim-service.ts'
import type { Report } from './finding.ts'

/** What the check of the agents uses of the world. */
export interface AgentsAtRest {
  agents: readonly SimAgent[]
  body(hash: string): string
  /** The hash of the normal form of an effective config. */
  normalHash(text: string): Promise<string | null>
}

/**
 * At rest the service knows each connected agent as it is, and each runs what it is assigned unless there is a reason
 * why it cannot.
 */
export async function checkAgents(world: AgentsAtRest, service: SimService, report: Report): Promise<void> {
  const { instances } = service.fleet.state
  const uids = new Map<string, SimAgent>()
  for (const agent of world.agents) {
    if (!agent.isSettled) {
      report(`agent ${agent.nature.index} never settled`)
      continue
    }
    const twin = uids.get(agent.uid)
    if (twin !== undefined)
      report(`agents ${twin.nature.index} and ${agent.nature.index} both go by ${agent.uid}`)
    uids.set(agent.uid, agent)
    const instance = instances.get(agent.uid)
    if (instance?.connection == null || instance.workload === null) {
      report(
        `${agent.uid} (${agent.nature.transport}, each ${agent.nature.pollMs} ms) is connected and not known`,
      )
      continue
    }
    await checkWords(world, agent, instance, report)
    checkConfig(world, agent, service, instance, report)
  }
  for (const instance of instances.values())
    if (instance.connection !== null && instance.isDescribed && !uids.has(instance.uid))
      report(`${instance.uid} is listed as connected and nobody goes by it`)
}

/** How long a process that does not stand still may take to hear of a closed socket. */
const HEARD_AFTER_MS = 1_000

/** No instance counts as connected over a socket that is closed. */
export function checkConnections({ fleet, client }: SimService, report: Report): void {
  for (const { uid, connection } of fleet.state.instances.values()) {
    if (!(connection instanceof SimSocket) || connection.isOpen) continue
    if (connection.closedForMs(client) > HEARD_AFTER_MS)
      report(`${uid} is taken for connected over a socket that is closed`)
  }
}

/** What the service keeps of an agent is what the agent last reported. */
async function checkWords(
  world: AgentsAtRest,
  agent: SimAgent,
  instance: Instance,
  report: Report,
): Promise<void> {
  const say = (what: string, known: unknown, real: unknown) => {
    if (JSON.stringify(known) !== JSON.stringify(real))
      report(`${agent.uid} ${what} ${brief(real)} and is known with ${brief(known)}`)
  }
  const { nature } = agent
  say('has capabilities', instance.capabilities, nature.capabilities)
  if (instance.attributes !== null)
    say('has attributes', [...instance.attributes].sort(), [...nature.attributes].sort())
  if (instance.health !== null && !isKeptByAFront(instance, agent.health))
    say('has the health', plainOf(instance.health), plainOf(asRead(agent.health)))
  if (nature.components !== null && nature.tells !== 'never')
    say('was built with', [...(instance.components?.components ?? [])], [...nature.components])
  if (!agent.hasLied && canReport(instance) && instance.reported.isKnown && agent.status.status !== 'unset') {
    const { hash, status } = instance.reported
    say('reported', { hash, status }, agent.status)
  }
  if (agent.effective !== null)
    say('runs the effective config', instance.reportedConfigHash, await world.normalHash(agent.effective))
}

/** As much of a value as a report of a fault has room for. */
const brief = (value: unknown): string => JSON.stringify(value)?.slice(0, 400) ?? 'nothing'

/** What the service reads of a health: long texts are cut, and further nodes left out. */
function asRead(health: HealthNode): HealthNode {
  const said = reportOf('00'.repeat(16), 1, { capabilities: 0, health })
  const intake = decodeBody(encodeReport(said))
  if (!intake.ok || intake.report.health === null) throw new Error('a simulated health cannot be read')
  return intake.report.health
}

/**
 * Whether a service knows of a health what a front keeps of a long one. It is asked for again at that front; an agent that
 * goes on elsewhere first says the errors of its components when its health changes.
 */
function isKeptByAFront({ health, connection }: Instance, said: HealthNode): boolean {
  if (health === null || connection?.place === undefined) return false
  const kept = new KeptReport()
  kept.take(splitReport(encodeReport(reportOf('00'.repeat(16), 1, { capabilities: 0, health: said }))))
  const intake = decodeBody(kept.message(1))
  if (!intake.ok || intake.report.health === null) return false
  return JSON.stringify(plainOf(health)) === JSON.stringify(plainOf(intake.report.health))
}

const plainOf = ({ healthy, status, lastError, children }: HealthNode): unknown => ({
  healthy,
  status,
  lastError,
  children: [...children].map(([name, child]) => [name, plainOf(child)] as const).sort(byName),
})

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1)

function checkConfig(
  world: AgentsAtRest,
  agent: SimAgent,
  service: SimService,
  instance: Instance,
  report: Report,
): void {
  const followed = assignmentOf(instance)
  if (followed === null || !isCapable(instance)) return
  const { hash } = followed.push
  const target = followed.targets.get(instance.uid)
  const isExcused =
    isQuarantined(instance.workload!, hash, instance.uid) ||
    !service.fleet.isCompatible(instance, followed) ||
    agent.leftByItself.has(hash) ||
    fateOf(world.body(hash), agent.nature.index) !== 'works'
  if (isExcused) return
  if (agent.running !== hash)
    report(
      `${instance.uid} runs ${agent.running.slice(0, 6)}, is assigned ${hash.slice(0, 6)}; ` +
        `reported ${JSON.stringify(instance.reported)} offer ${JSON.stringify(instance.offer)} ` +
        `target ${target?.state} stopped ${instance.workload!.hasStoppedOffers}`,
    )
  else if (canReport(instance) && target?.state !== 'applied' && followed.scope === null)
    report(`${instance.uid} runs ${hash.slice(0, 6)} and is counted as ${target?.state}`)
}
