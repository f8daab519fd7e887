/** Why a campaign halted, or a version stopped applying by itself. */
export interface Stop {
  gate: string
  value: number
  limit: number
  title?: string | undefined
  /** Who approved it and may not any more. */
  approvers?: readonly string[] | undefined
}

/** What is no measure: an approval that does not hold any more. */
const LAPSES: Readonly<Record<string, string>> = {
  policy_changed: 'the config policy is another one than that of the plan',
  approver_gone: 'whoever approved it may not approve any more',
}

/** Whether something stopped because its approval does not hold any more: it would only stop again. */
export const isLapse = (gate: string): boolean => Object.hasOwn(LAPSES, gate)

/**
 * The sentence of alerts, evidence and the command line: what was found, what was allowed, and what most of them failed
 * of.
 */
export const sayStop = ({ gate, value, limit, title = '', approvers = [] }: Stop): string =>
  isLapse(gate)
    ? `${LAPSES[gate]}${approvers.length > 0 ? ` (${approvers.join(', ')})` : ''}`
    : `${gate} is ${value}, allowed is ${limit}${title && ` (${title})`}`
