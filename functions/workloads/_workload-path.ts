import { string, type } from 'superstruct'
import type { Workload } from '../../lib/fleet/state/model.ts'
import type { Context } from '../../runtime/context.ts'

/** The path parameters of everything about one workload; an id of another shape is simply unknown. */
export const workloadParams = type({ id: string() })

/** The path parameters of one revision. */
export const revisionParams = type({ id: string(), hash: string() })

/** A workload by id, archived ones included; null when there is none. */
export const findWorkload = (ctx: Context, id: string): Workload | null => ctx.fleet.workload(id)
