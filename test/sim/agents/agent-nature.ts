import { AGENT_CAPABILITIES } from '../../../lib/opamp/report.ts'
import type { Dice } from '../time/dice.ts'
import type { Troubles } from '../troubles.ts'

/**
 * When an agent lists its components: in each full report, only when the server asks for the list, or never. In the
 * last two cases it announces the hash of the list.
 */
export type ComponentTelling = 'at-once' | 'asked' | 'never'

/** The fixed behaviour of one agent. A restart may change fields in place (see `SimAgent.change`). */
export interface AgentNature {
  index: number
  attributes: ReadonlyMap<string, string>
  capabilities: number
  components: ReadonlyMap<string, readonly string[]> | null
  tells: ComponentTelling
  /** After a reconnect it leaves out of its first message what has not changed, as newer clients do. */
  isTerse: boolean
  /** How long it waits with a config status, of which only the newest is then sent; 0 to send each at once. */
  coalesceMs: number
  /** It never reports APPLYING. */
  skipsApplying: boolean
  /**
   * When a newer config comes while it is applying one, it reports APPLYING for the newer and then APPLIED for the
   * older.
   */
  isRacy: boolean
  transport: 'socket' | 'http'
  /** The number of the socket that it uses: one that several agents share, or its own index for a socket of its own. */
  gateway: number
  /** The time between two polls of an HTTP agent. */
  pollMs: number
  /** An HTTP agent that polls at once when it has something new to report, rather than at its next regular poll. */
  isEager: boolean
  /** It says its config status again with each heartbeat or poll, whether or not that is news. */
  repeatsStatus: boolean
  /** It asks the server for a uid when it is first started. */
  asksForUid: boolean
}

const { reportsStatus, acceptsRemoteConfig, reportsRemoteConfig, reportsHealth } = AGENT_CAPABILITIES
const CAPABLE = reportsStatus | acceptsRemoteConfig | reportsRemoteConfig | reportsHealth
/**
 * Even the longest is shorter than `ARCHIVED_AFTER_MS`: the workload of a slow poller is not archived between two
 * polls.
 */
const POLLS_MS = [5_000, 30_000, 30_000, 150_000, 240_000] as const

const BUILT_WITH_ALL = new Map([
  ['exporters', ['debug', 'otlp']],
  ['receivers', ['otlp']],
])
const BUILT_SMALL = new Map([
  ['exporters', ['debug']],
  ['receivers', ['otlp']],
])

/** Choose at random which components an agent was built with; null for an agent that does not report components. */
export function chooseComponents(dice: Dice): AgentNature['components'] {
  if (dice.chance(0.15)) return BUILT_SMALL
  return dice.chance(0.5) ? BUILT_WITH_ALL : null
}

/** Choose at random what an agent is like, within the kinds of trouble that this world has. */
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
    repeatsStatus: has.repeatedStatuses && dice.fork(`agent ${index} repeats its status`).chance(0.5),
    asksForUid: has.newUids && dice.chance(0.2),
  }
}
