const STATES = new Set(['enabled', 'disabled', 'read_only'])
const REASONS = new Set(['not_enabled', 'prerequisite_unavailable', 'read_only_mode'])

/**
 * The ids of what is enabled in a capability document. Any violation of its rules, and no document at all,
 * counts as no capabilities.
 */
export function readCapabilities(document: unknown): ReadonlySet<string> {
  const none = new Set<string>()
  if (typeof document !== 'object' || document === null) return none
  const { api_version: version, capabilities } = document as Record<string, unknown>
  if (version !== 'v1' || !Array.isArray(capabilities)) return none
  const seen = new Set<string>()
  const enabled = new Set<string>()
  for (const entry of capabilities as unknown[]) {
    if (typeof entry !== 'object' || entry === null) return none
    const { id, state, reason_code: reason } = entry as Record<string, unknown>
    if (typeof id !== 'string' || seen.has(id) || typeof state !== 'string' || !STATES.has(state)) return none
    const isReasonRight = state === 'enabled' ? reason === undefined : REASONS.has(reason as string)
    if (!isReasonRight) return none
    seen.add(id)
    if (state === 'enabled') enabled.add(id)
  }
  return enabled
}
