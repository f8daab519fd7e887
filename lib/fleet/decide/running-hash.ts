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

/**
 * The same of any config, by which instances are told apart: one that never got a config from here says in a form of its
 * own what it runs. Empty where it is not known.
 */
export const hashOfAny = (
  instance: Parameters<typeof runningHash>[0] & { reportedConfigHash: string },
): string =>
  instance.report === null || instance.appliedHash === ''
    ? instance.reportedConfigHash
    : runningHash(instance)

/**
 * Whether an instance has failed the config that it is to run. Its effective config says nothing then: it reported that
 * before, or while it tried.
 */
export const hasFailed = (
  { report }: Pick<Parameters<typeof runningHash>[0], 'report'>,
  hash: string,
): boolean => report?.status === 'failed' && report.hash === hash
