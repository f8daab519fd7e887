/** Reports that a promise was broken, in one sentence. */
export type Report = (problem: string) => void

/** The first characters of an id or a hash: enough to tell them apart in a trace. */
export const short = (id: string): string => (id === '' ? 'none' : id.slice(0, 8))
