import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/fleet/state/timers.ts'
import type { Log } from '../../lib/log.ts'
import type { Listener } from '../listener.ts'
import { type CertificateFiles, type FoundCertificate, readCertificate } from './certificate-files.ts'

/** How often the files are read: whoever renews a certificate does so days before the former one ends. */
export const LOOK_AT_FILES_MS = 60_000
/** The same where what was found is of no use: it may be half written. */
const LOOK_AT_FAULTY_MS = 5_000
/** The least between two looks that refused connections ask for. */
const LOOK_AGAIN_MS = 1_000
const DAY_MS = 86_400_000
/** From when on it is said that a certificate ends: so long before, or when a quarter of its life is left. */
const ENDS_SOON_MS = 21 * DAY_MS
const LIFE_LEFT = 1 / 4

const RENEWED = 'new connections between processes have the certificate that was found in place of the former'
const KEPT = 'what lies in place of the certificate between processes is of no use, so the former one is kept'
const ENDS_SOON = 'the certificate between processes ends soon, and no other one has taken its place'
const HAS_ENDED =
  'the certificate between processes has ended: no process is let in by another until a new one is in its place'

/** Whom this process takes for another one when it connects to it. */
export interface Trust {
  /** The authority of certificates, and the name that they are for where that is not the address. */
  authority(): { ca: Buffer; servername?: string }
  /** A certificate was refused: it may be that of an authority that is newly trusted. */
  refused(): void
}

/** What the watch needs of its process. */
export interface CertificateWatchParts {
  files: CertificateFiles
  /** How often it looks. */
  everyMs: number
  clock: Clock
  timers: Timers
  log: Log
}

/**
 * The certificate of this process, and the authority that it trusts, as they lie in their files: both are renewed in
 * place by others while the process runs. What is found is for new connections; those that there are go on.
 */
export class CertificateWatch implements Trust {
  readonly #parts: CertificateWatchParts
  #found: FoundCertificate
  #listener: Pick<Listener, 'renewCertificate'> | null = null
  /** What the files held when they were last of no use, and why; said once. */
  #fault = ''
  /** On which day it was last said that the certificate ends, or has ended. */
  #said = ''
  #lookedMs: number
  #stop: () => void = () => undefined

  /** Throws where the files are of no use. */
  constructor(parts: CertificateWatchParts) {
    this.#parts = parts
    const read = readCertificate(parts.files)
    if (!read.ok) throw new Error(read.error)
    this.#found = read.found
    this.#lookedMs = parts.clock.monotonicMs()
  }

  /** When the certificate ends that new connections have. */
  get ends(): Date {
    return this.#found.ends
  }

  authority(): { ca: Buffer; servername?: string } {
    const { name } = this.#parts.files
    return { ca: this.#found.authority, ...(name === undefined ? {} : { servername: name }) }
  }

  refused(): void {
    if (this.#parts.clock.monotonicMs() - this.#lookedMs >= LOOK_AGAIN_MS) this.#look()
  }

  /** Look at the files from here on, for this listener too. */
  start(listener: Pick<Listener, 'renewCertificate'>): void {
    this.#listener = listener
    const again = () => {
      this.#look()
      const { timers, everyMs } = this.#parts
      this.#stop = timers.after(this.#fault === '' ? everyMs : Math.min(everyMs, LOOK_AT_FAULTY_MS), again)
    }
    again()
  }

  stop(): void {
    this.#stop()
    this.#listener = null
  }

  #look(): void {
    this.#lookedMs = this.#parts.clock.monotonicMs()
    const read = readCertificate(this.#parts.files)
    if (!read.ok) this.#keep(read.error)
    else this.#take(read.found)
    this.#warnOfEnd()
  }

  #take(found: FoundCertificate): void {
    const isOwnNew = found.ownHash !== this.#found.ownHash
    const fault = isOwnNew ? this.#faultOf(found) : null
    if (fault !== null) {
      this.#keep(fault)
      return
    }
    const isNew = isOwnNew || !found.authority.equals(this.#found.authority)
    try {
      if (isOwnNew) this.#listener?.renewCertificate()
    } catch (error) {
      this.#keep(error instanceof Error ? error.message : String(error))
      return
    }
    this.#fault = ''
    if (!isNew) return
    this.#found = found
    this.#said = ''
    this.#parts.log.info({ ends: found.ends }, RENEWED)
  }

  /** Why nobody would trust a certificate by which one is to be replaced that is still good; null where they would. */
  #faultOf({ from, ends, isByAuthority }: FoundCertificate): string | null {
    const nowMs = this.#parts.clock.now().getTime()
    if (this.#found.ends.getTime() <= nowMs) return null
    if (ends.getTime() <= nowMs) return `MUSTER_INTERNAL_TLS_CERT has ended on ${ends.toISOString()}`
    if (from.getTime() > nowMs) return `MUSTER_INTERNAL_TLS_CERT begins on ${from.toISOString()}`
    return isByAuthority ? null : 'MUSTER_INTERNAL_TLS_CERT is by none of MUSTER_INTERNAL_TLS_CA'
  }

  #keep(reason: string): void {
    if (reason !== this.#fault) this.#parts.log.error({ reason }, KEPT)
    this.#fault = reason
  }

  /** Say each day that the certificate ends, once that is near. */
  #warnOfEnd(): void {
    const { clock, log } = this.#parts
    const { from, ends } = this.#found
    const nowMs = clock.now().getTime()
    const leftMs = ends.getTime() - nowMs
    const lifeMs = ends.getTime() - from.getTime()
    const said = `${Math.floor(nowMs / DAY_MS)} ${leftMs > 0}`
    if (leftMs > Math.min(ENDS_SOON_MS, lifeMs * LIFE_LEFT) || said === this.#said) return
    this.#said = said
    if (leftMs > 0) log.warn({ ends }, ENDS_SOON)
    else log.error({ ends }, HAS_ENDED)
  }
}
