/**
 * The hash of the config that an instance runs by what it says: after a FAILED it is back at what it applied before.
 * Empty where it is not known, as after it could not apply again what it ran.
 */
export function runningHash({
  report,
  appliedHash,
}: {
  report: { status: string; hash: string } | null
  appliedHash: string
}): string {
  if (report === null) return ''
  if (report.status === 'applied') return report.hash
  return appliedHash === report.hash ? '' : appliedHash
}
