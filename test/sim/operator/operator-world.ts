import type { SimService } from '../service/sim-service.ts'
import type { Dice } from '../time/dice.ts'
import type { VirtualTime } from '../time/virtual-time.ts'

/** What operators use of the world. */
export interface OperatorWorld {
  time: VirtualTime
  dice: Dice
  /** The service that answers now; null while there is none. */
  service(): SimService | null
  trace(line: string): void
}

/** The two users of every world: one requests and the other approves, since the author's own approval may not count. */
export const AUTHOR = {
  userId: '01980000-0000-7000-8000-000000000001',
  email: 'author@example.com',
  askAgain: null,
}
/** The user who approves; see `AUTHOR`. */
export const APPROVER = {
  userId: '01980000-0000-7000-8000-000000000002',
  email: 'approver@example.com',
  askAgain: null,
}

/** Ask something of the service that answers now, and trace the answer; null when there was none. */
export async function ask<Answer extends { ok: boolean }>(
  world: OperatorWorld,
  what: string,
  work: (service: SimService) => Promise<Answer>,
): Promise<Answer | null> {
  const service = world.service()
  if (service === null) return null
  world.trace(`operator: ${what}`)
  try {
    const answer = await work(service)
    const { code } = answer as { code?: string }
    world.trace(`${what}: ${answer.ok ? 'done' : code}`)
    return answer
  } catch (error) {
    world.trace(`${what}: ${error instanceof Error ? error.name : error}`)
    if (!(error instanceof Error) || !/^(DatabaseUnavailable|CommitInDoubt|EpochLost)$/.test(error.name))
      throw error
    return null
  }
}
