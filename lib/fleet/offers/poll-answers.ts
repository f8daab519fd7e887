import type { AgentConnection } from '../../opamp/fleet-port.ts'
import type { ServerMessage } from '../../opamp/report.ts'
import type { Instance } from '../state/model.ts'
import type { Timers } from '../state/timers.ts'

/** How long an HTTP answer waits for its offer to be stored; after that the next poll carries it. */
const WAIT_MS = 250

/** One poll whose answer can still carry an offer. */
interface OpenPoll {
  connection: AgentConnection
  /** Let the answer carry this message; null lets it go out without one. */
  carry(message: ServerMessage | null): void
}

/** Open polls: those that are being answered, and those whose answer waits a moment for an offer to be stored. */
export class PollAnswers {
  readonly #timers: Timers
  readonly #open = new Map<Instance, OpenPoll>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** What `consider` wants the answer of this instance's poll to carry; null for nothing. */
  answer(instance: Instance, connection: AgentConnection, consider: () => void): ServerMessage | null {
    // The agent polls again, so it has given up a poll whose answer still waits.
    this.giveUp(instance)
    let due: ServerMessage | null = null
    this.#open.set(instance, {
      connection,
      carry(message) {
        due = message
      },
    })
    try {
      consider()
    } finally {
      this.#open.delete(instance)
    }
    return due
  }

  /** Hold the answer back until its offer is stored, `WAIT_MS` at most; null when it was not stored in time. */
  wait(instance: Instance, connection: AgentConnection): Promise<ServerMessage | null> {
    return new Promise((resolve) => {
      const cancel = this.#timers.after(WAIT_MS, () => poll.carry(null))
      const poll: OpenPoll = {
        connection,
        carry: (message) => {
          cancel()
          if (this.#open.get(instance) === poll) this.#open.delete(instance)
          resolve(message)
        },
      }
      this.#open.set(instance, poll)
    })
  }

  /** Let the open answer to this instance's poll carry a message; false when none is open on this connection. */
  carry(instance: Instance, connection: AgentConnection, message: ServerMessage): boolean {
    const poll = this.#open.get(instance)
    if (poll?.connection !== connection) return false
    poll.carry(message)
    return true
  }

  /** Let the answer that waits go out without an offer. */
  giveUp(instance: Instance): void {
    this.#open.get(instance)?.carry(null)
  }
}
