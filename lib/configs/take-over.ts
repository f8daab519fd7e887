import type { ComparedWith, RiskLevel } from '../wire/plan.ts'

/**
 * What every push risks to a workload that runs no config from here: what its instances report to run is replaced, and
 * there is nothing to go back to.
 */
export const TAKES_OVER = {
  rule: 'takes_over',
  title: 'It replaces what the instances report to run, and there is no earlier config to go back to.',
  risk: 'medium',
} as const

/** Whether a change is the one that takes over what instances report to run. */
export const takesOver = (comparedWith: ComparedWith): boolean => comparedWith === 'reported'

/** How risky a change is that takes over what instances report: never without any risk, however little it changes. */
export const riskOfTakeOver = (severity: RiskLevel): RiskLevel =>
  severity === 'high' ? severity : TAKES_OVER.risk
