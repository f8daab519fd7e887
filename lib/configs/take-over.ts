import type { ComparedWith, RiskLevel } from '../wire/plan.ts'
import { RISK_RULES } from './diff/rules.ts'

/**
 * What every push risks to a workload that runs no config from here: what its instances report to run is replaced, and
 * there is nothing to go back to.
 */
export const TAKES_OVER = {
  rule: 'takes_over',
  ...RISK_RULES.takes_over,
} as const

/** Whether a change is the one that takes over what instances report to run. */
export const takesOver = (comparedWith: ComparedWith): boolean => comparedWith === 'reported'

/** How risky a change is that takes over what instances report: never without any risk, however little it changes. */
export const riskOfTakeOver = (severity: RiskLevel): RiskLevel =>
  severity === 'high' ? severity : TAKES_OVER.risk
