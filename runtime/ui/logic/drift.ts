/** True of each that drifted, or a consequence of it: they say nothing beside another reason. */
const SAYS_NO_MORE: ReadonlySet<string> = new Set([
  'drifted',
  'config_drift_alert',
  'group_heterogeneous_config',
])

/** The reasons that tell one workload from the others, or all where these are all. */
export function tellingReasons(reasons: readonly string[]): readonly string[] {
  const telling = reasons.filter((reason) => !SAYS_NO_MORE.has(reason))
  return telling.length > 0 ? telling : reasons.filter((reason) => reason !== 'config_drift_alert')
}
