import { effectiveMatches } from '../../lib/configs/effective/match.ts'
import { normalForm } from '../../lib/configs/effective/normal-form.ts'
import { parseConfig } from '../../lib/configs/yaml/parse.ts'
import type { Ground } from '../../runtime/compose.ts'

/**
 * Reads configs of agents in this thread and at once, so that no step of a test ends while a worker thread still reads.
 */
export const READ_HERE: NonNullable<Ground['readConfigs']> = {
  normalise: async (text, own) => normalForm(text, own),
  async compare(asked, reported) {
    const [left, right] = [parseConfig(asked), parseConfig(reported)]
    const match = effectiveMatches(left.ok ? left.document : null, right.ok ? right.document : null)
    return { matches: match.verdict, paths: match.paths }
  },
}
