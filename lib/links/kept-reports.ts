import type { AgentReport } from '../opamp/report.ts'
import type { Bound } from './bound-agent.ts'

/** The most bytes that a front keeps of what all its agents have said: 1.3 KB of each of 200,000. */
export const KEPT_BYTES_MAX = 268_435_456
/** How much of that is left after room was made, so that it is not made for each message. */
const LEFT_SHARE = 0.9

/** A connection, and what is kept of the agents on it. */
export interface KeptOf {
  keptBytes: number
  readonly agents: ReadonlyMap<string, Bound>
}

/**
 * Bounds what a front keeps of all its agents to tell the next owner. Where it is too much, the agents on the connection
 * that holds most of it give way, those that came first before the others: whoever makes up agents loses what they have
 * said before anybody else does. Of those the next owner is told that they are there, and they are asked for the rest.
 */
export class KeptReports {
  readonly #most: number
  readonly #connections: () => Iterable<KeptOf>
  #bytes = 0

  constructor(most: number, connections: () => Iterable<KeptOf>) {
    this.#most = most
    this.#connections = connections
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Keep what an agent on this connection says that is to be told to the next owner. */
  take(
    held: KeptOf,
    bound: Bound,
    { attributes }: Pick<AgentReport, 'attributes'>,
    ...said: Parameters<Bound['report']['take']>
  ): void {
    bound.report.take(...said)
    if (attributes !== null) Object.assign(bound, { attributes, isGivenUp: false })
    this.#count(held, bound, bytesOf(bound))
    if (this.#bytes > this.#most) this.#makeRoom()
  }

  /** This agent is not on this connection any more. */
  forget(held: KeptOf, bound: Bound): void {
    this.#count(held, bound, 0)
  }

  #count(held: KeptOf, bound: Bound, bytes: number): void {
    const more = bytes - bound.keptBytes
    bound.keptBytes = bytes
    held.keptBytes += more
    this.#bytes += more
  }

  #makeRoom(): void {
    const fullest = [...this.#connections()].sort((one, other) => other.keptBytes - one.keptBytes)
    for (const held of fullest)
      for (const bound of held.agents.values()) {
        if (this.#bytes <= this.#most * LEFT_SHARE) return
        bound.report.giveUp()
        Object.assign(bound, { attributes: null, isGivenUp: true })
        this.#count(held, bound, bytesOf(bound))
      }
  }
}

function bytesOf({ report, attributes }: Bound): number {
  let { bytes } = report
  for (const [name, value] of attributes ?? []) bytes += name.length + value.length
  return bytes
}
