/** Why a campaign halted, or a version stopped applying by itself. */
export interface Stop {
  gate: string
  value: number
  limit: number
  title?: string | undefined
}

/** The sentence of alerts and evidence: what was found, what was allowed, and what most of them failed of. */
export const sayStop = ({ gate, value, limit, title = '' }: Stop): string =>
  `${gate} is ${value}, allowed is ${limit}${title && ` (${title})`}`
