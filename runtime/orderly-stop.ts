import type { Log } from '../lib/log.ts'

interface OrderlyStopParts {
  log: Log
  /** End whatever runs, in order. */
  stop(): Promise<void>
  exit(code: number): void
  /** How many milliseconds `stop` may take. */
  budgetMs: number
}

/**
 * Ends the process in order, once, for the first reason that is given. A second signal ends it at once. A second fault
 * does not: what has lost the fleet may hear so several times, and its clients are to get their answers meanwhile.
 */
export class OrderlyStop {
  readonly #parts: OrderlyStopParts
  #isStopping = false

  constructor(parts: OrderlyStopParts) {
    this.#parts = parts
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  bySignal(signal: string): void {
    if (this.#isStopping) this.#parts.exit(1)
    else void this.#end(signal, 0)
  }

  byFault(reason: string): void {
    if (!this.#isStopping) void this.#end(reason, 1)
  }

  async #end(reason: string, exitCode: number): Promise<void> {
    const { log, stop, exit, budgetMs } = this.#parts
    this.#isStopping = true
    log.info({ reason }, 'stopping')
    setTimeout(() => exit(1), budgetMs).unref()
    await stop().catch((error) => log.error({ err: error }, 'stop did not finish'))
    exit(exitCode)
  }
}
