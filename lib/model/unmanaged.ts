/**
 * Whether a workload has no base: muster has no text that it should run, because nothing was ever pushed to it, or what
 * was failed and left nothing to go back to. What it reports to run is resolved and masked, so it is never patched or
 * pushed back: only a campaign that takes it over changes it.
 */
export const isUnmanaged = ({ activeHash }: { activeHash: string | null }): boolean => activeHash === null
