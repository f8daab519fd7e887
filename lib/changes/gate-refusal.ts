import type { ClosedGate } from '../fleet/decide/push-gate.ts'
import { type Refusal, refuse } from '../model/refusal.ts'

/** Why a push by hand may not begin now. */
export type GateRefusal = Refusal<'managed-elsewhere' | 'workload-archived' | 'workload-frozen'>

/**
 * The refusal of a push by hand that this gate holds back. Throws for gates that hold back only campaigns and versions
 * that apply by themselves.
 */
export function refuseGate({ gate, about }: ClosedGate): GateRefusal {
  switch (gate) {
    case 'archived':
      return refuse('workload-archived')
    case 'frozen':
      return refuse('workload-frozen', { reason: about })
    case 'kept-in-git':
      return refuse('managed-elsewhere', { owner: about })
    default:
      throw new Error(`A push by hand is not held back by "${gate}"`)
  }
}
