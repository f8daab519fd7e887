import type { ClosedGate } from '../fleet/decide/push-gate.ts'
import { type Refusal, refuse } from '../model/refusal.ts'

/** What somebody is told who may not push now. */
export type GateRefusal = Refusal<'managed-elsewhere' | 'workload-archived' | 'workload-frozen'>

/** Say to whoever pushes by hand which gate is closed. Throws for those that hold only campaigns. */
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
