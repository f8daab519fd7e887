import { string, type } from 'superstruct'
import { findVersion } from '../../lib/store/fleet-configs.ts'
import { FleetConfigComparison } from '../../lib/wire/fleet-configs.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { readNumber, requireTexts, versionParams } from './_fleet-config-path.ts'

const DIFF_MAX = 200_000

/** The difference of the text of a version to that of another one. */
export default defineHttp({
  route: 'GET /api/fleet-configs/:id/versions/:number/compare',
  summary: 'Compare a version of a fleet config with another one.',
  access: signedIn('config:read_content', 'handler'),
  gate: 'config_safety.campaigns',
  params: versionParams,
  query: type({ with: string() }),
  body: noBody,
  replies: [{ status: 200, description: 'The difference of the two texts.', json: FleetConfigComparison }],
  errors: ['fleet-config-not-found', 'fleet-config-version-not-found', 'server-busy'],
  async handle({ params, query, actor }, ctx) {
    const found = await requireTexts(ctx, params.id, actor)
    if (!found.ok) return found.reply
    const { config } = found
    const find = async (text: string) => {
      const number = readNumber(text)
      return number === null ? null : findVersion(ctx.db, config.id, number)
    }
    const [to, from] = [await find(params.number), await find(query.with)]
    if (to === null || from === null) return problem('fleet-config-version-not-found')
    const labels = { before: `version ${from.number}`, after: `version ${to.number}` }
    const asked = { before: from.body, after: to.body, labels, charactersMax: DIFF_MAX }
    const compared = await ctx.configs.lines(asked)
    if (!compared.ok || compared.diff === null) return problem('server-busy')
    const { text, truncated } = compared.diff
    return json({ from: from.number, to: to.number, diff: text, truncated } satisfies FleetConfigComparison)
  },
})
