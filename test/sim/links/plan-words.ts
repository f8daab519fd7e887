import { AGENT_CAPABILITIES, type HealthNode } from '../../../lib/opamp/report.ts'
import { HEALTHY } from '../../support/agent-report.ts'
import type { SimAgent } from '../agents/sim-agent.ts'
import type { Dice } from '../time/dice.ts'
import type { LinkedWorld } from './linked-world.ts'

/** What an agent may say that it can do without anything else depending on it. */
const IDLE_BITS = [
  AGENT_CAPABILITIES.acceptsRestartCommand,
  AGENT_CAPABILITIES.reportsOwnMetrics,
  AGENT_CAPABILITIES.reportsHeartbeat,
]
/** The most of each kind of word that an agent says while the trouble lasts. */
const TIMES = 6
/** Agents behind this gateway start again on a connection that stays open. */
const SHARED_GATEWAY = 300

/** Let the agents say what a world without fronts never hears, until `untilMs`; by dice of its own. */
export function planWords(world: LinkedWorld, dice: Dice, untilMs: number): void {
  const often = (most: number, act: (agent: SimAgent) => void) => {
    for (let n = dice.int(most + 1); n > 0; n--)
      world.time.after(dice.between(3_000, untilMs), () => act(dice.pick(world.agents)))
  }
  for (const { nature } of world.agents)
    if (nature.transport === 'socket' && dice.chance(0.4)) nature.gateway = SHARED_GATEWAY
  often(2 * TIMES, (agent) => agent.ail(makeHealth(dice)))
  often(TIMES, (agent) => agent.can(agent.nature.capabilities ^ dice.pick(IDLE_BITS)))
  often(TIMES, (agent) => {
    agent.nature.capabilities ^= dice.pick(IDLE_BITS)
    agent.restart(dice.between(10, 3_000))
  })
  // What an agent said last stays its last word: these are said as the trouble ends.
  for (const agent of world.agents) {
    const atMs = untilMs - dice.between(0, 60_000)
    if (dice.chance(0.4)) world.time.after(atMs, () => agent.ail(makeHealth(dice)))
    if (dice.chance(0.4))
      world.time.after(atMs, () => agent.can(agent.nature.capabilities ^ dice.pick(IDLE_BITS)))
  }
}

/** A healthy agent with components, of which some are not; some trees are longer than a front keeps or muster reads. */
function makeHealth(dice: Dice): HealthNode {
  const lengthMax = dice.pick([20, 300, 9_000])
  return { ...HEALTHY, children: makeChildren(dice, { depth: 1 + dice.int(4), lengthMax }) }
}

function makeChildren(
  dice: Dice,
  { depth, lengthMax }: { depth: number; lengthMax: number },
): ReadonlyMap<string, HealthNode> {
  const children = new Map<string, HealthNode>()
  for (let n = dice.int(4); n >= 0 && depth > 0; n--) {
    const healthy = dice.chance(0.5)
    children.set(`${dice.pick(['pipeline', 'receiver', 'extension'])}:${n}/é`, {
      ...HEALTHY,
      healthy,
      status: healthy ? 'StatusOK' : 'StatusRecoverableError',
      lastError: healthy ? '' : 'no route é '.repeat(1 + dice.int(lengthMax / 10)),
      children: makeChildren(dice, { depth: depth - 1, lengthMax }),
    })
  }
  return children
}
