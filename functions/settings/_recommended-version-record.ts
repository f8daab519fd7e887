import type { RecommendedVersion as Kept } from '../../lib/posture/recommended-version.ts'
import type { RecommendedVersion } from '../../lib/wire/version-intelligence.ts'

/** The recommended version as the wire shows it. */
export function toRecommendedVersion({ version, stored }: Kept): RecommendedVersion {
  if (stored === null) return { version, source: version === '' ? 'none' : 'environment' }
  const { updatedAt, updatedBy } = stored
  return { version, source: 'stored', updated_at: updatedAt.toISOString(), updated_by: updatedBy }
}
