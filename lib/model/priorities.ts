/** The highest priority of a fleet config or a label rule; its negative is the lowest. */
export const PRIORITY_MAX = 1_000_000
