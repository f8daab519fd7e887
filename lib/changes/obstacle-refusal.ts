import type { Obstructed } from '../fleet/decide/push-obstacle.ts'
import { type Refusal, refuse } from '../model/refusal.ts'

/** Why a push by hand may not begin now. */
export type ObstacleRefusal = Refusal<'managed-elsewhere' | 'workload-archived' | 'workload-frozen'>

/**
 * The refusal of a push by hand that this keeps from beginning. Throws for obstacles that keep only campaigns and versions
 * that apply by themselves.
 */
export function refuseObstructed({ obstacle, about }: Obstructed): ObstacleRefusal {
  switch (obstacle) {
    case 'archived':
      return refuse('workload-archived')
    case 'frozen':
      return refuse('workload-frozen', { reason: about })
    case 'kept-in-git':
      return refuse('managed-elsewhere', { owner: about })
    default:
      throw new Error(`A push by hand is not kept by "${obstacle}"`)
  }
}
