import { AGENT_CAPABILITIES } from '../../../lib/opamp/report.ts'
import type { Dice } from '../time/dice.ts'
import type { Troubles } from '../troubles.ts'

/** How an agent tells what it was built with: with its description, when asked for it, or only its hash. */
export type ComponentTelling = 'at-once' | 'asked' | 'never'

/** What an agent is like. What changes with a restart is changed in place. */
export interface AgentNature {
  index: number
  attributes: ReadonlyMap<string, string>
  capabilities: number
  components: ReadonlyMap<string, readonly string[]> | null
  tells: ComponentTelling
  /** It leaves unchanged status out after a reconnect, as newer clients do. */
  isTerse: boolean
  /** It sends the last of several statuses only, this much later; 0 for each at once. */
  coalesceMs: number
  /** It never says that it is applying. */
  skipsApplying: boolean
  /** A config that it was still applying when a newer one came is reported after the newer one's APPLYING. */
  isRacy: boolean
  transport: 'socket' | 'http'
  /** Which connection it shares with others; its own index when none. */
  gateway: number
  /** Distance of an HTTP agent's polls. */
  pollMs: number
  /** An HTTP agent that says news at once and not at its next poll. */
  isEager: boolean
  /** It asks the server for a uid when it is first started. */
  asksForUid: boolean
}

const { reportsStatus, acceptsRemoteConfig, reportsRemoteConfig, reportsHealth } = AGENT_CAPABILITIES
const CAPABLE = reportsStatus | acceptsRemoteConfig | reportsRemoteConfig | reportsHealth
/** The slowest come again before the janitor takes their workload away. */
const POLLS_MS = [5_000, 30_000, 30_000, 150_000, 240_000] as const

const BUILT_WITH_ALL = new Map([
  ['exporters', ['debug', 'otlp']],
  ['receivers', ['otlp']],
])
const BUILT_SMALL = new Map([
  ['exporters', ['debug']],
  ['receivers', ['otlp']],
])

/** Which components it was built with, thrown by the dice; null when it does not tell. */
export function chooseComponents(dice: Dice): AgentNature['components'] {
  if (dice.chance(0.15)) return BUILT_SMALL
  return dice.chance(0.5) ? BUILT_WITH_ALL : null
}

/** Make up an agent. */
export function makeNature(index: number, host: string, dice: Dice, has: Troubles): AgentNature {
  const isReadOnly = dice.chance(0.1)
  const isMute = !isReadOnly && dice.chance(0.08)
  const components = chooseComponents(dice)
  const tells: ComponentTelling = !has.componentsByHash ? 'at-once' : dice.pick(['at-once', 'asked', 'never'])
  const effective = has.effectiveConfigs ? AGENT_CAPABILITIES.reportsEffectiveConfig : 0
  const listed = components === null ? 0 : AGENT_CAPABILITIES.reportsAvailableComponents
  const isPoller = has.pollers && dice.chance(0.4)
  return {
    index,
    attributes: new Map([
      ['service.name', 'otelcol'],
      ['service.version', `0.${100 + dice.int(3)}.0`],
      ['host.name', host],
    ]),
    capabilities:
      (isReadOnly ? reportsStatus : isMute ? CAPABLE & ~reportsRemoteConfig : CAPABLE) | effective | listed,
    components,
    tells,
    isTerse: dice.chance(0.6),
    coalesceMs: has.coalescing && dice.chance(0.4) ? dice.between(100, 8_000) : 0,
    skipsApplying: has.coalescing && dice.chance(0.3),
    isRacy: has.selfRollbacks && dice.chance(0.4),
    transport: isPoller ? 'http' : 'socket',
    gateway: has.sharedSockets && dice.chance(0.6) ? 100 + dice.int(2) : index,
    pollMs: dice.pick(POLLS_MS),
    isEager: dice.chance(0.5),
    asksForUid: has.newUids && dice.chance(0.2),
  }
}
