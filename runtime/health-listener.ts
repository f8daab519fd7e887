import { type Handle, listenForFew } from './few-listener.ts'
import { text } from './reply.ts'

/** The health listener while it runs. */
export interface HealthListener {
  /** From here on this answers. */
  use(handle: Handle): void
  stop(): void
}

const HEALTH_PATHS = ['/healthz', '/readyz']

/**
 * Answer `/healthz` and `/readyz` on an address of its own as well, from the start on: what strangers hold at the other
 * ports takes no room of it, so that whoever watches the process does not take it for a dead one. Throws when it cannot
 * listen. Null where no address is set.
 */
export function startHealthListener(address: string, handle: Handle): HealthListener | null {
  if (address === '') return null
  let present = handle
  const listener = listenForFew(address, async (request) =>
    HEALTH_PATHS.includes(request.path) ? present(request) : text('not found\n', 404),
  )
  return {
    use(next) {
      present = next
    },
    stop: () => listener.destroy(),
  }
}
