import type { Load, LoadOptions } from './load.ts'
import { type Remote, startRole } from './remote.ts'

/** The load in a process of its own. */
export type RemoteLoad = Remote<Load>

/** Start a load in a process of its own. */
export const startLoad = (options: LoadOptions): RemoteLoad => startRole<Load>('load', options)
